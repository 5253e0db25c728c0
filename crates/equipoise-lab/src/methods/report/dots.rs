//! Times of methods on several problems: one line a method, a dot at its median on an axis in powers of ten.

use std::path::Path;

use anyhow::{Result, anyhow};
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use super::ratio::Cost;
use crate::drawing::labels::Label;
use crate::drawing::{GRID, INK, Outcome, SMALL, seconds, text};

const WIDTH: u32 = 720;
/// Where the axis begins: the names of the methods are left of it.
const LEFT: i32 = 190;
/// Where it ends: the value of the slowest is right of it.
const RIGHT: i32 = WIDTH.cast_signed() - 84;
const TOP: i32 = 66;
/// Of a method, and of the name of a problem.
const STEP: i32 = 19;
const HEADING: i32 = 30;
const BELOW: i32 = 44;

/// A method on one problem.
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) colour: RGBColor,
    pub(super) median: Cost,
    pub(super) seeds: Vec<Cost>,
}

/// One plot.
pub(super) struct Dots {
    pub(super) title: String,
    /// Below the title: what was measured.
    pub(super) note: String,
    /// Problems with their methods.
    pub(super) sections: Vec<(String, Vec<Entry>)>,
}

impl Dots {
    fn height(&self) -> i32 {
        let section =
            |(_, entries): &(String, Vec<Entry>)| entries.iter().fold(HEADING, |height, _| height + STEP);
        TOP + self.sections.iter().map(section).sum::<i32>()
    }

    /// Draws the plot into an SVG file.
    pub(super) fn draw(&self, path: &Path) -> Result<()> {
        let failed = |error: &dyn std::fmt::Display| anyhow!("cannot draw {}: {error}", path.display());
        let size = (WIDTH, (self.height() + BELOW).cast_unsigned());
        let area = SVGBackend::new(path, size).into_drawing_area();
        area.fill(&WHITE).map_err(|error| failed(&error))?;
        self.draw_on(&area).map_err(|error| failed(&error))?;
        area.present().map_err(|error| failed(&error))
    }

    fn draw_on<B: DrawingBackend>(&self, area: &DrawingArea<B, Shift>) -> Outcome<B> {
        let scale = Scale::new(self);
        let bottom = self.height() + 4;
        text(area, &self.title, (16, 12), HPos::Left, VPos::Top, 18, BLACK)?;
        text(area, &self.note, (16, 38), HPos::Left, VPos::Top, SMALL, INK)?;
        for power in scale.lowest..=scale.highest {
            let place = scale.place(10f64.powi(power));
            area.draw(&PathElement::new(vec![(place, TOP), (place, bottom)], GRID))?;
            text(area, &seconds(power), (place, bottom + 8), HPos::Center, VPos::Top, SMALL, INK)?;
        }
        area.draw(&PathElement::new(vec![(LEFT, bottom), (RIGHT, bottom)], INK))?;
        let mut height = TOP;
        for (name, entries) in &self.sections {
            // No line of the grid passes behind the letters.
            let size = SMALL + 1;
            let width = Label::new((0, 0), name, size.cast_signed()).width;
            let corners = [(14, height + 5), (16 + width, height + HEADING - 2)];
            area.draw(&Rectangle::new(corners, WHITE.filled()))?;
            text(area, name, (16, height + HEADING - 6), HPos::Left, VPos::Bottom, size, BLACK)?;
            height += HEADING;
            for entry in entries {
                entry.draw(area, &scale, height + STEP / 2)?;
                height += STEP;
            }
        }
        Ok(())
    }
}

impl Entry {
    fn draw<B: DrawingBackend>(&self, area: &DrawingArea<B, Shift>, scale: &Scale, y: i32) -> Outcome<B> {
        text(area, &self.name, (LEFT - 12, y), HPos::Right, VPos::Center, SMALL, INK)?;
        let place = scale.place(self.median.value);
        area.draw(&PathElement::new(vec![(LEFT, y), (place, y)], self.colour.mix(0.35).stroke_width(2)))?;
        let mut end = place;
        for seed in &self.seeds {
            let x = scale.place(seed.value);
            end = end.max(x);
            area.draw(&Circle::new((x, y), 3, self.colour.mix(0.45).filled()))?;
        }
        let words = format!("{}{}", if self.median.reached { "" } else { ">" }, duration(self.median.value));
        if self.median.reached {
            area.draw(&Circle::new((place, y), 5, self.colour.filled()))?;
        } else {
            // An arrow: the end is further right.
            let arrow = vec![(place + 8, y), (place - 3, y - 5), (place - 3, y + 5)];
            area.draw(&Polygon::new(arrow, self.colour.filled()))?;
        }
        text(area, &words, (end + 13, y), HPos::Left, VPos::Center, SMALL, self.colour)
    }
}

/// Three digits in the unit that reads best.
fn duration(value: f64) -> String {
    let (value, unit) = match value {
        ..1e-3 => (1e6 * value, "µs"),
        ..1.0 => (1e3 * value, "ms"),
        _ => (value, "s"),
    };
    let decimals = usize::from(value < 100.0);
    format!("{value:.decimals$} {unit}")
}

/// From seconds to pixels.
struct Scale {
    lowest: i32,
    highest: i32,
}

impl Scale {
    fn new(dots: &Dots) -> Self {
        let entries = || dots.sections.iter().flat_map(|(_, entries)| entries);
        let values =
            || entries().flat_map(|entry| entry.seeds.iter().chain([&entry.median])).map(|cost| cost.value);
        let lowest = values().fold(f64::INFINITY, f64::min).clamp(1e-6, 1e6).log10().floor() as i32;
        let highest = values().fold(0.0, f64::max).clamp(1e-6, 1e6).log10().ceil() as i32;
        Self { lowest, highest: highest.max(lowest + 1) }
    }

    fn place(&self, value: f64) -> i32 {
        let power = value.max(1e-9).log10().max(f64::from(self.lowest));
        let across = (power - f64::from(self.lowest)) / f64::from(self.highest - self.lowest);
        LEFT + (across * f64::from(RIGHT - LEFT)).round() as i32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slower_is_to_the_right_and_all_of_it_fits() {
        let cost = |value| Cost { value, reached: true };
        let entry =
            |value| Entry { name: "a".into(), colour: BLACK, median: cost(value), seeds: vec![cost(value)] };
        let sections = vec![("p".into(), vec![entry(2e-3), entry(30.0)])];
        let dots = Dots { title: String::new(), note: String::new(), sections };
        let scale = Scale::new(&dots);
        assert_eq!((scale.lowest, scale.highest), (-3, 2));
        assert!(scale.place(30.0) > scale.place(2e-3));
        assert_eq!((scale.place(1e-3), scale.place(100.0)), (LEFT, RIGHT));
        assert_eq!(dots.height(), TOP + HEADING + 2 * STEP);
    }

    #[test]
    fn durations_have_units() {
        let texts = [3.21e-4, 0.0456, 7.0, 123.4].map(duration);
        assert_eq!(texts, ["321 µs", "45.6 ms", "7.0 s", "123 s"]);
    }
}
