//! A drawing in pixels: the text of an SVG file of this crate becomes a PNG file, two pixels for one each way.
//!
//! ```text
//! svg -> tags (tags.rs) -> rings of points (here) -> coverage of pixels (canvas.rs) -> PNG (png.rs)
//!                          letters as outlines (letters.rs)
//! ```
//!
//! - Given: what [`svg`](crate::svg) and [`Figure::svg`](crate::Figure::svg) return: rectangles, lines, polygons, circles and words, in groups
//!   that scale and move. Returns: the bytes of a file. Words are set in `DejaVu Sans`, so that every machine makes the same.
//! - Must not know: charts. What it does not understand is an error, never left out.

mod canvas;
mod letters;
mod png;
mod tags;

use canvas::{Canvas, Paint, Point, Ring};
use letters::Letters;
use tags::{Kind, Tag, tags};

use crate::chart::DrawingError;

/// Pixels for one unit of the drawing.
const SCALE: f32 = 2.0;
/// The most pixels of a picture.
const MOST: f32 = 64e6;
/// Corners of a circle for each pixel of its radius, and the fewest.
const CORNERS: (f32, usize) = (4.0, 16);

/// The drawing as the bytes of a PNG file; its `<title>` goes along as the description.
pub fn png(svg: &str) -> Result<Vec<u8>, DrawingError> {
    let mut painter: Option<Painter> = None;
    let mut title = String::new();
    for tag in tags(svg) {
        match (tag.name, tag.kind, &mut painter) {
            ("svg", Kind::Open, None) => painter = Some(Painter::new(&tag)?),
            ("title", Kind::Open, _) => title = tag.words(),
            ("svg" | "title" | "text", Kind::Close, _) => {}
            (_, _, Some(painter)) => painter.draw(&tag)?,
            _ => return Err(not_known(&tag)),
        }
    }
    let painter = painter.ok_or_else(|| DrawingError("there is no <svg> in it".into()))?;
    Ok(png::file(&painter.canvas, SCALE, &title))
}

fn not_known(tag: &Tag<'_>) -> DrawingError {
    DrawingError(format!("<{}> has no meaning in pixels", tag.name))
}

/// Where a group puts what is in it.
#[derive(Debug, Clone, Copy)]
struct Place {
    scale: f32,
    left: f32,
    top: f32,
    /// Edges on whole pixels.
    crisp: bool,
}

struct Painter {
    canvas: Canvas,
    letters: Letters,
    groups: Vec<Place>,
}

impl Painter {
    fn new(tag: &Tag<'_>) -> Result<Self, DrawingError> {
        let (width, height) = (SCALE * tag.number("width"), SCALE * tag.number("height"));
        if !(width >= 1.0 && height >= 1.0 && width * height <= MOST) {
            return Err(DrawingError(format!("{width} x {height} pixels are not between 1 and {MOST}")));
        }
        let outermost = Place { scale: SCALE, left: 0.0, top: 0.0, crisp: false };
        Ok(Self {
            canvas: Canvas::new(width as usize, height as usize),
            letters: Letters::new()?,
            groups: vec![outermost],
        })
    }

    fn place(&self) -> Place {
        self.groups[self.groups.len() - 1]
    }

    fn draw(&mut self, tag: &Tag<'_>) -> Result<(), DrawingError> {
        match (tag.name, tag.kind) {
            ("g", Kind::Open) => self.groups.push(self.place().inside(tag)?),
            ("g", Kind::Close) if self.groups.len() > 1 => drop(self.groups.pop()),
            ("rect", Kind::Empty) => {
                let (x, y) = (tag.number("x"), tag.number("y"));
                let (right, bottom) = (x + tag.number("width"), y + tag.number("height"));
                self.fill(tag, &[(x, y), (right, y), (right, bottom), (x, bottom)])?;
            }
            ("polygon", Kind::Empty) => self.fill(tag, &tag.points())?,
            ("circle", Kind::Empty) => {
                let centre = (tag.number("cx"), tag.number("cy"));
                self.fill(tag, &circle(centre, tag.number("r"), self.place().scale))?;
            }
            ("polyline", Kind::Empty) => self.stroke(tag, &tag.points())?,
            ("line", Kind::Empty) => {
                let ends = [("x1", "y1"), ("x2", "y2")].map(|(x, y)| (tag.number(x), tag.number(y)));
                self.stroke(tag, &ends)?;
            }
            ("text", Kind::Open) => self.words(tag)?,
            _ => return Err(not_known(tag)),
        }
        Ok(())
    }

