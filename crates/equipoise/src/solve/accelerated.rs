//! Random pairs with momentum, for h = 0.
//!
//! # Method
//! The pair updates of `pairs.rs` on the iterate of `state/momentum.rs`, with nu the constant of the graph
//! (`theory/resistance.rs`). From a start x0 without momentum
//!
//! ```text
//! E f(x_k) - f* <= ||x0 - x*||^2 / (2 A_k) <= 2 nu ||x0 - x*||^2 / k^2      in the norm of K^+
//! ```
//! # Restart
//! On a strongly convex problem momentum that is never lost oscillates. Once an epoch the objective is evaluated; where
//! it rose, the run goes back to where it was lowest and starts again without momentum. So the result of a round is
//! never worse than its beginning. A rise in the first epoch without momentum says that nu is too small (for several
//! rows it is an estimate): it is doubled.
//! # Must not know
//! How a pair is solved; how the graph's constant comes about.
//! # Reference
//! Nesterov 2012; Necoara and Takac 2021 for sketches; O'Donoghue and Candes 2015 for restarts.

use super::pairs::PairUpdater;
use super::round::{Pace, Round, Task};
use crate::certificate::separable_value;
use crate::error::Result;
use crate::problem::Problem;
use crate::selection::SampledEdges;
use crate::separable::SeparableTerm;
use crate::smooth::SmoothTerm;
use crate::state::{Momentum, State};

/// Rise of the objective, relative, that is rounding.
const ROUNDING: f64 = 1e-14;

/// Pairs with momentum on one problem.
#[derive(Debug)]
pub(crate) struct Accelerated {
    momentum: Momentum,
    /// The last point that was evaluated.
    current: State,
    /// Epochs since the momentum was last 0.
    age: u64,
    /// Updates between two looks at the objective.
    updates_per_check: u64,
    pace: Pace,
    /// Where the last round ended.
    left_at: Option<f64>,
}

impl Accelerated {
    pub(crate) fn new<F: SmoothTerm>(f: &F, state: &State, nu: f64, updates_per_epoch: f64) -> Self {
        Self {
            momentum: Momentum::new(f, state, nu),
            current: state.clone(),
            age: 0,
            updates_per_check: (updates_per_epoch.ceil() as u64).max(1),
            pace: Pace::new(),
            left_at: None,
        }
    }

    /// Makes a round of updates from `state`, whose product is exact before and after.
    pub(crate) fn round<F: SmoothTerm, H: SeparableTerm>(
        &mut self,
        problem: &Problem<F, H>,
        pairs: &mut PairUpdater<'_, H>,
        edges: &mut SampledEdges,
        state: &mut State,
        task: &mut Task<'_, '_>,
    ) -> Result<Round> {
        let f = problem.smooth();
        // Whoever moved x in between took its momentum away.
        if self.left_at != Some(task.objective) {
            self.come_to_rest(state);
        }
        let (mut made, mut status, mut objective) = (0, None, task.objective);
        while made < task.updates && status.is_none() {
            let count = self.updates_per_check.min(task.updates - made);
            let momentum = &mut self.momentum;
            let update = || {
                let (i, j) = edges.draw();
                pairs.update(f, momentum, i, j)
            };
            let heartbeat = |new| (task.heartbeat)(made + new);
            let (new, ended) = self.pace.run(count, task.budget, update, heartbeat)?;
            made += new;
            status = ended;
            self.age += 1;
            self.momentum.write_to(&mut self.current);
            let found =
                f.value(&self.current.x, &self.current.product) + separable_value(problem, &self.current.x);
            if found <= objective + ROUNDING * objective.abs() {
                objective = found;
                std::mem::swap(state, &mut self.current);
                if task.target.is_some_and(|target| objective <= target) {
                    break;
                }
            } else {
                if self.age <= 1 {
                    self.momentum.set_nu(2.0 * self.momentum.nu());
                }
                self.come_to_rest(state);
            }
        }
        state.refresh(f);
        objective = f.value(&state.x, &state.product) + separable_value(problem, &state.x);
        self.left_at = Some(objective);
        Ok(Round { updates: made, objective, undone: false, status })
    }

    fn come_to_rest(&mut self, at: &State) {
        self.momentum.rest_at(at);
        self.age = 0;
    }
}
