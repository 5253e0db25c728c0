//! The root of an interior point method for the hinge, whose rows stay where they are:
//!
//! ```text
//! minimise  1/2 x'Qx + C sum_k z_k - mu sum_k (ln s_k + ln z_k),   s_k - z_k = y_k a_k.x - 1,   mu -> 0
//!
//! (Q + A'DA) p = A'(y alpha) - Q x - A'(y D m) + mu v + (what products leave out)
//! ```
//!
//! Three waves a step: `A'DA` and vectors up; the direction for mu = 0 down, and how far it goes up; the direction that is
//! taken down, and how far that goes up. Some twenty steps, whatever the graph and however many rows: `d (d + 1) / 2` numbers an edge
//! and step. The multipliers of the rows are a dual point, so every step has a bound.
//!
//! Given: a start. Returns: points for the `Keeper`. Must not know: rows (`barrier.rs`), who carries messages.

use equipoise::{Pass, Status};

use super::Run;
use crate::factor::{Cholesky, Symmetric};
use crate::fit::Keeper;
use crate::problem::Problem;
use crate::protocol::Order;

/// The part of the way to the nearest bound that a step goes.
const SHORT_OF_BOUND: f64 = 0.995;
/// Steps without a smaller gap before the run is called stalled.
const PATIENCE: usize = 15;
/// Where mu begins, relative to C: for a start at 0, for one that may be good.
const COLD: f64 = 1.0;
const WARM: f64 = 1e-3;

/// What the nodes have said of a point.
struct Sensed {
    curvature: Symmetric,
    /// `Q x - A'(y alpha)`.
    left: Vec<f64>,
    bent: Vec<f64>,
    products: f64,
    rows: f64,
    objective: f64,
    /// objective - bound, with what is left of a column that nothing penalises.
    gap: f64,
}

impl Sensed {
    fn new(problem: &Problem, x: &[f64], mut numbers: Vec<f64>) -> Option<Self> {
        let d = x.len();
        if numbers.len() != d * (d + 1) / 2 + 2 * d + 4 {
            return None;
        }
        let rest = numbers.split_off(d * (d + 1) / 2);
        let (pulls, bent, tail) = (&rest[..d], &rest[d..2 * d], &rest[2 * d..]);
        let weight = |j: usize| problem.square_weight(j);
        let left: Vec<f64> = (0..d).map(|j| weight(j) * x[j] - pulls[j]).collect();
        let squares = |of: &[f64]| (0..d).map(|j| 0.5 * weight(j) * of[j] * of[j]).sum::<f64>();
        let objective = squares(x) + tail[1];
        let free = (0..d).filter(|&j| weight(j) == 0.0).map(|j| left[j].abs()).sum::<f64>();
        let gap = objective - tail[2] + squares(pulls) + 2.0 * free;
        let curvature = Symmetric::from_lower(d, numbers);
        Some(Self { curvature, left, bent: bent.to_vec(), products: tail[0], rows: tail[3], objective, gap })
    }
}

impl Run<'_> {
    pub(super) fn approach(
        &mut self,
        problem: &Problem,
        start: Option<&[f64]>,
        keeper: &mut Keeper<'_, '_>,
    ) -> Pass<Status> {
        let d = problem.columns();
        let mut x = start.map_or_else(|| vec![0.0; d], <[f64]>::to_vec);
        let mu = problem.model.cost * if start.is_some() { WARM } else { COLD };
        let mut begin = x.clone();
        begin.push(mu);
        let mut answer = self.wave(Order::Centre, begin, keeper)?;
        let (mut smallest, mut without_gain) = (f64::INFINITY, 0);
        loop {
            self.rounds += 1;
            self.last.clone_from(&x);
            let Some(sensed) = Sensed::new(problem, &x, answer) else { return Ok(Status::Stalled) };
            self.remember(sensed.objective, &x);
            let is_close = sensed.gap <= 0.5 * keeper.settings.gap * sensed.objective;
            let is_last = without_gain >= PATIENCE || !sensed.gap.is_finite();
            let is_over =
                keeper.settings.max_messages.is_some_and(|most| self.traffic().total().messages >= most);
            if is_close || is_last || is_over || keeper.is_watched() || self.rounds == 1 {
                let is_sent = is_close || is_last || is_over;
                if self.settle(&x, &sensed.left, 0.0, is_sent, keeper)? {
                    return Ok(Status::Converged);
                }
            }
            if is_over || is_last {
                return Ok(if is_over { Status::IterationLimit } else { Status::Stalled });
            }
            without_gain = if sensed.gap < 0.9 * smallest { 0 } else { without_gain + 1 };
            smallest = smallest.min(sensed.gap);
            let Some(step) = self.step(problem, &sensed, keeper)? else {
                self.settle(&x, &sensed.left, 0.0, true, keeper)?;
                return Ok(Status::Stalled);
            };
            answer = self.wave(Order::Advance, vec![step.length], keeper)?;
            x.iter_mut().zip(&step.direction).for_each(|(x, p)| *x += step.length * p);
        }
    }

    /// The next step; none where it cannot be computed in double precision.
    fn step(&mut self, problem: &Problem, at: &Sensed, keeper: &Keeper<'_, '_>) -> Pass<Option<Step>> {
        let d = at.left.len();
        let Some(factor) = factor(problem, &at.curvature) else { return Ok(None) };
        let plain: Vec<f64> = at.left.iter().zip(&at.bent).map(|(left, bent)| -left - bent).collect();
        let numbers = self.wave(Order::Predict, factor.solve(&plain), keeper)?;
        if numbers.len() != 2 * d + 2 {
            return Ok(None);
        }
        let (beyond, most) = (numbers[2 * d], numbers[2 * d + 1].min(1.0));
        let mu = 0.5 * at.products / at.rows;
        let reached = 0.5 * ((1.0 - most) * at.products + most * most * beyond) / at.rows;
        let aim = mu * (reached / mu).clamp(0.0, 1.0).powi(3);
        let sum = |j: usize| plain[j] + aim * numbers[j] + numbers[d + j];
        let direction = factor.solve(&(0..d).map(sum).collect::<Vec<f64>>());
        let mut order = direction.clone();
        order.push(aim);
        let answer = self.wave(Order::Aim, order, keeper)?;
        let length = answer.first().map_or(0.0, |most| (SHORT_OF_BOUND * most).min(1.0));
        let is_one = length > 0.0 && direction.iter().all(|p| p.is_finite());
        Ok(is_one.then_some(Step { direction, length }))
    }
}

struct Step {
    direction: Vec<f64>,
    length: f64,
}

/// `Q + A'DA = L L'`; a column without penalty that no row bends any more bends a little all the same.
fn factor(problem: &Problem, curvature: &Symmetric) -> Option<Cholesky> {
    let mut matrix = curvature.clone();
    let weights: Vec<f64> = (0..problem.columns()).map(|j| problem.square_weight(j)).collect();
    matrix.add_diagonal(&weights);
    let mut size = 1e-14;
    while size < 1e-3 {
        if let Some(factor) = matrix.factored() {
            return Some(factor);
        }
        let extra: Vec<f64> = matrix.diagonal().iter().map(|v| size * v.max(f64::MIN_POSITIVE)).collect();
        matrix.add_diagonal(&extra);
        size *= 10.0;
    }
    None
}
