//! Costs of many users at once, kind by kind, in columns.
//!
//! ```text
//! quadratic   c2 x^2 + c1 x + c0                c2 >= 0; a linear cost where c2 = 0
//! entropy     weight x ln(x / reference) + c1 x   weight, reference > 0, x >= 0
//! power       weight x^exponent + c1 x            weight exponent (exponent - 1) > 0, x >= 0
//! log         -weight ln(x + offset) + c1 x       weight > 0, x > -offset
//! own         anything that implements Cost
//! ```
//!
//! - Given: a block of users and the marginal price s that each of them sees. Returns: the response
//!   `x(s) = argmin f(x) - s x` over its limits, and `dx/ds`; perhaps with a term that keeps it near a point.
//! - Must not know: rows, prices, how s came about.

#![expect(clippy::inline_always, reason = "part of vector loops, which must not call functions")]

use std::ops::Range;
use std::sync::Arc;

use crate::column::{Column, Lane};
use crate::cost::{Cost, Near};
use crate::elementary::exp;
use crate::error::{Error, Result};
use crate::near;

/// The costs of some users, all of one kind.
#[derive(Debug, Clone)]
pub enum Costs {
    /// `c2 x^2 + c1 x + c0`.
    Quadratic {
        /// At least 0.
        c2: Column,
        /// Any number.
        c1: Column,
        /// Any number.
        c0: Column,
    },
    /// `weight x ln(x / reference) + c1 x`.
    Entropy {
        /// Above 0.
        weight: Column,
        /// Above 0.
        reference: Column,
        /// Any number.
        c1: Column,
    },
    /// `weight x^exponent + c1 x`.
    Power {
        /// Above 0 for exponents above 1 or below 0, below 0 for those between.
        weight: Column,
        /// Neither 0 nor 1.
        exponent: Column,
        /// Any number.
        c1: Column,
    },
    /// `-weight ln(x + offset) + c1 x`.
    Log {
        /// Above 0.
        weight: Column,
        /// Any number.
        offset: Column,
        /// Any number.
        c1: Column,
    },
    /// One a user.
    Own(Vec<Arc<dyn Cost>>),
}

const FINITE: &str = "a finite number";
const POSITIVE: &str = "a finite number above 0";

impl Costs {
    /// Linear costs.
    pub fn linear(c1: impl Into<Column>) -> Self {
        Self::quadratic(0.0, c1, 0.0)
    }

    /// Quadratic costs.
    pub fn quadratic(c2: impl Into<Column>, c1: impl Into<Column>, c0: impl Into<Column>) -> Self {
        Self::Quadratic { c2: c2.into(), c1: c1.into(), c0: c0.into() }
    }

    /// The columns, with their names.
    pub(crate) fn columns(&self) -> Vec<(&'static str, &Column)> {
        match self {
            Self::Quadratic { c2, c1, c0 } => vec![("c2", c2), ("c1", c1), ("c0", c0)],
            Self::Entropy { weight, reference, c1 } => {
                vec![("weight", weight), ("reference", reference), ("c1", c1)]
            }
            Self::Power { weight, exponent, c1 } => {
                vec![("weight", weight), ("exponent", exponent), ("c1", c1)]
            }
            Self::Log { weight, offset, c1 } => vec![("weight", weight), ("offset", offset), ("c1", c1)],
            Self::Own(_) => Vec::new(),
        }
    }

    /// The same for some users.
    pub(crate) fn gather(&self, users: &[u32]) -> Self {
        let of = |column: &Column| column.gather(users);
        match self {
            Self::Quadratic { c2, c1, c0 } => Self::Quadratic { c2: of(c2), c1: of(c1), c0: of(c0) },
            Self::Entropy { weight, reference, c1 } => {
                Self::Entropy { weight: of(weight), reference: of(reference), c1: of(c1) }
            }
            Self::Power { weight, exponent, c1 } => {
                Self::Power { weight: of(weight), exponent: of(exponent), c1: of(c1) }
            }
            Self::Log { weight, offset, c1 } => {
                Self::Log { weight: of(weight), offset: of(offset), c1: of(c1) }
            }
            Self::Own(costs) => {
                Self::Own(users.iter().map(|&user| Arc::clone(&costs[user as usize])).collect())
            }
        }
    }

