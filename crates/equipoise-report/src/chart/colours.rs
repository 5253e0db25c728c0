//! Colours that are told apart without red and green (Okabe and Ito).

pub use plotters::style::RGBColor;

/// Vermilion.
pub const ORANGE: RGBColor = RGBColor(213, 94, 0);
/// Bluish green.
pub const GREEN: RGBColor = RGBColor(0, 158, 115);
/// Blue.
pub const BLUE: RGBColor = RGBColor(0, 114, 178);
/// Reddish purple.
pub const PURPLE: RGBColor = RGBColor(204, 121, 167);
/// Orange.
pub const LIGHT_ORANGE: RGBColor = RGBColor(230, 159, 0);
/// Sky blue.
pub const LIGHT_BLUE: RGBColor = RGBColor(86, 180, 233);
/// Data behind a fit, and whatever is not the point.
pub const GREY: RGBColor = RGBColor(150, 150, 150);
/// Axes, ticks and words.
pub const INK: RGBColor = RGBColor(60, 60, 60);
/// Lines behind the data.
pub const GRID: RGBColor = RGBColor(222, 222, 222);

/// How many colours there are before they come again.
pub const COUNT: usize = 6;

/// The same colour half way to white.
pub fn paler(colour: RGBColor) -> RGBColor {
    let pale = |part: u8| part.midpoint(u8::MAX);
    RGBColor(pale(colour.0), pale(colour.1), pale(colour.2))
}

/// One after the other, for as many series as there are.
pub fn nth(index: usize) -> RGBColor {
    const ALL: [RGBColor; COUNT] = [BLUE, ORANGE, GREEN, PURPLE, LIGHT_ORANGE, LIGHT_BLUE];
    ALL[index % ALL.len()]
}
