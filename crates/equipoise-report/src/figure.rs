//! A chart on a page: its drawing in layers, at two widths and on every scale that can be asked for, its data, its words.
//!
//! ```text
//! <figure> title, buttons, legend
//!   <svg> for each width and scale: frame and ticks, then a group for each series
//!   data as JSON for whoever points at the chart; caption; the command that made it
//! ```
//!
//! Series are drawn on four times as many pixels each way as the frame, so that nothing is jagged. Buttons choose among
//! drawings, legends hide groups, and colours are named once and replaced by the style of the page: the script draws
//! nothing but the marks under the pointer. Without it the first drawing is simply there.

use std::fmt::Write;

use plotters::style::{RGBColor, WHITE};
use serde_json::{Value, json};

use crate::chart::{Chart, DrawingError, FINE, Frame, Mark, Scale, Series, drawn, layers};
use crate::escape::{self, escaped, marked, slug};

/// Width, height and name of the drawings on a page.
const WIDTHS: [(i32, i32, &str); 2] = [(760, 420, "wide"), (400, 340, "narrow")];
/// Pixels above the frame.
const TOP: i32 = 12;
/// An axis is offered on a logarithmic scale where its largest number is so many times its smallest.
const SPREAD: f64 = 4.0;

/// A chart with its words.
#[derive(Debug, Clone)]
pub struct Figure {
    id: String,
    title: String,
    chart: Chart,
    caption: String,
    alt: String,
    command: String,
    log_x: bool,
}

impl Figure {
    /// A chart under a title; the name is that of its file and of links to it.
    pub fn new(name: &str, title: impl Into<String>, chart: Chart) -> Self {
        let (title, id) = (title.into(), slug(name));
        Self {
            id,
            title,
            chart,
            caption: String::new(),
            alt: String::new(),
            command: String::new(),
            log_x: false,
        }
    }

    /// What it shows, for those who do not see it.
    #[must_use]
    pub fn alt(self, alt: impl Into<String>) -> Self {
        Self { alt: alt.into(), ..self }
    }

    /// What is to be said below it.
    #[must_use]
    pub fn caption(self, caption: impl Into<String>) -> Self {
        Self { caption: caption.into(), ..self }
    }

    /// The command that makes it.
    #[must_use]
    pub fn command(self, command: impl Into<String>) -> Self {
        Self { command: command.into(), ..self }
    }

    /// Offers a logarithmic x axis, too.
    #[must_use]
    pub fn with_log_x(self) -> Self {
        Self { log_x: true, ..self }
    }

    /// The name of its file and of links to it.
    pub fn name(&self) -> &str {
        &self.id
    }

    /// What it shows, for those who do not see it.
    pub fn words(&self) -> &str {
        if self.alt.is_empty() { &self.title } else { &self.alt }
    }

    /// Its title.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// Caption and command, as Markdown.
    pub(crate) fn below(&self) -> String {
        let mut out = String::new();
        if !self.caption.is_empty() {
            let _ = writeln!(out, "{}\n", self.caption);
        }
        if !self.command.is_empty() {
            let _ = writeln!(out, "```sh\n{}\n```\n", self.command);
        }
        out
    }

    /// Whether any of its series has a point.
    pub fn has_data(&self) -> bool {
        self.chart.series.iter().any(|series| !series.points.is_empty())
    }

    /// The figure as an SVG file of its own, with title and legend, on white.
    pub fn svg(&self) -> Result<String, DrawingError> {
        let (width, height) = (WIDTHS[0].0, WIDTHS[0].1 + 60);
        let chart = Chart { title: self.title.clone(), ..self.chart.clone() };
        let paper = drawn((width, height), |area| area.fill(&WHITE))?;
        let drawing = chart.drawing((width, height), FINE)?;
        let words = escaped(self.words());
        Ok(format!(
            "<svg width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{words}\" xmlns=\"http://www.w3.org/2000/svg\">\n<title>{words}</title>\n{paper}{drawing}</svg>\n"
        ))
    }

    /// The figure as part of a page.
    pub(crate) fn html(&self) -> Result<String, DrawingError> {
        let mut out = format!("<figure id=\"{}\" class=\"figure\"><h3>{}</h3>", self.id, marked(&self.title));
        let offers = self.offers();
        out.push_str(&self.controls(&offers));
        out.push_str("<div class=\"chart\">");
        for (place, &(x, y)) in offers.iter().enumerate() {
            for (width, height, name) in WIDTHS {
                let hidden = if place == 0 { "" } else { " hidden" };
                let drawing = self.drawing((x, y), (width, height))?;
                let scales = format!("{}-{}", scale_name(x), scale_name(y));
                let label = escaped(self.words());
                let _ = write!(
                    out,
                    "<svg class=\"{name}\" data-scale=\"{scales}\" {} viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{label}\"{hidden}>{}</svg>",
                    drawing.geometry, drawing.text
                );
            }
        }
        out.push_str("<div class=\"tip\" hidden></div></div>");
        let data = json!({ "x": self.chart.x.label, "y": self.chart.y.label, "series": self.data() });
        let _ =
            write!(out, "<script type=\"application/json\" class=\"data\">{}</script>", escape::json(&data));
        if !self.caption.is_empty() {
            let _ = write!(out, "<figcaption>{}</figcaption>", marked(&self.caption));
        }
        if !self.command.is_empty() {
            let command = escaped(&self.command);
            let _ = write!(out, "<pre class=\"command\"><code>{command}</code></pre>");
        }
        out.push_str("</figure>\n");
        Ok(out)
    }

