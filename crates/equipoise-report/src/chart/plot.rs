//! A chart: a frame with ticks, series in it, their names above it.
//!
//! Given: axes and series. Returns: what is drawn. Must not know: files, what the numbers mean.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use super::axis::{Axis, Ruler};
use super::{Area, DrawingError, Failure, LARGE, Outcome, SMALL, colours, drawn, layers, width_of, words};

/// How much of its colour a veil has.
const VEIL: f64 = 0.18;

/// How a series is drawn.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Mark {
    /// Points joined by straight lines.
    Line,
    /// The same, dashed.
    Dashes,
    /// Points alone.
    Points,
    /// Smaller points, for many data.
    Dots,
    /// Points joined by steps: a value holds until the next.
    Steps,
    /// Bars from 0 to the right, at the y of each point.
    BarsAcross,
    /// A vertical bar from low to high at each point.
    ErrorBars(Vec<(f64, f64)>),
    /// A vertical line at the x of each point.
    Rules,
    /// The area from low to high between one point and the next.
    Band(Vec<(f64, f64)>),
    /// The same, through which whatever lies behind can be seen.
    Veil(Vec<(f64, f64)>),
}

/// Numbers that are drawn in one way.
#[derive(Debug, Clone)]
pub struct Series {
    /// In the legend; none, not there.
    pub(crate) name: Option<String>,
    /// Beside its last point.
    end: Option<String>,
    /// Beside every point, where there is room.
    labels: Vec<String>,
    pub(crate) mark: Mark,
    pub(crate) colour: RGBColor,
    pub(crate) points: Vec<(f64, f64)>,
}

impl Series {
    /// These points, drawn in this way; in no legend yet.
    pub fn new(mark: Mark, colour: RGBColor, points: Vec<(f64, f64)>) -> Self {
        Self { name: None, end: None, labels: Vec::new(), mark, colour, points }
    }

    /// With a name in the legend.
    #[must_use]
    pub fn named(self, name: impl Into<String>) -> Self {
        Self { name: Some(name.into()), ..self }
    }

    /// With a name beside its last point.
    #[must_use]
    pub fn labelled(self, label: impl Into<String>) -> Self {
        Self { end: Some(label.into()), ..self }
    }

    /// With a name beside every point that has room for it.
    #[must_use]
    pub fn each_labelled(self, labels: Vec<String>) -> Self {
        Self { labels, ..self }
    }
}

/// A frame and what is in it.
#[derive(Debug, Clone)]
pub struct Chart {
    pub(crate) title: String,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    pub(crate) series: Vec<Series>,
}

/// The inside of the frame, in pixels.
pub(crate) struct Frame {
    pub(crate) x: Ruler,
    pub(crate) y: Ruler,
    pub(crate) left: i32,
    pub(crate) right: i32,
    pub(crate) top: i32,
    pub(crate) bottom: i32,
    /// Pixels of what is one pixel on paper: more for finer lines.
    unit: i32,
}

impl Chart {
    /// An empty frame.
    pub fn new(title: impl Into<String>, x: Axis, y: Axis) -> Self {
        Self { title: title.into(), x, y, series: Vec::new() }
    }

    /// With another series, drawn over those before it.
    #[must_use]
    pub fn with(mut self, series: Series) -> Self {
        self.series.push(series);
        self
    }

    /// Words along the y axis that the caller gave.
    pub(crate) fn names_down_the_side(&self) -> usize {
        self.y.ticks.as_ref().map_or(0, Vec::len)
    }

    /// The chart with title and legend, as part of a picture; series on `unit` times as many pixels.
    pub(crate) fn drawing(&self, (width, height): (i32, i32), unit: i32) -> Result<String, DrawingError> {
        let mut top = 0;
        let mut text = drawn((width, height), |area| {
            top = self.heading(area, width)?;
            self.draw_frame(area, &self.frame(width, height, top), width)
        })?;
        text.extend(layers(self, (width, height), top, unit)?);
        text += &drawn((width, height), |area| {
            let frame = self.frame(width, height, top);
            self.draw_labels(area, &frame)?;
            self.draw_ends(area, &frame)
        })?;
        Ok(text)
    }

    /// Title and legend; returns where the frame may begin.
    pub(crate) fn heading(&self, area: &Area<'_>, width: i32) -> Result<i32, Failure> {
        words(area, &self.title, (16, 14), HPos::Left, VPos::Top, LARGE, BLACK)?;
        self.legend(area, width)
    }

