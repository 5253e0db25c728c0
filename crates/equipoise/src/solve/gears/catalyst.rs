//! Proximal points with momentum, for h != 0: an outer loop around the pairs.
//!
//! # Method
//! With `D = diag(curvature of f)`, each outer step moves x towards the minimiser of
//!
//! ```text
//! f(x) + h(x) + kappa/2 (x - y)'D(x - y)   subject to   A x = b
//! ```
//!
//! by five epochs of pair updates from the last x, then extrapolates: `alpha_k^2 = (1 - alpha_k) alpha_{k-1}^2`,
//! `beta = alpha_{k-1} (1 - alpha_{k-1}) / (alpha_{k-1}^2 + alpha_k)`, `y = x_k + beta (x_k - x_{k-1})`. y need not be
//! feasible; x always is. Momentum inside the pairs, as for h = 0, has no proof where bounds couple with rows: the
//! sampled sets are not separable.
//! # Restart
//! Where the objective rises, x goes back and alpha starts again.
//! # Must not know
//! How a pair is solved.
//! # Reference
//! Lin, Mairal, Harchaoui 2015 (Catalyst).

use crate::certificate::separable_value;
use crate::control::Control;
use crate::error::Result;
use crate::problem::Problem;
use crate::selection::SampledEdges;
use crate::separable::SeparableTerm;
use crate::smooth::SmoothTerm;
use crate::solve::Settings;
use crate::solve::driver::checkpoints::lost;
use crate::solve::driver::round::{Pace, Round, Task};
use crate::solve::gears::anchored::Anchored;
use crate::solve::pairs::PairUpdater;
use crate::solve::pairs::metric::Metric;
use crate::state::State;

/// Strength of the proximal term, relative to the curvature of f.
const KAPPA: f64 = 0.03;
/// Epochs an outer step.
const EPOCHS: f64 = 5.0;
/// Rise of the objective, relative, that is rounding.
const ROUNDING: f64 = 1e-14;

/// Proximal points by pairs on one problem.
#[derive(Debug)]
pub(crate) struct Catalyst<'r, H> {
    anchored: Anchored<'r>,
    pairs: PairUpdater<'r, H>,
    previous: Vec<f64>,
    alpha: f64,
    updates_per_step: u64,
    pace: Pace,
    left_at: Option<f64>,
}

impl<'r, H: SeparableTerm> Catalyst<'r, H> {
    pub(crate) fn new<F: SmoothTerm>(
        problem: &'r Problem<F, H>,
        settings: &Settings,
        state: &State,
        updates_per_epoch: f64,
    ) -> Self {
        let f = problem.smooth();
        let plain = Metric::new(problem.view(), 1.0);
        let strength = (0..f.dimension()).map(|c| KAPPA * plain.diagonal(f, c)).collect();
        let anchored = Anchored { inner: f, anchor: state.x.clone(), strength };
        let metric = Metric::standing_in(problem.view(), &anchored, settings.step_size);
        let pairs = PairUpdater::standing_in(problem, &anchored, settings, metric);
        Self {
            anchored,
            pairs,
            previous: state.x.clone(),
            alpha: first_alpha(),
            updates_per_step: ((EPOCHS * updates_per_epoch).ceil() as u64).max(1),
            pace: Pace::new(),
            left_at: None,
        }
    }

    /// Makes a round of updates from `state`, whose product is exact before and after.
    pub(crate) fn round<F: SmoothTerm>(
        &mut self,
        problem: &Problem<F, H>,
        edges: &mut SampledEdges,
        state: &mut State,
        task: &mut Task<'_>,
    ) -> Result<Round> {
        let f = problem.smooth();
        if self.left_at != Some(task.objective) {
            self.come_to_rest(&state.x);
        }
        let (mut made, mut status, mut objective) = (0, None, task.objective);
        while made < task.updates && status.is_none() {
            let count = self.updates_per_step.min(task.updates - made);
            let (anchored, pairs) = (&self.anchored, &mut self.pairs);
            let update = || {
                let (i, j) = edges.draw();
                pairs.update(anchored, state, i, j)
            };
            let heartbeat = |new| (task.heartbeat)(made + new);
            let (new, ended) = self.pace.run(count, task.budget, update, heartbeat)?;
            made += new;
            status = ended;
            let found = f.value(&state.x, &state.product) + separable_value(problem, &state.x);
            if found > objective + ROUNDING * objective.abs() || found.is_nan() {
                state.x.copy_from_slice(&self.previous);
                state.refresh(f, &Control::unlimited()).map_err(|halt| lost(halt, &state.x, made))?;
                self.come_to_rest(&state.x);
                continue;
            }
            objective = found;
            self.extrapolate(&state.x);
            if task.target.is_some_and(|target| objective <= target) {
                break;
            }
        }
        state.refresh(f, &Control::unlimited()).map_err(|halt| lost(halt, &state.x, made))?;
        objective = f.value(&state.x, &state.product) + separable_value(problem, &state.x);
        self.left_at = Some(objective);
        Ok(Round { updates: made, objective, undone: false, status })
    }

    fn extrapolate(&mut self, x: &[f64]) {
        let before = self.alpha;
        let square = before * before;
        self.alpha = 0.5 * ((square * square + 4.0 * square).sqrt() - square);
        let beta = before * (1.0 - before) / (square + self.alpha);
        for ((anchor, previous), x) in self.anchored.anchor.iter_mut().zip(&mut self.previous).zip(x) {
            *anchor = x + beta * (x - *previous);
            *previous = *x;
        }
    }

    fn come_to_rest(&mut self, x: &[f64]) {
        self.anchored.anchor.copy_from_slice(x);
        self.previous.copy_from_slice(x);
        self.alpha = first_alpha();
    }
}

/// The root of `alpha^2 = 1 - alpha`.
fn first_alpha() -> f64 {
    0.5 * (5f64.sqrt() - 1.0)
}
