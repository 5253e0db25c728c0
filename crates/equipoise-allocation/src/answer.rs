//! Answers: x and prices, by whichever way fits the problem.
//!
//! | problem | way |
//! |---|---|
//! | one row that asks for the least or the most there is | everybody at a limit |
//! | one row, quadratic costs, many users | [`crate::window`] |
//! | one row | [`crate::one_row`] |
//! | several rows, all costs bend | [`crate::rows`] |
//! | several rows | [`crate::proximal`] |
//! | several rows, and the way above led nowhere | [`crate::proximal`] with weights for everybody, then [`crate::rows`] |
//!
//! - Given: a problem, perhaps prices to begin with. Returns: an [`Answer`]. Must not know: what is proven of it, files.

use equipoise::{Control, Team};

use crate::contradiction;
use crate::error::{Error, Result};
use crate::implied::{self, End, Rooms};
use crate::one_row::{self, settle};
use crate::pass::Passes;
use crate::prices::{self, Range};
use crate::problem::{Problem, ROUNDED, Row, Sense};
use crate::proximal::{self, Carriers};
use crate::round::settle_rows;
use crate::rows::{self, Standing};
use crate::solve::Memory;
use crate::{root, window};

/// x in the order of groups, and its prices.
pub(crate) struct Answer {
    pub(crate) x: Vec<f64>,
    pub(crate) prices: Vec<f64>,
    /// Prices that are as good up to rounding, where there are others.
    pub(crate) others: Option<Vec<f64>>,
    pub(crate) ranges: Vec<Range>,
}

/// The first way to an answer, by the kind of the problem.
pub(crate) fn first(
    problem: &Problem,
    rows: &[Row],
    start: Option<&[f64]>,
    passes: &Passes<'_>,
    memory: &mut Memory<'_>,
) -> Result<Answer> {
    match rows {
        [row] => one(problem, row, start.map(|start| start[0]), passes, memory),
        _ => several(problem, rows, start, passes, memory),
    }
}

fn one(
    problem: &Problem,
    row: &Row,
    start: Option<f64>,
    passes: &Passes<'_>,
    memory: &mut Memory<'_>,
) -> Result<Answer> {
    memory.method = "one row";
    if row.sense != Sense::Equal
        && let Some(answer) = unasked(problem, row, passes, memory)?
    {
        return Ok(answer);
    }
    if let Some(end) = problem.end(0, row) {
        return at_end(problem, row, end, passes, memory);
    }
    let found = if window::applies(problem) {
        memory.method = "window";
        window::solve(problem, row, passes, start, memory)?
    } else {
        None
    };
    let mut found = match found {
        Some(found) => found,
        None => one_row::solve(problem, row, passes, start, memory)?,
    };
    let (missing, size) = if let Some(missing) = found.missing {
        missing
    } else {
        let (given, size) = passes.given(&found.x)?[0];
        (row.value - given, size)
    };
    // On a flat stretch nobody leaves its limits for what is only rounding.
    let is_flat = !found.has_slope
        && found.price == found.other
        && missing.abs() <= root::FLAT * (size + row.value.abs());
    if !is_flat && missing.is_finite() {
        settle(problem, &mut found.x, missing, ROUNDED * (size + row.value.abs()));
    }
    let range = if found.has_slope {
        Range::point(found.price)
    } else {
        prices::range(problem, &found.x, 0, 0.0).around(row.sense.allowed(found.price), row.sense)
    };
    let price = range.inside(found.price);
    let others = (found.other != price).then(|| vec![found.other]);
    Ok(Answer { x: found.x, prices: vec![price], others, ranges: vec![range] })
}

/// The answer where a one-sided row asks for nothing: its price is 0.
fn unasked(
    problem: &Problem,
    row: &Row,
    passes: &Passes<'_>,
    memory: &mut Memory<'_>,
) -> Result<Option<Answer>> {
    let mut x = vec![0.0; problem.users];
    let supply = passes.respond(&[0.0], None, true, &mut x)?;
    memory.step(&[0.0], &supply.given, std::slice::from_ref(row));
    let beyond = supply.given[0] - row.value;
    let is_met = if row.sense == Sense::AtLeast { beyond >= 0.0 } else { beyond <= 0.0 };
    if x.iter().any(|x| x.is_infinite()) {
        return if is_met { Err(one_row::unbounded(problem, 0.0)) } else { Ok(None) };
    }
    let range = if beyond == 0.0 {
        prices::range(problem, &x, 0, 0.0).around(0.0, row.sense)
    } else {
        Range::point(0.0)
    };
    Ok(is_met.then(|| Answer { x, prices: vec![0.0], others: None, ranges: vec![range] }))
}

