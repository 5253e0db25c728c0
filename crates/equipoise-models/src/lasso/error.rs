//! What can be wrong with the data or the choices of a regression, with the evidence.

/// The caller's mistake, with the evidence that proves it.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A target, or weights, of another length than X has rows.
    #[error("{input} has {found} entries, X has {rows} rows")]
    Length {
        /// Which input.
        input: &'static str,
        /// Its length.
        found: usize,
        /// The rows of X.
        rows: usize,
    },
    /// An entry of X, of the target or of the weights that cannot be used.
    #[error("{input}, row {row}, column {column}: found {found}; {allowed}")]
    Entry {
        /// Which input.
        input: &'static str,
        /// The row, from 0.
        row: usize,
        /// The column, from 0.
        column: usize,
        /// What was found.
        found: f64,
        /// What is allowed.
        allowed: &'static str,
    },
    /// A column that is the same everywhere beside an intercept.
    #[error(
        "column {column} is {value} in every row: it cannot be told from the intercept; leave the column or the intercept out"
    )]
    ConstantColumn {
        /// The column, from 0.
        column: usize,
        /// Its value.
        value: f64,
    },
    /// A setting out of range.
    #[error("{name} is {found}; {allowed}")]
    Setting {
        /// Its name.
        name: &'static str,
        /// What was found.
        found: f64,
        /// What is allowed.
        allowed: &'static str,
    },
    /// Penalty factors of another number than columns.
    #[error("found {found} penalty factors for {columns} columns")]
    Penalties {
        /// How many.
        found: usize,
        /// The columns of X.
        columns: usize,
    },
    /// Constraints over another number of columns.
    #[error("the constraints have {found} columns, X has {columns}")]
    ConstraintWidth {
        /// Their columns.
        found: usize,
        /// Those of X.
        columns: usize,
    },
    /// A constraint that says nothing.
    #[error("constraint {row} has no coefficient other than 0")]
    EmptyConstraint {
        /// Which, from 0.
        row: usize,
    },
    /// A coefficient of a constraint that is no number.
    #[error("constraint {row}, column {column}: found {found}; a finite number is needed")]
    ConstraintNotFinite {
        /// Which, from 0.
        row: usize,
        /// The column, from 0.
        column: usize,
        /// What was found.
        found: f64,
    },
    /// As many independent constraints as columns: nothing is left to choose.
    #[error(
        "{found} independent constraints on {columns} columns leave no coefficient free; use fewer constraints"
    )]
    TooManyConstraints {
        /// How many.
        found: usize,
        /// The columns of X.
        columns: usize,
    },
    /// No column is penalised.
    #[error("no column is penalised: lambda has nothing to act on")]
    NothingPenalised,
    /// A target that nothing explains: `lambda_max` is 0, and ratios of it are, too.
    #[error("lambda_max is 0: the target is explained without any penalised column; give --lambda itself")]
    NothingToExplain,
    /// A fold, or half of the samples, that a model cannot be fitted to.
    #[error("{what}: {why}")]
    Sample {
        /// Which part of the samples.
        what: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// What any problem may have wrong; also a wish to stop.
    #[error(transparent)]
    Equipoise(#[from] equipoise::Error),
}

impl Error {
    /// The status of a run that was ended, where that is what this says.
    pub(super) fn ended(&self) -> Option<equipoise::Status> {
        [equipoise::Halt::Interrupted, equipoise::Halt::TimeLimit]
            .into_iter()
            .find(|halt| *self == Self::from(halt.clone()))
            .and_then(|halt| equipoise::Status::after(&halt))
    }
}

impl From<equipoise::Halt> for Error {
    fn from(halt: equipoise::Halt) -> Self {
        Self::Equipoise(halt.into())
    }
}

/// Shorthand for results of this model.
pub type Result<T> = std::result::Result<T, Error>;
