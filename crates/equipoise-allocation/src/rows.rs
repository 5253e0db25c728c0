//! Several rows: prices by Newton's method on the dual.
//!
//! ```text
//! maximise over lambda   q(lambda) = sum_k lambda_k b_k + sum_i min_x f_i(x) + w_i/2 (x - c_i)^2 - s_i x,    grad q = b - phi(lambda)
//! ```
//!
//! with `lambda_k` >= 0 for a row `>=`, and <= 0 for a row `<=`. J of [`crate::pass`] is minus the (generalised) Hessian. A step
//! solves `(J + eps diag) d = b - phi` for the rows that are not held at 0, and goes as far as q rises: along a line the
//! slope of q is `(b - phi)'d`, which never rises, so that no value of q is needed.
//!
//! - Given: passes over a problem, first prices, perhaps an anchor. Returns: prices, the response to them.
//! - Must not know: where anchors come from, what is proven.

use crate::error::Result;
use crate::line::Line;
use crate::pass::{Anchor, Passes, Supply};
use crate::problem::{Problem, Row, Sense};
use crate::small::Factor;
use crate::solve::Memory;

/// What counts as met, relative to the terms of a row.
const MET: f64 = 1e-14;
/// From here on a step of Newton's probably leaves nothing but rounding; and what it may leave.
const NEAR: f64 = 3e-7;
const CLOSE: f64 = 1e-12;
/// The same of many users, where a pass is dear: what is left is put right by moving some of them, at a cost of its square times
/// all users over those who move, 2e-13 of everything for a million.
const MANY: usize = 1 << 15;
const NEAR_OF_MANY: f64 = 1e-4;
const CLOSE_OF_MANY: f64 = 3e-8;
/// Steps for one set of anchors.
const MOST_STEPS: usize = 300;
/// The largest and the smallest share of the diagonal that is added.
const DAMPING: (f64, f64) = (1e-4, 1e-15);
/// What is left of the largest diagonals after a step.
const FORGET: f64 = 1e-3;

/// Prices, and what users do at them.
#[derive(Debug, Clone)]
pub(crate) struct Standing {
    pub(crate) prices: Vec<f64>,
    pub(crate) supply: Supply,
    /// The largest miss of a row relative to its terms.
    pub(crate) miss: f64,
}

impl Standing {
    /// Whether what users give has an end.
    pub(crate) fn is_finite(&self) -> bool {
        self.supply.is_finite()
    }
}

/// Prices to try where the response to those at hand has no end, for the middle of the limits or a point near to one: those that
/// fit the slopes there best, then ones that make every row dear.
pub(crate) fn starts(problem: &Problem, rows: &[Row]) -> Vec<Vec<f64>> {
    let m = rows.len();
    let (mut gram, mut right, mut dear) = (vec![0.0; m * m], vec![0.0; m], 0.0_f64);
    for group in &problem.groups {
        for place in 0..group.count {
            let (left, right_slope) = group.costs.slopes(place, group.inside(place));
            let slope = 0.5 * (left + right_slope);
            if !slope.is_finite() {
                continue;
            }
            let a = |k: usize| group.coefficients[k].get(place);
            for k in 0..m {
                right[k] += a(k) * slope;
                for l in 0..m {
                    gram[k * m + l] += a(k) * a(l);
                }
                if a(k) != 0.0 {
                    dear = dear.max((slope / a(k)).abs());
                }
            }
        }
    }
    let fit = Factor::of(&gram, &vec![0.0; m], 1e-12).solve(&right);
    let allowed = |prices: Vec<f64>| -> Vec<f64> {
        prices.iter().zip(rows).map(|(price, row)| row.sense.allowed(*price)).collect()
    };
    let every: Vec<f64> = (0..m)
        .map(|k| match rows[k].sense {
            Sense::AtMost => -1.0,
            Sense::AtLeast => 1.0,
            Sense::Equal => fit[k].signum(),
        })
        .collect();
    let times = |prices: &[f64], by: f64| allowed(prices.iter().map(|price| price * by).collect());
    let mut starts: Vec<Vec<f64>> = [1.0, 16.0, 256.0].iter().map(|by| times(&fit, *by)).collect();
    starts.extend([1.0, 16.0, 256.0].iter().map(|by| times(&every, dear * by)));
    starts.retain(|prices| prices.iter().all(|price| price.is_finite()));
    starts
}

