//! One target under bounds and at most a sum: a working set of columns, solved exactly, grown where a pass over all
//! columns finds that others are wanted.
//!
//! ```text
//! repeat   w = argmin over the working set, the others where they are;   q = X'(X w - y) + rho w
//!          proven gap small enough: done;   else take in the columns whose slope q_j + lambda asks for it most
//! ```
//!
//! - Given: data, a region without general rows. Returns: a [`Fit`] with its proof.
//! - Must not know: how the quadratic on the working set is solved.

use std::time::Instant;

use equipoise::{Control, Halt, Pass, Status, Team};

use super::active::{Quadratic, Scratch, Side};
use super::passes::{Gram, enclosed_residual, enclosed_transposed, residual, squared_norms, transposed};
use super::proof::Ground;
use super::region::{Region, Rows};
use super::{Data, Fit, Result, Round, Settings, Watch, dense};

/// Columns up to which all of them are the working set.
const FEW: usize = 128;
/// Columns that the first working set has.
const FIRST: usize = 64;
/// Slopes below this share of the largest ask for nothing.
const SLOPE: f64 = 1e-11;
/// Times that the same working set is solved again from where it is, against rounding.
const REFINED: usize = 3;
/// The same with residuals and slopes that rounding has next to no part in.
const SHARPENED: usize = 8;

pub(super) fn fit(
    data: &Data<'_>,
    target: &[f64],
    region: &Region,
    settings: &Settings,
    start: Option<&[f64]>,
    watch: Watch<'_>,
) -> Result<Fit> {
    let (rows, columns) = (data.matrix.rows(), data.matrix.columns());
    let team = Team::for_work(settings.threads, rows * columns);
    let Watch { observer, control } = watch;
    let mut point = start.map_or_else(|| region.middle(), <[f64]>::to_vec);
    region.restore_sum(&mut point);
    region.settle_sum(&mut point);
    let mut search = Search {
        target,
        region,
        settings,
        ground: Ground::new(*data, region, settings.ridge, &vec![0.0; columns]),
        team,
        control,
        observer,
        begun: Instant::now(),
        best: Best { x: point, objective: f64::INFINITY, bound: 0.0, multiplier: 0.0 },
        rounds: 0,
    };
    let ended = search.run(start.is_some());
    search.finish(ended)
}

/// The best point and the best bound so far.
struct Best {
    x: Vec<f64>,
    objective: f64,
    /// Squares are not negative.
    bound: f64,
    multiplier: f64,
}

struct Search<'a, 'w> {
    target: &'a [f64],
    region: &'a Region,
    settings: &'a Settings,
    ground: Ground<'a>,
    team: Team,
    control: Control,
    observer: Option<&'w mut dyn FnMut(&Round)>,
    begun: Instant,
    best: Best,
    rounds: usize,
}

/// The columns at work.
struct Working<'a> {
    which: Vec<usize>,
    is_in: Vec<bool>,
    sides: Vec<Side>,
    gram: Gram<'a>,
    scratch: Scratch,
}

