//! Time to one accuracy: the optimum, the target, runs in turns, and what raw data say of their results.
//!
//! Notation: f0 is the objective of the start, f* the optimum. The target is `f* + 1e-6 (f0 - f*)`.

use std::fmt::Write;

use anyhow::{Context, Result, ensure};
use equipoise::smooth::SmoothTerm;
use equipoise::{Method, Problem, Settings, Solver, Status, certificate, solve};

use super::contenders::Contender;
use super::record::{Key, Record, Row};
use crate::runs::Measured;

/// The share of the fall from the start to the optimum that may be left.
const ACCURACY: f64 = 1e-6;
/// The largest gap, as a share of that fall, with which an optimum is trusted.
const TRUSTED: f64 = 1e-9;
/// The certificates that the optimum is to meet, with seconds for each: the first has to be met, the others are tried,
/// for at the limits of rounding a certificate may be lost again.
const OPTIMUM: [(f64, f64); 3] = [(1e-10, 120.0), (1e-12, 10.0), (1e-13, 10.0)];
/// The same seconds where everything is small.
const QUICK_SECONDS: f64 = 1.0;
/// Tighter than any target here, so that a run ends at its target.
const TOLERANCE: f64 = 1e-15;
/// What the objective by raw data may be above the target, as a share of the fall: rounding.
const ROUNDING: f64 = 1e-9;
/// Seconds from which a run is long enough to be measured once.
const LONG: f64 = 10.0;

/// The lowest point known.
#[derive(Debug, Clone)]
pub(super) struct Optimum {
    pub(super) x: Vec<f64>,
    pub(super) objective: f64,
    /// What is proven of it; infinite where nothing is.
    pub(super) gap: f64,
    /// Of the start.
    pub(super) start: f64,
}

impl Optimum {
    /// By `auto`: the tightest certificate that is trusted, or the first where none is.
    pub(super) fn find<F: SmoothTerm>(problem: &Problem<F>, quick: bool) -> Result<Self> {
        let start = problem.objective(problem.start())?;
        let mut best: Option<Self> = None;
        for (tolerance, seconds) in OPTIMUM {
            let settings = Settings {
                tolerance,
                time_limit: Some(if quick { QUICK_SECONDS } else { seconds }),
                method: Method::Auto,
                ..Settings::default()
            };
            let from = best.as_ref().map_or_else(|| problem.start().to_vec(), |best| best.x.clone());
            let x = Solver::new(problem, &settings).warm_start(from).run()?.x;
            let certificate = certificate::check(problem, &x)?;
            let gap = certificate.duality_gap.unwrap_or(f64::INFINITY);
            let found = Self { objective: problem.objective(&x)?, gap, start, x };
            let better = best.as_ref().is_none_or(|best| found.gap < best.gap);
            let trusted = found.is_trusted();
            if better {
                best = Some(found);
            }
            if !trusted {
                break;
            }
        }
        best.context("no certificate was asked for")
    }

    /// f0 - f*.
    pub(super) fn fall(&self) -> f64 {
        self.start - self.objective
    }

    /// Whether what is proven suffices to measure accuracies by.
    pub(super) fn is_trusted(&self) -> bool {
        self.gap <= TRUSTED * self.fall()
    }
}

/// A problem on which methods are compared.
#[derive(Debug)]
pub(super) struct Contest<'a, F> {
    pub(super) part: &'static str,
    pub(super) name: String,
    pub(super) graph: &'static str,
    pub(super) seed: u64,
    pub(super) problem: &'a Problem<F>,
    /// The same with equalised probabilities, where a contender asks for them.
    pub(super) equalised: Option<&'a Problem<F>>,
    pub(super) optimum: Optimum,
    /// Seconds after which a run is given up.
    pub(super) time_limit: f64,
    /// The same where they were asked for, and do not follow from other runs.
    pub(super) asked_limit: Option<f64>,
}

impl<F: SmoothTerm> Contest<'_, F> {
    /// All contenders once, then all again whose runs are short: a slow minute of the machine does not fall on one
    /// of them alone.
    pub(super) fn rounds(
        &self,
        all: &[Contender],
        repeats: usize,
        record: &mut Record,
    ) -> Result<Vec<(&'static str, Measured)>> {
        ensure!(self.optimum.fall() > 0.0, "{}: the start is the optimum", self.name);
        let mut runs: Vec<(&'static str, Measured)> = Vec::new();
        for repeat in 1..=repeats {
            for contender in all {
                if runs.iter().any(|(name, run)| *name == contender.name && run.seconds >= LONG) {
                    continue;
                }
                let key = Key {
                    part: self.part,
                    problem: &self.name,
                    graph: self.graph,
                    seed: self.seed,
                    method: contender.name,
                    repeat,
                    time_limit: self.asked_limit,
                };
                runs.push((contender.name, record.run(&key, || self.run(*contender, repeat))?));
            }
        }
        Ok(runs)
    }

    /// Runs a contender once, with the number of the repeat as its seed.
    fn run(&self, contender: Contender, repeat: usize) -> Result<Row> {
        let problem = if contender.equalised { self.equalised.unwrap_or(self.problem) } else { self.problem };
        let target = self.optimum.objective + ACCURACY * self.optimum.fall();
        let settings = Settings {
            tolerance: TOLERANCE,
            time_limit: Some(self.time_limit),
            method: contender.method,
            schedule: contender.schedule,
            seed: repeat as u64,
            target_objective: Some(target),
            ..Settings::default()
        };
        let solution = solve(problem, &settings)?;
        // From here on only x is believed.
        let objective = problem.objective(&solution.x)?;
        let miss = problem.coupling().miss(&solution.x);
        let low = objective <= target + ROUNDING * self.optimum.fall();
        let (infeasibility, feasible) = (miss.absolute, miss.is_feasible());
        let mut status = solution.status.to_string();
        if solution.status == Status::TargetReached && !low {
            status.push_str("; the objective from raw data is above the target");
        }
        if !feasible {
            status.push_str("; infeasible");
        }
        if !self.optimum.is_trusted() {
            let _ = write!(status, "; f* is not trusted: its gap is {:.1e}", self.optimum.gap);
        }
        Ok(Row {
            part: self.part,
            problem: self.name.clone(),
            graph: self.graph,
            seed: self.seed,
            method: contender.name,
            repeat,
            seconds: solution.seconds,
            preparation_seconds: solution.preparation_seconds,
            updates: solution.updates,
            start_objective: self.optimum.start,
            optimum: self.optimum.objective,
            optimum_gap: self.optimum.gap,
            trusted: self.optimum.is_trusted(),
            target,
            objective,
            reached: low && feasible,
            infeasibility,
            time_limit: self.time_limit,
            ran: solution.method.name(),
            status,
        })
    }
}