/// Finds prices; x is the response to them.
pub(crate) fn solve(
    passes: &Passes<'_>,
    rows: &[Row],
    start: &[f64],
    anchor: Option<&Anchor>,
    x: &mut [f64],
    memory: &mut Memory<'_>,
) -> Result<Standing> {
    let m = rows.len();
    let mut prices: Vec<f64> = start.iter().zip(rows).map(|(price, row)| row.sense.allowed(*price)).collect();
    let mut supply = passes.probe(&prices, anchor)?;
    memory.step(&prices, &supply.given, rows);
    // Whether x is the response to these prices already.
    let mut is_written = false;
    // The largest diagonals seen of late: what a row can move at all.
    let mut most = vec![0.0_f64; m];
    // The least misses so far, relative to the terms and to what is asked.
    let (mut best, mut least) = (f64::INFINITY, f64::INFINITY);
    let (mut since, mut first) = (0, 1.0);
    let is_many = anchor.is_none() && passes.users() >= MANY;
    let (near, close) = if is_many { (NEAR_OF_MANY, CLOSE_OF_MANY) } else { (NEAR, CLOSE) };
    for _ in 0..MOST_STEPS {
        let rest = rest(rows, &supply);
        let is_held: Vec<bool> = (0..m).map(|k| is_held(rows[k].sense, prices[k], rest[k])).collect();
        let miss = miss(rows, &supply, &rest, &is_held);
        let beyond = (0..m)
            .filter(|&k| !is_held[k])
            .map(|k| rest[k].abs() / (rows[k].value.abs() + f64::MIN_POSITIVE));
        let beyond = beyond.fold(0.0, f64::max);
        if miss < 0.5 * best || beyond < 0.5 * least {
            (best, least, since) = (miss.min(best), beyond.min(least), 0);
        } else {
            since += 1;
        }
        // At the level of rounding progress is a matter of luck.
        if miss <= MET || miss <= 1e-11 && since >= 3 || since >= 60 {
            break;
        }
        for k in 0..m {
            most[k] = supply.jacobian[k * m + k].max(FORGET * most[k]);
        }
        let direction = direction(&supply, &most, &rest, &is_held, miss, &prices);
        let slope: f64 = direction.iter().zip(&rest).map(|(d, r)| d * r).sum();
        if slope.is_nan() || slope <= 0.0 {
            break;
        }
        if miss <= near && !is_written {
            // Newton's step is as good as exact here: x and exact sums come with it.
            let trial = ahead(rows, &prices, &direction, 1.0);
            let next = passes.respond(&trial, anchor, true, x)?;
            memory.step(&trial, &next.given, rows);
            let now = self::miss(rows, &next, &self::rest(rows, &next), &is_held);
            if now < miss {
                (prices, supply, is_written) = (trial, next, now <= close);
                memory.prices.clone_from(&prices);
                if is_written {
                    break;
                }
                continue;
            }
        }
        is_written = false;
        let begin = (&supply.jacobian[..], first);
        let found = search(passes, rows, anchor, (&prices, &direction, slope), begin, memory)?;
        let Some((next, given, t)) = found else { break };
        // A step that was too short makes the next one longer: what users give may be an exponential of the price.
        first = if t > 1.5 { (2.0 * t).min(1e6) } else { 1.0 };
        (prices, supply) = (next, given);
        memory.prices.clone_from(&prices);
    }
    if !is_written {
        supply = passes.respond(&prices, anchor, true, x)?;
        memory.step(&prices, &supply.given, rows);
    }
    let rest = rest(rows, &supply);
    let is_held: Vec<bool> = (0..m).map(|k| is_held(rows[k].sense, prices[k], rest[k])).collect();
    let miss = miss(rows, &supply, &rest, &is_held);
    Ok(Standing { prices, supply, miss })
}

/// `b - phi`.
fn rest(rows: &[Row], supply: &Supply) -> Vec<f64> {
    rows.iter().zip(&supply.given).map(|(row, given)| row.value - given).collect()
}

/// Whether a row is met with something to spare, and its price is 0.
fn is_held(sense: Sense, price: f64, rest: f64) -> bool {
    match sense {
        Sense::Equal => false,
        Sense::AtLeast => price <= 0.0 && rest <= 0.0,
        Sense::AtMost => price >= 0.0 && rest >= 0.0,
    }
}

