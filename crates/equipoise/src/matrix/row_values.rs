//! Values of the entries of rows, as they are stored: none where all are 1, of 64 bits, or of 32.
//!
//! ```text
//! value k of an entry = 1, v_k, or v_k widened, which is exact
//! ```
//!
//! Must not know: which columns they belong to, what is done with them.

use std::borrow::Cow;
use std::ops::Range;

/// The values of a row.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum RowValues<'a> {
    /// Every value is 1.
    Ones,
    /// Of 64 bits.
    Double(&'a [f64]),
    /// Of 32 bits.
    Single(&'a [f32]),
}

impl<'a> RowValues<'a> {
    /// In 64 bits, where they are stored.
    pub(super) fn wide(self) -> Option<Cow<'a, [f64]>> {
        match self {
            Self::Ones => None,
            Self::Double(values) => Some(values.into()),
            Self::Single(values) => Some(values.iter().map(|&value| f64::from(value)).collect()),
        }
    }

    /// Value k.
    #[inline]
    pub fn at(&self, k: usize) -> f64 {
        match self {
            Self::Ones => 1.0,
            Self::Double(values) => values[k],
            Self::Single(values) => f64::from(values[k]),
        }
    }

    /// The first value that is not finite, and where it is.
    pub(super) fn first_not_finite(&self) -> Option<(usize, f64)> {
        let place = match self {
            Self::Ones => None,
            Self::Double(values) => values.iter().position(|value| !value.is_finite()),
            Self::Single(values) => values.iter().position(|value| !value.is_finite()),
        }?;
        Some((place, self.at(place)))
    }
}

/// The values of all rows.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Stored<'a> {
    Ones,
    Double(Cow<'a, [f64]>),
    Single(Cow<'a, [f32]>),
}

impl Stored<'_> {
    /// How many there are; none are stored where all are 1.
    pub(super) fn len(&self) -> Option<usize> {
        match self {
            Self::Ones => None,
            Self::Double(values) => Some(values.len()),
            Self::Single(values) => Some(values.len()),
        }
    }

    /// Some of them.
    #[inline]
    pub(super) fn of(&self, range: Range<usize>) -> RowValues<'_> {
        match self {
            Self::Ones => RowValues::Ones,
            Self::Double(values) => RowValues::Double(&values[range]),
            Self::Single(values) => RowValues::Single(&values[range]),
        }
    }

    /// The same, borrowed.
    pub(super) fn lent(&self) -> Stored<'_> {
        match self {
            Self::Ones => Stored::Ones,
            Self::Double(values) => Stored::Double((&**values).into()),
            Self::Single(values) => Stored::Single((&**values).into()),
        }
    }

    /// An empty list of the same kind.
    pub(super) fn none_yet(&self) -> Stored<'static> {
        match self {
            Self::Ones => Stored::Ones,
            Self::Double(_) => Stored::Double(Cow::Owned(Vec::new())),
            Self::Single(_) => Stored::Single(Cow::Owned(Vec::new())),
        }
    }

    /// Adds the values of a row of the same kind.
    pub(super) fn append(&mut self, row: RowValues<'_>) {
        match (self, row) {
            (Self::Double(values), RowValues::Double(row)) => values.to_mut().extend_from_slice(row),
            (Self::Single(values), RowValues::Single(row)) => values.to_mut().extend_from_slice(row),
            _ => {}
        }
    }
}
