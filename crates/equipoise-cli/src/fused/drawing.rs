//! Plots of fits: the signal over the data, an image before and after, a criterion over lambda.

use equipoise_models::fused::{Criterion, Fit, Penalty, Point};

use super::data::Data;
use crate::plot::{Axis, Chart, Image, Mark, Panel, Series, colours};

/// Points of a series, at most: more are thinned out.
const MOST_POINTS: usize = 4000;

/// A fit over its data.
pub(crate) fn panels(data: &Data, fit: &Fit) -> Vec<Panel> {
    if let Some((rows, columns)) = data.shape {
        let image = |title: String, values: &[f64]| {
            Panel::Image(Image { title, rows, columns, values: values.to_vec() })
        };
        let after = format!("fit, lambda {}", short(fit.lambda));
        return vec![image("data".into(), &data.raw), image(after, &fit.x)];
    }
    let title = match fit.segments {
        Some(count) => format!("{count} segments, lambda {}", short(fit.lambda)),
        None => format!("lambda {}", short(fit.lambda)),
    };
    let across = if data.is_plain() { "observation" } else { "coefficient" };
    let up = data.column.clone().filter(|name| name != "1").unwrap_or_else(|| "value".into());
    let mut chart = Chart::new(title, Axis::linear(across), Axis::linear(up));
    if data.is_plain() {
        chart = chart.with(Series::new(Mark::Dots, colours::GREY, thinned(&data.raw)).named("data"));
    }
    let mark = match data.penalty {
        Penalty::Chain => Mark::Steps,
        Penalty::Trend1 | Penalty::Trend2 => Mark::Line,
        _ => Mark::Points,
    };
    vec![Panel::Chart(chart.with(Series::new(mark, colours::BLUE, thinned(&fit.x)).named("fit")))]
}

/// A path: its criterion, and the chosen fit.
pub(crate) fn path_panels(
    data: &Data,
    points: &[Point],
    best: Option<usize>,
    criterion: Criterion,
) -> Vec<Panel> {
    let values = points.iter().filter_map(|point| Some((point.fit.lambda, point.value(criterion)?)));
    let values: Vec<(f64, f64)> = values.collect();
    let mut chart = Chart::new("Choice of lambda", Axis::log("lambda"), Axis::linear(criterion.name()))
        .with(Series::new(Mark::Line, colours::BLUE, values.clone()))
        .with(Series::new(Mark::Points, colours::BLUE, values));
    let Some(best) = best.map(|k| &points[k]) else { return vec![Panel::Chart(chart)] };
    let at = vec![(best.fit.lambda, best.value(criterion).unwrap_or(0.0))];
    chart = chart.with(Series::new(Mark::Rules, colours::ORANGE, at).named("chosen"));
    let mut all = vec![Panel::Chart(chart)];
    all.extend(panels(data, &best.fit).into_iter().next_back());
    all
}

/// Places from 1, and not too many of them.
fn thinned(values: &[f64]) -> Vec<(f64, f64)> {
    let step = values.len().div_ceil(MOST_POINTS).max(1);
    let known = values.iter().enumerate().filter(|(_, value)| value.is_finite());
    known.filter(|(k, _)| k % step == 0).map(|(k, value)| ((k + 1) as f64, *value)).collect()
}

/// A few digits.
fn short(value: f64) -> String {
    let digits = format!("{value:.3}");
    let plain = digits.trim_end_matches('0').trim_end_matches('.');
    if (0.01..1e6).contains(&value) { plain.into() } else { format!("{value:.2e}") }
}
