//! Charts with axes, lines, points, bars and error bars; images; side by side in one SVG picture.
//!
//! - Given: panels, each a chart or an image, with words for titles and axes.
//! - Returns: the text of an SVG file.
//! - Must not know: what the numbers mean, files.

mod axis;
pub mod colours;
mod image;
mod layers;
mod plot;

use std::fmt::Write as _;

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

pub use axis::{Axis, Scale};
pub use image::Image;
pub(crate) use layers::{FINE, FINEST, drawn, finely_drawn, layers};
pub(crate) use plot::Frame;
pub use plot::{Chart, Mark, Series};

/// The size of ticks and names.
pub(crate) const SMALL: u32 = 13;
/// The size of the title of a panel.
pub(crate) const LARGE: u32 = 17;
/// Pixels of a panel.
const PANEL: (u32, u32) = (640, 440);

pub(crate) type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
pub(crate) type Failure = DrawingAreaErrorKind<std::io::Error>;
pub(crate) type Outcome = Result<(), Failure>;

/// A picture could not be drawn.
#[derive(Debug, thiserror::Error)]
#[error("cannot draw the picture: {0}")]
pub struct DrawingError(pub(crate) String);

impl From<Failure> for DrawingError {
    fn from(failure: Failure) -> Self {
        Self(failure.to_string())
    }
}

/// One part of a figure.
#[derive(Debug)]
#[non_exhaustive]
pub enum Panel {
    /// Axes with series.
    Chart(Chart),
    /// Numbers as greys.
    Image(Image),
}

/// Panels side by side, as the text of an SVG file.
pub fn svg(panels: &[Panel]) -> Result<String, DrawingError> {
    let tallest = panels.iter().map(Panel::height).max().unwrap_or(PANEL.1);
    let (panel_width, height) = (PANEL.0.cast_signed(), tallest.cast_signed());
    let width = panel_width * i32::try_from(panels.len().max(1)).unwrap_or(i32::MAX / panel_width);
    let mut text = format!(
        "<svg width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" xmlns=\"http://www.w3.org/2000/svg\">\n{}",
        drawn((width, height), |area| area.fill(&WHITE))?
    );
    for (panel, left) in panels.iter().zip((0..).step_by(PANEL.0 as usize)) {
        let drawing = match panel {
            Panel::Chart(chart) => chart.drawing((panel_width, height), FINEST)?,
            Panel::Image(image) => image.drawing((panel_width, height))?,
        };
        let _ = writeln!(text, "<g transform=\"translate({left} 0)\">\n{drawing}</g>");
    }
    text.push_str("</svg>\n");
    Ok(text)
}

impl Panel {
    /// Pixels: more for a chart with many names down its side.
    fn height(&self) -> u32 {
        match self {
            Self::Chart(chart) => PANEL.1.max(120 + 17 * chart.names_down_the_side() as u32),
            Self::Image(_) => PANEL.1,
        }
    }
}

/// Words at a place, anchored as told.
pub(crate) fn words(
    area: &Area<'_>,
    text: &str,
    place: (i32, i32),
    across: HPos,
    down: VPos,
    size: u32,
    colour: RGBColor,
) -> Outcome {
    let style = ("sans-serif", size).into_font().color(&colour).pos(Pos::new(across, down));
    area.draw(&Text::new(text.to_owned(), place, style))
}

/// About how wide words are.
pub(crate) fn width_of(text: &str, size: u32) -> i32 {
    (text.chars().count() as f64 * f64::from(size) * 0.56) as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart() -> Chart {
        Chart::new("A title", Axis::linear("weight"), Axis::log("error"))
            .with(
                Series::new(Mark::Line, colours::BLUE, vec![(0.0, 1.0), (1.0, 10.0), (2.0, 100.0)])
                    .named("line"),
            )
            .with(Series::new(Mark::Points, colours::ORANGE, vec![(0.5, 20.0), (1.5, -1.0)]).named("points"))
            .with(Series::new(Mark::ErrorBars(vec![(5.0, 50.0)]), colours::GREEN, vec![(1.0, 20.0)]))
    }

    #[test]
    fn the_file_holds_what_was_drawn() {
        let text = svg(&[Panel::Chart(chart())]).expect("drawn");
        assert!(text.starts_with("<svg") && text.trim_end().ends_with("</svg>"));
        for piece in ["A title", "weight", "error", "line", "points", "#0072B2", "#D55E00", "#009E73"] {
            assert!(text.contains(piece), "{piece} is missing");
        }
        assert_eq!(
            text.matches("<polyline").count() - text.matches("#DEDEDE").count(),
            2 + 2,
            "line, frame, error bars"
        );
        // One of two points has no place on a logarithmic axis; the other circle is the legend's.
        assert_eq!(text.matches("<circle").count(), 2);
    }

    #[test]
    fn panels_stand_side_by_side_and_an_image_has_its_greys() {
        let image = Image { title: "before".into(), rows: 2, columns: 2, values: vec![0.0, 1.0, 0.0, 1.0] };
        let text = svg(&[Panel::Image(image), Panel::Chart(chart())]).expect("drawn");
        assert!(text.contains("width=\"1280\"") && text.contains("before") && text.contains("A title"));
        assert!(text.contains("#000000") && text.contains("#FFFFFF"));
        // Cells of an image meet without seams.
        assert!(text.contains("shape-rendering=\"crispEdges\""));
        assert_eq!(text.matches("<svg").count(), 1);
    }

    #[test]
    fn curves_have_finer_steps_than_pixels() {
        // A gentle slope: on whole pixels it would be a staircase of about a dozen heights.
        let points: Vec<(f64, f64)> = (0..400).map(|k| (f64::from(k), 0.03 * f64::from(k))).collect();
        let axis = Axis::linear("").with_range(0.0, 400.0);
        let chart = Chart::new("", axis.clone(), axis).with(Series::new(Mark::Line, colours::BLUE, points));
        let text = svg(&[Panel::Chart(chart)]).expect("drawn");
        let line = text.lines().find(|line| line.contains("#0072B2")).expect("the line");
        let from = line.find("points=\"").expect("its points") + 8;
        let heights: std::collections::BTreeSet<&str> =
            line[from..].split(' ').filter_map(|point| Some(point.split_once(',')?.1)).collect();
        assert!(heights.len() > 150, "{} heights", heights.len());
        assert!(text.contains("scale(0.0625)"));
    }

    #[test]
    fn names_down_the_side_make_room_for_themselves() {
        let names: Vec<(f64, String)> = (0..40).map(|k| (f64::from(k), format!("name {k}"))).collect();
        let bars = names.iter().map(|(at, _)| (1.0 + at, *at)).collect();
        let across = Chart::new(
            "weights",
            Axis::linear(""),
            Axis::linear("").with_range(-0.5, 39.5).with_ticks(names),
        )
        .with(Series::new(Mark::BarsAcross, colours::BLUE, bars));
        let text = svg(&[Panel::Chart(across)]).expect("drawn");
        assert!(text.contains("height=\"800\"") && text.contains("name 39"));
        assert_eq!(text.matches("fill=\"#0072B2\"").count(), 40);
    }

    #[test]
    fn an_empty_chart_is_a_frame() {
        assert!(svg(&[Panel::Chart(Chart::new("", Axis::linear("x"), Axis::log("y")))]).is_ok());
    }
}