/// The answer where the row asks for the least or the most that users give: everybody that counts is at a limit.
fn at_end(
    problem: &Problem,
    row: &Row,
    end: End,
    passes: &Passes<'_>,
    memory: &mut Memory<'_>,
) -> Result<Answer> {
    check_pins(problem, row, 0, end)?;
    let mut x = vec![0.0; problem.users];
    passes.respond(&[0.0], None, false, &mut x)?;
    // The price at which the first user would be off its limit.
    let mut price: Option<f64> = None;
    let mut at = 0;
    for group in &problem.groups {
        for place in 0..group.count {
            let (a, lower, upper) =
                (group.coefficients[0].get(place), group.lower.get(place), group.upper.get(place));
            if let Some(pin) = end.pin(a, lower, upper) {
                x[at] = pin;
                let way = 1e-9 * if upper - lower < 1.0 { upper - lower } else { 1.0 };
                let inside = if pin == lower { pin + way } else { pin - way };
                let (left, right) = group.costs.slopes(place, inside);
                let own = 0.5 * (left + right) / a;
                if lower < upper && own.is_finite() {
                    let first = price.unwrap_or(own);
                    price = Some(if end == End::Least { own.min(first) } else { own.max(first) });
                }
            }
            at += 1;
        }
    }
    if x.iter().any(|x| x.is_infinite()) {
        return Err(one_row::unbounded(problem, 0.0));
    }
    let price = row.sense.allowed(price.unwrap_or_else(|| one_row::first_price(problem)));
    memory.step(&[price], &[row.value], std::slice::from_ref(row));
    let range = prices::range(problem, &x, 0, 0.0).around(price, row.sense);
    let range = if range.low == range.high && range.low.is_infinite() { Range::UNKNOWN } else { range };
    Ok(Answer { x, prices: vec![range.inside(price)], others: None, ranges: vec![range] })
}

/// An error where a row pins a user to a limit at which its cost has no value.
fn check_pins(problem: &Problem, row: &Row, k: usize, end: End) -> Result<()> {
    for (g, group) in problem.groups.iter().enumerate() {
        for place in 0..group.count {
            let a = group.coefficients[k].get(place);
            let pin = end.pin(a, group.lower.get(place), group.upper.get(place));
            if let Some(x) = pin.filter(|x| !group.costs.value(place, *x).is_finite()) {
                let (row, asked, user) = (row.name.clone(), row.value, problem.number(g, place));
                let way = if end == End::Least { "more" } else { "less" };
                return Err(Error::NoValue { row, asked, user, x, way });
            }
        }
    }
    Ok(())
}

fn several(
    problem: &Problem,
    asked: &[Row],
    start: Option<&[f64]>,
    passes: &Passes<'_>,
    memory: &mut Memory<'_>,
) -> Result<Answer> {
    let mut is_pinned = false;
    for (k, row) in asked.iter().enumerate() {
        if let Some(end) = problem.end(k, row) {
            check_pins(problem, row, k, end)?;
            is_pinned = true;
        }
    }
    if is_pinned && let Some(narrow) = implied::narrowed(problem, asked) {
        let passes = Passes::new(&narrow, passes.team, passes.control);
        return within(&narrow, asked, start, &passes, memory);
    }
    within(problem, asked, start, passes, memory)
}

