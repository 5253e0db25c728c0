//! `equipoise svm verify`: a model beside the data that it was trained on, trusting nobody.
//!
//! What the file says of its training is taken from it, unless something else is typed; what it does not say must be typed.
//! Features that the model does not know weigh 0; weights of features that the data lack count in `1/2 w'w`.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context, Result, bail};
use equipoise::matrix::Rows;
use equipoise_formats::svm_model::{self, Format, ModelContext, ModelFile};
use equipoise_models::svm::{self, Check, ClassCheck, Kind, LinearModel, Scaling, TrainSettings};
use serde::Serialize;

use super::data::{Data, Reading};
use super::model::{beyond, moved};
use super::table::{glance, has_ending};
use super::{choices, train};
use crate::args::{CheckArguments, TableChoice, Training};
use crate::exit::{self, Outcome};
use crate::interrupt::Interrupt;
use crate::progress::Fits;
use crate::report::{line, number};
use crate::rounding::{self, above};
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
    let (file, context, format) = svm_model::read_with_context(&args.model, &interrupt.control)?;
    let mut settings = settings(training, &file.model, format, &args.model)?;
    let control = interrupt.within(settings.time_limit);
    let target =
        args.table.target.clone().or_else(|| context.target.clone().filter(|_| has_ending(&args.data)));
    let table = TableChoice { target, drop: args.table.drop.clone(), no_header: args.table.no_header };
    let reading = Reading {
        threads: settings.threads,
        quiet: training.quiet,
        control: &control,
        table: &table,
        needs_labels: settings.kind != Kind::OneClass,
        // The model says how; what is read here need not be noted.
        scale: None,
    };
    let mut data = Data::read(&args.data, training.weights.as_deref(), reading)?;
    choices::weigh(&mut settings, training, &data)?;
    check_names(&context, &data, &args.model)?;
    let model = beside(file, context.scaling, &mut data)?;
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

/// Refuses a table whose columns or labels are called otherwise than those of the model.
fn check_names(context: &ModelContext, data: &Data, path: &Path) -> Result<()> {
    let pairs = [
        ("columns", &context.feature_names, &data.names),
        ("labels", &context.label_names, &data.label_names),
    ];
    for (what, of_model, of_data) in pairs {
        if let (Some(of_model), Some(of_data)) = (of_model, of_data)
            && of_model != of_data
        {
            let (of_model, of_data) = (glance(of_model), glance(of_data));
            bail!("{}: its {what} are {of_model}; those of the data are {of_data}", path.display());
        }
    }
    Ok(())
}

/// The model with the columns of the data; these gain empty ones for weights that they lack. Where the model is for scaled
/// rows, they are scaled.
fn beside(file: ModelFile, scaling: Option<Scaling>, data: &mut Data) -> Result<LinearModel> {
    let ModelFile { mut model, features } = file;
    if let Some(Scaling { kind, shift, factor }) = scaling {
        if features != data.features
            && data.features.iter().any(|feature| features.binary_search(feature).is_err())
        {
            bail!("the model was trained on scaled rows, and the data have features that it does not know");
        }
        // Every column that the model knows; those that the data lack are 0 before they are scaled.
        let places: Vec<u32> =
            data.features.iter().map(|of| features.partition_point(|known| known < of) as u32).collect();
        data.rows = placed(&data.rows, features.len(), &places)?;
        data.features = features;
        data.apply(Scaling { kind, shift, factor })?;
        return Ok(model);
    }
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
        let same: Vec<u32> = (0..u32::try_from(data.rows.columns()).unwrap_or(u32::MAX)).collect();
        data.rows = placed(&data.rows, columns, &same)?;
    }
    Ok(model)
}

/// The same rows with more columns: column j becomes `places[j]`.
fn placed(rows: &Rows<'_>, columns: usize, places: &[u32]) -> equipoise::Result<Rows<'static>> {
    let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for i in 0..rows.len() {
        rows.for_each(i, |column, value| {
            indices.push(places[column]);
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
        format!("not met: the relative gap is {}, allowed {}\n", above(gap, 3), above(allowed, 3))
    };
    let (primal, dual) = (number(found.primal()), number(found.dual()));
    line(&mut text, "objective", &format!("{primal} (at least {dual})"));
    line(&mut text, "relative gap", &rounding::allowed(gap, allowed));
    if found.classes.len() > 1 {
        for ClassCheck { label, primal, dual, relative_gap, .. } in &found.classes {
            let met = if *relative_gap <= allowed { "met" } else { "not met" };
            let mut of_label = format!("{met}, {} (at least {})", number(*primal), number(*dual));
            let _ = write!(of_label, ", relative gap {}", above(*relative_gap, 3));
            line(&mut text, &format!("label {label}"), &of_label);
        }
    }
    text
}
