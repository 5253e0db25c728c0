//! The quadratic on a few columns, exactly: `min 1/2 w'Gw - c'w` over `l <= w <= u`, and `sum w = s` where there is one.
//!
//! - Given: G, c, the bounds, a guess of which weights are at them. Returns: w and the multiplier lambda of the sum,
//!   `G w - c + lambda` at least 0 at lower bounds, at most 0 at upper ones and 0 between.
//! - Must not know: data, where G comes from.
//!
//! A round solves for the free weights with the others at their bounds, then lets everything change sides that wants to
//! (primal-dual active set; Hintermueller, Ito and Kunisch 2002). That takes a handful of rounds or does not end; when the
//! number of weights on the wrong side has not fallen for a while, a feasible descent takes over, one weight at a time,
//! which does end. Where columns depend on each other, the square of what the sum is missed by makes G definite, or proximal points do.

use equipoise::{Control, Pass};

use super::dense;
use super::region::Region;

/// Rounds without progress before the feasible descent.
const PATIENCE: usize = 4;
/// Most rounds of the quick way.
const QUICK: usize = 40;
/// Most proximal points.
const PROXIMAL: usize = 40;
/// What counts as a slope, as a share of the terms that it is the sum of.
const SLOPE: f64 = 1e-12;

/// Where a weight is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Lower,
    Free,
    Upper,
}

/// G, c, and where the weights may be.
#[derive(Debug, Clone, Copy)]
pub(super) struct Quadratic<'a> {
    pub(super) gram: &'a [f64],
    pub(super) stride: usize,
    /// Added to the diagonal.
    pub(super) ridge: f64,
    /// Added to it beside that, one a weight, where there is something.
    pub(super) shift: Option<&'a [f64]>,
    pub(super) linear: &'a [f64],
    pub(super) region: &'a Region,
    /// The factor of all of G, where it is at hand.
    pub(super) whole: Option<&'a [f64]>,
}

/// Memory that is used again.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    factor: Vec<f64>,
    free: Vec<usize>,
    right: Vec<f64>,
    ones: Vec<f64>,
    slope: Vec<f64>,
    /// What counts as a slope, one a weight.
    least: Vec<f64>,
}

enum Solved {
    Yes,
    /// A pivot was next to nothing.
    Singular,
}

