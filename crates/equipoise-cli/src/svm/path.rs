//! `equipoise svm path`: one model after another, cost by cost. On ranks each has a share of the rows, and every model begins afresh.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use equipoise::Status;
use equipoise::collective::Collective;
use equipoise_models::svm::{self, Kind, TrainSettings, Trained};
use serde::Serialize;

use super::across::{self, Source};
use super::cv::{Keeping, keep};
use super::data::{Data, Reading};
use super::report::{self, Totals, single_bias};
use super::train::{fits, note_targets};
use super::{choices, costs, memory, table};
use crate::args::PathArguments;
use crate::exit::{self, Outcome, note};
use crate::interrupt::Interrupt;
use crate::outputs;
use crate::picture::against_costs;
use crate::plot::{Panel, write_picture};
use crate::progress::Fits;
use crate::ranks::{Departure, Travelled, note_processors, together};
use crate::report::decimal;
use crate::rounding::{above, decimal_above, decimal_below};
use crate::watch::Watch;

/// The object of `path --json`.
#[derive(Debug, Serialize)]
struct PathJson {
    status: &'static str,
    path: Vec<StepJson>,
    seconds_load: f64,
    peak_memory: Option<u64>,
    kind: &'static str,
    rows: usize,
    columns: usize,
    /// The cost that predicts the rows of `--test` best, among fits that converged.
    #[serde(skip_serializing_if = "Option::is_none")]
    best_cost: Option<f64>,
    #[serde(flatten)]
    travelled: Option<Travelled>,
}

/// One cost.
#[derive(Debug, Serialize)]
struct StepJson {
    cost: f64,
    status: &'static str,
    primal: f64,
    dual: f64,
    relative_gap: f64,
    bias: Option<f64>,
    support: usize,
    bounded_support: usize,
    seconds: f64,
    /// On the rows of `--test`; for a regression there is `mse` in its place.
    #[serde(skip_serializing_if = "Option::is_none")]
    accuracy: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mse: Option<f64>,
}

pub(crate) fn run(args: &PathArguments, interrupt: &Interrupt) -> Result<Outcome> {
    let training = &args.training;
    let mut settings = choices::settings(training)?;
    let control = interrupt.within(settings.time_limit);
    let experiment = training.multicore.experiment()?;
    let costs = costs_of(args, &settings)?;
    let inputs = [Some(args.data.as_path()), training.weights.as_deref(), args.test.as_deref()];
    outputs::check(&[args.model.as_deref(), args.plot.as_deref()], &inputs)?;
    if args.data == Path::new("-") && args.test == Some("-".into()) {
        bail!("DATA and --test are both `-`, and standard input can be read only once; name a file for one");
    }
    let reading = Reading {
        threads: settings.threads,
        quiet: training.quiet,
        control: &control,
        table: &args.table,
        needs_labels: true,
        scale: args.scale,
    };
    let data = Data::read(&args.data, training.weights.as_deref(), reading)?;
    choices::weigh(&mut settings, training, &data)?;
    let test = args.test.as_deref().map(|path| Data::read_for(path, &data.columns(), reading)).transpose()?;
    let test = test.map(|test| test.scaled_as(&data)).transpose()?;
    let test = args.test.as_deref().zip(test).map(|(path, test)| labelled(path, test)).transpose()?;
    settings.time_limit = interrupt.left(settings.time_limit);
    let mut watch = Watch::default();
    if !training.quiet {
        note_targets(&settings, &data);
        watch.show_fits(&settings, Fits::new("fit", fits(&settings, &data) * costs.len()));
    }
    let (observer, control) = (Some(&mut watch as _), control.clone());
    let company = svm::Watch { observer, control, experiment: Some(&experiment), ..svm::Watch::default() };
    let walk = svm::path(data.samples(), &settings, &costs, company);
    watch.hide_bar();
    let walk = walk.with_context(|| args.data.display().to_string())?;
    tell(args, &settings, &data, test.as_ref(), walk, None)
}

