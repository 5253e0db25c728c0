//! The plot of a fit: the weights by name, and what they make beside the target.
//!
//! Given: fits and data. Returns: an SVG file. Must not know: how the weights were found.

use std::path::Path;

use anyhow::Result;
use equipoise::matrix::axpy;
use equipoise_models::constrained::Fit;

use super::data::Input;
use crate::plot::{Axis, Chart, Mark, Panel, Series, colours, write_picture};

/// The most weights that are drawn.
const BARS: usize = 40;
/// The most points that are drawn.
const DOTS: usize = 3000;

pub(super) fn draw(path: &Path, fits: &[Fit], input: &Input) -> Result<()> {
    write_picture(path, &[Panel::Chart(weights(fits, input)), Panel::Chart(fitted(fits, input))])
}

/// The largest weights, in the mean over the targets, from the top down.
fn weights(fits: &[Fit], input: &Input) -> Chart {
    let mean = |j: usize| fits.iter().map(|fit| fit.x[j]).sum::<f64>() / fits.len() as f64;
    let means: Vec<f64> = (0..input.names.len()).map(mean).collect();
    let mut order: Vec<usize> = (0..means.len()).filter(|&j| means[j] != 0.0).collect();
    order.sort_by(|&a, &b| means[b].abs().total_cmp(&means[a].abs()));
    let others = order.len().saturating_sub(BARS);
    order.truncate(BARS);
    let bars = order.iter().enumerate().map(|(row, &j)| (means[j], row as f64)).collect();
    let ticks = order.iter().enumerate().map(|(row, &j)| (row as f64, shortened(&input.names[j]))).collect();
    let label = if others > 0 { format!("weight (the largest; {others} more)") } else { "weight".into() };
    let title = match fits.len() {
        1 => format!("Weights for {}", input.target_names[0]),
        many => format!("Mean weights over {many} targets"),
    };
    let down = Axis::linear("").with_ticks(ticks).with_range(order.len().max(1) as f64 - 0.5, -0.5);
    Chart::new(title, Axis::linear(label), down).with(Series::new(Mark::BarsAcross, colours::BLUE, bars))
}

/// Fitted values against those of the targets.
fn fitted(fits: &[Fit], input: &Input) -> Chart {
    let rows = input.matrix.rows();
    let step = (rows * fits.len()).div_ceil(DOTS).max(1);
    let mut points = Vec::new();
    for (k, fit) in fits.iter().enumerate() {
        let mut made = vec![0.0; rows];
        for (j, w) in fit.x.iter().enumerate().filter(|(_, w)| **w != 0.0) {
            axpy(*w, input.matrix.column(j), &mut made);
        }
        let target = input.targets.column(k);
        points
            .extend((0..rows).filter(|i| (k * rows + i).is_multiple_of(step)).map(|i| (target[i], made[i])));
    }
    let all = || points.iter().flat_map(|&(a, b)| [a, b]);
    let (low, high) = (all().fold(f64::INFINITY, f64::min), all().fold(f64::NEG_INFINITY, f64::max));
    let title =
        if step > 1 { format!("Fit and target (one point in {step})") } else { "Fit and target".into() };
    Chart::new(title, Axis::linear("target"), Axis::linear("fit"))
        .with(Series::new(Mark::Dashes, colours::GREY, vec![(low, low), (high, high)]).named("perfect"))
        .with(Series::new(Mark::Dots, colours::ORANGE, points).named("rows"))
}

/// A name that leaves room for the bars.
fn shortened(name: &str) -> String {
    const MOST: usize = 28;
    if name.chars().count() <= MOST {
        name.into()
    } else {
        name.chars().take(MOST - 1).chain(['…']).collect()
    }
}
