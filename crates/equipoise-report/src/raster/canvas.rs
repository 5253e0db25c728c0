//! Pixels, and shapes painted on them.
//!
//! A shape covers a share of each pixel; its colour goes there by that share. The share is the sum of the areas to the right of
//! the edges of its rings, with signs, at most 1 (`ab_glyph_rasterizer`): rings that turn the same way are joined, one that turns the
//! other way is a hole.
//!
//! - Given: rings of points in pixels, a colour. Must not know: where they come from.

use ab_glyph_rasterizer::{Rasterizer, point};

use super::tags::Tag;
use crate::chart::DrawingError;

/// The most pixels of a shape.
const MOST: f32 = 64e6;

pub(super) type Point = (f32, f32);
pub(super) type Ring = Vec<Point>;

/// A colour, and how much of it there is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Paint {
    pub(super) colour: [u8; 3],
    pub(super) share: f32,
}

impl Paint {
    /// The colour of an attribute such as `#RRGGBB`; none where it is `none`.
    pub(super) fn of(tag: &Tag<'_>, attribute: &str) -> Option<Self> {
        let hex = tag.get(attribute)?.strip_prefix('#').filter(|hex| hex.len() == 6)?;
        let part = |at: usize| u8::from_str_radix(hex.get(at..at + 2)?, 16).ok();
        let share = tag.get("opacity").map_or(1.0, |_| tag.number("opacity").clamp(0.0, 1.0));
        Some(Self { colour: [part(0)?, part(2)?, part(4)?], share })
    }
}

/// Red, green and blue of every pixel, row after row; white at first.
pub(super) struct Canvas {
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) pixels: Vec<u8>,
    scan: Rasterizer,
}

impl Canvas {
    pub(super) fn new(width: usize, height: usize) -> Self {
        Self { width, height, pixels: vec![u8::MAX; 3 * width * height], scan: Rasterizer::new(1, 1) }
    }

    /// Paints the inside of these rings, as far as it is in the picture.
    pub(super) fn fill(&mut self, rings: &[Ring], paint: Paint) -> Result<(), DrawingError> {
        let mut ends = [f32::INFINITY, f32::INFINITY, f32::NEG_INFINITY, f32::NEG_INFINITY];
        for &(x, y) in rings.iter().flatten() {
            ends = [ends[0].min(x), ends[1].min(y), ends[2].max(x), ends[3].max(y)];
        }
        let [left, top] = [ends[0].floor(), ends[1].floor()];
        let [width, height] = [ends[2].ceil() - left + 1.0, ends[3].ceil() - top + 1.0];
        if rings.iter().all(Vec::is_empty) {
            return Ok(());
        }
        if (width * height).is_nan() || width * height > MOST {
            return Err(DrawingError(format!("a shape of {width} x {height} pixels")));
        }
        let (width, height) = (width as usize, height as usize);
        self.scan.reset(width, height);
        let put = |&(x, y): &Point| point(x - left, y - top);
        for ring in rings {
            for k in 0..ring.len() {
                self.scan.draw_line(put(&ring[k]), put(&ring[(k + 1) % ring.len()]));
            }
        }
        let (left, top) = (left as i64, top as i64);
        let (row, rows) = (self.width, self.height);
        let pixels = &mut self.pixels;
        self.scan.for_each_pixel(|at, covered| {
            let share = paint.share * covered.abs().min(1.0);
            let place = |from: i64, by: usize, end: usize| {
                usize::try_from(from + i64::try_from(by).ok()?).ok().filter(|place| *place < end)
            };
            if share > 0.0
                && let (Some(x), Some(y)) = (place(left, at % width, row), place(top, at / width, rows))
            {
                let first = 3 * (y * row + x);
                for (old, &new) in pixels[first..first + 3].iter_mut().zip(&paint.colour) {
                    *old = (f32::from(*old) + share * (f32::from(new) - f32::from(*old))).round() as u8;
                }
            }
        });
        Ok(())
    }
}
