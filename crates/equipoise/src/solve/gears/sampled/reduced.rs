//! `svrg` and `saga`: rounds of draws from slopes that are known exactly, and a guard between them.
//!
//! The metric of the steps is `t diag(s)`, s the curvature of f along each coordinate and t the largest curvature of
//! a single sample in the metric diag(s), by its chance to be drawn; t is about the number of coordinates where all
//! samples are alike. After every round the objective is computed exactly, with the slopes for the next one: where it
//! rose, the round is undone and the steps are halved; where it fell they grow a little.

use super::engine::{Engine, pairs_per_draw};
use super::estimate::{Estimate, Memory};
use super::feed::Feed;
use super::law::Law;
use super::rounds::Rounds;
use super::scale::{Shift, curvature_of, shares};
use crate::archive::Archive;
use crate::control::{Control, Pass};
use crate::coupling::Shape;
use crate::error::Result;
use crate::problem::Problem;
use crate::separable::SeparableTerm;
use crate::smooth::{FiniteSum, SmoothTerm};
use crate::solve::gain;
use crate::solve::gears::{Attempt, Engaged, Gear, Habits, Order, Round, Task};
use crate::solve::steps::repair::repair;
use crate::solve::{Method, Status};
use crate::state::State;

/// The first step, times the curvature of the worst sample.
const STEP: f64 = 0.5;
/// The step may grow to this multiple of the first, by this factor a round.
const BOLDEST: f64 = 2.0;
const BOLDER: f64 = 1.3;
/// What a step that was too large forbids is allowed again, by this factor a round.
const RECOVERY: f64 = 1.05;
/// Rounds undone in a row after which no step is small enough.
const MOST_UNDONE: u32 = 40;
/// Rounds between two soundings for an objective that falls for ever: they are short, a sounding is not.
const ROUNDS_PER_SOUNDING: u32 = 32;

/// Gain of a longest round, as a share of that of the one before, from which it is slow; and how many such rounds in a
/// row are too many where something else can go on.
const SLUGGISH: f64 = 0.8;
const MOST_SLUGGISH: u32 = 3;
/// Passes over the samples that are more than enough, where something else can go on: most problems take one or two.
const MOST_PASSES: u64 = 10;

/// The gear, at a start.
pub(super) fn engage<'r, F: SmoothTerm, H: SeparableTerm>(
    problem: &'r Problem<F, H>,
    order: &Order<'_>,
    sum: FiniteSum<'r>,
    start: &[f64],
) -> Attempt<Engaged<'r>> {
    let state = State::without_product(start.to_vec());
    let (mut gear, objective) = Reduced::new(problem, order, sum, &state)?;
    if order.may_hand_over {
        gear.most_sluggish = MOST_SLUGGISH;
        gear.most_alone = MOST_PASSES.saturating_mul(gear.updates_per_pass);
    }
    Ok(Engaged { gear: Box::new(gear), state, objective, metric: None, preparation: 0.0 })
}

struct Reduced<'r, F, H> {
    engine: Engine<'r, F, H>,
    rounds: Rounds,
    updates_per_pass: u64,
    step: f64,
    most_step: f64,
    boldest: f64,
    gain: f64,
    /// Where the last round began.
    good: Vec<f64>,
    undone_in_a_row: u32,
    /// Slow rounds in a row, and how many of them are too many.
    sluggish: u32,
    most_sluggish: u32,
    /// Updates that are too many, too.
    most_alone: u64,
}

impl<'r, F: SmoothTerm, H: SeparableTerm> Reduced<'r, F, H> {
    /// With the objective at the start.
    fn new(
        problem: &'r Problem<F, H>,
        order: &Order<'_>,
        sum: FiniteSum<'r>,
        state: &State,
    ) -> Attempt<(Self, f64)> {
        let (settings, control) = (order.settings, order.limits.control());
        let (samples, kappa) = (sum.data.len(), sum.loss.largest_curvature());
        let (mut feed, batch) = Feed::new(sum.data, control)?;
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
        let found = shares(&mut feed, &mut estimate.batch, kappa, curvature, shift.as_ref(), control)?;
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
        let mut gear = Self {
            engine: Engine::new(problem, settings, feed, estimate, step, pairs_per_draw)?,
            rounds,
            updates_per_pass: samples.div_ceil(settings.batch) as u64 * pairs_per_draw,
            step,
            most_step: BOLDEST * step,
            boldest: BOLDEST * step,
            gain: 0.0,
            good: state.x.clone(),
            undone_in_a_row: 0,
            sluggish: 0,
            most_sluggish: u32::MAX,
            most_alone: u64::MAX,
        };
        let objective = gear.anchor(&state.x, control)?;
        Ok((gear, objective))
    }

