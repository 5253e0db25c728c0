//! A lower bound of the optimum, and with it the duality gap.
//!
//! For `f(x) = c'x + max_u u'Kx - f*(u)` and any (u, lambda), with `s = -(c + K'u + A'lambda)`,
//!
//! ```text
//! optimum >= D(u, lambda) = -f*(u) - h*(s) - b'lambda .
//! ```
//!
//! The bound is finite only where s lies in the domain of h*, which may be a single point a coordinate. Three
//! dual points are tried and the best bound is kept: u at x as it is; u and lambda scaled towards zero until s
//! fits; u and lambda moved by a Newton-like step `K'du = (Hessian) y` that carries s onto the subdifferential
//! of h at x (a linear system solved by conjugate gradients).
//!
//! Here the search is in plain floating point, and what s misses its domain by is charged as the proof will charge it
//! (`proof.rs`): by f, where the coordinate has an entry of u to itself, and by the length of the interval that holds
//! all points of interest (`reach.rs`) elsewhere. What is printed is the bound that the proof gives for the best point found.

use super::proof::{self, Lower};
use super::reach::Reach;
use super::residual::{NUMBERS_OF_H, Residuals};
use crate::control::{Control, Pass};
use crate::enclosure::above;
use crate::matrix::{dot, max_abs};
use crate::separable::Nonsmooth;
use crate::smooth::DualSide;

/// Miss of s, relative to what is added up in it, that no repair makes smaller.
const ROUNDING: f64 = 8.0 * f64::EPSILON;
/// How often the set of coordinates to repair may grow.
const MOST_REPAIRS: usize = 6;
/// Fall of the preconditioned residual (squared) at which a linear system counts as solved: a later repair sees
/// what is left.
const SOLVED: f64 = 1e-26;
/// Conjugate gradient steps of one search, all repairs together.
const MOST_CONJUGATE_STEPS: usize = 400;
/// The same at a point that is far from optimal, where no repair makes the bound good.
const FEW_CONJUGATE_STEPS: usize = 40;
/// Relative gap under which no better bound is sought.
const CLOSE: f64 = 1e-11;

/// The primal point that a bound is sought for.
pub(super) struct Point<'a> {
    pub(super) residuals: &'a Residuals<'a>,
    pub(super) product: &'a [f64],
    pub(super) lambda: &'a [f64],
    pub(super) objective: f64,
    /// Whether x is near enough to optimal for a long search to be worth it.
    pub(super) near: bool,
    pub(super) control: &'a Control,
}

/// How far above `level` of objectives the points of interest reach: rounding, and what x misses its rows by, must not
/// exclude the optimum.
fn level_of_interest(objective: f64) -> f64 {
    above(objective + 0.5 * (1.0 + objective.abs()))
}

/// The best bound that was found.
#[derive(Debug, Clone, Copy)]
pub(super) struct Found {
    pub(super) lower: Lower,
    /// Whether it is proven, not only computed.
    pub(super) is_proven: bool,
}

/// The largest lower bound found, `None` when a term has no conjugate; and whether the search for it came to its end.
pub(super) fn bound(point: &Point<'_>, s: Vec<f64>, thorough: bool) -> (Option<Found>, Pass) {
    let Some(side) = point.residuals.view.smooth().dual() else { return (None, Ok(())) };
    if let Nonsmooth::Coordinates(h) = point.residuals.view.separable()
        && h.conjugate(0, 0.0).is_none()
    {
        return (None, Ok(()));
    }
    let mut best = Best::default();
    let outcome = raise(point, side, s, thorough, &mut best);
    (best.found, outcome)
}

