//! Speed-up against threads: the ideal line, one line a case with a dot at each measured count, named at its end.

use std::path::Path;

use anyhow::{Result, anyhow};
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use crate::drawing::labels::{Label, spread};
use crate::drawing::{GRID, INK, Outcome, SMALL, text};

const SIZE: (u32, u32) = (640, 520);
const LEFT: i32 = 56;
const RIGHT: i32 = SIZE.0.cast_signed() - 144;
const TOP: i32 = 84;
const BOTTOM: i32 = SIZE.1.cast_signed() - 56;
const IDEAL: RGBColor = RGBColor(150, 150, 150);

/// One case.
pub(super) struct Line {
    pub(super) name: String,
    pub(super) colour: RGBColor,
    pub(super) width: u32,
    /// Threads and speed-up, ascending.
    pub(super) points: Vec<(usize, f64)>,
}

/// One plot.
pub(super) struct Chart {
    pub(super) title: String,
    /// Below the title: what was measured.
    pub(super) notes: [String; 2],
    pub(super) lines: Vec<Line>,
}

impl Chart {
    /// Draws the plot into an SVG file.
    pub(super) fn draw(&self, path: &Path) -> Result<()> {
        let failed = |error: &dyn std::fmt::Display| anyhow!("cannot draw {}: {error}", path.display());
        let area = SVGBackend::new(path, SIZE).into_drawing_area();
        area.fill(&WHITE).map_err(|error| failed(&error))?;
        self.draw_on(&area).map_err(|error| failed(&error))?;
        area.present().map_err(|error| failed(&error))
    }

    fn draw_on<B: DrawingBackend>(&self, area: &DrawingArea<B, Shift>) -> Outcome<B> {
        let scale = Scale::new(self);
        text(area, &self.title, (16, 12), HPos::Left, VPos::Top, 18, BLACK)?;
        for (note, height) in self.notes.iter().zip([38, 55]) {
            text(area, note, (16, height), HPos::Left, VPos::Top, SMALL, INK)?;
        }
        axes(area, &scale)?;
        // The ideal ends where the axes do.
        let end = (scale.threads as f64).min(scale.top);
        let ideal = vec![scale.place(1.0, 1.0), scale.place(end, end)];
        area.draw(&PathElement::new(ideal.clone(), IDEAL.stroke_width(1)))?;
        let mut ends = vec![("ideal", IDEAL, ideal[1])];
        for line in &self.lines {
            let points: Vec<(i32, i32)> =
                line.points.iter().map(|&(threads, times)| scale.place(threads as f64, times)).collect();
            for &point in &points {
                area.draw(&Circle::new(point, line.width.cast_signed() + 1, line.colour.filled()))?;
            }
            ends.extend(points.last().map(|&end| (line.name.as_str(), line.colour, end)));
            area.draw(&PathElement::new(points, line.colour.stroke_width(line.width)))?;
        }
        names(area, &ends)
    }
}

/// The names beside the ends, moved apart where they would cover each other.
fn names<B: DrawingBackend>(
    area: &DrawingArea<B, Shift>,
    ends: &[(&str, RGBColor, (i32, i32))],
) -> Outcome<B> {
    let size = SMALL.cast_signed();
    let mut labels: Vec<Label> = ends.iter().map(|(name, _, end)| Label::new(*end, name, size)).collect();
    spread(&mut labels, TOP, BOTTOM);
    for ((name, colour, _), label) in ends.iter().zip(&labels) {
        text(area, name, (label.left, label.middle), HPos::Left, VPos::Center, SMALL, *colour)?;
    }
    Ok(())
}

fn axes<B: DrawingBackend>(area: &DrawingArea<B, Shift>, scale: &Scale) -> Outcome<B> {
    let step = step(scale.top);
    for tick in 0..=(scale.top / step) as u32 {
        let times = step * f64::from(tick);
        let height = scale.place(1.0, times).1;
        area.draw(&PathElement::new(vec![(LEFT, height), (RIGHT, height)], GRID))?;
        text(area, &times.to_string(), (LEFT - 8, height), HPos::Right, VPos::Center, SMALL, INK)?;
    }
    for threads in (1..=scale.threads).step_by(scale.threads.div_ceil(20)) {
        let place = scale.place(threads as f64, 0.0).0;
        area.draw(&PathElement::new(vec![(place, BOTTOM), (place, BOTTOM + 5)], INK))?;
        let name = threads.to_string();
        text(area, &name, (place, BOTTOM + 9), HPos::Center, VPos::Top, SMALL, INK)?;
    }
    area.draw(&PathElement::new(vec![(LEFT, BOTTOM), (RIGHT, BOTTOM)], INK))?;
    let middle = i32::midpoint(LEFT, RIGHT);
    text(area, "threads", (middle, BOTTOM + 30), HPos::Center, VPos::Top, SMALL, INK)
}

/// The distance of ticks that gives no more than eight of them.
fn step(top: f64) -> f64 {
    let steps = [0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0];
    steps.into_iter().find(|step| top / step <= 8.0).unwrap_or(500.0)
}

/// From threads and speed-ups to pixels.
struct Scale {
    threads: usize,
    top: f64,
}

impl Scale {
    fn new(chart: &Chart) -> Self {
        let points = || chart.lines.iter().flat_map(|line| line.points.iter());
        let threads = points().map(|(threads, _)| *threads).max().unwrap_or(1).max(2);
        let highest = points().map(|(_, times)| *times).fold(threads as f64, f64::max);
        Self { threads, top: highest }
    }

    fn place(&self, threads: f64, times: f64) -> (i32, i32) {
        // A little air before the first count.
        let across = (threads - 0.7) / (self.threads as f64 - 0.7);
        let x = f64::from(LEFT) + across * f64::from(RIGHT - LEFT);
        let y = f64::from(BOTTOM) - times / self.top * f64::from(BOTTOM - TOP);
        (x.round() as i32, y.round() as i32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_few_and_round() {
        let steps: Vec<f64> = [2.0, 8.0, 15.0, 16.0, 40.0, 100.0].into_iter().map(step).collect();
        assert_eq!(steps, [0.5, 1.0, 2.0, 2.0, 5.0, 20.0]);
    }

    #[test]
    fn more_threads_are_to_the_right_and_faster_is_up() {
        let line = Line { name: "a".into(), colour: BLACK, width: 1, points: vec![(1, 1.0), (8, 6.0)] };
        let chart = Chart { title: String::new(), notes: [String::new(), String::new()], lines: vec![line] };
        let scale = Scale::new(&chart);
        assert_eq!((scale.threads, scale.top), (8, 8.0));
        assert!(scale.place(8.0, 0.0).0 > scale.place(1.0, 0.0).0);
        assert!(scale.place(1.0, 6.0).1 < scale.place(1.0, 1.0).1);
    }
}
