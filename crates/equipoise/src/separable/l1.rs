//! `h(x) = sum_c weight_c |x_c|`.

use super::{Piece, PieceTerm, Values};
use crate::error::Result;

/// The weighted l1 norm.
#[derive(Debug, Clone)]
pub struct L1 {
    weight: Values,
}

impl L1 {
    /// The l1 norm with one weight for all coordinates or one for each; weights are at least 0.
    pub fn new(weight: impl Into<Values>) -> Result<Self> {
        let weight = weight.into();
        weight.check_weights("l1 weight")?;
        Ok(Self { weight })
    }
}

impl PieceTerm for L1 {
    fn dimension(&self) -> Option<usize> {
        self.weight.len()
    }
    #[inline]
    fn piece(&self, c: usize) -> Piece {
        Piece { l1: self.weight.at(c), ..Piece::FREE }
    }
}
