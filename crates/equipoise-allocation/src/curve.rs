//! The merit order: what users give together at every price of one row.
//!
//! ```text
//! price  ->  sum_i a_i x_i(a_i price)
//! ```
//!
//! - Given: a problem. Returns: points of the curve in plain arithmetic, for a picture. Must not know: how it is drawn.

use equipoise::{Control, Team};

use crate::one_row::sample;
use crate::pass::Passes;
use crate::problem::Problem;

/// Users up to which every breakpoint is a point of the curve.
const FEW: usize = 2000;
/// Users from which on a sample stands for all.
const MANY: usize = 20_000;
/// Prices between the first and the last breakpoint, beside those.
const GRID: usize = 300;

/// Points `(given, price)` of the first row, by rising price; `price` is one that should be among them. None where there are
/// several rows.
pub fn supply_curve(problem: &Problem, price: f64) -> Vec<(f64, f64)> {
    if problem.rows().len() != 1 {
        return Vec::new();
    }
    if problem.users() > MANY
        && let Some(few) = sample(problem, problem.rows())
    {
        let share = few.users() as f64 / problem.users() as f64;
        return points(&few, price).into_iter().map(|(given, price)| (given / share, price)).collect();
    }
    points(problem, price)
}

fn points(problem: &Problem, price: f64) -> Vec<(f64, f64)> {
    let mut breaks = Vec::new();
    for group in &problem.groups {
        for place in 0..group.count {
            let a = group.coefficients[0].get(place);
            for limit in [group.lower.get(place), group.upper.get(place)] {
                let (left, right) = group.costs.slopes(place, limit);
                for slope in [left / a, right / a] {
                    if limit.is_finite() && slope.is_finite() {
                        breaks.push(slope);
                    }
                }
            }
        }
    }
    breaks.push(price);
    breaks.sort_unstable_by(f64::total_cmp);
    let (low, high) = (breaks[0], breaks[breaks.len() - 1]);
    let spread = if high > low { high - low } else { low.abs().max(1.0) };
    let (low, high) = (low - 0.02 * spread, high + 0.02 * spread);
    let mut prices: Vec<f64> = (0..=GRID).map(|k| low + (high - low) * k as f64 / GRID as f64).collect();
    if problem.users() <= FEW {
        prices.extend(breaks.iter().flat_map(|price| [*price, price.next_up(), price.next_down()]));
    }
    prices.sort_unstable_by(f64::total_cmp);
    prices.dedup();
    let (team, control) = (Team::of(1), Control::unlimited());
    let passes = Passes::new(problem, &team, &control);
    let mut x = vec![0.0; problem.users()];
    let at = |price: &f64| {
        let supply = passes.respond(&[*price], None, false, &mut x).ok()?;
        supply.given[0].is_finite().then_some((supply.given[0], *price))
    };
    prices.iter().filter_map(at).collect()
}
