//! h = 0.

use super::{Piece, PieceTerm};

/// The term that is zero everywhere.
#[derive(Debug, Clone, Copy, Default)]
pub struct Zero;

impl PieceTerm for Zero {
    fn dimension(&self) -> Option<usize> {
        None
    }
    #[inline]
    fn piece(&self, _c: usize) -> Piece {
        Piece::FREE
    }
    #[inline]
    fn is_zero(&self) -> bool {
        true
    }
}
