//! A term whose every coordinate is known to be a [`Piece`].

use super::{Piece, SeparableTerm};

/// A sum over coordinates of pieces; who holds one need not ask again whether it is.
#[derive(Debug)]
pub(crate) struct ClosedForm<'a, H: ?Sized>(&'a H);

impl<H: ?Sized> Clone for ClosedForm<'_, H> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<H: ?Sized> Copy for ClosedForm<'_, H> {}

impl<'a, H: SeparableTerm + ?Sized> ClosedForm<'a, H> {
    /// The term over n coordinates; `None` where one of them has no closed form.
    pub(crate) fn of(h: &'a H, n: usize) -> Option<Self> {
        (0..n).all(|c| h.piece(c).is_some()).then_some(Self(h))
    }

    /// The term itself.
    #[inline]
    pub(crate) fn term(self) -> &'a H {
        self.0
    }

    /// `h_c`; a term that has a closed form has it whenever it is asked.
    #[inline]
    pub(crate) fn piece(self, c: usize) -> Piece {
        self.0.piece(c).unwrap_or(Piece::FREE)
    }
}
