//! A matrix as an image in greys, row 1 at the top.
//!
//! Given: numbers. Returns: rectangles, one a run of equal greys, of at most 160 x 160 cells (larger ones are averaged).
//! Must not know: what is shown.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use super::{Area, DrawingError, FINE, LARGE, Outcome, drawn, finely_drawn, words};

/// The most cells along a side.
const MOST: usize = 160;
const TOP: i32 = 44;
const MARGIN: i32 = 16;

/// Numbers row after row.
#[derive(Debug, Clone)]
pub struct Image {
    /// Words above it.
    pub title: String,
    /// How many rows there are.
    pub rows: usize,
    /// How many columns there are.
    pub columns: usize,
    /// All of them.
    pub values: Vec<f64>,
}

impl Image {
    /// The image under its title, as part of a picture. Cells lie on finer pixels than a screen has and are drawn without
    /// softened edges, so that no seam shows where two of them meet.
    pub(crate) fn drawing(&self, size: (i32, i32)) -> Result<String, DrawingError> {
        let mut text =
            drawn(size, |area| words(area, &self.title, (MARGIN, 14), HPos::Left, VPos::Top, LARGE, BLACK))?;
        text +=
            &finely_drawn(size, FINE, " shape-rendering=\"crispEdges\"", |area| self.draw_cells(area, size))?;
        Ok(text)
    }

    fn draw_cells(&self, area: &Area<'_>, (width, height): (i32, i32)) -> Outcome {
        let (rows, columns, cells) = self.averaged();
        if cells.is_empty() {
            return Ok(());
        }
        let room = (width - 2 * MARGIN, height - TOP - MARGIN);
        let side = (f64::from(room.0) / columns as f64).min(f64::from(room.1) / rows as f64);
        let edge =
            |count: usize, from: i32| FINE * from + (f64::from(FINE) * count as f64 * side).round() as i32;
        let finite = || cells.iter().copied().filter(|value| value.is_finite());
        let (low, high) =
            (finite().fold(f64::INFINITY, f64::min), finite().fold(f64::NEG_INFINITY, f64::max));
        let grey = |value: f64| {
            let share = if high > low { (value - low) / (high - low) } else { 0.5 };
            (share.clamp(0.0, 1.0) * 255.0).round() as u8
        };
        for row in 0..rows {
            let greys: Vec<u8> =
                cells[row * columns..(row + 1) * columns].iter().map(|&value| grey(value)).collect();
            let mut from = 0;
            for run in greys.chunk_by(|a, b| a == b) {
                let corners = [
                    (edge(from, MARGIN), edge(row, TOP)),
                    (edge(from + run.len(), MARGIN), edge(row + 1, TOP)),
                ];
                area.draw(&Rectangle::new(corners, RGBColor(run[0], run[0], run[0]).filled()))?;
                from += run.len();
            }
        }
        Ok(())
    }

    /// The image in cells that are not too many.
    fn averaged(&self) -> (usize, usize, Vec<f64>) {
        let step = self.rows.max(self.columns).div_ceil(MOST).max(1);
        let (rows, columns) = (self.rows.div_ceil(step), self.columns.div_ceil(step));
        let mean = |row: usize, column: usize| {
            let inside = |from: usize, end: usize| from * step..((from + 1) * step).min(end);
            let (down, across) = (inside(row, self.rows), inside(column, self.columns));
            let count = down.len() * across.len();
            let sum: f64 =
                down.flat_map(|r| across.clone().map(move |c| self.values[r * self.columns + c])).sum();
            sum / count as f64
        };
        let cells = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
        (rows, columns, cells.map(|(row, column)| mean(row, column)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_images_are_averaged() {
        let values = (0..400 * 200).map(|k| f64::from(u8::from(k % 200 >= 100))).collect();
        let (rows, columns, cells) =
            Image { title: String::new(), rows: 400, columns: 200, values }.averaged();
        assert_eq!((rows, columns, cells.len()), (134, 67, 134 * 67));
        assert_eq!((cells[0], cells[66]), (0.0, 1.0));
        assert!((cells[33] - 2.0 / 3.0).abs() < 1e-12, "the cell over the edge");
    }
}
