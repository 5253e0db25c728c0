//! `equipoise lasso verify`: a fit checked from raw data alone.

use std::time::Instant;

use anyhow::{Context, Result};
use equipoise::Status;
use equipoise_formats::fit_file::{read_fit, to_json};
use equipoise_models::lasso::{Fitter, verify};

use super::data::Regression;
use super::fit::note_status;
use super::report::{self, PointJson, StoredFit};
use crate::args::LassoVerifyArguments;
use crate::exit::{self, Outcome};
use crate::interrupt::Interrupt;

pub(crate) fn run(args: &LassoVerifyArguments, interrupt: &Interrupt) -> Result<Outcome> {
    let regression = Regression::read(&args.data, &args.regression, interrupt)?;
    let control = &regression.control;
    let stored: StoredFit = read_fit(&args.result, control)?;
    let of_result = || args.result.display().to_string();
    let coefficients = stored.ordered(&regression.names).with_context(of_result)?;
    if let Some(wrong) = coefficients.iter().chain(&stored.intercept).find(|value| !value.is_finite()) {
        anyhow::bail!("{}: found {wrong}; coefficients must be finite", of_result());
    }
    let started = Instant::now();
    let explain = |error| regression.explain(error);
    let claimed = (coefficients.as_slice(), stored.intercept);
    let (data, settings) = (regression.data(), &regression.settings);
    let point = verify(data, settings, stored.lambda, claimed, control).map_err(explain)?;
    let lambda_max = Fitter::new(data, settings, control).map_err(explain)?.lambda_max();
    let seconds = started.elapsed().as_secs_f64();
    note_status(&point, settings.gap);
    let is_met = point.status == Status::Converged;
    let text = if args.regression.json {
        to_json(&PointJson::new(&point, &regression, lambda_max, seconds))? + "\n"
    } else if args.regression.quiet {
        String::new()
    } else {
        let words = report::words(&point, &regression, lambda_max, seconds);
        let (_, rest) = words.split_once('\n').unwrap_or(("", &words));
        format!("{}\n{rest}", if is_met { "certificate met" } else { "certificate not met" })
    };
    exit::print(&text)?;
    Ok(is_met.into())
}
