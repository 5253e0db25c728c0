//! `equipoise svm train`: read, check, train, write, render.

use anyhow::{Context, Result, bail};
use equipoise::{Control, Status};
use equipoise_formats::Standing;
use equipoise_formats::checkpoint_file::{Digest, RunIdentity};
use equipoise_formats::svm_model::{self, Format, ModelFile, check_liblinear};
use equipoise_models::svm::{
    self, CalibrationKind, Curves, Kind, LinearModel, TrainSettings, TrainSnapshot, Trained,
};
use equipoise_theory::Delayed;

use super::data::{Data, Reading};
use super::model;
use super::{choices, report};
use crate::args::TrainArguments;
use crate::checkpoint::{Aside, FileKeeper};
use crate::exit::{self, Outcome, note};
use crate::interrupt::Interrupt;
use crate::outputs::{self, Place, Sort};
use crate::progress::Fits;
use crate::report::line;
use crate::watch::Watch;

/// Everything that a training needs, checked.
pub(super) struct Plan<'a> {
    pub(super) args: &'a TrainArguments,
    pub(super) settings: TrainSettings,
    pub(super) experiment: Delayed,
    /// Seconds that were typed.
    pub(super) limit: Option<f64>,
    pub(super) format: Format,
    pub(super) data: Data,
    pub(super) start: Option<LinearModel>,
    /// Where the model goes, and what is there.
    pub(super) place: Option<Place<'a>>,
    /// Where the training is put aside, who does it, and what was there.
    pub(super) aside: Option<Aside<'a>>,
    pub(super) keeper: Option<FileKeeper<'a>>,
    pub(super) resumed: Option<TrainSnapshot>,
    pub(super) watch: Watch,
    pub(super) control: Control,
}

pub(crate) fn run(args: &TrainArguments, interrupt: &Interrupt) -> Result<Outcome> {
    let mut plan = Plan::new(args, interrupt)?;
    let fits = Fits::new("class", fits(&plan.settings, &plan.data));
    if !args.training.quiet {
        plan.watch.show_fits(&plan.settings, fits);
    }
    let watch = svm::Watch {
        observer: Some(&mut plan.watch as _),
        control: plan.control.clone(),
        experiment: Some(&plan.experiment),
        keeper: plan.keeper.as_mut().map(|keeper| keeper as _),
        resumed: plan.resumed.as_ref(),
        ..svm::Watch::default()
    };
    let trained = svm::train(plan.data.samples(), &plan.settings, plan.start.as_ref(), watch);
    plan.watch.hide_bar();
    let trained = trained.with_context(|| args.data.display().to_string())?;
    let mut converged = trained.report.status() == Status::Converged;
    let mut curves = None;
    if let Some(kind) = args.probabilities.filter(|_| converged) {
        let settings = TrainSettings { time_limit: interrupt.left(plan.limit), ..plan.settings.clone() };
        let calibrated =
            calibrate(&plan, &settings, kind).with_context(|| args.data.display().to_string())?;
        if calibrated.status != Status::Converged {
            note(format_args!(
                "not converged: {}: the fits of --probabilities did not end",
                calibrated.status
            ));
            converged = false;
        }
        curves = Some(calibrated.curves);
    }
    plan.render(trained, curves)?;
    Ok(converged.into())
}

/// Probabilities from rows held out.
fn calibrate(
    plan: &Plan<'_>,
    settings: &TrainSettings,
    kind: CalibrationKind,
) -> svm::Result<svm::Calibration> {
    /// As many as others take.
    const FOLDS: usize = 5;
    let control = plan.control.clone();
    let company = svm::Watch { control, experiment: Some(&plan.experiment), ..svm::Watch::default() };
    let rows = plan.data.counts.iter().map(|(_, count)| *count).sum::<usize>();
    svm::calibrate(plan.data.samples(), settings, kind, FOLDS.min(rows), company)
}

