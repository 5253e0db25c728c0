//! What is measured, shown: charts as SVG, and pages of charts and tables as one HTML file.
//!
//! - Given: numbers with words: a [`Chart`] of series, a [`Table`] of cells, a [`Page`] of sections.
//! - Returns: the text of an SVG or of an HTML file. The page needs nothing else: no network, no font, no script from
//!   elsewhere; light or dark as the reader's system is, or as chosen; on a telephone, on paper, and without scripts.
//! - Must not know: what the numbers mean, files, the library that was measured.
//!
//! ```
//! use equipoise_report::{Axis, Chart, Figure, Mark, Page, Section, Series, colours};
//!
//! let points = vec![(1.0, 8.0), (2.0, 4.0), (3.0, 2.0)];
//! let chart = Chart::new("", Axis::linear("epoch"), Axis::log("gap"))
//!     .with(Series::new(Mark::Line, colours::BLUE, points).named("pairs"));
//! let figure = Figure::new("gap", "The gap halves", chart).alt("A line that falls from 8 to 2.");
//! let page = Page::new("A run").section(Section::new("Progress").text("It **fell**.").figure(figure));
//! assert!(page.html()?.starts_with("<!doctype html>"));
//! # Ok::<(), equipoise_report::DrawingError>(())
//! ```

mod chart;
mod escape;
mod figure;
mod page;
mod raster;
mod table;

pub use chart::{Axis, Chart, DrawingError, Image, Mark, Panel, Scale, Series, colours, svg};
pub use figure::Figure;
pub use page::{Page, Section};
pub use raster::png;
pub use table::{Cell, Table, Verdict};
