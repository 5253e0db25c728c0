//! Draws of samples, pairs moved along their gradient, limits: what both loops have in common.
//!
//! A draw serves several pairs where an inner product with a row costs as much as moving them: the gradient estimate
//! is that at the x of the draw for each of them, so their sum is an unbiased step, too. Pairs that touch as many
//! coordinates as a row has entries, and no block more than about once, cost little beside what they gain.

use std::time::Instant;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

use super::estimate::Estimate;
use super::feed::Feed;
use crate::control::Pass;
use crate::error::{Error, Result};
use crate::problem::Problem;
use crate::selection::SampledEdges;
use crate::separable::SeparableTerm;
use crate::smooth::{SampleFault, SmoothTerm};
use crate::solve::driver::checkpoints::{Checkpoints, Spent, lost};
use crate::solve::driver::round::Pace;
use crate::solve::pairs::PairUpdater;
use crate::solve::pairs::metric::Metric;
use crate::solve::steps::repair::repair;
use crate::solve::{Settings, Solution, Status};
use crate::state::State;

/// Fewest updates between two checkpoints.
const FEWEST_UPDATES: u64 = 32;
/// Checkpoints come whenever the work has grown by this share since the last one.
const CHECKPOINT_GROWTH: f64 = 0.3;
/// Keeps the draws of samples apart from those of edges.
const SAMPLE_STREAM: u64 = 0x5eed_0f5a_3713_5000;

/// What a run is given.
pub(super) struct Task<'r, F, H> {
    pub(super) problem: &'r Problem<F, H>,
    pub(super) settings: &'r Settings,
    pub(super) checkpoints: Checkpoints<'r, F, H>,
    pub(super) start: Vec<f64>,
    pub(super) updates_per_epoch: f64,
}

impl<F: SmoothTerm, H: SeparableTerm> Task<'_, F, H> {
    /// What a pass before the first update found, or the status of a run that ended with it.
    pub(super) fn read<T>(&self, found: Pass<T>) -> Result<std::result::Result<T, Status>> {
        match found {
            Ok(found) => Ok(Ok(found)),
            Err(halt) => Status::after(&halt).map(Err).ok_or_else(|| lost(halt, &self.start, 0)),
        }
    }

    /// Ends a run before its first update: with the start, if it can be certified soon enough.
    pub(super) fn stopped(mut self, status: Status) -> Result<Solution> {
        let spent = Spent { threads: 1, ..Spent::default() };
        self.checkpoints.status = Some(status);
        self.checkpoints.take(&self.start, spent, 0)?;
        self.checkpoints.finish(self.start, spent)
    }
}

/// How a run begins: it may be over at once.
pub(super) enum Begun<R> {
    Running(Box<R>),
    Over(Box<Solution>),
}

/// Is told of an update before it is made.
pub(super) trait Watch<H> {
    fn before(&mut self, pairs: &mut PairUpdater<'_, H>, x: &[f64], updates: u64, pair: (usize, usize));
}

/// Nobody watches.
impl<H> Watch<H> for () {
    #[inline]
    fn before(&mut self, _pairs: &mut PairUpdater<'_, H>, _x: &[f64], _updates: u64, _pair: (usize, usize)) {}
}

/// The moving parts of a run.
pub(super) struct Engine<'r, F, H> {
    pub(super) problem: &'r Problem<F, H>,
    pub(super) settings: &'r Settings,
    pub(super) checkpoints: Checkpoints<'r, F, H>,
    pub(super) feed: Feed<'r>,
    pub(super) estimate: Estimate<'r>,
    pub(super) pairs: PairUpdater<'r, H>,
    pub(super) state: State,
    pub(super) updates: u64,
    /// Pairs moved by one draw.
    pub(super) pairs_per_draw: u64,
    edges: SampledEdges,
    rng: Xoshiro256PlusPlus,
    updates_per_epoch: f64,
    /// Of draws.
    pace: Pace,
    /// Draws left to the batch at hand, where there are others.
    draws_of_batch: u64,
    /// Updates at the last checkpoint.
    checked_at: u64,
    pub(super) idle_rounds: u32,
}

impl<'r, F: SmoothTerm, H: SeparableTerm> Engine<'r, F, H> {
    pub(super) fn new(
        task: Task<'r, F, H>,
        feed: Feed<'r>,
        estimate: Estimate<'r>,
        step: f64,
    ) -> Result<Self> {
        let Task { problem, settings, checkpoints, start, updates_per_epoch } = task;
        let metric = Metric::standing_in(problem.view(), &estimate, step);
        let pairs = PairUpdater::standing_in(problem, &estimate, settings, metric);
        Ok(Self {
            problem,
            settings,
            checkpoints,
            feed,
            pairs,
            state: State::without_product(start),
            estimate,
            updates: 0,
            pairs_per_draw: 1,
            edges: SampledEdges::new(problem.graph(), problem.probabilities(), settings.seed)?,
            rng: Xoshiro256PlusPlus::seed_from_u64(settings.seed ^ SAMPLE_STREAM),
            updates_per_epoch,
            pace: Pace::new(),
            draws_of_batch: 0,
            checked_at: 0,
            idle_rounds: 0,
        })
    }

