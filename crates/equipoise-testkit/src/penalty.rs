//! Penalties and bounds h: everything that the testkit knows of one.
//!
//! A new penalty is a variant of [`Separable`] and of [`PenaltyKind`], and an arm in each `match` of this file: its name, its
//! bounds, its slopes on both sides of 0, how it is drawn, how it looks in other units. The naive value and the cone model
//! follow from bounds, slopes and curvature; one that is not of this form has an arm in `evaluate.rs` and
//! `oracle/model.rs`, too. It must not know any solver.

use crate::random::draw::Draw;

/// The separable part h.
#[derive(Clone, Debug, PartialEq)]
pub enum Separable {
    /// h = 0.
    Zero,
    /// `lower <= x <= upper`, either side may be infinite.
    Box {
        /// One bound per coordinate, -inf allowed.
        lower: Vec<f64>,
        /// One bound per coordinate, +inf allowed.
        upper: Vec<f64>,
    },
    /// `x >= 0`.
    NonNegative,
    /// `sum_c weights_c |x_c|`.
    L1 {
        /// One weight per coordinate.
        weights: Vec<f64>,
    },
    /// `sum_c l1_c |x_c| + 1/2 l2_c x_c^2`.
    ElasticNet {
        /// One weight per coordinate.
        l1: Vec<f64>,
        /// One weight per coordinate.
        l2: Vec<f64>,
    },
    /// `sum_c weights_c |x_c|` with `lower <= x <= upper`.
    L1Box {
        /// One weight per coordinate.
        weights: Vec<f64>,
        /// One bound per coordinate, -inf allowed.
        lower: Vec<f64>,
        /// One bound per coordinate, +inf allowed.
        upper: Vec<f64>,
    },
    /// `sum_c rise_c max(x_c, 0) + fall_c max(-x_c, 0)`.
    AsymmetricL1 {
        /// One weight per coordinate.
        rise: Vec<f64>,
        /// One weight per coordinate.
        fall: Vec<f64>,
    },
    /// `sum_B weights_B ||x_B||_2` over the blocks B of the instance, which are explicit then.
    GroupL2 {
        /// One weight per block.
        weights: Vec<f64>,
    },
}

impl Separable {
    /// One of each kind that is a sum over coordinates, n of them; bounds and weights are multiples of 1/8.
    pub fn samples(n: usize) -> Vec<Self> {
        let list = |from: f64, step: f64| (0..n).map(|c| from + step * c as f64).collect::<Vec<_>>();
        vec![
            Self::Zero,
            Self::Box { lower: list(-1.0, 0.125), upper: list(0.5, 0.25) },
            Self::NonNegative,
            Self::L1 { weights: list(0.0, 0.25) },
            Self::ElasticNet { l1: list(0.75, 0.0), l2: list(0.0, 0.5) },
            Self::L1Box { weights: list(0.0, 0.25), lower: list(-0.5, 0.0), upper: list(1.0, 0.125) },
            Self::AsymmetricL1 { rise: list(0.0, 0.25), fall: list(1.0, -0.125) },
        ]
    }

    /// The kind, as PROBLEM.toml writes it.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Zero => "zero",
            Self::Box { .. } => "box",
            Self::NonNegative => "non-negative",
            Self::L1 { .. } => "l1",
            Self::ElasticNet { .. } => "elastic-net",
            Self::L1Box { .. } => "l1-box",
            Self::AsymmetricL1 { .. } => "asymmetric-l1",
            Self::GroupL2 { .. } => "group-l2",
        }
    }

    /// Its lists of numbers with their names, as PROBLEM.toml writes them.
    pub fn parameters(&self) -> Vec<(&'static str, &[f64])> {
        match self {
            Self::Zero | Self::NonNegative => Vec::new(),
            Self::Box { lower, upper } => vec![("lower", lower), ("upper", upper)],
            Self::L1 { weights } | Self::GroupL2 { weights } => vec![("weight", weights)],
            Self::ElasticNet { l1, l2 } => vec![("l1", l1), ("l2", l2)],
            Self::AsymmetricL1 { rise, fall } => vec![("rise", rise), ("fall", fall)],
            Self::L1Box { weights, lower, upper } => {
                vec![("weight", weights), ("lower", lower), ("upper", upper)]
            }
        }
    }

    /// The lower and upper bound of one coordinate.
    pub fn bounds(&self, c: usize) -> (f64, f64) {
        match self {
            Self::Box { lower, upper } | Self::L1Box { lower, upper, .. } => (lower[c], upper[c]),
            Self::NonNegative => (0.0, f64::INFINITY),
            Self::Zero
            | Self::L1 { .. }
            | Self::ElasticNet { .. }
            | Self::AsymmetricL1 { .. }
            | Self::GroupL2 { .. } => (f64::NEG_INFINITY, f64::INFINITY),
        }
    }

    /// The weights of `max(-x_c, 0)` and of `max(x_c, 0)`, each at least 0.
    pub fn slopes(&self, c: usize) -> (f64, f64) {
        match self {
            Self::L1 { weights } | Self::L1Box { weights, .. } => (weights[c], weights[c]),
            Self::ElasticNet { l1, .. } => (l1[c], l1[c]),
            Self::AsymmetricL1 { rise, fall } => (fall[c], rise[c]),
            Self::Zero | Self::Box { .. } | Self::NonNegative | Self::GroupL2 { .. } => (0.0, 0.0),
        }
    }

    /// The weight of `1/2 x_c^2`.
    pub fn l2_weight(&self, c: usize) -> f64 {
        if let Self::ElasticNet { l2, .. } = self { l2[c] } else { 0.0 }
    }

    /// The same h in the variable `x_c / scale_c`; groups begin at `boundaries` and have one scale each.
    pub(crate) fn rescale(&mut self, scale: &[f64], boundaries: &[usize]) {
        match self {
            Self::Zero | Self::NonNegative => {}
            Self::Box { lower, upper } => {
                divide(lower, scale);
                divide(upper, scale);
            }
            Self::L1 { weights } => multiply(weights, scale),
            Self::ElasticNet { l1, l2 } => {
                multiply(l1, scale);
                (0..2).for_each(|_| multiply(l2, scale));
            }
            Self::AsymmetricL1 { rise, fall } => {
                multiply(rise, scale);
                multiply(fall, scale);
            }
            Self::L1Box { weights, lower, upper } => {
                multiply(weights, scale);
                divide(lower, scale);
                divide(upper, scale);
            }
            Self::GroupL2 { weights } => {
                weights.iter_mut().zip(boundaries).for_each(|(weight, first)| *weight *= scale[*first]);
            }
        }
    }
}

