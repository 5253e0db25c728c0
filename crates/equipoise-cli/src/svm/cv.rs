//! `equipoise svm cv`: scores of every cost on rows that its models have not seen, and the best model of them all.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use equipoise::collective::{Alone, Collective};
use equipoise::{Control, Status};
use equipoise_formats::Standing;
use equipoise_formats::checkpoint_file::Digest;
use equipoise_formats::svm_model::{self, Format, ModelFile};
use equipoise_models::svm::{self, CostScores, CrossValidation, Kind, TrainSettings, Trained};
use serde::Serialize;

use super::data::{Data, Reading};
use super::train::{fits, note_targets};
use super::{choices, costs, memory, report};
use crate::args::CvArguments;
use crate::exit::{self, Outcome, note};
use crate::interrupt::Interrupt;
use crate::outputs::{self, Place, Sort};
use crate::picture::against_costs;
use crate::plot::{Panel, write_picture};
use crate::progress::Fits;
use crate::ranks::{Departure, Travelled, note_processors, together};
use crate::report::number;
use crate::rounding::above;
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
    /// The smallest cost within a standard error of the best.
    simplest_cost: Option<f64>,
    #[serde(flatten)]
    travelled: Option<Travelled>,
}

#[derive(Debug, Serialize)]
struct CostJson<'a> {
    cost: f64,
    mean: f64,
    scores: &'a [f64],
    relative_gap: f64,
    status: &'static str,
    /// Of the mean; null below two scores.
    standard_error: f64,
    /// How the fit of every score ended.
    statuses: Vec<&'static str>,
}

pub(crate) fn run(args: &CvArguments, interrupt: &Interrupt) -> Result<Outcome> {
    let alone: Arc<dyn Collective> = Arc::new(Alone::default());
    run_on(args, interrupt, &alone)
}

/// The command on every rank of a world: each reads all rows and takes its folds, the first says what was found.
pub(crate) fn run_across(
    args: &CvArguments,
    interrupt: &Interrupt,
    world: &Arc<dyn Collective>,
) -> Result<Outcome> {
    if args.ranks.is_some() {
        bail!(
            "--ranks is not offered on several ranks: `equipoise svm cv` starts ranks; here they are started already"
        );
    }
    if args.data.as_os_str() == "-" {
        bail!("- is not offered on several ranks: name a file that every rank can read");
    }
    run_on(args, interrupt, world)
}

fn run_on(args: &CvArguments, interrupt: &Interrupt, world: &Arc<dyn Collective>) -> Result<Outcome> {
    let speaks = world.rank() == 0;
    let training = &args.training;
    let quiet = training.quiet || !speaks;
    let mut settings = choices::settings(training)?;
    let control = interrupt.within(settings.time_limit);
    if world.ranks() > 1 && !training.quiet {
        note_processors(&**world, settings.threads);
    }
    let experiment = training.multicore.experiment()?;
    let costs = costs::list(&args.costs)?;
    choices::check_costs(settings.kind, costs.as_deref(), training)?;
    let only = training.cost.is_some() || !report::has_cost(&settings);
    let costs = costs.unwrap_or_else(|| if only { vec![settings.cost] } else { costs::GRID.to_vec() });
    let outputs = [args.model.as_deref(), args.plot.as_deref()];
    let inputs = [Some(args.data.as_path()), training.weights.as_deref()];
    // Files are the business of the first rank; what it finds there ends all.
    together(&**world, if speaks { outputs::check(&outputs, &inputs) } else { Ok(()) })?;
    let reading = Reading {
        threads: settings.threads,
        quiet,
        control: &control,
        table: &args.table,
        needs_labels: settings.kind != Kind::OneClass,
        scale: args.scale,
    };
    let data = Data::read(&args.data, training.weights.as_deref(), reading);
    let data = together(&**world, data)?;
    together(&**world, choices::weigh(&mut settings, training, &data))?;
    same_data(&data, &**world)?;
    let limit = settings.time_limit;
    settings.time_limit = interrupt.left(limit);
    let mut watch = Watch::default();
    if !quiet {
        note_targets(&settings, &data);
        let own = args.folds.div_ceil(world.ranks());
        watch.show_fits(&settings, Fits::new("fit", fits(&settings, &data) * costs.len() * own));
    }
    let (observer, watched) = (Some(&mut watch as _), control.clone());
    let company =
        svm::Watch { observer, control: watched, experiment: Some(&experiment), ..svm::Watch::default() };
    let departure = Departure::now(&**world);
    let found = svm::cross_validate_across(world, data.samples(), &settings, &costs, args.folds, company);
    watch.hide_bar();
    let found = found.with_context(|| args.data.display().to_string())?;
    let travelled = departure.travelled(&**world)?;
    let settings = TrainSettings { time_limit: interrupt.left(limit), ..settings };
    let said = if speaks { tell(args, settings, control, &data, (&found, travelled)) } else { Ok(true) };
    let converged = together(&**world, said)?;
    // What the first rank says holds for all.
    Ok((world.largest(f64::from(u8::from(!converged)))? == 0.0).into())
}