/// Raises the best bound, and proves it where time is given for it.
fn raise(point: &Point<'_>, side: &dyn DualSide, s: Vec<f64>, thorough: bool, best: &mut Best) -> Pass {
    let level = level_of_interest(point.objective);
    let reach = Reach::new(point.residuals, level, thorough, point.control)?;
    let mut u = vec![0.0; side.dual_len()];
    side.dual_point(point.residuals.x, point.product, &mut u);
    let mut search = Search { point, side, rounding: Vec::new(), reach };
    best.offer(search.bound(&u, point.lambda, &s)?, Place::AtX(1.0), point.lambda);
    search.scaled_bound(&u, &s, best)?;
    let is_close = |best: &Best| point.objective - best.bound <= CLOSE * (1.0 + point.objective.abs());
    // Large buffers live no longer than they are needed.
    drop(s);
    let is_repairable = thorough && !is_close(best);
    if is_repairable {
        search.rounding = search.rounding_of(&u)?;
    }
    drop(u);
    if is_repairable {
        // With lambda as it is first: enough wherever f bends along every coordinate.
        let fixed = vec![0.0; point.lambda.len()];
        search.repaired_bound(&fixed, best)?;
        if !point.lambda.is_empty() && !is_close(best) {
            search.repaired_bound(&search.row_weights()?, best)?;
        }
    }
    let Search { reach, rounding, .. } = search;
    drop(rounding);
    if thorough && best.found.is_some() {
        let mut u = match std::mem::replace(&mut best.u, Place::AtX(0.0)) {
            Place::Kept(u) => u,
            Place::AtX(t) => {
                let mut u = vec![0.0; side.dual_len()];
                side.dual_point(point.residuals.x, point.product, &mut u);
                u.iter_mut().for_each(|u| *u *= t);
                u
            }
        };
        let mut lower = proof::lower_bound(point, side, &reach, &mut u, &best.lambda)?;
        // Points beyond the level were not looked at; they are worse than it.
        lower.bound = lower.bound.min(level);
        let is_proven = lower.bound.is_finite();
        best.found = Some(if is_proven { Found { lower, is_proven } } else { best.computed() });
    }
    Ok(())
}

/// The dual point with the largest bound so far.
#[derive(Debug)]
struct Best {
    bound: f64,
    u: Place,
    lambda: Vec<f64>,
    found: Option<Found>,
}

/// Where the u of a dual point is to be had: vectors of its length are kept only where they cannot be made again.
#[derive(Debug)]
enum Place {
    /// u at x, times this.
    AtX(f64),
    Kept(Vec<f64>),
}

impl Default for Best {
    fn default() -> Self {
        Self { bound: f64::NEG_INFINITY, u: Place::AtX(0.0), lambda: Vec::new(), found: None }
    }
}

impl Best {
    /// Keeps a dual point if its bound is the largest so far.
    fn offer(&mut self, bound: f64, u: Place, lambda: &[f64]) {
        if bound > self.bound {
            (self.bound, self.u, self.lambda) = (bound, u, lambda.to_vec());
            self.found = Some(self.computed());
        }
    }

    fn computed(&self) -> Found {
        Found { lower: Lower { bound: self.bound, holds_within: None }, is_proven: false }
    }
}

struct Search<'a> {
    point: &'a Point<'a>,
    side: &'a dyn DualSide,
    /// The miss of every coordinate that counts as rounding.
    rounding: Vec<f64>,
    reach: Reach<'a>,
}

