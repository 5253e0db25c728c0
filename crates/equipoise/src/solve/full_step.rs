//! A proximal step over all blocks at once: what takes over when pairs stall.
//!
//! ```text
//! minimise over z   grad f(x)'(z - x) + sigma/2 sum_c D_c (z_c - x_c)^2 + h(z)   subject to   A z = b
//! ```
//!
//! With two or more rows and nonsmooth h a point may be optimal for every pair and yet not optimal (the elementary
//! vectors of ker A need not fit into pairs); this step moves unless x is optimal. sigma is adapted so that the
//! model stays above f along the step, hence the objective never rises.

use super::metric::Metric;
use super::subproblem::Subproblem;
use crate::matrix::dot;
use crate::coupling::CouplingColumns;
use crate::pair_step::Model;
use crate::problem::Problem;
use crate::separable::SeparableTerm;
use crate::smooth::SmoothTerm;
use crate::state::State;

const MOST_DOUBLINGS: usize = 60;
/// How much bolder the model becomes after a step that was accepted at once.
const BOLDER: f64 = 0.5;

/// Full proximal steps with an adapted model.
#[derive(Debug)]
pub(crate) struct FullStep {
    sigma: f64,
    subproblem: Subproblem,
}

impl FullStep {
    pub(crate) fn new() -> Self {
        Self { sigma: 1.0, subproblem: Subproblem::default() }
    }

    /// Moves x unless it is optimal (to rounding); returns by how much the objective fell.
    pub(crate) fn take<F: SmoothTerm, H: SeparableTerm>(
        &mut self,
        problem: &Problem<F, H>,
        metric: &Metric,
        state: &mut State,
    ) -> f64 {
        let (f, blocks) = (problem.smooth(), problem.blocks());
        let mut groups = Vec::new();
        let mut coordinates: Vec<usize> = Vec::with_capacity(problem.dimension());
        let mut base: Vec<f64> = Vec::with_capacity(problem.dimension());
        for i in 0..blocks.len() {
            let from = coordinates.len();
            coordinates.extend(blocks.coordinates(i));
            base.extend(blocks.coordinates(i).map(|c| metric.at(f, c, i)));
            if matches!(problem.separable(), crate::separable::Nonsmooth::Groups(_)) {
                groups.push(crate::pair_step::group::Group { block: i, range: from..coordinates.len() });
            }
        }
        let x: Vec<f64> = coordinates.iter().map(|&c| state.x[c]).collect();
        let mut gradient = vec![0.0; x.len()];
        f.partials(&coordinates, &state.x, &state.product, &mut gradient);
        let before_smooth = f.value(&state.x, &state.product);
        let before = before_smooth + crate::certificate::separable_value(problem, &state.x);
        let columns = CouplingColumns::new(problem.independent_coupling(), &coordinates);
        let coupling = problem.independent_coupling();
        let tolerated = coupling.infeasibility(&state.x).max(1e-3 * coupling.allowed_infeasibility());
        let mut z = vec![0.0; x.len()];
        let mut trial = State { x: state.x.clone(), product: vec![0.0; state.product.len()] };
        let mut scaled = base.clone();
        for attempt in 0..MOST_DOUBLINGS {
            scaled.iter_mut().zip(&base).for_each(|(scaled, base)| *scaled = self.sigma * base);
            let model = Model { coordinates: &coordinates, x: &x, gradient: &gradient, metric: &scaled };
            if !self.subproblem.solve(&model, &columns, problem.separable(), &groups, &mut z) {
                self.sigma *= 4.0;
                continue;
            }
            coordinates.iter().zip(&z).for_each(|(&c, &z)| trial.x[c] = z);
            trial.refresh(f);
            let step: Vec<f64> = z.iter().zip(&x).map(|(z, x)| z - x).collect();
            let bend: f64 = step.iter().zip(&scaled).map(|(step, d)| 0.5 * d * step * step).sum();
            let smooth = f.value(&trial.x, &trial.product);
            let model_value = before_smooth + dot(&gradient, &step) + bend;
            let after = smooth + crate::certificate::separable_value(problem, &trial.x);
            let rounding = 1e-14 * (1.0 + before.abs() + before_smooth.abs());
            let feasible = coupling.infeasibility(&trial.x) <= tolerated;
            if feasible && smooth <= model_value + rounding && after <= before {
                if attempt == 0 {
                    self.sigma = (self.sigma * BOLDER).max(1e-12);
                }
                *state = trial;
                return before - after;
            }
            self.sigma *= 2.0;
            if bend <= 1e-3 * rounding {
                return 0.0;
            }
        }
        self.sigma = 1.0;
        0.0
    }
}
