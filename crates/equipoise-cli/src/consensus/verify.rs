//! `equipoise consensus verify`: a point beside the data, trusting nobody.

use std::time::Instant;

use anyhow::{Context, Result};
use equipoise_consensus::{Settings, verify};
use serde_json::json;

use super::data::Input;
use super::report::Stored;
use crate::args::ConsensusVerifyArguments;
use crate::exit::{self, Outcome};
use crate::interrupt::Interrupt;
use crate::report::line;
use crate::rounding;

pub(crate) fn run(args: &ConsensusVerifyArguments, interrupt: &Interrupt) -> Result<Outcome> {
    let control = interrupt.within(args.problem.time_limit);
    let input = Input::read(&args.shards, &args.problem, &control)?;
    let x = Stored::read(&args.result, &input, &control)?;
    let gap = args.problem.gap.unwrap_or(Settings::default().gap);
    let begun = Instant::now();
    let found =
        verify(&input.problem, &x, gap, &control).with_context(|| args.result.display().to_string())?;
    let seconds = begun.elapsed().as_secs_f64();
    let text = if args.problem.json {
        let object = json!({
            "met": found.is_met,
            "objective": found.objective,
            "bound": found.bound,
            "relative_gap": found.relative_gap,
            "gap": gap,
            "rows": input.problem.rows(),
            "columns": input.problem.columns(),
            "seconds_load": input.seconds,
            "seconds_solve": seconds,
        });
        serde_json::to_string(&object)? + "\n"
    } else if args.problem.quiet {
        String::new()
    } else {
        let mut text = format!("{}\n", if found.is_met { "met" } else { "not met" });
        line(&mut text, "objective", &format!("{} (at least {})", found.objective, found.bound));
        line(&mut text, "relative gap", &rounding::allowed(found.relative_gap, gap));
        text
    };
    exit::print(&text)?;
    Ok(found.is_met.into())
}
