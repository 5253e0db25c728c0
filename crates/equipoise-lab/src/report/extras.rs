//! Commands from cold, memory, growth with its exponents, and one-row problems.

use super::tables::{line, rule};
use super::times::{OURS, Times};
use crate::table::{Row, figure, median, number};

fn text<'a>(row: &'a Row, name: &str) -> &'a str {
    row.get(name).map_or("", String::as_str)
}

/// The values of a column, in the order of the table, each once.
fn distinct<'a>(rows: &'a [Row], name: &str) -> Vec<&'a str> {
    let mut found = Vec::new();
    for row in rows {
        if !found.contains(&text(row, name)) {
            found.push(text(row, name));
        }
    }
    found
}

fn cold_median(rows: &[Row], set: &str, solver: &str, column: &str) -> Option<f64> {
    let same = rows.iter().filter(|row| text(row, "set") == set && text(row, "solver") == solver);
    median(same.filter_map(|row| number(row, column)).collect())
}

/// `train`'s seconds over ours, by set.
pub(super) fn cold_ratios(rows: &[Row]) -> Vec<(String, f64)> {
    let ratio = |set: &str| {
        let theirs = cold_median(rows, set, "train", "seconds")?;
        Some((set.to_owned(), theirs / cold_median(rows, set, OURS, "seconds")?))
    };
    distinct(rows, "set").into_iter().filter_map(ratio).collect()
}

/// End to end, process start to model written.
pub(super) fn cold(out: &mut String, rows: &[Row]) {
    if rows.is_empty() {
        return;
    }
    out.push_str("\n## From cold: process start, reading, training, model written; C = 1\n\n");
    out.push_str("Ours to a gap of 1e-4, its default; LIBLINEAR's `train -s 3 -B 1` to its own default, which is looser. Seconds.\n\n");
    line(out, ["set", "ours", "ours on 2 threads", "train", "train over ours"].map(str::to_owned));
    rule(out, 5);
    for set in distinct(rows, "set") {
        let seconds = |solver: &str| cold_median(rows, set, solver, "seconds");
        let shown = |seconds: Option<f64>| seconds.map_or("-".into(), |seconds| format!("{seconds:.4}"));
        let (ours, two, train) = (seconds(OURS), seconds("equipoise 2 threads"), seconds("train"));
        let ratio = train.zip(ours).map_or("-".into(), |(train, ours)| figure(train / ours));
        line(out, [set.to_owned(), shown(ours), shown(two), shown(train), ratio]);
    }
}

/// Peak memory of the commands from cold, and of the peers' processes.
pub(super) fn memory(out: &mut String, times: &Times, cold: &[Row]) {
    if cold.is_empty() {
        return;
    }
    out.push_str("\n## Peak memory, MB\n\n");
    out.push_str("Ours and `train` from cold; LinearSVC's process includes Python and the data in the form that it needs.\n\n");
    line(out, ["set", "ours", "train", "LinearSVC"].map(str::to_owned));
    rule(out, 4);
    let shown = |bytes: Option<f64>| bytes.map_or("-".into(), |bytes| format!("{:.1}", bytes / 1e6));
    for set in distinct(cold, "set") {
        let of = |solver: &str| shown(cold_median(cold, set, solver, "peak_memory"));
        let rows = times.rows.iter().filter(|row| row.set == set && row.solver == "linearsvc");
        let python = rows.filter_map(|row| row.peak_memory).max_by(f64::total_cmp);
        line(out, [set.to_owned(), of(OURS), of("train"), shown(python)]);
    }
}

