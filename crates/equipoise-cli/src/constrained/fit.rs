//! `equipoise constrained fit`: read, check, fit, write, render.

use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use equipoise::{Control, Status};
use equipoise_formats::history::HistoryWriter;
use equipoise_formats::{Standing, fit_file};
use equipoise_models::constrained::{Fit, Round, Watch, fit, fit_many_watched};

use super::data::Input;
use super::picture;
use super::report::{self, FitJson, Stored};
use crate::args::FitArguments;
use crate::exit::{self, Outcome, note};
use crate::interrupt::Interrupt;
use crate::outputs::{self, Place, Sort};
use crate::rounding;

/// The first line of a history.
const HISTORY: &str = "round,columns,seconds,objective,bound,relative_gap";
/// The same where there are many targets: rounds of one are in order, those of several may be mixed.
const HISTORY_OF_MANY: &str = "target,round,columns,seconds,objective,bound,relative_gap";

pub(crate) fn run(args: &FitArguments, interrupt: &Interrupt) -> Result<Outcome> {
    let problem = &args.problem;
    let file = |name: &Option<String>| {
        name.as_ref().map(Path::new).filter(|path| path.exists()).map(Path::to_path_buf)
    };
    let (target, weights) = (file(&problem.target), file(&problem.weights));
    let (lower, upper) = (file(&problem.lower), file(&problem.upper));
    let inputs = [
        Some(args.data.as_path()),
        args.warm_start.as_deref(),
        problem.targets.as_deref(),
        problem.equality.as_deref(),
        problem.table.names.as_deref(),
        target.as_deref(),
        weights.as_deref(),
        lower.as_deref(),
        upper.as_deref(),
    ];
    outputs::check(&[args.out.as_deref(), args.plot.as_deref(), args.history.as_deref()], &inputs)?;
    if let Some(limit) = problem.time_limit
        && (limit.is_nan() || limit <= 0.0)
    {
        bail!("--time-limit: found {limit}, expected a number of seconds above 0");
    }
    let control = interrupt.within(problem.time_limit);
    let place = args.out.as_deref().map(|path| Place::look(path, Sort::Fit, &control)).transpose()?;
    let input = exit::while_at("the data were read", Input::read(&args.data, problem, &control))?;
    let starts = args.warm_start.as_deref().map(|path| starts(path, &input, &control)).transpose()?;
    let begun = Instant::now();
    let fits = fits(args, &input, starts.as_deref(), &control)?;
    let seconds = begun.elapsed().as_secs_f64();
    let (status, gap) = (report::status(&fits), report::worst(&fits, |fit| fit.relative_gap));
    if status != Status::Converged {
        note(not_converged(status, gap, input.settings.gap, report::overflows(&fits)));
    }
    let standing = Standing {
        converged: status == Status::Converged,
        measure: if gap.is_nan() { f64::INFINITY } else { gap },
    };
    let stays = place.is_some_and(|place| place.stays(standing, args.keep_partial));
    let json = FitJson::new(&fits, &input, seconds);
    if let Some(path) = args.out.as_ref().filter(|_| !stays) {
        fit_file::write_fit(path, &json)?;
    }
    if let Some(path) = &args.plot {
        picture::draw(path, &fits, &input)?;
    }
    let text = match (problem.json, problem.quiet) {
        (true, _) => fit_file::to_json(&json)? + "\n",
        (false, true) => String::new(),
        (false, false) => report::words(&fits, &input, seconds),
    };
    exit::print(&text)?;
    Ok((status == Status::Converged).into())
}

fn fits(
    args: &FitArguments,
    input: &Input,
    starts: Option<&[Vec<f64>]>,
    control: &Control,
) -> Result<Vec<Fit>> {
    let header = if input.is_many { HISTORY_OF_MANY } else { HISTORY };
    let history =
        args.history.as_deref().map(|path| HistoryWriter::create_under(header, path)).transpose()?;
    let history = Mutex::new((history, None));
    let place = || args.data.display().to_string();
    let tell = |target: usize, round: &Round| {
        let mut held = history.lock().unwrap_or_else(PoisonError::into_inner);
        let (Some(history), failure) = &mut *held else { return };
        let Round { round, columns, seconds, objective, bound, relative_gap, .. } = *round;
        let cells = [round as f64, columns as f64, seconds, objective, bound, relative_gap];
        if input.is_many {
            history.write_named_cells(&input.target_names[target], &cells);
        } else {
            history.write_cells(&cells);
        }
        *failure = failure.take().or(history.flush().err());
    };
    let (data, targets, settings) = (input.data(), &input.targets, &input.settings);
    let fits = if input.is_many {
        fit_many_watched(&data, targets, &input.region, settings, starts, &tell, control)
            .with_context(place)?
    } else {
        let mut tell = |round: &Round| tell(0, round);
        let watch = Watch { observer: Some(&mut tell), control: control.clone() };
        let start = starts.map(|starts| starts[0].as_slice());
        vec![fit(&data, targets.column(0), &input.region, settings, start, watch).with_context(place)?]
    };
    match history.into_inner().unwrap_or_else(PoisonError::into_inner).1 {
        Some(failure) => Err(failure.into()),
        None => Ok(fits),
    }
}

/// The weights of an earlier result, by the names of their columns where it has some; new columns begin at 0.
fn starts(path: &Path, input: &Input, control: &Control) -> Result<Vec<Vec<f64>>> {
    let stored: Stored = fit_file::read_fit(path, control)?;
    let names = stored.names;
    let mut lists = stored.x.into_lists();
    for list in &mut lists {
        if let Some(names) = names.as_ref().filter(|names| names.len() == list.len()) {
            let of =
                |name: &String| names.iter().position(|own| own == name).map_or(0.0, |place| list[place]);
            *list = input.names.iter().map(of).collect();
        }
        if list.len() != input.names.len() {
            let (found, expected) = (list.len(), input.names.len());
            bail!("{}: found {found} weights, expected {expected}, one a column", path.display());
        }
    }
    if lists.len() != input.target_names.len() {
        let (found, expected) = (lists.len(), input.target_names.len());
        bail!("{}: found weights for {found} targets, expected {expected}", path.display());
    }
    Ok(lists)
}

fn not_converged(status: Status, gap: f64, allowed: f64, overflows: bool) -> String {
    let advice = match status {
        _ if overflows => {
            "squares of these numbers are beyond the largest of double precision, 1.8e308: divide the data by a power of ten"
        }
        Status::TimeLimit => "raise --time-limit, or continue with --warm-start",
        Status::Interrupted => "continue with --warm-start",
        _ => "no step makes progress any more; the gap may be beyond double precision",
    };
    let gap = report::gap_words(gap);
    format!("not converged: {status}: relative gap {gap}, allowed {}; {advice}", rounding::above(allowed, 3))
}
