//! Prices: in which range they are as good, and how x moves with what is asked.
//!
//! ```text
//! one row, V(b) the least cost:   V'(b-) = max over users that can give less of their saving,   V'(b+) = min over users that can give more of their cost
//! several rows, x at an optimum:  a row with something to spare costs 0;   a_i'lambda = f_i'(x_i) for every user off its limits and kinks
//! how x moves with b_k:           [J B; B' 0] [mu; t] = [e_k; 0],   dx_i = dx_i/ds_i a_i'mu,   t of users on a straight piece (their a_i in B)
//! ```
//!
//! - Given: a problem, x, prices. Returns: numbers in plain arithmetic. Must not know: how x was found.

use crate::problem::{Problem, Row, Sense, Users};
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
/// How near to a limit or a kink a user on a straight piece counts as being there, relative to x and its limits; what a row has to
/// have to spare, relative to its terms; how near the slope of a user has to be to the prices that it sees.
const NEAR: f64 = 1e-9;
const SPARE: f64 = 1e-9;
const FITTING: f64 = 1e-7;
/// What is left of a vector of length 1 that depends on others, and of a pivot that is 0.
const DEPENDENT: f64 = 1e-7;

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

/// How near to a limit or a kink counts as being there: where costs bend nowhere near, x moves with every price.
fn near(group: &Users, place: usize, x: f64, share: f64) -> f64 {
    if share == 0.0 || group.costs.bend(place, x) > 0.0 {
        return 0.0;
    }
    let width = group.upper.get(place) - group.lower.get(place);
    share * if width.is_finite() { width.max(x.abs()) } else { x.abs() }
}

/// The slopes of a user's cost just below and just above x; none where it cannot go.
fn slopes_around(group: &Users, place: usize, x: f64, share: f64) -> (Option<f64>, Option<f64>) {
    let near = near(group, place, x, share);
    let (below, above) = (x - near, x + near);
    (
        (below > group.lower.get(place)).then(|| group.costs.slopes(place, below).0),
        (above < group.upper.get(place)).then(|| group.costs.slopes(place, above).1),
    )
}

/// The one slope of a user that may go both ways, at no kink.
fn slope(group: &Users, place: usize, x: f64) -> Option<f64> {
    let (Some(left), Some(right)) = slopes_around(group, place, x, NEAR) else { return None };
    (right - left <= SAME * right.abs()).then_some(right)
}

/// The range of the price of a row at x, given in the order of groups, where no other row has a price. Users on straight pieces
/// stand at a limit or a kink up to such a share.
pub(crate) fn range(problem: &Problem, x: &[f64], row: usize, share: f64) -> Range {
    let mut range = Range { low: f64::NEG_INFINITY, high: f64::INFINITY };
    let mut at = 0;
    for group in &problem.groups {
        for place in 0..group.count {
            let (a, own) = (group.coefficients[row].get(place), x[at]);
            at += 1;
            if a == 0.0 {
                continue;
            }
            let (left, right) = slopes_around(group, place, own, share);
            let (more, less) = if a > 0.0 { (right, left) } else { (left, right) };
            if let Some(more) = more {
                range.high = range.high.min(more / a);
            }
            if let Some(less) = less {
                range.low = range.low.max(less / a);
            }
        }
    }
    range
}

/// Prices of several rows and their ranges, at x in the order of groups: those found, unless a range has a middle.
///
/// Points where the system of prices is regular, or where users pin them; the range of one row where it is the only one that has a
/// price; else unknown. 0 for rows that have something to spare.
pub(crate) fn ranges(problem: &Problem, rows: &[Row], x: &[f64], found: &Standing) -> (Vec<f64>, Vec<Range>) {
    let active = active(rows, &found.prices);
    let regular = problem.groups.iter().all(|group| group.costs.bends())
        && Factor::of(&part(&found.supply.jacobian, rows.len(), &active), &vec![0.0; active.len()], 0.0)
            .is_regular;
    let mut prices = found.prices.clone();
    if regular {
        let ranges = prices.iter().map(|price| Range::point(*price)).collect();
        return (prices, ranges);
    }
    let tied: Vec<usize> = (0..rows.len()).filter(|&k| !has_spare(rows, found, k)).collect();
    let mut ranges = vec![Range::point(0.0); rows.len()];
    prices.iter_mut().enumerate().filter(|(k, _)| !tied.contains(k)).for_each(|(_, price)| *price = 0.0);
    if let [k] = tied[..] {
        let found = range(problem, x, k, NEAR);
        let (low, high) = (rows[k].sense.allowed(found.low), rows[k].sense.allowed(found.high));
        let is_sound = low <= high || low - high <= FITTING * (low.abs() + high.abs());
        ranges[k] = Range::UNKNOWN;
        if is_sound {
            // The proof of what was found may stand on limits that rows imply, at prices that are none without them.
            let price = prices[k].clamp(low.min(high), high.max(low));
            ranges[k] = found.around(price, rows[k].sense);
            prices[k] = ranges[k].inside(price);
        }
        return (prices, ranges);
    }
    let pinned = pinned(problem, x, &tied, &prices);
    for (position, &k) in tied.iter().enumerate() {
        let seen: f64 = pinned.iter().map(|direction| direction[position].powi(2)).sum();
        ranges[k] = if seen >= 1.0 - DEPENDENT { Range::point(prices[k]) } else { Range::UNKNOWN };
    }
    (prices, ranges)
}