fn miss(rows: &[Row], supply: &Supply, rest: &[f64], is_held: &[bool]) -> f64 {
    let of = |k: usize| rest[k].abs() / (supply.sizes[k] + rows[k].value.abs()).max(f64::MIN_POSITIVE);
    // A sum without an end misses its row, whichever way it goes.
    if rest.iter().any(|rest| !rest.is_finite()) {
        return f64::INFINITY;
    }
    (0..rows.len()).filter(|&k| !is_held[k]).map(of).fold(0.0, f64::max)
}

/// A step for the rows that are not held; the others stay.
fn direction(
    supply: &Supply,
    most: &[f64],
    rest: &[f64],
    is_held: &[bool],
    miss: f64,
    prices: &[f64],
) -> Vec<f64> {
    let m = rest.len();
    let free: Vec<usize> = (0..m).filter(|&k| !is_held[k]).collect();
    let n = free.len();
    let mut matrix = vec![0.0; n * n];
    for (i, &k) in free.iter().enumerate() {
        for (j, &l) in free.iter().enumerate() {
            matrix[i * n + j] = supply.jacobian[k * m + l];
        }
    }
    // A row along which nobody has moved yet: as if the price had to double to move everybody.
    let least: Vec<f64> = free
        .iter()
        .map(|&k| {
            if most[k] > 0.0 {
                most[k]
            } else {
                1e4 * (supply.sizes[k] + rest[k].abs()) / prices[k].abs().max(1e-3)
            }
        })
        .collect();
    let share = (1e-2 * miss).clamp(DAMPING.1, DAMPING.0);
    let right: Vec<f64> = free.iter().map(|&k| rest[k]).collect();
    let step = Factor::of(&matrix, &least, share).solve(&right);
    let mut direction = vec![0.0; m];
    free.iter().zip(step).for_each(|(&k, step)| direction[k] = step);
    direction
}

/// Goes along a direction until q stops rising, more or less, and says how far; `None` where no step raises it.
///
/// With `now` the slope from the first prices to a trial, q there is above q here by at least `t now`: q is concave.
fn search(
    passes: &Passes<'_>,
    rows: &[Row],
    anchor: Option<&Anchor>,
    (prices, direction, slope): (&[f64], &[f64], f64),
    (jacobian, first): (&[f64], f64),
    memory: &mut Memory<'_>,
) -> Result<Option<(Vec<f64>, Supply, f64)>> {
    /// A slope that has fallen below this share of the first, in size, is flat enough.
    const FLAT: f64 = 0.1;
    /// One that is still above this share calls for a longer step.
    const STEEP: f64 = 0.7;
    const MOST_TRIALS: usize = 200;
    let mut line = Line::new(slope, fall(jacobian, direction));
    let mut t = first;
    let mut kept = None;
    for _ in 0..MOST_TRIALS {
        let trial = ahead(rows, prices, direction, t);
        if trial.iter().any(|price| !price.is_finite()) {
            break;
        }
        let supply = passes.probe(&trial, anchor)?;
        memory.step(&trial, &supply.given, rows);
        let rest = rest(rows, &supply);
        // Along the path as it is bent at prices of 0.
        let way: Vec<f64> = trial.iter().zip(prices).map(|(trial, price)| (trial - price) / t).collect();
        let now: f64 = way.iter().zip(&rest).map(|(way, rest)| way * rest).sum();
        let falls = fall(&supply.jacobian, &way);
        if now.is_finite() && now.abs() <= FLAT * slope {
            return Ok(Some((trial, supply, t)));
        }
        if now.is_finite() && now > 0.0 {
            let is_enough = now <= STEEP * slope && (line.is_bracketed() || t >= 1.0);
            kept = Some((trial, supply, t));
            if is_enough {
                break;
            }
        }
        let Some(next) = line.next(t, now, falls) else { break };
        t = next;
    }
    Ok(kept)
}

/// `d'Jd`.
fn fall(jacobian: &[f64], direction: &[f64]) -> f64 {
    let m = direction.len();
    (0..m)
        .flat_map(|k| (0..m).map(move |l| (k, l)))
        .map(|(k, l)| direction[k] * jacobian[k * m + l] * direction[l])
        .sum()
}

/// Prices further along a direction, as far as their rows allow them.
fn ahead(rows: &[Row], prices: &[f64], direction: &[f64], t: f64) -> Vec<f64> {
    let along = prices.iter().zip(direction).map(|(price, d)| price + t * d);
    along.zip(rows).map(|(price, row)| row.sense.allowed(price)).collect()
}
