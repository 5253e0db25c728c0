//! Several rows and costs that do not all bend: proximal points.
//!
//! ```text
//! x_{t+1} = argmin sum_i f_i(x_i) + w_i/2 (x_i - x_i,t)^2   subject to the rows and the limits
//! ```
//!
//! Each point has a smooth dual ([`crate::rows`]). With straight costs the points arrive after finitely many steps, and the
//! prices of the last one are those of the problem itself. Weights shrink from step to step. Users whose costs bend by
//! themselves carry none.
//!
//! - Given: passes over a problem, first prices. Returns: x and prices. Must not know: files, how the result is judged.

use crate::error::Result;
use crate::one_row::first_price;
use crate::pass::{Anchor, Passes};
use crate::problem::{Problem, Row};
use crate::proof::prove;
use crate::rows::{self, Standing};
use crate::solve::Memory;

/// Steps at most.
const MOST_STEPS: usize = 60;
/// By what weights shrink, and how far.
const SHRINK: f64 = 0.2;
const LEAST: f64 = 1e-7;
/// The relative gap at which no further step is made.
const ENOUGH: f64 = 1e-13;

/// Finds x (in the order of groups) and prices.
pub(crate) fn solve(
    problem: &Problem,
    asked: &[Row],
    passes: &Passes<'_>,
    start: &[f64],
    x: &mut [f64],
    memory: &mut Memory<'_>,
) -> Result<Standing> {
    let mut anchor = anchor(problem, asked);
    let mut prices = start.to_vec();
    let mut shrunk = 1.0;
    let mut best: Option<(f64, Standing, Vec<f64>)> = None;
    for step in 0..MOST_STEPS {
        let found = rows::solve(passes, asked, &prices, Some(&anchor), x, memory)?;
        if step == 0 && !found.is_finite() {
            return Ok(found);
        }
        prices.clone_from(&found.prices);
        let proof = prove(passes, asked, x, &prices)?;
        let gap = proof.relative_gap + proof.relative_infeasibility;
        let is_better = best.as_ref().is_none_or(|(least, ..)| gap < *least);
        if is_better {
            best = Some((gap, found, x.to_vec()));
        }
        let least = best.as_ref().map_or(f64::INFINITY, |(least, ..)| *least);
        if least <= ENOUGH || step >= 12 && least <= 1e-9 && !is_better {
            break;
        }
        anchor.centres.copy_from_slice(x);
        if shrunk > LEAST {
            shrunk *= SHRINK;
            anchor.weights.iter_mut().for_each(|weight| *weight *= SHRINK);
        }
    }
    let (_, found, kept) = best.expect("at least one step was made");
    x.copy_from_slice(&kept);
    Ok(found)
}

/// The first centres: the middle of the limits, or as near to 0 as they allow; and weights by which a user crosses its limits for about the
/// first price.
fn anchor(problem: &Problem, rows: &[Row]) -> Anchor {
    let price = first_price(problem).abs().max(1e-3);
    let asked = rows.iter().map(|row| row.value.abs()).fold(0.0, f64::max);
    let common = (asked / problem.users as f64).max(1e-3);
    let mut anchor = Anchor::default();
    for group in &problem.groups {
        let bends = group.costs.bends();
        for place in 0..group.count {
            let (lower, upper) = (group.lower.get(place), group.upper.get(place));
            let is_bounded = lower.is_finite() && upper.is_finite();
            let centre = if is_bounded { 0.5 * lower + 0.5 * upper } else { 0.0_f64.clamp(lower, upper) };
            let a = group.coefficients.iter().map(|column| column.get(place).abs()).fold(0.0, f64::max);
            let range = if is_bounded { upper - lower } else { common.max(centre.abs()) };
            let weight = price * a.max(1e-3) / range.max(1e-9 * (1.0 + centre.abs()));
            anchor.weights.push(if bends { 0.0 } else { weight });
            anchor.centres.push(centre);
        }
    }
    anchor
}
