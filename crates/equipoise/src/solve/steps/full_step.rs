//! A proximal step over all blocks at once: what takes over when pairs stall.
//!
//! ```text
//! minimise over z   grad f(x)'(z - x) + sigma/2 sum_c D_c (z_c - x_c)^2 + h(z)   subject to   A z = b
//! ```
//!
//! With two or more rows and nonsmooth h a point may be optimal for every pair and yet not optimal (the elementary
//! vectors of ker A need not fit into pairs); this step moves unless x is optimal. sigma is adapted so that the
//! model stays above f along the step, hence the objective never rises.

use crate::archive::Archive;
use crate::control::{Control, Pass};
use crate::coupling::{ALLOWED_SHARE, CouplingColumns};
use crate::error::Result;
use crate::pair_step::Model;
use crate::pair_step::group::Group;
use crate::problem::View;
use crate::separable::Nonsmooth;
use crate::solve::gain;
use crate::solve::pairs::metric::Metric;
use crate::solve::pairs::subproblem::Subproblem;
use crate::state::State;

const MOST_DOUBLINGS: usize = 60;
/// How much bolder the model becomes after a step that was accepted at once.
const BOLDER: f64 = 0.5;

/// Full proximal steps with an adapted model.
#[derive(Debug)]
pub(crate) struct FullStep {
    sigma: f64,
    /// Multipliers of the last step: the next one begins there.
    lambda: Vec<f64>,
}

impl FullStep {
    pub(crate) fn new() -> Self {
        Self { sigma: 1.0, lambda: Vec::new() }
    }

    /// Shows an archive where the next step begins.
    pub(crate) fn carry(&mut self, rows: usize, archive: &mut Archive<'_>) -> Result<()> {
        archive.number(&mut self.sigma)?;
        archive.list(&mut self.lambda, |length| length == 0 || length == rows)
    }

    /// Moves x unless it is optimal (to rounding); returns by how much the objective fell. Where it is ended early the
    /// state is as it was.
    pub(crate) fn take(
        &mut self,
        view: View<'_>,
        metric: &Metric,
        state: &mut State,
        control: &Control,
    ) -> Pass<f64> {
        let (f, blocks, coupling) = (view.smooth(), view.blocks(), view.independent_coupling());
        let order: Vec<usize> = (0..view.dimension()).map(|position| blocks.coordinate(position)).collect();
        let groups = groups_of(view);
        let stop = || control.halted().is_some();
        let gathered: Vec<f64> =
            if blocks.in_order() { Vec::new() } else { order.iter().map(|&c| state.x[c]).collect() };
        let x = if blocks.in_order() { &state.x } else { &gathered };
        let mut gradient = vec![0.0; x.len()];
        if blocks.in_order() {
            f.gradient(&state.x, &state.product, &mut gradient, control)?;
        } else {
            let mut natural = vec![0.0; x.len()];
            f.gradient(&state.x, &state.product, &mut natural, control)?;
            gradient.iter_mut().zip(&order).for_each(|(gradient, &c)| *gradient = natural[c]);
        }
        let before_smooth = f.value(&state.x, &state.product);
        let before = before_smooth + view.separable_value(&state.x);
        // No step takes x further off its rows than rounding: what was tolerated once would be tolerated again.
        let off = coupling.miss_within(&state.x, control)?.relative;
        let tolerated = off.max(1e-2 * ALLOWED_SHARE);
        let columns = CouplingColumns::new(coupling, &order);
        // Large buffers live for one step only: between steps the memory is the certificate's.
        let mut subproblem = Subproblem::beginning_at(std::mem::take(&mut self.lambda));
        let mut z = vec![0.0; x.len()];
        let mut metric_now = vec![0.0; x.len()];
        for attempt in 0..MOST_DOUBLINGS {
            control.check()?;
            for i in 0..blocks.len() {
                blocks.span(i).for_each(|k| metric_now[k] = self.sigma * metric.at(f, order[k], i));
            }
            let model = Model { coordinates: &order, x, gradient: &gradient, metric: &metric_now };
            if !subproblem.solve(&model, &columns, view.separable(), &groups, &mut z, &stop) {
                self.sigma *= 4.0;
                continue;
            }
            let (mut linear, mut bend) = (0.0, 0.0);
            for k in 0..x.len() {
                let step = z[k] - x[k];
                linear += gradient[k] * step;
                bend += 0.5 * metric_now[k] * step * step;
            }
            let trial = State::new(f, in_natural_order(&order, &z, blocks.in_order()), control)?;
            let smooth = f.value(&trial.x, &trial.product);
            let after = smooth + view.separable_value(&trial.x);
            let rounding = gain::rounding_of_model(before, before_smooth);
            let feasible = coupling.miss_within(&trial.x, control)?.relative <= tolerated;
            if feasible && smooth <= before_smooth + linear + bend + rounding && after <= before {
                if attempt == 0 {
                    self.sigma = (self.sigma * BOLDER).max(1e-12);
                }
                *state = trial;
                self.lambda = subproblem.lambda;
                return Ok(before - after);
            }
            self.sigma *= 2.0;
            if bend <= 1e-3 * rounding {
                return Ok(0.0);
            }
        }
        self.sigma = 1.0;
        Ok(0.0)
    }
}

/// Where every block lies in the order of the blocks; nothing unless h is a group norm.
fn groups_of(view: View<'_>) -> Vec<Group> {
    let blocks = view.blocks();
    match view.separable() {
        Nonsmooth::Coordinates(_) => Vec::new(),
        Nonsmooth::Groups(_) => {
            (0..blocks.len()).map(|block| Group { block, range: blocks.span(block) }).collect()
        }
    }
}

fn in_natural_order(order: &[usize], z: &[f64], natural: bool) -> Vec<f64> {
    let mut x = z.to_vec();
    if !natural {
        order.iter().zip(z).for_each(|(&c, &z)| x[c] = z);
    }
    x
}
