//! Solvers: select a pair, read its gradients, solve the pair, move, observe, stop.
//!
//! | room | what |
//! |---|---|
//! | `driver/` | the one outer loop: rounds, steps beyond pairs, feasibility, checkpoints, target, limits, hand-over |
//! | `gears/` | who makes a round, behind one trait: plain pairs, threads, momentum, samples, violating pairs |
//! | `pairs/` | one pair update: gradients, metric, which closed form |
//! | `steps/` | what any gear may take beside: proximal step over all blocks, second-order steps, repair of drift |
//!
//! The files beside them are the public interface (settings, solutions, observers, judges, experiments, snapshots with their archive), and `gain.rs`: what counts as a
//! gain of the objective and what as a rise, for all of them.

mod driver;
mod experiment;
mod gain;
mod gears;
mod judge;
mod observer;
mod pairs;
mod settings;
mod snapshot;
mod solution;
mod steps;

pub use crate::archive::Archive;
pub use crate::state::Locking;
pub use driver::solver::{Solver, solve};
pub use experiment::{Experiment, Staleness, Steps};
pub use gears::Method;
pub use judge::{Judge, Verdict};
pub use observer::{History, Observer, Progress};
pub(crate) use pairs::metric::Metric;
pub use pairs::stepper::PairStepper;
pub use settings::{Schedule, Settings};
pub use snapshot::{Keeper, Snapshot};
pub use solution::{Candidate, Solution, Status};