    /// Draws the names of the series under the title; returns where the frame may begin.
    fn legend(&self, area: &Area<'_>, width: i32) -> Result<i32, Failure> {
        let (mut at, mut line) = (16, 48);
        let mut any = false;
        for series in &self.series {
            let Some(name) = &series.name else { continue };
            let room = 34 + width_of(name, SMALL);
            if any && at + room > width - 8 {
                (at, line) = (16, line + 18);
            }
            let colour = series.colour;
            match series.mark {
                Mark::Points | Mark::Dots => area.draw(&Circle::new((at + 9, line), 4, colour.filled()))?,
                Mark::BarsAcross | Mark::Band(_) | Mark::Veil(_) => {
                    area.draw(&Rectangle::new([(at + 3, line - 5), (at + 15, line + 5)], colour.filled()))?;
                }
                Mark::Dashes | Mark::Rules => {
                    for ends in [[at, at + 7], [at + 11, at + 18]] {
                        let path = ends.map(|x| (x, line)).to_vec();
                        area.draw(&PathElement::new(path, colour.stroke_width(2)))?;
                    }
                }
                _ => {
                    area.draw(&PathElement::new(vec![(at, line), (at + 18, line)], colour.stroke_width(2)))?;
                }
            }
            words(area, name, (at + 24, line), HPos::Left, VPos::Center, SMALL, colours::INK)?;
            (at, any) = (at + room + 8, true);
        }
        Ok(if any { line + 20 } else { 48 })
    }

    /// The frame, with room for the words beside it.
    pub(crate) fn frame(&self, width: i32, height: i32, top: i32) -> Frame {
        let bottom = height - 52;
        let xs = || self.series.iter().flat_map(|series| series.points.iter().map(|point| point.0));
        let ys = || {
            self.series.iter().flat_map(|series| {
                let ends: &[(f64, f64)] = match &series.mark {
                    Mark::ErrorBars(ends) | Mark::Band(ends) | Mark::Veil(ends) => ends,
                    _ => &[],
                };
                let rules = matches!(series.mark, Mark::Rules);
                let own = series.points.iter().map(|point| point.1).filter(move |_| !rules);
                own.chain(ends.iter().flat_map(|&(low, high)| [low, high]))
            })
        };
        let has_bars = self.series.iter().any(|series| matches!(series.mark, Mark::BarsAcross));
        let across = has_bars.then_some(0.0);
        let y = Ruler::new(&self.y, ys(), bottom, top);
        let widest = y.ticks.iter().map(|(_, text)| width_of(text, SMALL)).max().unwrap_or(0);
        let left = (if self.y.label.is_empty() { 24 } else { 44 } + widest).min(width / 2);
        let ends = self.series.iter().filter_map(|series| series.end.as_ref());
        let beside = ends.map(|name| width_of(name, SMALL) + 8).max().unwrap_or(0);
        let right = width - 18 - beside.min(width / 3);
        let x = Ruler::new(&self.x, xs().chain(across), left, right);
        Frame { x, y, left, right, top, bottom, unit: 1 }
    }

    pub(crate) fn draw_frame(&self, area: &Area<'_>, frame: &Frame, width: i32) -> Outcome {
        let Frame { left, right, top, bottom, .. } = *frame;
        let grid = colours::GRID.stroke_width(1);
        // From left to right, also where the axis is turned over, so that words keep clear of one another.
        let mut ticks: Vec<(i32, &String)> =
            frame.x.ticks.iter().filter_map(|(value, text)| Some((frame.x.pixel(*value)?, text))).collect();
        ticks.sort_unstable_by_key(|tick| tick.0);
        let mut free = i32::MIN;
        for (at, text) in ticks {
            area.draw(&PathElement::new(vec![(at, top), (at, bottom)], grid))?;
            let half = width_of(text, SMALL) / 2;
            if at - half > free {
                words(area, text, (at, bottom + 7), HPos::Center, VPos::Top, SMALL, colours::INK)?;
                free = at + half + 4;
            }
        }
        for (value, text) in &frame.y.ticks {
            let Some(at) = frame.y.pixel(*value) else { continue };
            area.draw(&PathElement::new(vec![(left, at), (right, at)], grid))?;
            words(area, text, (left - 7, at), HPos::Right, VPos::Center, SMALL, colours::INK)?;
        }
        let corners = vec![(left, top), (right, top), (right, bottom), (left, bottom), (left, top)];
        area.draw(&PathElement::new(corners, colours::INK.stroke_width(1)))?;
        let middle = i32::midpoint(left, right).min(width);
        words(area, &self.x.label, (middle, bottom + 28), HPos::Center, VPos::Top, SMALL, colours::INK)?;
        let style =
            ("sans-serif", SMALL).into_font().transform(FontTransform::Rotate270).color(&colours::INK);
        let style = style.pos(plotters::style::text_anchor::Pos::new(HPos::Center, VPos::Top));
        area.draw(&Text::new(self.y.label.clone(), (8, i32::midpoint(top, bottom)), style))
    }

