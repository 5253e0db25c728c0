//! The heat map: one panel a gap, one row a set, one column a cost; in each cell the best peer's seconds over ours.
//!
//! Blue where ours is faster, orange where it is slower, white at 1: two hues that are told apart without red and green,
//! on a logarithmic scale, with the number in every cell.

use std::path::Path;

use anyhow::{Result, anyhow};
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use super::times::{Cell, GAPS, Ratio, Rival, Times};
use crate::drawing::{INK, Outcome, SMALL, text};
use crate::table::figure;

const CELL: (i32, i32) = (62, 27);
/// Left of the first panel, for the names of the sets.
const NAMES: i32 = 130;
const BETWEEN: i32 = 26;
const HEAD: i32 = 74;
const TITLES: i32 = 46;
const FOOT: i32 = 62;
const MARGIN: i32 = 16;
/// The ratio, or its inverse, at which a colour is full.
const FULL: f64 = 32.0;
const FASTER: (f64, f64, f64) = (0.0, 90.0, 160.0);
const SLOWER: (f64, f64, f64) = (200.0, 80.0, 0.0);
const EMPTY: RGBColor = RGBColor(235, 235, 235);

/// Draws the cells of the grid into an SVG file.
pub(super) fn draw(times: &Times, path: &Path) -> Result<()> {
    let (sets, costs) = (times.sets("grid"), times.costs("grid"));
    if sets.is_empty() {
        return Ok(());
    }
    let panel = CELL.0 * count(costs.len()) + BETWEEN;
    let width = (MARGIN + NAMES + panel * count(GAPS.len())).max(640);
    let height = HEAD + TITLES + CELL.1 * count(sets.len()) + FOOT;
    let failed = |error: &dyn std::fmt::Display| anyhow!("cannot draw {}: {error}", path.display());
    let area = SVGBackend::new(path, (width.unsigned_abs(), height.unsigned_abs())).into_drawing_area();
    area.fill(&WHITE).map_err(|error| failed(&error))?;
    heading(&area).map_err(|error| failed(&error))?;
    for (place, set) in sets.iter().enumerate() {
        let middle = HEAD + TITLES + CELL.1 * count(place) + CELL.1 / 2;
        text(&area, set, (MARGIN + NAMES - 10, middle), HPos::Right, VPos::Center, SMALL, INK)
            .map_err(|error| failed(&error))?;
    }
    for (place, gap) in GAPS.into_iter().enumerate() {
        let left = MARGIN + NAMES + panel * count(place);
        draw_panel(&area, times, gap, left).map_err(|error| failed(&error))?;
    }
    let below = HEAD + TITLES + CELL.1 * count(sets.len()) + 20;
    scale(&area, MARGIN + NAMES, below).map_err(|error| failed(&error))?;
    area.present().map_err(|error| failed(&error))
}

fn count(number: usize) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX / 1000)
}

fn heading<B: DrawingBackend>(area: &DrawingArea<B, Shift>) -> Outcome<B> {
    let title = "Linear SVM: the best peer's seconds over ours, one thread";
    text(area, title, (MARGIN, 14), HPos::Left, VPos::Top, 20, BLACK)?;
    let below = "peers: LinearSVC, liblinear, ReHLine, SnapML, each at its best setting; above 1 ours is faster; \
                 > the peers were stopped at their limit";
    text(area, below, (MARGIN, 44), HPos::Left, VPos::Top, SMALL, INK)
}

fn draw_panel<B: DrawingBackend>(
    area: &DrawingArea<B, Shift>,
    times: &Times,
    gap: f64,
    left: i32,
) -> Outcome<B> {
    let (sets, costs) = (times.sets("grid"), times.costs("grid"));
    let middle = left + CELL.0 * count(costs.len()) / 2;
    let title = format!("to 10{}", superscript(gap));
    text(area, &title, (middle, HEAD), HPos::Center, VPos::Top, 15, BLACK)?;
    for (across, &cost) in costs.iter().enumerate() {
        let centre = left + CELL.0 * count(across) + CELL.0 / 2;
        let name = if across == 0 { format!("C = {cost}") } else { cost.to_string() };
        text(area, &name, (centre, HEAD + TITLES - 6), HPos::Center, VPos::Bottom, SMALL, INK)?;
        for (down, set) in sets.iter().enumerate() {
            let ratio = times.ratio(Cell { part: "grid", set, cost, gap }, Rival::Best);
            let corner = (left + CELL.0 * count(across), HEAD + TITLES + CELL.1 * count(down));
            one_cell(area, ratio, corner)?;
        }
    }
    Ok(())
}

