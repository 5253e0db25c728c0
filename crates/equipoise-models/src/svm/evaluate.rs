//! Primal and dual of a fit at any multipliers, from raw data: the judge of every kind.
//!
//! The primal is taken at `w = X'beta` and at the bias that is best for this w:
//!
//! ```text
//! svc, hinge   b = the quantile of t_i = y_i - w.x_i at which the weights C_i below reach those of the positive class
//! svc, squared b = the root of sum_i C_i y_i (y_i (t_i - b))_+
//! svr          b = the quantile of t_i - epsilon and t_i + epsilon at which the weights reach half
//! one-class    rho = the quantile of w.x_i at nu N
//! nu-svc       rho - b = the quantile of w.x_i over the positive class at nu N / 2, rho + b likewise over the other
//! ```
//!
//! Weak duality makes `primal - dual` a bound on the error of either, whoever found beta. No solver is imported.

use std::sync::{Mutex, PoisonError};

use super::dual::Task;
use super::quantile::weighted_quantile;
use super::{Kind, Loss};
use equipoise::matrix::dot;
use equipoise::{Control, Judge, Verdict};

/// Share of what is added up in a component of w below which it is taken for 0.
const CANCELLED: f64 = 1e-9;

/// What can be said of multipliers.
#[derive(Debug, Clone)]
pub(super) struct Evaluation {
    pub(super) w: Vec<f64>,
    pub(super) bias: f64,
    /// The margin of the nu kinds; 1 for the others.
    pub(super) rho: f64,
    pub(super) primal: f64,
    pub(super) dual: f64,
    pub(super) infeasibility: f64,
}

impl Evaluation {
    /// rho where a model can be divided by it.
    pub(super) fn margin(&self) -> f64 {
        if self.rho > 0.0 { self.rho } else { 1.0 }
    }

    /// Whether there is no margin to divide by.
    pub(super) fn is_zero(&self) -> bool {
        self.w.iter().all(|w| *w == 0.0)
    }

    /// `primal - dual`, at least 0; infinite where they are no numbers.
    fn gap(&self) -> f64 {
        let gap = self.primal - self.dual;
        if gap.is_nan() { f64::INFINITY } else { gap.max(0.0) }
    }

    pub(super) fn relative_gap(&self) -> f64 {
        self.gap() / self.dual.abs().max(1e-12)
    }
}

