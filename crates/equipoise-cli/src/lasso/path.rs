//! `equipoise lasso path`: fits along falling lambdas.

use std::io::Write as _;
use std::time::Instant;

use anyhow::{Result, bail};
use equipoise::Status;
use equipoise_formats::fit_file::{measure_of_points, to_json, write_fit};
use equipoise_formats::{Standing, write_whole};
use equipoise_models::lasso::{Fitter, Lambdas, Point, path};
use serde::Serialize;

use super::data::Regression;
use super::fit::check_outputs;
use super::picture;
use super::report::{self, PointJson};
use crate::args::{LassoPathArguments, ManyLambdas};
use crate::exit::{self, Outcome, note};
use crate::interrupt::Interrupt;
use crate::outputs::{Place, Sort};
use crate::rounding::above;

/// The object of `path --json`.
#[derive(Debug, Serialize)]
struct PathJson<'a> {
    status: &'static str,
    relative_gap: Option<f64>,
    /// Lambdas without a converged fit.
    missing: usize,
    lambda_max: f64,
    points: Vec<PointJson<'a>>,
    seconds_load: f64,
    seconds_solve: f64,
}

/// What was typed, or the default.
pub(super) fn lambdas(args: &ManyLambdas) -> Result<Lambdas> {
    if let Some(list) = &args.lambdas {
        return Ok(Lambdas::Given(list.clone()));
    }
    let Lambdas::Falling { count, least } = Lambdas::default() else { bail!("give --lambdas") };
    Ok(Lambdas::Falling { count: args.points.unwrap_or(count), least: args.lambda_ratio.unwrap_or(least) })
}

/// `Converged` when every fit is, else the first other status; and the largest gap.
pub(super) fn overall<'a>(points: impl Iterator<Item = &'a Point> + Clone) -> (Status, f64) {
    let status = points.clone().map(|point| point.status).find(|status| *status != Status::Converged);
    (status.unwrap_or(Status::Converged), points.map(|point| point.relative_gap).fold(0.0, f64::max))
}

pub(crate) fn run(args: &LassoPathArguments, interrupt: &Interrupt) -> Result<Outcome> {
    check_outputs(&args.output, &args.data, &args.regression, None)?;
    let regression = Regression::read(&args.data, &args.regression, interrupt)?;
    let control = &regression.control;
    let place = args.output.out.as_deref().map(|path| Place::look(path, Sort::Fit, control)).transpose()?;
    let started = Instant::now();
    let explain = |error| regression.explain(error).context(args.data.display().to_string());
    let mut fitter = Fitter::new(regression.data(), &regression.settings, control).map_err(explain)?;
    let lambda_max = fitter.lambda_max();
    let lambdas = lambdas(&args.lambdas)?.resolve(lambda_max).map_err(explain)?;
    let (mut seconds, mut last) = (Vec::with_capacity(lambdas.len()), Instant::now());
    let points = path(&mut fitter, &lambdas, control, |_| {
        seconds.push(last.elapsed().as_secs_f64());
        last = Instant::now();
    })
    .map_err(explain)?;
    let total = started.elapsed().as_secs_f64();
    let (status, gap) = overall(points.iter());
    if status != Status::Converged {
        let (done, wanted) = (points.len(), lambdas.len());
        note(format_args!(
            "not converged: {status}: {done} of {wanted} lambdas, largest relative gap {}",
            above(gap, 3)
        ));
    }
    let converged = points.iter().filter(|point| point.status == Status::Converged).count();
    let missing = lambdas.len() - converged;
    let json = PathJson {
        status: status.name(),
        relative_gap: gap.is_finite().then_some(gap),
        missing,
        lambda_max,
        points: points
            .iter()
            .zip(&seconds)
            .map(|(point, seconds)| PointJson::new(point, &regression, lambda_max, *seconds))
            .collect(),
        seconds_load: regression.seconds_load,
        seconds_solve: total,
    };
    let standing =
        Standing { converged: status == Status::Converged, measure: measure_of_points(missing, gap) };
    let stays = place.is_some_and(|place| place.stays(standing, args.output.keep_partial));
    if let Some(file) = args.output.out.as_ref().filter(|_| !stays) {
        write_fit(file, &json)?;
    }
    if let Some(file) = &args.output.plot {
        picture::draw_path(file, &points, &regression.names)?;
    }
    if let Some(file) = &args.output.history {
        let text = report::history(&points);
        write_whole(file, |out| out.write_all(text.as_bytes()))?;
    }
    let text = if args.regression.json {
        to_json(&json)? + "\n"
    } else if args.regression.quiet {
        String::new()
    } else {
        format!("{status}\n{}", report::table(&points, None))
    };
    exit::print(&text)?;
    Ok((status == Status::Converged).into())
}
