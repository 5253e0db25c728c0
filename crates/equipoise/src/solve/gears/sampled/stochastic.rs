//! `stochastic`: Algorithm 2 as in the paper, one sample and one pair an update, with steps that shrink.
//!
//! The metric D dominates N times the Hessian of every single sample on the pair, whichever is drawn; no step is longer
//! than `1 / (1 + t)`, t the largest curvature of a single sample in D over all coordinates, since its slope feels what
//! all of them did. The noise of the
//! gradient does not end, so the last iterate is not all there is: the best iterate at a checkpoint, the average of
//! all and the average of the later half are compared with it, and the lowest is certified and returned.

use super::averages::Averages;
use super::engine::{Engine, Watch};
use super::estimate::{Estimate, Memory};
use super::feed::Feed;
use super::scale::{floored, largest_of_single, shares};
use crate::archive::Archive;
use crate::control::{Control, Pass};
use crate::error::{Error, Result};
use crate::problem::{Problem, View};
use crate::separable::{Nonsmooth, SeparableTerm};
use crate::smooth::{FiniteSum, SmoothTerm};
use crate::solve::gears::{Attempt, Engaged, Gear, Habits, Order, Round, Task};
use crate::solve::pairs::PairUpdater;
use crate::solve::solution::Candidate;
use crate::solve::steps::repair::repair;
use crate::solve::{Schedule, Status};
use crate::state::State;

/// A round without a lower objective counts as this part of an idle one: noise hides small gains.
const ROUNDS_PER_IDLE: u32 = 4;
/// What is compared: the last iterate, the best point so far, the average of all and of the later half.
const NAMES: [&str; 4] = ["last", "best", "average", "tail-average"];

/// The gear, at a start.
pub(super) fn engage<'r, F: SmoothTerm, H: SeparableTerm>(
    problem: &'r Problem<F, H>,
    order: &Order<'_>,
    sum: FiniteSum<'r>,
    start: &[f64],
) -> Attempt<Engaged<'r>> {
    let (settings, control, n) = (order.settings, order.limits.control(), problem.dimension());
    let (samples, kappa) = (sum.data.len(), sum.loss.largest_curvature());
    let (mut feed, batch) = Feed::new(sum.data, control)?;
    let own: Vec<f64> = (0..n).map(|c| sum.rest.iter().map(|term| term.curvature(c)).sum()).collect();
    let mut estimate = Estimate::new(sum, batch, Memory::None, n);
    let (mut largest, entries) =
        largest_of_single(&mut feed, &mut estimate.batch, kappa, samples, n, control)?;
    largest.iter_mut().zip(&own).for_each(|(largest, own)| *largest += own);
    estimate.curvature = floored(largest);
    let shares = shares(&mut feed, &mut estimate.batch, kappa, &estimate.curvature, None, control)?;
    let worst = samples as f64 * shares.largest / settings.batch as f64;
    let touched = 2.0 * n as f64 / problem.blocks().len() as f64;
    estimate.by_entry = settings.batch == 1 && 2.0 * touched < entries / samples as f64;
    let objective = problem.view().objective(start, control)?;
    let pass = samples.div_ceil(settings.batch) as u64;
    let most = order.limits.most_updates;
    let steps = Steps {
        schedule: settings.schedule,
        alpha: settings.step_size,
        most: settings.step_size / (1.0 + worst),
        horizon: if most < u64::MAX { most } else { pass },
        averages: Averages::new(problem.blocks()),
    };
    let best = (objective, start.to_vec());
    let gear = Stochastic {
        engine: Engine::new(problem, settings, feed, estimate, settings.step_size, 1)?,
        steps,
        pass,
        lowest: best.clone(),
        best,
        lowest_seen: objective,
        candidates: Vec::new(),
    };
    let state = State::without_product(start.to_vec());
    Ok(Engaged { gear: Box::new(gear), state, objective, metric: None, preparation: 0.0 })
}

/// Sets the step of every update and sums up the iterates.
struct Steps<'r> {
    schedule: Schedule,
    alpha: f64,
    /// The longest step.
    most: f64,
    /// K of the horizon.
    horizon: u64,
    averages: Averages<'r>,
}

impl Steps<'_> {
    /// The step of the update after `updates` others.
    #[inline]
    fn step(&mut self, updates: u64) -> f64 {
        let k = updates as f64;
        let step = match self.schedule {
            Schedule::Paper => self.alpha / (k + 1.0).sqrt(),
            Schedule::Constant => self.alpha,
            Schedule::Horizon => {
                if updates >= self.horizon {
                    self.horizon = self.horizon.saturating_mul(2);
                }
                self.alpha / (self.horizon as f64).sqrt()
            }
            Schedule::TwoThirds => self.alpha * (k + 1.0).powf(-2.0 / 3.0),
        };
        step.min(self.most)
    }
}

impl<H: SeparableTerm> Watch<H> for Steps<'_> {
    #[inline]
    fn before(&mut self, pairs: &mut PairUpdater<'_, H>, x: &[f64], updates: u64, (i, j): (usize, usize)) {
        if self.averages.is_mark(updates) {
            self.averages.mark(x, updates);
        }
        self.averages.touch(i, x, updates);
        self.averages.touch(j, x, updates);
        pairs.set_step(self.step(updates));
    }
}