impl<'a> Search<'a, '_> {
    /// Whether it converged.
    fn run(&mut self, is_warm: bool) -> Pass<bool> {
        let data = self.ground.data;
        let columns = data.matrix.columns();
        let roots: Option<Vec<f64>> =
            data.weights.map(|weights| weights.iter().map(|weight| weight.sqrt()).collect());
        let squares = squared_norms(data.matrix, &self.team, &self.control)?;
        self.ground = Ground::new(data, self.region, self.settings.ridge, &squares);
        let mut w = self.best.x.clone();
        let mut working = Working {
            which: Vec::new(),
            is_in: vec![false; columns],
            sides: Vec::new(),
            gram: Gram::new(data.matrix.rows()),
            scratch: Scratch::default(),
        };
        let first =
            if columns <= FEW { (0..columns).collect() } else { self.first_columns(&mut w, is_warm)? };
        let mut wanted: Vec<usize> = first;
        loop {
            working.take(&wanted);
            working.gram.append(data.matrix, roots.as_deref(), &wanted, &self.team, &self.control)?;
            let lambda = self.solve(&mut working, &mut w, roots.as_deref())?;
            let mut slopes = self.judge(&w, working.which.len(), lambda)?;
            if self.is_done() {
                return Ok(true);
            }
            wanted = self.wanted(&slopes, lambda, &w, &working);
            if !wanted.is_empty() {
                continue;
            }
            for _ in 0..REFINED {
                let before = self.gap();
                let lambda = self.refine(&mut working, &mut w, &slopes)?;
                slopes = self.judge(&w, working.which.len(), lambda)?;
                if self.is_done() {
                    return Ok(true);
                }
                if self.gap() > 0.5 * before {
                    break;
                }
            }
            slopes = self.sharpen(&mut working, &mut w, lambda)?;
            if self.is_done() {
                return Ok(true);
            }
            wanted = self.wanted(&slopes, lambda, &w, &working);
            if !wanted.is_empty() {
                continue;
            }
            self.lift(&mut working, &w, &slopes, roots.as_deref())?;
            return Ok(self.is_done());
        }
    }

    /// Columns that the first working set has: those that ask for it most at the point in the middle, which then gives
    /// way to the best corner; with a warm start also all that are between their bounds.
    fn first_columns(&mut self, w: &mut Vec<f64>, is_warm: bool) -> Pass<Vec<usize>> {
        let slopes = self.slopes(w)?.1;
        let Region { lower, upper, .. } = self.region;
        let columns = w.len();
        let mut order: Vec<usize> = (0..columns).collect();
        if let Rows::Sum(sum) = self.region.rows {
            order.sort_by(|&a, &b| slopes[a].total_cmp(&slopes[b]));
            if !is_warm {
                let Some(corner) = corner(&order, lower, upper, sum) else { return Ok(order) };
                *w = corner;
                self.region.settle_sum(w);
            }
        } else {
            let asks = |j: usize| violation(slopes[j], w[j], lower[j], upper[j]);
            order.sort_by(|&a, &b| asks(b).total_cmp(&asks(a)));
        }
        let between = |j: &usize| w[*j] > lower[*j] && w[*j] < upper[*j];
        let is_free = |j: &usize| lower[*j].is_infinite() && upper[*j].is_infinite();
        let (mut first, rest) = (order[..FIRST].to_vec(), &order[FIRST..]);
        let from_sum = matches!(self.region.rows, Rows::Sum(_));
        first.extend(rest.iter().filter(|j| is_free(j) || (is_warm || from_sum) && between(j)));
        Ok(first)
    }

    /// The residual's theta, and `X'theta + rho w`.
    fn slopes(&self, w: &[f64]) -> Pass<(Vec<f64>, Vec<f64>)> {
        let r = residual(self.ground.data.matrix, w, self.target, &self.team, &self.control)?;
        let theta = self.ground.theta(&r);
        let mut q = transposed(self.ground.data.matrix, &theta, &self.team, &self.control)?;
        q.iter_mut().zip(w).for_each(|(q, w)| *q += self.settings.ridge * w);
        Ok((r, q))
    }

    /// Solves on the working set.
    fn solve(&self, working: &mut Working, w: &mut [f64], roots: Option<&[f64]>) -> Pass<f64> {
        let matrix = self.ground.data.matrix;
        // What the working set is to explain: the target without the columns that stay where they are.
        let outside: Vec<f64> =
            w.iter().zip(&working.is_in).map(|(w, is_in)| if *is_in { 0.0 } else { *w }).collect();
        let mut rest = residual(matrix, &outside, self.target, &self.team, &self.control)?;
        if let Some(roots) = roots {
            rest.iter_mut().zip(roots).for_each(|(rest, root)| *rest *= root);
        }
        let linear: Vec<f64> =
            (0..working.gram.size).map(|k| -equipoise::matrix::dot(working.gram.column(k), &rest)).collect();
        self.solve_with(working, w, &linear)
    }

    fn solve_with(&self, working: &mut Working, w: &mut [f64], linear: &[f64]) -> Pass<f64> {
        let region = working.region(self.region, w);
        let quadratic = Quadratic {
            gram: &working.gram.entries,
            stride: working.gram.stride,
            ridge: self.settings.ridge,
            shift: None,
            linear,
            region: &region,
            whole: None,
        };
        let mut inside: Vec<f64> = working.which.iter().map(|&j| w[j]).collect();
        let lambda = quadratic.solve(&mut working.sides, &mut inside, &mut working.scratch, &self.control)?;
        working.which.iter().zip(inside).for_each(|(&j, value)| w[j] = value);
        self.region.settle_sum(w);
        Ok(lambda)
    }

    /// Solves again around w, with the slopes there as they are rather than as the Gram matrix has them.
    fn refine(&self, working: &mut Working, w: &mut [f64], slopes: &[f64]) -> Pass<f64> {
        let (gram, size) = (&working.gram, working.gram.size);
        let mut linear: Vec<f64> =
            working.which.iter().map(|&j| self.settings.ridge * w[j] - slopes[j]).collect();
        for (k, &j) in working.which.iter().enumerate().filter(|(_, j)| w[**j] != 0.0) {
            let column = &gram.entries[k * gram.stride..k * gram.stride + size];
            linear.iter_mut().zip(column).for_each(|(value, entry)| *value += w[j] * entry);
        }
        self.solve_with(working, w, &linear)
    }

    /// Refines with sums that keep what rounding loses, for columns of very different lengths and targets that are all but explained;
    /// returns the slopes.
    fn sharpen(&mut self, working: &mut Working, w: &mut [f64], lambda: f64) -> Pass<Vec<f64>> {
        let mut slopes = self.judge_enclosed(w, working.which.len(), lambda)?;
        for _ in 0..SHARPENED {
            let before = self.gap();
            if self.is_done() {
                break;
            }
            let lambda = self.refine(working, w, &slopes)?;
            slopes = self.judge_enclosed(w, working.which.len(), lambda)?;
            if self.gap() > 0.5 * before {
                break;
            }
        }
        Ok(slopes)
    }

    /// A pass over all columns with enclosures; returns the slopes.
    fn judge_enclosed(&mut self, w: &[f64], columns: usize, lambda: f64) -> Pass<Vec<f64>> {
        let matrix = self.ground.data.matrix;
        let r = enclosed_residual(matrix, w, self.target, &self.team, &self.control)?;
        let objective = self.ground.objective_enclosed(w, &r);
        let theta = self.ground.theta(&r.iter().map(|r| r.centre()).collect::<Vec<_>>());
        let products = enclosed_transposed(matrix, &theta, &self.team, &self.control)?;
        let bound = self.ground.bound_enclosed(&theta, &products, self.target);
        self.best.bound = self.best.bound.max(bound);
        self.keep(w, objective, columns, lambda);
        let ridge = self.settings.ridge;
        Ok(products.iter().zip(w).map(|(q, w)| q.centre() + ridge * w).collect())
    }

    /// A pass over all columns: objective and bound at w, kept where they are the best; returns the slopes.
    fn judge(&mut self, w: &[f64], columns: usize, lambda: f64) -> Pass<Vec<f64>> {
        let (r, slopes) = self.slopes(w)?;
        let objective = self.ground.objective(w, self.target, &r);
        self.see_bound(&r, &slopes, w);
        self.keep(w, objective, columns, lambda);
        Ok(slopes)
    }

    /// Keeps a point where it is the best, and tells of the round.
    fn keep(&mut self, w: &[f64], objective: f64, columns: usize, lambda: f64) {
        if objective <= self.best.objective {
            (self.best.objective, self.best.multiplier) = (objective, lambda);
            self.best.x.copy_from_slice(w);
        }
        self.rounds += 1;
        let (round, seconds, bound) = (self.rounds, self.begun.elapsed().as_secs_f64(), self.best.bound);
        if let Some(observer) = &mut self.observer {
            let relative_gap = (objective - bound).max(0.0) / self.ground.data.scale(self.target, objective);
            observer(&Round { round, columns, seconds, objective, bound, relative_gap });
        }
    }

    /// Keeps the bound that a residual gives, if it is the best; `slopes` are `X'theta + rho w`.
    fn see_bound(&mut self, r: &[f64], slopes: &[f64], w: &[f64]) {
        let theta = self.ground.theta(r);
        let ridge = self.settings.ridge;
        let bound = if ridge > 0.0 {
            // Without what the ridge added, anew: the charge for rounding is for the product alone.
            match transposed(self.ground.data.matrix, &theta, &self.team, &Control::unlimited()) {
                Ok(products) => self.ground.bound(&theta, &products, self.target),
                Err(_) => f64::NEG_INFINITY,
            }
        } else {
            debug_assert_eq!(slopes.len(), w.len());
            self.ground.bound(&theta, slopes, self.target)
        };
        self.best.bound = self.best.bound.max(bound);
    }

    /// Weights without an upper (or lower) bound: their slope must not be on the wrong side by a rounding error. theta is
    /// moved, as if w were elsewhere, until it is on the right one.
    fn lift(&mut self, working: &mut Working<'a>, w: &[f64], slopes: &[f64], roots: Option<&[f64]>) -> Pass {
        let data = self.ground.data;
        let wrong = |ground: &Ground<'_>, j: usize, slope: f64| {
            ground.upper[j].is_infinite() && slope < 0.0 || ground.lower[j].is_infinite() && slope > 0.0
        };
        if self.settings.ridge > 0.0
            || self.ground.lower.iter().chain(&self.ground.upper).all(|b| b.is_finite())
        {
            return Ok(());
        }
        let (r, _) = self.slopes(w)?;
        let size =
            equipoise::matrix::dot(&r, &r).sqrt() * self.ground.norms.iter().fold(0.0_f64, |a, b| a.max(*b));
        let mut margin = 4.0 * f64::EPSILON * (r.len() as f64) * size;
        let mut shifted = slopes.to_vec();
        for _ in 0..6 {
            let near = |j: &usize| {
                let sign = if self.ground.upper[*j].is_infinite() { 1.0 } else { -1.0 };
                wrong(&self.ground, *j, shifted[*j]) || sign * shifted[*j] < margin
            };
            let endless =
                |j: &usize| self.ground.upper[*j].is_infinite() || self.ground.lower[*j].is_infinite();
            let chosen: Vec<usize> = (0..w.len()).filter(|j| endless(j) && near(j)).collect();
            let missing: Vec<usize> = chosen.iter().copied().filter(|&j| !working.is_in[j]).collect();
            working.take(&missing);
            working.gram.append(data.matrix, roots, &missing, &self.team, &self.control)?;
            let places: Vec<usize> =
                (0..working.which.len()).filter(|&k| chosen.contains(&working.which[k])).collect();
            let n = places.len();
            let (gram, mut factor) = (&working.gram, Vec::with_capacity(n * n));
            for &b in &places {
                factor.extend(places.iter().map(|&a| gram.entries[b * gram.stride + a]));
            }
            let mut move_by: Vec<f64> = places
                .iter()
                .map(|&k| {
                    let j = working.which[k];
                    let sign = if self.ground.upper[j].is_infinite() { 1.0 } else { -1.0 };
                    sign * margin - slopes[j]
                })
                .collect();
            if n == 0 || !dense::factor(&mut factor, n) {
                return Ok(());
            }
            dense::solve(&factor, n, &mut move_by);
            let mut elsewhere = w.to_vec();
            places.iter().zip(&move_by).for_each(|(&k, by)| elsewhere[working.which[k]] += by);
            let (r, there) = self.slopes(&elsewhere)?;
            self.see_bound(&r, &there, &elsewhere);
            if self.is_done() {
                return Ok(());
            }
            (shifted, margin) = (there, 4.0 * margin);
        }
        Ok(())
    }

    /// Columns outside the working set that ask to be in it, those that ask most.
    fn wanted(&self, slopes: &[f64], lambda: f64, w: &[f64], working: &Working) -> Vec<usize> {
        let Region { lower, upper, .. } = self.region;
        // What rounding makes of a slope depends on the length of its column.
        let theta = (2.0 * self.best.objective).sqrt() * self.ground.heaviest();
        let least = |j: usize| SLOPE * (slopes[j].abs().min(self.ground.norms[j] * theta));
        let ask = |j: usize| violation(slopes[j] + lambda, w[j], lower[j], upper[j]);
        let mut asking: Vec<usize> =
            (0..w.len()).filter(|&j| !working.is_in[j] && ask(j) > least(j)).collect();
        asking.sort_by(|&a, &b| ask(b).total_cmp(&ask(a)));
        asking.truncate(FIRST.max(working.which.len() / 2));
        asking
    }

    fn gap(&self) -> f64 {
        let objective = self.best.objective;
        (objective - self.best.bound).max(0.0) / self.ground.data.scale(self.target, objective)
    }

    fn is_done(&self) -> bool {
        self.gap() <= self.settings.gap
    }

    /// The fit, however the search ended.
    fn finish(mut self, ended: Pass<bool>) -> Result<Fit> {
        let status = match ended {
            Ok(true) => Status::Converged,
            Ok(false) => Status::Stalled,
            Err(halt @ Halt::Fault(_)) => return Err(halt.into()),
            Err(halt) => Status::after(&halt).unwrap_or(Status::Stalled),
        };
        if self.best.objective == f64::INFINITY {
            // Ended before the first round: the start is all there is, but it has an objective.
            let control = Control::unlimited();
            let squares = squared_norms(self.ground.data.matrix, &self.team, &control)?;
            self.ground = Ground::new(self.ground.data, self.region, self.settings.ridge, &squares);
            let r = residual(self.ground.data.matrix, &self.best.x, self.target, &self.team, &control)?;
            self.best.objective = self.ground.objective(&self.best.x, self.target, &r);
        }
        let relative_gap = self.gap();
        let sum = self.region.sum();
        Ok(Fit {
            status,
            infeasibility: sum.map_or(0.0, |sum| missed(&self.best.x, sum)),
            x: self.best.x,
            objective: self.best.objective,
            bound: self.best.bound,
            relative_gap,
            multipliers: sum.map(|_| self.best.multiplier).into_iter().collect(),
            holds_within: None,
            method: "active set",
            rounds: self.rounds,
            seconds: 0.0,
        })
    }
}

