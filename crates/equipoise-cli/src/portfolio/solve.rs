//! `equipoise portfolio PRICES`: read, check, solve, write, render.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use equipoise::{Control, Status};
use equipoise_formats::history::HistoryWriter;
use equipoise_formats::{Standing, fit_file};
use equipoise_portfolio::{Round, Watch, frontier, solve};

use super::data::{Input, files};
use super::report::{self, Outcomes, PortfolioJson, Stored};
use super::{picture, points};
use crate::args::PortfolioSolveArguments;
use crate::exit::{self, Outcome, note};
use crate::interrupt::Interrupt;
use crate::outputs::{self, Place, Sort};
use crate::rounding;

/// The first line of a history.
const HISTORY: &str = "round,point,assets,seconds,objective,bound";

pub(crate) fn run(data: &Path, args: &PortfolioSolveArguments, interrupt: &Interrupt) -> Result<Outcome> {
    let market = &args.market;
    let mut inputs = vec![Some(data), args.start.as_deref()];
    inputs.extend(files(market));
    let written = [&args.out, &args.plot, &args.history, &args.frontier_csv].map(|file| file.as_deref());
    outputs::check(&written, &inputs)?;
    if let Some(limit) = market.time_limit
        && (limit.is_nan() || limit <= 0.0)
    {
        bail!("--time-limit: found {limit}, expected a number of seconds above 0");
    }
    if let Some(points) = args.frontier.filter(|points| *points < 2) {
        bail!("--frontier: found {points}, expected 2 points or more");
    }
    let control = interrupt.within(market.time_limit);
    let place = args.out.as_deref().map(|path| Place::look(path, Sort::Fit, &control)).transpose()?;
    let input = exit::while_at("the data were read", Input::read(data, market, &control))?;
    if !market.print.quiet {
        input.warnings.iter().for_each(|warning| note(format_args!("warning: {warning}")));
    }
    let start = args.start.as_deref().map(|path| start(path, &input, &control)).transpose()?;
    let found =
        search(args, &input, start.as_deref(), &control).with_context(|| data.display().to_string())?;
    if found.status != Status::Converged {
        note(not_converged(found.status, found.worst_gap(), input.settings.gap));
    }
    let is_met = found.status == Status::Converged;
    let missing = if found.is_frontier { found.missing } else { 0 };
    let measure = fit_file::measure_of_points(missing, found.worst_gap());
    let standing = Standing { converged: is_met, measure };
    let stays = place.is_some_and(|place| place.stays(standing, args.keep_partial));
    let json = PortfolioJson::new(&found, &input);
    if let Some(path) = args.out.as_ref().filter(|_| !stays) {
        fit_file::write_fit(path, &json)?;
    }
    if let Some(path) = &args.frontier_csv {
        points::write(path, &found.points, input.returns.names())?;
    }
    if let Some(path) = &args.plot {
        picture::draw(path, &found, &input)?;
    }
    let text = match (market.print.json, market.print.quiet) {
        (true, _) => fit_file::to_json(&json)? + "\n",
        (false, true) => String::new(),
        (false, false) => report::words(&found, &input),
    };
    exit::print(&text)?;
    Ok(is_met.into())
}

fn search(
    args: &PortfolioSolveArguments,
    input: &Input,
    start: Option<&[f64]>,
    control: &Control,
) -> Result<Outcomes> {
    let begun = Instant::now();
    let mut history =
        args.history.as_deref().map(|path| HistoryWriter::create_under(HISTORY, path)).transpose()?;
    let mut failure = None;
    let mut tell = |round: &Round| {
        if let Some(history) = &mut history {
            let counts = [round.round, round.point, round.assets].map(|count| count as f64);
            history.write_cells(&[&counts[..], &[round.seconds, round.objective, round.bound]].concat());
            failure = history.flush().err().or(failure.take());
        }
    };
    let watch = Watch { observer: Some(&mut tell), control: control.clone() };
    let Input { returns, covariance, constraints, settings, .. } = input;
    let (status, points) = if let Some(count) = args.frontier {
        let found = frontier(returns, covariance, constraints, settings, count, start, watch)?;
        (found.status, found.points)
    } else {
        let found = solve(returns, covariance, constraints, settings, start, watch)?;
        (found.status, vec![found])
    };
    let seconds = begun.elapsed().as_secs_f64();
    if let Some(failure) = failure {
        return Err(failure.into());
    }
    let converged = points.iter().filter(|point| point.status == Status::Converged).count();
    // Where all portfolios earn the same, a frontier is one point, and nothing is missing.
    let asked = if status == Status::Converged { points.len() } else { args.frontier.unwrap_or(1) };
    let missing = asked.saturating_sub(converged);
    Ok(Outcomes { status, points, is_frontier: args.frontier.is_some(), missing, seconds })
}

/// The weights of an earlier result, by the names of the assets; new assets begin at 0.
fn start(path: &Path, input: &Input, control: &Control) -> Result<Vec<f64>> {
    let stored: Stored = fit_file::read_fit(path, control)?;
    Ok(stored.first(input).with_context(|| path.display().to_string())?.weights)
}

fn not_converged(status: Status, gap: f64, allowed: f64) -> String {
    let advice = match status {
        Status::TimeLimit => "raise --time-limit, or continue with --start",
        Status::Interrupted => "continue with --start",
        _ => "no step makes progress any more; the gap may be beyond double precision",
    };
    format!("not converged: {status}: {}; {advice}", rounding::relative_gap(gap, allowed))
}
