//! Plots of runs: objective and gap over time, scores and supports against costs.

use equipoise::Progress;

use crate::plot::{Axis, Chart, Mark, Panel, Series, colours};

/// What a plot needs of a checkpoint.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seen {
    /// The label of the fit, where these are the fits of a model.
    label: Option<f64>,
    pub(crate) seconds: f64,
    pub(crate) objective: f64,
    pub(crate) gap: f64,
}

impl Seen {
    /// In the words of a solve, or of a fit: its dual is what the solver makes as large as it can.
    pub(crate) fn new(label: Option<f64>, progress: &Progress) -> Self {
        let verdict = &progress.verdict;
        let gap = verdict.gap.unwrap_or(f64::NAN);
        let objective = if label.is_some() { gap - verdict.objective } else { verdict.objective };
        let gap = if gap.is_finite() { gap } else { verdict.measure };
        Self { label, seconds: progress.seconds, objective, gap }
    }
}

/// Objective and gap over time, a line a fit.
pub(crate) fn of_run(seen: &[Seen]) -> Vec<Panel> {
    let is_fit = seen.first().is_some_and(|one| one.label.is_some());
    let words = if is_fit { "primal objective" } else { "objective" };
    let mut objective = Chart::new("Objective", Axis::linear("seconds"), Axis::linear(words));
    let mut gap = Chart::new("Gap (residual where there is none)", Axis::linear("seconds"), Axis::log("gap"));
    // A fit begins where its time begins again, or its label is another.
    let begins = |pair: &[Seen]| {
        pair[1].label.map(f64::to_bits) != pair[0].label.map(f64::to_bits)
            || pair[1].seconds < pair[0].seconds
    };
    let mut from = 0;
    let mut runs = Vec::new();
    for k in 1..=seen.len() {
        if k == seen.len() || begins(&seen[k - 1..=k]) {
            runs.push(&seen[from..k]);
            from = k;
        }
    }
    let several = runs.len() > 1;
    for (k, run) in runs.into_iter().enumerate() {
        let colour = colours::nth(k);
        let line = |value: fn(&Seen) -> f64| {
            let points: Vec<(f64, f64)> = run.iter().map(|one| (one.seconds, value(one))).collect();
            let points = points.into_iter().filter(|point| point.1.is_finite()).collect();
            let series = Series::new(Mark::Line, colour, points);
            match run[0].label.filter(|label| several && k < colours::COUNT && !label.is_nan()) {
                Some(label) => series.named(format!("label {label}")),
                None => series,
            }
        };
        objective = objective.with(line(|one| one.objective));
        gap = gap.with(line(|one| one.gap));
    }
    vec![Panel::Chart(objective), Panel::Chart(gap)]
}

/// Numbers against costs: a panel each, with bars where there are ends.
pub(crate) fn against_costs(
    title: &str,
    words: &str,
    points: Vec<(f64, f64)>,
    ends: Vec<(f64, f64)>,
) -> Panel {
    let chart = Chart::new(title, Axis::log("cost"), Axis::linear(words));
    let chart = if ends.is_empty() {
        chart
    } else {
        chart.with(Series::new(Mark::ErrorBars(ends), colours::GREY, points.clone()))
    };
    let line = Series::new(Mark::Line, colours::BLUE, points.clone());
    Panel::Chart(chart.with(line).with(Series::new(Mark::Points, colours::BLUE, points)))
}
