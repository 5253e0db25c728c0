//! `equipoise fused path`: fits from the largest lambda down.

use std::fmt::Write as _;

use anyhow::{Context, Result};
use equipoise::{Control, Status};
use equipoise_formats::Standing;
use equipoise_formats::fit_file::{measure_of_points, to_json, write_fit};
use equipoise_models::fused::{self, Fit, FitSettings, Point};

use super::data::{self, Data};
use super::drawing;
use super::report::{self, Overall, PathJson};
use crate::args::FusedPathArguments;
use crate::exit::{self, Outcome, note, while_at};
use crate::interrupt::Interrupt;
use crate::outputs::{self, Place, Sort};
use crate::plot;
use crate::report::{decimal, number};
use crate::rounding::{above, decimal_above};

/// How many lambdas, and down to which share of the first.
#[derive(Debug)]
pub(crate) struct Steps {
    pub(crate) count: usize,
    pub(crate) to: f64,
}

impl Default for Steps {
    fn default() -> Self {
        Self { count: 50, to: 1e-3 }
    }
}

pub(crate) fn run(args: &FusedPathArguments, interrupt: &Interrupt) -> Result<Outcome> {
    let typed = &args.fitting;
    let inputs =
        [Some(args.data.as_path()), typed.edges.as_deref(), typed.d.as_deref(), typed.design.as_deref()];
    outputs::check(&[args.out.as_deref(), args.plot.as_deref()], &inputs)?;
    let control = interrupt.within(typed.time_limit);
    let place = args.out.as_deref().map(|path| Place::look(path, Sort::Fit, &control)).transpose()?;
    let settings = data::settings(typed);
    let penalty = typed.named_penalty().unwrap_or_default();
    let data = while_at("reading the data", Data::read(&args.data, typed, penalty, &control))?;
    let mut done = 0;
    let steps = Steps { count: args.steps, to: args.to };
    let tell = |fit: &Fit| {
        done += 1;
        if !(typed.quiet || typed.json) && done % 10 == 0 {
            let segments = fit.segments.map_or_else(String::new, |count| format!(", {count} segments"));
            note(format_args!("{done} of {}: lambda {}{segments}", args.steps, decimal(fit.lambda, 4)));
        }
    };
    let (largest, points) =
        points(&data, &settings, &steps, &control, tell).with_context(|| args.data.display().to_string())?;
    let best = fused::choose(&points, args.choose);
    let overall = Overall::of(&points, args.steps, control.halted().as_ref());
    let is_converged = overall.status == Status::Converged;
    if !is_converged {
        note(report::not_converged(overall.status, overall.gap, settings.gap));
    }
    let standing =
        Standing { converged: is_converged, measure: measure_of_points(overall.missing, overall.gap) };
    let stays = place.is_some_and(|place| place.stays(standing, args.keep_partial));
    let object = PathJson::new(&points, &data, &overall, largest, args.choose.name(), best);
    let text = match (typed.json, typed.quiet) {
        (true, _) => to_json(&object)? + "\n",
        (false, true) => String::new(),
        (false, false) => words(&points, best, args.choose),
    };
    if let Some(path) = args.out.as_ref().filter(|_| !stays) {
        write_fit(path, &object)?;
    }
    if let Some(path) = &args.plot {
        plot::write_picture(path, &drawing::path_panels(&data, &points, best, args.choose))?;
    }
    exit::print(&text)?;
    Ok(is_converged.into())
}

/// The points of a path, and its first lambda.
pub(crate) fn points(
    data: &Data,
    settings: &FitSettings,
    steps: &Steps,
    control: &Control,
    tell: impl FnMut(&Fit),
) -> fused::Result<(f64, Vec<Point>)> {
    let largest = fused::lambda_max(data.signal(), settings, control)?;
    let lambdas = fused::lambdas(largest, steps.to, steps.count)?;
    Ok((largest, fused::path(data.signal(), settings, &lambdas, control, tell)?))
}

/// A table for people.
fn words(points: &[Point], best: Option<usize>, criterion: fused::Criterion) -> String {
    let mut text = format!(
        "{:>14} {:>9} {:>14} {:>12} {:>14}\n",
        "lambda",
        "segments",
        "objective",
        "gap",
        criterion.name()
    );
    for (k, point) in points.iter().enumerate() {
        let fit = &point.fit;
        let segments = fit.segments.map_or_else(|| "-".into(), |count| count.to_string());
        let value = point.value(criterion).map_or_else(|| "-".into(), |value| decimal(value, 4));
        let is_converged = fit.status == Status::Converged;
        let chosen = match (best == Some(k), is_converged) {
            (true, _) => "  <- chosen",
            (false, true) => "",
            (false, false) => " *",
        };
        let _ = writeln!(
            text,
            "{:>14} {segments:>9} {:>14} {:>12} {value:>14}{chosen}",
            decimal(fit.lambda, 6),
            decimal_above(fit.objective, 6),
            above(fit.relative_gap, 1)
        );
    }
    if points.iter().any(|point| point.fit.status != Status::Converged) {
        text += "*: a fit that did not converge; it is not chosen\n";
    }
    if let Some(k) = best {
        let _ = writeln!(text, "next: equipoise fused fit DATA --lambda {}", number(points[k].fit.lambda));
    }
    text
}
