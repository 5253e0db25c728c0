//! Draws of samples, pairs moved along their gradient, limits: what all methods by samples have in common.
//!
//! A draw serves several pairs where an inner product with a row costs as much as moving them: the gradient estimate
//! is that at the x of the draw for each of them, so their sum is an unbiased step, too. Pairs that touch as many
//! coordinates as a row has entries, and no block more than about once, cost little beside what they gain.

use std::time::Instant;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

use super::estimate::Estimate;
use super::feed::Feed;
use crate::archive::Archive;
use crate::control::Halt;
use crate::error::{Error, Result, SampleFault};
use crate::problem::Problem;
use crate::selection::SampledEdges;
use crate::separable::SeparableTerm;
use crate::smooth::SmoothTerm;
use crate::solve::driver::pace::Pace;
use crate::solve::gears::{Attempt, Stop, Task};
use crate::solve::pairs::PairUpdater;
use crate::solve::pairs::metric::Metric;
use crate::solve::{Settings, Status};
use crate::state::State;

/// Keeps the draws of samples apart from those of edges.
const SAMPLE_STREAM: u64 = 0x5eed_0f5a_3713_5000;
/// Fewest pairs by one draw: to draw a sample costs about as much as to move so many.
const FEWEST_PAIRS: u64 = 16;

/// Is told of an update before it is made.
pub(super) trait Watch<H> {
    fn before(&mut self, pairs: &mut PairUpdater<'_, H>, x: &[f64], updates: u64, pair: (usize, usize));
}

/// Nobody watches.
impl<H> Watch<H> for () {
    #[inline]
    fn before(&mut self, _pairs: &mut PairUpdater<'_, H>, _x: &[f64], _updates: u64, _pair: (usize, usize)) {}
}

/// The moving parts of a gear.
pub(super) struct Engine<'r, F, H> {
    pub(super) problem: &'r Problem<F, H>,
    pub(super) feed: Feed<'r>,
    pub(super) estimate: Estimate<'r>,
    pub(super) pairs: PairUpdater<'r, H>,
    pub(super) updates: u64,
    /// Pairs moved by one draw.
    pub(super) pairs_per_draw: u64,
    /// Samples of one draw.
    batch: usize,
    edges: SampledEdges,
    rng: Xoshiro256PlusPlus,
    /// Of draws.
    pace: Pace,
    /// Draws left to the batch at hand, where there are others.
    draws_of_batch: u64,
}

impl<'r, F: SmoothTerm, H: SeparableTerm> Engine<'r, F, H> {
    pub(super) fn new(
        problem: &'r Problem<F, H>,
        settings: &Settings,
        feed: Feed<'r>,
        estimate: Estimate<'r>,
        step: f64,
        pairs_per_draw: u64,
    ) -> Result<Self> {
        let metric = Metric::standing_in(problem.view(), &estimate, step);
        let pairs = PairUpdater::standing_in(problem, &estimate, settings, metric);
        Ok(Self {
            problem,
            feed,
            pairs,
            estimate,
            updates: 0,
            pairs_per_draw,
            batch: settings.batch,
            edges: SampledEdges::new(problem.graph(), problem.probabilities(), settings.seed)?,
            rng: Xoshiro256PlusPlus::seed_from_u64(settings.seed ^ SAMPLE_STREAM),
            pace: Pace::new(),
            draws_of_batch: 0,
        })
    }

    /// Draws, each with its pairs, until so many are made or a limit binds: then it says which.
    pub(super) fn advance<W: Watch<H>>(
        &mut self,
        state: &mut State,
        task: &mut Task<'_>,
        draws: u64,
        watch: &mut W,
    ) -> Attempt<Option<Status>> {
        let (mut left, most) = (draws, task.limits.most_updates);
        let before = self.updates;
        while left > 0 {
            let (begun, look) = (Instant::now(), left.saturating_sub(self.pace.updates()));
            while left > look {
                left -= 1;
                // A batch may have taken long to read.
                if self.draw(state, most, watch)? {
                    break;
                }
            }
            let status = task.limits.stop_after(self.updates);
            self.pace.adapt(begun.elapsed());
            (task.heartbeat)(self.updates - before, None);
            if status.is_some() {
                return Ok(status);
            }
        }
        Ok(None)
    }

    /// One draw with its pairs; whether it had to read a batch.
    #[inline]
    fn draw<W: Watch<H>>(&mut self, state: &mut State, most: u64, watch: &mut W) -> Attempt<bool> {
        let updates = self.pairs_per_draw.min(most.saturating_sub(self.updates));
        if updates == 0 {
            return Ok(false);
        }
        let read = self.draws_of_batch == 0 && !self.feed.is_memory();
        if read {
            let outcome = self.feed.advance(&mut self.estimate.batch);
            outcome.map_err(|fault| self.ended(fault.into(), state))?;
            self.draws_of_batch = (self.estimate.at_hand() / self.batch).max(1) as u64;
        }
        self.draws_of_batch = self.draws_of_batch.saturating_sub(1);
        self.estimate.draw(&state.x, self.batch, &mut self.rng);
        for _ in 0..updates {
            let (i, j) = self.edges.draw();
            watch.before(&mut self.pairs, &state.x, self.updates, (i, j));
            self.pairs.update(&self.estimate, state, i, j)?;
            self.updates += 1;
        }
        self.estimate.settle();
        Ok(read)
    }

    /// A sample that cannot be used ends the run; the iterate is kept.
    pub(super) fn ended(&self, halt: Halt, state: &State) -> Stop {
        match halt {
            Halt::Fault(SampleFault { row, reason }) => {
                let (iterate, updates) = (state.x.clone(), self.updates);
                Stop::Error(Error::BadSample { row, reason, iterate, updates })
            }
            halt => Stop::Halt(halt),
        }
    }

    /// Shows an archive which draws come next; the batch at hand is read again.
    pub(super) fn carry(&mut self, archive: &mut Archive<'_>) -> Result<()> {
        archive.work(&mut self.updates)?;
        archive.work(&mut self.draws_of_batch)?;
        self.pairs.carry(archive)?;
        self.edges.carry(archive)?;
        archive.generator(&mut self.rng)?;
        let mut batches = self.feed.batches();
        archive.word(&mut batches)?;
        if archive.is_read() {
            let skipped = self.feed.skip_to(batches, &mut self.estimate.batch);
            skipped.map_err(|SampleFault { row, reason }| Error::UnusableSample { row, reason })?;
        }
        Ok(())
    }

    /// The next batch of a stream is the first again.
    pub(super) fn rewind(&mut self) {
        self.draws_of_batch = 0;
    }
}

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