    /// Buttons for scales and files, and the legend.
    fn controls(&self, offers: &[(Scale, Scale)]) -> String {
        let mut out =
            String::from("<div class=\"bar\"><div class=\"legend\" role=\"group\" aria-label=\"series\">");
        for (k, series) in self.chart.series.iter().enumerate() {
            let Some(name) = &series.name else { continue };
            let colour = hex(series);
            let _ = write!(
                out,
                "<button type=\"button\" data-series=\"{k}\" aria-pressed=\"true\">{}{}</button>",
                swatch(&series.mark, &colour),
                marked(name)
            );
        }
        out.push_str("</div><div class=\"tools\">");
        for (axis, name) in [(0, "x"), (1, "y")] {
            let scale = |offer: &(Scale, Scale)| if axis == 0 { offer.0 } else { offer.1 };
            if offers.iter().any(|offer| scale(offer) != scale(&offers[0])) {
                let pressed = scale(&offers[0]) == Scale::Log;
                let _ = write!(
                    out,
                    "<button type=\"button\" class=\"scale\" data-axis=\"{name}\" aria-pressed=\"{pressed}\">log {name}</button>"
                );
            }
        }
        out.push_str("<button type=\"button\" class=\"save\" data-as=\"svg\">SVG</button><button type=\"button\" class=\"save\" data-as=\"png\">PNG</button><button type=\"button\" class=\"save\" data-as=\"csv\">CSV</button></div></div>");
        out
    }

    /// The scales that can be chosen, that of the chart first.
    fn offers(&self) -> Vec<(Scale, Scale)> {
        let (x, y) = (self.chart.x.scale, self.chart.y.scale);
        let points = || self.chart.series.iter().flat_map(|series| series.points.iter());
        let both = |scale: Scale, may: bool| match scale {
            Scale::Linear if may => vec![Scale::Linear, Scale::Log],
            Scale::Log => vec![Scale::Log, Scale::Linear],
            Scale::Linear => vec![Scale::Linear],
        };
        let spread = |numbers: &mut dyn Iterator<Item = f64>| {
            let (low, high) =
                numbers.fold((f64::INFINITY, 0.0_f64), |(low, high), v| (low.min(v), high.max(v)));
            low > 0.0 && high >= SPREAD * low
        };
        let own = |ticks: &Option<_>| ticks.is_none();
        let may_x = self.log_x && own(&self.chart.x.ticks) && spread(&mut points().map(|point| point.0));
        let may_y =
            own(&self.chart.y.ticks) && spread(&mut points().map(|point| point.1).filter(|y| y.is_finite()));
        let ys = both(y, may_y);
        let xs = if self.log_x { both(x, may_x) } else { vec![x] };
        xs.iter().flat_map(|&x| ys.iter().map(move |&y| (x, y))).collect()
    }

    /// Frame and layers on these scales.
    fn drawing(&self, scales: (Scale, Scale), (width, height): (i32, i32)) -> Result<Drawing, DrawingError> {
        let mut chart = self.chart.clone();
        for (axis, scale) in [(&mut chart.x, scales.0), (&mut chart.y, scales.1)] {
            if axis.scale != scale {
                (axis.scale, axis.range) = (scale, None);
            }
        }
        let mut geometry = String::new();
        let frame = drawn((width, height), |area| {
            let frame = chart.frame(width, height, TOP);
            geometry = describe(&frame);
            chart.draw_frame(area, &frame, width)
        })?;
        let mut text = format!("<g class=\"frame\">{frame}</g>");
        for (k, layer) in layers(&chart, (width, height), TOP, FINE)?.iter().enumerate() {
            let _ = write!(text, "<g data-layer=\"{k}\">{layer}</g>");
        }
        let over = drawn((width, height), |area| {
            let frame = chart.frame(width, height, TOP);
            chart.draw_labels(area, &frame)?;
            chart.draw_ends(area, &frame)
        })?;
        let _ = write!(text, "<g class=\"over\">{over}</g><g class=\"marks\"></g>");
        Ok(Drawing { geometry, text })
    }

