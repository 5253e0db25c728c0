//! `h(x) = sum_c l1_c |x_c| + 1/2 l2_c x_c^2`.

use super::values::common_length;
use super::{Piece, PieceTerm, Values};
use crate::error::Result;

/// The elastic net: an l1 norm plus half a squared Euclidean norm.
#[derive(Debug, Clone)]
pub struct ElasticNet {
    l1: Values,
    l2: Values,
    dimension: Option<usize>,
}

impl ElasticNet {
    /// Weights of the l1 norm and of half the squared norm, each one for all or one a coordinate.
    pub fn new(l1: impl Into<Values>, l2: impl Into<Values>) -> Result<Self> {
        let (l1, l2) = (l1.into(), l2.into());
        l1.check_weights("elastic-net l1")?;
        l2.check_weights("elastic-net l2")?;
        let dimension = common_length(&[("elastic-net l1", &l1), ("elastic-net l2", &l2)])?;
        Ok(Self { l1, l2, dimension })
    }
}

impl PieceTerm for ElasticNet {
    fn dimension(&self) -> Option<usize> {
        self.dimension
    }
    #[inline]
    fn piece(&self, c: usize) -> Piece {
        Piece { l1: self.l1.at(c), l2: self.l2.at(c), ..Piece::FREE }
    }
}
