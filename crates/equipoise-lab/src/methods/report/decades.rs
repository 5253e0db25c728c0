//! Errors by updates, both in powers of ten: lines with standard errors, dashed bounds, names at their ends.

use std::path::Path;

use anyhow::{Result, anyhow};
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use crate::drawing::labels::{Label, spread};
use crate::drawing::{GRID, INK, Outcome, SMALL, text};

const SIZE: (u32, u32) = (760, 520);
const LEFT: i32 = 64;
const RIGHT: i32 = SIZE.0.cast_signed() - 210;
const TOP: i32 = 72;
const BOTTOM: i32 = SIZE.1.cast_signed() - 56;
/// Pixels of a dash and of the space after it.
const DASH: (f64, f64) = (7.0, 5.0);

/// Errors of a method, or a bound of them.
pub(super) struct Line {
    pub(super) name: String,
    pub(super) colour: RGBColor,
    pub(super) dashed: bool,
    /// Updates, error, its standard error; ascending.
    pub(super) points: Vec<(f64, f64, f64)>,
}

/// One plot.
pub(super) struct Decades {
    pub(super) title: String,
    /// Below the title: what was measured.
    pub(super) note: String,
    pub(super) lines: Vec<Line>,
}

impl Decades {
    /// Draws the plot into an SVG file.
    pub(super) fn draw(&self, path: &Path) -> Result<()> {
        let failed = |error: &dyn std::fmt::Display| anyhow!("cannot draw {}: {error}", path.display());
        let area = SVGBackend::new(path, SIZE).into_drawing_area();
        area.fill(&WHITE).map_err(|error| failed(&error))?;
        self.draw_on(&area).map_err(|error| failed(&error))?;
        area.present().map_err(|error| failed(&error))
    }

    fn draw_on<B: DrawingBackend>(&self, area: &DrawingArea<B, Shift>) -> Outcome<B> {
        let scale = Scale::new(&self.lines);
        text(area, &self.title, (16, 12), HPos::Left, VPos::Top, 18, BLACK)?;
        text(area, &self.note, (16, 38), HPos::Left, VPos::Top, SMALL, INK)?;
        axes(area, &scale)?;
        let mut ends = Vec::new();
        for line in &self.lines {
            let points: Vec<(i32, i32)> =
                line.points.iter().map(|&(updates, error, _)| scale.place(updates, error)).collect();
            if line.dashed {
                for dash in dashes(&points) {
                    area.draw(&PathElement::new(dash, line.colour.stroke_width(2)))?;
                }
            } else {
                area.draw(&PathElement::new(points.clone(), line.colour.stroke_width(2)))?;
                for (&point, &(updates, error, deviation)) in points.iter().zip(&line.points) {
                    let low = scale.place(updates, (error - deviation).max(0.1 * error));
                    let high = scale.place(updates, error + deviation);
                    area.draw(&PathElement::new(vec![low, high], line.colour.stroke_width(1)))?;
                    area.draw(&Circle::new(point, 3, line.colour.filled()))?;
                }
            }
            ends.extend(points.last().map(|&end| (line, end)));
        }
        // Names stand right of the axes, at the heights of the ends.
        let place =
            |(line, end): &(&Line, (i32, i32))| Label::new((RIGHT, end.1), &line.name, SMALL.cast_signed());
        let mut labels: Vec<Label> = ends.iter().map(place).collect();
        spread(&mut labels, TOP, BOTTOM);
        for ((line, _), label) in ends.iter().zip(&labels) {
            text(area, &line.name, (label.left, label.middle), HPos::Left, VPos::Center, SMALL, line.colour)?;
        }
        Ok(())
    }
}

fn axes<B: DrawingBackend>(area: &DrawingArea<B, Shift>, scale: &Scale) -> Outcome<B> {
    let step = (scale.errors.1 - scale.errors.0).div_euclid(9) + 1;
    for power in (scale.errors.0..=scale.errors.1).step_by(step.cast_unsigned() as usize) {
        let height = scale.place(1.0, 10f64.powi(power)).1;
        area.draw(&PathElement::new(vec![(LEFT, height), (RIGHT, height)], GRID))?;
        text(area, &ten_to(power), (LEFT - 8, height), HPos::Right, VPos::Center, SMALL, INK)?;
    }
    let (first, last) = scale.updates;
    for power in first.ceil() as i32..=last.floor() as i32 {
        let place = scale.place(10f64.powi(power), 1.0).0;
        area.draw(&PathElement::new(vec![(place, BOTTOM), (place, BOTTOM + 5)], INK))?;
        text(area, &ten_to(power), (place, BOTTOM + 9), HPos::Center, VPos::Top, SMALL, INK)?;
    }
    area.draw(&PathElement::new(vec![(LEFT, BOTTOM), (RIGHT, BOTTOM)], INK))?;
    let middle = i32::midpoint(LEFT, RIGHT);
    text(area, "updates", (middle, BOTTOM + 30), HPos::Center, VPos::Top, SMALL, INK)
}