/// Refuses ranks that have read other rows.
fn same_data(data: &Data, world: &dyn Collective) -> Result<()> {
    if world.ranks() == 1 {
        return Ok(());
    }
    let (mut digest, rows) = (Digest::default(), &data.rows);
    digest.numbers(&data.labels);
    digest.numbers(data.samples().weights.unwrap_or_default());
    for i in 0..rows.len() {
        rows.for_each(i, |column, value| {
            digest.word(column as u64);
            digest.word(value.to_bits());
        });
    }
    let own = format!("{} rows, {} columns, {:016x}", rows.len(), rows.columns(), digest.value());
    let first = &world.texts(&own)?[0];
    let differs =
        (*first != own).then(|| format!("its rows are not those of rank 0: {own}, on rank 0 {first}"));
    Ok(world.agree(differs.as_deref())?)
}

/// Says what was found, and writes the best model; whether all has converged.
fn tell(
    args: &CvArguments,
    settings: TrainSettings,
    control: Control,
    data: &Data,
    (found, travelled): (&CrossValidation, Option<Travelled>),
) -> Result<bool> {
    let training = &args.training;
    let status = found.status();
    if status != Status::Converged {
        let worst = found.costs.iter().map(|cost| cost.relative_gap).fold(0.0, f64::max);
        note(report::not_converged(status, worst, settings.gap, ""));
    }
    if let Some(path) = &args.plot {
        write_picture(path, &[panel(found, settings.kind)])?;
    }
    let mut text = match (training.json, training.quiet) {
        (true, _) => serde_json::to_string(&CvJson { travelled, ..json(found, &settings, data) })? + "\n",
        (false, true) => String::new(),
        (false, false) => words(found, &settings),
    };
    let mut converged = status == Status::Converged;
    if let Some(path) = &args.model {
        match found.best_cost {
            Some(cost) => {
                let settings = TrainSettings { cost, ..settings };
                let experiment = training.multicore.experiment()?;
                let company = svm::Watch { control, experiment: Some(&experiment), ..svm::Watch::default() };
                let best = svm::train(data.samples(), &settings, None, company)?;
                converged &= best.report.status() == Status::Converged;
                let keeping = Keeping {
                    path,
                    is_whole: !matches!(status, Status::Interrupted | Status::TimeLimit),
                    keep_partial: args.keep_partial,
                    says: !training.json && !training.quiet,
                };
                keep(keeping, best, data, &mut text)?;
            }
            None => note("note: no cost has converged on every fold, so no model is written"),
        }
    }
    exit::print(&text)?;
    Ok(converged)
}

/// Where the best model goes, and what is said of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Keeping<'a> {
    pub(crate) path: &'a Path,
    /// Whether it was chosen among all that were asked for; what is there may be the best of more.
    pub(crate) is_whole: bool,
    pub(crate) keep_partial: bool,
    pub(crate) says: bool,
}