    pub(super) fn spent(&self) -> Spent {
        let epochs = self.updates as f64 / self.updates_per_epoch;
        Spent { updates: self.updates, epochs, preparation: 0.0, threads: 1 }
    }

    /// Draws, each with its pairs, until so many are made or a limit binds.
    pub(super) fn advance<W: Watch<H>>(&mut self, draws: u64, watch: &mut W) -> Result<()> {
        let mut left = draws;
        while left > 0 && self.checkpoints.status.is_none() {
            let (begun, look) = (Instant::now(), left.saturating_sub(self.pace.updates()));
            while left > look {
                left -= 1;
                // A batch may have taken long to read.
                if self.draw(watch)? {
                    break;
                }
            }
            if self.updates >= self.checkpoints.budget.most_updates {
                self.checkpoints.status = Some(Status::IterationLimit);
            } else if let Some(status) = self.checkpoints.budget.stop() {
                self.checkpoints.status = Some(status);
            }
            self.pace.adapt(begun.elapsed());
            self.checkpoints.heartbeat(self.spent());
        }
        Ok(())
    }

    /// One draw with its pairs; whether it had to read a batch.
    #[inline]
    fn draw<W: Watch<H>>(&mut self, watch: &mut W) -> Result<bool> {
        let updates =
            self.pairs_per_draw.min(self.checkpoints.budget.most_updates.saturating_sub(self.updates));
        if updates == 0 {
            return Ok(false);
        }
        let read = self.draws_of_batch == 0 && !self.feed.is_memory();
        if read {
            let outcome = self.feed.advance(&mut self.estimate.batch);
            outcome.map_err(|fault| self.bad(fault))?;
            self.draws_of_batch = (self.estimate.at_hand() / self.settings.batch).max(1) as u64;
        }
        self.draws_of_batch = self.draws_of_batch.saturating_sub(1);
        self.estimate.draw(&self.state.x, self.settings.batch, &mut self.rng);
        for _ in 0..updates {
            let (i, j) = self.edges.draw();
            watch.before(&mut self.pairs, &self.state.x, self.updates, (i, j));
            self.pairs.update(&self.estimate, &mut self.state, i, j)?;
            self.updates += 1;
        }
        self.estimate.settle();
        Ok(read)
    }

    /// The next batch of a stream is the first again.
    pub(super) fn rewind(&mut self) {
        self.draws_of_batch = 0;
    }

    /// A sample that cannot be used ends the run; the iterate is kept.
    pub(super) fn bad(&self, fault: SampleFault) -> Error {
        lost(fault.into(), &self.state.x, self.updates)
    }

    /// Takes the rounding drift out of A x = b.
    pub(super) fn keep_feasible(&mut self) {
        // Where there is no time for it nothing is lost: x drifts by rounding.
        let _ = repair(self.problem.view(), &mut self.state.x, &self.checkpoints.control());
    }

    /// Whether enough was done since the last checkpoint.
    pub(super) fn is_due(&self, updates_per_pass: u64) -> bool {
        let growth = (self.checked_at as f64 * CHECKPOINT_GROWTH) as u64;
        let floor = (self.updates_per_epoch.ceil() as u64).max(FEWEST_UPDATES).max(updates_per_pass);
        self.updates >= self.checked_at.saturating_add(growth.max(floor))
    }

    /// The certificate of x.
    pub(super) fn checkpoint(&mut self, x: &[f64], idle_rounds: u32) -> Result<()> {
        self.checked_at = self.updates;
        self.checkpoints.take(x, self.spent(), idle_rounds)
    }

    /// The solution: x, or the x of the last certificate where there was no time for one of x.
    pub(super) fn finish(self, x: Vec<f64>) -> Result<Solution> {
        let spent = self.spent();
        self.checkpoints.finish(x, spent)
    }
}

/// Fewest pairs by one draw: to draw a sample costs about as much as to move so many.
const FEWEST_PAIRS: u64 = 16;

/// The pairs that move as many coordinates as an average row has entries, but no block more than about once.
pub(super) fn pairs_per_draw<F: SmoothTerm, H: SeparableTerm>(
    problem: &Problem<F, H>,
    entries_per_row: f64,
    in_memory: bool,
) -> u64 {
    let blocks = problem.blocks().len();
    let per_pair = 2.0 * problem.dimension() as f64 / blocks as f64;
    let most = (blocks as u64 / 2).max(1);
    let fewest = if in_memory { FEWEST_PAIRS } else { 1 };
    ((entries_per_row / per_pair).round() as u64).max(fewest).min(most)
}
