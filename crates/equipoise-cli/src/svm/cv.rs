//! `equipoise svm cv`: scores of every cost on rows that its models have not seen.

use std::fmt::Write as _;

use anyhow::{Context, Result};
use equipoise::Status;
use equipoise_models::svm::{self, CostScores, CrossValidation, Kind, TrainSettings};
use serde::Serialize;

use super::data::{Data, Reading};
use super::train::{fits, note_targets};
use super::{choices, costs, memory, report};
use crate::args::CvArguments;
use crate::exit::{self, Outcome, note};
use crate::interrupt::Interrupt;
use crate::progress::Fits;
use crate::watch::Watch;

/// The object of `cv --json`.
#[derive(Debug, Serialize)]
struct CvJson<'a> {
    status: &'static str,
    /// What is scored: `accuracy` or `mse`.
    score: &'static str,
    folds: usize,
    best_cost: Option<f64>,
    costs: Vec<CostJson<'a>>,
    seconds_load: f64,
    seconds_solve: f64,
    peak_memory: Option<u64>,
    kind: &'static str,
    rows: usize,
    columns: usize,
}

#[derive(Debug, Serialize)]
struct CostJson<'a> {
    cost: f64,
    mean: f64,
    scores: &'a [f64],
    relative_gap: f64,
    status: &'static str,
}

pub(crate) fn run(args: &CvArguments, interrupt: &Interrupt) -> Result<Outcome> {
    let training = &args.training;
    let mut settings = choices::settings(training)?;
    let control = interrupt.within(settings.time_limit);
    let experiment = training.multicore.experiment()?;
    let costs = costs::list(&args.costs)?;
    choices::check_costs(settings.kind, costs.as_deref(), training)?;
    let costs = costs.unwrap_or_else(|| vec![settings.cost]);
    let reading = Reading { threads: settings.threads, quiet: training.quiet, control: &control };
    let data = Data::read(&args.data, training.weights.as_deref(), reading)?;
    settings.time_limit = interrupt.left(settings.time_limit);
    let mut watch = Watch::default();
    if !training.quiet {
        note_targets(&settings, &data);
        let count = fits(&settings, &data) * costs.len() * args.folds;
        watch.show_fits(&settings, Fits::new("fit", count));
    }
    let (observer, control) = (Some(&mut watch as _), control.clone());
    let company = svm::Watch { observer, control, experiment: Some(&experiment), ..svm::Watch::default() };
    let found = svm::cross_validate(data.samples(), &settings, &costs, args.folds, company);
    watch.hide_bar();
    let found = found.with_context(|| args.data.display().to_string())?;
    let status = found.status();
    if status != Status::Converged {
        let worst = found.costs.iter().map(|cost| cost.relative_gap).fold(0.0, f64::max);
        note(report::not_converged(status, worst, settings.gap, ""));
    }
    let text = match (training.json, training.quiet) {
        (true, _) => serde_json::to_string(&json(&found, &settings, &data))? + "\n",
        (false, true) => String::new(),
        (false, false) => words(&found, &settings),
    };
    exit::print(&text)?;
    Ok((status == Status::Converged).into())
}

fn json<'a>(found: &'a CrossValidation, settings: &TrainSettings, data: &Data) -> CvJson<'a> {
    let cost = |cost: &'a CostScores| CostJson {
        cost: cost.cost,
        mean: cost.mean,
        scores: &cost.scores,
        relative_gap: cost.relative_gap,
        status: cost.status.name(),
    };
    CvJson {
        status: found.status().name(),
        score: if settings.kind == Kind::Svr { "mse" } else { "accuracy" },
        folds: found.folds,
        best_cost: found.best_cost.filter(|_| report::has_cost(settings)),
        costs: found.costs.iter().map(cost).collect(),
        seconds_load: data.seconds,
        seconds_solve: found.seconds,
        peak_memory: memory::peak(),
        kind: settings.kind.name(),
        rows: data.rows.len(),
        columns: data.rows.columns(),
    }
}

fn words(found: &CrossValidation, settings: &TrainSettings) -> String {
    let regression = settings.kind == Kind::Svr;
    let score =
        |value: f64| if regression { format!("{value:.6}") } else { format!("{:.2} %", 100.0 * value) };
    let name = if regression { "mean squared error" } else { "accuracy" };
    let mut text = format!("{:>12}  {name:>18}  {:>12}  folds\n", "cost", "worst gap");
    for cost in &found.costs {
        let folds: Vec<String> = cost.scores.iter().map(|&value| score(value)).collect();
        let (mean, gap) = (score(cost.mean), format!("{:.3e}", cost.relative_gap));
        let cost = costs::short(cost.cost);
        let _ = writeln!(text, "{cost:>12}  {mean:>18}  {gap:>12}  {}", folds.join(", "));
    }
    if let Some(best) = found.best_cost.filter(|_| report::has_cost(settings)) {
        let _ = writeln!(text, "best: --cost {best}");
    }
    text
}
