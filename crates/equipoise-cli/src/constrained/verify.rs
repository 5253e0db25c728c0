//! `equipoise constrained verify`: weights beside the data, trusting nobody.

use std::time::Instant;

use anyhow::{Context, Result, bail};
use equipoise::Status;
use equipoise_formats::fit_file;
use equipoise_models::constrained::{Fit, verify};

use super::data::Input;
use super::report::{self, FitJson, Stored};
use crate::args::VerifyFitArguments;
use crate::exit::{self, Outcome};
use crate::interrupt::Interrupt;

pub(crate) fn run(args: &VerifyFitArguments, interrupt: &Interrupt) -> Result<Outcome> {
    let problem = &args.problem;
    let control = interrupt.within(problem.time_limit);
    let stored: Stored = fit_file::read_fit(&args.result, &control)?;
    let input = Input::read(&args.data, problem, &control)?;
    if let Some(names) = stored.names.as_ref().filter(|names| **names != input.names) {
        let differs = names.iter().zip(&input.names).find(|(a, b)| a != b);
        let found =
            differs.map_or_else(|| format!("{} columns", names.len()), |(a, b)| format!("`{a}` for `{b}`"));
        bail!("{}: its columns are not those of the data: found {found}", args.result.display());
    }
    let lists = stored.x.into_lists();
    if lists.len() != input.target_names.len() {
        let (found, expected) = (lists.len(), input.target_names.len());
        bail!("{}: found weights for {found} targets, expected {expected}", args.result.display());
    }
    let begun = Instant::now();
    let checked: Result<Vec<Fit>, _> = lists
        .iter()
        .enumerate()
        .map(|(k, x)| {
            verify(&input.data(), input.targets.column(k), &input.region, &input.settings, x, &control)
        })
        .collect();
    let checked = checked.with_context(|| args.result.display().to_string())?;
    let seconds = begun.elapsed().as_secs_f64();
    let met = report::status(&checked) == Status::Converged;
    let text = if problem.json {
        let mut object = serde_json::to_value(FitJson::new(&checked, &input, seconds))?;
        object["met"] = met.into();
        serde_json::to_string(&object)? + "\n"
    } else if problem.quiet {
        String::new()
    } else {
        let words = report::words(&checked, &input, seconds);
        let rest = words.split_once('\n').map_or("", |(_, rest)| rest);
        format!("{}\n{rest}", if met { "met" } else { "not met" })
    };
    exit::print(&text)?;
    Ok(met.into())
}