/// Writes the best model, unless what is there is better; adds a line that says so.
pub(crate) fn keep(keeping: Keeping<'_>, best: Trained, data: &Data, text: &mut String) -> Result<()> {
    let Keeping { path, is_whole, keep_partial, says } = keeping;
    let gap = best.report.relative_gap();
    let standing = Standing { converged: best.report.status() == Status::Converged, measure: gap };
    let chosen = Standing { converged: standing.converged && is_whole, ..standing };
    if Place::look(path, Sort::Model, &Control::unlimited())?.stays(chosen, keep_partial) {
        return Ok(());
    }
    let cost = best.model.cost;
    let file = ModelFile { model: best.model, features: data.features.clone() };
    let context = data.context(None);
    svm_model::write_with_context(path, &file, &context, Format::default(), Some(standing))?;
    if says {
        let (path, cost) = (path.display(), costs::short(cost));
        let _ = writeln!(text, "model: {path} (--cost {cost}, relative gap {})", above(gap, 3));
    }
    Ok(())
}

/// Scores of the folds against the costs: their mean, and from the least to the largest.
fn panel(found: &CrossValidation, kind: Kind) -> Panel {
    let ends = |cost: &CostScores| {
        let least = cost.scores.iter().copied().fold(f64::INFINITY, f64::min);
        (least, cost.scores.iter().copied().fold(f64::NEG_INFINITY, f64::max))
    };
    let words = if kind == Kind::Svr { "mean squared error" } else { "accuracy" };
    let points = found.costs.iter().map(|cost| (cost.cost, cost.mean)).collect();
    against_costs("Held-out folds", words, points, found.costs.iter().map(ends).collect())
}

fn json<'a>(found: &'a CrossValidation, settings: &TrainSettings, data: &Data) -> CvJson<'a> {
    let cost = |cost: &'a CostScores| CostJson {
        cost: cost.cost,
        mean: cost.mean,
        scores: &cost.scores,
        relative_gap: cost.relative_gap,
        status: cost.status.name(),
        standard_error: cost.standard_error,
        statuses: cost.statuses.iter().map(|status| status.name()).collect(),
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
        simplest_cost: found.simplest_cost.filter(|_| report::has_cost(settings)),
        travelled: None,
    }
}

fn words(found: &CrossValidation, settings: &TrainSettings) -> String {
    let regression = settings.kind == Kind::Svr;
    let score =
        |value: f64| if regression { format!("{value:.6}") } else { format!("{:.2} %", 100.0 * value) };
    let name = if regression { "mean squared error" } else { "accuracy" };
    let error = |value: f64| match value {
        value if value.is_nan() => "-".into(),
        value if regression => format!("{value:.6}"),
        value => format!("{:.2}", 100.0 * value),
    };
    let mut text = format!("{:>12}  {name:>18}  {:>10}  {:>12}  folds\n", "cost", "std error", "worst gap");
    let mut is_marked = false;
    for cost in &found.costs {
        let mark = |(value, status): (&f64, &Status)| {
            let is_whole = *status == Status::Converged;
            is_marked |= !is_whole;
            score(*value) + if is_whole { "" } else { "*" }
        };
        let mut folds: Vec<String> = cost.scores.iter().zip(&cost.statuses).map(mark).collect();
        folds.resize(found.folds, "*".into());
        is_marked |= cost.scores.len() < found.folds;
        let mean = if cost.mean.is_nan() { "-".into() } else { score(cost.mean) };
        let (se, gap) = (error(cost.standard_error), above(cost.relative_gap, 3));
        let cost = costs::short(cost.cost);
        let _ = writeln!(text, "{cost:>12}  {mean:>18}  {se:>10}  {gap:>12}  {}", folds.join(", "));
    }
    if is_marked {
        text += "*: a fit that did not converge; its cost is not chosen\n";
    }
    if let Some(best) = found.best_cost.filter(|_| report::has_cost(settings)) {
        let _ = writeln!(text, "best: --cost {}", number(best));
        if let Some(simplest) = found.simplest_cost.filter(|simplest| *simplest < best) {
            let _ = writeln!(text, "within a standard error of it: --cost {}", number(simplest));
        }
    }
    text
}
