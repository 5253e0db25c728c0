//! What only experiments need: delays, and steps by another rule.
//!
//! A run on several threads asks its experiment, if there is one, before the first round. Nothing of it is of use to
//! whoever wants a problem solved.

use std::time::Duration;

/// Changes a run on several threads for the sake of an experiment.
///
/// ```
/// use std::time::Duration;
/// use equipoise::{Coupling, Experiment, Method, Problem, Settings, Solver, Staleness, Steps, smooth::Distance};
///
/// /// Half of a full step, and slow reads.
/// struct Timid;
///
/// impl Experiment for Timid {
///     fn delay(&self) -> Duration {
///         Duration::from_micros(5)
///     }
///     fn steps(&self, _staleness: &Staleness<'_>) -> Option<Steps> {
///         Some(Steps::of_all(0.5))
///     }
/// }
///
/// let problem = Problem::builder(Distance::new(vec![1.0; 8], 0.5)?).coupling(Coupling::sum(2.0)?).build()?;
/// let settings = Settings { method: Method::Pairs, threads: 2, ..Settings::default() };
/// let solution = Solver::new(&problem, &settings).experiment(&Timid).run()?;
/// assert!((solution.x[0] - 0.25).abs() < 1e-3);
/// # Ok::<(), equipoise::Error>(())
/// ```
pub trait Experiment: Sync {
    /// Artificial delay in each of the first two steps of an update.
    fn delay(&self) -> Duration {
        Duration::ZERO
    }

    /// Steps in place of the solver's own; `None` leaves those.
    fn steps(&self, _staleness: &Staleness<'_>) -> Option<Steps> {
        None
    }
}

/// What several threads do not see of each other.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Staleness<'a> {
    /// Updates under way that a read may miss.
    pub tau: f64,
    /// For every block the chances that an update has it as master and as slave.
    pub chances: &'a [[f64; 2]],
    /// Whether f is a sum of functions of single coordinates.
    pub is_decomposable: bool,
}

impl<'a> Staleness<'a> {
    /// So many updates under way, with these chances.
    pub fn new(tau: f64, chances: &'a [[f64; 2]], is_decomposable: bool) -> Self {
        Self { tau, chances, is_decomposable }
    }
}

/// The steps of several threads.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Steps {
    /// Step of all blocks.
    pub alpha: f64,
    /// Factor on the metric of every block; empty for none.
    pub damping: Vec<f64>,
}

impl Steps {
    /// One step for all blocks.
    pub fn of_all(alpha: f64) -> Self {
        Self { alpha, damping: Vec::new() }
    }

    /// Full steps in a metric with a factor for every block.
    pub fn damped(damping: Vec<f64>) -> Self {
        Self { alpha: 1.0, damping }
    }
}