    /// Slopes and objective at x.
    fn anchor(&mut self, x: &[f64], control: &Control) -> Pass<f64> {
        let Engine { estimate, feed, problem, .. } = &mut self.engine;
        let value = estimate.anchor(feed, x, control)?;
        let value = value + estimate.rest_value(x) + problem.view().separable_value(x);
        self.engine.rewind();
        Ok(value)
    }

    /// The same after a round; `None`, and a status, where the run ended before all samples were seen.
    fn look(&mut self, state: &State, task: &Task<'_>, status: &mut Option<Status>) -> Attempt<Option<f64>> {
        match self.anchor(&state.x, &task.limits.control_after(*status)) {
            Ok(objective) => Ok(Some(objective)),
            Err(fault) if fault.is_fault() => Err(self.engine.ended(fault, state)),
            Err(halt) => {
                *status = status.or(Status::after(&halt));
                Ok(None)
            }
        }
    }

    /// The round was undone: smaller steps from where it began.
    fn retreat(&mut self, state: &mut State) {
        state.x.copy_from_slice(&self.good);
        self.gain = 0.0;
        self.undone_in_a_row += 1;
        self.step *= 0.5;
        self.most_step = self.step;
    }
}

impl<F: SmoothTerm, H: SeparableTerm> Gear for Reduced<'_, F, H> {
    fn habits(&self) -> Habits {
        Habits {
            updates_per_pass: self.updates_per_pass,
            sees_target: true,
            has_product: false,
            repairs: true,
            rounds_per_sounding: ROUNDS_PER_SOUNDING,
            ..Habits::default()
        }
    }

    /// Draws, then the exact objective; what rose is undone.
    fn round(&mut self, state: &mut State, task: &mut Task<'_>) -> Attempt<Round> {
        let updates = self.engine.updates;
        self.good.copy_from_slice(&state.x);
        let mut status = self.engine.advance(state, task, self.rounds.draws(), &mut ())?;
        let view = self.engine.problem.view();
        // Without it the drift stays for now.
        repair(view, &mut state.x, &task.limits.control_after(status)).ok();
        let found = self.look(state, task, &mut status)?;
        let mut round = Round::new(self.engine.updates - updates, task.objective);
        let Some(after) = found else {
            // Nobody knows whether it rose.
            state.x.copy_from_slice(&self.good);
            self.gain = 0.0;
            return Ok(Round { status, undone: true, is_inconclusive: true, ..round });
        };
        let gain_before = std::mem::replace(&mut self.gain, task.objective - after);
        let slow = self.rounds.are_longest() && self.gain > SLUGGISH * gain_before;
        self.sluggish = if slow { self.sluggish + 1 } else { 0 };
        if gain::rose(task.objective, after) {
            self.retreat(state);
            if self.undone_in_a_row >= MOST_UNDONE {
                status.get_or_insert(Status::Stalled);
            }
            let objective = self.look(state, task, &mut status)?.unwrap_or(task.objective);
            round = Round { objective, undone: true, is_inconclusive: true, ..round };
        } else {
            round.objective = after;
            self.undone_in_a_row = 0;
            self.rounds.adapt(self.gain);
            // Batches of a stream come in order: larger steps would follow each too far.
            if self.engine.feed.is_memory() || slow {
                self.step = (BOLDER * self.step).min(self.most_step);
            }
            self.most_step = (RECOVERY * self.most_step).min(self.boldest);
        }
        self.engine.pairs.set_step(self.step);
        let is_slow = self.sluggish >= self.most_sluggish || self.engine.updates >= self.most_alone;
        Ok(Round { status, is_slow, ..round })
    }

    fn moved(&mut self, state: &State, control: &Control) -> Pass<Option<f64>> {
        self.anchor(&state.x, control).map(Some)
    }

    /// The slopes are those at x.
    fn carry(&mut self, archive: &mut Archive<'_>) -> Result<()> {
        self.engine.carry(archive)?;
        self.rounds.carry(archive)?;
        [&mut self.step, &mut self.most_step, &mut self.gain]
            .into_iter()
            .try_for_each(|number| archive.number(number))?;
        archive.small(&mut self.undone_in_a_row)?;
        archive.small(&mut self.sluggish)
    }
}

/// The row that every move keeps, where there is one and no more.
fn kept_row<F: SmoothTerm, H: SeparableTerm>(problem: &Problem<F, H>) -> Option<Vec<f64>> {
    let coupling = problem.independent_coupling();
    let Shape::Row(_) = coupling.shape() else { return None };
    Some((0..problem.dimension()).map(|c| coupling.column_dot(c, &[1.0])).collect())
}