struct Stochastic<'r, F, H> {
    engine: Engine<'r, F, H>,
    steps: Steps<'r>,
    /// Draws of a pass.
    pass: u64,
    /// The best point that was compared so far.
    best: (f64, Vec<f64>),
    /// The lowest candidate.
    lowest: (f64, Vec<f64>),
    /// The lowest objective of any candidate so far.
    lowest_seen: f64,
    candidates: Vec<Candidate>,
}

impl<F: SmoothTerm, H: SeparableTerm> Gear for Stochastic<'_, F, H> {
    fn habits(&self) -> Habits {
        Habits {
            updates_per_pass: self.pass,
            has_product: false,
            repairs: true,
            // What moves the last iterate does not move the average.
            takes_full_steps: false,
            rounds_per_idle: ROUNDS_PER_IDLE,
            ..Habits::default()
        }
    }

    /// Passes over the samples, then the objectives of all candidates.
    fn round(&mut self, state: &mut State, task: &mut Task<'_>) -> Attempt<Round> {
        let (before, mut status) = (self.engine.updates, None);
        while status.is_none() && self.engine.updates - before < task.updates {
            status = self.engine.advance(state, task, self.pass, &mut self.steps)?;
        }
        match self.compare(state, &task.limits.control_after(status)) {
            Ok(()) => {}
            Err(fault) if fault.is_fault() => return Err(self.engine.ended(fault, state)),
            Err(halt) => status = status.or(Status::after(&halt)),
        }
        // Steps that shrink will gain again, steps that stay as they are may have come as far as their noise lets them.
        let is_inconclusive = self.steps.schedule != Schedule::Constant;
        let round = Round::new(self.engine.updates - before, self.lowest_seen);
        Ok(Round { status, is_inconclusive, ..round })
    }

    fn carry(&mut self, archive: &mut Archive<'_>) -> Result<()> {
        self.engine.carry(archive)?;
        archive.word(&mut self.steps.horizon)?;
        self.steps.averages.carry(archive)?;
        if !self.steps.averages.is_after(self.engine.updates) {
            return Err(Error::BadSnapshot { what: "more iterates are added up than were made" });
        }
        for (objective, x) in [&mut self.best, &mut self.lowest] {
            archive.number(objective)?;
            archive.numbers(x)?;
        }
        archive.number(&mut self.lowest_seen)?;
        let mut is_compared = !self.candidates.is_empty();
        archive.flag(&mut is_compared)?;
        if is_compared {
            let blank = NAMES.map(|name| Candidate { name, objective: 0.0 });
            self.candidates = std::mem::take(&mut self.candidates).into_iter().chain(blank).take(4).collect();
            self.candidates.iter_mut().try_for_each(|candidate| archive.number(&mut candidate.objective))?;
        }
        Ok(())
    }

    fn candidate<'a>(&'a self, _state: &'a State) -> &'a [f64] {
        &self.lowest.1
    }

    fn finish(self: Box<Self>, _state: State) -> Vec<f64> {
        self.lowest.1
    }

    fn candidates(&self) -> Vec<Candidate> {
        self.candidates.clone()
    }
}

impl<F: SmoothTerm, H: SeparableTerm> Stochastic<'_, F, H> {
    /// The objectives of all candidates; where they are not all known, nothing changes.
    fn compare(&mut self, state: &mut State, control: &Control) -> Pass {
        let (updates, view) = (self.engine.updates, self.engine.problem.view());
        self.steps.averages.count_all(&state.x, updates);
        repair(view, &mut state.x, control)?;
        let last = (view.objective(&state.x, control)?, state.x.clone());
        let averaged = |mut x: Vec<f64>| -> Pass<(f64, Vec<f64>)> {
            settle(view, &mut x, control)?;
            Ok((view.objective(&x, control)?, x))
        };
        let average = averaged(self.steps.averages.of_all(updates))?;
        let tail = averaged(self.steps.averages.of_later_half(updates))?;
        // What was once reached is not given up: an average may have been lower than all there are now.
        for point in [&last, &average, &tail] {
            if point.0 < self.best.0 {
                self.best.clone_from(point);
            }
        }
        let compared = [last, self.best.clone(), average, tail];
        self.candidates = NAMES
            .iter()
            .zip(&compared)
            .map(|(name, (objective, _))| Candidate { name, objective: *objective })
            .collect();
        if let Some(lowest) = compared.into_iter().min_by(|a, b| a.0.total_cmp(&b.0)) {
            self.lowest = lowest;
        }
        self.lowest_seen = self.lowest_seen.min(self.lowest.0);
        Ok(())
    }
}

/// Takes the rounding of an average out of it: bounds are kept exactly, A x = b as well as any iterate does.
fn settle(view: View<'_>, x: &mut [f64], control: &Control) -> Pass {
    if let Nonsmooth::Coordinates(h) = view.separable() {
        for (c, x) in x.iter_mut().enumerate() {
            let (lo, hi) = h.domain(c);
            *x = x.max(lo).min(hi);
        }
    }
    repair(view, x, control).map(|_| ())
}
