//! What can be wrong with the returns or the choices.

/// The caller's mistake, with its evidence.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No covariance can be computed.
    #[error("found {assets} assets over {periods} periods; needed: one asset, and two periods")]
    TooFewReturns {
        /// How many assets there are.
        assets: usize,
        /// How many periods there are.
        periods: usize,
    },
    /// Assets with different numbers of periods.
    #[error("asset {asset} has {found} periods, the first one {expected}")]
    Ragged {
        /// The asset, from 0.
        asset: usize,
        /// Its periods.
        found: usize,
        /// Those of the first asset.
        expected: usize,
    },
    /// The weights cannot add up to 1.
    #[error("with a cap of {cap} the weights of {assets} assets cannot add up to 1")]
    CapTooSmall {
        /// The cap.
        cap: f64,
        /// How many assets there are.
        assets: usize,
    },
    /// A choice outside its range.
    #[error("{name} is {found}; allowed: {allowed}")]
    Choice {
        /// Its name.
        name: &'static str,
        /// The value found.
        found: f64,
        /// What is allowed.
        allowed: &'static str,
    },
    /// What equipoise refuses: numbers that are none, threads out of range.
    #[error(transparent)]
    Equipoise(#[from] equipoise::Error),
}

/// Shorthand for results of this crate.
pub type Result<T> = std::result::Result<T, Error>;
