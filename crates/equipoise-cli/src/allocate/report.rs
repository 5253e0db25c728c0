//! An allocation for people and for scripts.
//!
//! Given: what was found. Returns: text, or an object. Must not know: how it was found.

use std::fmt::Write;

use equipoise::Status;
use equipoise::enclosure::Sum;
use equipoise_allocation::{Allocation, Row};
use serde::{Deserialize, Serialize};

use super::data::Input;
use super::run::Found;
use crate::report::{line, number};
use crate::rounding::{self, above};

/// Users that are listed without being asked for.
const SHORT: usize = 12;

/// The object of `--json` and `--out`.
#[derive(Debug, Serialize)]
pub(super) struct AllocationJson<'a> {
    status: &'static str,
    /// Of many demands, the sum.
    objective: f64,
    bound: f64,
    relative_gap: f64,
    gap: f64,
    infeasibility: f64,
    users: usize,
    rows: Vec<RowJson<'a>>,
    seconds_load: f64,
    seconds_solve: f64,
    seconds_certificate: f64,
    method: &'static str,
    passes: usize,
    names: Option<&'a [String]>,
    /// Null with `--no-x`, and where there are points.
    x: Option<&'a [f64]>,
    prices: Option<&'a [f64]>,
    price_low: Option<&'a [f64]>,
    price_high: Option<&'a [f64]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dx_db: Option<Rates<'a>>,
    /// Of many demands: those without a converged point.
    #[serde(skip_serializing_if = "Option::is_none")]
    missing: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    points: Option<Vec<PointJson<'a>>>,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    check: Option<Check>,
}

/// What the prices that came with a point are worth.
#[derive(Debug, Clone, Copy, Serialize)]
pub(super) struct Check {
    /// What they prove; null where they prove nothing, or none came.
    pub(super) price_bound: Option<f64>,
    /// Whether they alone prove that the gap is met; null where none came.
    pub(super) prices_met: Option<bool>,
}

/// One list a row; null where x does not move smoothly.
#[derive(Debug, Serialize)]
struct Rates<'a>(Option<&'a [Vec<f64>]>);

#[derive(Debug, Serialize)]
struct RowJson<'a> {
    name: &'a str,
    sense: &'static str,
    value: f64,
}

/// One demand of many.
#[derive(Debug, Serialize)]
struct PointJson<'a> {
    demand: f64,
    status: &'static str,
    objective: f64,
    bound: f64,
    relative_gap: f64,
    infeasibility: f64,
    prices: &'a [f64],
    price_low: &'a [f64],
    price_high: &'a [f64],
    x: Option<&'a [f64]>,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    check: Option<Check>,
}

