//! Which plots there are: times of every part, errors of every problem.

use std::path::Path;

use anyhow::Result;
use plotters::style::RGBColor;

use super::curves::{Curve, Curves};
use super::decades::{Decades, Line};
use super::dots::{Dots, Entry};
use super::groups::{Group, Groups};
use crate::drawing::colours::{BLUE, GREEN, LIGHT_BLUE, LIGHT_ORANGE, ORANGE, PURPLE};

/// Draws what there are rows for; returns the names of the files.
pub(super) fn draw(groups: &Groups, curves: &Curves, folder: &Path) -> Result<Vec<&'static str>> {
    let mut drawn = Vec::new();
    for (part, name, title) in [
        ("accelerated", "times-accelerated.svg", "Quadratics over a sum row"),
        ("samples", "times-samples.svg", "Many samples of few dense features"),
        ("columns", "times-columns.svg", "Columns much denser than rows"),
    ] {
        let sections: Vec<(String, Vec<Entry>)> = groups
            .problems(part)
            .into_iter()
            .map(|problem| (format!("{}, {}", problem.0, problem.1), entries(&groups.of(part, problem))))
            .collect();
        if !sections.is_empty() {
            let note =
                "seconds to 1e-6 of the fall from the start to the optimum; bold: median, faint: seeds"
                    .into();
            Dots { title: title.into(), note, sections }.draw(&folder.join(name))?;
            drawn.push(name);
        }
    }
    for problem in curves.problems() {
        let mine: Vec<&Curve> = curves.of(problem).collect();
        let sampled = mine.iter().any(|curve| curve.method.starts_with("stochastic"));
        let name = if sampled { "slopes-stochastic.svg" } else { "slopes-accelerated.svg" };
        let what = if sampled { "R0 G / sqrt k" } else { "2 nu R0² / k²" };
        let runs = mine.iter().flat_map(|curve| &curve.points).map(|point| point.runs).max().unwrap_or(0);
        let lines: Vec<Line> = mine.iter().flat_map(|curve| lines(curve, what)).collect();
        let chart = Decades {
            title: format!("{problem}: error by updates"),
            note: format!("objective above the optimum, mean of {runs} runs and its standard error"),
            lines: without_twins(lines),
        };
        if !chart.lines.is_empty() {
            chart.draw(&folder.join(name))?;
            drawn.push(name);
        }
    }
    Ok(drawn)
}

fn entries(groups: &[&Group]) -> Vec<Entry> {
    let entry = |group: &&Group| {
        let seeds = group.seeds.iter().map(|seed| seed.seconds).collect();
        Some(Entry {
            name: group.method.clone(),
            colour: colour(&group.method),
            median: group.seconds()?,
            seeds,
        })
    };
    groups.iter().filter_map(entry).collect()
}

fn colour(method: &str) -> RGBColor {
    match method {
        "auto" => BLUE,
        "pairs" => ORANGE,
        "accelerated" => GREEN,
        "svrg" => PURPLE,
        "saga" => LIGHT_BLUE,
        "stochastic-horizon" => RGBColor(90, 90, 90),
        name if name.starts_with("stochastic") => LIGHT_ORANGE,
        _ => RGBColor(90, 90, 90),
    }
}

/// The errors, and their bound where there is one.
fn lines(curve: &Curve, bound: &str) -> Vec<Line> {
    let errors = curve.points.iter().filter(|point| point.significant);
    let slope = curve.slope().map_or(String::new(), |slope| format!(" ({slope:.2})"));
    let mut lines = vec![Line {
        name: format!("{}{slope}", curve.method),
        colour: colour(&curve.method),
        dashed: false,
        points: errors.map(|point| (point.updates, point.mean, point.deviation)).collect(),
    }];
    let bounds: Vec<(f64, f64, f64)> =
        curve.points.iter().filter_map(|point| Some((point.updates, point.bound?, 0.0))).collect();
    if !bounds.is_empty() {
        lines.push(Line {
            name: bound.into(),
            colour: RGBColor(120, 120, 120),
            dashed: true,
            points: bounds,
        });
    }
    lines.retain(|line| !line.points.is_empty());
    lines
}

/// Every line once: two methods may have the same bound.
fn without_twins(lines: Vec<Line>) -> Vec<Line> {
    let mut kept: Vec<Line> = Vec::new();
    for line in lines {
        if !kept.iter().any(|other| other.dashed && line.dashed && other.points == line.points) {
            kept.push(line);
        }
    }
    kept
}
