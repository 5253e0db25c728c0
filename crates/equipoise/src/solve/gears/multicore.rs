//! The pairs of the graph on several threads.
//!
//! # One round
//! x is put into shared memory, every thread runs the loop of Algorithm 1 on its own (draw a pair, read the master,
//! read the slave, solve the pair, move the slave, move the master) until the round's updates are used up, and x is
//! taken back. Between rounds nothing is under way; then the product is computed afresh and the objective exactly.
//! # Guard
//! A round that raised the objective is undone, and the step is halved; after several in a row one thread goes on
//! alone. So a run never ends worse than it began.
//! # Guarantees
//! Between rounds x is in the domain with `A x = b`. On one thread the bits are those of `plain.rs`.
//! # Must not know
//! How a pair is solved, how shared memory is kept.
//! # Reference
//! Reddi, Hefny, Downey, Dubey, Sra (UAI 2015), sections 3.2 and 5.2.

mod team;
#[cfg(test)]
mod tests;
mod waves;

use std::sync::Arc;
use std::time::{Duration, Instant};

use self::team::Panic;
use self::waves::Waves;
use crate::archive::Archive;
use crate::error::{Error, Result};
use crate::problem::Problem;
use crate::selection::SampledEdges;
use crate::separable::{Nonsmooth, SeparableTerm};
use crate::smooth::SmoothTerm;
use crate::solve::driver::limits::Limits;
use crate::solve::gain;
use crate::solve::gears::{Attempt, Gear, Habits, Round, Task, renewed, staleness};
use crate::solve::pairs::PairUpdater;
use crate::solve::{Experiment, Metric, Settings, Staleness, Status};
use crate::state::shared::Quota;
use crate::state::{Memory, State, Upkeep, Window, WindowSettings};

/// Seconds of work that a thread claims at once.
const SECONDS_PER_CLAIM: f64 = 1e-3;
/// Most updates that it claims.
const MOST_PER_CLAIM: u64 = 4096;
/// How often the clock and the interrupt flag are looked at.
const LOOK: Duration = Duration::from_millis(1);
/// How often, at most, the objective is estimated during a round.
const ESTIMATE: Duration = Duration::from_millis(5);
/// Share of the time that estimates may take.
const SHARE_OF_ESTIMATES: u32 = 20;
/// Rise of the objective during a round, relative to its size, at which the round is broken off.
const ALARM: f64 = 1e-2;
/// Fewest updates of a round: threads are started for it.
const FEWEST_UPDATES: u64 = 4096;
/// Growth of the step after a good round.
const GROWTH: f64 = 1.2;
/// The most bytes that the copies of all threads may take.
const MOST_BYTES: usize = 1 << 36;
/// Bad rounds in a row after which one thread goes on alone.
const PATIENCE: u32 = 6;

/// A thread's own things.
#[derive(Debug)]
struct Worker<'r, H> {
    pairs: PairUpdater<'r, H>,
    window: Window<'r, H>,
    edges: SampledEdges,
    updates_per_claim: u64,
}

/// Several threads on one problem.
#[derive(Debug)]
pub(crate) struct Multicore<'r, F, H> {
    problem: &'r Problem<F, H>,
    memory: Arc<Memory>,
    workers: Vec<Worker<'r, H>>,
    /// How many of them work.
    active: usize,
    /// How many updates are drawn at once, in deterministic runs.
    batch: Option<u64>,
    step_size: f64,
    largest_alpha: f64,
    alpha: f64,
    bad_rounds: u32,
    /// Where x is estimated.
    estimate: State,
}

impl<'r, F: SmoothTerm, H: SeparableTerm> Multicore<'r, F, H> {
    /// As many threads as can find disjoint pairs, at most those asked for.
    pub(crate) fn threads(problem: &Problem<F, H>, settings: &Settings) -> usize {
        settings.threads.min(problem.blocks().len() / 2).max(1)
    }

    /// Refuses more threads than there should be memory for: each has its own copy of x and of the product.
    pub(crate) fn check_memory(problem: &Problem<F, H>, settings: &Settings) -> Result<()> {
        let threads = Self::threads(problem, settings);
        let numbers = problem.dimension().saturating_add(4 * problem.smooth().product_len());
        let needed = threads.saturating_mul(numbers).saturating_mul(size_of::<f64>());
        if threads > 1 && needed > MOST_BYTES {
            let what = format!("copies of x for {threads} threads");
            return Err(Error::TooMuchMemory { what, needed, allowed: MOST_BYTES });
        }
        Ok(())
    }

