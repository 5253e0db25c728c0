//! Portfolios in words, and as the object that is printed and written.
//!
//! Given: portfolios and what they are of. Returns: text and objects. Must not know: files.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use anyhow::{Result, bail};
use equipoise::Status;
use equipoise_portfolio::{Multipliers, Portfolio};
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};

use super::data::Input;
use crate::report::{line, number};
use crate::rounding::{self, above, below};

/// The weights that are named one by one.
const SHORT: usize = 12;
/// The points of a frontier that are shown.
const GLANCE: usize = 8;

/// The object of `--json` and `--out`; what is not known is null.
#[derive(Debug, Serialize)]
pub(super) struct PortfolioJson<'a> {
    pub(super) status: &'static str,
    objective: f64,
    bound: f64,
    pub(super) relative_gap: f64,
    gap: f64,
    infeasibility: f64,
    /// Null where the bound holds everywhere.
    holds_within: Option<f64>,
    expected_return: f64,
    variance: f64,
    risk: f64,
    annual_return: f64,
    annual_risk: f64,
    periods_per_year: f64,
    turnover: f64,
    weights: ByName<'a>,
    multipliers: OfRows<'a>,
    target_return: Option<f64>,
    shrinkage: f64,
    assets: usize,
    days: usize,
    days_dropped: usize,
    cells_filled: usize,
    gaps: Vec<GapJson<'a>>,
    warnings: &'a [String],
    seconds_load: f64,
    seconds_solve: f64,
    method: &'static str,
    rounds: usize,
    names: &'a [String],
    /// Of a frontier, how many points are missing or did not converge.
    #[serde(skip_serializing_if = "Option::is_none")]
    missing: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    points: Option<Vec<Point<'a>>>,
}

/// One portfolio of a frontier.
#[derive(Debug, Serialize)]
struct Point<'a> {
    target_return: Option<f64>,
    status: &'static str,
    objective: f64,
    bound: f64,
    relative_gap: f64,
    infeasibility: f64,
    expected_return: f64,
    variance: f64,
    risk: f64,
    turnover: f64,
    weights: ByName<'a>,
    multipliers: OfRows<'a>,
}

/// An asset that lacked numbers.
#[derive(Debug, Serialize)]
struct GapJson<'a> {
    asset: &'a str,
    lacking: usize,
    first_row: usize,
}

/// Numbers by the names of the assets, in the order of the table.
#[derive(Debug)]
struct ByName<'a> {
    names: &'a [String],
    values: &'a [f64],
}

impl Serialize for ByName<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
        to.collect_map(self.names.iter().zip(self.values))
    }
}

/// Multipliers by the names of their rows.
#[derive(Debug)]
struct OfRows<'a> {
    own: &'a Multipliers,
    input: &'a Input,
    has_target: bool,
}

impl Serialize for OfRows<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("budget", &self.own.budget)?;
        map.serialize_entry("return", &self.has_target.then_some(self.own.target_return))?;
        let turnover = self.input.constraints.turnover.as_ref().filter(|own| own.limit.is_finite());
        map.serialize_entry("turnover", &turnover.map(|_| self.own.turnover))?;
        for (group, value) in self.input.constraints.groups.iter().zip(&self.own.groups) {
            map.serialize_entry(&group.name, value)?;
        }
        map.end()
    }
}

/// What is read back of such an object.
#[derive(Debug, Deserialize)]
pub(super) struct Stored {
    weights: StoredWeights,
    names: Option<Vec<String>>,
    multipliers: Option<HashMap<String, Option<f64>>>,
    points: Option<Vec<StoredPoint>>,
}

#[derive(Debug, Deserialize)]
struct StoredPoint {
    target_return: Option<f64>,
    weights: StoredWeights,
    multipliers: Option<HashMap<String, Option<f64>>>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum StoredWeights {
    Named(HashMap<String, f64>),
    Listed(Vec<f64>),
}

/// A portfolio to begin at, or to check.
#[derive(Debug)]
pub(super) struct Claimed {
    /// Of the point of a frontier.
    pub(super) target_return: Option<f64>,
    pub(super) weights: Vec<f64>,
    pub(super) multipliers: Option<Multipliers>,
}

impl Stored {
    /// Whether it holds a frontier.
    pub(super) fn is_frontier(&self) -> bool {
        self.points.is_some()
    }

    /// The weights of the one portfolio, or of the first of a frontier; assets that are not named have none.
    pub(super) fn first(self, input: &Input) -> Result<Claimed> {
        claimed(self.weights, self.multipliers, None, self.names.as_deref(), input)
    }

