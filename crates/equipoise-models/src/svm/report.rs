//! How training went, in the user's terms.

use super::LinearModel;
use equipoise::enclosure::{Enclosure, Sum};
use equipoise::solve::Status;

/// Why a gap is not as small as it might be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Doubt {
    /// Numbers are too large for bounds to be proven.
    Overflow,
    /// No step gains anything in double precision, and what rounding leaves open is more than is allowed.
    Rounding,
    /// The run was ended before the bounds were proven.
    Stopped,
    /// The classes overlap at this nu, and w = 0 is the best there is.
    NoMargin,
    /// The run was ended before this decision function was begun, and it began nowhere.
    Untrained,
}

impl std::fmt::Display for Doubt {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Overflow => "numbers overflow: scale the data, or take a smaller cost or smaller weights",
            Self::Rounding => {
                "rounding leaves more open than is allowed: raise the gap, take a smaller cost, or scale the data"
            }
            Self::Stopped => "ended before the bounds were proven",
            Self::NoMargin => {
                "the classes overlap at this nu and the margin is 0: take a larger nu, or kind svc"
            }
            Self::Untrained => "ended before every label was trained",
        })
    }
}

/// One fit, in the user's terms.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ClassReport {
    /// The label of the positive side; NaN for regression and one-class models.
    pub label: f64,
    /// How the fit ended.
    pub status: Status,
    /// The primal objective of the model as it is, from above; infinite where nothing is proven.
    pub primal: f64,
    /// What no model gets below; minus infinity where nothing is proven.
    pub dual: f64,
    /// `(primal - dual) / max(|dual|, 1e-12)`, from above. The optimum of nu-svc may be 0; in place of 1e-12 it has
    /// `1e-10 / 2 (nu N / 2)^2 V`, N the sum of the weights of the rows and V their mean squared distance from their mean.
    pub relative_gap: f64,
    /// Why less is proven than the run came to, where that is so.
    pub doubt: Option<Doubt>,
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

    /// The sum over decision functions, from above.
    pub fn primal(&self) -> f64 {
        sum(self.classes.iter().map(|class| class.primal)).upper()
    }

    /// The sum over decision functions, from below.
    pub fn dual(&self) -> f64 {
        sum(self.classes.iter().map(|class| class.dual)).lower()
    }

    /// The first doubt of any decision function.
    pub fn doubt(&self) -> Option<Doubt> {
        self.classes.iter().find_map(|class| class.doubt)
    }

    /// How many decision functions were not trained at all.
    pub fn untrained(&self) -> usize {
        self.classes.iter().filter(|class| class.doubt == Some(Doubt::Untrained)).count()
    }

    /// The largest of any decision function.
    pub fn relative_gap(&self) -> f64 {
        self.classes.iter().map(|class| class.relative_gap).fold(0.0, f64::max)
    }
}

/// A sum of bounds, with its error.
pub(super) fn sum(terms: impl Iterator<Item = f64>) -> Enclosure {
    let mut sum = Sum::default();
    terms.for_each(|term| sum.add(term));
    sum.value()
}

/// A model and how it was reached.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Trained {
    /// The model.
    pub model: LinearModel,
    /// Objectives, gap, counts.
    pub report: Report,
    /// The multipliers of every decision function, one a row, with `w = X'beta`; those of nu-svc are divided by the margin,
    /// as its model is. None where a fit was not begun now.
    pub multipliers: Vec<Option<Vec<f64>>>,
}
