//! What is fitted, and how far.

use std::fmt;
use std::str::FromStr;

use equipoise::Matrix;
use equipoise::smooth::loss::{HuberLoss, LogisticLoss, ScalarLoss, Squared};

use super::error::{Error, Result};

/// What an error of a prediction costs.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub enum Loss {
    /// `1/2 (z - y)^2`.
    #[default]
    Squares,
    /// Squares up to this size of an error, then its size.
    Huber(f64),
    /// `log(1 + exp(-y z))` of labels -1 and +1.
    Logistic,
}

impl Loss {
    /// The names, as typed.
    pub const NAMES: &'static [&'static str] = &["squares", "huber", "logistic"];
    /// The size of an error up to which Huber's loss is quadratic, unless another is given.
    pub const DELTA: f64 = 1.345;

    /// As a function of predictions.
    pub(super) fn term(self) -> Result<Box<dyn ScalarLoss>> {
        Ok(match self {
            Self::Squares => Box::new(Squared),
            Self::Huber(delta) => Box::new(HuberLoss::new(delta)?),
            Self::Logistic => Box::new(LogisticLoss),
        })
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Squares => Self::NAMES[0],
            Self::Huber(_) => Self::NAMES[1],
            Self::Logistic => Self::NAMES[2],
        })
    }
}

impl FromStr for Loss {
    type Err = String;

    fn from_str(name: &str) -> std::result::Result<Self, String> {
        match name {
            "squares" => Ok(Self::Squares),
            "huber" => Ok(Self::Huber(Self::DELTA)),
            "logistic" => Ok(Self::Logistic),
            _ => Err(format!("unknown loss `{name}`; known are {}", Self::NAMES.join(", "))),
        }
    }
}

/// A regression: everything but data and lambda.
#[derive(Debug, Clone)]
pub struct Settings {
    /// What an error costs.
    pub loss: Loss,
    /// Whether there is an intercept, not penalised.
    pub intercept: bool,
    /// The share of l1 in the penalty `lambda (r |b| + (1 - r)/2 b^2)`: 1 is the lasso.
    pub l1_ratio: f64,
    /// A factor on the penalty of each column, 0 for those that are not penalised; all 1 if missing.
    pub penalties: Option<Vec<f64>>,
    /// C of `C beta = 0`, over the columns of X.
    pub constraints: Option<Matrix<'static>>,
    /// The relative gap at which a fit has converged.
    pub gap: f64,
    /// Threads that share passes over the columns, or folds.
    pub threads: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            loss: Loss::Squares,
            intercept: true,
            l1_ratio: 1.0,
            penalties: None,
            constraints: None,
            gap: 1e-6,
            threads: 1,
        }
    }
}

impl Settings {
    pub(super) fn check(&self, columns: usize) -> Result<()> {
        let refuse = |name, found, allowed| Err(Error::Setting { name, found, allowed });
        if !(self.l1_ratio > 0.0 && self.l1_ratio <= 1.0) {
            return refuse("l1-ratio", self.l1_ratio, "it must be above 0 and at most 1");
        }
        if !(self.gap > 0.0 && self.gap.is_finite()) {
            return refuse("gap", self.gap, "it must be positive");
        }
        if let Some(penalties) = &self.penalties {
            if penalties.len() != columns {
                return Err(Error::Penalties { found: penalties.len(), columns });
            }
            if let Some(wrong) = penalties.iter().find(|factor| !(**factor >= 0.0 && factor.is_finite())) {
                return refuse("a penalty factor", *wrong, "it must be finite and not negative");
            }
            if penalties.iter().all(|factor| *factor == 0.0) {
                return Err(Error::NothingPenalised);
            }
        }
        Ok(())
    }
}
