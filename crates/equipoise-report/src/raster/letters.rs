//! Words as outlines, in `DejaVu Sans`.
//!
//! Given: words and a size. Returns: rings of points from the beginning of the words, y downwards from their foot. Must not know:
//! where they stand.

use ttf_parser::{Face, OutlineBuilder};

use super::canvas::{Point, Ring};
use crate::chart::DrawingError;

/// Lines for a curve of an outline.
const PARTS: u16 = 6;
/// The height of an x, of a size.
const X_HEIGHT: f32 = 0.547;

/// A typeface.
pub(super) struct Letters {
    face: Face<'static>,
}

impl Letters {
    pub(super) fn new() -> Result<Self, DrawingError> {
        let face = Face::parse(dejavu::sans::regular(), 0);
        Ok(Self {
            face: face.map_err(|error| DrawingError(format!("the typeface cannot be read: {error}")))?,
        })
    }

    /// How wide words are.
    pub(super) fn width(&self, words: &str, size: f32) -> f32 {
        words.chars().map(|letter| self.step(letter, size)).sum()
    }

    /// A length such as `0.76em` or `0.5ex`.
    #[allow(clippy::unused_self, reason = "it is that of this typeface")]
    pub(super) fn length(&self, text: &str, size: f32) -> f32 {
        let of = |unit: &str| text.strip_suffix(unit).and_then(|number| number.parse::<f32>().ok());
        of("em").or_else(|| of("ex").map(|share| X_HEIGHT * share)).unwrap_or(0.0) * size
    }

    /// Hands over the outline of each letter.
    pub(super) fn write(
        &self,
        words: &str,
        size: f32,
        mut each: impl FnMut(&[Ring]) -> Result<(), DrawingError>,
    ) -> Result<(), DrawingError> {
        let mut at = 0.0;
        for letter in words.chars() {
            let mut outline = Outline { rings: Vec::new(), left: at, unit: self.unit(size) };
            // A letter that the typeface does not have is its empty box.
            let _ = self.face.outline_glyph(self.face.glyph_index(letter).unwrap_or_default(), &mut outline);
            each(&outline.rings)?;
            at += self.step(letter, size);
        }
        Ok(())
    }

    fn step(&self, letter: char, size: f32) -> f32 {
        let glyph = self.face.glyph_index(letter).unwrap_or_default();
        self.unit(size) * f32::from(self.face.glyph_hor_advance(glyph).unwrap_or(0))
    }

    fn unit(&self, size: f32) -> f32 {
        size / f32::from(self.face.units_per_em())
    }
}

/// Rings of one letter.
struct Outline {
    rings: Vec<Ring>,
    left: f32,
    unit: f32,
}

impl Outline {
    fn put(&self, x: f32, y: f32) -> Point {
        (self.left + self.unit * x, -self.unit * y)
    }

    fn last(&self) -> Point {
        self.rings.last().and_then(|ring| ring.last()).copied().unwrap_or_default()
    }

    fn add(&mut self, point: Point) {
        if let Some(ring) = self.rings.last_mut() {
            ring.push(point);
        }
    }

    /// Points of a curve, each a mean of its corners.
    fn curve(&mut self, corners: &[Point]) {
        for k in 1..=PARTS {
            let share = f32::from(k) / f32::from(PARTS);
            let mut points = corners.to_vec();
            while points.len() > 1 {
                let between = |a: f32, b: f32| a + share * (b - a);
                points =
                    points.windows(2).map(|w| (between(w[0].0, w[1].0), between(w[0].1, w[1].1))).collect();
            }
            self.add(points[0]);
        }
    }
}

impl OutlineBuilder for Outline {
    fn move_to(&mut self, x: f32, y: f32) {
        self.rings.push(vec![self.put(x, y)]);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.add(self.put(x, y));
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        self.curve(&[self.last(), self.put(x1, y1), self.put(x, y)]);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        self.curve(&[self.last(), self.put(x1, y1), self.put(x2, y2), self.put(x, y)]);
    }

    fn close(&mut self) {}
}
