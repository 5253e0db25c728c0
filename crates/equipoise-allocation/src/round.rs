//! Rows that hold up to rounding: what Newton's method leaves is shared by users that are free to move.
//!
//! ```text
//! x_i += D_i d_i,    d the shortest with A D d = b - A x,     D_i = distance to the nearest limit
//! ```
//!
//! - Given: a problem, x near the rows. Returns: x nearer to them, within the limits. Must not know: costs.

use crate::problem::{Problem, Row, Sense};
use crate::small::shortest;

/// Users that share what is left, at most.
const MOVERS: usize = 4096;
/// Rounds of sharing.
const ROUNDS: usize = 4;

/// Moves some users so that the rows that bind hold; `given` is what x gives.
pub(crate) fn settle_rows(problem: &Problem, rows: &[Row], given: &[f64], prices: &[f64], x: &mut [f64]) {
    let mut rest: Vec<f64> = rows.iter().zip(given).map(|(row, given)| row.value - given).collect();
    let movers = movers(problem, x);
    if movers.is_empty() || rest.iter().any(|rest| !rest.is_finite()) {
        return;
    }
    for _ in 0..ROUNDS {
        // Rows that must move: equations, rows with a price, rows that are missed.
        let binds = |k: usize| match rows[k].sense {
            Sense::Equal => rest[k] != 0.0,
            Sense::AtLeast => rest[k] > 0.0 || prices[k] != 0.0 && rest[k] != 0.0,
            Sense::AtMost => rest[k] < 0.0 || prices[k] != 0.0 && rest[k] != 0.0,
        };
        if !(0..rows.len()).any(binds) {
            return;
        }
        // All rows that hold with equality stay where they are.
        let kept: Vec<usize> = (0..rows.len())
            .filter(|&k| binds(k) || rows[k].sense == Sense::Equal || prices[k] != 0.0)
            .collect();
        let room = |mover: &Mover| {
            let own = x[mover.at];
            let room = (own - mover.lower).min(mover.upper - own);
            room.min(own.abs().max(1.0)).max(0.0)
        };
        let rooms: Vec<f64> = movers.iter().map(room).collect();
        let vectors: Vec<Vec<f64>> = kept
            .iter()
            .map(|&k| movers.iter().zip(&rooms).map(|(mover, room)| room * mover.a[k]).collect())
            .collect();
        let right: Vec<f64> = kept.iter().map(|&k| rest[k]).collect();
        let step = shortest(vectors, &right);
        for ((mover, room), step) in movers.iter().zip(&rooms).zip(step) {
            let own = x[mover.at];
            let moved = (own + room * step).clamp(mover.lower, mover.upper);
            if !moved.is_finite() {
                return;
            }
            x[mover.at] = moved;
            for (rest, a) in rest.iter_mut().zip(&mover.a) {
                *rest -= a * (moved - own);
            }
        }
    }
}

/// A user that is free to move.
struct Mover {
    at: usize,
    lower: f64,
    upper: f64,
    a: Vec<f64>,
}

/// Users strictly inside their limits, spread over all of them.
fn movers(problem: &Problem, x: &[f64]) -> Vec<Mover> {
    let stride = (problem.users / MOVERS).max(1);
    let mut movers = Vec::new();
    for stride in [stride, 1] {
        for (group, start) in problem.groups.iter().zip(&problem.starts) {
            for place in (0..group.count).step_by(stride) {
                let (at, lower, upper) = (start + place, group.lower.get(place), group.upper.get(place));
                if x[at] > lower && x[at] < upper && movers.len() < 2 * MOVERS {
                    let a = group.coefficients.iter().map(|column| column.get(place)).collect();
                    movers.push(Mover { at, lower, upper, a });
                }
            }
        }
        if movers.len() >= 2 * problem.rows.len() || stride == 1 {
            break;
        }
        movers.clear();
    }
    movers
}
