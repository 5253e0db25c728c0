//! Paths, cross-validations, frontiers and records of the lab: lists of objects in a JSON file, over the number that walks.

use std::path::Path;

use anyhow::{Context, Result};
use equipoise_experiments::Record;
use equipoise_report::{Axis, Cell, Chart, Figure, Mark, Section, Series, Table, colours};
use serde_json::{Map, Value};

/// Coefficients that have lines of their own; those that become largest.
const MOST_LINES: usize = 12;
/// Rows of a table.
const MOST_ROWS: usize = 60;

/// What a JSON file holds; `None` where nothing in it is known.
pub(super) fn section(name: &str, path: &Path, value: &Value) -> Result<Option<Section>> {
    if let Ok(mut record) = serde_json::from_value::<Record>(value.clone()) {
        let csv = path.with_extension("csv");
        let text = std::fs::read_to_string(&csv).with_context(|| format!("cannot read {}", csv.display()))?;
        let row = |line: &str| line.split(',').map(|cell| cell.parse().unwrap_or(f64::NAN)).collect();
        record.outcome.rows = text.lines().skip(1).map(row).collect();
        return Ok(Some(lab(name, &record)));
    }
    let list = ["path", "points", "costs"].iter().find_map(|key| value.get(key)?.as_array());
    let Some(list) = list.filter(|list| !list.is_empty()) else { return Ok(None) };
    let objects: Option<Vec<&Map<String, Value>>> = list.iter().map(Value::as_object).collect();
    let Some(objects) = objects else { return Ok(None) };
    let has = |key: &str| objects[0].contains_key(key);
    Ok(if has("risk") {
        Some(frontier(name, value, &objects))
    } else if has("lambda") {
        Some(lasso(name, &objects))
    } else if has("cost") {
        Some(costs(name, value, &objects))
    } else {
        None
    })
}

fn number(object: &Map<String, Value>, key: &str) -> f64 {
    object.get(key).and_then(Value::as_f64).unwrap_or(f64::NAN)
}

fn points(objects: &[&Map<String, Value>], x: &str, y: &str) -> Vec<(f64, f64)> {
    let all = objects.iter().map(|object| (number(object, x), number(object, y)));
    all.filter(|point| point.0.is_finite() && point.1.is_finite()).collect()
}