/// The command on every rank of a world: each has a share of the rows, the first says what was found.
pub(crate) fn run_across(
    args: &PathArguments,
    interrupt: &Interrupt,
    world: &Arc<dyn Collective>,
) -> Result<Outcome> {
    let (speaks, training) = (world.rank() == 0, &args.training);
    refuse(args)?;
    let mut settings = choices::settings(training)?;
    let control = interrupt.within(settings.time_limit);
    if !training.quiet {
        note_processors(&**world, settings.threads);
    }
    let costs = costs_of(args, &settings)?;
    let inputs = [Some(args.data.as_path()), args.test.as_deref()];
    let outputs = outputs::check(&[args.model.as_deref(), args.plot.as_deref()], &inputs);
    together(&**world, if speaks { outputs } else { Ok(()) })?;
    let source = Source { data: &args.data, parts: &[], table: &args.table };
    let data = across::read(&source, &settings, &control, &**world)?;
    choices::weigh(&mut settings, training, &data)?;
    // Models are those of all ranks, and one of them is enough to score them.
    let reading = Reading {
        threads: settings.threads,
        quiet: training.quiet,
        control: &control,
        table: &args.table,
        needs_labels: true,
        scale: None,
    };
    let test = args.test.as_deref().filter(|_| speaks);
    let test = test.map(|path| labelled(path, Data::read_for(path, &data.columns(), reading)?)).transpose();
    let test = together(&**world, test)?;
    let mut watch = Watch::default();
    if !training.quiet && speaks {
        note_targets(&settings, &data);
        watch.show_fits(&settings, Fits::new("fit", fits(&settings, &data) * costs.len()));
    }
    let departure = Departure::now(&**world);
    let mut walk: Vec<Trained> = Vec::with_capacity(costs.len());
    for &cost in &costs {
        let settings =
            TrainSettings { cost, time_limit: interrupt.left(settings.time_limit), ..settings.clone() };
        let observer = speaks.then_some(&mut watch as _);
        let company = svm::Watch { observer, control: control.clone(), ..svm::Watch::default() };
        let trained = svm::train_across(world, data.samples(), &settings, company);
        walk.push(trained.with_context(|| args.data.display().to_string())?);
        // All ranks have the same report.
        let status = walk.last().map(|trained| trained.report.status());
        if matches!(status, Some(Status::TimeLimit | Status::Interrupted)) {
            break;
        }
    }
    watch.hide_bar();
    let travelled = departure.travelled(&**world)?;
    let converged = status(&walk) == Status::Converged;
    let said = if speaks {
        tell(args, &settings, &data, test.as_ref(), walk, travelled)
    } else {
        Ok(converged.into())
    };
    together(&**world, said)
}

/// Refuses what is not there on several ranks.
fn refuse(args: &PathArguments) -> Result<()> {
    let typed = [
        ("--ranks", args.ranks.is_some(), "`equipoise svm path` starts ranks; here they are started already"),
        ("--scale", args.scale.is_some(), "scale the rows first"),
        ("--weights", args.training.weights.is_some(), "repeat rows instead"),
        ("-", args.data.as_os_str() == "-", "name a file that every rank can read"),
        ("a table", table::is_table(&args.data, &args.table), "use LIBSVM text"),
    ];
    match typed.iter().find(|(_, is_typed, _)| *is_typed) {
        Some((option, _, advice)) => bail!("{option} is not offered on several ranks: {advice}"),
        None => Ok(()),
    }
}

/// The costs typed, or the usual ones.
fn costs_of(args: &PathArguments, settings: &TrainSettings) -> Result<Vec<f64>> {
    let costs = costs::list(&args.costs)?;
    choices::check_costs(settings.kind, costs.as_deref(), &args.training)?;
    if !report::has_cost(settings) {
        bail!("a path walks through costs, and --kind {} has none; use svm train", settings.kind.name());
    }
    Ok(costs.unwrap_or_else(|| costs::GRID.to_vec()))
}

/// Rows to test on, which have labels.
fn labelled(path: &Path, test: Data) -> Result<Data> {
    if !test.has_labels {
        bail!("{}: rows to test on need labels", path.display());
    }
    Ok(test)
}

/// Says what was found, and writes the best model.
fn tell(
    args: &PathArguments,
    settings: &TrainSettings,
    data: &Data,
    test: Option<&Data>,
    mut walk: Vec<Trained>,
    travelled: Option<Travelled>,
) -> Result<Outcome> {
    let training = &args.training;
    let steps: Vec<StepJson> = walk.iter().map(|trained| step(trained, test)).collect();
    let status = status(&walk);
    if status != Status::Converged {
        let worst = walk.iter().map(|trained| trained.report.relative_gap()).fold(0.0, f64::max);
        note(report::not_converged(status, worst, settings.gap, ""));
    }
    if let Some(path) = &args.plot {
        write_picture(path, &panels(&steps))?;
    }
    let best = best(&walk, &steps);
    let mut text = if training.json {
        let json = PathJson {
            status: status.name(),
            path: steps,
            seconds_load: data.seconds,
            peak_memory: memory::peak(),
            kind: settings.kind.name(),
            rows: data.row_count(),
            columns: data.rows.columns(),
            best_cost: best.map(|k| walk[k].model.cost),
            travelled,
        };
        serde_json::to_string(&json)? + "\n"
    } else if training.quiet {
        String::new()
    } else {
        rendered(&steps)
    };
    if let Some(path) = &args.model {
        match best {
            Some(k) => {
                let says = !training.json && !training.quiet;
                // The best of some costs is not the best of all.
                let is_whole = !matches!(status, Status::Interrupted | Status::TimeLimit);
                let keeping = Keeping { path, is_whole, keep_partial: args.keep_partial, says };
                keep(keeping, walk.swap_remove(k), data, &mut text)?;
            }
            None => note("note: no fit has converged, so no model is written"),
        }
    }
    exit::print(&text)?;
    Ok((status == Status::Converged).into())
}