    /// Checks the numbers of a kind; `user` says whose a place is.
    pub(crate) fn check(&self, user: impl Fn(usize) -> usize) -> Result<()> {
        for (name, column) in self.columns() {
            let needs_sign = match self {
                Self::Quadratic { .. } | Self::Power { .. } => false,
                Self::Entropy { .. } => name != "c1",
                _ => name == "weight",
            };
            let is_wrong = |value: f64| !value.is_finite() || needs_sign && value <= 0.0;
            if let Some((place, found)) = column.find(is_wrong) {
                let expected = if needs_sign { POSITIVE } else { FINITE };
                return Err(Error::BadNumber { what: name.into(), user: user(place), found, expected });
            }
        }
        match self {
            Self::Quadratic { c2, .. } => match c2.find(|value| value < 0.0) {
                Some((place, found)) => {
                    let evidence = format!("its coefficient of x^2 is {found}");
                    Err(Error::NotConvex { user: user(place), evidence })
                }
                None => Ok(()),
            },
            Self::Power { weight, exponent, .. } => {
                let count = weight.length().or(exponent.length()).unwrap_or(1);
                let bend = |place: usize| {
                    let p = exponent.get(place);
                    weight.get(place) * p * (p - 1.0)
                };
                match (0..count).find(|&place| bend(place).is_nan() || bend(place) <= 0.0) {
                    Some(place) => {
                        let (w, p) = (weight.get(place), exponent.get(place));
                        let evidence = format!("{w} x^{p} does not bend upwards on x > 0");
                        Err(Error::NotConvex { user: user(place), evidence })
                    }
                    None => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    /// What a limit may be at least, for a user.
    pub(crate) fn least(&self, place: usize) -> f64 {
        match self {
            Self::Quadratic { .. } | Self::Own(_) => f64::NEG_INFINITY,
            Self::Entropy { .. } | Self::Power { .. } => 0.0,
            Self::Log { offset, .. } => -offset.get(place),
        }
    }

    /// Whether every response is unique and moves without jumps.
    pub(crate) fn bends(&self) -> bool {
        match self {
            Self::Quadratic { c2, .. } => c2.values().iter().all(|c2| *c2 > 0.0),
            Self::Own(costs) => costs.iter().all(|cost| cost.bends()),
            _ => true,
        }
    }

    /// f of one user, in plain arithmetic.
    pub(crate) fn value(&self, place: usize, x: f64) -> f64 {
        match self {
            Self::Quadratic { c2, c1, c0 } => (c2.get(place) * x + c1.get(place)) * x + c0.get(place),
            Self::Entropy { weight, reference, c1 } => {
                let entropy = if x > 0.0 { x * (x / reference.get(place)).ln() } else { 0.0 };
                weight.get(place) * entropy + c1.get(place) * x
            }
            Self::Power { weight, exponent, c1 } => {
                weight.get(place) * x.powf(exponent.get(place)) + c1.get(place) * x
            }
            Self::Log { weight, offset, c1 } => {
                -weight.get(place) * (x + offset.get(place)).ln() + c1.get(place) * x
            }
            Self::Own(costs) => costs[place].value(x),
        }
    }

    /// The slopes of one user's cost, in plain arithmetic.
    pub(crate) fn slopes(&self, place: usize, x: f64) -> (f64, f64) {
        let slope = match self {
            Self::Quadratic { c2, c1, .. } => 2.0 * c2.get(place) * x + c1.get(place),
            Self::Entropy { weight, reference, c1 } => {
                weight.get(place) * ((x / reference.get(place)).ln() + 1.0) + c1.get(place)
            }
            Self::Power { weight, exponent, c1 } => {
                let p = exponent.get(place);
                weight.get(place) * p * x.powf(p - 1.0) + c1.get(place)
            }
            Self::Log { weight, offset, c1 } => c1.get(place) - weight.get(place) / (x + offset.get(place)),
            Self::Own(costs) => return costs[place].slopes(x),
        };
        (slope, slope)
    }

    /// The second derivative of one user's cost, 0 at kinks, in plain arithmetic.
    pub(crate) fn bend(&self, place: usize, x: f64) -> f64 {
        match self {
            Self::Quadratic { c2, .. } => 2.0 * c2.get(place),
            Self::Entropy { weight, .. } => weight.get(place) / x,
            Self::Power { weight, exponent, .. } => {
                let p = exponent.get(place);
                weight.get(place) * p * (p - 1.0) * x.powf(p - 2.0)
            }
            Self::Log { weight, offset, .. } => weight.get(place) / (x + offset.get(place)).powi(2),
            Self::Own(costs) => costs[place].curvature(x),
        }
    }

    /// The columns, ready for blocks.
    pub(crate) fn lanes(&self) -> CostLanes<'_> {
        match self {
            Self::Quadratic { c2, c1, c0 } => CostLanes::Quadratic(c2.lane(), c1.lane(), c0.lane()),
            Self::Entropy { weight, reference, c1 } => {
                CostLanes::Entropy(weight.lane(), reference.lane(), c1.lane())
            }
            Self::Power { weight, exponent, c1 } => {
                CostLanes::Power(weight.lane(), exponent.lane(), c1.lane())
            }
            Self::Log { weight, offset, c1 } => CostLanes::Log(weight.lane(), offset.lane(), c1.lane()),
            Self::Own(costs) => CostLanes::Own(costs),
        }
    }
}

/// The columns of [`Costs`], ready for blocks.
#[derive(Debug, Clone)]
pub(crate) enum CostLanes<'a> {
    Quadratic(Lane<'a>, Lane<'a>, Lane<'a>),
    Entropy(Lane<'a>, Lane<'a>, Lane<'a>),
    Power(Lane<'a>, Lane<'a>, Lane<'a>),
    Log(Lane<'a>, Lane<'a>, Lane<'a>),
    Own(&'a [Arc<dyn Cost>]),
}

/// The larger of two numbers, the second where the first is none.
#[inline(always)]
pub(crate) fn raise(x: f64, to: f64) -> f64 {
    if x > to { x } else { to }
}

/// The smaller of two numbers.
#[inline(always)]
pub(crate) fn cut(x: f64, to: f64) -> f64 {
    if x < to { x } else { to }
}

/// A block of users: their limits, and what keeps them near a point (weights and centres).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits<'a> {
    pub(crate) lower: &'a [f64],
    pub(crate) upper: &'a [f64],
    pub(crate) near: Option<(&'a [f64], &'a [f64])>,
}

impl<'a> Limits<'a> {
    /// Weights and centres, where somebody carries a weight.
    fn anchors(&self) -> Option<(&'a [f64], &'a [f64])> {
        self.near.filter(|(weights, _)| weights.iter().any(|weight| *weight > 0.0))
    }
}

/// The responses of a block of smooth costs that are kept near a point; `curve` is the slope and the bend of a cost.
fn respond_near(
    s: &[f64],
    (lower, upper): (&[f64], &[f64]),
    (weights, centres): (&[f64], &[f64]),
    (x, dx): (&mut [f64], &mut [f64]),
    curve: impl Fn(usize, f64) -> (f64, f64),
) {
    for k in 0..s.len() {
        let near = Near { weight: weights[k], centre: centres[k] };
        (x[k], dx[k]) = near::respond(|x| curve(k, x), s[k], (lower[k], upper[k]), near);
    }
}

impl CostLanes<'_> {
    /// The responses of a block to the marginal prices that its users see, and how they move with them.
    #[inline(always)]
    pub(crate) fn respond(
        &self,
        range: Range<usize>,
        s: &[f64],
        limits: &Limits<'_>,
        x: &mut [f64],
        dx: &mut [f64],
    ) {
        let n = range.len();
        let (l, u) = (&limits.lower[..n], &limits.upper[..n]);
        let (s, x, dx) = (&s[..n], &mut x[..n], &mut dx[..n]);
        match self {
            Self::Quadratic(c2, c1, _) => {
                let (c2, c1) = (&c2.block(range.clone())[..n], &c1.block(range)[..n]);
                if let Some((weight, centre)) = limits.near {
                    let (weight, centre) = (&weight[..n], &centre[..n]);
                    for k in 0..n {
                        let inverse = 1.0 / (2.0 * c2[k] + weight[k]);
                        let free = (s[k] - c1[k] + weight[k] * centre[k]) * inverse;
                        x[k] = cut(raise(free, l[k]), u[k]);
                        dx[k] = if free > l[k] && free < u[k] { inverse } else { 0.0 };
                    }
                } else {
                    for k in 0..n {
                        let inverse = 1.0 / (2.0 * c2[k]);
                        // Without a bend: 0 infinities is no number, and becomes the lower limit.
                        let free = (s[k] - c1[k]) * inverse;
                        x[k] = cut(raise(free, l[k]), u[k]);
                        dx[k] = if free > l[k] && free < u[k] { inverse } else { 0.0 };
                    }
                }
            }
            Self::Entropy(weight, reference, c1) => {
                let (weight, reference) =
                    (&weight.block(range.clone())[..n], &reference.block(range.clone())[..n]);
                let c1 = &c1.block(range)[..n];
                if let Some(anchors) = limits.anchors() {
                    let curve = |k: usize, x: f64| {
                        (weight[k] * ((x / reference[k]).ln() + 1.0) + c1[k], weight[k] / x)
                    };
                    return respond_near(s, (l, u), anchors, (x, dx), curve);
                }
                for k in 0..n {
                    let inverse = 1.0 / weight[k];
                    let free = reference[k] * exp((s[k] - c1[k]) * inverse - 1.0);
                    x[k] = cut(raise(free, l[k]), u[k]);
                    dx[k] = if free > l[k] && free < u[k] { free * inverse } else { 0.0 };
                }
            }
            Self::Power(weight, exponent, c1) => {
                let (weight, exponent) =
                    (&weight.block(range.clone())[..n], &exponent.block(range.clone())[..n]);
                let c1 = &c1.block(range)[..n];
                if let Some(anchors) = limits.anchors() {
                    let curve = |k: usize, x: f64| {
                        let pull = weight[k] * exponent[k] * x.powf(exponent[k] - 1.0);
                        (pull + c1[k], (exponent[k] - 1.0) * pull / x)
                    };
                    return respond_near(s, (l, u), anchors, (x, dx), curve);
                }
                for k in 0..n {
                    let (slope, p) = (s[k] - c1[k], exponent[k]);
                    let base = slope / (weight[k] * p);
                    let free = match (base > 0.0, p > 1.0) {
                        (true, _) => base.powf(1.0 / (p - 1.0)),
                        (false, true) => 0.0,
                        (false, false) => f64::INFINITY,
                    };
                    x[k] = cut(raise(free, l[k]), u[k]);
                    let is_free = free > l[k] && free < u[k];
                    dx[k] = if is_free { free / ((p - 1.0) * slope) } else { 0.0 };
                }
            }
            Self::Log(weight, offset, c1) => {
                let (weight, offset) = (&weight.block(range.clone())[..n], &offset.block(range.clone())[..n]);
                let c1 = &c1.block(range)[..n];
                if let Some(anchors) = limits.anchors() {
                    let curve = |k: usize, x: f64| {
                        let y = x + offset[k];
                        (c1[k] - weight[k] / y, weight[k] / (y * y))
                    };
                    return respond_near(s, (l, u), anchors, (x, dx), curve);
                }
                for k in 0..n {
                    let slope = c1[k] - s[k];
                    let reach = if slope > 0.0 { weight[k] / slope } else { f64::INFINITY };
                    let free = reach - offset[k];
                    x[k] = cut(raise(free, l[k]), u[k]);
                    dx[k] = if free > l[k] && free < u[k] { reach / slope } else { 0.0 };
                }
            }
            Self::Own(costs) => {
                for (k, cost) in costs[range].iter().enumerate() {
                    let near = limits.near.map_or(Near::default(), |(weight, centre)| Near {
                        weight: weight[k],
                        centre: centre[k],
                    });
                    x[k] = cost.respond(s[k], l[k], u[k], near);
                    dx[k] = 0.0;
                    if x[k] > l[k] && x[k] < u[k] {
                        let (left, right) = cost.slopes(x[k]);
                        let bend = cost.curvature(x[k]) + near.weight;
                        if left == right && bend > 0.0 {
                            dx[k] = 1.0 / bend;
                        }
                    }
                }
            }
        }
    }
}
