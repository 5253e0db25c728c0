//! `equipoise allocate`: read, check, allocate, write, render.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use equipoise::{Control, Status};
use equipoise_allocation::{Allocation, Step, Watch, allocate, allocate_many, sensitivity};
use equipoise_formats::history::HistoryWriter;
use equipoise_formats::{Standing, fit_file};

use super::data::{self, Input, named};
use super::picture;
use super::report::{self, AllocationJson, Check, Stored};
use crate::args::AllocateRunArguments;
use crate::exit::{self, Outcome, note};
use crate::interrupt::Interrupt;
use crate::outputs::{self, Place, Sort};
use crate::rounding;

/// What a run found: one allocation, or one a demand.
pub(super) struct Found {
    pub(super) list: Vec<Allocation>,
    /// The demands, where many were asked for.
    pub(super) demands: Option<Vec<f64>>,
    /// Whether `dx/db` was asked for, and what it is, one list a row; none where x does not move smoothly.
    pub(super) is_sensitivity_asked: bool,
    pub(super) rates: Option<Vec<Vec<f64>>>,
    pub(super) keep_x: bool,
    pub(super) seconds: f64,
    pub(super) seconds_certificate: f64,
    /// Of a check: what the prices of the file are worth, one a point.
    pub(super) checks: Option<Vec<Check>>,
}

impl Found {
    /// Of many demands, those without a converged point.
    pub(super) fn missing(&self) -> usize {
        let asked = self.demands.as_ref().map_or(self.list.len(), Vec::len);
        asked - self.list.iter().filter(|one| one.status == Status::Converged).count()
    }
}

pub(crate) fn run(args: &AllocateRunArguments, interrupt: &Interrupt) -> Result<Outcome> {
    let Some(path) = args.data.as_deref() else { bail!("DATA is missing: name a table or a case") };
    let asked = &args.asked;
    let demands_file = args.demands.as_deref().map(Path::new).filter(|path| path.exists());
    let inputs = [Some(path), args.warm_start.as_deref(), asked.names.as_deref(), demands_file];
    outputs::check(&[args.out.as_deref(), args.plot.as_deref(), args.history.as_deref()], &inputs)?;
    if let Some(limit) = asked.time_limit
        && (limit.is_nan() || limit <= 0.0)
    {
        bail!("--time-limit: found {limit}, expected a number of seconds above 0");
    }
    let control = interrupt.within(asked.time_limit);
    let place = args.out.as_deref().map(|path| Place::look(path, Sort::Fit, &control)).transpose()?;
    let demands = args.demands.as_deref().map(|typed| data::demands(typed, &control)).transpose()?;
    let first = demands.as_ref().map(|demands| demands[0]);
    if first.is_some() && asked.demand.is_some() {
        bail!("--demand and --demands: give one of them");
    }
    let input = exit::while_at("the data were read", Input::read(path, asked, first, &control))?;
    let start = args.warm_start.as_deref().map(|path| start(path, &input, &control)).transpose()?;
    let found = find(args, &input, demands, start.as_deref(), &control)
        .with_context(|| path.display().to_string())?;
    let (status, gap) = (report::status(&found.list), report::worst(&found.list, |one| one.relative_gap));
    if status != Status::Converged {
        note(not_converged(status, gap, input.settings.gap));
    }
    let missing = if found.demands.is_some() { found.missing() } else { 0 };
    let measure = fit_file::measure_of_points(missing, gap);
    let standing = Standing { converged: status == Status::Converged, measure };
    let stays = place.is_some_and(|place| place.stays(standing, args.keep_partial));
    let json = AllocationJson::new(&found, &input);
    if let Some(path) = args.out.as_ref().filter(|_| !stays) {
        fit_file::write_fit(path, &json)?;
    }
    if let Some(path) = &args.plot {
        picture::draw(path, &found, &input)?;
    }
    let text = match (asked.json, asked.quiet) {
        (true, _) => fit_file::to_json(&json)? + "\n",
        (false, true) => String::new(),
        (false, false) => report::words(&found, &input),
    };
    exit::print(&text)?;
    Ok((status == Status::Converged).into())
}

fn find(
    args: &AllocateRunArguments,
    input: &Input,
    demands: Option<Vec<f64>>,
    start: Option<&[f64]>,
    control: &Control,
) -> Result<Found> {
    let begun = Instant::now();
    let (problem, settings) = (&input.problem, &input.settings);
    let of_model = |error| named(error, input.names.as_deref(), input.is_case);
    let keep_x = !args.no_x;
    if let Some(demands) = demands {
        let needs_x = keep_x;
        let list =
            allocate_many(problem, 0, &demands, settings, start, needs_x, control).map_err(of_model)?;
        let seconds_certificate = list.iter().map(|one| one.seconds_certificate).sum();
        let seconds = begun.elapsed().as_secs_f64() - seconds_certificate;
        let (demands, is_sensitivity_asked) = (Some(demands), false);
        return Ok(Found {
            list,
            demands,
            is_sensitivity_asked,
            rates: None,
            keep_x,
            seconds,
            seconds_certificate,
            checks: None,
        });
    }
    let header = || {
        let prices = (1..=problem.rows().len()).map(|k| format!("price_{k}"));
        let first = ["pass", "seconds", "infeasibility"].map(String::from);
        first.into_iter().chain(prices).collect::<Vec<String>>().join(",")
    };
    let mut history =
        args.history.as_deref().map(|path| HistoryWriter::create_under(&header(), path)).transpose()?;
    let mut failure = None;
    let mut tell = |step: &Step<'_>| {
        if let Some(history) = &mut history {
            let head = [step.pass as f64, step.seconds, step.infeasibility];
            history.write_cells(&[&head, step.prices].concat());
            failure = history.flush().err().or(failure.take());
        }
    };
    let observer: Option<&mut dyn FnMut(&Step<'_>)> =
        if args.history.is_some() { Some(&mut tell) } else { None };
    let watch = Watch { observer, control: control.clone() };
    let one = allocate(problem, settings, start, watch).map_err(of_model)?;
    if let Some(failure) = failure {
        return Err(failure.into());
    }
    let is_sensitivity_asked = args.sensitivity;
    let rates = if is_sensitivity_asked { sensitivity(problem, &one) } else { None };
    let (seconds, seconds_certificate) = (one.seconds, one.seconds_certificate);
    let (list, demands) = (vec![one], None);
    Ok(Found {
        list,
        demands,
        is_sensitivity_asked,
        rates,
        keep_x,
        seconds,
        seconds_certificate,
        checks: None,
    })
}

/// The prices of an earlier result.
fn start(path: &Path, input: &Input, control: &Control) -> Result<Vec<f64>> {
    let stored: Stored = fit_file::read_fit(path, control)?;
    let prices = stored.prices.or_else(|| stored.points.and_then(|points| points.into_iter().next()?.prices));
    let Some(prices) = prices else {
        bail!("{}: no `prices` to begin with", path.display());
    };
    let (found, expected) = (prices.len(), input.problem.rows().len());
    if found != expected {
        bail!("{}: found {found} prices, expected {expected}, one a row", path.display());
    }
    Ok(prices)
}

fn not_converged(status: Status, gap: f64, allowed: f64) -> String {
    let advice = match status {
        Status::TimeLimit => "raise --time-limit, or continue with --warm-start",
        Status::Interrupted => "continue with --warm-start",
        _ => "no step makes progress any more; the gap may be beyond double precision",
    };
    format!("not converged: {status}: {}; {advice}", rounding::relative_gap(gap, allowed))
}
