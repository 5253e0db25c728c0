//! One run of a case, and what raw data say of its result.

use std::fmt::Write;

use anyhow::Result;
use equipoise::separable::SeparableTerm;
use equipoise::smooth::SmoothTerm;
use equipoise::{Method, Problem, Settings, Solver, Status};
use equipoise_theory::{Delayed, StepRule};

use super::one_thread;
use super::plan::{Case, Code};
use super::record::Row;

/// Bytes for factors: enough to keep those of every edge of the largest problem.
const MEMORY: usize = 4 << 30;
/// Tighter than any target here, so that a run ends at its target.
const TOLERANCE: f64 = 1e-9;
/// The largest residual of `A x = b` that is put down to rounding.
const ROUNDING: f64 = 1e-6;

/// What a run leaves.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) seconds: f64,
    pub(super) preparation_seconds: f64,
    pub(super) threads: usize,
    pub(super) updates: u64,
    pub(super) status: Status,
    pub(super) x: Vec<f64>,
}

/// A problem with a target, and where its rows belong.
#[derive(Debug)]
pub(super) struct Experiment<'a, F, H> {
    pub(super) part: &'static str,
    pub(super) name: String,
    pub(super) topology: &'static str,
    pub(super) problem: &'a Problem<F, H>,
    pub(super) target: f64,
    pub(super) time_limit: f64,
}

impl<F: SmoothTerm, H: SeparableTerm> Experiment<'_, F, H> {
    /// Runs a case once, with the number of the repeat as its seed.
    pub(super) fn run(&self, case: Case, repeat: usize) -> Result<Row> {
        let mut settings = Settings {
            tolerance: TOLERANCE,
            method: Method::Pairs,
            memory_budget: MEMORY,
            time_limit: Some(self.time_limit),
            target_objective: Some(self.target),
            threads: case.threads,
            seed: repeat as u64,
            ..Settings::default()
        };
        let run = match case.code {
            Code::OneThread => one_thread::run(self.problem, &settings, case.delay_us)?,
            Code::Solver(locking) => {
                settings.locking = locking;
                let delayed = Delayed::new(StepRule::Blocks, case.delay_us)?;
                let solution = Solver::new(self.problem, &settings).experiment(&delayed).run()?;
                Run {
                    seconds: solution.seconds,
                    preparation_seconds: solution.preparation_seconds,
                    threads: solution.threads,
                    updates: solution.updates,
                    status: solution.status,
                    x: solution.x,
                }
            }
        };
        self.row(case, repeat, &run)
    }

    /// Judges the result by raw data alone.
    fn row(&self, case: Case, repeat: usize, run: &Run) -> Result<Row> {
        let objective = self.problem.objective(&run.x)?;
        let infeasibility = self.problem.coupling().infeasibility(&run.x);
        let low = objective <= self.target + 1e-9 * self.target.abs().max(1.0);
        let feasible = infeasibility <= ROUNDING;
        let mut status = run.status.to_string();
        if run.status == Status::TargetReached && !low {
            status.push_str("; the objective from raw data is above the target");
        }
        if !feasible {
            status.push_str("; infeasible");
        }
        if run.threads != case.threads {
            let _ = write!(status, "; threads that worked: {}", run.threads);
        }
        Ok(Row {
            part: self.part,
            problem: self.name.clone(),
            topology: self.topology.to_owned(),
            locking: case.code.name(),
            delay_us: case.delay_us,
            threads: case.threads,
            repeat,
            seconds: run.seconds,
            preparation_seconds: run.preparation_seconds,
            updates: run.updates,
            objective,
            target: self.target,
            reached: low && feasible,
            infeasibility,
            status,
        })
    }
}