    pub(crate) fn new(
        problem: &'r Problem<F, H>,
        settings: &Settings,
        experiment: Option<&dyn Experiment>,
        state: &State,
        edges: &SampledEdges,
    ) -> Self {
        let (f, blocks) = (problem.smooth(), problem.blocks().len());
        let threads = Self::threads(problem, settings);
        let mut upkeep = Upkeep::suiting(f);
        if settings.deterministic && upkeep == Upkeep::InPlace {
            upkeep = Upkeep::Replica(256);
        }
        let window = WindowSettings {
            locking: settings.locking,
            delay: experiment.map_or(Duration::ZERO, Experiment::delay),
            upkeep,
            by_appointment: settings.deterministic && upkeep != Upkeep::None,
        };
        let others = (threads - 1) as f64;
        // In a deterministic run pairs that are under way together are disjoint.
        let tau = if settings.deterministic { 0.0 } else { others };
        let chances = edges.chances();
        let stale = Staleness::new(tau.max(others * upkeep.unseen()), &chances, f.is_decomposable());
        let steps = experiment.and_then(|experiment| experiment.steps(&stale));
        let steps = steps.unwrap_or_else(|| staleness::steps(settings.locking, tau, &chances));
        let mut metric = Metric::new(problem.view(), settings.step_size * steps.alpha);
        if !steps.damping.is_empty() {
            metric.damp(blocks, |i| steps.damping[i]);
        }
        let pairs = PairUpdater::with_metric(problem, settings, metric);
        let bounded = match problem.separable() {
            Nonsmooth::Coordinates(h) => (0..problem.dimension())
                .any(|c| h.domain(c).0 > f64::NEG_INFINITY || h.domain(c).1 < f64::INFINITY),
            Nonsmooth::Groups(_) => false,
        };
        let escrow = bounded && pairs.moves_gathered();
        let memory = Arc::new(Memory::new(state, problem.separable(), blocks, &window, escrow, threads));
        let rows = problem.independent_coupling().rows();
        let workers = (0..threads).map(|k| Worker {
            pairs: pairs.fork(),
            window: Window::new(Arc::clone(&memory), problem.separable(), window, state, rows),
            edges: edges.fork(k),
            updates_per_claim: 1,
        });
        let of_batch = if let Upkeep::Replica(every) = upkeep { every.max(8) } else { 256 };
        Self {
            problem,
            workers: workers.collect(),
            memory,
            active: threads,
            batch: settings.deterministic.then_some(threads as u64 * u64::from(of_batch)),
            step_size: settings.step_size,
            largest_alpha: steps.alpha,
            alpha: steps.alpha,
            bad_rounds: 0,
            estimate: state.clone(),
        }
    }

    /// Makes what is kept for the edges, on all threads, until time is up.
    pub(crate) fn prepare(&mut self, limits: &Limits) -> Result<()> {
        let (f, parts) = (self.problem.smooth(), self.workers.len());
        let quota = Quota::new(0);
        let stop = || quota.is_stopped() || limits.stop().is_some();
        let make = |k: usize, worker: &mut Worker<'r, H>| {
            let _ends_all = Panic::guard(|| quota.stop());
            worker.pairs.prepare(f, k, parts, &stop);
            Ok(())
        };
        team::run(&mut self.workers, make, || {}, || quota.stop()).map(|_| ())
    }

    /// The free-running loops, watched by the calling thread; returns why they were ended, if they were, and how many
    /// updates were made.
    fn run(&mut self, task: &mut Task<'_>) -> Result<(Option<Status>, u64)> {
        let quota = Quota::new(task.updates);
        let products = !self.estimate.product.is_empty();
        let waves =
            self.batch.filter(|_| self.active > 1).map(|batch| Waves::new(self.active, batch, products));
        let (memory, problem, estimate) = (&self.memory, self.problem, &mut self.estimate);
        let give_up = || {
            quota.stop();
            memory.hurry();
            memory.close();
            if let Some(waves) = &waves {
                waves.close();
            }
        };
        let work = |k: usize, worker: &mut Worker<'r, H>| {
            // Whoever dies or fails takes the others along.
            let _ends_all = Panic::guard(give_up);
            let outcome = match &waves {
                Some(waves) => worker.in_waves(problem.smooth(), k, waves, &quota),
                None => worker.freely(problem.smooth(), &quota),
            };
            if outcome.is_err() {
                give_up();
            }
            outcome
        };
        let watched = self.batch.is_none();
        let (mut status, mut last, mut rest) = (None, Instant::now(), ESTIMATE);
        let watch = || {
            if status.is_none() {
                status = task.limits.stop();
            }
            (task.heartbeat)(quota.claimed(), None);
            if status.is_some() {
                quota.stop();
                memory.hurry();
            } else if watched && last.elapsed() >= rest {
                // Never in a deterministic run: what the clock decides must not change x.
                last = Instant::now();
                memory.snapshot(estimate);
                // Where there is no time for it, the next look ends the round.
                if estimate.refresh(problem.smooth(), task.limits.control()).is_ok() {
                    let objective = problem.view().value(&estimate.x, &estimate.product);
                    let risen = objective > task.objective + ALARM * (1.0 + task.objective.abs());
                    if risen || objective.is_nan() || task.target.is_some_and(|target| objective <= target) {
                        quota.stop();
                    }
                }
                rest = ESTIMATE.max(SHARE_OF_ESTIMATES * last.elapsed());
                last = Instant::now();
            }
        };
        let made = team::run(&mut self.workers[..self.active], work, watch, give_up)?;
        Ok((status, made.into_iter().sum()))
    }

    /// Puts what rows have too much where there is room: the updates that could not place it are over.
    fn empty_purses(&mut self, state: &mut State) {
        let domain = |c: usize| match self.problem.separable() {
            Nonsmooth::Coordinates(h) => h.domain(c),
            Nonsmooth::Groups(_) => (f64::NEG_INFINITY, f64::INFINITY),
        };
        let coupling = self.problem.independent_coupling();
        let mut excess = vec![0.0; coupling.rows()];
        for worker in &mut self.workers[..self.active] {
            excess.iter_mut().zip(worker.window.close()).for_each(|(sum, part)| *sum += part);
        }
        for (row, excess) in excess.iter_mut().enumerate() {
            for c in 0..state.x.len() {
                if *excess == 0.0 {
                    break;
                }
                let a = coupling.entry(row, c);
                if a == 0.0 {
                    continue;
                }
                let (lower, upper) = domain(c);
                let x = state.x[c];
                state.x[c] = (x - *excess / a).max(lower).min(upper);
                *excess += a * (state.x[c] - x);
                if excess.abs() <= f64::EPSILON * (a * x).abs() {
                    *excess = 0.0;
                }
            }
        }
    }

    /// After a round that was undone: smaller steps, and in the end one thread, which needs no caution.
    fn retreat(&mut self) {
        self.bad_rounds += 1;
        self.alpha *= 0.5;
        if self.bad_rounds >= PATIENCE && self.active > 1 {
            self.active = 1;
            (self.alpha, self.largest_alpha) = (1.0, 1.0);
        }
    }
}