fn one_cell<B: DrawingBackend>(
    area: &DrawingArea<B, Shift>,
    ratio: Ratio,
    (left, top): (i32, i32),
) -> Outcome<B> {
    let (fill, ink, words) = match ratio {
        Ratio::Known(value) => (colour(value), ink_on(value), short(value)),
        Ratio::Above(value) => (colour(value), ink_on(value), format!("> {}", short(value))),
        Ratio::OursNotReached => (EMPTY, BLACK, "missed".to_owned()),
        Ratio::NotReached | Ratio::NotRun => (EMPTY, INK, "-".to_owned()),
    };
    let corners = [(left, top), (left + CELL.0 - 2, top + CELL.1 - 2)];
    area.draw(&Rectangle::new(corners, fill.filled()))?;
    let centre = (left + CELL.0 / 2 - 1, top + CELL.1 / 2);
    text(area, &words, centre, HPos::Center, VPos::Center, SMALL, ink)
}

/// Whole numbers from 10 on: a cell is small.
fn short(value: f64) -> String {
    if value >= 10.0 { format!("{value:.0}") } else { figure(value) }
}

/// White at 1, full at 32 and at 1/32.
fn colour(ratio: f64) -> RGBColor {
    let share = (ratio.max(1e-6).ln() / FULL.ln()).clamp(-1.0, 1.0);
    let (red, green, blue) = if share < 0.0 { SLOWER } else { FASTER };
    // Differences near 1 matter most: the root spreads them.
    let mix = |full: f64| (255.0 + (full - 255.0) * share.abs().sqrt()).round() as u8;
    RGBColor(mix(red), mix(green), mix(blue))
}

fn ink_on(ratio: f64) -> RGBColor {
    let RGBColor(red, green, blue) = colour(ratio);
    let light = 0.299 * f64::from(red) + 0.587 * f64::from(green) + 0.114 * f64::from(blue);
    if light < 140.0 { WHITE } else { BLACK }
}

fn superscript(gap: f64) -> String {
    let digits = ["⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"];
    let power = (-gap.log10()).round().clamp(0.0, 9.0) as usize;
    format!("⁻{}", digits[power])
}

fn scale<B: DrawingBackend>(area: &DrawingArea<B, Shift>, left: i32, top: i32) -> Outcome<B> {
    let steps = [0.25, 0.5, 0.7, 1.0, 1.5, 2.0, 4.0, 8.0, 16.0, 32.0];
    for (place, ratio) in steps.into_iter().enumerate() {
        let corner = (left + CELL.0 * count(place), top);
        one_cell(area, Ratio::Known(ratio), corner)?;
    }
    let words = [(0, HPos::Left, "ours is slower"), (count(steps.len()), HPos::Right, "ours is faster")];
    for (place, side, word) in words {
        text(area, word, (left + CELL.0 * place, top + CELL.1 + 4), side, VPos::Top, SMALL, INK)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::times::times_of;
    use super::*;

    #[test]
    fn one_is_white_and_the_sides_differ() {
        assert_eq!(colour(1.0), WHITE);
        let (RGBColor(red, _, blue), RGBColor(slow_red, _, slow_blue)) = (colour(4.0), colour(0.25));
        assert!(blue > red && slow_red > slow_blue);
        assert_eq!(colour(1e9), RGBColor(0, 90, 160));
    }

    #[test]
    fn every_cell_has_its_number() {
        let times = times_of(
            "grid,a,1,equipoise,1,0.001,,1,5,,\ngrid,a,1,linearsvc,1,0.001,,3.25,5,,\n\
             grid,a,10,equipoise,1,0.001,,1,5,,\ngrid,a,10,linearsvc,1,0.001,,,0,77,\n",
        );
        let path = std::env::temp_dir().join(format!("equipoise-heat-map-{}.svg", std::process::id()));
        draw(&times, &path).expect("drawn");
        let drawn = std::fs::read_to_string(&path).expect("a file");
        std::fs::remove_file(&path).expect("removed");
        for word in ["3.25", "&gt; 77", "to 10⁻³", "C = 1"] {
            assert!(drawn.contains(word), "{word}");
        }
    }
}