/// A penalty whose numbers are still to be drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PenaltyKind {
    Zero,
    Box,
    NonNegative,
    L1,
    ElasticNet,
    L1Box,
    GroupL2,
    AsymmetricL1,
}

impl PenaltyKind {
    pub(crate) const ALL: &[Self] = &[
        Self::Zero,
        Self::Box,
        Self::NonNegative,
        Self::L1,
        Self::ElasticNet,
        Self::L1Box,
        Self::GroupL2,
        Self::AsymmetricL1,
    ];

    /// Whether h alone keeps every minimising sequence bounded (its boxes being finite).
    pub(crate) fn coercive(self) -> bool {
        !matches!(self, Self::Zero | Self::NonNegative)
    }

    /// Numbers for n coordinates in so many groups; sides of a box may be open where that is allowed.
    pub(crate) fn draw(self, n: usize, groups: usize, open_allowed: bool, draw: &mut Draw) -> Separable {
        match self {
            Self::Zero => Separable::Zero,
            Self::Box => {
                let (lower, upper) = bounds(n, open_allowed, draw);
                Separable::Box { lower, upper }
            }
            Self::NonNegative => Separable::NonNegative,
            Self::L1 => Separable::L1 { weights: draw.weights(n, 0.1, 1.5) },
            Self::ElasticNet => {
                Separable::ElasticNet { l1: draw.weights(n, 0.1, 1.0), l2: draw.weights(n, 0.2, 1.5) }
            }
            Self::L1Box => {
                let (lower, upper) = bounds(n, open_allowed, draw);
                Separable::L1Box { weights: draw.weights(n, 0.1, 1.0), lower, upper }
            }
            Self::GroupL2 => Separable::GroupL2 { weights: draw.weights(groups, 0.2, 2.0) },
            Self::AsymmetricL1 => {
                Separable::AsymmetricL1 { rise: draw.weights(n, 0.1, 1.5), fall: draw.weights(n, 0.1, 1.5) }
            }
        }
    }
}

/// Bounds on both sides of 0, or (one in five) of one sign; open sides where allowed.
fn bounds(n: usize, open_allowed: bool, draw: &mut Draw) -> (Vec<f64>, Vec<f64>) {
    let open = open_allowed && draw.chance(0.3);
    let pairs = (0..n).map(|_| {
        let shift = if draw.chance(0.2) { draw.away_from_zero() } else { 0.0 };
        let (lower, upper) = (shift - draw.uniform(0.2, 1.5), shift + draw.uniform(0.2, 1.5));
        match draw.index(0, 3) {
            0 if open => (f64::NEG_INFINITY, upper),
            1 if open => (lower, f64::INFINITY),
            _ => (lower, upper),
        }
    });
    pairs.unzip()
}

pub(crate) fn multiply(list: &mut [f64], scale: &[f64]) {
    list.iter_mut().zip(scale).for_each(|(value, scale)| *value *= scale);
}

pub(crate) fn divide(list: &mut [f64], scale: &[f64]) {
    list.iter_mut().zip(scale).for_each(|(value, scale)| *value /= scale);
}
