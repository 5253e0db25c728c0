//! `equipoise lasso fit`: read, fit, write, render.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result};
use equipoise::Status;
use equipoise_formats::fit_file::{read_fit, to_json, write_fit};
use equipoise_formats::{Standing, write_whole};
use equipoise_models::lasso::{Error, Fitter, Point};

use super::data::Regression;
use super::picture;
use super::report::{self, PointJson, StoredFit};
use crate::args::{LassoFitArguments, OneLambda, OutputArguments, RegressionArguments};
use crate::exit::{self, Outcome, note};
use crate::interrupt::Interrupt;
use crate::outputs::{self, Place, Sort};
use crate::report::line;
use crate::rounding;

/// The lambda that was typed, or this share of `lambda_max`.
pub(super) fn lambda(args: &OneLambda, lambda_max: f64) -> Result<f64> {
    match (args.lambda, args.lambda_ratio) {
        (Some(lambda), _) if lambda > 0.0 && lambda.is_finite() => Ok(lambda),
        (Some(lambda), _) => anyhow::bail!("--lambda is {lambda}; it must be positive and finite"),
        (None, Some(ratio)) if !(ratio > 0.0 && ratio.is_finite()) => {
            anyhow::bail!("--lambda-ratio is {ratio}; it must be positive, at most about 1")
        }
        (None, Some(_)) if lambda_max == 0.0 => Err(Error::NothingToExplain.into()),
        (None, Some(ratio)) => Ok(ratio * lambda_max),
        (None, None) => anyhow::bail!("give --lambda L or --lambda-ratio R"),
    }
}

/// Refuses outputs that are inputs: the table, and every file that is typed where a column may be, too.
pub(super) fn check_outputs(
    output: &OutputArguments,
    data: &Path,
    regression: &RegressionArguments,
    start: Option<&Path>,
) -> Result<()> {
    let RegressionArguments { target, covariates, weights, constraints, names, .. } = regression;
    let mut inputs = vec![Some(data), start, constraints.as_deref(), names.as_deref()];
    inputs.extend([target].into_iter().chain(covariates).chain(weights).map(|typed| Some(Path::new(typed))));
    let OutputArguments { out, plot, history, .. } = output;
    outputs::check(&[out.as_deref(), plot.as_deref(), history.as_deref()], &inputs)
}

/// What is said of a fit that did not converge.
pub(super) fn note_status(point: &Point, allowed: f64) {
    if point.status != Status::Converged {
        note(format_args!(
            "not converged: {}: {}",
            point.status,
            rounding::relative_gap(point.relative_gap, allowed)
        ));
    }
}

pub(crate) fn run(args: &LassoFitArguments, interrupt: &Interrupt) -> Result<Outcome> {
    check_outputs(&args.output, &args.data, &args.regression, args.warm_start.as_deref())?;
    let regression = Regression::read(&args.data, &args.regression, interrupt)?;
    let control = &regression.control;
    let place = args.output.out.as_deref().map(|path| Place::look(path, Sort::Fit, control)).transpose()?;
    let start = args.warm_start.as_deref().map(|path| {
        let stored: StoredFit = read_fit(path, control)?;
        let coefficients = stored.ordered(&regression.names).with_context(|| path.display().to_string())?;
        let intercept = regression.settings.intercept.then(|| stored.intercept.unwrap_or(0.0));
        Ok::<_, anyhow::Error>(coefficients.into_iter().chain(intercept).collect::<Vec<f64>>())
    });
    let start = start.transpose()?;
    let started = Instant::now();
    let explain = |error| regression.explain(error).context(args.data.display().to_string());
    let mut fitter = Fitter::new(regression.data(), &regression.settings, control).map_err(explain)?;
    let lambda = lambda(&args.weight, fitter.lambda_max())?;
    if let Some(start) = start {
        fitter.start_at(&start, control).map_err(explain)?;
    }
    let point = fitter.fit(lambda, control).map_err(explain)?;
    let seconds = started.elapsed().as_secs_f64();
    note_status(&point, regression.settings.gap);
    let json =
        PointJson::new(&point, &regression, fitter.lambda_max(), seconds).with_model(&regression.model);
    let standing = Standing { converged: point.status == Status::Converged, measure: point.relative_gap };
    let stays = place.is_some_and(|place| place.stays(standing, args.output.keep_partial));
    if let Some(path) = args.output.out.as_ref().filter(|_| !stays) {
        write_fit(path, &json)?;
    }
    if let Some(file) = &args.output.plot {
        let title = format!("Coefficients at lambda {lambda:.4}");
        picture::draw_bars(file, &title, "coefficient", &regression.names, &point.coefficients)?;
    }
    if let Some(file) = &args.output.history {
        let text = report::history(std::slice::from_ref(&point));
        write_whole(file, |out| std::io::Write::write_all(out, text.as_bytes()))?;
    }
    let text = if args.regression.json {
        to_json(&json)? + "\n"
    } else if args.regression.quiet {
        String::new()
    } else {
        let mut text = report::words(&point, &regression, fitter.lambda_max(), seconds);
        if let Some(path) = args.output.out.as_ref().filter(|_| !stays) {
            line(&mut text, "result", &path.display().to_string());
        }
        text
    };
    exit::print(&text)?;
    Ok((point.status == Status::Converged).into())
}
