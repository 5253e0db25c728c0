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
        let fits = given.len() == task.rows.len() && given.iter().all(|beta| beta.is_finite());
        if !fits {
            return None;
        }
        let x = if self.settings.kind == Kind::NuSvc {
            task.within_bounds(&task.of_full_size(given)?)
        } else {
            task.within_bounds(given)
        };
        feasible(Start { x, updates: 0, epochs: 0.0, dual: None }, problem)
    }

    /// Multipliers that go with the model to begin at, if there is one; feasible, or the fit begins afresh.
    pub(super) fn start(
        &self,
        k: usize,
        task: &Task<'_>,
        problem: &Problem<Gram<'_>, Pieces<'_>>,
        control: &Control,
    ) -> Option<Start> {
        let model = self.warm_start?;
        let (w, bias) = (&model.weights[k], model.bias[k]);
        let is_of_same_cost = if self.settings.kind == Kind::NuSvc {
            model.kind == Kind::NuSvc && model.nu == self.settings.nu
        } else {
            model.cost == self.settings.cost
        };
        let by_part = || task.start_at(w, bias, is_of_same_cost, self.settings, control);
        let guess = || Start { x: task.guess(w, bias), updates: 0, epochs: 0.0, dual: None };
        let start = match (task.is_squared(), task.has_bias) {
            (true, _) => task.start_by_misses(w, model.cost / self.settings.cost),
            (false, true) => by_part().unwrap_or_else(guess),
            (false, false) => guess(),
        };
        feasible(start, problem)
    }
}

impl Task<'_> {
    /// Squared misses say by their sizes what their multipliers are, at the cost of the model, which is so many times this one; they
    /// add up to nothing at the best bias. The weights are nearer to the optimum than what these multipliers make of them.
    fn start_by_misses(&self, w: &[f64], times: f64) -> Start {
        let scores: Vec<f64> = (0..self.rows.len()).map(|i| self.rows.dot(i, w)).collect();
        let bias = if self.has_bias { self.squared_hinge_bias(&scores) } else { 0.0 };
        let dual = Some((w.to_vec(), vec![bias]));
        let mut x = self.guess(w, bias);
        // A file of another program need not say its cost.
        if times.is_finite() && times > 0.0 {
            x.iter_mut().for_each(|beta| *beta *= times);
        }
        Start { x, updates: 0, epochs: 0.0, dual }
    }

    /// Multipliers of nu-svc, which come divided by a margin, with the sums that they had.
    fn of_full_size(&self, divided: &[f64]) -> Option<Vec<f64>> {
        let sum: f64 = divided.iter().map(|beta| beta.abs()).sum();
        let size = self.nu * self.total() / sum;
        size.is_finite().then(|| divided.iter().map(|beta| size * beta).collect())
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