/// Objective, support vectors and, with rows to test on, the score, against the cost.
fn panels(steps: &[StepJson]) -> Vec<Panel> {
    let over = |value: &dyn Fn(&StepJson) -> Option<f64>| -> Vec<(f64, f64)> {
        steps.iter().filter_map(|step| Some((step.cost, value(step)?))).collect()
    };
    let mut panels = vec![
        against_costs("Primal objective", "objective", over(&|step| Some(step.primal)), Vec::new()),
        against_costs("Support vectors", "rows", over(&|step| Some(step.support as f64)), Vec::new()),
    ];
    for (title, points) in
        [("Accuracy", over(&|step| step.accuracy)), ("Mean squared error", over(&|step| step.mse))]
    {
        if !points.is_empty() {
            panels.push(against_costs(title, "on the test rows", points, Vec::new()));
        }
    }
    panels
}

/// `Converged` when every fit is, else the first other status.
fn status(walk: &[Trained]) -> Status {
    let mut statuses = walk.iter().map(|trained| trained.report.status());
    statuses.find(|status| *status != Status::Converged).unwrap_or(Status::Converged)
}

/// The place of the model that does best on the rows of `--test`; one that did not converge is none.
fn best(walk: &[Trained], steps: &[StepJson]) -> Option<usize> {
    let loss = |k: usize| steps[k].mse.or(steps[k].accuracy.map(|share| -share));
    let whole = (0..walk.len()).filter(|&k| walk[k].report.status() == Status::Converged);
    whole.filter_map(|k| Some((k, loss(k)?))).min_by(|a, b| a.1.total_cmp(&b.1)).map(|(k, _)| k)
}

fn step(trained: &Trained, test: Option<&Data>) -> StepJson {
    let (report, totals) = (&trained.report, Totals::of(&trained.report));
    let score = test.map(|test| trained.model.score(&test.rows, &test.labels));
    let regression = trained.model.kind == Kind::Svr;
    StepJson {
        cost: trained.model.cost,
        status: report.status().name(),
        primal: report.primal(),
        dual: report.dual(),
        relative_gap: report.relative_gap(),
        bias: single_bias(report),
        support: totals.support,
        bounded_support: totals.bounded_support,
        seconds: report.seconds,
        accuracy: score.filter(|_| !regression),
        mse: score.filter(|_| regression),
    }
}

fn rendered(steps: &[StepJson]) -> String {
    let mut text = format!(
        "{:>12}  {:>18}  {:>18}  {:>10}  {:>12}  {:>9}  {:>9}",
        "cost", "primal", "dual", "gap", "bias", "support", "seconds"
    );
    let first = steps.first();
    if first.is_some_and(|step| step.accuracy.is_some()) {
        text += "  accuracy";
    } else if first.is_some_and(|step| step.mse.is_some()) {
        text += "       mse";
    }
    text.push('\n');
    for step in steps {
        let StepJson { cost, primal, dual, relative_gap, support, seconds, .. } = step;
        let bias = step.bias.map_or_else(|| "-".into(), |bias| decimal(bias, 6));
        let (cost, gap) = (costs::short(*cost), above(*relative_gap, 2));
        let (primal, dual) = (decimal_above(*primal, 8), decimal_below(*dual, 8));
        let _ = write!(
            text,
            "{cost:>12}  {primal:>18}  {dual:>18}  {gap:>10}  {bias:>12}  {support:>9}  {seconds:>9.3}"
        );
        let accuracy = step.accuracy.map(|share| format!("{:.2} %", 100.0 * share));
        if let Some(score) = accuracy.or(step.mse.map(|mse| decimal(mse, 4))) {
            let _ = write!(text, "  {score:>8}");
        }
        if step.status != Status::Converged.name() {
            let _ = write!(text, "  {}", step.status);
        }
        text.push('\n');
    }
    text
}
