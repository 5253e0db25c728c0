//! `equipoise fused fit`: read, check, fit, write, render.

use std::path::Path;

use anyhow::{Context, Result, bail};
use equipoise::{Control, Status};
use equipoise_formats::Standing;
use equipoise_formats::fit_file::{read_fit, to_json, write_fit};
use equipoise_formats::history::HistoryWriter;
use equipoise_models::fused::{self, Fit, FitSettings, Round, Watch};

use super::data::{self, Data};
use super::report::{self, FitJson, Stored};
use super::{drawing, path};
use crate::args::FusedFitArguments;
use crate::exit::{self, Outcome, note, while_at};
use crate::interrupt::Interrupt;
use crate::outputs::{self, Place, Sort};
use crate::plot;
use crate::report::line;

pub(crate) fn run(args: &FusedFitArguments, interrupt: &Interrupt) -> Result<Outcome> {
    let typed = &args.fitting;
    let inputs = [
        Some(args.data.as_path()),
        typed.edges.as_deref(),
        typed.d.as_deref(),
        typed.design.as_deref(),
        args.warm_start.as_deref(),
    ];
    outputs::check(&[args.out.as_deref(), args.plot.as_deref(), args.history.as_deref()], &inputs)?;
    let control = interrupt.within(typed.time_limit);
    let place = args.out.as_deref().map(|path| Place::look(path, Sort::Fit, &control)).transpose()?;
    let settings = data::settings(typed);
    let penalty = typed.named_penalty().unwrap_or_default();
    let data = while_at("reading the data", Data::read(&args.data, typed, penalty, &control))?;
    let mut history = History::create(args.history.as_deref())?;
    let (found, lambda_max) = fitted(args, &data, &settings, &mut history, &control)?;
    history.finish()?;
    render(args, &data, &settings, &found, lambda_max, place)?;
    Ok((found.status == Status::Converged).into())
}

/// The fit at the lambda that was asked for, and the smallest lambda that leaves one piece, where it is known.
fn fitted(
    args: &FusedFitArguments,
    data: &Data,
    settings: &FitSettings,
    history: &mut History,
    control: &Control,
) -> Result<(Fit, Option<f64>)> {
    let signal = data.signal();
    let file = || args.data.display().to_string();
    if let Some(criterion) = args.choose {
        let (largest, points) =
            path::points(data, settings, &path::Steps::default(), control, |fit| history.add_fit(fit))
                .with_context(file)?;
        let Some(best) = fused::choose(&points, criterion) else {
            if points.iter().all(|point| point.fit.status != Status::Converged) {
                bail!(
                    "--choose {criterion}: no fit of the path converged; raise --gap or --max-rounds, or name a lambda"
                );
            }
            bail!("--choose {criterion}: degrees of freedom are not known for this penalty; name a lambda")
        };
        let best = points
            .into_iter()
            .nth(best)
            .map(|point| point.fit)
            .context("a path has the point that was chosen")?;
        return Ok((best, Some(largest)));
    }
    let (lambda, lambda_max) = match (args.lambda, args.lambda_ratio) {
        (Some(lambda), _) => (lambda, fused::quick_lambda_max(signal, control).with_context(file)?),
        (None, Some(ratio)) => {
            if !(ratio > 0.0 && ratio.is_finite()) {
                bail!("--lambda-ratio is {ratio}; allowed: a finite number above 0");
            }
            let largest = fused::lambda_max(signal, settings, control).with_context(file)?;
            (ratio * largest, Some(largest))
        }
        (None, None) => bail!("name --lambda L, --lambda-ratio R or --choose bic"),
    };
    let start = match &args.warm_start {
        Some(path) => Some(read_fit::<Stored>(path, control)?.coefficients()),
        None => None,
    };
    let settings = FitSettings { lambda, ..settings.clone() };
    let mut tell = |round: &Round| history.add(lambda, round);
    let watch = Watch { observer: Some(&mut tell), control: control.clone() };
    let found = fused::fit_watched(signal, &settings, start.as_deref(), watch).with_context(file)?;
    Ok((found, lambda_max))
}

/// The rows of `--history`, if it is asked for: every round of a fit, or the end of every fit of a path.
struct History {
    writer: Option<HistoryWriter>,
    failure: Option<equipoise_formats::Error>,
}

impl History {
    fn create(path: Option<&Path>) -> Result<Self> {
        let header = "lambda,round,seconds,objective,bound,relative_gap";
        let writer = path.map(|path| HistoryWriter::create_under(header, path)).transpose()?;
        Ok(Self { writer, failure: None })
    }

    fn add(&mut self, lambda: f64, round: &Round) {
        let Round { round, seconds, objective, bound, relative_gap, .. } = *round;
        self.write(&[lambda, round as f64, seconds, objective, bound, relative_gap]);
    }

    fn add_fit(&mut self, fit: &Fit) {
        let Fit { lambda, rounds, seconds_solve, seconds_certify, objective, bound, relative_gap, .. } = *fit;
        let seconds = seconds_solve + seconds_certify;
        self.write(&[lambda, rounds as f64, seconds, objective, bound, relative_gap]);
    }

    fn write(&mut self, cells: &[f64]) {
        if let Some(writer) = self.writer.as_mut().filter(|_| self.failure.is_none()) {
            writer.write_cells(cells);
            self.failure = writer.flush().err();
        }
    }

    /// Whether everything was written.
    fn finish(self) -> Result<()> {
        self.failure.map_or(Ok(()), |failure| Err(failure.into()))
    }
}

fn render(
    args: &FusedFitArguments,
    data: &Data,
    settings: &FitSettings,
    found: &Fit,
    lambda_max: Option<f64>,
    place: Option<Place<'_>>,
) -> Result<()> {
    let is_converged = found.status == Status::Converged;
    if !is_converged {
        note(report::not_converged(found.status, found.relative_gap, settings.gap));
    }
    let standing = Standing { converged: is_converged, measure: found.relative_gap };
    let stays = place.is_some_and(|place| place.stays(standing, args.keep_partial));
    let object = FitJson::new(found, data, lambda_max);
    let text = match (args.fitting.json, args.fitting.quiet) {
        (true, _) => to_json(&object)? + "\n",
        (false, true) => String::new(),
        (false, false) => {
            let mut text = report::words(found, data, settings, lambda_max);
            match &args.out {
                Some(path) if stays => {
                    line(&mut text, "result", &format!("not written; {} is better", path.display()));
                }
                Some(path) => line(&mut text, "result", &path.display().to_string()),
                None => line(&mut text, "result", "not kept; --out FILE writes it"),
            }
            text
        }
    };
    if let Some(path) = args.out.as_ref().filter(|_| !stays) {
        write_fit(path, &object)?;
    }
    if let Some(path) = &args.plot {
        plot::write_picture(path, &drawing::panels(data, found))?;
    }
    exit::print(&text)
}