/// A number for a table: whole ones in full, others with seven digits, a dash for none.
pub(super) fn seven_digits(value: f64) -> String {
    let size = value.abs();
    if !value.is_finite() {
        "\u{2013}".into()
    } else if value == value.trunc() && size < 1e9 {
        format!("{value}")
    } else if (1e-4..1e7).contains(&size) {
        let decimals = (6.0 - size.log10().floor()) as usize;
        let text = format!("{value:.decimals$}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        format!("{value:.6e}")
    }
}

/// The numbers of every object under their names.
fn table(objects: &[&Map<String, Value>], first: &str) -> Table {
    let mut columns: Vec<&String> =
        objects[0].iter().filter(|(_, value)| value.is_number()).map(|(key, _)| key).collect();
    columns.sort_by_key(|key| key.as_str() != first);
    let names = columns.iter().map(|name| name.replace('_', " "));
    let step = objects.len().div_ceil(MOST_ROWS).max(1);
    objects.iter().step_by(step).fold(Table::new("", names), |table, object| {
        let cell = |key: &&String| Cell::Number(seven_digits(number(object, key)));
        table.row(columns.iter().map(cell).collect::<Vec<_>>())
    })
}

/// Lines of named numbers over x, the largest of them by name.
fn named_lines(objects: &[&Map<String, Value>], x: &str, key: &str) -> Vec<Series> {
    let mut lines: Vec<(String, Vec<(f64, f64)>)> = Vec::new();
    for object in objects {
        let Some(all) = object.get(key).and_then(Value::as_object) else { continue };
        for (name, value) in all {
            let point = (number(object, x), value.as_f64().unwrap_or(f64::NAN));
            match lines.iter_mut().find(|line| line.0 == *name) {
                Some(line) => line.1.push(point),
                None => lines.push((name.clone(), vec![point])),
            }
        }
    }
    let size =
        |line: &(String, Vec<(f64, f64)>)| line.1.iter().map(|point| point.1.abs()).fold(0.0, f64::max);
    lines.retain(|line| size(line) > 0.0);
    lines.sort_by(|a, b| size(b).total_cmp(&size(a)));
    let drawn = |(k, (name, points)): (usize, (String, Vec<(f64, f64)>))| {
        if k < MOST_LINES {
            let mark = if k < colours::COUNT { Mark::Line } else { Mark::Dashes };
            Series::new(mark, colours::nth(k), points).named(name)
        } else {
            Series::new(Mark::Line, colours::GREY, points)
        }
    };
    lines.into_iter().enumerate().map(drawn).rev().collect()
}

fn lasso(name: &str, objects: &[&Map<String, Value>]) -> Section {
    let chart = Chart::new("", Axis::log("lambda"), Axis::linear("coefficient"));
    let chart = named_lines(objects, "lambda", "coefficients").into_iter().fold(chart, Chart::with);
    let mut section = Section::new(format!("Path: {name}")).figure(
        Figure::new(&format!("{name}-coefficients"), "Coefficients along the path", chart)
            .alt("Coefficients against lambda, one line each; the largest by name.")
            .with_log_x(),
    );
    let errors = points(objects, "lambda", "error");
    if !errors.is_empty() {
        let ends = objects.iter().map(|object| {
            let (error, deviation) = (number(object, "error"), number(object, "standard_error"));
            (error - deviation, error + deviation)
        });
        let chart = Chart::new("", Axis::log("lambda"), Axis::linear("held-out error"))
            .with(Series::new(Mark::ErrorBars(ends.collect()), colours::BLUE, errors.clone()))
            .with(Series::new(Mark::Line, colours::BLUE, errors).named("held-out error"));
        section = section.figure(
            Figure::new(&format!("{name}-error"), "Held-out error", chart)
                .alt("Held-out error with one standard error against lambda.")
                .with_log_x(),
        );
    }
    section.table(table(objects, "lambda"))
}

fn costs(name: &str, value: &Value, objects: &[&Map<String, Value>]) -> Section {
    let mut section = Section::new(format!("Costs: {name}"));
    let score = value.get("score").and_then(Value::as_str).unwrap_or("accuracy");
    let curves: [(&str, &str, &[&str]); 3] = [
        ("score", score, &["mean", "accuracy", "mse"]),
        ("support", "support vectors", &["support", "bounded_support"]),
        ("objective", "objective", &["primal", "dual"]),
    ];
    for (title, words, columns) in curves {
        let mut chart = Chart::new("", Axis::log("cost"), Axis::linear(words));
        for (k, column) in columns.iter().enumerate() {
            let own = points(objects, "cost", column);
            if own.is_empty() {
                continue;
            }
            if *column == "mean" {
                let ends = objects.iter().map(|object| spread(object)).collect();
                chart = chart.with(Series::new(Mark::ErrorBars(ends), colours::BLUE, own.clone()));
            }
            chart = chart
                .with(Series::new(Mark::Line, colours::nth(k), own.clone()).named(column.replace('_', " ")))
                .with(Series::new(Mark::Points, colours::nth(k), own));
        }
        let figure = Figure::new(&format!("{name}-{title}"), format!("{words} against the cost"), chart)
            .alt(format!("{words} against the cost of errors."))
            .with_log_x();
        if figure.has_data() {
            section = section.figure(figure);
        }
    }
    section.table(table(objects, "cost"))
}

/// From the least to the largest score of the folds.
fn spread(object: &Map<String, Value>) -> (f64, f64) {
    let scores = object.get("scores").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let numbers = scores.iter().filter_map(Value::as_f64);
    numbers.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), score| (low.min(score), high.max(score)))
}

