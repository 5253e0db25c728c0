//! The plot of a run: gap and disagreement over messages.
//!
//! Given: checkpoints. Returns: an SVG file. Must not know: how the run went otherwise.

use std::path::Path;

use anyhow::Result;
use equipoise_consensus::Checkpoint;

use crate::plot::{Axis, Chart, Mark, Panel, Series, colours, write_picture};

pub(super) fn draw(path: &Path, seen: &[Checkpoint], allowed: f64) -> Result<()> {
    let line = |of: fn(&Checkpoint) -> f64| -> Vec<(f64, f64)> {
        seen.iter().map(|at| (at.messages as f64, of(at))).filter(|(m, v)| *m > 0.0 && *v > 0.0).collect()
    };
    let (gap, apart) = (line(|at| at.relative_gap), line(|at| at.disagreement));
    let ends = || gap.iter().map(|(messages, _)| *messages);
    let (first, last) = (ends().fold(f64::INFINITY, f64::min), ends().fold(0.0, f64::max));
    let goal = if gap.is_empty() { Vec::new() } else { vec![(first, allowed), (last, allowed)] };
    let x = || Axis::log("messages");
    let gaps = Chart::new("Gap", x(), Axis::log("relative gap"))
        .with(Series::new(Mark::Dashes, colours::GREY, goal).named("allowed"))
        .with(Series::new(Mark::Line, colours::BLUE, gap.clone()).named("objective - bound"))
        .with(Series::new(Mark::Dots, colours::BLUE, gap));
    let disagreement = Chart::new("Disagreement", x(), Axis::log("largest distance from the mean"))
        .with(Series::new(Mark::Line, colours::ORANGE, apart.clone()))
        .with(Series::new(Mark::Dots, colours::ORANGE, apart));
    write_picture(path, &[Panel::Chart(gaps), Panel::Chart(disagreement)])
}