    /// Names and points, for the script and for whoever saves them.
    fn data(&self) -> Vec<Value> {
        let number = |value: f64| if value.is_finite() { rounded(value) } else { Value::Null };
        let points = |series: &Series| -> Vec<Value> {
            series.points.iter().map(|&(x, y)| json!([number(x), number(y)])).collect()
        };
        let one = |series: &Series| {
            let ends = match &series.mark {
                Mark::ErrorBars(ends) | Mark::Band(ends) | Mark::Veil(ends) => ends.as_slice(),
                _ => &[],
            };
            let ends: Vec<Value> =
                ends.iter().map(|&(low, high)| json!([number(low), number(high)])).collect();
            json!({ "name": series.name, "colour": hex(series), "points": points(series), "ends": ends })
        };
        self.chart.series.iter().map(one).collect()
    }
}

/// One drawing: where its frame is, and what is in it.
struct Drawing {
    geometry: String,
    text: String,
}

fn scale_name(scale: Scale) -> &'static str {
    match scale {
        Scale::Linear => "linear",
        Scale::Log => "log",
    }
}

/// The place of the frame and the numbers at its ends, for the script.
fn describe(frame: &Frame) -> String {
    let Frame { left, right, top, bottom, .. } = frame;
    format!(
        "data-frame=\"{left},{right},{top},{bottom}\" data-x=\"{},{}\" data-y=\"{},{}\"",
        frame.x.first, frame.x.last, frame.y.first, frame.y.last
    )
}

/// Six digits are more than a screen shows.
fn rounded(value: f64) -> Value {
    let text = format!("{value:.5e}");
    text.parse::<f64>().map_or(Value::Null, |value| json!(value))
}

fn hex(series: &Series) -> String {
    let RGBColor(red, green, blue) = series.colour;
    format!("#{red:02X}{green:02X}{blue:02X}")
}

/// What a series looks like, small.
fn swatch(mark: &Mark, colour: &str) -> String {
    let shape = match mark {
        Mark::Points | Mark::Dots => format!("<circle cx=\"9\" cy=\"6\" r=\"4\" fill=\"{colour}\"/>"),
        Mark::BarsAcross | Mark::Band(_) => {
            format!("<rect x=\"2\" y=\"1\" width=\"14\" height=\"10\" rx=\"2\" fill=\"{colour}\"/>")
        }
        Mark::Veil(_) => {
            format!(
                "<rect x=\"2\" y=\"1\" width=\"14\" height=\"10\" rx=\"2\" fill=\"{colour}\" opacity=\".3\"/>"
            )
        }
        Mark::Dashes | Mark::Rules => {
            format!("<path d=\"M0 6h7m4 0h7\" stroke=\"{colour}\" stroke-width=\"2.5\" fill=\"none\"/>")
        }
        _ => format!("<path d=\"M0 6h18\" stroke=\"{colour}\" stroke-width=\"2.5\" fill=\"none\"/>"),
    };
    format!("<svg class=\"swatch\" viewBox=\"0 0 18 12\" aria-hidden=\"true\">{shape}</svg>")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::{Axis, colours};

    fn figure() -> Figure {
        let points = vec![(1.0, 100.0), (10.0, 10.0), (100.0, 1.0)];
        let band = Mark::Veil(vec![(90.0, 110.0), (9.0, 11.0), (0.9, 1.1)]);
        let chart = Chart::new("", Axis::linear("k"), Axis::log("f(x) - f*"))
            .with(Series::new(band, colours::BLUE, points.clone()))
            .with(Series::new(Mark::Line, colours::BLUE, points).named("a < b"));
        Figure::new("Figure 1", "Falls", chart)
            .alt("it falls")
            .with_log_x()
            .command("equipoise lab topologies")
    }

    #[test]
    fn every_scale_and_width_is_drawn_once_and_one_is_shown() {
        let html = figure().html().expect("drawn");
        // Two widths, and both axes on both scales.
        assert_eq!(html.matches("<svg class=\"wide\"").count(), 4);
        assert_eq!(html.matches("<svg class=\"narrow\"").count(), 4);
        assert_eq!(html.matches(" hidden>").count(), 6 + 1, "all but the first, and the box of values");
        assert!(html.contains("data-scale=\"linear-log\"") && html.contains("data-layer=\"1\""));
        assert!(html.contains("a &lt; b") && !html.contains("a < b<"));
        assert!(html.contains("aria-label=\"it falls\"") && html.contains("equipoise lab topologies"));
    }

    #[test]
    fn the_file_is_whole_and_stands_alone() {
        let text = figure().svg().expect("drawn");
        assert!(text.starts_with("<svg") && text.ends_with("</svg>\n"));
        assert_eq!(text.matches("<svg").count(), 1);
        assert!(text.contains("scale(0.25)") && text.contains("Falls") && text.contains("opacity=\"0.18\""));
    }

    #[test]
    fn data_are_json_with_few_digits() {
        let data = figure().data();
        assert_eq!(data[1]["points"][2], json!([100.0, 1.0]));
        assert_eq!(data[0]["ends"][0], json!([90.0, 110.0]));
        assert_eq!(rounded(1.0 / 3.0), json!(0.333333));
    }
}
