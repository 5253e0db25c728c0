//! Seconds against accuracy, both logarithmic: one panel a set, one line a solver, named at its end.

mod panel;

use std::path::Path;

use anyhow::{Result, anyhow};
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use super::times::{OURS, Times};
use crate::drawing::{Outcome, text};
use panel::{Line, Panel};

/// The cost of the panels.
const COST: f64 = 1.0;
/// Accuracies that every solver is timed at.
const ACCURACIES: [f64; 4] = [1e-2, 1e-3, 1e-4, 1e-6];
/// Solvers, their names in the plot, and colours that are told apart without red and green (Okabe and Ito).
const SOLVERS: [(&str, &str, RGBColor); 6] = [
    ("libsvm", "LIBSVM", RGBColor(0, 114, 178)),
    ("LIBLINEAR", "LIBLINEAR", RGBColor(0, 158, 115)),
    ("rehline", "ReHLine", RGBColor(204, 121, 167)),
    ("snapml", "SnapML", RGBColor(230, 159, 0)),
    ("sgd", "SGD", RGBColor(90, 90, 90)),
    // Last, so that it is drawn over the others.
    (OURS, "equipoise", RGBColor(213, 94, 0)),
];
const PANEL: (u32, u32) = (420, 340);
const COLUMNS: usize = 3;
const TITLE_HEIGHT: u32 = 64;

/// Draws all panels into one SVG file.
pub(super) fn draw(times: &Times, path: &Path) -> Result<()> {
    let panels: Vec<Panel<'_>> = times.sets().into_iter().map(|set| panel(times, set)).collect();
    let columns = panels.len().clamp(1, COLUMNS);
    let rows = panels.len().div_ceil(columns).max(1);
    let size = (PANEL.0 * columns as u32, PANEL.1 * rows as u32 + TITLE_HEIGHT);
    let failed = |error: &dyn std::fmt::Display| anyhow!("cannot draw {}: {error}", path.display());
    let area = SVGBackend::new(path, size).into_drawing_area();
    area.fill(&WHITE).map_err(|error| failed(&error))?;
    let (head, body) = area.split_vertically(TITLE_HEIGHT);
    title(&head).map_err(|error| failed(&error))?;
    for (panel, part) in panels.iter().zip(body.split_evenly((rows, columns))) {
        panel.draw(&part).map_err(|error| failed(&error))?;
    }
    area.present().map_err(|error| failed(&error))
}

fn title<B: DrawingBackend>(area: &DrawingArea<B, Shift>) -> Outcome<B> {
    let above = "Linear SVM, C = 1: seconds to an accuracy, one thread";
    text(area, above, (16, 12), HPos::Left, VPos::Top, 20, BLACK)?;
    let below = "accuracy: ours the relative duality gap, a peer's the relative suboptimality of its own problem; \
                 a line ends where nothing tighter was reached";
    text(area, below, (16, 40), HPos::Left, VPos::Top, 13, RGBColor(70, 70, 70))
}

fn panel<'a>(times: &Times, set: &'a str) -> Panel<'a> {
    let lines = SOLVERS.iter().map(|&(solver, name, colour)| {
        let point = |&accuracy: &f64| {
            let seconds = times.find(set, COST, solver, accuracy)?.seconds?;
            // A clock that shows nothing still has a place on a logarithmic axis.
            Some((-accuracy.log10(), seconds.max(1e-6).log10()))
        };
        Line {
            name,
            colour,
            width: if solver == OURS { 3 } else { 2 },
            points: ACCURACIES.iter().filter_map(point).collect(),
        }
    });
    Panel { title: set, lines: lines.filter(|line| !line.points.is_empty()).collect() }
}
