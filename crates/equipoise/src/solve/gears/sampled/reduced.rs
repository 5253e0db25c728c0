//! `svrg` and `saga`: rounds of draws from slopes that are known exactly, and a guard between them.
//!
//! The metric of the steps is `t diag(s)`, s the curvature of f along each coordinate and t the largest curvature of
//! a single sample in the metric diag(s), by its chance to be drawn; t is about the number of coordinates where all
//! samples are alike. After every round the objective is computed exactly, with the slopes for the next one: where it
//! rose, the round is undone and the steps are halved; where it fell they grow a little.

use super::Outcome;
use super::engine::{Begun, Engine, Task, pairs_per_draw};
use super::estimate::{Estimate, Memory};
use super::feed::Feed;
use super::law::Law;
use super::rounds::Rounds;
use super::scale::{Shift, curvature_of, shares};
use crate::certificate::separable_value;
use crate::coupling::Shape;
use crate::error::Result;
use crate::problem::Problem;
use crate::separable::SeparableTerm;
use crate::smooth::{FiniteSum, SmoothTerm};
use crate::solve::driver::checkpoints::not_finite;
use crate::solve::steps::free_step::FreeStep;
use crate::solve::steps::full_step::FullStep;
use crate::solve::{Method, Metric, Status};
use crate::state::State;

/// The first step, times the curvature of the worst sample.
const STEP: f64 = 0.5;
/// The step may grow to this multiple of the first, by this factor a round.
const BOLDEST: f64 = 2.0;
const BOLDER: f64 = 1.3;
/// What a step that was too large forbids is allowed again, by this factor a round.
const RECOVERY: f64 = 1.05;
/// Rounds without gain after which a target is given up.
const IDLE_ROUNDS_TO_TARGET: u32 = 8;
/// Rounds undone in a row after which no step is small enough.
const MOST_UNDONE: u32 = 40;
/// Rounds between two soundings for an objective that falls for ever.
const ROUNDS_PER_SOUNDING: u32 = 32;

/// Gain of a longest round, as a share of that of the one before, from which it is slow; and how many such rounds in a
/// row are too many where something else can go on.
const SLUGGISH: f64 = 0.8;
const MOST_SLUGGISH: u32 = 3;
/// Passes over the samples that are more than enough, where something else can go on: most problems take one or two.
const MOST_PASSES: u64 = 10;

/// Runs from a feasible start.
pub(super) fn run<'r, F: SmoothTerm, H: SeparableTerm>(
    task: Task<'r, F, H>,
    sum: FiniteSum<'r>,
    may_hand_over: bool,
) -> Result<Outcome<'r, F, H>> {
    let mut run = match Run::new(task, sum)? {
        Begun::Running(run) => run,
        Begun::Over(solution) => return Ok(Outcome::Done(solution)),
    };
    if may_hand_over {
        run.most_sluggish = MOST_SLUGGISH;
        run.most_alone = MOST_PASSES.saturating_mul(run.updates_per_pass);
    }
    match run.engine.settings.target_objective {
        Some(target) => run.until_target(target)?,
        None => run.until_tolerance()?,
    }
    let x = std::mem::take(&mut run.engine.state.x);
    let status = &mut run.engine.checkpoints.status;
    if may_hand_over && *status == Some(Status::Stalled) {
        *status = None;
    }
    if status.is_none() {
        let updates = run.engine.updates;
        return Ok(Outcome::Slow { checkpoints: Box::new(run.engine.checkpoints), x, updates });
    }
    Ok(Outcome::Done(Box::new(run.engine.finish(x)?)))
}

struct Run<'r, F, H> {
    engine: Engine<'r, F, H>,
    /// The metric of f itself, for steps over all blocks.
    exact: Metric,
    full_step: FullStep,
    rounds: Rounds,
    updates_per_pass: u64,
    step: f64,
    most_step: f64,
    boldest: f64,
    objective: f64,
    gain: f64,
    /// Where the last round began.
    good: Vec<f64>,
    undone_in_a_row: u32,
    rounds_made: u32,
    /// Slow rounds in a row, and how many of them end the run.
    sluggish: u32,
    most_sluggish: u32,
    /// Updates after which the run ends, too.
    most_alone: u64,
}

