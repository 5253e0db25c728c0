//! `h(x) = 0` where `lower <= x <= upper`, infinite elsewhere; either side may be infinite.

use super::values::common_length;
use super::{Piece, PieceTerm, Values};
use crate::error::{Error, Result};

/// Bounds on every coordinate (the indicator of a box).
#[derive(Debug, Clone)]
pub struct Bounds {
    lower: Values,
    upper: Values,
    dimension: Option<usize>,
}

impl Bounds {
    /// Lower and upper bounds, each one for all or one a coordinate; infinite ones are allowed.
    pub fn new(lower: impl Into<Values>, upper: impl Into<Values>) -> Result<Self> {
        let (lower, upper) = (lower.into(), upper.into());
        let dimension = check_bounds(&lower, &upper)?;
        Ok(Self { lower, upper, dimension })
    }
}

/// The common length of the bounds, once no pair of them is crossed, NaN or an empty interval.
pub(super) fn check_bounds(lower: &Values, upper: &Values) -> Result<Option<usize>> {
    let dimension = common_length(&[("lower", lower), ("upper", upper)])?;
    for (input, values, never) in [("lower", lower, f64::INFINITY), ("upper", upper, f64::NEG_INFINITY)] {
        for (row, &found) in values.as_slice().iter().enumerate() {
            if found.is_nan() || found == never {
                return Err(Error::NonFinite { input: input.into(), row, column: 0, found });
            }
        }
    }
    for index in 0..dimension.unwrap_or(1) {
        let (lower, upper) = (lower.at(index), upper.at(index));
        if lower > upper {
            return Err(Error::CrossedBounds { index, lower, upper });
        }
    }
    Ok(dimension)
}

impl PieceTerm for Bounds {
    fn dimension(&self) -> Option<usize> {
        self.dimension
    }
    #[inline]
    fn piece(&self, c: usize) -> Piece {
        Piece { lower: self.lower.at(c), upper: self.upper.at(c), ..Piece::FREE }
    }
}

/// `x >= 0` for every coordinate.
#[derive(Debug, Clone, Copy, Default)]
pub struct NonNegative;

impl PieceTerm for NonNegative {
    fn dimension(&self) -> Option<usize> {
        None
    }
    #[inline]
    fn piece(&self, _c: usize) -> Piece {
        Piece { lower: 0.0, ..Piece::FREE }
    }
}