/// The exponent e of `seconds ~ size^e`, by least squares on logarithms.
fn exponent(points: &[(f64, f64)]) -> Option<f64> {
    if points.len() < 2 {
        return None;
    }
    let count = points.len() as f64;
    let logs: Vec<(f64, f64)> = points.iter().map(|&(size, seconds)| (size.ln(), seconds.ln())).collect();
    let mean = |pick: fn(&(f64, f64)) -> f64| logs.iter().map(pick).sum::<f64>() / count;
    let (x, y) = (mean(|log| log.0), mean(|log| log.1));
    let spread: f64 = logs.iter().map(|log| (log.0 - x).powi(2)).sum();
    Some(logs.iter().map(|log| (log.0 - x) * (log.1 - y)).sum::<f64>() / spread)
}

/// Seconds by size, and the exponents.
pub(super) fn growth(out: &mut String, rows: &[Row]) {
    if rows.is_empty() {
        return;
    }
    out.push_str(
        "\n## Growth: generated sets of 1000 columns, C = 1, ours to 1e-4, LinearSVC at tol = 0.01\n\n",
    );
    out.push_str("By rows: 20 non-zeros each. By non-zeros: 100,000 rows. Seconds; `-`: over 60 s.\n\n");
    line(out, ["axis", "size", OURS, "linearsvc"].map(str::to_owned));
    rule(out, 4);
    let solvers = [OURS, "linearsvc"];
    for axis in distinct(rows, "axis") {
        let of_axis: Vec<Row> = rows.iter().filter(|row| text(row, "axis") == axis).cloned().collect();
        let seconds = |value: &str, solver: &str| {
            let same = |row: &&Row| text(row, "value") == value && text(row, "solver") == solver;
            of_axis.iter().find(same).and_then(|row| number(row, "seconds"))
        };
        let values = distinct(&of_axis, "value");
        for value in &values {
            let cells =
                solvers.map(|solver| seconds(value, solver).map_or("-".into(), |s| format!("{s:.5}")));
            line(out, [axis.to_owned(), (*value).to_owned()].into_iter().chain(cells));
        }
        let exponents = solvers.map(|solver| {
            let point = |value: &&str| Some((value.parse().ok()?, seconds(value, solver)?));
            let points: Vec<(f64, f64)> = values.iter().filter_map(point).collect();
            exponent(&points).map_or("-".into(), |found| format!("**{found:.2}**"))
        });
        line(out, [axis.to_owned(), "exponent".to_owned()].into_iter().chain(exponents));
    }
}

/// The general command on problems of one row.
pub(super) fn one_row(out: &mut String, rows: &[Row]) {
    if rows.is_empty() {
        return;
    }
    out.push_str("\n## `solve` on problems of one row, to its default tolerance\n\n");
    line(out, ["problem", "seconds", "runs", "status"].map(str::to_owned));
    rule(out, 4);
    for problem in distinct(rows, "problem") {
        let same: Vec<&Row> = rows.iter().filter(|row| text(row, "problem") == problem).collect();
        let seconds = median(same.iter().filter_map(|row| number(row, "seconds")).collect());
        let seconds = seconds.map_or("-".into(), |seconds| format!("{seconds:.4}"));
        let status = same.first().map_or("", |row| text(row, "status"));
        line(out, [problem.to_owned(), seconds, same.len().to_string(), status.to_owned()]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_power_is_found_again() {
        let points: Vec<(f64, f64)> =
            [1.0_f64, 10.0, 100.0].iter().map(|&x| (x, 3.0 * x.powf(1.5))).collect();
        assert!(exponent(&points).is_some_and(|found| (found - 1.5).abs() < 1e-12));
        assert!(exponent(&points[..1]).is_none());
    }

    #[test]
    fn ratios_from_cold_are_of_medians() {
        let rows = crate::table::table(
            "set,solver,round,seconds,peak_memory,status\n\
             a,equipoise,1,0.1,1000000,ok\na,train,1,0.3,2000000,ok\na,equipoise,2,0.1,1000000,ok\n",
        );
        assert_eq!(cold_ratios(&rows).len(), 1);
        let mut out = String::new();
        cold(&mut out, &rows);
        assert!(out.contains("| a | 0.1000 | - | 0.3000 | 3.00 |"), "{out}");
    }
}