    /// Names beside points: to the right, to the left, above or below, wherever nothing is yet.
    pub(crate) fn draw_labels(&self, area: &Area<'_>, frame: &Frame) -> Outcome {
        let height = SMALL.cast_signed();
        let mut taken: Vec<[i32; 4]> = Vec::new();
        let around = |(x, y): (i32, i32), by: i32| [x - by, y - by, x + by, y + by];
        for series in &self.series {
            let places = series.points.iter().filter_map(|&point| frame.place(point));
            taken.extend(places.filter(|&place| frame.holds(place)).map(|place| around(place, 3)));
        }
        let meets = |a: &[i32; 4], b: &[i32; 4]| a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];
        for series in &self.series {
            for (&point, label) in series.points.iter().zip(&series.labels) {
                let Some((x, y)) = frame.place(point).filter(|&place| frame.holds(place)) else { continue };
                let (width, half) = (width_of(label, SMALL), height / 2);
                let wishes = [
                    [x + 5, y - half, x + 5 + width, y + half],
                    [x - 5 - width, y - half, x - 5, y + half],
                    [x - width / 2, y - 5 - height, x + width / 2, y - 5],
                    [x - width / 2, y + 5, x + width / 2, y + 5 + height],
                ];
                let fits = |wish: &&[i32; 4]| {
                    let inside = frame.holds((wish[0], wish[1])) && frame.holds((wish[2], wish[3]));
                    inside && !taken.iter().any(|other| meets(wish, other))
                };
                let Some(place) = wishes.iter().find(fits).copied() else { continue };
                let at = (place[0], i32::midpoint(place[1], place[3]));
                words(area, label, at, HPos::Left, VPos::Center, SMALL, colours::INK)?;
                taken.push(place);
            }
        }
        Ok(())
    }

    /// Names beside the last points, moved apart.
    pub(crate) fn draw_ends(&self, area: &Area<'_>, frame: &Frame) -> Outcome {
        let height = SMALL.cast_signed() + 2;
        let mut labels: Vec<(i32, &str, RGBColor)> = Vec::new();
        for series in &self.series {
            if let (Some(name), Some(&(_, y))) = (&series.end, series.points.last())
                && let Some(at) = frame.y.pixel(y)
            {
                labels.push((at.clamp(frame.top, frame.bottom), name, series.colour));
            }
        }
        labels.sort_by_key(|(at, ..)| *at);
        for _ in 0..200 {
            let mut moved = false;
            for k in 1..labels.len() {
                let lack = height - (labels[k].0 - labels[k - 1].0);
                if lack > 0 {
                    labels[k - 1].0 = (labels[k - 1].0 - lack / 2).max(frame.top);
                    labels[k].0 = (labels[k].0 + lack - lack / 2).min(frame.bottom);
                    moved = true;
                }
            }
            if !moved {
                break;
            }
        }
        let place = frame.right + 6;
        labels.iter().try_for_each(|&(at, name, colour)| {
            words(area, name, (place, at), HPos::Left, VPos::Center, SMALL, colour)
        })
    }
}

impl Frame {
    /// The pixels of a point; `None` where it has no place.
    pub(crate) fn place(&self, point: (f64, f64)) -> Option<(i32, i32)> {
        Some((self.x.pixel(point.0)?, self.y.pixel(point.1)?))
    }

    fn holds(&self, place: (i32, i32)) -> bool {
        (self.left..=self.right).contains(&place.0) && (self.top..=self.bottom).contains(&place.1)
    }

    /// The same frame on paper of `unit` times as many pixels.
    pub(crate) fn finer(self, unit: i32) -> Self {
        let [left, right, top, bottom] = [self.left, self.right, self.top, self.bottom].map(|at| unit * at);
        Self { x: self.x.finer(unit), y: self.y.finer(unit), left, right, top, bottom, unit }
    }