/// Whether a row is met with something to spare: it costs nothing then, at every optimum.
fn has_spare(rows: &[Row], found: &Standing, k: usize) -> bool {
    let beyond = match rows[k].sense {
        Sense::Equal => return false,
        Sense::AtLeast => found.supply.given[k] - rows[k].value,
        Sense::AtMost => rows[k].value - found.supply.given[k],
    };
    let worth: f64 = rows.iter().zip(&found.prices).map(|(row, price)| (row.value * price).abs()).sum();
    beyond > SPARE * (found.supply.sizes[k] + rows[k].value.abs())
        && found.prices[k].abs() * beyond <= SPARE * worth
}

/// Orthonormal directions in which the prices of some rows are pinned by users off their limits and kinks.
fn pinned(problem: &Problem, x: &[f64], rows: &[usize], prices: &[f64]) -> Vec<Vec<f64>> {
    let size = |k: usize| {
        let largest = |group: &Users| {
            (0..group.count).map(|place| group.coefficients[k].get(place).abs()).fold(0.0, f64::max)
        };
        problem.groups.iter().map(largest).fold(0.0, f64::max)
    };
    let scales: Vec<f64> = rows.iter().map(|&k| 1.0 / size(k).max(f64::MIN_POSITIVE)).collect();
    let mut directions: Vec<Vec<f64>> = Vec::new();
    let mut at = 0;
    for group in &problem.groups {
        for place in 0..group.count {
            let own = x[at];
            at += 1;
            if directions.len() == rows.len() {
                return directions;
            }
            let Some(slope) = slope(group, place, own) else { continue };
            let seen = |k: &usize| group.coefficients[*k].get(place) * prices[*k];
            let total: f64 = rows.iter().map(seen).sum();
            let terms: f64 = rows.iter().map(|k| seen(k).abs()).sum();
            let is_fitting = (slope - total).abs() <= FITTING * (slope.abs() + terms);
            if !is_fitting {
                continue;
            }
            let mut vector: Vec<f64> = rows
                .iter()
                .zip(&scales)
                .map(|(&k, scale)| scale * group.coefficients[k].get(place))
                .collect();
            let first = length(&vector);
            for direction in &directions {
                let share: f64 = direction.iter().zip(&vector).map(|(d, v)| d * v).sum();
                vector.iter_mut().zip(direction).for_each(|(v, d)| *v -= share * d);
            }
            let left = length(&vector);
            if left > DEPENDENT * first {
                vector.iter_mut().for_each(|v| *v /= left);
                directions.push(vector);
            }
        }
    }
    directions
}

