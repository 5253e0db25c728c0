//! Paths, cross-validations, frontiers and records of the lab: lists of objects in a JSON file, over the number that walks; and the
//! histories of `lasso`, whose rows are fits along lambda and have no time.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use equipoise_experiments::Record;
use equipoise_report::{Axis, Cell, Chart, Figure, Mark, Section, Series, Table, colours};
use serde_json::{Map, Value};

/// Coefficients that have lines of their own; those that become largest.
const MOST_LINES: usize = 12;
/// Rows of a table.
const MOST_ROWS: usize = 60;

/// What a JSON file holds; `None` where nothing in it is known. Standard input has no path, and no files beside it.
pub(super) fn section(name: &str, path: Option<&Path>, value: &Value) -> Result<Option<Section>> {
    if let Ok(mut record) = serde_json::from_value::<Record>(value.clone()) {
        let Some(path) = path else {
            return Ok(Some(
                lab(name, &record).text(
                    "Its rows are in a CSV file beside the record, which standard input does not name.",
                ),
            ));
        };
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
    } else if has("lambda") && has("x") {
        Some(fused(name, value, &objects))
    } else if has("lambda") {
        Some(lasso(name, &objects))
    } else if has("cost") {
        Some(costs(name, value, &objects))
    } else {
        None
    })
}

/// A history without seconds, a row for every lambda; `None` where the first line is not that of one.
pub(super) fn walk(name: &str, text: &str) -> Result<Option<Section>> {
    let columns: Vec<&str> = text.lines().next().unwrap_or_default().split(',').collect();
    if columns[0] != "lambda" || !columns.contains(&"objective") {
        return Ok(None);
    }
    let mut list = Vec::new();
    for (line, text) in text.lines().enumerate().skip(1) {
        let cells: Vec<f64> = text.split(',').filter_map(|cell| cell.parse().ok()).collect();
        ensure!(cells.len() == columns.len(), "line {}: {text:?} is no row of numbers", line + 1);
        let named = columns.iter().zip(cells).map(|(name, cell)| ((*name).to_owned(), Value::from(cell)));
        list.push(named.collect::<Map<String, Value>>());
    }
    let objects: Vec<&Map<String, Value>> = list.iter().collect();
    if objects.is_empty() {
        return Ok(None);
    }
    let curve = |column: &str, y: Axis| {
        let own = points(&objects, "lambda", column);
        Chart::new("", Axis::log("lambda"), y)
            .with(Series::new(Mark::Line, colours::BLUE, own.clone()).named(column.replace('_', " ")))
            .with(Series::new(Mark::Points, colours::BLUE, own))
    };
    let figures = [
        ("nonzeros", "Coefficients that are not 0", curve("nonzeros", Axis::linear("coefficients"))),
        ("objective", "Objective along the path", curve("objective", Axis::linear("objective"))),
        ("gap", "Gap along the path", curve("relative_gap", Axis::log("relative gap"))),
    ];
    let figures = figures.into_iter().map(|(part, title, chart)| {
        Figure::new(&format!("{name}-{part}"), title, chart)
            .alt(format!("{title}, against lambda."))
            .with_log_x()
    });
    let section =
        figures.filter(Figure::has_data).fold(Section::new(format!("Path: {name}")), Section::figure);
    Ok(Some(section.table(table(&objects, "lambda"))))
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
        // Without a point zeros at the end are not idle.
        if decimals == 0 { text } else { text.trim_end_matches('0').trim_end_matches('.').to_owned() }
    } else {
        format!("{value:.6e}")
    }
}

