//! The plot of an allocation: the merit order with demand and price, and what users give; of many demands, price and cost.
//!
//! Given: what was found. Returns: an SVG file. Must not know: how it was found.

use std::path::Path;

use anyhow::Result;
use equipoise_allocation::{Allocation, supply_curve};

use super::data::Input;
use super::run::Found;
use crate::plot::{Axis, Chart, Mark, Panel, Series, colours, write_picture};

/// The most users that are drawn as bars.
const BARS: usize = 40;
/// The most points that are drawn.
const DOTS: usize = 3000;

pub(super) fn draw(path: &Path, found: &Found, input: &Input) -> Result<()> {
    let panels = if let Some(demands) = &found.demands {
        vec![price_of_demand(found, demands), cost_of_demand(found, demands)]
    } else {
        let one = &found.list[0];
        let is_one_row = input.problem.rows().len() == 1;
        vec![if is_one_row { merit_order(one, input) } else { seen(one, input) }, bars(one, input)]
    };
    let panels: Vec<Panel> = panels.into_iter().map(Panel::Chart).collect();
    write_picture(path, &panels)
}

/// What is given at every price, with what is asked and the price that clears.
fn merit_order(one: &Allocation, input: &Input) -> Chart {
    let row = &input.problem.rows()[0];
    let price = one.prices[0];
    let curve = supply_curve(&input.problem, price);
    let ends = |of: fn(&(f64, f64)) -> f64| {
        let low = curve.iter().map(of).fold(row.value, f64::min);
        (low, curve.iter().map(of).fold(row.value, f64::max))
    };
    let (left, right) = ends(|point| point.0);
    let clearing = vec![(left, price), (right, price)];
    let what = if input.is_case { "generators" } else { "users" };
    Chart::new("Merit order", Axis::linear(format!("given by all {what} together")), Axis::linear("price"))
        .with(Series::new(Mark::Rules, colours::ORANGE, vec![(row.value, price)]).named(format!(
            "{} {}",
            row.name,
            short(row.value)
        )))
        .with(Series::new(Mark::Dashes, colours::GREEN, clearing).named(format!("price {}", short(price))))
        .with(Series::new(Mark::Line, colours::BLUE, curve).named("marginal cost"))
        .with(Series::new(Mark::Points, colours::ORANGE, vec![(row.value, price)]))
}

/// Several rows: what users give against the price that each of them sees.
fn seen(one: &Allocation, input: &Input) -> Chart {
    let problem = &input.problem;
    let step = one.x.len().div_ceil(DOTS).max(1);
    let of = |user: usize| {
        let prices = one.prices.iter().enumerate();
        let price: f64 = prices.map(|(row, price)| price * problem.coefficient(row, user)).sum();
        (price, one.x[user])
    };
    let points = (0..one.x.len()).step_by(step).map(of).collect();
    let title = if step > 1 {
        format!("What users give at their prices (one in {step})")
    } else {
        "What users give at their prices".into()
    };
    Chart::new(title, Axis::linear("price that a user sees"), Axis::linear("given")).with(Series::new(
        Mark::Dots,
        colours::BLUE,
        points,
    ))
}

/// What users give, the largest first.
fn bars(one: &Allocation, input: &Input) -> Chart {
    let mut order: Vec<usize> = (0..one.x.len()).filter(|&user| one.x[user] != 0.0).collect();
    let others = order.len().saturating_sub(BARS);
    order.sort_by(|&a, &b| one.x[b].abs().total_cmp(&one.x[a].abs()));
    order.truncate(BARS);
    let bars = order.iter().enumerate().map(|(row, &user)| (one.x[user], row as f64)).collect();
    let ticks = order.iter().enumerate().map(|(row, &user)| (row as f64, cut(&input.name(user)))).collect();
    let label = if others > 0 { format!("given (the largest; {others} more)") } else { "given".into() };
    let title = if input.is_case { "What generators give" } else { "What users give" };
    let down = Axis::linear("").with_ticks(ticks).with_range(order.len().max(1) as f64 - 0.5, -0.5);
    Chart::new(title, Axis::linear(label), down).with(Series::new(Mark::BarsAcross, colours::BLUE, bars))
}

fn price_of_demand(found: &Found, demands: &[f64]) -> Chart {
    let of = |get: fn(&Allocation) -> f64| {
        let points = found.list.iter().zip(demands).map(|(one, demand)| (*demand, get(one)));
        points.filter(|point| point.1.is_finite()).collect::<Vec<_>>()
    };
    Chart::new("Price of every demand", Axis::linear("demand"), Axis::linear("price"))
        .with(Series::new(Mark::Line, colours::BLUE, of(|one| one.prices[0])).named("price"))
}

fn cost_of_demand(found: &Found, demands: &[f64]) -> Chart {
    let points = found.list.iter().zip(demands).map(|(one, demand)| (*demand, one.objective)).collect();
    Chart::new("Least cost of every demand", Axis::linear("demand"), Axis::linear("cost"))
        .with(Series::new(Mark::Line, colours::ORANGE, points).named("cost"))
}

/// A number as it fits into a legend.
fn short(value: f64) -> String {
    let digits = (5.0 - value.abs().max(1e-300).log10().floor()).clamp(0.0, 12.0) as usize;
    let text = format!("{value:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').into() } else { text }
}

/// A name that leaves room for the bars.
fn cut(name: &str) -> String {
    const MOST: usize = 28;
    if name.chars().count() <= MOST {
        name.into()
    } else {
        name.chars().take(MOST - 1).chain(['…']).collect()
    }
}
