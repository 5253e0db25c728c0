//! How training went, in the user's terms.

use super::LinearModel;
use equipoise::solve::Status;

/// One fit, in the user's terms.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ClassReport {
    /// The label of the positive side; NaN for regression and one-class models.
    pub label: f64,
    /// How the fit ended.
    pub status: Status,
    /// The primal objective.
    pub primal: f64,
    /// The dual objective.
    pub dual: f64,
    /// `(primal - dual) / max(|dual|, 1e-12)`.
    pub relative_gap: f64,
    /// The optimal bias.
    pub bias: f64,
    /// `|sum beta|` (for the nu kinds the largest miss of a sum).
    pub infeasibility: f64,
    /// Rows with a multiplier other than 0.
    pub support: usize,
    /// Rows with their multiplier at its upper bound.
    pub bounded_support: usize,
    /// Pair updates and Newton steps.
    pub updates: u64,
    /// Passes over the data.
    pub epochs: f64,
}

/// All fits of a model: totals, the worst gap, the first status that is not `Converged`.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Report {
    /// One a decision function.
    pub classes: Vec<ClassReport>,
    /// Seconds from rows in memory to the model.
    pub seconds: f64,
}

impl Report {
    /// `Converged` when every fit is, else the first other status.
    pub fn status(&self) -> Status {
        self.classes
            .iter()
            .map(|class| class.status)
            .find(|status| *status != Status::Converged)
            .unwrap_or(Status::Converged)
    }

    /// The sum over decision functions.
    pub fn primal(&self) -> f64 {
        self.classes.iter().map(|class| class.primal).sum()
    }

    /// The sum over decision functions.
    pub fn dual(&self) -> f64 {
        self.classes.iter().map(|class| class.dual).sum()
    }

    /// The largest of any decision function.
    pub fn relative_gap(&self) -> f64 {
        self.classes.iter().map(|class| class.relative_gap).fold(0.0, f64::max)
    }
}

/// A model and how it was reached.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Trained {
    /// The model.
    pub model: LinearModel,
    /// Objectives, gap, counts.
    pub report: Report,
}