fn frontier(name: &str, value: &Value, objects: &[&Map<String, Value>]) -> Section {
    let own = points(objects, "risk", "expected_return");
    let chart = Chart::new("", Axis::linear("risk"), Axis::linear("expected return"))
        .with(Series::new(Mark::Line, colours::BLUE, own.clone()).named("frontier"))
        .with(Series::new(Mark::Points, colours::BLUE, own));
    let section = Section::new(format!("Frontier: {name}")).figure(
        Figure::new(&format!("{name}-frontier"), "The efficient frontier", chart)
            .alt("Expected return against risk: the least risk for every return."),
    );
    let names: Vec<&str> = value
        .get("names")
        .and_then(Value::as_array)
        .map(|names| names.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    let mut weights = Chart::new("", Axis::linear("expected return"), Axis::linear("weight"));
    let weight = |object: &Map<String, Value>, k: usize| {
        object.get("weights").and_then(|weights| weights.get(k)?.as_f64()).unwrap_or(0.0)
    };
    let mut order: Vec<usize> = (0..names.len()).collect();
    let largest = |k: usize| objects.iter().map(|object| weight(object, k).abs()).fold(0.0, f64::max);
    order.sort_by(|&a, &b| largest(b).total_cmp(&largest(a)));
    for (place, &k) in order.iter().take(MOST_LINES).enumerate() {
        let line =
            objects.iter().map(|object| (number(object, "expected_return"), weight(object, k))).collect();
        let mark = if place < colours::COUNT { Mark::Line } else { Mark::Dashes };
        weights = weights.with(Series::new(mark, colours::nth(place), line).named(names[k]));
    }
    let figure = Figure::new(&format!("{name}-weights"), "Weights along the frontier", weights)
        .alt("Weights of the assets against the expected return, one line each.");
    let section = if figure.has_data() { section.figure(figure) } else { section };
    section.table(table(objects, "target_return"))
}

fn lab(name: &str, record: &Record) -> Section {
    let words = |(key, value): (&String, &String)| format!("{key} {value}");
    let settings: Vec<String> = record.cell.settings.iter().map(words).collect();
    let mut section = Section::new(format!("Cell: {name}")).text(format!(
        "Experiment `{}`: {}; seed {}. {}, {}, {:.2} s.",
        record.cell.experiment,
        settings.join(", "),
        record.cell.seed,
        record.version,
        record.machine,
        record.seconds
    ));
    let outcome = &record.outcome;
    if let [x, others @ ..] = outcome.columns.as_slice()
        && !outcome.rows.is_empty()
    {
        let mut chart = Chart::new("", Axis::linear(x.as_str()), Axis::linear("value"));
        for (k, column) in others.iter().enumerate() {
            let own = outcome.points(x, column).into_iter().filter(|point| point.1.is_finite()).collect();
            chart = chart.with(Series::new(Mark::Line, colours::nth(k), own).named(column.as_str()));
        }
        let figure = Figure::new(&format!("{name}-rows"), "Rows of the cell", chart)
            .alt("All columns against the first.");
        section = section.figure(figure.with_log_x());
    }
    let values =
        outcome.values.iter().fold(Table::new("Values", ["name", "value"]), |table, (key, value)| {
            table.row([Cell::from(key.as_str()), Cell::Number(format!("{value}"))])
        });
    if values.is_empty() { section } else { section.table(values) }
}

#[cfg(test)]
mod tests {
    use super::seven_digits;

    #[test]
    fn numbers_of_tables_are_short() {
        let short = [
            (126.548_295_707, "126.5483"),
            (0.5, "0.5"),
            (-9_999_999.96, "-10000000"),
            (3.0, "3"),
            (1.303_740_1e-12, "1.303740e-12"),
            (2.5e-4, "0.00025"),
            (1e300, "1.000000e300"),
            (f64::NAN, "\u{2013}"),
        ];
        for (value, text) in short {
            assert_eq!(seven_digits(value), text);
        }
    }
}
