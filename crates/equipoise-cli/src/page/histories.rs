//! Histories of runs: objective, gap and residual over time and work, a line a run.
//!
//! Every `--history` is a table with a column `seconds`; which others there are depends on the command. What is shown is found
//! by name, the first that is there:
//!
//! | shown | columns |
//! |---|---|
//! | work | `epoch`, `messages`, `pass`, `round` |
//! | objective | `objective`, `primal` |
//! | gap | `duality_gap`, `relative_gap`, else `objective - bound` |
//! | residual | `kkt_residual`; `infeasibility` where there is no gap |
//!
//! A file of several fits (a column `target`, `lambda`, `point` or `label` that changes) is a run for each.
//!
//! Must not know: which command wrote a file.

use anyhow::{Context, Result};
use equipoise_report::{Axis, Cell, Chart, Figure, Mark, Section, Series, Table, colours};

use super::lists::seven_digits;

/// Columns that say which fit a row is of.
const FITS: [&str; 4] = ["target", "lambda", "point", "label"];
/// With their plurals.
const WORK: [(&str, &str); 4] =
    [("epoch", "epochs"), ("messages", "messages"), ("pass", "passes"), ("round", "rounds")];
const OBJECTIVE: [&str; 2] = ["objective", "primal"];
const GAP: [&str; 2] = ["duality_gap", "relative_gap"];
const RESIDUAL: [&str; 2] = ["kkt_residual", "infeasibility"];
/// Fits of one file that have a line of their own.
const MOST_FITS: usize = 12;

/// The rows of a run, by column.
#[derive(Debug)]
pub(super) struct History {
    name: String,
    columns: Vec<String>,
    rows: Vec<Vec<f64>>,
}

/// The runs of a file, and how many more there are in it.
pub(super) type Runs = (Vec<History>, usize);

/// Reads a history, a run for every fit in it; `None` where the first line is not that of one.
pub(super) fn read(name: &str, text: &str) -> Result<Option<Runs>> {
    let columns: Vec<String> =
        text.lines().next().unwrap_or_default().split(',').map(str::to_owned).collect();
    let place = |name: &str| columns.iter().position(|column| column == name);
    let is_shown = |name: &&str| place(name).is_some();
    if place("seconds").is_none() || !OBJECTIVE.iter().chain(&GAP).chain(&RESIDUAL).any(is_shown) {
        return Ok(None);
    }
    let key = FITS.iter().find_map(|name| place(name));
    let mut fits: Vec<(String, Vec<Vec<f64>>)> = Vec::new();
    for (line, text) in text.lines().enumerate().skip(1) {
        let cells: Vec<&str> = text.split(',').collect();
        // The name of a target is no number.
        let number = |(at, cell): (usize, &&str)| {
            if cell.is_empty() || key == Some(at) { Ok(f64::NAN) } else { cell.parse() }
        };
        let row: Result<Vec<f64>, _> = cells.iter().enumerate().map(number).collect();
        let row = row.ok().filter(|row| row.len() == columns.len());
        let row = row.with_context(|| format!("line {}: {text:?} is no row of numbers", line + 1))?;
        let fit = key.map_or("", |key| cells[key]);
        // Fits that several threads make take turns.
        match fits.iter_mut().rev().find(|(known, _)| known == fit) {
            Some((_, rows)) => rows.push(row),
            None => fits.push((fit.to_owned(), vec![row])),
        }
    }
    let (several, all) = (fits.len() > 1, fits.len());
    let run = |(fit, rows): (String, Vec<Vec<f64>>)| History {
        name: match key.filter(|_| several) {
            Some(key) => format!("{name}, {} {fit}", columns[key]),
            None => name.to_owned(),
        },
        columns: columns.clone(),
        rows,
    };
    let runs = fits.into_iter().take(MOST_FITS).map(run).collect();
    Ok(Some((runs, all.saturating_sub(MOST_FITS))))
}

