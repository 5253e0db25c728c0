//! One run of random pairs to a target, judged by raw data.
//!
//! On one thread by the best code there is for one: pair steps on edges drawn at random, with nothing in it that several threads
//! need. On several by the solver, with its damped blocks. Factors of edges are made first, by all cores on either side; how
//! long that takes is in `preparation`, and `seconds` has it in it.
//!
//! - Given: a problem, a target for its objective, threads, locks, a delay. Returns: an [`Outcome`] with `seconds`, `preparation`, `updates`,
//!   `objective`, `target`, `infeasibility`, `reached` and the word `status`.
//! - Must not know: which problem it is.

use std::fmt::Write;
use std::time::{Duration, Instant};

use anyhow::Result;
use equipoise::graph::EdgeSampler;
use equipoise::separable::SeparableTerm;
use equipoise::smooth::SmoothTerm;
use equipoise::{Control, Locking, Method, PairStepper, Problem, Settings, Solver, Status};
use equipoise_theory::{Delayed, StepRule};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::cell::Outcome;

/// Bytes for factors: enough for every edge of the largest problem.
const MEMORY: usize = 4 << 30;
/// Tighter than any target, so that a run ends at its target.
const TOLERANCE: f64 = 1e-9;
/// The largest residual of `A x = b` that is put down to rounding.
pub(crate) const ROUNDING: f64 = 1e-6;

/// How pairs are run.
#[derive(Debug, Clone)]
pub struct PairRun {
    /// What an update locks; none: the best code for one thread, which locks nothing.
    pub locking: Option<Locking>,
    /// Threads that work.
    pub threads: usize,
    /// Microseconds, spent twice in every update.
    pub delay_us: u64,
    /// Of the draws.
    pub seed: u64,
    /// The objective to reach.
    pub target: f64,
    /// Seconds after which a run is given up.
    pub time_limit: f64,
}

/// What a run leaves.
struct Ran {
    seconds: f64,
    preparation: f64,
    threads: usize,
    updates: u64,
    status: Status,
    x: Vec<f64>,
}

impl PairRun {
    /// Runs, and judges what it left by raw data alone.
    pub fn measure<F: SmoothTerm, H: SeparableTerm>(
        &self,
        problem: &Problem<F, H>,
        control: &Control,
    ) -> Result<Outcome> {
        let settings = Settings {
            tolerance: TOLERANCE,
            method: Method::Pairs,
            memory_budget: MEMORY,
            time_limit: Some(self.time_limit),
            target_objective: Some(self.target),
            threads: self.threads,
            seed: self.seed,
            locking: self.locking.unwrap_or(Locking::None),
            ..Settings::default()
        };
        let ran = if self.locking.is_none() {
            self.alone(problem, &settings, control)?
        } else {
            let delayed = Delayed::new(StepRule::Blocks, self.delay_us)?;
            let solver = Solver::new(problem, &settings).experiment(&delayed).control(control.clone());
            let solution = solver.run()?;
            Ran {
                seconds: solution.seconds,
                preparation: solution.preparation_seconds,
                threads: solution.threads,
                updates: solution.updates,
                status: solution.status,
                x: solution.x,
            }
        };
        let objective = problem.objective(&ran.x)?;
        let infeasibility = problem.coupling().infeasibility(&ran.x);
        let low = objective <= self.target + 1e-9 * self.target.abs().max(1.0);
        let feasible = infeasibility <= ROUNDING;
        let mut status = ran.status.to_string();
        if ran.status == Status::TargetReached && !low {
            status.push_str("; the objective from raw data is above the target");
        }
        if !feasible {
            status.push_str("; infeasible");
        }
        if ran.threads != self.threads {
            let _ = write!(status, "; threads that worked: {}", ran.threads);
        }
        Ok(Outcome::default()
            .value("seconds", ran.seconds)
            .value("preparation", ran.preparation)
            .value("updates", ran.updates as f64)
            .value("objective", objective)
            .value("target", self.target)
            .value("infeasibility", infeasibility)
            .value("reached", f64::from(u8::from(low && feasible)))
            .word("status", status))
    }

    /// The objective is looked at once an epoch; the delay is spent in each of the first two steps of an update.
    fn alone<F: SmoothTerm, H: SeparableTerm>(
        &self,
        problem: &Problem<F, H>,
        settings: &Settings,
        control: &Control,
    ) -> Result<Ran> {
        let begun = Instant::now();
        let mut stepper = PairStepper::new(problem, settings)?;
        stepper.prepare(crate::store::cores());
        let sampler = EdgeSampler::new(problem.graph(), problem.probabilities())?;
        let mut random = Xoshiro256PlusPlus::seed_from_u64(self.seed);
        let preparation = begun.elapsed().as_secs_f64();
        let delay = Duration::from_micros(self.delay_us);
        let epoch = (problem.blocks().len() as u64 / 2).max(1);
        let mut updates = 0;
        let status = loop {
            if stepper.objective() <= self.target {
                break Status::TargetReached;
            }
            if control.check().is_err() || begun.elapsed().as_secs_f64() >= self.time_limit {
                break Status::TimeLimit;
            }
            for _ in 0..epoch {
                let (i, j) = sampler.draw(&mut random);
                if self.delay_us > 0 {
                    wait(delay);
                    wait(delay);
                }
                stepper.update(i, j)?;
            }
            updates += epoch;
        };
        let seconds = begun.elapsed().as_secs_f64();
        Ok(Ran { seconds, preparation, threads: 1, updates, status, x: stepper.x().to_vec() })
    }
}

/// Keeps the core busy: no sleep is as short as these delays.
fn wait(delay: Duration) {
    let begun = Instant::now();
    while begun.elapsed() < delay {
        std::hint::spin_loop();
    }
}