impl Task<'_> {
    /// Primal and dual at these multipliers.
    pub(super) fn evaluate(&self, beta: &[f64]) -> Evaluation {
        // w, and behind it the linear part of the dual and the sums of multipliers.
        let columns = self.rows.columns();
        let mut w = vec![0.0; columns + 3];
        self.team.add(beta.len(), &mut w, |rows, totals| {
            let (w, sums) = totals.split_at_mut(columns);
            for i in rows.filter(|&i| beta[i] != 0.0) {
                self.rows.add(i, beta[i], w);
                sums[0] += self.dual_gain(i, beta[i]);
                sums[1 + usize::from(self.kind == Kind::NuSvc && self.targets[i] < 0.0)] += beta[i];
            }
        });
        let (linear, sums) = (w[columns], [w[columns + 1], w[columns + 2]]);
        w.truncate(columns);
        // The nu kinds may have the optimum w = 0, to which no gap is small: there it is taken exactly.
        if matches!(self.kind, Kind::NuSvc | Kind::OneClass) && self.vanishes(beta, &w) {
            w.fill(0.0);
        }
        let half_square = 0.5 * dot(&w, &w);
        let mut scores = vec![0.0; beta.len()];
        self.team.fill(&mut scores, |first, scores| {
            scores.iter_mut().enumerate().for_each(|(k, score)| *score = self.rows.dot(first + k, &w));
        });
        let (loss, bias, rho) = self.best_loss(&scores);
        let share = || self.nu * self.total();
        let infeasibility = match self.kind {
            Kind::Svc | Kind::Svr => sums[0].abs(),
            Kind::OneClass => (sums[0] - share()).abs(),
            Kind::NuSvc => (sums[0] - 0.5 * share()).abs().max((sums[1] + 0.5 * share()).abs()),
        };
        let dual = linear - half_square;
        let mut primal = half_square + loss;
        if primal - dual <= self.rounding(&scores, bias, rho) {
            primal = dual;
        }
        Evaluation { w, bias, rho, primal, dual, infeasibility }
    }

    /// The sum of a number of every row.
    fn sum(&self, of_row: impl Fn(usize) -> f64 + Sync) -> f64 {
        self.team.sum(self.rows.len(), |rows| rows.map(&of_row).sum())
    }

    /// The weighted quantile of points of every row.
    fn quantile<P: IntoIterator<Item = (f64, f64)>>(
        &self,
        points_of_row: impl Fn(usize) -> P + Sync,
        wanted: f64,
    ) -> f64 {
        weighted_quantile(&self.team, self.rows.len(), points_of_row, wanted)
    }

    /// What rounding may leave of a primal that equals its dual.
    fn rounding(&self, scores: &[f64], bias: f64, rho: f64) -> f64 {
        let size = |i: usize| self.targets[i].abs() + scores[i].abs() + bias.abs() + rho.abs();
        let sizes = self.sum(|i| self.caps.at(i) * size(i));
        4.0 * f64::EPSILON * sizes
    }

    /// Whether `w = X'beta` is nothing but what cancellation left of it, in every column.
    fn vanishes(&self, beta: &[f64], w: &[f64]) -> bool {
        let mut sizes = vec![0.0; w.len()];
        self.team.add(beta.len(), &mut sizes, |rows, sizes| {
            for i in rows.filter(|&i| beta[i] != 0.0) {
                let (columns, values) = self.rows.row(i);
                for (k, &c) in columns.iter().enumerate() {
                    sizes[c as usize] += (beta[i] * values.map_or(1.0, |values| values[k])).abs();
                }
            }
        });
        w.iter().zip(&sizes).all(|(w, size)| w.abs() <= CANCELLED * size)
    }

    /// What multiplier t of row i adds to the dual.
    fn dual_gain(&self, i: usize, t: f64) -> f64 {
        match (self.kind, self.loss) {
            (Kind::Svc, Loss::Hinge) => self.targets[i] * t,
            (Kind::Svc, Loss::SquaredHinge) => t * (self.targets[i] - 0.25 * t / self.caps.at(i)),
            (Kind::Svr, _) => self.targets[i] * t - self.epsilon * t.abs(),
            (Kind::NuSvc | Kind::OneClass, _) => 0.0,
        }
    }

    /// The part of the primal that depends on bias and margin, at its best, with both.
    fn best_loss(&self, scores: &[f64]) -> (f64, f64, f64) {
        let residual = |i: usize| self.targets[i] - scores[i];
        match (self.kind, self.loss) {
            (Kind::Svc, Loss::Hinge) => {
                let points = |i: usize| [(residual(i), self.caps.at(i))];
                let bias = self.quantile(points, self.total_of(1.0));
                let margin = |i: usize| (self.targets[i] * (residual(i) - bias)).max(0.0);
                (self.sum(|i| self.caps.at(i) * margin(i)), bias, 1.0)
            }
            (Kind::Svc, Loss::SquaredHinge) => {
                let bias = self.squared_hinge_bias(scores);
                let margin = |i: usize| (self.targets[i] * (residual(i) - bias)).max(0.0);
                (self.sum(|i| self.caps.at(i) * margin(i) * margin(i)), bias, 1.0)
            }
            (Kind::Svr, _) => {
                let ends = |i: usize| [residual(i) - self.epsilon, residual(i) + self.epsilon];
                let points = |i: usize| ends(i).map(|end| (end, self.caps.at(i)));
                let bias = self.quantile(points, self.total());
                let miss = |i: usize| ((residual(i) - bias).abs() - self.epsilon).max(0.0);
                (self.sum(|i| self.caps.at(i) * miss(i)), bias, 1.0)
            }
            (Kind::OneClass, _) => {
                let share = self.nu * self.total();
                let rho = self.quantile(|i| [(scores[i], self.caps.at(i))], share);
                let miss = self.sum(|i| self.caps.at(i) * (rho - scores[i]).max(0.0));
                (miss - share * rho, -rho, rho)
            }
            (Kind::NuSvc, _) => {
                let half = 0.5 * self.nu * self.total();
                let mut loss = 0.0;
                let mut side = |sign: f64| {
                    let is_in = |i: usize| self.targets[i] == sign;
                    let point = |i: usize| is_in(i).then(|| (sign * scores[i], self.caps.at(i)));
                    let edge = self.quantile(point, half);
                    let miss = |i: usize| self.caps.at(i) * (edge - sign * scores[i]).max(0.0);
                    loss += self.sum(|i| if is_in(i) { miss(i) } else { 0.0 }) - half * edge;
                    edge
                };
                let (positive, negative) = (side(1.0), side(-1.0));
                (loss, 0.5 * (negative - positive), 0.5 * (positive + negative))
            }
        }
    }

    /// The root in b of `sum_i C_i y_i (y_i (t_i - b))_+`, which falls in b: bisection with secant steps.
    fn squared_hinge_bias(&self, scores: &[f64]) -> f64 {
        let pull = |b: f64| {
            let one = |i: usize| {
                let y = self.targets[i];
                self.caps.at(i) * y * (y * (y - scores[i] - b)).max(0.0)
            };
            self.sum(one)
        };
        let extremes = self.team.map(self.team.parts(scores.len()), |rows| {
            let residuals = rows.map(|i| self.targets[i] - scores[i]);
            residuals.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), t| (low.min(t), high.max(t)))
        });
        let (mut low, mut high) = extremes
            .into_iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |all, one| (all.0.min(one.0), all.1.max(one.1)));
        let (mut at_low, mut at_high) = (pull(low), pull(high));
        for step in 0..200 {
            if at_low <= 0.0 || at_high >= 0.0 || high - low <= f64::EPSILON * (low.abs() + high.abs()) {
                break;
            }
            let secant = low + (high - low) * at_low / (at_low - at_high);
            let b = if step % 3 == 2 { 0.5 * (low + high) } else { secant.clamp(low, high) };
            let at_b = pull(b);
            if at_b >= 0.0 {
                (low, at_low) = (b, at_b);
            }
            if at_b <= 0.0 {
                (high, at_high) = (b, at_b);
            }
        }
        if at_low.abs() <= at_high.abs() { low } else { high }
    }
}

