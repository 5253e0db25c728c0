//! One panel: axes in powers of ten, lines with a dot at each measured accuracy, names at their ends.
//!
//! Points are given as (digits of accuracy, power of ten of the seconds).

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use crate::drawing::labels::{Label, spread};
use crate::drawing::{GRID, INK, Outcome, SMALL, seconds, text};

const LEFT: i32 = 64;
const RIGHT: i32 = 92;
const TOP: i32 = 34;
const BOTTOM: i32 = 52;
/// The digits that have a tick: those that are measured.
const TICKS: [(f64, &str); 4] = [(2.0, "10⁻²"), (3.0, "10⁻³"), (4.0, "10⁻⁴"), (6.0, "10⁻⁶")];

/// A solver in one panel.
pub(super) struct Line<'a> {
    pub(super) name: &'a str,
    pub(super) colour: RGBColor,
    pub(super) width: u32,
    pub(super) points: Vec<(f64, f64)>,
}

/// One set.
pub(super) struct Panel<'a> {
    pub(super) title: &'a str,
    pub(super) lines: Vec<Line<'a>>,
}

impl Panel<'_> {
    /// Draws everything of the panel.
    pub(super) fn draw<B: DrawingBackend>(&self, area: &DrawingArea<B, Shift>) -> Outcome<B> {
        let (width, height) = area.dim_in_pixel();
        let scale = Scale::new(self, width.cast_signed(), height.cast_signed());
        self.axes(area, &scale)?;
        for line in &self.lines {
            let points: Vec<(i32, i32)> = line.points.iter().map(|&point| scale.place(point)).collect();
            for &point in &points {
                area.draw(&Circle::new(point, line.width.cast_signed() + 1, line.colour.filled()))?;
            }
            area.draw(&PathElement::new(points, line.colour.stroke_width(line.width)))?;
        }
        self.names(area, &scale)
    }

    fn axes<B: DrawingBackend>(&self, area: &DrawingArea<B, Shift>, scale: &Scale) -> Outcome<B> {
        let (left, right) = (LEFT, scale.right);
        for power in scale.lowest..=scale.highest {
            let height = scale.place((2.0, f64::from(power))).1;
            area.draw(&PathElement::new(vec![(left, height), (right, height)], GRID))?;
            text(area, &seconds(power), (left - 8, height), HPos::Right, VPos::Center, SMALL, INK)?;
        }
        for (digits, name) in TICKS {
            let place = scale.place((digits, f64::from(scale.lowest))).0;
            area.draw(&PathElement::new(vec![(place, scale.bottom), (place, scale.bottom + 5)], INK))?;
            text(area, name, (place, scale.bottom + 9), HPos::Center, VPos::Top, SMALL, INK)?;
        }
        area.draw(&PathElement::new(vec![(left, scale.bottom), (right, scale.bottom)], INK))?;
        let middle = i32::midpoint(left, right);
        text(area, "accuracy", (middle, scale.bottom + 28), HPos::Center, VPos::Top, SMALL, INK)?;
        text(area, self.title, (left, 8), HPos::Left, VPos::Top, 16, BLACK)
    }

    /// The solvers' names beside the last points, moved apart where they would cover each other.
    fn names<B: DrawingBackend>(&self, area: &DrawingArea<B, Shift>, scale: &Scale) -> Outcome<B> {
        let paths: Vec<Vec<(i32, i32)>> = self
            .lines
            .iter()
            .map(|line| line.points.iter().map(|&point| scale.place(point)).collect())
            .collect();
        let label = |line: &Line<'_>| {
            let (x, y) = line.points.last().map_or((0, 0), |&point| scale.place(point));
            let size = SMALL.cast_signed();
            if x >= scale.right {
                return Label::new((x, y), line.name, size);
            }
            // Inside the panel a name stands above or below the end, where fewer lines pass.
            let sides = [-size, size].map(|down| Label::new((x - 4, y + down), line.name, size));
            let [above, below] = &sides;
            let crossed = |label: &Label| paths.iter().filter(|path| label.is_crossed_by(path)).count();
            if crossed(above) <= crossed(below) { above.clone() } else { below.clone() }
        };
        let mut labels: Vec<Label> = self.lines.iter().map(label).collect();
        spread(&mut labels, TOP, scale.bottom);
        for (line, label) in self.lines.iter().zip(&labels) {
            let place = (label.left, label.middle);
            // A line that passes all the same is dimmed behind the letters.
            let half = label.height / 2;
            let corners = [(place.0 - 1, place.1 - half), (place.0 + label.width, place.1 + half)];
            area.draw(&Rectangle::new(corners, WHITE.mix(0.75).filled()))?;
            text(area, line.name, place, HPos::Left, VPos::Center, SMALL, line.colour)?;
        }
        Ok(())
    }
}

/// From digits and powers of ten to pixels.
struct Scale {
    lowest: i32,
    highest: i32,
    right: i32,
    bottom: i32,
}

impl Scale {
    fn new(panel: &Panel<'_>, width: i32, height: i32) -> Self {
        let powers = || panel.lines.iter().flat_map(|line| line.points.iter().map(|point| point.1));
        let lowest = powers().fold(f64::INFINITY, f64::min);
        let highest = powers().fold(f64::NEG_INFINITY, f64::max);
        let (lowest, highest) = if lowest <= highest { (lowest, highest) } else { (0.0, 1.0) };
        let (lowest, highest) = (lowest.floor() as i32, highest.ceil() as i32);
        Self { lowest, highest: highest.max(lowest + 1), right: width - RIGHT, bottom: height - BOTTOM }
    }

    fn place(&self, (digits, power): (f64, f64)) -> (i32, i32) {
        let across = (digits - 1.8) / (6.0 - 1.8);
        let up = (power - f64::from(self.lowest)) / f64::from(self.highest - self.lowest);
        let x = f64::from(LEFT) + across * f64::from(self.right - LEFT);
        let y = f64::from(self.bottom) - up * f64::from(self.bottom - TOP);
        (x.round() as i32, y.round() as i32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tighter_is_to_the_right_and_slower_is_up() {
        let line = Line { name: "a", colour: BLACK, width: 1, points: vec![(2.0, -2.5), (6.0, 1.5)] };
        let scale = Scale::new(&Panel { title: "t", lines: vec![line] }, 400, 300);
        assert_eq!((scale.lowest, scale.highest), (-3, 2));
        assert!(scale.place((6.0, 0.0)).0 > scale.place((2.0, 0.0)).0);
        assert!(scale.place((2.0, 1.0)).1 < scale.place((2.0, 0.0)).1);
    }
}
