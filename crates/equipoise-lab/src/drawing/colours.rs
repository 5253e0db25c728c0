//! Colours that are told apart without red and green (Okabe and Ito).

use plotters::style::RGBColor;

pub(crate) const ORANGE: RGBColor = RGBColor(213, 94, 0);
pub(crate) const GREEN: RGBColor = RGBColor(0, 158, 115);
pub(crate) const BLUE: RGBColor = RGBColor(0, 114, 178);
pub(crate) const PURPLE: RGBColor = RGBColor(204, 121, 167);
pub(crate) const LIGHT_ORANGE: RGBColor = RGBColor(230, 159, 0);
pub(crate) const LIGHT_BLUE: RGBColor = RGBColor(86, 180, 233);
