//! Prices: in which range they are as good, and how x moves with what is asked.
//!
//! ```text
//! one row, V(b) the least cost:   V'(b-) = max over users that can give less of their saving,   V'(b+) = min over users that can give more of their cost
//! several rows:                   d lambda/d b = J^-1,    dx_i/db = dx_i/ds_i  a_i' J^-1
//! ```
//!
//! - Given: a problem, x, prices. Returns: numbers in plain arithmetic. Must not know: how x was found.

use crate::problem::{Problem, Row, Sense};
use crate::rows::Standing;
use crate::small::Factor;
use crate::solve::Allocation;

/// Prices of one row that are equally good.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Range {
    pub(crate) low: f64,
    pub(crate) high: f64,
}

/// What counts as one price, relative to its size.
const SAME: f64 = 1e-9;

impl Range {
    /// Nothing is known.
    pub(crate) const UNKNOWN: Self = Self { low: f64::NAN, high: f64::NAN };

    /// One price.
    pub(crate) fn point(price: f64) -> Self {
        Self { low: price, high: price }
    }

    /// The range as far as a row allows it; one price where the ends differ by rounding.
    pub(crate) fn around(self, price: f64, sense: Sense) -> Self {
        let (low, high) = (sense.allowed(self.low), sense.allowed(self.high));
        if low.is_finite() && high.is_finite() && high - low <= SAME * (low.abs() + high.abs()) {
            Self::point(price)
        } else {
            Self { low, high }
        }
    }

    /// A price in the range: this one, or the middle where the range has one, or its finite end.
    pub(crate) fn inside(self, price: f64) -> f64 {
        match (self.low.is_finite(), self.high.is_finite()) {
            (true, true) if self.low < self.high => 0.5 * self.low + 0.5 * self.high,
            (true, false) => self.low,
            (false, true) => self.high,
            _ => price,
        }
    }
}

/// The range of the price of one row at x, given in the order of groups.
pub(crate) fn range(problem: &Problem, x: &[f64]) -> Range {
    let mut range = Range { low: f64::NEG_INFINITY, high: f64::INFINITY };
    let mut at = 0;
    for group in &problem.groups {
        for place in 0..group.count {
            let (a, own) = (group.coefficients[0].get(place), x[at]);
            at += 1;
            if a == 0.0 {
                continue;
            }
            let (left, right) = group.costs.slopes(place, own);
            let (more, less) = if a > 0.0 { (right, left) } else { (left, right) };
            let (can_rise, can_fall) = (own < group.upper.get(place), own > group.lower.get(place));
            let (can_give, can_take) = if a > 0.0 { (can_rise, can_fall) } else { (can_fall, can_rise) };
            if can_give {
                range.high = range.high.min(more / a);
            }
            if can_take {
                range.low = range.low.max(less / a);
            }
        }
    }
    range
}

/// The ranges of several rows: points where the system of prices is regular, else unknown; 0 for rows that ask for nothing.
pub(crate) fn ranges(problem: &Problem, rows: &[Row], found: &Standing) -> Vec<Range> {
    let active = active(rows, &found.prices);
    let regular = problem.groups.iter().all(|group| group.costs.bends())
        && Factor::of(&part(&found.supply.jacobian, rows.len(), &active), &vec![0.0; active.len()], 0.0)
            .is_regular;
    (0..rows.len())
        .map(|k| match () {
            () if !regular => Range::UNKNOWN,
            () => Range::point(found.prices[k]),
        })
        .collect()
}

/// The rows whose price may move: equations, and those with a price.
fn active(rows: &[Row], prices: &[f64]) -> Vec<usize> {
    (0..rows.len()).filter(|&k| rows[k].sense == Sense::Equal || prices[k] != 0.0).collect()
}

/// The rows and columns of a matrix that are listed.
fn part(matrix: &[f64], size: usize, which: &[usize]) -> Vec<f64> {
    which.iter().flat_map(|&k| which.iter().map(move |&l| matrix[k * size + l])).collect()
}

/// `dx_i/db_k`, one list a row; `None` where x does not move smoothly with it, and where the allocation has no x.
///
/// Users on a straight piece move freely: where there are such, and one row, they share what is asked.
pub fn sensitivity(problem: &Problem, allocation: &Allocation) -> Option<Vec<Vec<f64>>> {
    if allocation.x.len() != problem.users || allocation.prices.len() != problem.rows.len() {
        return None;
    }
    let (m, x) = (problem.rows.len(), problem.in_group_order(&allocation.x));
    let active = active(&problem.rows, &allocation.prices);
    // Of every user that is free to move: how much it moves with the marginal price that it sees.
    let mut moves = vec![0.0; x.len()];
    let mut straight = Vec::new();
    let mut jacobian = vec![0.0; m * m];
    let mut at = 0;
    for group in &problem.groups {
        for place in 0..group.count {
            let is_free = x[at] > group.lower.get(place) && x[at] < group.upper.get(place);
            let (left, right) = group.costs.slopes(place, x[at]);
            if is_free && right - left <= SAME * right.abs() {
                let bend = group.costs.bend(place, x[at]);
                if bend > 0.0 {
                    moves[at] = 1.0 / bend;
                } else {
                    straight.push((at, group.coefficients[0].get(place)));
                }
                let a = |k: usize| group.coefficients[k].get(place);
                for k in 0..m {
                    for l in 0..m {
                        jacobian[k * m + l] += a(k) * a(l) * moves[at];
                    }
                }
            }
            at += 1;
        }
    }
    let mut rates = vec![vec![0.0; x.len()]; m];
    if m == 1 && !straight.is_empty() {
        straight.retain(|(_, a)| *a != 0.0);
        let count = straight.len() as f64;
        straight.iter().for_each(|&(at, a)| rates[0][at] = 1.0 / (a * count));
    } else if active.is_empty() {
        // Nothing that is asked for binds.
    } else {
        let factor = Factor::of(&part(&jacobian, m, &active), &vec![0.0; active.len()], 0.0);
        if !straight.is_empty() || !factor.is_regular {
            return None;
        }
        for (position, &k) in active.iter().enumerate() {
            let mut unit = vec![0.0; active.len()];
            unit[position] = 1.0;
            let step = factor.solve(&unit);
            let mut at = 0;
            for group in &problem.groups {
                for place in 0..group.count {
                    let terms = active.iter().zip(&step);
                    let seen: f64 = terms.map(|(&l, step)| group.coefficients[l].get(place) * step).sum();
                    rates[k][at] = moves[at] * seen;
                    at += 1;
                }
            }
        }
    }
    Some(rates.into_iter().map(|rates| problem.in_users_order(rates)).collect())
}
