//! `equipoise allocate verify`: an allocation beside the data, trusting nobody.

use std::time::Instant;

use anyhow::{Context, Result, bail};
use equipoise::Status;
use equipoise_allocation::verify;
use equipoise_formats::fit_file;

use super::data::{Input, named};
use super::report::{self, AllocationJson, Stored};
use super::run::Found;
use crate::args::AllocateVerifyArguments;
use crate::exit::{self, Outcome};
use crate::interrupt::Interrupt;

pub(crate) fn run(args: &AllocateVerifyArguments, interrupt: &Interrupt) -> Result<Outcome> {
    let asked = &args.asked;
    let control = interrupt.within(asked.time_limit);
    let stored: Stored = fit_file::read_fit(&args.result, &control)?;
    let input = Input::read(&args.data, asked, None, &control)?;
    if let (Some(names), Some(own)) = (&stored.names, &input.names)
        && names != own
    {
        let differs = names.iter().zip(own).find(|(a, b)| a != b);
        let found =
            differs.map_or_else(|| format!("{} users", names.len()), |(a, b)| format!("`{a}` for `{b}`"));
        bail!("{}: its users are not those of the data: found {found}", args.result.display());
    }
    let Some(x) = &stored.x else {
        bail!(
            "{}: no list `x` to check; it was written with --no-x, or holds many points",
            args.result.display()
        );
    };
    let begun = Instant::now();
    let prices = stored.prices.filter(|prices| prices.len() == input.problem.rows().len());
    let checked = verify(&input.problem, &input.settings, x, prices.as_deref(), &control)
        .map_err(|error| named(error, input.names.as_deref()))
        .with_context(|| args.result.display().to_string())?;
    let seconds_certificate = begun.elapsed().as_secs_f64();
    let met = checked.status == Status::Converged;
    let found = Found {
        list: vec![checked],
        demands: None,
        is_sensitivity_asked: false,
        rates: None,
        keep_x: true,
        seconds: 0.0,
        seconds_certificate,
    };
    let text = if asked.json {
        let mut object = serde_json::to_value(AllocationJson::new(&found, &input))?;
        object["met"] = met.into();
        serde_json::to_string(&object)? + "\n"
    } else if asked.quiet {
        String::new()
    } else {
        let words = report::words(&found, &input);
        let rest = words.split_once('\n').map_or("", |(_, rest)| rest);
        format!("{}\n{rest}", if met { "met" } else { "not met" })
    };
    exit::print(&text)?;
    Ok(met.into())
}
