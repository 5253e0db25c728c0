//! What can be wrong with the data, the region or the choices of a fit, with the evidence.
//!
//! Messages are those of [`equipoise::Error`] in style: lower-case, without a full stop; what, where, what was found and
//! what is allowed. Places count from 1.

/// The caller's mistake, with the evidence that proves it.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A list of the wrong length.
    #[error("{what}: found {found} numbers, expected {expected}, one a {unit}")]
    Length {
        /// The list.
        what: &'static str,
        /// Its length.
        found: usize,
        /// What it should be.
        expected: usize,
        /// What there is one of: `row`, `column`.
        unit: &'static str,
    },
    /// A number that is none.
    #[error("{what} {place}: found {found}, expected {expected}")]
    BadNumber {
        /// The list, such as `weight`.
        what: &'static str,
        /// Which of its numbers, from 1.
        place: usize,
        /// The number.
        found: f64,
        /// What is allowed.
        expected: &'static str,
    },
    /// A lower bound above the upper one.
    #[error("column {column}: its lower bound {lower} is above its upper bound {upper}")]
    Crossed {
        /// The column, from 1.
        column: usize,
        /// Its lower bound.
        lower: f64,
        /// Its upper bound.
        upper: f64,
    },
    /// A sum that no point within the bounds has.
    #[error(
        "the weights are to sum to {sum}, but within their bounds they sum to {least} at least and {most} at most"
    )]
    OutOfReach {
        /// The sum asked for.
        sum: f64,
        /// The sum of the lower bounds.
        least: f64,
        /// The sum of the upper bounds.
        most: f64,
    },
    /// More equality rows than there are weights.
    #[error(
        "{rows} equality rows for {columns} columns; there can be no more rows than columns: remove those that others imply"
    )]
    TooManyRows {
        /// Rows found.
        rows: usize,
        /// Columns there are.
        columns: usize,
    },
    /// A setting outside its range.
    #[error("{name}: found {found}, expected {expected}")]
    BadSetting {
        /// The setting.
        name: &'static str,
        /// What was found.
        found: f64,
        /// What is allowed.
        expected: &'static str,
    },
    /// What the library says: equality rows that contradict each other, a run that was ended before it began, ...
    #[error(transparent)]
    Equipoise(#[from] equipoise::Error),
}

impl From<equipoise::Halt> for Error {
    fn from(halt: equipoise::Halt) -> Self {
        Self::Equipoise(halt.into())
    }
}
