//! Runs of random pairs to a target, case by case.

use anyhow::{Context, Result};
use equipoise::separable::SeparableTerm;
use equipoise::smooth::SmoothTerm;
use equipoise::{Control, Problem};
use equipoise_experiments::PairRun;

use super::plan::{Case, Code, rounds};
use super::record::{Key, Record, Row};

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
    /// All cases in rounds.
    pub(super) fn rounds(&self, cases: &[Case], record: &mut Record) -> Result<()> {
        for (case, repeat) in rounds(cases) {
            let key = Key {
                part: self.part,
                problem: self.name.clone(),
                topology: self.topology,
                locking: case.code.name(),
                delay_us: case.delay_us,
                threads: case.threads,
                repeat,
            };
            record.run(&key, || self.run(case, repeat))?;
        }
        Ok(())
    }

    /// Runs a case once, with the number of the repeat as its seed.
    fn run(&self, case: Case, repeat: usize) -> Result<Row> {
        let run = PairRun {
            locking: match case.code {
                Code::OneThread => None,
                Code::Solver(locking) => Some(locking),
            },
            threads: case.threads,
            delay_us: case.delay_us,
            seed: repeat as u64,
            target: self.target,
            time_limit: self.time_limit,
        };
        let found = run.measure(self.problem, &Control::unlimited())?;
        Ok(Row {
            seconds: found.get("seconds"),
            preparation_seconds: found.get("preparation"),
            updates: found.get("updates") as u64,
            objective: found.get("objective"),
            target: self.target,
            reached: found.get("reached") == 1.0,
            infeasibility: found.get("infeasibility"),
            status: found.words.get("status").context("a run without a status")?.clone(),
        })
    }
}
