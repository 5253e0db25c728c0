//! `equipoise svm verify`: a model beside the data that it was trained on, trusting nobody.
//!
//! What the file says of its training is taken from it, unless something else is typed; what it does not say must be typed.
//! Features that the model does not know weigh 0; weights of features that the data lack count in `1/2 w'w`.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context, Result, bail};
use equipoise::matrix::Rows;
use equipoise_formats::svm_model::{self, Format, ModelFile};
use equipoise_models::svm::{self, Check, ClassCheck, Kind, LinearModel, TrainSettings};
use serde::Serialize;

use super::data::{Data, Reading};
use super::model::{beyond, moved};
use super::{choices, train};
use crate::args::{CheckArguments, Training};
use crate::exit::{self, Outcome};
use crate::interrupt::Interrupt;
use crate::progress::Fits;
use crate::report::line;
use crate::watch::Watch;

/// The object of `verify --json`; infinities become null.
#[derive(Debug, Serialize)]
struct CheckJson {
    met: bool,
    primal: f64,
    dual: f64,
    relative_gap: f64,
    gap: f64,
    kind: &'static str,
    rows: usize,
    columns: usize,
    seconds_load: f64,
    seconds_solve: f64,
    classes: Vec<ClassJson>,
}

#[derive(Debug, Serialize)]
struct ClassJson {
    /// Null where there are no labels.
    label: f64,
    met: bool,
    primal: f64,
    dual: f64,
    relative_gap: f64,
}

pub(crate) fn run(args: &CheckArguments, interrupt: &Interrupt) -> Result<Outcome> {
    let training = &args.training;
    let experiment = training.multicore.experiment()?;
    let (file, format) = svm_model::read_with_format(&args.model, &interrupt.control)?;
    let mut settings = settings(training, &file.model, format, &args.model)?;
    let control = interrupt.within(settings.time_limit);
    let reading = Reading { threads: settings.threads, quiet: training.quiet, control: &control };
    let mut data = Data::read(&args.data, training.weights.as_deref(), reading)?;
    let model = beside(file, &mut data)?;
    let mut watch = Watch::default();
    if !training.quiet {
        watch.show_fits(&settings, Fits::new("class", train::fits(&settings, &data)));
    }
    settings.time_limit = interrupt.left(settings.time_limit);
    let observer = Some(&mut watch as _);
    let company = svm::Watch { observer, control, experiment: Some(&experiment), ..svm::Watch::default() };
    let found = svm::verify(data.samples(), &settings, &model, company);
    watch.hide_bar();
    let found = found.with_context(|| args.model.display().to_string())?;
    let met = found.meets(settings.gap);
    let text = match (training.json, training.quiet) {
        (true, _) => serde_json::to_string(&json(&found, &settings, &data))? + "\n",
        (false, true) => String::new(),
        (false, false) => words(&found, settings.gap, &args.model),
    };
    exit::print(&text)?;
    Ok(met.into())
}

/// The problem that the model is checked against.
fn settings(typed: &Training, model: &LinearModel, format: Format, path: &Path) -> Result<TrainSettings> {
    let kind = typed.kind.unwrap_or(model.kind);
    let is_classifier = |kind| matches!(kind, Kind::Svc | Kind::NuSvc);
    if kind != model.kind && !(is_classifier(kind) && is_classifier(model.kind)) {
        bail!("--kind {}: {} is a model of kind {}", kind.name(), path.display(), model.kind.name());
    }
    let with_nu = matches!(kind, Kind::NuSvc | Kind::OneClass);
    let is_silent = format == Format::Liblinear;
    let needed = [
        ("--cost", is_silent && !with_nu && typed.cost.is_none()),
        ("--nu", (is_silent || kind != model.kind) && with_nu && typed.nu.is_none()),
        ("--epsilon", is_silent && kind == Kind::Svr && typed.epsilon.is_none()),
    ];
    if let Some((option, _)) = needed.into_iter().find(|(_, is_missing)| *is_missing) {
        bail!("{option} is missing: {} does not say what the model was trained with", path.display());
    }
    let said = TrainSettings {
        kind,
        loss: model.loss,
        cost: model.cost,
        nu: model.nu,
        epsilon: model.epsilon,
        class_weights: model.class_weights.clone(),
        ..TrainSettings::default()
    };
    choices::settings_or(typed, &said)
}

/// The model with the columns of the data; these gain empty ones for weights that they lack.
fn beside(file: ModelFile, data: &mut Data) -> Result<LinearModel> {
    let ModelFile { mut model, features } = file;
    let mut extra = 0;
    for weights in &mut model.weights {
        let lost = beyond(weights, &features, &data.features);
        extra = extra.max(lost.len());
        *weights = moved(weights, &features, &data.features);
        weights.extend(lost);
    }
    let columns = data.rows.columns() + extra;
    model.weights.iter_mut().for_each(|weights| weights.resize(columns, 0.0));
    if extra > 0 {
        data.rows = widened(&data.rows, columns)?;
    }
    Ok(model)
}

/// The same rows with more columns.
fn widened(rows: &Rows, columns: usize) -> equipoise::Result<Rows> {
    let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for i in 0..rows.len() {
        rows.for_each(i, |column, value| {
            indices.push(u32::try_from(column).unwrap_or(u32::MAX));
            values.push(value);
        });
        starts.push(indices.len());
    }
    Rows::new(columns, starts, indices, Some(values))
}

fn json(found: &Check, settings: &TrainSettings, data: &Data) -> CheckJson {
    let class = |class: &ClassCheck| ClassJson {
        label: class.label,
        met: class.relative_gap <= settings.gap,
        primal: class.primal,
        dual: class.dual,
        relative_gap: class.relative_gap,
    };
    CheckJson {
        met: found.meets(settings.gap),
        primal: found.primal(),
        dual: found.dual(),
        relative_gap: found.relative_gap(),
        gap: settings.gap,
        kind: settings.kind.name(),
        rows: data.rows.len(),
        columns: data.rows.columns(),
        seconds_load: data.seconds,
        seconds_solve: found.seconds,
        classes: found.classes.iter().map(class).collect(),
    }
}

fn words(found: &Check, allowed: f64, path: &Path) -> String {
    let gap = found.relative_gap();
    let mut text = if found.meets(allowed) {
        format!("met: {} is optimal to {allowed:e}\n", path.display())
    } else {
        format!("not met: the relative gap is {gap:.3e}, allowed {allowed:.3e}\n")
    };
    line(&mut text, "objective", &format!("{} (at least {})", found.primal(), found.dual()));
    line(&mut text, "relative gap", &format!("{gap:.3e} (allowed {allowed:.3e})"));
    if found.classes.len() > 1 {
        for ClassCheck { label, primal, dual, relative_gap, .. } in &found.classes {
            let met = if *relative_gap <= allowed { "met" } else { "not met" };
            let mut of_label = format!("{met}, {primal} (at least {dual})");
            let _ = write!(of_label, ", relative gap {relative_gap:.3e}");
            line(&mut text, &format!("label {label}"), &of_label);
        }
    }
    text
}