/// What is read back of such an object.
#[derive(Debug, Deserialize)]
pub(super) struct Stored {
    pub(super) x: Option<Vec<f64>>,
    pub(super) prices: Option<Vec<f64>>,
    pub(super) names: Option<Vec<String>>,
    pub(super) points: Option<Vec<StoredPoint>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct StoredPoint {
    pub(super) demand: Option<f64>,
    pub(super) x: Option<Vec<f64>>,
    pub(super) prices: Option<Vec<f64>>,
}

/// The status of all: converged if all are, else that of the first which is not.
pub(super) fn status(list: &[Allocation]) -> Status {
    list.iter().map(|one| one.status).find(|status| *status != Status::Converged).unwrap_or(Status::Converged)
}

pub(super) fn worst(list: &[Allocation], of: impl Fn(&Allocation) -> f64) -> f64 {
    list.iter().map(of).fold(0.0, f64::max)
}

/// A sum from below and from above.
fn total(terms: impl Iterator<Item = f64>) -> (f64, f64) {
    let mut sum = Sum::default();
    terms.for_each(|term| sum.add(term));
    let sum = sum.value();
    if sum.is_known() { (sum.lower(), sum.upper()) } else { (f64::NEG_INFINITY, f64::INFINITY) }
}

impl<'a> AllocationJson<'a> {
    pub(super) fn new(found: &'a Found, input: &'a Input) -> Self {
        let list = &found.list;
        let one = found.demands.is_none().then(|| &list[0]);
        let points = found.demands.as_ref().map(|demands| {
            let point = |(k, (one, demand)): (usize, (&'a Allocation, &f64))| PointJson {
                demand: *demand,
                status: one.status.name(),
                objective: one.objective,
                bound: one.bound,
                relative_gap: one.relative_gap,
                infeasibility: one.infeasibility,
                prices: &one.prices,
                price_low: &one.price_low,
                price_high: &one.price_high,
                x: found.keep_x.then_some(one.x.as_slice()),
                check: found.checks.as_ref().map(|checks| checks[k]),
            };
            list.iter().zip(demands).enumerate().map(point).collect()
        });
        let row = |row: &'a Row| RowJson { name: &row.name, sense: row.sense.name(), value: row.value };
        Self {
            status: status(list).name(),
            objective: total(list.iter().map(|one| one.objective)).1,
            bound: total(list.iter().map(|one| one.bound)).0,
            relative_gap: worst(list, |one| one.relative_gap),
            gap: input.settings.gap,
            infeasibility: worst(list, |one| one.infeasibility),
            users: input.problem.users(),
            rows: input.problem.rows().iter().map(row).collect(),
            seconds_load: input.seconds,
            seconds_solve: found.seconds,
            seconds_certificate: found.seconds_certificate,
            method: list[0].method,
            passes: list.iter().map(|one| one.passes).sum(),
            names: input.names.as_deref(),
            x: one.filter(|_| found.keep_x).map(|one| one.x.as_slice()),
            prices: one.map(|one| one.prices.as_slice()),
            price_low: one.map(|one| one.price_low.as_slice()),
            price_high: one.map(|one| one.price_high.as_slice()),
            dx_db: found.is_sensitivity_asked.then_some(Rates(found.rates.as_deref())),
            missing: points.as_ref().map(|_| found.missing()),
            points,
            check: one.and(found.checks.as_ref()).map(|checks| checks[0]),
        }
    }
}

/// An allocation for people.
pub(super) fn words(found: &Found, input: &Input) -> String {
    let list = &found.list;
    let mut text = format!("{}\n", status(list));
    if let Some(demands) = &found.demands {
        line(&mut text, "demands", &format!("{} of {}", list.len(), demands.len()));
        let ends = |of: fn(&Allocation) -> f64| {
            let low = list.iter().map(of).fold(f64::INFINITY, f64::min);
            format!("{low} to {}", list.iter().map(of).fold(f64::NEG_INFINITY, f64::max))
        };
        line(&mut text, "objectives", &ends(|one| one.objective));
        line(&mut text, "prices", &ends(|one| one.prices[0]));
    } else {
        let one = &list[0];
        line(&mut text, "objective", &format!("{} (at least {})", number(one.objective), number(one.bound)));
    }
    let (gap, allowed) = (worst(list, |one| one.relative_gap), input.settings.gap);
    line(&mut text, "relative gap", &rounding::allowed(gap, allowed));
    line(&mut text, "infeasibility", &format!("at most {}", above(worst(list, |one| one.infeasibility), 1)));
    if let Some(checks) = &found.checks {
        prices_of_file(&mut text, checks);
    }
    if found.demands.is_none() {
        prices(&mut text, &list[0], input.problem.rows());
        users(&mut text, found, input);
    }
    if input.off > 0 {
        line(&mut text, "out of service", &format!("{} generators", input.off));
    }
    let (passes, method) = (list.iter().map(|one| one.passes).sum::<usize>(), list[0].method);
    if !method.is_empty() {
        let (solve, certificate) = (found.seconds, found.seconds_certificate);
        line(
            &mut text,
            "work",
            &format!("{method}, {passes} passes, {solve:.6} s; proof {certificate:.6} s"),
        );
    }
    text
}

/// What the prices of a file are worth.
fn prices_of_file(text: &mut String, checks: &[Check]) {
    let count = |wanted: bool| checks.iter().filter(|check| check.prices_met == Some(wanted)).count();
    let (good, bad) = (count(true), count(false));
    let words = match checks {
        [Check { prices_met: Some(is_met), price_bound }] => {
            let bound = price_bound.map_or("nothing".into(), |bound| format!("at least {}", number(bound)));
            format!("those of the file prove {bound}{}", if *is_met { "" } else { ", which is not enough" })
        }
        _ if good + bad == 0 => "none in the file".into(),
        _ => format!("those of the file prove enough for {good} of {} demands", good + bad),
    };
    line(text, "file prices", &words);
}

fn prices(text: &mut String, one: &Allocation, rows: &[Row]) {
    for (k, row) in rows.iter().enumerate() {
        let (low, high) = (one.price_low[k], one.price_high[k]);
        let range = match () {
            () if low.is_nan() => String::new(),
            () if low == high => String::new(),
            () if low.is_infinite() => format!(" (any up to {} is as good)", number(high)),
            () if high.is_infinite() => format!(" (any from {} on is as good)", number(low)),
            () => format!(" (any from {} to {} is as good)", number(low), number(high)),
        };
        let asked = format!("{} {} {}", row.name, row.sense, row.value);
        line(text, "price", &format!("{} for {asked}{range}", number(one.prices[k])));
    }
}

/// What users give, the largest first.
fn users(text: &mut String, found: &Found, input: &Input) {
    let one = &found.list[0];
    let problem = &input.problem;
    let count = |is: &dyn Fn(f64, f64, f64) -> bool| {
        (0..one.x.len())
            .filter(|&user| {
                let (lower, upper) = problem.limits(user);
                is(one.x[user], lower, upper)
            })
            .count()
    };
    let what = if input.is_case { "generators" } else { "users" };
    if one.x.len() > 100_000 {
        line(text, what, &one.x.len().to_string());
        return;
    }
    let (at_lower, at_upper) = (count(&|x, lower, _| x == lower), count(&|x, _, upper| x == upper));
    let free = one.x.len() - count(&|x, lower, upper| x == lower || x == upper);
    line(
        text,
        what,
        &format!(
            "{}: {at_lower} at their lower limit, {at_upper} at their upper, {free} between",
            one.x.len()
        ),
    );
    let mut order: Vec<usize> = (0..one.x.len()).collect();
    order.sort_by(|&a, &b| one.x[b].abs().total_cmp(&one.x[a].abs()));
    let names: Vec<String> = order.iter().take(SHORT).map(|&user| input.name(user)).collect();
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).max(12);
    for (&user, name) in order.iter().zip(&names) {
        let _ = writeln!(text, "    {name:<width$} {}", one.x[user]);
    }
    if order.len() > SHORT {
        line(text, "  ...", &format!("{} more; --out FILE writes them", order.len() - SHORT));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_hold_what_they_are_sums_of() {
        let (low, high) = total([1e16, 1.0, 1.0, 1.0].into_iter());
        assert!(low <= 1e16 + 2.0 && high >= 1e16 + 4.0, "{low} {high}");
        assert_eq!(total([1.0, f64::NEG_INFINITY].into_iter()).0, f64::NEG_INFINITY);
        assert_eq!(total([1.0, f64::INFINITY].into_iter()).1, f64::INFINITY);
    }
}