impl Search<'_> {
    /// The miss of every coordinate that counts as rounding, for s as it is at u.
    fn rounding_of(&self, u: &[f64]) -> Pass<Vec<f64>> {
        let mut rounding = vec![0.0; self.point.residuals.x.len()];
        self.side.add_dual_magnitude(u, &mut rounding, self.point.control)?;
        self.point.residuals.coupling().add_magnitudes(
            self.point.lambda,
            &mut rounding,
            self.point.control,
        )?;
        rounding.iter_mut().for_each(|size| *size *= ROUNDING);
        Ok(rounding)
    }

    /// D(u, lambda) in plain arithmetic, minus infinity where it is not finite.
    fn bound(&self, u: &[f64], lambda: &[f64], s: &[f64]) -> Pass<f64> {
        let of_f = self.side.conjugate(u, self.point.control)?;
        let bound =
            -of_f - self.separable_conjugate(u, s) - dot(self.point.residuals.coupling().rhs(), lambda);
        Ok(if bound.is_nan() { f64::NEG_INFINITY } else { bound })
    }

    /// h*(s), with the charge for what s misses its domain by.
    fn separable_conjugate(&self, u: &[f64], s: &[f64]) -> f64 {
        match self.point.residuals.view.separable() {
            Nonsmooth::Coordinates(h) => (0..s.len())
                .map(|c| {
                    let (lo, hi) = h.dual_domain(c);
                    let inside = s[c].max(lo).min(hi);
                    let miss = s[c] - inside;
                    let charge = match miss {
                        0.0 => 0.0,
                        _ => match self.side.absorb(c, u, miss.into()) {
                            Some(growth) => growth.centre(),
                            None => miss.abs() * self.reach.of(c),
                        },
                    };
                    h.conjugate(c, inside).unwrap_or(f64::INFINITY) + charge
                })
                .sum(),
            Nonsmooth::Groups(h) => {
                let blocks = self.point.residuals.view.blocks();
                let of_block = |i: usize| {
                    let size = blocks.coordinates(i).map(|c| s[c] * s[c]).sum::<f64>().sqrt();
                    let far = blocks.coordinates(i).map(|c| self.reach.of(c).powi(2)).sum::<f64>().sqrt();
                    // What is no number stays none.
                    if size <= h.weight(i) { 0.0 } else { (size - h.weight(i)) * far }
                };
                (0..blocks.len()).map(of_block).sum()
            }
        }
    }

    /// The bound at the dual point scaled towards zero until s fits.
    fn scaled_bound(&self, u: &[f64], s: &[f64], best: &mut Best) -> Pass {
        // s(t) = t s + (1 - t) s(0), s(0) = -c.
        let mut scaled = vec![0.0; u.len()];
        let mut origin = vec![0.0; s.len()];
        self.side.add_dual_gradient(&scaled, &mut origin, self.point.control)?;
        origin.iter_mut().for_each(|v| *v = -*v);
        let mut t: f64 = 1.0;
        match self.point.residuals.view.separable() {
            Nonsmooth::Coordinates(h) => {
                for c in 0..s.len() {
                    let (lo, hi) = h.dual_domain(c);
                    if origin[c] < lo || origin[c] > hi {
                        return Ok(());
                    }
                    if s[c] > hi {
                        t = t.min((hi - origin[c]) / (s[c] - origin[c]));
                    } else if s[c] < lo {
                        t = t.min((lo - origin[c]) / (s[c] - origin[c]));
                    }
                }
            }
            Nonsmooth::Groups(h) => {
                let blocks = self.point.residuals.view.blocks();
                for i in 0..blocks.len() {
                    let length = |v: &[f64]| blocks.coordinates(i).map(|c| v[c] * v[c]).sum::<f64>().sqrt();
                    let (from, to, weight) = (length(&origin), length(s), h.weight(i));
                    if from > weight {
                        return Ok(());
                    }
                    if to > weight {
                        t = t.min((weight - from) / (to - from));
                    }
                }
            }
        }
        if t.is_nan() || t >= 1.0 {
            return Ok(());
        }
        t = (t * (1.0 - 1e-15)).max(0.0);
        scaled.iter_mut().zip(u).for_each(|(scaled, u)| *scaled = t * u);
        origin.iter_mut().zip(s).for_each(|(origin, s)| *origin = t * s + (1.0 - t) * *origin);
        let lambda: Vec<f64> = self.point.lambda.iter().map(|lambda| t * lambda).collect();
        best.offer(self.bound(&scaled, &lambda, &origin)?, Place::AtX(t), &lambda);
        Ok(())
    }

    /// The bound at a dual point moved so that s lies on the subdifferential of h at x.
    fn repaired_bound(&self, row_weights: &[f64], best: &mut Best) -> Pass {
        let (residuals, control) = (self.point.residuals, self.point.control);
        let n = residuals.x.len();
        let mut lambda = self.point.lambda.to_vec();
        let mut u = vec![0.0; self.side.dual_len()];
        self.side.dual_point(residuals.x, self.point.product, &mut u);
        let mut s = vec![0.0; n];
        self.fill_s(&u, &lambda, &mut s)?;
        let mut chosen = vec![false; n];
        let mut steps = if self.point.near { MOST_CONJUGATE_STEPS } else { FEW_CONJUGATE_STEPS };
        for _ in 0..MOST_REPAIRS {
            let mut miss = vec![0.0; n];
            residuals.for_each(
                NUMBERS_OF_H,
                control,
                |c| s[c],
                |c, r| {
                    chosen[c] = true;
                    miss[c] = r;
                },
            )?;
            if self.is_rounding(&miss, 0.01) || !max_abs(&miss).is_finite() {
                break;
            }
            let Some(y) = self.conjugate_gradients(miss, &chosen, row_weights, &mut steps)? else { break };
            self.side.add_dual_step(residuals.x, self.point.product, &y, &mut u, control)?;
            let mut pull = vec![0.0; lambda.len()];
            self.add_image(&y, &mut pull)?;
            for ((lambda, pull), weight) in lambda.iter_mut().zip(&pull).zip(row_weights) {
                *lambda += weight * pull;
            }
            self.fill_s(&u, &lambda, &mut s)?;
        }
        best.offer(self.bound(&u, &lambda, &s)?, Place::Kept(u), &lambda);
        Ok(())
    }

    /// `s = -(c + K'u + A'lambda)`.
    fn fill_s(&self, u: &[f64], lambda: &[f64], s: &mut [f64]) -> Pass {
        let (coupling, control) = (self.point.residuals.coupling(), self.point.control);
        s.fill(0.0);
        self.side.add_dual_gradient(u, s, control)?;
        control.in_parts(s.len(), coupling.numbers_per_column(), |part| {
            for c in part {
                s[c] = -(s[c] + coupling.column_dot(c, lambda));
            }
        })
    }

    /// `out += A y`.
    fn add_image(&self, y: &[f64], out: &mut [f64]) -> Pass {
        let coupling = self.point.residuals.coupling();
        self.point.control.in_parts(y.len(), coupling.numbers_per_column(), |part| {
            part.filter(|&c| y[c] != 0.0).for_each(|c| coupling.add_column(c, y[c], out));
        })
    }

    /// Whether every miss is within a share of what counts as rounding.
    fn is_rounding(&self, miss: &[f64], share: f64) -> bool {
        miss.iter().zip(&self.rounding).all(|(miss, rounding)| miss.abs() <= share * rounding)
    }

    /// Weights W of the rows in `H + A'WA`: comparable to the curvature of f.
    fn row_weights(&self) -> Pass<Vec<f64>> {
        let residuals = self.point.residuals;
        let (coupling, f, n) = (residuals.coupling(), residuals.view.smooth(), residuals.x.len());
        let mean = (0..n).map(|c| f.curvature(c)).sum::<f64>() / n as f64;
        let mean = if mean > 0.0 { mean } else { 1.0 };
        let weight = |norm: &f64| mean * n as f64 / (norm * norm).max(f64::MIN_POSITIVE);
        Ok(coupling.row_norms_within(n, self.point.control)?.iter().map(weight).collect())
    }

    /// y, zero off the chosen coordinates, with `(H + A'WA) y = miss` on them.
    fn conjugate_gradients(
        &self,
        miss: Vec<f64>,
        chosen: &[bool],
        row_weights: &[f64],
        steps: &mut usize,
    ) -> Pass<Option<Vec<f64>>> {
        let residuals = self.point.residuals;
        let (f, coupling, n) = (residuals.view.smooth(), residuals.coupling(), miss.len());
        let mut weighted = vec![0.0; row_weights.len()];
        let diagonal = |rows: f64, c: usize| {
            let d = f.curvature(c) + rows;
            if d > 0.0 { 1.0 / d } else { 1.0 }
        };
        // A vector more for every variable is kept only where many rows make the diagonal dear.
        let kept: Option<Vec<f64>> = (row_weights.len() > 1).then(|| {
            let mut column = vec![0.0; row_weights.len()];
            let mut of_rows = |c: usize| {
                coupling.copy_column(c, &mut column);
                column.iter().zip(row_weights).map(|(a, w)| w * a * a).sum()
            };
            (0..n).map(|c| if chosen[c] { diagonal(of_rows(c), c) } else { 0.0 }).collect()
        });
        let inverse = |c: usize| match (&kept, row_weights) {
            (Some(kept), _) => kept[c],
            _ if !chosen[c] => 0.0,
            (_, [w]) => {
                let a = coupling.column_dot(c, &[1.0]);
                diagonal(w * a * a, c)
            }
            _ => diagonal(0.0, c),
        };
        let (mut y, mut r) = (vec![0.0; n], miss);
        let mut p: Vec<f64> = r.iter().enumerate().map(|(c, r)| r * inverse(c)).collect();
        let mut image = vec![0.0; n];
        let mut fit = dot(&r, &p);
        let enough = SOLVED * fit;
        while *steps > 0 {
            *steps -= 1;
            self.point.control.check()?;
            if fit <= enough || self.is_rounding(&r, 1e-3) {
                break;
            }
            if !f.hessian_product(residuals.x, self.point.product, &p, &mut image, self.point.control)? {
                return Ok(None);
            }
            weighted.fill(0.0);
            self.add_image(&p, &mut weighted)?;
            weighted.iter_mut().zip(row_weights).for_each(|(v, w)| *v *= w);
            self.point.control.in_parts(n, coupling.numbers_per_column(), |part| {
                for c in part {
                    image[c] = if chosen[c] { image[c] + coupling.column_dot(c, &weighted) } else { 0.0 };
                }
            })?;
            let bend = dot(&p, &image);
            if bend.is_nan() || bend <= 0.0 {
                break;
            }
            let t = fit / bend;
            for c in 0..n {
                y[c] += t * p[c];
                r[c] -= t * image[c];
            }
            let next: f64 = (0..n).map(|c| r[c] * r[c] * inverse(c)).sum();
            let ratio = next / fit;
            fit = next;
            for c in 0..n {
                p[c] = r[c] * inverse(c) + ratio * p[c];
            }
        }
        Ok(Some(y))
    }
}
