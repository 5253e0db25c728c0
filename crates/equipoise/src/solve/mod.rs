//! Solvers: select a pair, read its gradients, solve the pair, move, observe, stop.
//!
//! [`solve`] runs Algorithm 1 of the paper on one core. `sequential.rs` holds the loop; beside it stand what the
//! loop asks: the pair update, the full proximal step that takes over when pairs stall, the second-order step on
//! the free variables, the repair of rounding drift, limits, and the observer.

mod accelerated;
mod anchored;
mod budget;
mod catalyst;
mod checkpoints;
mod choice;
mod dense_pair;
mod face_step;
mod factor_cache;
mod free_step;
mod full_step;
mod graph_constant;
mod judge;
mod metric;
mod multicore;
mod observer;
mod pairs;
mod proximal_newton;
mod repair;
mod round;
mod sampled;
mod sequential;
mod settings;
mod solution;
mod solver;
mod staleness;
mod stepper;
mod subproblem;
mod team;
mod violating;

pub use crate::state::Locking;
pub(crate) use judge::Judge;
pub(crate) use metric::Metric;
pub use observer::{History, Observer, Progress};
pub(crate) use settings::MOST_THREADS;
pub use settings::{Method, Schedule, Settings, StepRule};
pub use solution::{Candidate, Solution, Status};
pub use solver::{Solver, solve};
pub use stepper::PairStepper;
pub(crate) use team::Team;
