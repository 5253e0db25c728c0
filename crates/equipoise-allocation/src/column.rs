//! Numbers of users: one for all, or one each.
//!
//! Given: such numbers. Returns: blocks of them, for loops over contiguous memory. Must not know: what they mean.

use std::ops::Range;

/// Users that a loop takes at a time: a few dozen columns of them fit into the nearest cache.
pub(crate) const BLOCK: usize = 256;

/// One number for all users, or one each.
#[derive(Debug, Clone, PartialEq)]
pub enum Column {
    /// The same for all.
    One(f64),
    /// One a user.
    Many(Vec<f64>),
}

impl From<f64> for Column {
    fn from(value: f64) -> Self {
        Self::One(value)
    }
}

impl From<Vec<f64>> for Column {
    fn from(values: Vec<f64>) -> Self {
        Self::Many(values)
    }
}

impl Column {
    /// That of a user.
    pub fn get(&self, user: usize) -> f64 {
        match self {
            Self::One(value) => *value,
            Self::Many(values) => values[user],
        }
    }

    /// How many there are, where there is one each.
    pub(crate) fn length(&self) -> Option<usize> {
        match self {
            Self::One(_) => None,
            Self::Many(values) => Some(values.len()),
        }
    }

    /// The numbers, each once.
    pub(crate) fn values(&self) -> &[f64] {
        match self {
            Self::One(value) => std::slice::from_ref(value),
            Self::Many(values) => values,
        }
    }

    /// The first number that is not as it should be, and whose it is.
    pub(crate) fn find(&self, is_wrong: impl Fn(f64) -> bool) -> Option<(usize, f64)> {
        let place = self.values().iter().position(|value| is_wrong(*value))?;
        Some((place, self.values()[place]))
    }

    /// Those of some users.
    pub(crate) fn gather(&self, users: &[u32]) -> Self {
        match self {
            Self::One(value) => Self::One(*value),
            Self::Many(values) => Self::Many(users.iter().map(|&user| values[user as usize]).collect()),
        }
    }

    /// The column as blocks.
    pub(crate) fn lane(&self) -> Lane<'_> {
        match self {
            Self::One(value) => Lane::One([*value; BLOCK]),
            Self::Many(values) => Lane::Many(values),
        }
    }
}

/// A column, ready to be cut into blocks.
#[derive(Debug, Clone)]
#[expect(
    clippy::large_enum_variant,
    reason = "a block is read in place, without another step through memory"
)]
pub(crate) enum Lane<'a> {
    One([f64; BLOCK]),
    Many(&'a [f64]),
}

impl Lane<'_> {
    /// At most a block of numbers.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "part of vector loops, which must not call functions")]
    pub(crate) fn block(&self, range: Range<usize>) -> &[f64] {
        match self {
            Self::One(block) => &block[..range.len()],
            Self::Many(values) => &values[range],
        }
    }
}