    /// Every point of a frontier.
    pub(super) fn points(self, input: &Input) -> Result<Vec<Claimed>> {
        let names = self.names;
        let of = |point: StoredPoint| {
            claimed(point.weights, point.multipliers, point.target_return, names.as_deref(), input)
        };
        self.points.unwrap_or_default().into_iter().map(of).collect()
    }
}

fn claimed(
    weights: StoredWeights,
    multipliers: Option<HashMap<String, Option<f64>>>,
    target_return: Option<f64>,
    names: Option<&[String]>,
    input: &Input,
) -> Result<Claimed> {
    let assets = input.returns.names();
    let weights = match weights {
        StoredWeights::Named(weights) => {
            let known: HashSet<&String> = assets.iter().collect();
            if let Some(stranger) = weights.keys().find(|name| !known.contains(name)) {
                bail!("its weights name `{stranger}`, which is no asset of the table");
            }
            assets.iter().map(|name| weights.get(name).copied().unwrap_or(0.0)).collect()
        }
        StoredWeights::Listed(weights) => {
            if names.is_some_and(|names| names != assets) {
                bail!("its assets are not those of the table, or in another order");
            }
            if weights.len() != assets.len() {
                bail!("found {} weights, expected {}, one an asset", weights.len(), assets.len());
            }
            weights
        }
    };
    let multipliers = multipliers.map(|rows| {
        let of = |name: &str| rows.get(name).copied().flatten().unwrap_or(0.0);
        let mut all = Multipliers::default();
        (all.budget, all.target_return, all.turnover) = (of("budget"), of("return"), of("turnover"));
        all.groups = input.constraints.groups.iter().map(|group| of(&group.name)).collect();
        all
    });
    Ok(Claimed { target_return, weights, multipliers })
}

/// Portfolios and what became of the search for them.
#[derive(Debug)]
pub(super) struct Outcomes {
    pub(super) status: Status,
    /// One, or those of the frontier.
    pub(super) points: Vec<Portfolio>,
    pub(super) is_frontier: bool,
    /// Points without a converged portfolio.
    pub(super) missing: usize,
    pub(super) seconds: f64,
}

impl Outcomes {
    pub(super) fn worst_gap(&self) -> f64 {
        self.points.iter().map(|point| point.relative_gap).fold(0.0, f64::max)
    }
}

impl<'a> PortfolioJson<'a> {
    pub(super) fn new(outcomes: &'a Outcomes, input: &'a Input) -> Self {
        let first = &outcomes.points[0];
        let names = input.returns.names();
        let point = |own: &'a Portfolio| Point {
            target_return: own.target_return,
            status: own.status.name(),
            objective: own.objective,
            bound: own.bound,
            relative_gap: own.relative_gap,
            infeasibility: own.infeasibility,
            expected_return: own.expected_return,
            variance: own.variance,
            risk: own.variance.max(0.0).sqrt(),
            turnover: own.turnover,
            weights: ByName { names, values: &own.weights },
            multipliers: OfRows { own: &own.multipliers, input, has_target: own.target_return.is_some() },
        };
        let gap = |gap: &'a equipoise_portfolio::Gap| GapJson {
            asset: &gap.asset,
            lacking: gap.lacking,
            first_row: gap.row,
        };
        let periods = input.periods_per_year;
        let most = |of: fn(&Portfolio) -> f64| outcomes.points.iter().map(of).fold(0.0, f64::max);
        Self {
            status: outcomes.status.name(),
            objective: first.objective,
            bound: first.bound,
            relative_gap: outcomes.worst_gap(),
            gap: input.settings.gap,
            infeasibility: most(|point| point.infeasibility),
            holds_within: first.holds_within,
            expected_return: first.expected_return,
            variance: first.variance,
            risk: first.variance.max(0.0).sqrt(),
            annual_return: periods * first.expected_return,
            annual_risk: (periods * first.variance.max(0.0)).sqrt(),
            periods_per_year: periods,
            turnover: first.turnover,
            weights: ByName { names, values: &first.weights },
            multipliers: OfRows { own: &first.multipliers, input, has_target: first.target_return.is_some() },
            target_return: first.target_return,
            shrinkage: input.covariance.shrinkage(),
            assets: input.returns.assets(),
            days: input.returns.days(),
            days_dropped: input.gaps.dropped,
            cells_filled: input.gaps.filled,
            gaps: input.gaps.assets.iter().map(gap).collect(),
            warnings: &input.warnings,
            seconds_load: input.seconds,
            seconds_solve: outcomes.seconds,
            method: "active set",
            rounds: outcomes.points.last().map_or(0, |last| last.rounds),
            names,
            missing: outcomes.is_frontier.then_some(outcomes.missing),
            points: outcomes.is_frontier.then(|| outcomes.points.iter().map(point).collect()),
        }
    }
}

