//! Primal and dual of a fit at any multipliers, from raw data, in plain arithmetic: what a run looks at on its way.
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
//! A model without a bias has b = 0. A quantile that is an interval is taken in its middle (the margin of nu-svc at its smallest). Weak duality makes `primal - dual` a bound on the error of
//! either, whoever found beta, up to rounding; `proof` takes rounding into account. No solver is imported.

use super::dual::Task;
use super::quantile::{Wanted, middle_by_rank, weighted_quantile};
use super::{Kind, Loss};
use equipoise::enclosure::{Enclosure, Sum};
use equipoise::matrix::{axpy, dot};
use equipoise::separable::Values;
use equipoise::{Control, Pass};

/// Share of what is added up in a component of w below which it may be 0.
const CANCELLED: f64 = 1e-9;
/// Share of a sum of weights that counts as nothing: sums are known to twice the precision, ...
const SLACK: f64 = 1e-25;
/// ... but nu N is meant as it is typed, and 0.1 is no f64.
const SLACK_OF_NU: f64 = 1e-14;

/// What can be said of multipliers, without a proof.
#[derive(Debug, Clone)]
pub(super) struct Evaluation {
    pub(super) w: Vec<f64>,
    pub(super) bias: f64,
    /// The margin of the nu kinds; 1 for the others.
    pub(super) rho: f64,
    pub(super) primal: f64,
    pub(super) dual: f64,
    /// What the misses of all rows cost.
    pub(super) loss: f64,
    pub(super) infeasibility: f64,
    /// What rounding may have done to the primal.
    pub(super) rounding: f64,
    /// Whether w = 0 is a model that may be taken in place of a worse one.
    pub(super) may_vanish: bool,
    /// Whether w = 0 is as near to the optimum as anybody wants: `X'beta` is nothing but what cancellation left of 0, or is
    /// small enough.
    pub(super) vanishes: bool,
    /// Whether w is `X'beta`, up to rounding.
    pub(super) is_product: bool,
    /// Multipliers of the sums.
    pub(super) multipliers: Vec<f64>,
}

impl Evaluation {
    /// rho where a model can be divided by it.
    pub(super) fn margin(&self) -> f64 {
        if self.rho > 0.0 { self.rho } else { 1.0 }
    }

    /// `primal - dual`, at least 0; infinite where they are no numbers.
    pub(super) fn gap(&self) -> f64 {
        let gap = self.primal - self.dual;
        if gap.is_nan() { f64::INFINITY } else { gap.max(0.0) }
    }

    /// Takes w = 0, whose primal is 0, as the model.
    pub(super) fn vanish(&mut self) {
        self.w.fill(0.0);
        (self.primal, self.bias, self.rho) = (0.0, 0.0, 0.0);
        (self.may_vanish, self.vanishes) = (true, true);
    }

    /// The numbers of the model, as a file has them: finite ones, zeros if need be.
    pub(super) fn written(&self, kind: Kind) -> (Vec<f64>, f64) {
        let margins = if kind == Kind::NuSvc { [self.margin(), 1.0] } else { [1.0; 2] };
        let divided = margins.map(|by| (self.w.iter().map(|w| w / by).collect::<Vec<f64>>(), self.bias / by));
        let is_finite = |(w, bias): &(Vec<f64>, f64)| w.iter().chain([bias]).all(|number| number.is_finite());
        divided.into_iter().find(is_finite).unwrap_or_else(|| (vec![0.0; self.w.len()], 0.0))
    }
}