impl<'r, F: SmoothTerm, H: SeparableTerm> Run<'r, F, H> {
    fn new(task: Task<'r, F, H>, sum: FiniteSum<'r>) -> Result<Begun<Self>> {
        let (problem, settings) = (task.problem, task.settings);
        let (samples, kappa) = (sum.data.len(), sum.loss.largest_curvature());
        let (mut feed, batch) = Feed::new(sum.data)?;
        let memory = if settings.method == Method::Saga { Memory::LastSeen } else { Memory::Snapshot };
        let own: Vec<f64> =
            (0..problem.dimension()).map(|c| sum.rest.iter().map(|term| term.curvature(c)).sum()).collect();
        let mut estimate = Estimate::new(sum, batch, memory, problem.dimension());
        estimate.curvature = curvature_of(problem.smooth());
        estimate.apart = true;
        let mut shift = kept_row(problem).map(|row| Shift::new(row, &estimate.curvature));
        let felt = match (&shift, &estimate.batch) {
            (Some(shift), Some(batch)) => shift.curvature(batch, kappa, &own, &estimate.curvature),
            _ => None,
        };
        match felt {
            Some(felt) => estimate.curvature = felt,
            None => shift = None,
        }
        let curvature = &estimate.curvature;
        let control = task.checkpoints.control();
        let found = shares(&mut feed, &mut estimate.batch, kappa, curvature, shift.as_ref(), &control);
        let found = match task.read(found)? {
            Ok(found) => found,
            Err(status) => return Ok(Begun::Over(Box::new(task.stopped(status)?))),
        };
        if feed.is_memory() {
            estimate.law = Law::by_shares(&found.each);
        }
        let worst = match &estimate.law {
            Law::Uniform { inverse } => inverse * found.largest,
            Law::Weighted { inverse, .. } => {
                found.each.iter().zip(inverse).map(|(share, inverse)| share * inverse).fold(0.0, f64::max)
            }
        };
        let batch = settings.batch as f64;
        let curvature = 1.0 + worst / batch;
        let pairs_per_draw = pairs_per_draw(problem, found.entries / samples as f64, feed.is_memory());
        let step = settings.step_size * STEP / curvature;
        let rounds = Rounds::new(samples as f64 / batch, curvature / batch, feed.is_memory());
        let mut engine = Engine::new(task, feed, estimate, step)?;
        engine.pairs_per_draw = pairs_per_draw;
        let good = engine.state.x.clone();
        let mut run = Self {
            exact: Metric::new(problem.view(), 1.0),
            full_step: FullStep::new(),
            rounds,
            updates_per_pass: samples.div_ceil(settings.batch) as u64 * pairs_per_draw,
            step,
            most_step: BOLDEST * step,
            boldest: BOLDEST * step,
            objective: 0.0,
            gain: 0.0,
            good,
            undone_in_a_row: 0,
            rounds_made: 0,
            sluggish: 0,
            most_sluggish: u32::MAX,
            most_alone: u64::MAX,
            engine,
        };
        let Some(objective) = run.anchor()? else {
            run.checkpoint()?;
            let start = std::mem::take(&mut run.engine.state.x);
            return Ok(Begun::Over(Box::new(run.engine.finish(start)?)));
        };
        if !objective.is_finite() {
            return Err(not_finite(objective, 0));
        }
        run.objective = objective;
        Ok(Begun::Running(Box::new(run)))
    }

    /// Slopes and objective at x; `None` where the run ended before all samples were seen.
    fn anchor(&mut self) -> Result<Option<f64>> {
        let Engine { estimate, feed, state, problem, checkpoints, updates, .. } = &mut self.engine;
        let found = estimate.anchor(feed, &state.x, &checkpoints.control());
        match found {
            Ok(value) => {
                let value = value + estimate.rest_value(&state.x) + separable_value(problem, &state.x);
                self.engine.rewind();
                Ok(Some(value))
            }
            Err(halt) => checkpoints.ended(halt, &state.x, *updates).map(|()| None),
        }
    }

    fn until_tolerance(&mut self) -> Result<()> {
        self.checkpoint()?;
        while self.engine.checkpoints.status.is_none() && !self.is_slow() {
            self.round()?;
            self.beyond_pairs()?;
            // Rounds that gain less than what is allowed to be left are a sign that it is reached.
            let small = self.gain <= self.engine.checkpoints.wanted_gap(self.objective);
            let pass = if small { 0 } else { self.updates_per_pass };
            if self.engine.checkpoints.status.is_some() || self.engine.is_due(pass) {
                self.checkpoint()?;
            }
        }
        Ok(())
    }

    /// No certificate before the end: only the objective is asked for.
    fn until_target(&mut self, target: f64) -> Result<()> {
        while self.engine.checkpoints.status.is_none() {
            if self.is_slow() {
                return Ok(());
            }
            // The sums of a round and those of f differ in rounding: f itself has the last word.
            if self.objective <= target && self.exact_objective()? <= target {
                self.engine.checkpoints.reached_target();
                break;
            }
            self.round()?;
            if self.engine.idle_rounds >= IDLE_ROUNDS_TO_TARGET {
                self.engine.checkpoints.status.get_or_insert(Status::Stalled);
            }
        }
        self.checkpoint()
    }