    fn fill(&mut self, tag: &Tag<'_>, corners: &[Point]) -> Result<(), DrawingError> {
        let Some(paint) = Paint::of(tag, "fill") else { return Ok(()) };
        let place = self.place();
        self.canvas.fill(&[place.ring(corners)], paint)
    }

    /// A path as wide as its pen: a box for every part of it, and a disc where two of them meet.
    fn stroke(&mut self, tag: &Tag<'_>, path: &[Point]) -> Result<(), DrawingError> {
        let Some(paint) = Paint::of(tag, "stroke") else { return Ok(()) };
        let place = self.place();
        let half = 0.5 * tag.get("stroke-width").map_or(1.0, |_| tag.number("stroke-width"));
        let mut rings = Vec::new();
        for ends in path.windows(2) {
            let [from, to] = [ends[0], ends[1]];
            let (dx, dy) = (to.0 - from.0, to.1 - from.1);
            let length = dx.hypot(dy);
            if length > 0.0 {
                let (nx, ny) = (-half * dy / length, half * dx / length);
                let corners = [
                    (from.0 + nx, from.1 + ny),
                    (to.0 + nx, to.1 + ny),
                    (to.0 - nx, to.1 - ny),
                    (from.0 - nx, from.1 - ny),
                ];
                rings.push(place.ring(&corners));
            }
        }
        if path.len() > 2 {
            let joints = &path[1..path.len() - 1];
            rings.extend(joints.iter().map(|&joint| place.ring(&circle(joint, half, place.scale))));
        }
        self.canvas.fill(&rings, paint)
    }

    fn words(&mut self, tag: &Tag<'_>) -> Result<(), DrawingError> {
        let Some(paint) = Paint::of(tag, "fill") else { return Ok(()) };
        let (place, size) = (self.place(), tag.number("font-size"));
        let words = tag.words();
        let back = match tag.get("text-anchor") {
            Some("middle") => 0.5,
            Some("end") => 1.0,
            _ => 0.0,
        };
        let left = -back * self.letters.width(&words, size);
        let down = tag.get("dy").map_or(0.0, |dy| self.letters.length(dy, size));
        let (x, y) = (tag.number("x"), tag.number("y"));
        // Words are written from left to right or, turned by 270 degrees, upwards.
        let turned = tag.get("transform").is_some_and(|turn| turn.starts_with("rotate(270"));
        let set = |(along, over): Point| {
            let (along, over) = (left + along, down + over);
            if turned { (x + over, y - along) } else { (x + along, y + over) }
        };
        let canvas = &mut self.canvas;
        self.letters.write(&words, size, |outline: &[Ring]| {
            let rings: Vec<Ring> = outline
                .iter()
                .map(|ring| place.ring(&ring.iter().map(|&point| set(point)).collect::<Vec<_>>()))
                .collect();
            canvas.fill(&rings, paint)
        })
    }
}

impl Place {
    /// That of a group in this one: it scales or moves, never both.
    fn inside(self, tag: &Tag<'_>) -> Result<Self, DrawingError> {
        let crisp = self.crisp || tag.get("shape-rendering") == Some("crispEdges");
        let Some(transform) = tag.get("transform") else { return Ok(Self { crisp, ..self }) };
        let numbers = |name: &str| -> Option<Vec<f32>> {
            let inside = transform.strip_prefix(name)?.strip_prefix('(')?.strip_suffix(')')?;
            inside.split([' ', ',']).filter(|word| !word.is_empty()).map(|word| word.parse().ok()).collect()
        };
        match (numbers("scale").as_deref(), numbers("translate").as_deref()) {
            (Some(&[share]), _) => Ok(Self { scale: self.scale * share, crisp, ..self }),
            (_, Some(&[x, y])) => {
                Ok(Self { left: self.left + self.scale * x, top: self.top + self.scale * y, crisp, ..self })
            }
            _ => Err(DrawingError(format!("the transformation {transform:?} has no meaning in pixels"))),
        }
    }

    fn ring(self, corners: &[Point]) -> Ring {
        let whole = |at: f32| if self.crisp { at.round() } else { at };
        let put = |&(x, y): &Point| (whole(self.left + self.scale * x), whole(self.top + self.scale * y));
        corners.iter().map(put).collect()
    }
}

/// A circle as a polygon, turning as the boxes of a path do, so that what two of them cover adds up.
fn circle((x, y): Point, radius: f32, scale: f32) -> Vec<Point> {
    let count = CORNERS.1.max((CORNERS.0 * radius * scale) as usize).min(256);
    let corner = |k: usize| {
        let angle = -std::f32::consts::TAU * k as f32 / count as f32;
        (x + radius * angle.cos(), y + radius * angle.sin())
    };
    (0..count).map(corner).collect()
}

#[cfg(test)]
mod tests;
