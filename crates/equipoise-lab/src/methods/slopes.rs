//! How errors fall with the updates, beside what is proven of them. Nothing here is timed.
//!
//! Every point is a run of its own with a limit on its updates: a schedule may depend on how many there will be.

mod convex;
mod norm;
pub(super) mod record;
mod sampled;

use anyhow::{Context, Result};
use equipoise::smooth::SmoothTerm;
use equipoise::{Problem, Settings, Solution, solve};

use super::Arguments;
use super::contenders::Contender;
use super::measure::Optimum;
use record::{Record, Row};

/// Powers of ten of the updates, in halves: three decades.
const HALVES: std::ops::RangeInclusive<i32> = 6..=12;
const QUICK_HALVES: std::ops::RangeInclusive<i32> = 4..=7;
/// Runs of every point.
const SEEDS: u64 = 20;
const QUICK_SEEDS: u64 = 3;
/// Never met: a run ends with its updates.
const TOLERANCE: f64 = 1e-300;

/// Both problems.
pub(super) fn run(arguments: &Arguments, record: &mut Record) -> Result<()> {
    sampled::run(arguments, record)?;
    convex::run(arguments, record)
}

/// The updates after which errors are looked at.
fn counts(quick: bool) -> Vec<u64> {
    let halves = if quick { QUICK_HALVES } else { HALVES };
    halves.map(|half| 10f64.powf(0.5 * f64::from(half)).round() as u64).collect()
}

/// A problem with its optimum and what is proven of errors on it.
struct Course<'a, F> {
    name: String,
    problem: &'a Problem<F>,
    optimum: Optimum,
    /// The bound after so many updates; nothing where none is proven.
    bound: &'a dyn Fn(Contender, u64) -> Option<f64>,
}

impl<F: SmoothTerm> Course<'_, F> {
    /// Every contender with every number of updates and every seed; `value` is the objective a run is judged by.
    fn run(
        &self,
        arguments: &Arguments,
        contenders: &[Contender],
        value: impl Fn(&Problem<F>, &Solution) -> Result<Option<f64>>,
        record: &mut Record,
    ) -> Result<()> {
        let usual: Vec<u64> = (1..=if arguments.quick { QUICK_SEEDS } else { SEEDS }).collect();
        let seeds = arguments.seeds.as_ref().unwrap_or(&usual);
        for &contender in contenders {
            for updates in counts(arguments.quick) {
                for &seed in seeds {
                    record.run(&self.name, contender.name, (seed, updates), || {
                        let solution = self.solve(contender, updates, seed)?;
                        let objective = value(self.problem, &solution)?
                            .with_context(|| format!("{} has nothing to look at", contender.name))?;
                        Ok(Row {
                            problem: self.name.clone(),
                            method: contender.name,
                            seed,
                            updates,
                            made: solution.updates,
                            error: objective - self.optimum.objective,
                            bound: (self.bound)(contender, updates),
                            optimum: self.optimum.objective,
                            optimum_gap: self.optimum.gap,
                            trusted: self.optimum.is_trusted(),
                            status: solution.status.to_string(),
                        })
                    })?;
                }
            }
        }
        Ok(())
    }

    fn solve(&self, contender: Contender, updates: u64, seed: u64) -> Result<Solution> {
        let settings = Settings {
            tolerance: TOLERANCE,
            max_updates: Some(updates),
            method: contender.method,
            schedule: contender.schedule,
            seed,
            // With a target, though one that is never reached, nothing but the updates moves x.
            target_objective: Some(f64::NEG_INFINITY),
            ..Settings::default()
        };
        Ok(solve(self.problem, &settings)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_three_decades_in_halves() {
        assert_eq!(counts(false), [1000, 3162, 10_000, 31_623, 100_000, 316_228, 1_000_000]);
    }
}
