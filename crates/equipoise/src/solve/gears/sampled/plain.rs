//! `stochastic`: Algorithm 2 as in the paper, one sample and one pair an update, with steps that shrink.
//!
//! The metric D dominates N times the Hessian of every single sample on the pair, whichever is drawn; no step is longer
//! than `1 / (1 + t)`, t the largest curvature of a single sample in D over all coordinates, since its slope feels what
//! all of them did. The noise of the
//! gradient does not end, so the last iterate is not all there is: the best iterate at a checkpoint, the average of
//! all and the average of the later half are compared with it, and the lowest is certified and returned.

use super::averages::Averages;
use super::engine::{Begun, Engine, Task, Watch};
use super::estimate::{Estimate, Memory};
use super::feed::Feed;
use super::scale::{floored, largest_of_single, shares};
use crate::control::{Control, Pass};
use crate::error::Result;
use crate::problem::View;
use crate::separable::{Nonsmooth, SeparableTerm};
use crate::smooth::{FiniteSum, SmoothTerm};
use crate::solve::driver::checkpoints::not_finite;
use crate::solve::pairs::PairUpdater;
use crate::solve::solution::Candidate;
use crate::solve::steps::free_step::FreeStep;
use crate::solve::steps::repair::repair;
use crate::solve::{Metric, Schedule, Solution, Status};
use crate::state::State;

/// A checkpoint without a lower objective counts as this part of an idle round: noise hides small gains.
const IDLE_PER_ROUND: u32 = 4;
/// Checkpoints between two soundings for an objective that falls for ever.
const CHECKPOINTS_PER_SOUNDING: u32 = 8;

/// Runs from a feasible start.
pub(super) fn run<'r, F: SmoothTerm, H: SeparableTerm>(
    task: Task<'r, F, H>,
    sum: FiniteSum<'r>,
) -> Result<Solution> {
    let mut run = match Run::new(task, sum)? {
        Begun::Running(run) => run,
        Begun::Over(solution) => return Ok(*solution),
    };
    run.until_the_end()?;
    // Candidates that were not certified in time are none.
    let candidates = if run.engine.checkpoints.is_uncertain() { Vec::new() } else { run.candidates };
    let mut solution = run.engine.finish(run.lowest.1)?;
    solution.candidates = candidates;
    Ok(solution)
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

struct Run<'r, F, H> {
    engine: Engine<'r, F, H>,
    steps: Steps<'r>,
    /// Draws of a pass.
    pass: u64,
    /// The best iterate at a checkpoint.
    best: (f64, Vec<f64>),
    /// The lowest candidate.
    lowest: (f64, Vec<f64>),
    /// The lowest objective of any candidate so far.
    lowest_seen: f64,
    candidates: Vec<Candidate>,
    /// The metric of f itself, for soundings.
    exact: Option<Metric>,
    compared: u32,
}

impl<'r, F: SmoothTerm, H: SeparableTerm> Run<'r, F, H> {
    fn new(task: Task<'r, F, H>, sum: FiniteSum<'r>) -> Result<Begun<Self>> {
        let (problem, settings) = (task.problem, task.settings);
        let (samples, kappa) = (sum.data.len(), sum.loss.largest_curvature());
        let (mut feed, batch) = Feed::new(sum.data)?;
        let own: Vec<f64> =
            (0..problem.dimension()).map(|c| sum.rest.iter().map(|term| term.curvature(c)).sum()).collect();
        let mut estimate = Estimate::new(sum, batch, Memory::None, problem.dimension());
        let (control, n) = (task.checkpoints.control(), problem.dimension());
        let found = largest_of_single(&mut feed, &mut estimate.batch, kappa, samples, n, &control);
        let (mut largest, entries) = match task.read(found)? {
            Ok(found) => found,
            Err(status) => return Ok(Begun::Over(Box::new(task.stopped(status)?))),
        };
        largest.iter_mut().zip(&own).for_each(|(largest, own)| *largest += own);
        estimate.curvature = floored(largest);
        let found = shares(&mut feed, &mut estimate.batch, kappa, &estimate.curvature, None, &control);
        let shares = match task.read(found)? {
            Ok(found) => found,
            Err(status) => return Ok(Begun::Over(Box::new(task.stopped(status)?))),
        };
        let worst = samples as f64 * shares.largest / settings.batch as f64;
        let touched = 2.0 * problem.dimension() as f64 / problem.blocks().len() as f64;
        estimate.by_entry = settings.batch == 1 && 2.0 * touched < entries / samples as f64;
        let found = problem.view().objective(&task.start, &control);
        let objective = match task.read(found)? {
            Ok(found) => found,
            Err(status) => return Ok(Begun::Over(Box::new(task.stopped(status)?))),
        };
        let engine = Engine::new(task, feed, estimate, settings.step_size)?;
        let pass = samples.div_ceil(settings.batch) as u64;
        let most = engine.checkpoints.budget.most_updates;
        let steps = Steps {
            schedule: settings.schedule,
            alpha: settings.step_size,
            most: settings.step_size / (1.0 + worst),
            horizon: if most < u64::MAX { most } else { pass },
            averages: Averages::new(problem.blocks()),
        };
        let x = engine.state.x.clone();
        if !objective.is_finite() {
            return Err(not_finite(objective, 0));
        }
        let best = (objective, x);
        let (lowest, lowest_seen) = (best.clone(), objective);
        let (exact, candidates, compared) = (None, Vec::new(), 0);
        Ok(Begun::Running(Box::new(Self {
            engine,
            steps,
            pass,
            best,
            lowest,
            lowest_seen,
            candidates,
            exact,
            compared,
        })))
    }

