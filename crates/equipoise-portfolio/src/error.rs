//! What can be wrong with prices, limits or choices, with the evidence.
//!
//! Messages are those of [`equipoise::Error`] in style: lower-case, without a full stop; what, where, what was found and
//! what is allowed.

/// The caller's mistake, with the evidence that proves it.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A list of the wrong length.
    #[error("{what}: found {found}, expected {expected}")]
    Length {
        /// The list.
        what: &'static str,
        /// Its length.
        found: usize,
        /// What it should be.
        expected: usize,
    },
    /// A name that two assets have.
    #[error("asset `{asset}` is there twice; names must differ")]
    Twice {
        /// The name.
        asset: String,
    },
    /// A number that cannot be one of its sort.
    #[error("{what} of `{asset}`{day}: found {found}, expected {expected}")]
    BadNumber {
        /// `price`, `return`, ...
        what: &'static str,
        /// Whose.
        asset: String,
        /// ` on DAY`, or nothing.
        day: String,
        /// The number.
        found: f64,
        /// What is allowed.
        expected: &'static str,
    },
    /// A missing number where none is allowed.
    #[error(
        "`{asset}` has no {what}{day} ({lacking} missing in all, in {assets} assets); drop such days, or fill them with the last price"
    )]
    Gap {
        /// `price` or `return`.
        what: &'static str,
        /// Whose.
        asset: String,
        /// ` on DAY`.
        day: String,
        /// Missing numbers in the table.
        lacking: usize,
        /// Assets that lack some.
        assets: usize,
    },
    /// Too few days for a variance.
    #[error("{found} returns are left of {rows} rows, expected at least 2{hint}")]
    TooFewDays {
        /// Returns left.
        found: usize,
        /// Rows of the table.
        rows: usize,
        /// Who lacks most.
        hint: String,
    },
    /// A covariance of other returns.
    #[error(
        "the covariance was made of other returns: those of `{asset}` differ; make it of the returns that it is used with"
    )]
    OtherReturns {
        /// The first asset that differs.
        asset: String,
    },
    /// Limits of one asset the wrong way round.
    #[error("asset `{asset}`: its lower limit {lower} is above its upper limit {upper}")]
    Crossed {
        /// The asset.
        asset: String,
        /// Its lower limit.
        lower: f64,
        /// Its upper limit.
        upper: f64,
    },
    /// Limits of one group the wrong way round, or no numbers.
    #[error("{group}: its lower limit {lower} is above its upper limit {upper}")]
    CrossedGroup {
        /// The group.
        group: String,
        /// Its lower limit.
        lower: f64,
        /// Its upper limit.
        upper: f64,
    },
    /// A group that names an asset more than once.
    #[error("{group}: `{asset}` is a member of it more than once; name every member once")]
    TwiceInGroup {
        /// The group.
        group: String,
        /// The asset.
        asset: String,
    },
    /// A budget that the limits of the weights cannot hold.
    #[error(
        "the weights are to sum to {budget}, but within their limits they sum to {least} at least and {most} at most"
    )]
    Budget {
        /// The budget.
        budget: f64,
        /// The sum of the lower limits.
        least: f64,
        /// The sum of the upper limits.
        most: f64,
    },
    /// A group whose limits those of its assets cannot meet.
    #[error(
        "{group} is to hold {lower} to {upper}, but within their limits its {members} assets hold {least} at least and {most} at most"
    )]
    GroupOutOfReach {
        /// The group.
        group: String,
        /// Its lower limit.
        lower: f64,
        /// Its upper limit.
        upper: f64,
        /// Its assets.
        members: usize,
        /// The sum of their lower limits.
        least: f64,
        /// The sum of their upper limits.
        most: f64,
    },
    /// A target return that no portfolio within the limits has.
    #[error(
        "no portfolio within the limits has an expected return of {target} a period; the largest that one has is {largest}{best}"
    )]
    ReturnOutOfReach {
        /// The return asked for.
        target: f64,
        /// The largest there is.
        largest: f64,
        /// The best asset, in words.
        best: String,
    },
    /// Limits that contradict each other otherwise.
    #[error(
        "the limits contradict each other: {row} is missed by {by:.3e} at least; relax one of the limits"
    )]
    Contradiction {
        /// The row that is missed most.
        row: String,
        /// By how much.
        by: f64,
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
    /// What the library says: a run that was ended before there was a result, ...
    #[error(transparent)]
    Equipoise(#[from] equipoise::Error),
}

impl From<equipoise::Halt> for Error {
    fn from(halt: equipoise::Halt) -> Self {
        Self::Equipoise(halt.into())
    }
}
