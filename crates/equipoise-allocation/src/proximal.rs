//! Several rows and costs that bend little or not at all: proximal points.
//!
//! ```text
//! x_{t+1} = argmin sum_i f_i(x_i) + w_i/2 (x_i - x_i,t)^2   subject to the rows and the limits
//! ```
//!
//! Each point has a smooth dual ([`crate::rows`]). With straight costs the points arrive after finitely many steps, and the
//! prices of the last one are those of the problem itself. Weights shrink from step to step; where they have become so small that
//! Newton's method no longer arrives, they grow again and stay. Users whose costs bend by themselves carry none, unless it is
//! asked for.
//!
//! - Given: passes over a problem, first prices. Returns: x and prices. Must not know: files, how the result is judged.

use crate::error::Result;
use crate::implied::Rooms;
use crate::one_row::first_price;
use crate::pass::{Anchor, Passes};
use crate::problem::{Problem, Row};
use crate::proof::prove;
use crate::rows::{self, Standing};
use crate::solve::Memory;

/// Steps at most.
const MOST_STEPS: usize = 100;
/// By what weights shrink, and how far.
const SHRINK: f64 = 0.2;
const LEAST: f64 = 1e-7;
/// The relative gap at which no further step is made.
const ENOUGH: f64 = 1e-13;
/// The miss of a row, relative to its terms, above which Newton's method has not arrived; how often that is forgiven.
const MISSED: f64 = 1e-9;
const FORGIVEN: usize = 8;

/// Who carries weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Carriers {
    /// Users whose costs do not bend.
    Straight,
    /// All users.
    All,
}

/// Finds x (in the order of groups) and prices.
pub(crate) fn solve(
    (problem, asked): (&Problem, &[Row]),
    carriers: Carriers,
    rooms: &Rooms,
    passes: &Passes<'_>,
    start: &[f64],
    x: &mut [f64],
    memory: &mut Memory<'_>,
) -> Result<Standing> {
    let mut anchor = anchor(problem, asked, carriers);
    let mut prices = start.to_vec();
    let (mut shrunk, mut least_weight, mut failures) = (1.0, LEAST, 0);
    let mut best: Option<(f64, Standing, Vec<f64>)> = None;
    for step in 0..MOST_STEPS {
        let found = rows::solve(passes, asked, &prices, Some(&anchor), x, memory)?;
        if step == 0 && !found.is_finite() {
            return Ok(found);
        }
        let has_arrived = found.miss <= MISSED;
        let proof = prove(passes, asked, x, &found.prices, rooms)?;
        if has_arrived {
            prices.clone_from(&found.prices);
        }
        let gap = proof.relative_gap + proof.relative_infeasibility;
        // Where nothing is proven the last point is the best.
        let is_better =
            best.as_ref().is_none_or(|(least, ..)| gap < *least || least.is_infinite() && has_arrived);
        if is_better {
            best = Some((gap, found, x.to_vec()));
        }
        let least = best.as_ref().map_or(f64::INFINITY, |(least, ..)| *least);
        if least <= ENOUGH || step >= 12 && least <= 1e-9 && !is_better {
            break;
        }
        let by = if has_arrived {
            anchor.centres.copy_from_slice(x);
            if shrunk > least_weight { SHRINK } else { 1.0 }
        } else {
            failures += 1;
            if failures > FORGIVEN {
                break;
            }
            least_weight = shrunk / SHRINK;
            1.0 / (SHRINK * SHRINK)
        };
        shrunk *= by;
        anchor.weights.iter_mut().for_each(|weight| *weight *= by);
    }
    let (_, found, kept) = best.expect("at least one step was made");
    x.copy_from_slice(&kept);
    Ok(found)
}

/// The first centres: the middle of the limits, or as near to 0 as they allow; and weights by which a user crosses its limits for about the
/// first price.
fn anchor(problem: &Problem, rows: &[Row], carriers: Carriers) -> Anchor {
    let price = first_price(problem).abs().max(1e-3);
    let asked = rows.iter().map(|row| row.value.abs()).fold(0.0, f64::max);
    let common = (asked / problem.users as f64).max(1e-3);
    let mut anchor = Anchor::default();
    for group in &problem.groups {
        let carries = carriers == Carriers::All || !group.costs.bends();
        for place in 0..group.count {
            let (lower, upper) = (group.lower.get(place), group.upper.get(place));
            let is_bounded = lower.is_finite() && upper.is_finite();
            let centre = if is_bounded { 0.5 * lower + 0.5 * upper } else { 0.0_f64.clamp(lower, upper) };
            let a = group.coefficients.iter().map(|column| column.get(place).abs()).fold(0.0, f64::max);
            let range = if is_bounded { upper - lower } else { common.max(centre.abs()) };
            let weight = price * a.max(1e-3) / range.max(1e-9 * (1.0 + centre.abs()));
            anchor.weights.push(if carries { weight } else { 0.0 });
            anchor.centres.push(centre);
        }
    }
    anchor
}
