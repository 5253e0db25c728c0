//! One row: the price at which the users give what is asked.
//!
//! ```text
//! phi(lambda) = sum_i a_i x_i(a_i lambda) = b
//! ```
//!
//! - Given: a problem of one row, a first price. Returns: x in the order of groups, the price. Must not know: what is proven.
//!
//! phi never falls. Where it jumps past b (linear costs, kinks), users whose response jumps share what is missing in
//! proportion to their jumps; those without an upper or lower end take all of it. Of many users a sample is asked first:
//! its price is where the search among all of them begins.

use equipoise::{Control, Team};

use crate::error::{Error, Result};
use crate::pass::Passes;
use crate::problem::{Problem, Row};
use crate::root::{self, Point, Root};
use crate::solve::Memory;

/// Users from which on a sample is asked first.
const MANY: usize = 1 << 16;
/// One block of so many users in so many blocks is asked.
const SAMPLED_BLOCK: usize = 64;
const SAMPLED_SHARE: usize = 32;

/// What was found: x, and the price.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    pub(crate) x: Vec<f64>,
    pub(crate) price: f64,
    /// Another price that is as good up to rounding.
    pub(crate) other: f64,
    /// Whether the response has a slope there.
    pub(crate) has_slope: bool,
    /// What the row lacks at x, and the size of its terms, where that is known.
    pub(crate) missing: Option<(f64, f64)>,
}

/// Finds x for the right-hand side of the row.
pub(crate) fn solve(
    problem: &Problem,
    row: &Row,
    passes: &Passes<'_>,
    start: Option<f64>,
    memory: &mut Memory<'_>,
) -> Result<Found> {
    let mut x = vec![0.0; problem.users];
    let first = match start {
        Some(price) => price,
        None if problem.users >= MANY => of_sample(problem, row, passes.control, first_price(problem))?,
        None => first_price(problem),
    };
    memory.prices = vec![first];
    let mut missing = (0.0, 0.0);
    let found = root::find(first, root::ANYWHERE, row.value, root::SHARP, |price| {
        let supply = passes.respond(&[price], None, true, &mut x)?;
        missing = (row.value - supply.given[0], supply.sizes[0]);
        memory.step(&[price], &supply.given, std::slice::from_ref(row));
        Ok::<Point, Error>(Point { given: supply.given[0], slope: supply.jacobian[0], size: supply.sizes[0] })
    })?;
    match found {
        Root::Met { price, slope } => {
            Ok(Found { x, price, other: price, has_slope: slope > 0.0, missing: Some(missing) })
        }
        Root::Jump { low, high } => {
            let mut above = vec![0.0; problem.users];
            passes.respond(&[low], None, true, &mut x)?;
            passes.respond(&[high], None, true, &mut above)?;
            fill(problem, row.value, &mut x, &above);
            Ok(Found { x, price: low, other: high, has_slope: false, missing: None })
        }
        Root::Undefined { price } => Err(unbounded(problem, price)),
    }
}

/// The price of a sample of the users.
fn of_sample(problem: &Problem, row: &Row, control: &Control, first: f64) -> Result<f64> {
    let Some(sample) = sample(problem, std::slice::from_ref(row)) else { return Ok(first) };
    let team = Team::of(1);
    let passes = Passes::new(&sample, &team, control);
    let mut x = vec![0.0; sample.users];
    let asked = sample.rows[0].value;
    let found = root::find(first, root::ANYWHERE, asked, root::ROUGH, |price| {
        let supply = passes.respond(&[price], None, true, &mut x)?;
        Ok::<Point, Error>(Point { given: supply.given[0], slope: supply.jacobian[0], size: supply.sizes[0] })
    })?;
    Ok(match found {
        Root::Met { price, .. } | Root::Undefined { price } => price,
        Root::Jump { low, .. } => low,
    })
}

/// Every so many blocks of users, with right-hand sides in proportion.
pub(crate) fn sample(problem: &Problem, rows: &[Row]) -> Option<Problem> {
    let mut groups = Vec::new();
    for group in &problem.groups {
        let blocks = (0..group.count).step_by(SAMPLED_BLOCK * SAMPLED_SHARE);
        let users: Vec<u32> = blocks
            .flat_map(|first| first..(first + SAMPLED_BLOCK).min(group.count))
            .map(|user| user as u32)
            .collect();
        groups.push(group.gather(&users));
    }
    let count: usize = groups.iter().map(|group| group.count).sum();
    let share = count as f64 / problem.users as f64;
    let rows = rows.iter().map(|row| Row { value: row.value * share, ..row.clone() }).collect();
    Problem::new(groups, rows).ok()
}

