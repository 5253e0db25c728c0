//! The plot of a portfolio or a frontier: risk and return of assets and portfolios; the weights.
//!
//! Given: portfolios and data. Returns: an SVG file. Must not know: how the weights were found.

use std::path::Path;

use anyhow::Result;
use equipoise_portfolio::Portfolio;

use super::data::Input;
use super::report::Outcomes;
use crate::plot::{Axis, Chart, Mark, Panel, Series, colours, write_picture};

/// The most assets that are named in the plane of risk and return.
const NAMED: usize = 40;
/// The most weights that are drawn as bars.
const BARS: usize = 40;
/// The most assets that have a band of their own.
const BANDS: usize = 12;

pub(super) fn draw(path: &Path, outcomes: &Outcomes, input: &Input) -> Result<()> {
    let second = if outcomes.is_frontier && outcomes.points.len() > 1 {
        bands(&outcomes.points, input)
    } else {
        weights(&outcomes.points[0], input)
    };
    write_picture(path, &[Panel::Chart(plane(outcomes, input)), Panel::Chart(second)])
}

/// Percent a year.
fn annual(input: &Input, mean: f64, variance: f64) -> (f64, f64) {
    let periods = input.periods_per_year;
    (100.0 * (periods * variance.max(0.0)).sqrt(), 100.0 * periods * mean)
}

/// Risk across, return up.
fn plane(outcomes: &Outcomes, input: &Input) -> Chart {
    let asset = |j: usize| annual(input, input.returns.mean()[j], input.covariance.variance_of(j));
    let assets: Vec<(f64, f64)> = (0..input.returns.assets()).map(asset).collect();
    let of = |point: &Portfolio| annual(input, point.expected_return, point.variance);
    let mut dots = Series::new(Mark::Dots, colours::GREY, assets).named("assets");
    if input.returns.assets() <= NAMED {
        dots = dots.each_labelled(input.returns.names().to_vec());
    }
    let line: Vec<(f64, f64)> = outcomes.points.iter().map(of).collect();
    let first = line[0];
    let title = if outcomes.is_frontier { "Efficient frontier" } else { "Risk and return" };
    let mut chart =
        Chart::new(title, Axis::linear("risk, % a year"), Axis::linear("expected return, % a year"))
            .with(dots);
    if outcomes.is_frontier {
        chart = chart
            .with(Series::new(Mark::Line, colours::BLUE, line.clone()).named("frontier"))
            .with(Series::new(Mark::Dots, colours::BLUE, line));
    }
    let name = if input.constraints.target_return.is_some() { "portfolio" } else { "least variance" };
    chart.with(Series::new(Mark::Points, colours::ORANGE, vec![first]).named(name))
}

/// The largest weights, from the top down.
fn weights(point: &Portfolio, input: &Input) -> Chart {
    let own = &point.weights;
    let mut order: Vec<usize> = (0..own.len()).filter(|&j| own[j] != 0.0).collect();
    order.sort_by(|&a, &b| own[b].abs().total_cmp(&own[a].abs()));
    let others = order.len().saturating_sub(BARS);
    order.truncate(BARS);
    let bars = order.iter().enumerate().map(|(row, &j)| (own[j], row as f64)).collect();
    let names = input.returns.names();
    let ticks = order.iter().enumerate().map(|(row, &j)| (row as f64, names[j].clone())).collect();
    let label = if others > 0 { format!("weight (the largest; {others} more)") } else { "weight".into() };
    let down = Axis::linear("").with_ticks(ticks).with_range(order.len().max(1) as f64 - 0.5, -0.5);
    Chart::new("Weights", Axis::linear(label), down).with(Series::new(Mark::BarsAcross, colours::BLUE, bars))
}

/// Weights along the frontier: bands on one another where none is negative, lines otherwise.
fn bands(points: &[Portfolio], input: &Input) -> Chart {
    let names = input.returns.names();
    let most = |j: usize| points.iter().map(|point| point.weights[j].abs()).fold(0.0, f64::max);
    let mut order: Vec<usize> = (0..names.len()).filter(|&j| most(j) > 0.0).collect();
    let is_long = points.iter().all(|point| point.weights.iter().all(|w| *w >= 0.0));
    order.sort_by(|&a, &b| most(b).total_cmp(&most(a)));
    let others = order.split_off(order.len().min(BANDS));
    let across: Vec<f64> = points.iter().map(|point| annual(input, point.expected_return, 0.0).1).collect();
    let mut chart = Chart::new(
        "Weights along the frontier",
        Axis::linear("expected return, % a year"),
        Axis::linear("weight"),
    );
    let mut below = vec![0.0; points.len()];
    let mut series: Vec<(String, Vec<f64>)> = order
        .iter()
        .map(|&j| (names[j].clone(), points.iter().map(|point| point.weights[j]).collect()))
        .collect();
    let name = match others[..] {
        [one] => names[one].clone(),
        _ => format!("{} others", others.len()),
    };
    if !others.is_empty() && is_long {
        let rest = points.iter().map(|point| others.iter().map(|&j| point.weights[j]).sum()).collect();
        series.push((name, rest));
    } else {
        // Behind the others, each with its line, and one name for all.
        for (k, &j) in others.iter().enumerate() {
            let line = across.iter().copied().zip(points.iter().map(|point| point.weights[j])).collect();
            let line = Series::new(Mark::Line, colours::GREY, line);
            chart = chart.with(if k == 0 { line.named(name.clone()) } else { line });
        }
    }
    for (k, (name, values)) in series.into_iter().enumerate() {
        let colour = if k < BANDS { colours::nth(k) } else { colours::GREY };
        let colour = if (colours::COUNT..BANDS).contains(&k) { colours::paler(colour) } else { colour };
        if is_long {
            let ends: Vec<(f64, f64)> = below.iter().zip(&values).map(|(low, w)| (*low, low + w)).collect();
            below = ends.iter().map(|end| end.1).collect();
            let tops = across.iter().copied().zip(below.iter().copied()).collect();
            chart = chart.with(Series::new(Mark::Band(ends), colour, tops).named(name));
        } else {
            let line = across.iter().copied().zip(values).collect();
            chart = chart.with(Series::new(Mark::Line, colour, line).named(name));
        }
    }
    chart
}
