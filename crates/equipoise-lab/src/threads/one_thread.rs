//! The best code for one thread: pair steps on random edges, without anything that several threads need.

use std::time::{Duration, Instant};

use anyhow::Result;
use equipoise::graph::EdgeSampler;
use equipoise::separable::SeparableTerm;
use equipoise::smooth::SmoothTerm;
use equipoise::{PairStepper, Problem, Settings, Status};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::measure::Run;

/// Runs until the target of the settings or their time limit, each update with a delay in each of its first two steps; the
/// objective is looked at once an epoch.
pub(super) fn run<F: SmoothTerm, H: SeparableTerm>(
    problem: &Problem<F, H>,
    settings: &Settings,
    delay_us: u64,
) -> Result<Run> {
    let begun = Instant::now();
    let mut stepper = PairStepper::new(problem, settings)?;
    stepper.prepare(std::thread::available_parallelism().map_or(1, usize::from));
    let sampler = EdgeSampler::new(problem.graph(), problem.probabilities())?;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(settings.seed);
    let preparation = begun.elapsed();

    let target = settings.target_objective.unwrap_or(f64::NEG_INFINITY);
    let limit = settings.time_limit.map_or(Duration::MAX, Duration::from_secs_f64);
    let delay = Duration::from_micros(delay_us);
    let epoch = (problem.blocks().len() as u64 / 2).max(1);
    let mut updates = 0;
    let status = loop {
        if stepper.objective() <= target {
            break Status::TargetReached;
        }
        if begun.elapsed() >= limit {
            break Status::TimeLimit;
        }
        for _ in 0..epoch {
            let (i, j) = sampler.draw(&mut random);
            if delay_us > 0 {
                // Once for each of the two steps that the paper delays.
                wait(delay);
                wait(delay);
            }
            stepper.update(i, j)?;
        }
        updates += epoch;
    };
    Ok(Run {
        seconds: begun.elapsed().as_secs_f64(),
        preparation_seconds: preparation.as_secs_f64(),
        threads: 1,
        updates,
        status,
        x: stepper.x().to_vec(),
    })
}

/// Keeps the core busy: no sleep is as short as these delays.
fn wait(delay: Duration) {
    let begun = Instant::now();
    while begun.elapsed() < delay {
        std::hint::spin_loop();
    }
}