impl<F: SmoothTerm, H: SeparableTerm> Gear for Multicore<'_, F, H> {
    fn habits(&self) -> Habits {
        // In a deterministic run nobody looks before the round is over.
        Habits { fewest_updates: FEWEST_UPDATES, sees_target: self.batch.is_none(), ..Habits::default() }
    }

    fn round(&mut self, state: &mut State, task: &mut Task<'_>) -> Attempt<Round> {
        let before = state.x.clone();
        self.memory.load(state, self.problem.separable());
        for worker in &mut self.workers[..self.active] {
            worker.window.open(state);
            worker.pairs.set_step(self.step_size * self.alpha);
        }
        let (mut status, updates) = self.run(task)?;
        self.memory.snapshot(state);
        self.empty_purses(state);
        let found = renewed(self.problem.view(), state, task, &mut status)?;
        // Where there is no time to see whether it rose, it is as if it had.
        let Some(objective) = found.filter(|found| !gain::rose(task.objective, *found)) else {
            state.x = before;
            self.retreat();
            renewed(self.problem.view(), state, task, &mut status)?;
            let undone = Round::new(updates, task.objective);
            return Ok(Round { status, undone: true, is_inconclusive: true, ..undone });
        };
        self.bad_rounds = 0;
        self.alpha = (GROWTH * self.alpha).min(self.largest_alpha);
        Ok(Round { status, ..Round::new(updates, objective) })
    }

    fn threads(&self) -> usize {
        self.active
    }

    /// What threads do depends on their timing.
    fn is_resumable(&self) -> bool {
        false
    }

    fn carry(&mut self, _archive: &mut Archive<'_>) -> Result<()> {
        Ok(())
    }
}

impl<H: SeparableTerm> Worker<'_, H> {
    /// Algorithm 1, as if nobody else were there.
    fn freely<F: SmoothTerm>(&mut self, f: &F, quota: &Quota) -> Result<u64> {
        let mut made = 0;
        loop {
            let (claimed, begun) = (quota.claim(self.updates_per_claim), Instant::now());
            if claimed == 0 {
                return Ok(made);
            }
            for _ in 0..claimed {
                let (master, slave) = self.edges.draw();
                self.pairs.update(f, &mut self.window, master, slave)?;
            }
            made += claimed;
            let scale = (SECONDS_PER_CLAIM / begun.elapsed().as_secs_f64().max(1e-9)).min(2.0);
            self.updates_per_claim =
                ((claimed as f64 * scale) as u64).clamp(1, MOST_PER_CLAIM).max(self.updates_per_claim / 2);
        }
    }

    /// Pairs that the first thread draws, in waves of disjoint ones.
    fn in_waves<F: SmoothTerm>(&mut self, f: &F, thread: usize, waves: &Waves, quota: &Quota) -> Result<u64> {
        let mut made = 0;
        loop {
            if thread == 0 {
                waves.draw(&mut self.edges, quota);
            }
            if !waves.meet() {
                return Ok(made);
            }
            let Some(count) = waves.count() else { return Ok(made) };
            for wave in 0..count {
                waves.try_for_each_of(thread, wave, |master, slave| {
                    made += 1;
                    self.pairs.update(f, &mut self.window, master, slave)
                })?;
                if !waves.meet() {
                    return Ok(made);
                }
            }
            if waves.have_products() {
                self.window.bring(thread);
                if !waves.meet() {
                    return Ok(made);
                }
                self.window.gather();
                if !waves.meet() {
                    return Ok(made);
                }
            }
        }
    }
}
