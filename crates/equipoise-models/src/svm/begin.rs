//! Where a fit begins: at multipliers that were given, or at those that go with an earlier model.
//!
//! Given: multipliers or a model, and the problem. Returns: an x within its bounds that satisfies the rows, or nothing, and then
//! the fit begins afresh. Whether it is any good the judge of the run says.
//!
//! Must not know: how a fit goes on.

use super::Kind;
use super::dual::{Pieces, Task};
use super::train::Plan;
use super::warm::Start;
use equipoise::Control;
use equipoise::problem::Problem;
use equipoise::smooth::Gram;

impl Plan<'_> {
    /// Multipliers that were given, within their bounds and feasible.
    pub(super) fn given_start(
        &self,
        given: &[f64],
        task: &Task<'_>,
        problem: &Problem<Gram<'_>, Pieces<'_>>,
    ) -> Option<Start> {
        // Those of nu-svc come divided by a margin that nobody knows any more.
        let fits = given.len() == task.rows.len() && given.iter().all(|beta| beta.is_finite());
        if !fits || self.settings.kind == Kind::NuSvc {
            return None;
        }
        let x = task.within_bounds(given);
        feasible(Start { x, updates: 0, epochs: 0.0 }, problem)
    }

    /// Multipliers that go with the model to begin at, if there is one; feasible, or the fit begins afresh.
    pub(super) fn start(
        &self,
        k: usize,
        task: &Task<'_>,
        problem: &Problem<Gram<'_>, Pieces<'_>>,
        control: &Control,
    ) -> Option<Start> {
        // The nearest feasible point under two sums is dear, and nu-svc does well without.
        let model = self.warm_start.filter(|_| self.settings.kind != Kind::NuSvc)?;
        let (w, bias) = (&model.weights[k], model.bias[k]);
        let is_of_same_cost = model.cost == self.settings.cost;
        let by_part = || task.start_at(w, bias, is_of_same_cost, self.settings, control);
        let guess = || Start { x: task.guess(w, bias), updates: 0, epochs: 0.0 };
        feasible(if task.has_bias { by_part().unwrap_or_else(guess) } else { guess() }, problem)
    }
}

/// A start that satisfies the rows: this one, or the point nearest to it; none where there is none to be had.
fn feasible(start: Start, problem: &Problem<Gram<'_>, Pieces<'_>>) -> Option<Start> {
    let is_feasible = |x: &[f64]| problem.coupling().miss(x).is_feasible();
    if is_feasible(&start.x) {
        return Some(start);
    }
    let x = problem.nearest_feasible(&start.x).ok()?;
    is_feasible(&x).then_some(Start { x, ..start })
}
