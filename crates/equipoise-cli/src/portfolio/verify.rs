//! `equipoise portfolio verify`: weights beside the prices, trusting nobody.

use std::time::Instant;

use anyhow::{Context, Result};
use equipoise::Status;
use equipoise_formats::fit_file;
use equipoise_portfolio::{Constraints, Portfolio, verify};

use super::data::Input;
use super::report::{self, Claimed, Outcomes, PortfolioJson, Stored};
use crate::args::PortfolioVerifyArguments;
use crate::exit::{self, Outcome};
use crate::interrupt::Interrupt;

pub(crate) fn run(args: &PortfolioVerifyArguments, interrupt: &Interrupt) -> Result<Outcome> {
    let market = &args.market;
    let control = interrupt.within(market.time_limit);
    let stored: Stored = fit_file::read_fit(&args.result, &control)?;
    let input = Input::read(&args.data, market, &control)?;
    let place = || args.result.display().to_string();
    let is_frontier = stored.is_frontier();
    let claims = if is_frontier {
        stored.points(&input).with_context(place)?
    } else {
        vec![stored.first(&input).with_context(place)?]
    };
    let begun = Instant::now();
    let check = |claim: &Claimed| {
        let target_return = if is_frontier { claim.target_return } else { input.constraints.target_return };
        let constraints = Constraints { target_return, ..input.constraints.clone() };
        let multipliers = claim.multipliers.as_ref();
        let Input { returns, covariance, settings, .. } = &input;
        verify(returns, covariance, &constraints, settings, &claim.weights, multipliers, &control)
    };
    let points: Result<Vec<Portfolio>, _> = claims.iter().map(check).collect();
    let points = points.with_context(place)?;
    let met = points.iter().all(|point| point.status == Status::Converged) && !points.is_empty();
    let status = if met { Status::Converged } else { Status::Stalled };
    let missing = points.iter().filter(|point| point.status != Status::Converged).count();
    let seconds = begun.elapsed().as_secs_f64();
    let checked = Outcomes { status, points, is_frontier, missing, seconds };
    let text = if market.print.json {
        let mut object = serde_json::to_value(PortfolioJson::new(&checked, &input))?;
        object["met"] = met.into();
        serde_json::to_string(&object)? + "\n"
    } else if market.print.quiet {
        String::new()
    } else {
        let words = report::words(&checked, &input);
        let rest = words.split_once('\n').map_or("", |(_, rest)| rest);
        format!("{}\n{rest}", if met { "met" } else { "not met" })
    };
    exit::print(&text)?;
    Ok(met.into())
}