impl Working<'_> {
    fn take(&mut self, columns: &[usize]) {
        self.which.extend(columns);
        columns.iter().for_each(|&j| self.is_in[j] = true);
        self.sides.resize(self.which.len(), Side::Free);
    }

    /// The bounds of the columns at work, and what the others leave of the sum.
    fn region(&self, whole: &Region, w: &[f64]) -> Region {
        let rows = match whole.sum() {
            None => Rows::None,
            Some(sum) => {
                let mut left = equipoise::enclosure::Sum::default();
                left.add(sum);
                w.iter().zip(&self.is_in).filter(|(_, is_in)| !**is_in).for_each(|(w, _)| left.add(-w));
                Rows::Sum(left.value().centre())
            }
        };
        let of = |list: &[f64]| self.which.iter().map(|&j| list[j]).collect();
        Region { lower: of(&whole.lower), upper: of(&whole.upper), rows }
    }
}

/// How much a weight wants to move where it may.
fn violation(slope: f64, w: f64, lower: f64, upper: f64) -> f64 {
    let up = if w < upper { -slope } else { 0.0 };
    let down = if w > lower { slope } else { 0.0 };
    up.max(down).max(0.0)
}

/// The corner of the region that is lowest along slopes which ascend in this order; `None` where there is none.
fn corner(order: &[usize], lower: &[f64], upper: &[f64], sum: f64) -> Option<Vec<f64>> {
    if lower.iter().all(|bound| bound.is_finite()) {
        let mut w = lower.to_vec();
        let mut left = sum - lower.iter().sum::<f64>();
        for &j in order {
            let more = left.clamp(0.0, upper[j] - lower[j]);
            (w[j], left) = (lower[j] + more, left - more);
        }
        return Some(w);
    }
    if upper.iter().all(|bound| bound.is_finite()) {
        let mut w = upper.to_vec();
        let mut left = upper.iter().sum::<f64>() - sum;
        for &j in order.iter().rev() {
            let less = left.clamp(0.0, upper[j] - lower[j]);
            (w[j], left) = (upper[j] - less, left - less);
        }
        return Some(w);
    }
    None
}

/// By how much a sum is missed, relative to its own terms.
pub(super) fn missed(x: &[f64], sum: f64) -> f64 {
    let mut left = equipoise::enclosure::Sum::default();
    left.add(-sum);
    x.iter().for_each(|w| left.add(*w));
    let size = sum.abs() + x.iter().map(|w| w.abs()).sum::<f64>();
    let value = left.value();
    value.upper().abs().max(value.lower().abs()) / if size > 0.0 { size } else { 1.0 }
}