    /// The objective by f itself; infinite where there was no time.
    fn exact_objective(&mut self) -> Result<f64> {
        let Engine { checkpoints, problem, state, updates, .. } = &mut self.engine;
        match problem.view().objective(&state.x, &checkpoints.control()) {
            Ok(found) => Ok(found),
            Err(halt) => checkpoints.ended(halt, &state.x, *updates).map(|()| f64::INFINITY),
        }
    }

    /// Whether something else should go on.
    fn is_slow(&self) -> bool {
        self.sluggish >= self.most_sluggish || self.engine.updates >= self.most_alone
    }

    fn checkpoint(&mut self) -> Result<()> {
        let x = std::mem::take(&mut self.engine.state.x);
        let outcome = self.engine.checkpoint(&x, self.engine.idle_rounds);
        self.engine.state.x = x;
        outcome
    }

    /// Draws, then the exact objective; what rose is undone.
    fn round(&mut self) -> Result<()> {
        self.good.copy_from_slice(&self.engine.state.x);
        self.engine.advance(self.rounds.draws(), &mut ())?;
        self.engine.keep_feasible();
        let Some(after) = self.anchor()? else {
            // Nobody knows whether it rose.
            self.engine.state.x.copy_from_slice(&self.good);
            self.gain = 0.0;
            return Ok(());
        };
        let rounding = 1e-14 * (1.0 + self.objective.abs());
        let gain_before = std::mem::replace(&mut self.gain, self.objective - after);
        let slow = self.rounds.are_longest() && self.gain > SLUGGISH * gain_before;
        self.sluggish = if slow { self.sluggish + 1 } else { 0 };
        if self.gain >= -rounding {
            self.objective = after;
            self.undone_in_a_row = 0;
            self.engine.idle_rounds = if self.gain > rounding { 0 } else { self.engine.idle_rounds + 1 };
            self.rounds.adapt(self.gain);
            // Batches of a stream come in order: larger steps would follow each too far.
            if self.engine.feed.is_memory() || slow {
                self.step = (BOLDER * self.step).min(self.most_step);
            }
            self.most_step = (RECOVERY * self.most_step).min(self.boldest);
        } else {
            self.engine.state.x.copy_from_slice(&self.good);
            self.gain = 0.0;
            self.undone_in_a_row += 1;
            self.step *= 0.5;
            self.most_step = self.step;
            if self.undone_in_a_row >= MOST_UNDONE {
                self.engine.checkpoints.status.get_or_insert(Status::Stalled);
            }
            self.objective = self.anchor()?.unwrap_or(self.objective);
        }
        self.engine.pairs.set_step(self.step);
        Ok(())
    }

    /// Where pairs do too little: a proximal step over all blocks; and now and then a look whether f falls for ever.
    fn beyond_pairs(&mut self) -> Result<()> {
        let Engine { checkpoints, problem, state, updates, .. } = &mut self.engine;
        if checkpoints.status.is_some() || self.undone_in_a_row > 0 {
            return Ok(());
        }
        let stalled = self.gain <= 1e-2 * checkpoints.wanted_gap(self.objective);
        self.rounds_made += 1;
        let sounding = self.rounds_made.is_multiple_of(ROUNDS_PER_SOUNDING);
        if !stalled && !sounding {
            return Ok(());
        }
        let (view, control, updates) = (problem.view(), checkpoints.control(), *updates);
        let mut whole = match State::new(view.smooth(), state.x.clone(), &control) {
            Ok(whole) => whole,
            Err(halt) => return checkpoints.ended(halt, &state.x, updates),
        };
        if sounding {
            let step = FreeStep { view, metric: &self.exact, control: &control };
            if let Err(halt) = step.take(&mut whole.clone(), 20)? {
                return checkpoints.ended(halt, &state.x, updates);
            }
        }
        if stalled {
            let fell = match self.full_step.take(view, &self.exact, &mut whole, &control) {
                Ok(fell) => fell,
                Err(halt) => return checkpoints.ended(halt, &state.x, updates),
            };
            if fell > 1e-14 * (1.0 + self.objective.abs()) {
                self.good.copy_from_slice(&state.x);
                state.x.copy_from_slice(&whole.x);
                self.engine.idle_rounds = 0;
                self.engine.keep_feasible();
                match self.anchor()? {
                    Some(objective) => self.objective = objective,
                    None => self.engine.state.x.copy_from_slice(&self.good),
                }
            }
        }
        Ok(())
    }
}

/// The row that every move keeps, where there is one and no more.
fn kept_row<F: SmoothTerm, H: SeparableTerm>(problem: &Problem<F, H>) -> Option<Vec<f64>> {
    let coupling = problem.independent_coupling();
    let Shape::Row(_) = coupling.shape() else { return None };
    Some((0..problem.dimension()).map(|c| coupling.column_dot(c, &[1.0])).collect())
}
