//! `equipoise svm train`: read, check, train, write, render.

use anyhow::{Context, Result};
use equipoise::{Control, Status};
use equipoise_formats::Standing;
use equipoise_formats::svm_model::{self, Format, ModelFile, check_liblinear};
use equipoise_models::svm::{self, Kind, LinearModel, TrainSettings, Trained};
use equipoise_theory::Delayed;

use super::data::{Data, Reading};
use super::model;
use super::{choices, report};
use crate::args::TrainArguments;
use crate::exit::{self, Outcome, note};
use crate::interrupt::Interrupt;
use crate::outputs::{self, Place, Sort};
use crate::progress::Fits;
use crate::report::line;
use crate::watch::Watch;

/// Everything that a training needs, checked.
struct Plan<'a> {
    args: &'a TrainArguments,
    settings: TrainSettings,
    experiment: Delayed,
    format: Format,
    data: Data,
    start: Option<LinearModel>,
    /// Where the model goes, and what is there.
    place: Option<Place<'a>>,
    watch: Watch,
    control: Control,
}

pub(crate) fn run(args: &TrainArguments, interrupt: &Interrupt) -> Result<Outcome> {
    let mut plan = Plan::new(args, interrupt)?;
    let fits = Fits::new("class", fits(&plan.settings, &plan.data));
    if !args.training.quiet {
        plan.watch.show_fits(&plan.settings, fits);
    }
    let (observer, control) = (Some(&mut plan.watch as _), plan.control.clone());
    let watch = svm::Watch { observer, control, experiment: Some(&plan.experiment) };
    let trained = svm::train(plan.data.samples(), &plan.settings, plan.start.as_ref(), watch);
    plan.watch.hide_bar();
    let trained = trained.with_context(|| args.data.display().to_string())?;
    let converged = trained.report.status() == Status::Converged;
    plan.render(trained)?;
    Ok(converged.into())
}

/// How many decision functions there will be.
pub(crate) fn fits(settings: &TrainSettings, data: &Data) -> usize {
    match settings.kind {
        Kind::Svc if data.counts.len() > 2 => data.counts.len(),
        _ => 1,
    }
}

/// A word to those who train a classifier on what looks like a regression.
pub(crate) fn note_targets(settings: &TrainSettings, data: &Data) {
    if settings.kind == Kind::Svc && data.looks_like_targets() {
        let count = data.counts.len();
        note(format_args!(
            "note: found {count} different labels, fractions among them; --kind svr fits targets"
        ));
    }
}

impl<'a> Plan<'a> {
    fn new(args: &'a TrainArguments, interrupt: &Interrupt) -> Result<Self> {
        let training = &args.training;
        let mut settings = choices::settings(training)?;
        let experiment = training.multicore.experiment()?;
        let inputs = [Some(args.data.as_path()), training.weights.as_deref(), args.warm_start.as_deref()];
        outputs::check(&[args.model.as_deref(), args.history.as_deref()], &inputs)?;
        let control = interrupt.within(settings.time_limit);
        let place = args.model.as_deref().map(|path| Place::look(path, Sort::Model, &control)).transpose()?;
        let reading = Reading { threads: settings.threads, quiet: training.quiet, control: &control };
        let data = Data::read(&args.data, training.weights.as_deref(), reading)?;
        let format = args.format;
        if let (Some(path), Format::Liblinear) = (&args.model, format) {
            let has_labels = matches!(settings.kind, Kind::Svc | Kind::NuSvc);
            let labels = if has_labels { data.distinct() } else { Vec::new() };
            check_liblinear(path, &labels, &data.features)?;
        }
        if !training.quiet {
            note_targets(&settings, &data);
        }
        let start = args.warm_start.as_deref();
        let start = start.map(|path| model::warm_start(path, settings.kind, &data, &control)).transpose()?;
        let watch = Watch::for_fits(args.history.as_deref())?;
        settings.time_limit = interrupt.left(settings.time_limit);
        Ok(Self { args, settings, experiment, format, data, start, place, watch, control })
    }

    fn render(self, trained: Trained) -> Result<()> {
        let Self { args, settings, format, data, place, watch, .. } = self;
        let training = &args.training;
        let status = trained.report.status();
        if status != Status::Converged {
            let goes_on = ", or continue with --warm-start";
            let gap = trained.report.relative_gap();
            let why = trained.report.doubt().map_or_else(String::new, |doubt| format!("; {doubt}"));
            note(report::not_converged(status, gap, settings.gap, goes_on) + &why);
        }
        let standing =
            Standing { converged: status == Status::Converged, measure: trained.report.relative_gap() };
        let stays = place.is_some_and(|place| place.stays(standing, args.keep_partial));
        let text = if training.json {
            serde_json::to_string(&report::TrainJson::new(&trained, &settings, &data))? + "\n"
        } else if training.quiet {
            String::new()
        } else {
            report::words(&trained, &settings, &data) + &next(args, stays)
        };
        if let Some(path) = args.model.as_ref().filter(|_| !stays) {
            let file = ModelFile { model: trained.model, features: data.features };
            svm_model::write_standing(path, &file, format, Some(standing))?;
        }
        exit::print(&text)?;
        watch.finish()
    }
}

/// Where the model is, and what to type next.
fn next(args: &TrainArguments, stays: bool) -> String {
    let mut text = String::new();
    let Some(path) = &args.model else {
        line(&mut text, "model", "not kept; --model FILE writes it");
        return text;
    };
    let path = path.display().to_string();
    if stays {
        line(&mut text, "model", &format!("not written; {path} is better"));
        return text;
    }
    line(&mut text, "model", &path);
    text + "next: equipoise svm predict DATA --model " + &path + "\n"
}
