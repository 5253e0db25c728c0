//! Many right-hand sides of one row, one after the other.
//!
//! ```text
//! V(b_1), V(b_2), ...    each from the prices of the one before it, or from the curve of what is given at every price
//! ```
//!
//! With one row and quadratic costs, phi is piecewise linear: its breakpoints, sorted once, say where to begin for every
//! right-hand side. Every result has its own proof.
//!
//! - Given: a problem, a row, right-hand sides. Returns: an [`Allocation`] each. Must not know: files.

use equipoise::{Control, Status};

use crate::costs::Costs;
use crate::error::{Error, Result};
use crate::pass::Passes;
use crate::problem::Problem;
use crate::solve::{Allocation, Memory, Settings, check_start, run, team};

/// Allocates for every right-hand side of a row; without `keep_x` results have no x. A run that is ended has the results so
/// far, of which the last may be one that was ended.
pub fn allocate_many(
    problem: &Problem,
    row: usize,
    values: &[f64],
    settings: &Settings,
    start: Option<&[f64]>,
    keep_x: bool,
    control: &Control,
) -> Result<Vec<Allocation>> {
    settings.check()?;
    check_start(problem, start)?;
    values.iter().try_for_each(|value| problem.check_value(row, *value))?;
    let team = team(problem, settings);
    let passes = Passes::new(problem, &team, control);
    let mut rows = problem.rows.clone();
    let curve = Curve::of(problem);
    let mut prices = start.map(<[f64]>::to_vec);
    let mut found = Vec::with_capacity(values.len());
    for &value in values {
        rows[row].value = value;
        if let Some(curve) = &curve {
            prices = Some(vec![curve.price(value)]);
        }
        let mut memory = Memory::new(rows.len(), None);
        let mut one = match run(problem, &rows, settings, prices.as_deref(), &passes, &mut memory) {
            // Ended before there was anything to say of this one.
            Err(Error::Equipoise(equipoise::Error::StoppedEarly { .. })) if !found.is_empty() => break,
            other => other?,
        };
        if !keep_x {
            one.x = Vec::new();
        }
        if one.prices.iter().all(|price| price.is_finite()) {
            prices = Some(one.prices.clone());
        }
        let is_ended = matches!(one.status, Status::Interrupted | Status::TimeLimit);
        found.push(one);
        if is_ended {
            break;
        }
    }
    Ok(found)
}

/// What is given at every price: breakpoints of phi, in plain arithmetic.
struct Curve {
    prices: Vec<f64>,
    /// phi just before and just after each breakpoint.
    before: Vec<f64>,
    after: Vec<f64>,
}

/// Users up to which the curve is worth its sorting.
const MOST: usize = 1 << 17;

impl Curve {
    /// The curve of one row and quadratic costs, where limits are finite.
    fn of(problem: &Problem) -> Option<Self> {
        if problem.rows.len() != 1 || problem.users > MOST {
            return None;
        }
        // At a price: by how much phi jumps, and by how much its slope changes.
        let mut events: Vec<(f64, f64, f64)> = Vec::new();
        let mut given = 0.0;
        for group in &problem.groups {
            let Costs::Quadratic { c2, c1, .. } = &group.costs else { return None };
            for place in 0..group.count {
                let (a, bend, c1) = (group.coefficients[0].get(place), 2.0 * c2.get(place), c1.get(place));
                let (lower, upper) = (group.lower.get(place), group.upper.get(place));
                if !(lower.is_finite() && upper.is_finite()) {
                    return None;
                }
                if a == 0.0 {
                    continue;
                }
                given += if a > 0.0 { a * lower } else { a * upper };
                if bend == 0.0 {
                    events.push((c1 / a, a.abs() * (upper - lower), 0.0));
                } else {
                    let (first, last) = ((bend * lower + c1) / a, (bend * upper + c1) / a);
                    let slope = a * a / bend;
                    events.push((first.min(last), 0.0, slope));
                    events.push((first.max(last), 0.0, -slope));
                }
            }
        }
        events.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let mut curve = Self { prices: Vec::new(), before: Vec::new(), after: Vec::new() };
        let (mut slope, mut at) = (0.0, f64::NAN);
        for (price, jump, bend) in events {
            if price > at {
                given += slope * (price - at);
            }
            if curve.prices.last() == Some(&price) {
                *curve.after.last_mut().expect("as many as prices") += jump;
            } else {
                curve.prices.push(price);
                curve.before.push(given);
                curve.after.push(given + jump);
            }
            given += jump;
            slope += bend;
            at = price;
        }
        (!curve.prices.is_empty()).then_some(curve)
    }

    /// About the price at which so much is given.
    fn price(&self, asked: f64) -> f64 {
        let k = self.after.partition_point(|given| *given < asked);
        if k == self.prices.len() {
            return self.prices[k - 1];
        }
        if k == 0 || self.before[k] <= asked {
            return self.prices[k];
        }
        let (low, high) = (self.after[k - 1], self.before[k]);
        let share = if high > low { ((asked - low) / (high - low)).clamp(0.0, 1.0) } else { 0.0 };
        self.prices[k - 1] + share * (self.prices[k] - self.prices[k - 1])
    }
}
