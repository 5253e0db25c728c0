//! Drawings as parts of one picture, so that each may have its own pixels.
//!
//! plotters rounds to whole pixels: lines drawn on as many pixels as the picture has are jagged. Series and images are
//! drawn on several times as many each way and scaled down; frames, ticks and words, which lie on whole pixels, are not.
//!
//! Given: what draws. Returns: text between the tags of an SVG file. Must not know: what is drawn.

use plotters::prelude::*;

use super::{Area, Chart, DrawingError, Failure, Series};

/// Pixels of series for one of the frame: on a page, which may have many drawings, and in a file of its own.
pub(crate) const FINE: i32 = 4;
pub(crate) const FINEST: i32 = 16;

/// A drawing of a size, without its outermost tags.
pub(crate) fn drawn(
    (width, height): (i32, i32),
    draw: impl FnOnce(&Area<'_>) -> Result<(), Failure>,
) -> Result<String, DrawingError> {
    let mut text = String::new();
    {
        let size = (width.unsigned_abs(), height.unsigned_abs());
        let area = SVGBackend::with_string(&mut text, size).into_drawing_area();
        draw(&area)?;
        area.present()?;
    }
    Ok(inner(&text))
}

/// The same on `unit` times as many pixels, scaled down; `looks` are further attributes of its group.
pub(crate) fn finely_drawn(
    (width, height): (i32, i32),
    unit: i32,
    looks: &str,
    draw: impl FnOnce(&Area<'_>) -> Result<(), Failure>,
) -> Result<String, DrawingError> {
    let text = drawn((unit * width, unit * height), draw)?;
    let share = 1.0 / f64::from(unit);
    Ok(format!("<g transform=\"scale({share})\"{looks}>{text}</g>"))
}

/// Every series of a chart by itself, on `unit` times as many pixels as its frame, which begins at `top`.
pub(crate) fn layers(
    chart: &Chart,
    size: (i32, i32),
    top: i32,
    unit: i32,
) -> Result<Vec<String>, DrawingError> {
    let one = |series: &Series| {
        let frame = chart.frame(size.0, size.1, top).finer(unit);
        finely_drawn(size, unit, "", |area| frame.draw(area, series))
    };
    chart.series.iter().map(one).collect()
}

/// What is between the outermost tags.
fn inner(svg: &str) -> String {
    let from = svg.find('>').map_or(0, |at| at + 1);
    let to = svg.rfind("</svg>").unwrap_or(svg.len());
    svg[from.min(to)..to].trim_start().to_owned()
}