/// Which training this is: everything that its numbers depend on.
pub(super) fn identity(data: &Data, settings: &TrainSettings, start: Option<&LinearModel>) -> RunIdentity {
    let (samples, mut digest) = (data.samples(), Digest::default());
    let rows = samples.rows;
    [rows.len(), rows.columns(), rows.entries()].into_iter().for_each(|count| digest.word(count as u64));
    for i in 0..rows.len() {
        rows.for_each(i, |c, value| {
            digest.word(c as u64);
            digest.word(value.to_bits());
        });
        digest.word(u64::MAX);
    }
    digest.numbers(samples.labels);
    digest.numbers(samples.weights.unwrap_or_default());
    let of_start = |model: &LinearModel| {
        let mut digest = Digest::default();
        model.weights.iter().for_each(|weights| digest.numbers(weights));
        digest.numbers(&model.bias);
        format!("{:016x}", digest.value())
    };
    let most_epochs = settings.max_epochs.map(|most| most.to_string());
    let named = [
        ("kind", settings.kind.to_string()),
        ("loss", settings.loss.to_string()),
        ("cost", format!("{:?}", settings.cost)),
        ("nu", format!("{:?}", settings.nu)),
        ("epsilon", format!("{:?}", settings.epsilon)),
        ("gap", format!("{:?}", settings.gap)),
        ("bias", settings.bias.to_string()),
        ("class-weight", format!("{:?}", settings.class_weights)),
        ("method", settings.method.to_string()),
        ("seed", settings.seed.to_string()),
        ("max-epochs", most_epochs.unwrap_or_else(|| "none".into())),
        ("threads", settings.threads.to_string()),
        ("locking", settings.locking.to_string()),
        ("deterministic", settings.deterministic.to_string()),
        ("the warm start", start.map_or_else(|| "none".into(), of_start)),
    ];
    let named = named.map(|(name, value)| (name.to_owned(), value)).to_vec();
    RunIdentity::new("svm train", named, &digest)
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
        if let Some(last) = args.parts.last() {
            // What follows `--probabilities` without a sign is taken for a file.
            if args.probabilities.is_some()
                && last.to_str().is_some_and(|word| word.parse::<CalibrationKind>().is_ok())
            {
                bail!("`{0}` would be a file of rows; write --probabilities={0}", last.display());
            }
            bail!(
                "several files of rows are for several ranks: --ranks N starts them, or put the files together; \
                 was a model meant? `--model {}` writes it",
                last.display()
            );
        }
        let mut settings = choices::settings(training)?;
        let experiment = training.multicore.experiment()?;
        let inputs = [Some(args.data.as_path()), training.weights.as_deref(), args.warm_start.as_deref()];
        let checkpoint = args.checkpointing.checkpoint.as_deref();
        let [model, history, plot] = [&args.model, &args.history, &args.plot].map(Option::as_deref);
        outputs::check(&[model, history, plot, checkpoint], &inputs)?;
        if args.probabilities.is_some() && !matches!(settings.kind, Kind::Svc | Kind::NuSvc) {
            bail!(
                "--probabilities are those of labels, and --kind {} has none; leave it out",
                settings.kind.name()
            );
        }
        let control = interrupt.within(settings.time_limit);
        let aside = Aside::look(&args.checkpointing, training.quiet, &control)?;
        let place = args.model.as_deref().map(|path| Place::look(path, Sort::Model, &control)).transpose()?;
        let reading = Reading {
            threads: settings.threads,
            quiet: training.quiet,
            control: &control,
            table: &args.table,
            needs_labels: settings.kind != Kind::OneClass,
            scale: args.scale,
        };
        let data = Data::read(&args.data, training.weights.as_deref(), reading)?;
        choices::weigh(&mut settings, training, &data)?;
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
        let mut watch = Watch::for_fits(args.history.as_deref())?;
        watch.keeps(args.plot.as_deref());
        let (mut keeper, mut resumed) = (None, None);
        if let Some(aside) = &aside {
            let run = identity(&data, &settings, start.as_ref());
            resumed = aside.words(&run)?.map(TrainSnapshot::from_words).transpose()?;
            let updates = resumed.as_ref().map(TrainSnapshot::updates);
            let exact = resumed.as_ref().is_none_or(TrainSnapshot::is_exact);
            aside.announce(updates, exact, args.checkpointing.resume);
            keeper = Some(aside.keeper(run, watch.goes_on_with(aside.history())));
        }
        let limit = settings.time_limit;
        settings.time_limit = interrupt.left(limit);
        Ok(Self {
            args,
            settings,
            experiment,
            limit,
            format,
            data,
            start,
            place,
            aside,
            keeper,
            resumed,
            watch,
            control,
        })
    }

    pub(super) fn render(self, trained: Trained, curves: Option<Curves>) -> Result<()> {
        let Self { args, settings, format, data, place, aside, watch, .. } = self;
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
        let untrained = trained.report.untrained();
        let is_part = untrained > 0 && args.model.is_some() && !args.keep_partial;
        if is_part {
            let all = trained.report.classes.len();
            note(format_args!(
                "note: {untrained} of {all} labels were not trained, so no model is written; --keep-partial writes it all the same"
            ));
        }
        let stays = is_part || place.is_some_and(|place| place.stays(standing, args.keep_partial));
        let text = if training.json {
            serde_json::to_string(&report::TrainJson::new(&trained, &settings, &data))? + "\n"
        } else if training.quiet {
            String::new()
        } else {
            report::words(&trained, &settings, &data) + &next(args, stays, is_part)
        };
        if let Some(path) = args.model.as_ref().filter(|_| !stays) {
            let context = data.context(curves);
            if format == Format::Liblinear && !context.is_empty() && !training.quiet {
                note(
                    "note: LIBLINEAR's text has no place for names and probabilities; a scaling is part of the weights",
                );
            }
            let file = ModelFile { model: trained.model, features: data.features };
            svm_model::write_with_context(path, &file, &context, format, Some(standing))?;
        }
        exit::print(&text)?;
        watch.draw(args.plot.as_deref())?;
        watch.finish()?;
        if let Some(aside) = aside {
            aside.finish(status == Status::Converged);
        }
        Ok(())
    }
}

/// Where the model is, and what to type next.
fn next(args: &TrainArguments, stays: bool, is_part: bool) -> String {
    let mut text = String::new();
    let Some(path) = &args.model else {
        line(&mut text, "model", "not kept; --model FILE writes it");
        return text;
    };
    let path = path.display().to_string();
    if is_part {
        line(&mut text, "model", "not written; some labels were not trained");
        return text;
    }
    if stays {
        line(&mut text, "model", &format!("not written; {path} is better"));
        return text;
    }
    if path == "-" {
        // It went down a pipe, and whoever reads there knows what comes next.
        line(&mut text, "model", "on standard output");
        return text;
    }
    line(&mut text, "model", &path);
    text + "next: equipoise svm predict DATA --model " + &path + "\n"
}
