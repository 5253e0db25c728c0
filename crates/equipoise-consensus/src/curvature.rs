//! What a node says of how `f_i` bends: a matrix below its second derivative, in full or its diagonal.
//!
//! ```text
//! delta = (P_i^-1 + P_j^-1)^-1 (x_j - x_i) = P_i (P_i + P_j)^-1 P_j (x_j - x_i)
//! ```
//!
//! The exact pair step where `f_i` and `f_j` are quadratic; where `f - 1/2 x'P x` is convex, a step that lowers the dual
//! by at least `1/2 delta.(x_j - x_i)`.
//!
//! Must not know: losses, messages.

use crate::factor::{Cholesky, Symmetric};

/// A lower bound of a second derivative, as it travels.
#[derive(Debug, Clone, PartialEq)]
pub enum Curvature {
    /// One number a column.
    Diagonal(Vec<f64>),
    /// The lower triangle, row after row.
    Full(Vec<f64>),
}

impl Curvature {
    /// How many numbers travel.
    pub fn numbers(&self) -> usize {
        match self {
            Self::Diagonal(list) | Self::Full(list) => list.len(),
        }
    }

    fn matrix(&self, order: usize) -> Symmetric {
        match self {
            Self::Diagonal(list) => Symmetric::diagonal_of(list),
            Self::Full(list) => Symmetric::from_lower(order, list.clone()),
        }
    }
}

/// The step of a pair, ready to be taken.
#[derive(Debug, Clone)]
pub(crate) enum PairMetric {
    Diagonal(Vec<f64>),
    Full { own: Symmetric, theirs: Symmetric, sum: Cholesky },
}

impl PairMetric {
    /// None where the sum has no factor: then the caller's data are beyond double precision.
    pub(crate) fn new(own: &Curvature, theirs: &Curvature, order: usize) -> Option<Self> {
        if let (Curvature::Diagonal(a), Curvature::Diagonal(b)) = (own, theirs) {
            return Some(Self::Diagonal(a.iter().zip(b).map(|(a, b)| a * b / (a + b)).collect()));
        }
        let (own, theirs) = (own.matrix(order), theirs.matrix(order));
        let sum = own.plus(&theirs).factored()?;
        Some(Self::Full { own, theirs, sum })
    }

    /// `(P_i^-1 + P_j^-1)^-1 v`.
    pub(crate) fn times(&self, v: &[f64]) -> Vec<f64> {
        match self {
            Self::Diagonal(list) => list.iter().zip(v).map(|(a, b)| a * b).collect(),
            Self::Full { own, theirs, sum } => own.times(&sum.solve(&theirs.times(v))),
        }
    }
}