impl History {
    fn place(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column == name)
    }

    /// The first of these columns that there is.
    fn first_of(&self, names: &[&'static str]) -> &'static str {
        names.iter().find(|name| self.place(name).is_some()).copied().unwrap_or_default()
    }

    /// The column that counts work, and what it counts.
    fn work(&self) -> Option<(&'static str, &'static str)> {
        WORK.into_iter().find(|(name, _)| self.place(name).is_some())
    }

    /// The column that says how far from optimal an iterate is where nothing proves it.
    fn residual(&self) -> &'static str {
        match self.first_of(&RESIDUAL) {
            last if last == RESIDUAL[1] && !self.gaps("seconds").is_empty() => "",
            found => found,
        }
    }

    /// The gap over a column.
    fn gaps(&self, x: &str) -> Vec<(f64, f64)> {
        let gap = self.first_of(&GAP);
        if !gap.is_empty() {
            return self.points(x, gap);
        }
        let (above, below) = (self.points(x, self.first_of(&OBJECTIVE)), self.points(x, "bound"));
        above.iter().zip(&below).filter(|(a, b)| a.0 == b.0).map(|(a, b)| (a.0, a.1 - b.1)).collect()
    }

    fn points(&self, x: &str, y: &str) -> Vec<(f64, f64)> {
        let (Some(x), Some(y)) = (self.place(x), self.place(y)) else { return Vec::new() };
        let point = |row: &Vec<f64>| Some((*row.get(x)?, *row.get(y)?));
        self.rows.iter().filter_map(point).filter(|point| point.1.is_finite()).collect()
    }

    fn last(&self, column: &str) -> f64 {
        self.points("seconds", column).last().map_or(f64::NAN, |point| point.1)
    }
}

/// One section for all runs.
pub(super) fn section(histories: &[History], left_out: usize) -> Section {
    let mut section = Section::new(if histories.len() > 1 { "Runs side by side" } else { "The run" });
    if left_out > 0 {
        section = section.text(format!(
            "{left_out} more fits of these files are not shown: a file shows its first {MOST_FITS}."
        ));
    }
    let section = section.table(ends(histories));
    // Runs whose work is counted in other units stand side by side over time alone.
    let work = histories.first().and_then(History::work);
    let (over_work, counted) =
        work.filter(|_| histories.iter().all(|history| history.work() == work)).unwrap_or_default();
    let gap_over_work = format!("Gap over {counted}");
    let residual = |history: &History, x: &str| history.points(x, history.residual());
    let objective = |history: &History, x: &str| history.points(x, history.first_of(&OBJECTIVE));
    let is_kkt = histories.iter().all(|history| history.residual() != RESIDUAL[1]);
    let (title, words) =
        if is_kkt { ("KKT residual over time", "KKT residual") } else { ("Residual over time", "residual") };
    let figures = [
        drawn(histories, ["gap-seconds", "Gap over time", "seconds", "gap"], History::gaps),
        drawn(histories, ["gap-epochs", &gap_over_work, over_work, "gap"], History::gaps),
        drawn(histories, ["residual", title, "seconds", words], residual),
        drawn(histories, ["objective", "Objective over time", "seconds", "objective"], objective),
    ];
    figures.into_iter().filter(Figure::has_data).fold(section, Section::figure)
}

/// A line a run: the figure's name, title and axes, and what is drawn over a column.
fn drawn(
    histories: &[History],
    [name, title, x, y]: [&str; 4],
    points: impl Fn(&History, &str) -> Vec<(f64, f64)>,
) -> Figure {
    let axis = if y == "objective" { Axis::linear(y) } else { Axis::log(y) };
    let mut chart = Chart::new("", Axis::linear(x), axis);
    for (k, history) in histories.iter().enumerate() {
        let points = points(history, x);
        if !points.is_empty() {
            chart = chart.with(Series::new(Mark::Line, colours::nth(k), points).named(history.name.as_str()));
        }
        let bound = history.points(x, "predicted_bound");
        if y == "gap" && !bound.is_empty() {
            let label = format!("{}: bound on the mean", history.name);
            chart = chart.with(Series::new(Mark::Dashes, colours::nth(k), bound).named(label));
        }
    }
    Figure::new(name, title, chart).alt(format!("{title}, one line a run.")).with_log_x()
}

/// Where each run ended.
fn ends(histories: &[History]) -> Table {
    let head = ["run", "checkpoints", "work", "seconds", "objective", "gap", "infeasibility"];
    histories.iter().fold(Table::new("At the end", head), |table, history| {
        let number = |value: f64| Cell::Number(seven_digits(value));
        let work = history.work().map_or_else(
            || "\u{2013}".to_owned(),
            |(column, counted)| format!("{:.1} {counted}", history.last(column)),
        );
        table.row([
            Cell::from(history.name.as_str()),
            Cell::Number(history.rows.len().to_string()),
            Cell::Number(work),
            Cell::Number(format!("{:.3}", history.last("seconds"))),
            number(history.last(history.first_of(&OBJECTIVE))),
            number(history.gaps("seconds").last().map_or(f64::NAN, |point| point.1)),
            number(history.last("infeasibility")),
        ])
    })
}
