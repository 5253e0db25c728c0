//! What can be wrong with costs, limits, rows or choices, with the evidence.
//!
//! Messages are those of [`equipoise::Error`] in style: lower-case, without a full stop; what, where, what was found and
//! what is allowed. Users count from 1.

/// The caller's mistake, with the evidence that proves it.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A list of the wrong length.
    #[error("{what}: found {found} numbers, expected {expected}, one a {unit}")]
    Length {
        /// The list.
        what: String,
        /// Its length.
        found: usize,
        /// What it should be.
        expected: usize,
        /// What there is one of: `user`, `row`.
        unit: &'static str,
    },
    /// A number that is not allowed.
    #[error("{what} of user {user}: found {found}, expected {expected}")]
    BadNumber {
        /// Which number, such as `lower limit`.
        what: String,
        /// Whose, from 1.
        user: usize,
        /// The number.
        found: f64,
        /// What is allowed.
        expected: &'static str,
    },
    /// A lower limit above the upper one.
    #[error("user {user}: its lower limit {lower} is above its upper limit {upper}")]
    Crossed {
        /// The user, from 1.
        user: usize,
        /// Its lower limit.
        lower: f64,
        /// Its upper limit.
        upper: f64,
    },
    /// A cost that is not convex.
    #[error("the cost of user {user} is not convex: {evidence}; only convex costs have prices that clear")]
    NotConvex {
        /// The user, from 1.
        user: usize,
        /// Where it is not.
        evidence: String,
    },
    /// A row that cannot be met within the limits.
    #[error(
        "row `{row}` asks for {asked}, but within their limits the users give {least} at least and {most} at most: \
         {missing} {}; {binding}", if *.asked > *.most { "are missing" } else { "are too much" }
    )]
    OutOfReach {
        /// The row.
        row: String,
        /// What it asks for.
        asked: f64,
        /// The least that the limits allow.
        least: f64,
        /// The most that they allow.
        most: f64,
        /// By how much it is out of reach.
        missing: f64,
        /// Which limits stand in the way.
        binding: String,
    },
    /// Rows that can be met each by itself, but not together.
    #[error(
        "the rows cannot be met together within the limits: {combination} is at most {most}, and the rows ask for \
         {asked} of it: {missing} are missing; {binding}"
    )]
    Contradiction {
        /// A weighted sum of rows, in words.
        combination: String,
        /// The most that the limits allow of it.
        most: f64,
        /// What the rows ask for.
        asked: f64,
        /// By how much it is out of reach.
        missing: f64,
        /// Which limits stand in the way.
        binding: String,
    },
    /// A row that pins a user to a limit at which its cost is infinite.
    #[error(
        "row `{row}` asks for {asked}, which leaves user {user} at {x}, where its cost has no finite value; ask for {way}"
    )]
    NoValue {
        /// The row.
        row: String,
        /// What it asks for.
        asked: f64,
        /// The user, from 1.
        user: usize,
        /// Its limit.
        x: f64,
        /// `more` or `less`.
        way: &'static str,
    },
    /// Costs that fall without end.
    #[error("the objective has no lower bound: {evidence}; give finite limits, or a cost that bends")]
    Unbounded {
        /// Which users, and why.
        evidence: String,
    },
    /// No users, or no rows.
    #[error("found no {what}, expected at least one")]
    Empty {
        /// What there is none of.
        what: &'static str,
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
    /// What the library says: a run that was ended before it began, ...
    #[error(transparent)]
    Equipoise(#[from] equipoise::Error),
}

impl From<equipoise::Halt> for Error {
    fn from(halt: equipoise::Halt) -> Self {
        Self::Equipoise(halt.into())
    }
}

/// What every fallible function here returns.
pub type Result<T> = std::result::Result<T, Error>;