fn within(
    problem: &Problem,
    asked: &[Row],
    start: Option<&[f64]>,
    passes: &Passes<'_>,
    memory: &mut Memory<'_>,
) -> Result<Answer> {
    /// Users from which on a sample is asked first.
    const MANY: usize = 1 << 15;
    let bends = bends(problem);
    memory.method = if bends { "dual newton" } else { "proximal points" };
    let mut prices = start.map_or_else(|| vec![0.0; asked.len()], <[f64]>::to_vec);
    if start.is_none()
        && bends
        && problem.users >= MANY
        && let Some(sample) = one_row::sample(problem, asked)
    {
        let team = Team::of(1);
        let few = Passes::new(&sample, &team, passes.control);
        let mut x = vec![0.0; sample.users];
        let mut quiet = Memory::new(asked.len(), None);
        prices = rows::solve(&few, &sample.rows, &prices, None, &mut x, &mut quiet)?.prices;
        memory.prices.clone_from(&prices);
    }
    let mut x = vec![0.0; problem.users];
    let mut solve = |prices: &[f64], x: &mut [f64]| {
        if bends {
            rows::solve(passes, asked, prices, None, x, memory)
        } else {
            let rooms = Rooms::of(problem, asked);
            proximal::solve((problem, asked), Carriers::Straight, &rooms, passes, prices, x, memory)
        }
    };
    let mut found = solve(&prices, &mut x)?;
    if !found.is_finite() {
        // Users without an end: from prices at which there is one.
        for prices in rows::starts(problem, asked) {
            found = solve(&prices, &mut x)?;
            if found.is_finite() {
                break;
            }
        }
    }
    if found.miss > 1e-6 || !found.is_finite() {
        contradiction::check(problem, asked, &found.prices)?;
    }
    finish(problem, asked, found, x, passes)
}

/// Whether all costs bend.
fn bends(problem: &Problem) -> bool {
    problem.groups.iter().all(|group| group.costs.bends())
}

/// The answer at these prices: x as near to the rows as it gets.
fn finish(
    problem: &Problem,
    asked: &[Row],
    found: Standing,
    mut x: Vec<f64>,
    passes: &Passes<'_>,
) -> Result<Answer> {
    let given = if finite(problem, &mut x) {
        passes.given(&x)?.into_iter().map(|(given, _)| given).collect()
    } else {
        found.supply.given.clone()
    };
    settle_rows(problem, asked, &given, &found.prices, &mut x);
    let (prices, ranges) = prices::ranges(problem, asked, &x, &found);
    let others = (prices != found.prices).then_some(found.prices);
    Ok(Answer { x, prices, others, ranges })
}

/// A way to an answer of several rows where the first one led nowhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// Proximal points with weights for everybody.
    Proximal,
    /// Newton's method from the prices at hand.
    Newton,
}

/// Another answer; the problem may be one with narrower limits.
pub(crate) fn again(
    problem: &Problem,
    asked: &[Row],
    way: Way,
    prices: &[f64],
    passes: &Passes<'_>,
    memory: &mut Memory<'_>,
) -> Result<Answer> {
    let mut x = vec![0.0; problem.users];
    let found = if way == Way::Newton && bends(problem) {
        rows::solve(passes, asked, prices, None, &mut x, memory)?
    } else {
        memory.method = "proximal points";
        let start = match way {
            Way::Proximal => vec![0.0; asked.len()],
            Way::Newton => prices.to_vec(),
        };
        let rooms = Rooms::unknown(asked.len());
        proximal::solve((problem, asked), Carriers::All, &rooms, passes, &start, &mut x, memory)?
    };
    finish(problem, asked, found, x, passes)
}

/// What users give at the last prices of a run that was ended.
pub(crate) fn last(problem: &Problem, passes: &Passes<'_>, memory: &Memory<'_>) -> Result<Answer> {
    let unlimited = Control::unlimited();
    let mut x = vec![0.0; problem.users];
    passes.patient(&unlimited).respond(&memory.prices, None, false, &mut x)?;
    finite(problem, &mut x);
    let ranges = vec![Range::UNKNOWN; memory.prices.len()];
    Ok(Answer { x, prices: memory.prices.clone(), others: None, ranges })
}

/// Responses without an end stand at their other limit, or at 0; whether there were any.
fn finite(problem: &Problem, x: &mut [f64]) -> bool {
    let (mut at, mut any) = (0, false);
    for group in &problem.groups {
        for place in 0..group.count {
            if !x[at].is_finite() {
                let (lower, upper) = (group.lower.get(place), group.upper.get(place));
                x[at] = [lower, upper].into_iter().find(|limit| limit.is_finite()).unwrap_or(0.0);
                any = true;
            }
            at += 1;
        }
    }
    any
}