/// Portfolios for people.
pub(super) fn words(outcomes: &Outcomes, input: &Input) -> String {
    let mut text = format!("{}\n", outcomes.status);
    let (days, rows) = (input.returns.days(), input.rows);
    line(&mut text, "data", &format!("{} assets, {days} returns from {rows} rows", input.returns.assets()));
    if input.covariance.shrinkage() > 0.0 {
        line(&mut text, "shrinkage", &format!("{:.4}", input.covariance.shrinkage()));
    }
    if outcomes.is_frontier {
        frontier(&mut text, &outcomes.points);
    } else {
        one(&mut text, &outcomes.points[0], input);
    }
    let (gap, allowed) = (outcomes.worst_gap(), input.settings.gap);
    line(&mut text, "relative gap", &rounding::allowed(gap, allowed));
    let missed = outcomes.points.iter().map(|point| point.infeasibility).fold(0.0, f64::max);
    line(&mut text, "infeasibility", &format!("{} of a row's own terms", above(missed, 1)));
    let rounds = outcomes.points.last().map_or(0, |last| last.rounds);
    if rounds > 0 {
        line(&mut text, "work", &format!("active set, {rounds} rounds, {:.3} s", outcomes.seconds));
    }
    text
}

fn one(text: &mut String, point: &Portfolio, input: &Input) {
    let holds = point
        .holds_within
        .map_or_else(String::new, |most| format!(", among weights up to {}", below(most, 1)));
    line(
        text,
        "objective",
        &format!("{} (at least {}{holds})", number(point.objective), number(point.bound)),
    );
    let (periods, risk) = (input.periods_per_year, point.variance.max(0.0).sqrt());
    let annual = format!("{:.2} % a year", 100.0 * periods.sqrt() * risk);
    line(text, "risk", &format!("{risk:.6} a period ({annual})"));
    let annual = format!("{:.2} % a year", 100.0 * periods * point.expected_return);
    line(text, "return", &format!("{:.6} a period ({annual})", point.expected_return));
    if input.constraints.turnover.is_some() {
        line(text, "turnover", &format!("{:.6}", point.turnover));
    }
    weights(text, point, input.returns.names());
    let mut rows = vec![format!("budget {:.4e}", point.multipliers.budget)];
    if point.target_return.is_some() {
        rows.push(format!("return {:.4e}", point.multipliers.target_return));
    }
    if input.constraints.turnover.as_ref().is_some_and(|own| own.limit.is_finite()) {
        rows.push(format!("turnover {:.4e}", point.multipliers.turnover));
    }
    let groups = input.constraints.groups.iter().zip(&point.multipliers.groups);
    rows.extend(
        groups
            .filter(|(_, value)| **value != 0.0)
            .map(|(group, value)| format!("{} {value:.4e}", group.name)),
    );
    line(text, "multipliers", &rows.join(", "));
}

/// The largest weights by name.
fn weights(text: &mut String, point: &Portfolio, names: &[String]) {
    let own = &point.weights;
    let mut order: Vec<usize> = (0..own.len()).filter(|&j| own[j] != 0.0).collect();
    line(text, "weights", &format!("{} of {} are not 0", order.len(), own.len()));
    order.sort_by(|&a, &b| own[b].abs().total_cmp(&own[a].abs()));
    let width = order.iter().take(SHORT).map(|&j| names[j].chars().count()).max().unwrap_or(0).max(12);
    for &j in order.iter().take(SHORT) {
        let _ = writeln!(text, "    {:<width$} {}", names[j], own[j]);
    }
    if order.len() > SHORT {
        line(text, "  ...", &format!("{} more; --out FILE writes them", order.len() - SHORT));
    }
}

/// A few points of a frontier.
fn frontier(text: &mut String, points: &[Portfolio]) {
    line(text, "frontier", &format!("{} points; return, risk, assets held:", points.len()));
    let step = (points.len() - 1).div_ceil(GLANCE - 1).max(1);
    for (k, point) in points.iter().enumerate() {
        if k.is_multiple_of(step) || k + 1 == points.len() {
            let held = point.weights.iter().filter(|w| **w != 0.0).count();
            let (mean, risk) = (point.expected_return, point.variance.max(0.0).sqrt());
            let _ = writeln!(text, "    {mean:<12.6} {risk:<12.6} {held}");
        }
    }
}
