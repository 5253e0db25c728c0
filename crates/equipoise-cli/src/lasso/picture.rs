//! Pictures of regressions: coefficients along lambda, errors of cross-validation, coefficients and frequencies by name.

use std::path::Path;

use anyhow::Result;
use equipoise_models::lasso::{Cv, Point};

use crate::plot::{Axis, Chart, Mark, Panel, Series, colours, write_picture};

/// How many paths are named, and how many bars are drawn.
const NAMED: usize = 12;
const BARS: usize = 30;

/// Coefficients along lambda, the largest named at their end.
fn paths(points: &[&Point], names: &[String]) -> Chart {
    let lambdas: Vec<f64> = points.iter().map(|point| point.lambda).collect();
    let (first, last) = (lambdas[0], lambdas[lambdas.len() - 1]);
    let mut x = Axis::log("lambda");
    if first > last {
        // The path runs from left to right.
        x = x.with_range(first, last);
    }
    let mut chart = Chart::new("Coefficients", x, Axis::linear("coefficient"));
    let end = points[points.len() - 1];
    let mut order: Vec<usize> =
        (0..names.len()).filter(|&j| points.iter().any(|point| point.coefficients[j] != 0.0)).collect();
    order.sort_by(|&a, &b| end.coefficients[b].abs().total_cmp(&end.coefficients[a].abs()));
    for (place, &j) in order.iter().enumerate() {
        let line = points.iter().map(|point| (point.lambda, point.coefficients[j])).collect();
        let series = Series::new(Mark::Line, colours::nth(place), line);
        chart = chart.with(if place < NAMED { series.labelled(names[j].clone()) } else { series });
    }
    chart
}

/// A path.
pub(crate) fn draw_path(file: &Path, points: &[Point], names: &[String]) -> Result<()> {
    let all: Vec<&Point> = points.iter().collect();
    write_picture(file, &[Panel::Chart(paths(&all, names))])
}

/// Errors with their bars, both choices ruled, and the paths beside them.
pub(crate) fn draw_cv(file: &Path, cv: &Cv, names: &[String], error: &str) -> Result<()> {
    let middle: Vec<(f64, f64)> = cv.points.iter().map(|one| (one.point.lambda, one.error)).collect();
    let bars = cv
        .points
        .iter()
        .map(|one| (one.error - one.standard_error, one.error + one.standard_error))
        .collect();
    let (first, last) = (middle[0].0, middle[middle.len() - 1].0);
    let mut x = Axis::log("lambda");
    if first > last {
        x = x.with_range(first, last);
    }
    let rule =
        |k: Option<usize>| k.map(|k| (cv.points[k].point.lambda, cv.points[k].error)).into_iter().collect();
    let chart = Chart::new("Cross-validation", x, Axis::linear(error))
        .with(Series::new(Mark::ErrorBars(bars), colours::LIGHT_BLUE, middle.clone()))
        .with(Series::new(Mark::Points, colours::BLUE, middle).named("mean over folds, one standard error"))
        .with(Series::new(Mark::Rules, colours::ORANGE, rule(cv.best)).named("best"))
        .with(Series::new(Mark::Rules, colours::GREEN, rule(cv.one_se)).named("one standard error"));
    let points: Vec<&Point> = cv.points.iter().map(|one| &one.point).collect();
    write_picture(file, &[Panel::Chart(chart), Panel::Chart(paths(&points, names))])
}

/// Numbers by name as bars, the largest on top.
pub(crate) fn draw_bars(
    file: &Path,
    title: &str,
    label: &str,
    names: &[String],
    values: &[f64],
) -> Result<()> {
    let mut order: Vec<usize> = (0..values.len()).filter(|&j| values[j] != 0.0).collect();
    order.sort_by(|&a, &b| values[b].abs().total_cmp(&values[a].abs()));
    order.truncate(BARS);
    let count = order.len();
    let at = |place: usize| (count - place) as f64;
    let ticks = order.iter().enumerate().map(|(place, &j)| (at(place), names[j].clone())).collect();
    let bars = order.iter().enumerate().map(|(place, &j)| (values[j], at(place))).collect();
    let chart = Chart::new(
        title,
        Axis::linear(label),
        Axis::linear("").with_ticks(ticks).with_range(0.0, count as f64 + 1.0),
    )
    .with(Series::new(Mark::BarsAcross, colours::BLUE, bars));
    write_picture(file, &[Panel::Chart(chart)])
}