/// Certifies multipliers by primal and dual, to a relative gap.
#[derive(Debug)]
pub(super) struct GapJudge<'t> {
    pub(super) task: &'t Task<'t>,
    pub(super) gap: f64,
    /// The point certified last and what was found there.
    pub(super) last: Mutex<Option<(Vec<f64>, Evaluation)>>,
}

impl GapJudge<'_> {
    /// The evaluation at x; the last one where x is what it was of.
    pub(super) fn into_evaluation(self, x: &[f64]) -> Evaluation {
        match self.last.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some((of, found)) if of == x => found,
            _ => self.task.evaluate(x),
        }
    }

    fn evaluate(&self, x: &[f64]) -> Evaluation {
        let found = self.task.evaluate(x);
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let (of, kept) = last.get_or_insert_with(|| (Vec::new(), found.clone()));
        of.resize(x.len(), 0.0);
        self.task.team.fill(of, |first, of| of.copy_from_slice(&x[first..first + of.len()]));
        kept.clone_from(&found);
        found
    }
}

impl Judge for GapJudge<'_> {
    fn judge(&self, x: &[f64], _control: &Control) -> equipoise::Result<Verdict> {
        let found = self.evaluate(x);
        let multipliers = match self.task.kind {
            Kind::NuSvc => vec![found.bias - found.rho, found.bias + found.rho],
            _ => vec![found.bias],
        };
        // A sum of so many terms is known to rounding only.
        let allowed = 1e-9 * (1.0 + self.task.largest_sum()) + 1e-13 * self.task.total();
        let accepted = found.infeasibility <= allowed && found.gap() <= self.wanted_gap(-found.dual);
        Ok(Verdict::new(-found.dual, found.relative_gap(), accepted)
            .with_gap(found.gap())
            .with_infeasibility(found.infeasibility)
            .with_multipliers(multipliers))
    }

    fn wanted_gap(&self, objective: f64) -> f64 {
        self.gap * objective.abs().max(1e-12)
    }
}
