//! When a run goes through the interior: before the first round where there are many rows, once as much was done as that costs,
//! and where it would stand still otherwise.
//!
//! Must not know: how the step is found.

use super::Run;
use crate::error::Result;
use crate::separable::SeparableTerm;
use crate::smooth::SmoothTerm;
use crate::solve::Status;
use crate::solve::driver::checkpoints::Checkpoints;
use crate::solve::gain;
use crate::solve::gears::{Attempt, Due, Stop};
use crate::solve::steps::interior_step::{Done, InteriorStep};
use crate::state::State;

/// Passes over all data that a round with second-order steps makes, about; and those of an epoch of pairs.
const PASSES_PER_ROUND: f64 = 60.0;
const PASSES_PER_EPOCH: f64 = 4.0;

impl<F: SmoothTerm, H: SeparableTerm> Run<'_, F, H> {
    /// A step from the interior, where one is due.
    pub(super) fn go_inside_if_due(&mut self) -> Result<()> {
        let rounds = self.rounds;
        let is_due = self.beyond.interior.as_ref().is_some_and(|interior| interior.is_due(rounds));
        let at_target = self.plan.settings.target_objective.is_some_and(|target| self.objective <= target);
        // Whoever hands over does so first.
        if !is_due || at_target || self.plan.next.is_some() || self.checkpoints.status.is_some() {
            return Ok(());
        }
        let epochs = self.spent().epochs;
        let done = PASSES_PER_ROUND * rounds as f64 + PASSES_PER_EPOCH * epochs;
        // Before the first round there is nothing to compare it with.
        let passes = if rounds == 0 { f64::INFINITY } else { done };
        self.go_inside(passes).map(|_| ())
    }

    /// The same where the run would stand still otherwise, whatever it costs.
    pub(super) fn go_inside_at_the_end(&mut self) -> Result<()> {
        let untried = self.beyond.interior.as_ref().is_some_and(InteriorStep::is_untried);
        if self.checkpoints.status != Some(Status::Stalled) || self.plan.next.is_some() || !untried {
            return Ok(());
        }
        self.checkpoints.status = None;
        if self.go_inside(f64::INFINITY)? {
            self.idle_rounds = 0;
            self.keep_feasible()?;
            self.look(Due::Now)
        } else {
            self.checkpoints.status.get_or_insert(Status::Stalled);
            Ok(())
        }
    }

    /// Whether anything came of it: another x, or multipliers.
    fn go_inside(&mut self, passes: f64) -> Result<bool> {
        match self.step_inside(passes) {
            Ok(changed) => {
                self.be_finite()?;
                Ok(changed)
            }
            Err(Stop::Error(error)) => Err(error),
            Err(Stop::Halt(halt)) => {
                self.checkpoints.ended(halt, &self.state.x, self.spent().updates)?;
                Ok(false)
            }
        }
    }

    fn step_inside(&mut self, passes: f64) -> Attempt<bool> {
        let control = self.checkpoints.limits.control().clone();
        let (view, rounds, wanted) = (self.view, self.rounds, self.wanted_gap());
        let Some(interior) = &mut self.beyond.interior else { return Ok(false) };
        // Not every gear keeps the product, and not every gear stands where its state is.
        let x = self.gear.candidate(&self.state).to_vec();
        let mut state = State::new(view.smooth(), x, &control)?;
        let taken = interior.take(view, &mut state, wanted, Done { rounds, passes }, &control)?;
        let changed = taken.moved || !taken.proposed.is_empty();
        if !taken.proposed.is_empty() {
            self.checkpoints.propose(taken.proposed);
        }
        let objective = view.value(&state.x, &state.product);
        if taken.moved && !gain::rose(self.objective, objective) {
            let before = std::mem::replace(&mut self.state, state);
            if !self.gear.habits().has_product {
                self.state.product.clone_from(&before.product);
            }
            match self.gear.moved(&self.state, &control) {
                Ok(found) => self.objective = found.unwrap_or(objective),
                Err(halt) => {
                    self.state = before;
                    return Err(halt.into());
                }
            }
            if !self.feasible.is_empty() {
                self.feasible.clone_from(&self.state.x);
            }
        }
        Ok(changed)
    }
}

impl Checkpoints<'_> {
    /// Takes multipliers that somebody proposes, for the certificates to come.
    fn propose(&mut self, lambdas: Vec<Vec<f64>>) {
        self.proposed = lambdas;
    }
}