impl Task<'_> {
    /// Primal and dual at these multipliers.
    pub(super) fn evaluate(&self, beta: &[f64], control: &Control) -> Pass<Evaluation> {
        // w, and behind it the linear part of the dual and the sums of multipliers.
        let columns = self.rows.columns();
        let add = |i: usize, totals: &mut Vec<f64>| {
            if beta[i] != 0.0 {
                let (w, sums) = totals.split_at_mut(columns);
                self.rows.add(i, beta[i], w);
                sums[0] += self.dual_gain(i, beta[i]);
                sums[1 + usize::from(self.kind == Kind::NuSvc && self.targets[i] < 0.0)] += beta[i];
            }
        };
        let mut w = self.total_vector(columns + 3, control, add)?;
        let (linear, sums) = (w[columns], [w[columns + 1], w[columns + 2]]);
        w.truncate(columns);
        let half_square = 0.5 * dot(&w, &w);
        let dual = linear - half_square;
        let scores = self.of_rows(control, |i| self.rows.dot(i, &w))?;
        let (loss, mut bias, mut rho) = self.best_loss(&scores);
        // Where there are many rows it is worth asking once more.
        control.in_parts(scores.len(), self.numbers_a_row(), |_| ())?;
        let share = || self.nu * self.total();
        let infeasibility = match self.kind {
            Kind::Svc | Kind::Svr if !self.has_bias => 0.0,
            Kind::Svc | Kind::Svr => sums[0].abs(),
            Kind::OneClass => (sums[0] - share()).abs(),
            Kind::NuSvc => (sums[0] - 0.5 * share()).abs().max((sums[1] + 0.5 * share()).abs()),
        };
        let mut primal = half_square + loss;
        let rounding = self.rounding(&scores, bias, rho);
        let multipliers = self.prices(bias, rho);
        // The nu kinds may have the optimum w = 0, which multipliers only come near to; its primal is 0. To nu-svc it means
        // that there is no margin, which is not said lightly.
        let has_nu = matches!(self.kind, Kind::OneClass | Kind::NuSvc);
        let vanishes = has_nu
            && primal >= -rounding
            && self.may_be_cancelled(beta, &w)
            && self.vanishes(beta, &w, control)?;
        let may_vanish = vanishes || self.kind == Kind::OneClass;
        if may_vanish && primal >= 0.0 {
            w.fill(0.0);
            (primal, bias, rho) = (0.0, 0.0, 0.0);
        }
        Ok(Evaluation {
            w,
            bias,
            rho,
            primal,
            dual,
            loss,
            infeasibility,
            rounding,
            may_vanish,
            vanishes,
            is_product: true,
            multipliers,
        })
    }

    /// The same with other weights, where their primal is smaller. Where multipliers are large and `X'beta` is small, as with
    /// features that nobody scaled, rounding leaves little of `X'beta`, while the bound of its multipliers is as good as ever.
    pub(super) fn with_weights(&self, plain: Evaluation, w: Vec<f64>, control: &Control) -> Pass<Evaluation> {
        let scores = self.of_rows(control, |i| self.rows.dot(i, &w))?;
        let (loss, bias, rho) = self.best_loss(&scores);
        let primal = 0.5 * dot(&w, &w) + loss;
        if primal.is_nan() || primal >= plain.primal {
            return Ok(plain);
        }
        let rounding = self.rounding(&scores, bias, rho);
        let multipliers = self.prices(bias, rho);
        Ok(Evaluation { w, bias, rho, primal, loss, rounding, multipliers, is_product: false, ..plain })
    }

    /// Multipliers of the sums, by bias and margin.
    fn prices(&self, bias: f64, rho: f64) -> Vec<f64> {
        if self.kind == Kind::NuSvc { vec![bias - rho, bias + rho] } else { vec![bias] }
    }

    /// What the rows add to a vector.
    pub(super) fn total_vector(
        &self,
        length: usize,
        control: &Control,
        add: impl Fn(usize, &mut Vec<f64>) + Sync,
    ) -> Pass<Vec<f64>> {
        let mut parts = self.totals(self.numbers_a_row(), control, || vec![0.0; length], add)?.into_iter();
        let mut total = parts.next().unwrap_or_else(|| vec![0.0; length]);
        parts.for_each(|part| axpy(1.0, &part, &mut total));
        self.team.total(&mut total);
        Ok(total)
    }

    /// The sum of a number of every row.
    fn sum(&self, of_row: impl Fn(usize) -> f64 + Sync) -> f64 {
        self.team.sum(self.rows.len(), |rows| rows.map(&of_row).sum())
    }

    /// The middle of the weighted quantile of points of every row.
    fn middle<P: IntoIterator<Item = (f64, f64)>>(
        &self,
        points_of_row: impl Fn(usize) -> P + Sync,
        wanted: Enclosure,
    ) -> f64 {
        let (low, high) = self.quantile(points_of_row, wanted);
        // Numbers that overflow are no ends of anything, and no reason to panic.
        if low == high { low } else { (0.5 * low + 0.5 * high).max(low).min(high) }
    }

    /// The ends of the weighted quantile of points of every row.
    fn quantile<P: IntoIterator<Item = (f64, f64)>>(
        &self,
        points_of_row: impl Fn(usize) -> P + Sync,
        wanted: Enclosure,
    ) -> (f64, f64) {
        let share = if matches!(self.kind, Kind::Svc | Kind::Svr) { SLACK } else { SLACK_OF_NU };
        let wanted = Wanted { sum: wanted, slack: share * wanted.centre().abs() };
        weighted_quantile(&self.team, self.rows.len(), points_of_row, wanted)
    }

    /// The caps of the rows that count, added up in twice the precision.
    fn precise_total(&self, counts: impl Fn(usize) -> bool + Sync) -> Enclosure {
        let of_part = |rows: std::ops::Range<usize>| {
            let mut sum = Sum::default();
            rows.filter(|&i| counts(i)).for_each(|i| sum.add(self.caps.at(i)));
            sum
        };
        let mut total = Sum::default();
        let parts = self.team.map(self.team.parts(self.rows.len()), of_part);
        parts.iter().for_each(|part| total.merge(part));
        self.across_ranks(std::slice::from_mut(&mut total));
        total.value()
    }

    /// Whether one thread has all rows and they weigh the same, so that the best bias is found by rank.
    fn is_by_rank(&self) -> bool {
        matches!(self.caps, Values::Uniform(_)) && self.team.threads() == 1 && !self.team.is_spread()
    }

    /// What rounding may leave of a primal that equals its dual.
    fn rounding(&self, scores: &[f64], bias: f64, rho: f64) -> f64 {
        let size = |i: usize| self.targets[i].abs() + scores[i].abs() + bias.abs() + rho.abs();
        let sizes = self.sum(|i| self.caps.at(i) * size(i));
        4.0 * f64::EPSILON * sizes
    }

    /// Whether w is that small that looking at what was added up in every column is worth a pass.
    fn may_be_cancelled(&self, beta: &[f64], w: &[f64]) -> bool {
        let sizes = || self.sum(|i| beta[i].abs()) * self.largest_norm;
        self.kind == Kind::OneClass || dot(w, w).sqrt() <= CANCELLED * sizes()
    }

    /// Whether `w = X'beta` is nothing but what cancellation left of it, in every column.
    fn vanishes(&self, beta: &[f64], w: &[f64], control: &Control) -> Pass<bool> {
        let add = |i: usize, sizes: &mut Vec<f64>| {
            if beta[i] != 0.0 {
                self.rows.for_each(i, |c, value| sizes[c] += (beta[i] * value).abs());
            }
        };
        let sizes = self.total_vector(w.len(), control, add)?;
        Ok(w.iter().zip(&sizes).all(|(w, size)| w.abs() <= CANCELLED * size))
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
                let best = || {
                    if !self.is_by_rank() {
                        return self.middle(points, self.precise_total(|i| self.targets[i] == 1.0));
                    }
                    let positive = self.targets.iter().filter(|y| **y == 1.0).count();
                    middle_by_rank((0..scores.len()).map(residual).collect(), positive)
                };
                let bias = if self.has_bias { best() } else { 0.0 };
                let margin = |i: usize| (self.targets[i] * (residual(i) - bias)).max(0.0);
                (self.sum(|i| self.caps.at(i) * margin(i)), bias, 1.0)
            }
            (Kind::Svc, Loss::SquaredHinge) => {
                let bias = if self.has_bias { self.squared_hinge_bias(scores) } else { 0.0 };
                let margin = |i: usize| (self.targets[i] * (residual(i) - bias)).max(0.0);
                (self.sum(|i| self.caps.at(i) * margin(i) * margin(i)), bias, 1.0)
            }
            (Kind::Svr, _) => {
                let ends = |i: usize| [residual(i) - self.epsilon, residual(i) + self.epsilon];
                let points = |i: usize| ends(i).map(|end| (end, self.caps.at(i)));
                let best = || {
                    if !self.is_by_rank() {
                        return self.middle(points, self.precise_total(|_| true));
                    }
                    middle_by_rank((0..scores.len()).flat_map(ends).collect(), scores.len())
                };
                let bias = if self.has_bias { best() } else { 0.0 };
                let miss = |i: usize| ((residual(i) - bias).abs() - self.epsilon).max(0.0);
                (self.sum(|i| self.caps.at(i) * miss(i)), bias, 1.0)
            }
            (Kind::OneClass, _) => {
                let share = self.nu * self.total();
                let rho = self.middle(|i| [(scores[i], self.caps.at(i))], share.into());
                let miss = self.sum(|i| self.caps.at(i) * (rho - scores[i]).max(0.0));
                // 0 and -0 are one bias.
                (miss - share * rho, 0.0 - rho, rho)
            }
            (Kind::NuSvc, _) => {
                let half = 0.5 * self.nu * self.total();
                let edges = |sign: f64| {
                    let is_in = |i: usize| self.targets[i] == sign;
                    let point = |i: usize| is_in(i).then(|| (sign * scores[i], self.caps.at(i)));
                    self.quantile(point, half.into())
                };
                let (positive, negative) = (edges(1.0), edges(-1.0));
                let middle = |(low, high): (f64, f64)| 0.5 * low + 0.5 * high;
                let bias = 0.5 * (middle(negative) - middle(positive));
                // Of all margins that go with this bias the smallest, which is that of the nearest rows.
                let rho = (positive.0 + bias).max(negative.0 - bias);
                let miss = |i: usize| self.caps.at(i) * (rho - self.targets[i] * (scores[i] + bias)).max(0.0);
                (self.sum(miss) - 2.0 * half * rho, bias, rho)
            }
        }
    }

    /// The root in b of `sum_i C_i y_i (y_i (t_i - b))_+`, which falls in b: bisection with secant steps.
    pub(super) fn squared_hinge_bias(&self, scores: &[f64]) -> f64 {
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
        (low, high) = (-self.team.largest(-low), self.team.largest(high));
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
