//! What a caller may choose about a fit.

use super::error::{Error, Result};

/// How the optimum is sought.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Method {
    /// What suits the problem best.
    #[default]
    Auto,
    /// The exact recursion for a chain with X = I.
    Chain,
    /// Rows and columns of an image in turn, each chain exactly, with momentum; X = I.
    Lines,
    /// The interior of the box in which the multipliers lie, by Newton's method.
    Interior,
    /// Jumps of a chain as coefficients of a lasso, in working sets; X a matrix.
    Jumps,
    /// The paper's formulation with slacks, by pairs.
    SlackPairs,
}

equipoise::named!(Method, "method":
    "auto" => Self::Auto,
    "chain" => Self::Chain,
    "lines" => Self::Lines,
    "interior" => Self::Interior,
    "jumps" => Self::Jumps,
    "slack-pairs" => Self::SlackPairs,
);

/// The choices of a fit; [`Default`] is lambda = 1 to a relative gap of 1e-6.
#[derive(Debug, Clone, PartialEq)]
pub struct FitSettings {
    /// The weight of `||D b||_1`.
    pub lambda: f64,
    /// The weight of `||b||_1`; 0 for none.
    pub sparse: f64,
    /// The relative gap `(objective - bound) / max(objective, 1e-12 ||y||^2 / 2)` to reach.
    pub gap: f64,
    /// How the optimum is sought.
    pub method: Method,
    /// How many threads may work.
    pub threads: usize,
    /// Rounds of an iterative method, at most.
    pub max_rounds: usize,
}

impl Default for FitSettings {
    fn default() -> Self {
        Self { lambda: 1.0, sparse: 0.0, gap: 1e-6, method: Method::Auto, threads: 1, max_rounds: 100_000 }
    }
}

impl FitSettings {
    /// Refuses numbers out of their range.
    pub(super) fn validate(&self) -> Result<()> {
        let positive = |input, found: f64| {
            if found > 0.0 && found.is_finite() { Ok(()) } else { Err(Error::NotPositive { input, found }) }
        };
        positive("lambda", self.lambda)?;
        positive("gap", self.gap)?;
        if !(self.sparse >= 0.0 && self.sparse.is_finite()) {
            return Err(Error::Negative { input: "sparse", found: self.sparse });
        }
        let counts = [("threads", self.threads), ("max_rounds", self.max_rounds)];
        match counts.into_iter().find(|(_, count)| *count == 0) {
            Some((input, _)) => Err(Error::NotPositive { input, found: 0.0 }),
            None => Ok(()),
        }
    }
}
