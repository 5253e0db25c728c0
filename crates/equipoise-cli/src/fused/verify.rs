//! `equipoise fused verify`: a result beside the data that it was fitted to, trusting nobody.

use std::time::Instant;

use anyhow::{Context, Result};
use equipoise_formats::fit_file::{read_fit, to_json};
use equipoise_models::fused::{self, FitSettings};
use serde::Serialize;

use super::PenaltyName;
use super::data::{self, Data};
use super::report::Stored;
use crate::args::FusedVerifyArguments;
use crate::exit::{self, Outcome, while_at};
use crate::interrupt::Interrupt;
use crate::report::line;
use crate::rounding;

/// The object of `verify --json`; infinities become null.
#[derive(Debug, Serialize)]
struct CheckJson {
    met: bool,
    objective: f64,
    bound: f64,
    relative_gap: f64,
    gap: f64,
    lambda: f64,
    penalty: &'static str,
    seconds_load: f64,
    seconds_solve: f64,
}

pub(crate) fn run(args: &FusedVerifyArguments, interrupt: &Interrupt) -> Result<Outcome> {
    let typed = &args.fitting;
    let control = interrupt.within(typed.time_limit);
    let stored: Stored = read_fit(&args.result, &control)?;
    let of_result = stored.penalty.as_deref().map(str::parse::<PenaltyName>).transpose();
    let of_result = of_result.with_context(|| args.result.display().to_string())?;
    let penalty = typed.named_penalty().or(of_result).unwrap_or_default();
    let plain = data::settings(typed);
    let sparse = typed.sparse.unwrap_or(stored.sparse);
    let settings = FitSettings { lambda: stored.lambda, sparse, ..plain };
    let data = while_at("reading the data", Data::read(&args.data, typed, penalty, &control))?;
    let started = Instant::now();
    let x = stored.coefficients();
    let found = fused::verify(data.signal(), &settings, &x, &control)
        .with_context(|| args.result.display().to_string())?;
    let met = found.relative_gap <= settings.gap;
    let text = match (typed.json, typed.quiet) {
        (true, _) => {
            let object = CheckJson {
                met,
                objective: found.objective,
                bound: found.bound,
                relative_gap: found.relative_gap,
                gap: settings.gap,
                lambda: settings.lambda,
                penalty: penalty.name(),
                seconds_load: data.seconds,
                seconds_solve: started.elapsed().as_secs_f64(),
            };
            to_json(&object)? + "\n"
        }
        (false, true) => String::new(),
        (false, false) => {
            let mut text = String::from(if met { "met\n" } else { "not met\n" });
            line(&mut text, "objective", &format!("{} (at least {})", found.objective, found.bound));
            line(&mut text, "relative gap", &rounding::allowed(found.relative_gap, settings.gap));
            text
        }
    };
    exit::print(&text)?;
    Ok(met.into())
}
