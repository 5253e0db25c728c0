//! `equipoise lasso stability`: how often each column is chosen in halves of the rows.

use std::fmt::Write as _;
use std::time::Instant;

use anyhow::{Result, bail};
use equipoise::Status;
use equipoise_formats::Standing;
use equipoise_formats::fit_file::{to_json, write_fit};
use equipoise_models::lasso::{Fitter, stability};
use serde::Serialize;

use super::data::Regression;
use super::fit::{check_outputs, lambda};
use super::picture;
use super::report::Named;
use crate::args::StabilityArguments;
use crate::exit::{self, Outcome, note};
use crate::interrupt::Interrupt;
use crate::outputs::{Place, Sort};
use crate::report::line;

/// The object of `stability --json`.
#[derive(Debug, Serialize)]
struct StabilityJson<'a> {
    status: &'static str,
    lambda: f64,
    lambda_max: f64,
    samples: usize,
    threshold: f64,
    selected: Vec<&'a str>,
    frequencies: Named<'a>,
    seconds_load: f64,
    seconds_solve: f64,
}

pub(crate) fn run(args: &StabilityArguments, interrupt: &Interrupt) -> Result<Outcome> {
    if !(args.threshold > 0.0 && args.threshold <= 1.0) {
        bail!("--threshold is {}; it must be above 0 and at most 1", args.threshold);
    }
    if args.output.history.is_some() {
        bail!("--history is of fits along lambda; stability has one lambda");
    }
    check_outputs(&args.output, &args.data, &args.regression, None)?;
    let regression = Regression::read(&args.data, &args.regression, interrupt)?;
    let control = &regression.control;
    let place = args.output.out.as_deref().map(|path| Place::look(path, Sort::Fit, control)).transpose()?;
    let started = Instant::now();
    let explain = |error| regression.explain(error).context(args.data.display().to_string());
    let settings = &regression.settings;
    let lambda_max = Fitter::new(regression.data(), settings, control).map_err(explain)?.lambda_max();
    let lambda = lambda(&args.weight, lambda_max)?;
    let found = stability(regression.data(), settings, lambda, args.pairs, args.seed, control, |_| ())
        .map_err(explain)?;
    let seconds = started.elapsed().as_secs_f64();
    let status = if found.converged { Status::Converged } else { Status::Stalled };
    if !found.converged {
        note("not converged: at least one half was not fitted to the wanted gap");
    }
    let names = &regression.names;
    let mut order: Vec<usize> =
        (0..names.len()).filter(|&j| found.frequencies[j] >= args.threshold).collect();
    order.sort_by(|&a, &b| found.frequencies[b].total_cmp(&found.frequencies[a]));
    let json = StabilityJson {
        status: status.name(),
        lambda,
        lambda_max,
        samples: found.samples,
        threshold: args.threshold,
        selected: order.iter().map(|&j| names[j].as_str()).collect(),
        frequencies: Named::new(names, &found.frequencies),
        seconds_load: regression.seconds_load,
        seconds_solve: seconds,
    };
    let standing = Standing { converged: found.converged, measure: f64::INFINITY };
    let stays = place.is_some_and(|place| place.stays(standing, args.output.keep_partial));
    if let Some(file) = args.output.out.as_ref().filter(|_| !stays) {
        write_fit(file, &json)?;
    }
    if let Some(file) = &args.output.plot {
        let title = format!("Chosen in {} halves", found.samples);
        picture::draw_bars(file, &title, "share of halves", names, &found.frequencies)?;
    }
    let text = if args.regression.json {
        to_json(&json)? + "\n"
    } else if args.regression.quiet {
        String::new()
    } else {
        let mut text = format!("{status}\n");
        line(
            &mut text,
            "lambda",
            &format!("{lambda} ({:.4} of lambda_max {lambda_max})", lambda / lambda_max),
        );
        line(&mut text, "halves", &format!("{}, {seconds:.3} s", found.samples));
        line(
            &mut text,
            "selected",
            &format!("{} of {} columns, in at least {} of halves", order.len(), names.len(), args.threshold),
        );
        for &j in &order {
            let _ = writeln!(text, "  {:<24}  {:.3}", names[j], found.frequencies[j]);
        }
        text
    };
    exit::print(&text)?;
    Ok(found.converged.into())
}
