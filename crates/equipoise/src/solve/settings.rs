//! What a caller may choose about a run.
//!
//! | name | default | meaning | range |
//! |---|---|---|---|
//! | `tolerance` | 1e-6 | on the certificate: gap within `tolerance (1 + |objective|)`, else KKT residual | > 0, finite |
//! | `max_updates` | none | pair updates | >= 1 |
//! | `max_epochs` | none | epochs; in one, as many blocks move as there are | > 0 |
//! | `time_limit` | none | seconds | > 0 |
//! | `method` | auto | `pairs` is the paper's algorithm; `violating` the fast one for one row; `auto` chooses | - |
//! | `step_size` | 1 | the paper's alpha; the step's metric is the curvature divided by it | in (0, 2) |
//! | `seed` | 0 | of the draws; one seed, one sequence of iterates | - |
//! | `memory_budget` | 256 MiB | for factors kept per edge, beyond it they are computed on the fly; for rows of data | - |
//! | `target_objective` | none | end, with `TargetReached`, once f + h is at most this | not NaN |
//! | `threads` | 1 | threads that work on the run | 1 to 1024 |
//! | `locking` | none | with several threads: what a pair update locks | - |
//! | `deterministic` | false | with several threads: one seed and thread count, one result | - |
//! | `schedule` | paper | with `stochastic`: how the steps shrink | - |
//! | `batch` | 1 | with `stochastic`, `svrg`, `saga`: samples an update | 1 to the number of samples |

use crate::error::{Error, Result};
use crate::solve::Method;
use crate::state::Locking;

/// How the steps of the stochastic method shrink, k updates made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Schedule {
    /// `alpha / sqrt(k + 1)`, as in the paper.
    #[default]
    Paper,
    /// `alpha` throughout.
    Constant,
    /// `alpha / sqrt(K)` for K updates, with K doubled each time it is reached: the rate K^(-1/2) for the average.
    Horizon,
    /// `alpha (k + 1)^(-2/3)`: the rate k^(-1/3) for the last iterate.
    TwoThirds,
}

crate::named!(Schedule, "schedule":
    "paper" => Self::Paper,
    "constant" => Self::Constant,
    "horizon" => Self::Horizon,
    "two-thirds" => Self::TwoThirds,
);

/// Most threads of one run.
pub(crate) const MOST_THREADS: usize = 1024;

/// The choices of a run; [`Default`] suits most.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Tolerance on the certificate.
    pub tolerance: f64,
    /// Most pair updates.
    pub max_updates: Option<u64>,
    /// Most epochs.
    pub max_epochs: Option<f64>,
    /// Most seconds.
    pub time_limit: Option<f64>,
    /// How the optimum is sought.
    pub method: Method,
    /// The paper's step size alpha.
    pub step_size: f64,
    /// Seed of the random draws.
    pub seed: u64,
    /// Bytes that cached factors, or rows of data that stay in their file, may take.
    pub memory_budget: usize,
    /// An objective that is good enough.
    pub target_objective: Option<f64>,
    /// Threads that work on the run.
    pub threads: usize,
    /// With several threads: what a pair update locks.
    pub locking: Locking,
    /// With several threads: whether one seed and thread count give one result.
    pub deterministic: bool,
    /// With `stochastic`: how the steps shrink.
    pub schedule: Schedule,
    /// With `stochastic`, `svrg` and `saga`: samples an update.
    pub batch: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            tolerance: 1e-6,
            max_updates: None,
            max_epochs: None,
            time_limit: None,
            method: Method::Auto,
            step_size: 1.0,
            seed: 0,
            memory_budget: 256 << 20,
            target_objective: None,
            threads: 1,
            locking: Locking::None,
            deterministic: false,
            schedule: Schedule::Paper,
            batch: 1,
        }
    }
}

impl Settings {
    /// Refuses a setting outside its range.
    pub fn validate(&self) -> Result<()> {
        let positive = |name, found: f64| {
            if found > 0.0 && found.is_finite() {
                Ok(())
            } else {
                Err(Error::InvalidSetting { name, found, allowed: "a finite number above 0" })
            }
        };
        positive("tolerance", self.tolerance)?;
        self.max_updates.map_or(Ok(()), |most| positive("max-updates", most as f64))?;
        self.max_epochs.map_or(Ok(()), |most| positive("max-epochs", most))?;
        self.time_limit.map_or(Ok(()), |most| positive("time-limit", most))?;
        if !(self.step_size > 0.0 && self.step_size < 2.0) {
            let allowed = "a number above 0 and below 2";
            return Err(Error::InvalidSetting { name: "step-size", found: self.step_size, allowed });
        }
        if !(1..=MOST_THREADS).contains(&self.threads) {
            let allowed = "a whole number from 1 to 1024";
            return Err(Error::InvalidSetting { name: "threads", found: self.threads as f64, allowed });
        }
        if self.batch == 0 {
            return Err(Error::InvalidSetting { name: "batch", found: 0.0, allowed: "at least 1" });
        }
        if self.target_objective.is_some_and(f64::is_nan) {
            let allowed = "a number";
            return Err(Error::InvalidSetting { name: "target-objective", found: f64::NAN, allowed });
        }
        Ok(())
    }
}