/// A power of ten as it is printed.
fn ten_to(power: i32) -> String {
    let raised = |digit: char| match digit {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        '4' => '⁴',
        '5' => '⁵',
        '6' => '⁶',
        '7' => '⁷',
        '8' => '⁸',
        '9' => '⁹',
        _ => '⁰',
    };
    format!("10{}", power.to_string().chars().map(raised).collect::<String>())
}

/// The pieces of a dashed line.
fn dashes(points: &[(i32, i32)]) -> Vec<Vec<(i32, i32)>> {
    let mut pieces = Vec::new();
    for ends in points.windows(2) {
        let (from, to) = (ends[0], ends[1]);
        let (across, down) = (f64::from(to.0 - from.0), f64::from(to.1 - from.1));
        let length = across.hypot(down).max(1.0);
        let at = |distance: f64| {
            let share = (distance / length).min(1.0);
            let move_by = |start: i32, by: f64| start + (share * by).round() as i32;
            (move_by(from.0, across), move_by(from.1, down))
        };
        let count = (length / (DASH.0 + DASH.1)).ceil() as u32;
        pieces.extend((0..count).map(|k| {
            let start = f64::from(k) * (DASH.0 + DASH.1);
            vec![at(start), at(start + DASH.0)]
        }));
    }
    pieces
}

/// From updates and errors to pixels.
struct Scale {
    /// First and last, as logarithms.
    updates: (f64, f64),
    /// Lowest and highest power of ten.
    errors: (i32, i32),
}

impl Scale {
    fn new(lines: &[Line]) -> Self {
        let points = || lines.iter().flat_map(|line| &line.points);
        let range = |values: &mut dyn Iterator<Item = f64>| {
            values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
                (low.min(value), high.max(value))
            })
        };
        let (first, last) = range(&mut points().map(|point| point.0.log10()));
        let (low, high) = range(&mut points().map(|point| point.1.log10()));
        let errors = (low.floor() as i32, (high.ceil() as i32).max(low.floor() as i32 + 1));
        Self { updates: (first, last.max(first + 0.5)), errors }
    }

    fn place(&self, updates: f64, error: f64) -> (i32, i32) {
        let (first, last) = self.updates;
        let (low, high) = (f64::from(self.errors.0), f64::from(self.errors.1));
        // A little air before the first and after the last point.
        let across = 0.02 + 0.96 * (updates.log10() - first) / (last - first);
        let up = (error.log10().max(low) - low) / (high - low);
        let x = f64::from(LEFT) + across * f64::from(RIGHT - LEFT);
        let y = f64::from(BOTTOM) - up * f64::from(BOTTOM - TOP);
        (x.round() as i32, y.round() as i32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_are_raised() {
        assert_eq!([ten_to(-12), ten_to(0), ten_to(3)], ["10⁻¹²", "10⁰", "10³"]);
    }

    #[test]
    fn more_updates_are_to_the_right_and_smaller_errors_down() {
        let points = vec![(1e3, 0.2, 0.0), (1e6, 3e-5, 0.0)];
        let scale = Scale::new(&[Line { name: String::new(), colour: BLACK, dashed: false, points }]);
        assert_eq!(scale.errors, (-5, 0));
        let (first, last) = (scale.place(1e3, 0.2), scale.place(1e6, 3e-5));
        assert!(last.0 > first.0 && last.1 > first.1);
        assert!(first.0 > LEFT && last.0 < RIGHT && last.1 <= BOTTOM);
    }

    #[test]
    fn dashes_begin_and_end_on_the_line() {
        let pieces = dashes(&[(0, 0), (24, 0)]);
        assert_eq!(pieces, [vec![(0, 0), (7, 0)], vec![(12, 0), (19, 0)]]);
    }
}