/// A price to begin with: the median of the slopes in the middle of the limits of some users.
pub(crate) fn first_price(problem: &Problem) -> f64 {
    const ASKED: usize = 63;
    let mut prices = Vec::new();
    for group in &problem.groups {
        for place in (0..group.count).step_by((group.count / ASKED).max(1)) {
            let (left, right) = group.costs.slopes(place, group.inside(place));
            let price = 0.5 * (left + right) / group.coefficients[0].get(place);
            if price.is_finite() {
                prices.push(price);
            }
        }
    }
    let middle = prices.len() / 2;
    if prices.is_empty() { 0.0 } else { *prices.select_nth_unstable_by(middle, f64::total_cmp).1 }
}

/// Shares what is missing among users whose response jumps: x is it from below, `above` from above the jump.
pub(crate) fn fill(problem: &Problem, asked: f64, x: &mut [f64], above: &[f64]) {
    // What responses without an end stand at meanwhile: their other end, or 0.
    let ground = |here: f64, there: f64| {
        if here.is_finite() {
            here
        } else if there.is_finite() {
            there
        } else {
            0.0
        }
    };
    let (mut given, mut jump) = (crate::lanes::Twofold::default(), 0.0);
    let mut endless = Vec::new();
    let mut at = 0;
    for group in &problem.groups {
        for place in 0..group.count {
            let a = group.coefficients[0].get(place);
            let (here, there) = (x[at], above[at]);
            if here.is_infinite() || there.is_infinite() {
                if a != 0.0 {
                    endless.push((at, a, group.lower.get(place), group.upper.get(place)));
                }
                x[at] = ground(here, there);
            } else {
                jump += a * (there - here);
            }
            given.add_numbers(&[a * x[at]]);
            at += 1;
        }
    }
    let missing = asked - given.value();
    // Those without an end in the direction that is wanted.
    let takers: Vec<(usize, f64)> = endless
        .iter()
        .filter(
            |(_, a, lower, upper)| if missing * a > 0.0 { upper.is_infinite() } else { lower.is_infinite() },
        )
        .map(|&(at, a, ..)| (at, a))
        .collect();
    if !takers.is_empty() && missing != 0.0 {
        for &(at, a) in &takers {
            x[at] += missing / a / takers.len() as f64;
        }
        return;
    }
    let share = if jump > 0.0 { (missing / jump).clamp(0.0, 1.0) } else { 0.0 };
    for (here, there) in x.iter_mut().zip(above) {
        if there.is_finite() && *there != *here {
            *here += share * (there - *here);
        }
    }
}

/// Which users' costs fall without end at a price.
pub(crate) fn unbounded(problem: &Problem, price: f64) -> Error {
    let mut named = Vec::new();
    for (g, group) in problem.groups.iter().enumerate() {
        for place in 0..group.count {
            let s = price * group.coefficients[0].get(place);
            for (limit, word) in [(group.lower.get(place), "lower"), (group.upper.get(place), "upper")] {
                let far = limit.clamp(-1e150, 1e150);
                let (left, right) = group.costs.slopes(place, far);
                let runs = if word == "upper" { right <= s } else { left >= s };
                if limit.is_infinite() && runs && named.len() < 4 {
                    named.push(format!("user {} has no {word} limit", problem.number(g, place)));
                }
            }
        }
    }
    let evidence = format!("at the price {price} {}", named.join(", "));
    Error::Unbounded { evidence }
}

/// Moves users that are free to move until the row holds up to rounding; `missing` is what it lacks. Users leave their limits
/// only where more than `allowed` is missing.
pub(crate) fn settle(problem: &Problem, x: &mut [f64], missing: f64, allowed: f64) {
    const MOVERS: usize = 8;
    let (mut missing, mut movers) = (missing, 0);
    // First whoever can take all of it and stay inside, then anybody as far as limits allow.
    for is_last in [false, true] {
        if is_last && missing.abs() <= allowed {
            return;
        }
        let mut at = 0;
        for group in &problem.groups {
            for place in 0..group.count {
                if missing == 0.0 || movers == MOVERS {
                    return;
                }
                let a = group.coefficients[0].get(place);
                let (lower, upper) = (group.lower.get(place), group.upper.get(place));
                let own = x[at];
                if a != 0.0 && (is_last || own > lower && own < upper) {
                    let wanted = own + missing / a;
                    let moved = wanted.clamp(lower, upper);
                    if is_last || wanted > lower && wanted < upper {
                        x[at] = moved;
                        movers += usize::from(!is_last);
                        if moved == own {
                            at += 1;
                            continue;
                        }
                        // What the addition rounded away is left to the next.
                        let rest = a.mul_add(own - moved, missing);
                        missing = if rest.abs() < missing.abs() { rest } else { 0.0 };
                    }
                }
                at += 1;
            }
        }
    }
}
