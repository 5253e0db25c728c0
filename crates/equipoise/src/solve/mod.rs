//! Solvers: select a pair, read its gradients, solve the pair, move, observe, stop.
//!
//! | room | what |
//! |---|---|
//! | `driver/` | the outer loop: rounds, steps beyond pairs, feasibility, checkpoints, limits |
//! | `gears/` | who makes a round: plain pairs, threads, momentum, samples, violating pairs |
//! | `pairs/` | one pair update: gradients, metric, which closed form |
//! | `steps/` | what any gear may take beside: proximal step over all blocks, second-order steps, repair of drift |
//!
//! The files beside them are the public interface: settings, solutions, observers, judges.

mod driver;
mod gears;
mod judge;
mod observer;
mod pairs;
mod settings;
mod solution;
mod steps;

pub use crate::state::Locking;
pub use driver::solver::{Solver, solve};
pub use judge::Judge;
pub use observer::{History, Observer, Progress};
pub(crate) use pairs::metric::Metric;
pub use pairs::stepper::PairStepper;
pub use settings::{Method, Schedule, Settings, StepRule};
pub use solution::{Candidate, Solution, Status};