/// The numbers of every object under their names.
fn table(objects: &[&Map<String, Value>], first: &str) -> Table {
    let mut columns: Vec<&String> = Vec::new();
    // What the first object lacks another may have.
    for (key, _) in objects.iter().flat_map(|object| object.iter()).filter(|(_, value)| value.is_number()) {
        if !columns.contains(&key) {
            columns.push(key);
        }
    }
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
    let mut section = Section::new(format!("Path: {name}"));
    let coefficients = Figure::new(&format!("{name}-coefficients"), "Coefficients along the path", chart)
        .alt("Coefficients against lambda, one line each; the largest by name.")
        .with_log_x();
    if coefficients.has_data() {
        section = section.figure(coefficients);
    }
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

/// Signals in pieces: the one chosen (else the last), and what speaks for it.
fn fused(name: &str, value: &Value, objects: &[&Map<String, Value>]) -> Section {
    let last = objects.len() - 1;
    let best = value.get("best").and_then(Value::as_u64).map_or(last, |best| (best as usize).min(last));
    let signal = |object: &Map<String, Value>| -> Vec<(f64, f64)> {
        let list = object.get("x").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let numbered = list.iter().enumerate().map(|(k, x)| (k as f64 + 1.0, x.as_f64().unwrap_or(f64::NAN)));
        numbered.filter(|point| point.1.is_finite()).collect()
    };
    let mut figures = Vec::new();
    // An image is no line.
    if objects[best].get("shape").is_none_or(Value::is_null) {
        let lambda = seven_digits(number(objects[best], "lambda"));
        let chart = Chart::new("", Axis::linear("place"), Axis::linear("x")).with(
            Series::new(Mark::Line, colours::BLUE, signal(objects[best])).named(format!("lambda {lambda}")),
        );
        figures.push(
            Figure::new(&format!("{name}-pieces"), format!("In pieces, at lambda {lambda}"), chart)
                .alt("The coefficients of the chosen lambda, one after the other."),
        );
    }
    let curves: [(&str, &str, &[&str]); 2] = [
        ("criteria", "What the choice goes by", &["bic", "aic", "cp"]),
        ("segments", "Pieces along the path", &["segments"]),
    ];
    for (part, title, columns) in curves {
        let mut chart = Chart::new("", Axis::log("lambda"), Axis::linear(columns.join(", ")));
        for (k, column) in columns.iter().enumerate() {
            let line = points(objects, "lambda", column);
            if !line.is_empty() {
                chart = chart.with(Series::new(Mark::Line, colours::nth(k), line).named(*column));
            }
        }
        let figure = Figure::new(&format!("{name}-{part}"), title, chart);
        figures.push(figure.alt(format!("{title}, against lambda.")).with_log_x());
    }
    let section = Section::new(format!("Path: {name}"));
    figures
        .into_iter()
        .filter(Figure::has_data)
        .fold(section, Section::figure)
        .table(table(objects, "lambda"))
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
        let weights = object.get("weights");
        let own = weights.and_then(|weights| weights.get(names[k]).or_else(|| weights.get(k)));
        own.and_then(Value::as_f64).unwrap_or(0.0)
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
    use serde_json::{Map, Value, json};

    use super::{section, seven_digits, walk};

    fn html(value: &Value) -> String {
        let section = section("run", None, value).expect("whole").expect("known");
        equipoise_report::Page::new("t").section(section).html().expect("a page")
    }

    #[test]
    fn weights_of_a_frontier_go_by_name_and_else_by_place() {
        let by_name = json!({ "birch": 0.125, "alder": 0.875 });
        for weights in [by_name, json!([0.875, 0.125])] {
            let point = |target: Value| json!({ "risk": 0.1, "expected_return": 0.2, "target_return": target, "weights": weights });
            let shown = html(
                &json!({ "names": ["alder", "birch"], "points": [point(Value::Null), point(json!(0.25))] }),
            );
            for piece in ["0.875", "0.125", ">target return</th>"] {
                assert!(shown.contains(piece), "no {piece} for {weights}");
            }
        }
    }

    #[test]
    fn columns_of_a_table_are_those_of_all_objects() {
        let objects: Vec<Map<String, Value>> =
            [json!({ "cost": 1, "a": null }), json!({ "cost": 2, "a": 3, "b": 4 })]
                .into_iter()
                .filter_map(|value| value.as_object().cloned())
                .collect();
        let objects: Vec<&Map<String, Value>> = objects.iter().collect();
        let shown = equipoise_report::Page::new("t")
            .section(equipoise_report::Section::new("s").table(super::table(&objects, "cost")))
            .html()
            .expect("a page");
        for piece in [">cost</th>", ">a</th>", ">b</th>"] {
            assert!(shown.contains(piece), "no {piece}");
        }
    }

    #[test]
    fn rows_without_time_are_refused_by_their_line() {
        assert!(walk("h", "lambda,seconds\n1,2\n").expect("another table").is_none());
        assert!(walk("h", "lambda,objective\n").expect("no rows").is_none());
        let broken = walk("h", "lambda,objective\n2,1\n1\n").map(|_| ()).expect_err("short");
        assert!(broken.to_string().contains("line 3: \"1\""), "{broken}");
    }

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