    pub(crate) fn draw(&self, area: &Area<'_>, series: &Series) -> Outcome {
        let (colour, unit) = (series.colour, self.unit);
        let thick = 2 * unit.unsigned_abs();
        let places: Vec<Option<(i32, i32)>> = series.points.iter().map(|&point| self.place(point)).collect();
        let seen = || places.iter().flatten().copied().filter(|&place| self.holds(place));
        match &series.mark {
            Mark::Line | Mark::Steps => {
                // A line ends where a point has no place, and goes on behind it.
                for part in places.split(Option::is_none).filter(|part| part.len() > 1) {
                    let path: Vec<(i32, i32)> = part.iter().flatten().copied().collect();
                    let path = if matches!(series.mark, Mark::Steps) { stepped(&path) } else { path };
                    area.draw(&PathElement::new(self.clipped(path), colour.stroke_width(thick)))?;
                }
                Ok(())
            }
            Mark::Dashes => {
                let path: Vec<(i32, i32)> = places.iter().flatten().copied().collect();
                dashes(&self.clipped(path), unit)
                    .into_iter()
                    .try_for_each(|dash| area.draw(&PathElement::new(dash, colour.stroke_width(thick))))
            }
            Mark::Points => {
                seen().try_for_each(|place| area.draw(&Circle::new(place, 4 * unit, colour.filled())))
            }
            Mark::Dots => {
                seen().try_for_each(|place| area.draw(&Circle::new(place, 2 * unit, colour.filled())))
            }
            Mark::BarsAcross => {
                let (base, half) = (self.x.base(), bar(places.len(), self.bottom - self.top, unit));
                seen().try_for_each(|(x, y)| {
                    area.draw(&Rectangle::new(
                        [(x.min(base), y - half), (x.max(base), y + half)],
                        colour.filled(),
                    ))
                })
            }
            Mark::Band(ends) | Mark::Veil(ends) => {
                let across = series.points.iter().zip(ends);
                let place = |(point, value): (&(f64, f64), f64)| self.place((point.0, value));
                let tops = across.clone().filter_map(|(point, end)| place((point, end.1)));
                let feet: Vec<(i32, i32)> = across.filter_map(|(point, end)| place((point, end.0))).collect();
                let corners: Vec<(i32, i32)> = tops.chain(feet.into_iter().rev()).collect();
                let share = if matches!(series.mark, Mark::Veil(_)) { VEIL } else { 1.0 };
                area.draw(&Polygon::new(self.clipped(corners), colour.mix(share).filled()))
            }
            Mark::ErrorBars(ends) => series.points.iter().zip(ends).try_for_each(|(point, &(low, high))| {
                let Some(x) = self.x.pixel(point.0) else { return Ok(()) };
                let height = |value| self.y.pixel(value).unwrap_or(self.bottom).clamp(self.top, self.bottom);
                let (low, high) = (height(low), height(high));
                let (left, right) = (x - 3 * unit, x + 3 * unit);
                let path = vec![(left, low), (right, low), (x, low), (x, high), (left, high), (right, high)];
                area.draw(&PathElement::new(path, colour.stroke_width(unit.unsigned_abs())))
            }),
            Mark::Rules => series.points.iter().try_for_each(|point| match self.x.pixel(point.0) {
                Some(x) if (self.left..=self.right).contains(&x) => {
                    let dashes = dashes(&[(x, self.top), (x, self.bottom)], unit);
                    let style = colour.stroke_width(unit.unsigned_abs());
                    dashes.into_iter().try_for_each(|dash| area.draw(&PathElement::new(dash, style)))
                }
                _ => Ok(()),
            }),
        }
    }

    /// A path that stays in the frame.
    fn clipped(&self, path: Vec<(i32, i32)>) -> Vec<(i32, i32)> {
        let clip = |(x, y): (i32, i32)| (x.clamp(self.left, self.right), y.clamp(self.top, self.bottom));
        let mut path: Vec<(i32, i32)> = path.into_iter().map(clip).collect();
        path.dedup();
        path
    }
}

/// Half the width of a bar, of so many along so many pixels.
fn bar(count: usize, pixels: i32, unit: i32) -> i32 {
    (pixels * 3 / 8 / i32::try_from(count.max(1)).unwrap_or(i32::MAX)).clamp(unit, 16 * unit)
}

/// Every value holds until the next one.
fn stepped(path: &[(i32, i32)]) -> Vec<(i32, i32)> {
    let corners = path.windows(2).flat_map(|pair| [pair[0], (pair[1].0, pair[0].1)]);
    corners.chain(path.last().copied()).collect()
}

/// A path in dashes of six pixels with gaps of four, measured along the path.
fn dashes(path: &[(i32, i32)], unit: i32) -> Vec<Vec<(i32, i32)>> {
    let (dash, gap) = (f64::from(6 * unit), f64::from(4 * unit));
    let (mut all, mut part) = (Vec::new(), Vec::new());
    let (mut drawing, mut left) = (true, dash);
    part.extend(path.first().copied());
    for ends in path.windows(2) {
        let [mut from, to] = [ends[0], ends[1]].map(|(x, y)| (f64::from(x), f64::from(y)));
        let mut length = (to.0 - from.0).hypot(to.1 - from.1);
        let pixel = |(x, y): (f64, f64)| (x.round() as i32, y.round() as i32);
        while length > left {
            let share = left / length;
            from = (from.0 + share * (to.0 - from.0), from.1 + share * (to.1 - from.1));
            length -= left;
            if drawing {
                part.push(pixel(from));
                all.push(std::mem::take(&mut part));
            } else {
                part = vec![pixel(from)];
            }
            (drawing, left) = (!drawing, if drawing { gap } else { dash });
        }
        left -= length;
        if drawing {
            part.push(pixel(to));
        }
    }
    if part.len() > 1 {
        all.push(part);
    }
    all
}
