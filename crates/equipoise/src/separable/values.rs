//! One number for all coordinates, or one for each.

use crate::error::{Error, Result};

/// One number for every index, or a list with a number for each.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// The same number everywhere.
    Uniform(f64),
    /// A number for each index.
    Each(Vec<f64>),
}

impl Values {
    /// The number at index c.
    ///
    /// # Panics
    /// When a list is shorter than c; a [`Problem`](crate::Problem) checks lengths once.
    #[inline]
    pub fn at(&self, c: usize) -> f64 {
        match self {
            Self::Uniform(value) => *value,
            Self::Each(list) => list[c],
        }
    }

    /// The length of the list; `None` for a uniform number.
    #[expect(clippy::len_without_is_empty, reason = "a uniform number has no length to be zero")]
    pub fn len(&self) -> Option<usize> {
        match self {
            Self::Uniform(_) => None,
            Self::Each(list) => Some(list.len()),
        }
    }

    /// The numbers as a slice (one entry when uniform).
    pub fn as_slice(&self) -> &[f64] {
        match self {
            Self::Uniform(value) => std::slice::from_ref(value),
            Self::Each(list) => list,
        }
    }

    /// Every number finite and at least 0, or an error naming the first that is not.
    pub(crate) fn check_weights(&self, input: &str) -> Result<()> {
        for (index, &found) in self.as_slice().iter().enumerate() {
            if !found.is_finite() {
                return Err(Error::NonFinite { input: input.into(), row: index, column: 0, found });
            }
            if found < 0.0 {
                return Err(Error::NegativeWeight { input: input.into(), index, found });
            }
        }
        Ok(())
    }
}

impl From<f64> for Values {
    fn from(value: f64) -> Self {
        Self::Uniform(value)
    }
}

impl From<Vec<f64>> for Values {
    fn from(list: Vec<f64>) -> Self {
        Self::Each(list)
    }
}

/// The common length of several lists; an error when two differ.
pub(crate) fn common_length(named: &[(&str, &Values)]) -> Result<Option<usize>> {
    let mut common = None;
    for (name, values) in named {
        if let Some(found) = values.len() {
            match common {
                None => common = Some(found),
                Some(expected) if expected != found => {
                    return Err(Error::ShapeMismatch {
                        input: (*name).into(),
                        unit: "entries",
                        found,
                        expected,
                    });
                }
                Some(_) => {}
            }
        }
    }
    Ok(common)
}
