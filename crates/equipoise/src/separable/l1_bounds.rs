//! `h(x) = sum_c weight_c |x_c|` where `lower <= x <= upper`, infinite elsewhere.

use super::bounds::check_bounds;
use super::values::common_length;
use super::{Piece, PieceTerm, Values};
use crate::error::Result;

/// The weighted l1 norm with bounds on every coordinate.
#[derive(Debug, Clone)]
pub struct L1Bounds {
    weight: Values,
    lower: Values,
    upper: Values,
    dimension: Option<usize>,
}

impl L1Bounds {
    /// Weights and bounds, each one for all or one a coordinate; infinite bounds are allowed.
    pub fn new(
        weight: impl Into<Values>,
        lower: impl Into<Values>,
        upper: impl Into<Values>,
    ) -> Result<Self> {
        let (weight, lower, upper) = (weight.into(), lower.into(), upper.into());
        weight.check_weights("l1-box weight")?;
        check_bounds(&lower, &upper)?;
        let dimension = common_length(&[("l1-box weight", &weight), ("lower", &lower), ("upper", &upper)])?;
        Ok(Self { weight, lower, upper, dimension })
    }
}

impl PieceTerm for L1Bounds {
    fn dimension(&self) -> Option<usize> {
        self.dimension
    }
    #[inline]
    fn piece(&self, c: usize) -> Piece {
        Piece { l1: self.weight.at(c), l2: 0.0, lower: self.lower.at(c), upper: self.upper.at(c) }
    }
}