impl Quadratic<'_> {
    fn size(&self) -> usize {
        self.linear.len()
    }

    /// G and c with the square of what the sum is missed by, `sigma/2 (sum w - s)^2`: 0 where the sum holds, so that neither w nor lambda
    /// changes, and G bends where columns depend on each other but their weights trade off under the sum. sigma is between the
    /// longest column and the shortest, so that neither is lost beside it.
    fn with_sum(&self) -> Option<(Vec<f64>, Vec<f64>)> {
        let (sum, size) = (self.region.sum()?, self.size());
        let lengths = || (0..size).map(|j| self.gram[j * self.stride + j]).filter(|own| *own > 0.0);
        let (least, most) = (lengths().fold(f64::INFINITY, f64::min), lengths().fold(0.0, f64::max));
        let sigma = least.sqrt() * most.sqrt();
        if !(sigma > 0.0 && sigma.is_finite()) {
            return None;
        }
        let column = |j: usize| &self.gram[j * self.stride..j * self.stride + size];
        let gram = (0..size).flat_map(|j| column(j).iter().map(|entry| entry + sigma)).collect();
        Some((gram, self.linear.iter().map(|own| own + sigma * sum).collect()))
    }

    /// What is added to the diagonal of a weight.
    fn added(&self, j: usize) -> f64 {
        self.ridge + self.shift.map_or(0.0, |shift| shift[j])
    }

    /// Solves it, beginning with the sides given; returns lambda.
    pub(super) fn solve(
        &self,
        sides: &mut [Side],
        w: &mut [f64],
        scratch: &mut Scratch,
        control: &Control,
    ) -> Pass<f64> {
        let mut lambda = 0.0;
        if let Solved::Yes = self.try_solve(sides, w, &mut lambda, scratch, control)? {
            return Ok(lambda);
        }
        if let Some((gram, linear)) = self.with_sum() {
            let bent = Quadratic { gram: &gram, stride: self.size(), linear: &linear, whole: None, ..*self };
            if let Solved::Yes = bent.try_solve(sides, w, &mut lambda, scratch, control)? {
                return Ok(lambda);
            }
        }
        // Proximal points: G + S, c + S w, until w stays where it is. S is a share of the diagonal: beside one number for all, columns
        // that are far shorter than the others would hardly move.
        let size = self.size();
        let diagonal = |j: usize| self.gram[j * self.stride + j] + self.ridge;
        let least = (0..size).map(diagonal).filter(|own| *own > 0.0).fold(f64::INFINITY, f64::min);
        let of_nothing = if least.is_finite() { 1e-8 * least } else { 1.0 };
        let shift: Vec<f64> =
            (0..size).map(|j| if diagonal(j) > 0.0 { 1e-8 * diagonal(j) } else { of_nothing }).collect();
        self.region.restore_sum(w);
        let mut linear = vec![0.0; size];
        for _ in 0..PROXIMAL {
            let before = w.to_vec();
            (0..size).for_each(|j| linear[j] = self.linear[j] + shift[j] * before[j]);
            let near = Quadratic { shift: Some(&shift), linear: &linear, whole: None, ..*self };
            near.try_solve(sides, w, &mut lambda, scratch, control)?;
            let moved = w.iter().zip(&before).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            if moved <= 1e-12 * w.iter().fold(0.0, |most: f64, value| most.max(value.abs())) {
                break;
            }
        }
        Ok(lambda)
    }

    fn try_solve(
        &self,
        sides: &mut [Side],
        w: &mut [f64],
        lambda: &mut f64,
        scratch: &mut Scratch,
        control: &Control,
    ) -> Pass<Solved> {
        let (mut fewest, mut patience) = (usize::MAX, PATIENCE);
        for round in 0..QUICK {
            self.keep_one_free(sides);
            self.settle_sides(sides, w);
            let free_all = round == 0 && self.whole.is_some();
            if !self.free_weights(sides, w, lambda, scratch, free_all) {
                return Ok(Solved::Singular);
            }
            self.slopes(w, *lambda, scratch);
            let wrong = self.change_sides(sides, w, scratch);
            if wrong == 0 {
                self.finish(sides, w);
                return Ok(Solved::Yes);
            }
            if wrong < fewest {
                (fewest, patience) = (wrong, PATIENCE);
            } else {
                patience -= 1;
            }
            if patience == 0 {
                break;
            }
            control.check()?;
        }
        self.descend(sides, w, lambda, scratch, control)
    }

    /// Under a sum somebody must be free to make it right.
    fn keep_one_free(&self, sides: &mut [Side]) {
        if self.region.sum().is_none() || sides.contains(&Side::Free) {
            return;
        }
        // The one that gains most by being more; a simplex begins at its best corner.
        let gain = |j: usize| self.linear[j] - 0.5 * self.gram[j * self.stride + j];
        if let Some(best) = (0..sides.len()).max_by(|&a, &b| gain(a).total_cmp(&gain(b))) {
            sides[best] = Side::Free;
        }
    }

    /// Puts weights that are not free on their bounds; those without one are free.
    fn settle_sides(&self, sides: &mut [Side], w: &mut [f64]) {
        for (j, side) in sides.iter_mut().enumerate() {
            let bound = match side {
                Side::Lower => self.region.lower[j],
                Side::Upper => self.region.upper[j],
                Side::Free => continue,
            };
            if bound.is_finite() { w[j] = bound } else { *side = Side::Free }
        }
    }

    /// Solves for the free weights, the others where they are; false where that has no one answer.
    fn free_weights(
        &self,
        sides: &[Side],
        w: &mut [f64],
        lambda: &mut f64,
        scratch: &mut Scratch,
        may_be_whole: bool,
    ) -> bool {
        let size = self.size();
        let Scratch { factor, free, right, ones, .. } = scratch;
        free.clear();
        free.extend((0..size).filter(|&j| sides[j] == Side::Free));
        let n = free.len();
        if n == 0 {
            *lambda = 0.0;
            return true;
        }
        right.clear();
        right.extend(free.iter().map(|&j| self.linear[j]));
        let mut fixed_sum = 0.0;
        for j in (0..size).filter(|&j| sides[j] != Side::Free && w[j] != 0.0) {
            let column = &self.gram[j * self.stride..];
            right.iter_mut().zip(&*free).for_each(|(value, &i)| *value -= column[i] * w[j]);
            fixed_sum += w[j];
        }
        let whole = if may_be_whole && n == size { self.whole } else { None };
        if whole.is_none() {
            factor.clear();
            for (own, &j) in free.iter().enumerate() {
                let column = &self.gram[j * self.stride..j * self.stride + size];
                factor.extend(free.iter().map(|&i| column[i]));
                factor[own * n + own] += self.added(j);
            }
            if !dense::factor(factor, n) {
                return false;
            }
        }
        let factor: &[f64] = whole.unwrap_or(factor);
        dense::solve(factor, n, right);
        *lambda = 0.0;
        if let Some(sum) = self.region.sum() {
            ones.clear();
            ones.resize(n, 1.0);
            dense::solve(factor, n, ones);
            let (of_right, of_ones): (f64, f64) = (right.iter().sum(), ones.iter().sum());
            *lambda = (of_right - (sum - fixed_sum)) / of_ones;
            right.iter_mut().zip(&*ones).for_each(|(value, one)| *value -= *lambda * one);
        }
        free.iter().zip(&*right).for_each(|(&j, &value)| w[j] = value);
        right.iter().all(|value| value.is_finite())
    }

    /// `G w - c + lambda`.
    fn slopes(&self, w: &[f64], lambda: f64, scratch: &mut Scratch) {
        let (size, Scratch { slope, least, .. }) = (self.size(), scratch);
        slope.clear();
        slope.extend((0..size).map(|j| lambda - self.linear[j] + self.added(j) * w[j]));
        // Columns may have very different lengths: a slope is next to nothing beside its own terms.
        least.clear();
        least.extend((0..size).map(|j| lambda.abs() + self.linear[j].abs() + self.added(j) * w[j].abs()));
        for j in (0..size).filter(|&j| w[j] != 0.0) {
            let column = &self.gram[j * self.stride..j * self.stride + size];
            for ((value, size), entry) in slope.iter_mut().zip(least.iter_mut()).zip(column) {
                let term = w[j] * entry;
                *value += term;
                *size += term.abs();
            }
        }
        least.iter_mut().for_each(|size| *size *= SLOPE);
    }

    /// Lets every weight on the wrong side change it; returns how many there were.
    fn change_sides(&self, sides: &mut [Side], w: &[f64], scratch: &Scratch) -> usize {
        let mut wrong = 0;
        let Region { lower, upper, .. } = self.region;
        for (j, side) in sides.iter_mut().enumerate() {
            let (slope, least) = (scratch.slope[j], scratch.least[j]);
            let fixed = lower[j] == upper[j];
            let new = match side {
                Side::Free if w[j] < lower[j] => Side::Lower,
                Side::Free if w[j] > upper[j] => Side::Upper,
                Side::Lower if slope < -least && !fixed => Side::Free,
                Side::Upper if slope > least && !fixed => Side::Free,
                _ => continue,
            };
            (*side, wrong) = (new, wrong + 1);
        }
        wrong
    }

    /// Free weights may miss a bound by rounding, and the sum, too.
    fn finish(&self, sides: &[Side], w: &mut [f64]) {
        let Region { lower, upper, .. } = self.region;
        for j in (0..w.len()).filter(|&j| sides[j] == Side::Free) {
            w[j] = w[j].clamp(lower[j], upper[j]);
        }
        self.region.settle_sum(w);
    }

    /// The way that ends: from a feasible point down, as far as the bounds allow, freeing one weight at a time.
    fn descend(
        &self,
        sides: &mut [Side],
        w: &mut [f64],
        lambda: &mut f64,
        scratch: &mut Scratch,
        control: &Control,
    ) -> Pass<Solved> {
        let Region { lower, upper, .. } = self.region;
        let size = self.size();
        self.region.restore_sum(w);
        let side_of = |j: usize, value: f64| {
            if value <= lower[j] {
                Side::Lower
            } else if value >= upper[j] {
                Side::Upper
            } else {
                Side::Free
            }
        };
        (0..size).for_each(|j| sides[j] = side_of(j, w[j]));
        let mut goal = vec![0.0; size];
        for _ in 0..20 * size + 200 {
            control.check()?;
            if self.region.sum().is_some() && !sides.contains(&Side::Free) {
                self.slopes(w, 0.0, scratch);
                let slope = &scratch.slope;
                let at = |side: Side| {
                    (0..size).filter(move |&j| lower[j] < upper[j]).filter(move |_| side != Side::Free)
                };
                let down = at(Side::Lower).filter(|&j| sides[j] == Side::Lower);
                let up = at(Side::Upper).filter(|&j| sides[j] == Side::Upper || w[j] > lower[j]);
                let gains = down.min_by(|&a, &b| slope[a].total_cmp(&slope[b]));
                let gives = up.max_by(|&a, &b| slope[a].total_cmp(&slope[b]));
                for j in [gains, gives].into_iter().flatten() {
                    sides[j] = Side::Free;
                }
            }
            goal.copy_from_slice(w);
            if !self.free_weights(sides, &mut goal, lambda, scratch, false) {
                return Ok(Solved::Singular);
            }
            // As far as the nearest bound.
            let (mut step, mut stopped) = (1.0_f64, None);
            for j in (0..size).filter(|&j| sides[j] == Side::Free) {
                let way = goal[j] - w[j];
                let room = if way < 0.0 { lower[j] - w[j] } else { upper[j] - w[j] };
                if way != 0.0 && room / way < step {
                    (step, stopped) = ((room / way).max(0.0), Some(j));
                }
            }
            for j in (0..size).filter(|&j| sides[j] == Side::Free) {
                w[j] = if stopped.is_none() { goal[j] } else { w[j] + step * (goal[j] - w[j]) };
                w[j] = w[j].clamp(lower[j], upper[j]);
            }
            if let Some(j) = stopped {
                sides[j] = if goal[j] < w[j] || w[j] == lower[j] { Side::Lower } else { Side::Upper };
                w[j] = if sides[j] == Side::Lower { lower[j] } else { upper[j] };
                continue;
            }
            self.slopes(w, *lambda, scratch);
            let worth = |j: usize| match sides[j] {
                _ if lower[j] == upper[j] => 0.0,
                Side::Lower => -scratch.slope[j],
                Side::Upper => scratch.slope[j],
                Side::Free => 0.0,
            };
            let best = (0..size).max_by(|&a, &b| worth(a).total_cmp(&worth(b)));
            match best.filter(|&j| worth(j) > scratch.least[j]) {
                Some(j) => sides[j] = Side::Free,
                None => break,
            }
        }
        self.finish(sides, w);
        Ok(Solved::Yes)
    }
}
