//! Histories of runs: objective, gap and residual over time and work, a line a run.

use anyhow::{Context, Result};
use equipoise_formats::history::{FIT_HISTORY_HEADER, HISTORY_HEADER};
use equipoise_report::{Axis, Cell, Chart, Figure, Mark, Section, Series, Table, colours};

/// The rows of a file, by column.
#[derive(Debug)]
pub(super) struct History {
    name: String,
    columns: Vec<String>,
    rows: Vec<Vec<f64>>,
}

impl History {
    /// Reads a history; `None` where the first line is another.
    pub(super) fn read(name: &str, text: &str) -> Result<Option<Self>> {
        let header = text.lines().next().unwrap_or_default();
        if ![HISTORY_HEADER, FIT_HISTORY_HEADER].iter().any(|known| header.starts_with(known)) {
            return Ok(None);
        }
        let columns = header.split(',').map(str::to_owned).collect();
        let row = |(line, text): (usize, &str)| -> Result<Vec<f64>> {
            let number = |cell: &str| if cell.is_empty() { Ok(f64::NAN) } else { cell.parse() };
            let cells: Result<Vec<f64>, _> = text.split(',').map(number).collect();
            cells.with_context(|| format!("line {}: {text:?} is no row of numbers", line + 2))
        };
        let rows = text.lines().skip(1).enumerate().map(row).collect::<Result<_>>()?;
        Ok(Some(Self { name: name.to_owned(), columns, rows }))
    }

    fn points(&self, x: &str, y: &str) -> Vec<(f64, f64)> {
        let place = |name: &str| self.columns.iter().position(|column| column == name);
        let (Some(x), Some(y)) = (place(x), place(y)) else { return Vec::new() };
        let point = |row: &Vec<f64>| Some((*row.get(x)?, *row.get(y)?));
        self.rows.iter().filter_map(point).filter(|point| point.1.is_finite()).collect()
    }

    fn last(&self, column: &str) -> f64 {
        self.points("seconds", column).last().map_or(f64::NAN, |point| point.1)
    }

    fn is_fit(&self) -> bool {
        self.columns.iter().any(|column| column == "primal")
    }
}

/// What is shown: title, name, x axis, and the column with its words for a solve and for a fit.
const FIGURES: [(&str, &str, &str, &str, [&str; 2]); 4] = [
    ("gap-seconds", "Gap over time", "seconds", "gap", ["duality_gap", "relative_gap"]),
    ("gap-epochs", "Gap over epochs", "epoch", "gap", ["duality_gap", "relative_gap"]),
    ("residual", "KKT residual over time", "seconds", "KKT residual", ["kkt_residual", ""]),
    ("objective", "Objective over time", "seconds", "objective", ["objective", "primal"]),
];

/// One section for all runs.
pub(super) fn sections(histories: &[History]) -> Vec<Section> {
    let mut section = Section::new(if histories.len() > 1 { "Runs side by side" } else { "The run" });
    let mut table = Table::new(
        "At the end",
        ["run", "checkpoints", "updates", "epochs", "seconds", "objective", "gap", "infeasibility"],
    );
    for history in histories {
        let fit = usize::from(history.is_fit());
        let number = |value: f64| {
            if value.is_finite() {
                Cell::Number(format!("{value:.6e}"))
            } else {
                Cell::Number("\u{2013}".into())
            }
        };
        let count = |column: &str| Cell::Number(format!("{:.0}", history.last(column)));
        table = table.row([
            Cell::from(history.name.as_str()),
            Cell::Number(history.rows.len().to_string()),
            count("update"),
            Cell::Number(format!("{:.1}", history.last("epoch"))),
            Cell::Number(format!("{:.3}", history.last("seconds"))),
            number(history.last(["objective", "primal"][fit])),
            number(history.last(["duality_gap", "gap"][fit])),
            number(history.last("infeasibility")),
        ]);
    }
    section = section.table(table);
    for (name, title, x, y, columns) in FIGURES {
        let log = y != "objective";
        let axis = if log { Axis::log(y) } else { Axis::linear(y) };
        let mut chart = Chart::new("", Axis::linear(x), axis);
        for (k, history) in histories.iter().enumerate() {
            let column = columns[usize::from(history.is_fit())];
            let points = history.points(x, column);
            if !points.is_empty() {
                chart =
                    chart.with(Series::new(Mark::Line, colours::nth(k), points).named(history.name.as_str()));
            }
            let bound = history.points(x, "predicted_bound");
            if y == "gap" && !bound.is_empty() {
                let label = format!("{}: bound on the mean", history.name);
                chart = chart.with(Series::new(Mark::Dashes, colours::nth(k), bound).named(label));
            }
        }
        let figure = Figure::new(name, title, chart).alt(format!("{title}, one line a run.")).with_log_x();
        if figure.has_data() {
            section = section.figure(figure);
        }
    }
    vec![section]
}
