//! Errors by updates: means over seeds, their standard errors, the slope in a plot of logarithms.

use anyhow::{Context, Result};

use crate::table::{Row, number};

/// Errors below so many gaps of the optimum say nothing.
const GAPS: f64 = 10.0;

/// Runs with the same number of updates.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Point {
    pub(super) updates: f64,
    pub(super) mean: f64,
    /// Of the mean.
    pub(super) deviation: f64,
    pub(super) bound: Option<f64>,
    pub(super) runs: usize,
    /// Whether the error is large beside what is known of the optimum.
    pub(super) significant: bool,
}

/// A method on a problem.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Curve {
    pub(super) problem: String,
    pub(super) method: String,
    pub(super) trusted: bool,
    /// Ascending.
    pub(super) points: Vec<Point>,
}

impl Curve {
    /// The points that a line is laid through: what is at the limits of rounding has no logarithm to speak of.
    pub(super) fn fitted(&self) -> impl Iterator<Item = &Point> {
        self.points.iter().filter(|point| point.significant && point.mean > 0.0)
    }

    /// Of the line through the logarithms, by least squares.
    pub(super) fn slope(&self) -> Option<f64> {
        let points: Vec<(f64, f64)> =
            self.fitted().map(|point| (point.updates.ln(), point.mean.ln())).collect();
        let count = points.len() as f64;
        if count < 2.0 {
            return None;
        }
        let (x, y) =
            points.iter().fold((0.0, 0.0), |(x, y), point| (x + point.0 / count, y + point.1 / count));
        let across: f64 = points.iter().map(|point| (point.0 - x) * (point.0 - x)).sum();
        Some(points.iter().map(|point| (point.0 - x) * (point.1 - y)).sum::<f64>() / across)
    }

    /// Points whose mean is within its bound, of those that have one.
    pub(super) fn held(&self) -> (usize, usize) {
        let bounded = self.points.iter().filter_map(|point| Some((point.mean, point.bound?)));
        bounded.fold((0, 0), |(held, all), (mean, bound)| (held + usize::from(mean <= bound), all + 1))
    }
}

/// All of a record.
#[derive(Debug)]
pub(super) struct Curves {
    /// In the order of the rows.
    pub(super) all: Vec<Curve>,
}

impl Curves {
    pub(super) fn new(rows: &[Row]) -> Result<Self> {
        let mut all: Vec<Curve> = Vec::new();
        let mut members: Vec<Vec<&Row>> = Vec::new();
        for row in rows {
            let text = |name: &str| row.get(name).cloned().with_context(|| format!("no column `{name}`"));
            let (problem, method) = (text("problem")?, text("method")?);
            let trusted = text("trusted")? == "true";
            let known = all.iter().position(|curve| curve.problem == problem && curve.method == method);
            let place = known.unwrap_or(all.len());
            if known.is_none() {
                all.push(Curve { problem, method, trusted, points: Vec::new() });
                members.push(Vec::new());
            }
            all[place].trusted &= trusted;
            members[place].push(row);
        }
        for (curve, rows) in all.iter_mut().zip(&members) {
            curve.points = points(rows)?;
        }
        Ok(Self { all })
    }

    /// The problems, each once.
    pub(super) fn problems(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for curve in &self.all {
            if !names.contains(&curve.problem.as_str()) {
                names.push(&curve.problem);
            }
        }
        names
    }

    /// The curves of a problem.
    pub(super) fn of(&self, problem: &str) -> impl Iterator<Item = &Curve> {
        self.all.iter().filter(move |curve| curve.problem == problem)
    }
}

fn points(rows: &[&Row]) -> Result<Vec<Point>> {
    let value = |row: &Row, name: &str| number(row, name).with_context(|| format!("no number in `{name}`"));
    let mut counts = rows.iter().map(|row| value(row, "updates")).collect::<Result<Vec<f64>>>()?;
    counts.sort_by(f64::total_cmp);
    counts.dedup();
    let point = |updates: f64| {
        let mine: Vec<&&Row> = rows.iter().filter(|row| number(row, "updates") == Some(updates)).collect();
        let errors = mine.iter().map(|row| value(row, "error")).collect::<Result<Vec<f64>>>()?;
        let runs = errors.len();
        let mean = errors.iter().sum::<f64>() / runs as f64;
        let squares: f64 = errors.iter().map(|error| (error - mean) * (error - mean)).sum();
        let deviation = if runs > 1 { (squares / ((runs - 1) * runs) as f64).sqrt() } else { 0.0 };
        let gap = value(mine[0], "optimum_gap")?;
        let bound = number(mine[0], "bound");
        Ok(Point { updates, mean, deviation, bound, runs, significant: mean > GAPS * gap })
    };
    counts.into_iter().map(point).collect()
}

/// Problem, method, seed, updates, error, bound.
#[cfg(test)]
pub(super) type Run<'a> = (&'a str, &'a str, u64, u64, f64, Option<f64>);

/// A table of runs.
#[cfg(test)]
pub(super) fn curves_of(runs: &[Run<'_>]) -> Curves {
    use std::fmt::Write;

    let mut text = format!("{}\n", super::super::slopes::record::HEADER);
    for (problem, method, seed, updates, error, bound) in runs {
        let bound = bound.map_or(String::new(), |bound| bound.to_string());
        let run = format!("{problem},{method},{seed},{updates},{updates},{error}");
        let _ = writeln!(text, "{run},{bound},0,1e-9,true,iteration-limit");
    }
    Curves::new(&crate::table::table(&text)).expect("a record")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_power_law_is_found_and_rounding_left_out() {
        let curves = curves_of(&[
            ("p", "accelerated", 1, 10, 0.9e-2, Some(1.0)),
            ("p", "accelerated", 2, 10, 1.1e-2, Some(1.0)),
            ("p", "accelerated", 1, 100, 1e-4, Some(1e-5)),
            ("p", "accelerated", 1, 1000, 1e-6, Some(1e-5)),
            ("p", "accelerated", 1, 10_000, 9e-9, Some(1e-7)),
            ("p", "pairs", 1, 10, 1.0, None),
        ]);
        let curve = &curves.all[0];
        assert_eq!(curve.points[0].runs, 2);
        assert!((curve.points[0].deviation - 1e-3).abs() < 1e-12);
        assert!((curve.slope().expect("a slope") + 2.0).abs() < 1e-9);
        assert_eq!(curve.held(), (3, 4));
        assert_eq!((curves.all[1].slope(), curves.all[1].held()), (None, (0, 0)));
        assert_eq!(curves.problems(), ["p"]);
    }
}