    fn until_the_end(&mut self) -> Result<()> {
        let target = self.engine.settings.target_objective;
        if target.is_none() {
            self.checkpoint()?;
        }
        while self.engine.checkpoints.status.is_none() {
            if target.is_some_and(|target| self.lowest.0 <= target) {
                self.engine.checkpoints.reached_target();
                break;
            }
            while self.engine.checkpoints.status.is_none() {
                self.engine.advance(self.pass, &mut self.steps)?;
                if target.is_some() || self.engine.is_due(self.pass) {
                    break;
                }
            }
            self.compare()?;
            let stalled = self.engine.idle_rounds > IDLE_PER_ROUND * IDLE_PER_ROUND;
            if target.is_none() {
                self.sound()?;
                self.checkpoint()?;
            } else if stalled {
                self.engine.checkpoints.status.get_or_insert(Status::Stalled);
            }
        }
        if target.is_some() {
            self.checkpoint()?;
        }
        Ok(())
    }

    /// Certifies the lowest candidate.
    fn checkpoint(&mut self) -> Result<()> {
        let idle = self.engine.idle_rounds / IDLE_PER_ROUND;
        self.engine.checkpoint(&self.lowest.1, idle)
    }

    /// Now and then a look whether the objective falls for ever: single samples never see it, second-order directions do.
    /// Nothing is moved.
    fn sound(&mut self) -> Result<()> {
        self.compared += 1;
        let Engine { checkpoints, problem, updates, .. } = &mut self.engine;
        if checkpoints.status.is_some() || !self.compared.is_multiple_of(CHECKPOINTS_PER_SOUNDING) {
            return Ok(());
        }
        let (view, control) = (problem.view(), checkpoints.control());
        let metric = self.exact.get_or_insert_with(|| Metric::new(view, 1.0));
        let outcome = match State::new(view.smooth(), self.lowest.1.clone(), &control) {
            Ok(mut state) => FreeStep { view, metric, control: &control }.take(&mut state, 20)?,
            Err(halt) => Err(halt),
        };
        match outcome {
            Ok(_) => Ok(()),
            Err(halt) => checkpoints.ended(halt, &self.lowest.1, *updates),
        }
    }

    /// The objectives of all candidates.
    fn compare(&mut self) -> Result<()> {
        let updates = self.engine.updates;
        self.steps.averages.count_all(&self.engine.state.x, updates);
        self.engine.keep_feasible();
        let (view, control) = (self.engine.problem.view(), self.engine.checkpoints.control());
        let valued = |x: Vec<f64>| -> Pass<_> { Ok((view.objective(&x, &control)?, x)) };
        let averaged = |mut x: Vec<f64>| {
            settle(view, &mut x, &control)?;
            valued(x)
        };
        let all = || -> Pass<_> {
            let last = valued(self.engine.state.x.clone())?;
            let average = averaged(self.steps.averages.of_all(updates))?;
            Ok((last, average, averaged(self.steps.averages.of_later_half(updates))?))
        };
        let (last, average, tail) = match all() {
            Ok(found) => found,
            Err(halt) => return self.engine.checkpoints.ended(halt, &self.engine.state.x, updates),
        };
        if last.0 < self.best.0 {
            self.best = last.clone();
        }
        let named =
            [("last", last), ("best", self.best.clone()), ("average", average), ("tail-average", tail)];
        self.candidates =
            named.iter().map(|(name, (objective, _))| Candidate { name, objective: *objective }).collect();
        if let Some((_, lowest)) = named.into_iter().min_by(|(_, a), (_, b)| a.0.total_cmp(&b.0)) {
            self.lowest = lowest;
        }
        let gained = self.lowest_seen - self.lowest.0 > 1e-14 * (1.0 + self.lowest_seen.abs());
        self.lowest_seen = self.lowest_seen.min(self.lowest.0);
        // Steps that shrink will gain again, steps that stay as they are may have come as far as their noise lets them.
        let waiting = gained || self.engine.settings.schedule != Schedule::Constant;
        self.engine.idle_rounds = if waiting { 0 } else { self.engine.idle_rounds + 1 };
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