fn length(vector: &[f64]) -> f64 {
    vector.iter().map(|v| v * v).sum::<f64>().sqrt()
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
/// Users on a straight piece move freely: where only one row has a price they share what is asked.
pub fn sensitivity(problem: &Problem, allocation: &Allocation) -> Option<Vec<Vec<f64>>> {
    if allocation.x.len() != problem.users || allocation.prices.len() != problem.rows.len() {
        return None;
    }
    let (m, x) = (problem.rows.len(), problem.in_group_order(&allocation.x));
    let active = active(&problem.rows, &allocation.prices);
    // Of every user that is free to move: how much it moves with the marginal price that it sees.
    let mut moves = vec![0.0; x.len()];
    // Those that move without it, and how much they count in the rows that have a price.
    let mut straight: Vec<(usize, Vec<f64>)> = Vec::new();
    let mut jacobian = vec![0.0; m * m];
    let mut at = 0;
    for group in &problem.groups {
        for place in 0..group.count {
            if slope(group, place, x[at]).is_some() {
                let a = |k: usize| group.coefficients[k].get(place);
                let bend = group.costs.bend(place, x[at]);
                if bend > 0.0 {
                    moves[at] = 1.0 / bend;
                } else {
                    let own: Vec<f64> = active.iter().map(|&k| a(k)).collect();
                    if own.iter().any(|a| *a != 0.0) {
                        straight.push((at, own));
                    }
                }
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
    if let [k] = active[..]
        && !straight.is_empty()
    {
        let count = straight.len() as f64;
        straight.iter().for_each(|(at, a)| rates[k][*at] = 1.0 / (a[0] * count));
    } else if !active.is_empty() {
        let system = part(&jacobian, m, &active);
        for (position, &k) in active.iter().enumerate() {
            let (step, own) = response(&system, &straight, active.len(), position)?;
            let mut at = 0;
            for group in &problem.groups {
                for place in 0..group.count {
                    let terms = active.iter().zip(&step);
                    let seen: f64 = terms.map(|(&l, step)| group.coefficients[l].get(place) * step).sum();
                    rates[k][at] = moves[at] * seen;
                    at += 1;
                }
            }
            straight.iter().zip(own).for_each(|((at, _), own)| rates[k][*at] = own);
        }
    }
    Some(rates.into_iter().map(|rates| problem.in_users_order(rates)).collect())
}

/// How prices move with what one row asks for, and users on straight pieces: none where that is not determined.
fn response(
    jacobian: &[f64],
    straight: &[(usize, Vec<f64>)],
    rows: usize,
    asked: usize,
) -> Option<(Vec<f64>, Vec<f64>)> {
    if straight.is_empty() {
        let factor = Factor::of(jacobian, &vec![0.0; rows], 0.0);
        let unit: Vec<f64> = (0..rows).map(|k| f64::from(u8::from(k == asked))).collect();
        return factor.is_regular.then(|| (factor.solve(&unit), Vec::new()));
    }
    // More than there are rows cannot be told apart.
    if straight.len() > rows {
        return None;
    }
    let size = rows + straight.len();
    let mut system = vec![vec![0.0; size + 1]; size];
    for k in 0..rows {
        system[k][..rows].copy_from_slice(&jacobian[k * rows..(k + 1) * rows]);
    }
    for (place, (_, a)) in straight.iter().enumerate() {
        for (k, a) in a.iter().enumerate() {
            (system[k][rows + place], system[rows + place][k]) = (*a, *a);
        }
    }
    system[asked][size] = 1.0;
    let solution = eliminate(system)?;
    let (step, own) = solution.split_at(rows);
    Some((step.to_vec(), own.to_vec()))
}

/// The solution of a system, its right-hand side in the last column; none where it is singular.
fn eliminate(mut system: Vec<Vec<f64>>) -> Option<Vec<f64>> {
    let size = system.len();
    // Units of rows and columns may be far apart.
    let largest = |row: &[f64]| row.iter().fold(0.0_f64, |most, a| most.max(a.abs()));
    for row in &mut system {
        let scale = largest(&row[..size]);
        row.iter_mut().for_each(|a| *a /= scale);
    }
    let scales: Vec<f64> =
        (0..size).map(|k| system.iter().fold(0.0_f64, |most, row| most.max(row[k].abs()))).collect();
    system.iter_mut().for_each(|row| row.iter_mut().zip(&scales).for_each(|(a, scale)| *a /= scale));
    for k in 0..size {
        let pivot = (k..size).max_by(|&i, &j| system[i][k].abs().total_cmp(&system[j][k].abs()))?;
        let is_sound = system[pivot][k].abs() > DEPENDENT * DEPENDENT;
        if !is_sound || system[pivot][k].is_nan() {
            return None;
        }
        system.swap(k, pivot);
        let (done, rest) = system.split_at_mut(k + 1);
        let pivot = &done[k];
        for row in rest {
            let share = row[k] / pivot[k];
            row.iter_mut().zip(pivot).skip(k).for_each(|(a, p)| *a -= share * p);
        }
    }
    let mut solution = vec![0.0; size];
    for k in (0..size).rev() {
        let known: f64 = (k + 1..size).map(|l| system[k][l] * solution[l]).sum();
        solution[k] = (system[k][size] - known) / system[k][k];
    }
    solution.iter_mut().zip(&scales).for_each(|(x, scale)| *x /= scale);
    Some(solution)
}
