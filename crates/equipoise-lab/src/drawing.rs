//! What all plots share: text, greys, the size of small letters, names beside the ends of lines.

pub(crate) mod colours;
pub(crate) mod labels;

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// The size of ticks and names.
pub(crate) const SMALL: u32 = 13;
/// Lines behind the data.
pub(crate) const GRID: RGBColor = RGBColor(222, 222, 222);
/// Axes and ticks.
pub(crate) const INK: RGBColor = RGBColor(60, 60, 60);

pub(crate) type Outcome<B> = Result<(), DrawingAreaErrorKind<<B as DrawingBackend>::ErrorType>>;

/// Words at a place, anchored as told.
pub(crate) fn text<B: DrawingBackend>(
    area: &DrawingArea<B, Shift>,
    words: &str,
    place: (i32, i32),
    across: HPos,
    down: VPos,
    size: u32,
    colour: RGBColor,
) -> Outcome<B> {
    let style = ("sans-serif", size).into_font().color(&colour).pos(Pos::new(across, down));
    area.draw(&Text::new(words.to_owned(), place, style))
}

/// A power of ten of a second, in the unit that reads best.
pub(crate) fn seconds(power: i32) -> String {
    match power {
        ..=-4 => format!("{} µs", 10_i64.pow((power + 6).max(0).cast_unsigned())),
        -3..=-1 => format!("{} ms", 10_i64.pow((power + 3).cast_unsigned())),
        _ => format!("{} s", 10_i64.pow(power.cast_unsigned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_have_units() {
        let names: Vec<String> = (-6..=2).map(seconds).collect();
        assert_eq!(names, ["1 µs", "10 µs", "100 µs", "1 ms", "10 ms", "100 ms", "1 s", "10 s", "100 s"]);
    }
}
