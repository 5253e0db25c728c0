//! `equipoise lasso cv`: lambda chosen by held-out rows.

use std::io::Write as _;
use std::time::Instant;

use anyhow::Result;
use equipoise::Status;
use equipoise_formats::fit_file::{to_json, write_fit};
use equipoise_formats::{Standing, write_whole};
use equipoise_models::lasso::{Cv, Loss, Point, cross_validate};
use serde::Serialize;

use super::data::Regression;
use super::fit::check_outputs;
use super::path::{lambdas, overall};
use super::picture;
use super::report::{self, PointJson};
use crate::args::LassoCvArguments;
use crate::exit::{self, Outcome, note};
use crate::interrupt::Interrupt;
use crate::outputs::{Place, Sort};
use crate::report::{decimal, line, number};
use crate::rounding::above;

/// The object of `cv --json`.
#[derive(Debug, Serialize)]
struct CvJson<'a> {
    status: &'static str,
    relative_gap: Option<f64>,
    lambda_max: f64,
    folds: usize,
    /// Null where no lambda converged in every fold.
    best: Option<PointJson<'a>>,
    one_se: Option<PointJson<'a>>,
    points: Vec<PointJson<'a>>,
    seconds_load: f64,
    seconds_solve: f64,
    /// Fewer than `folds` where the run was ended: errors are then means over these, and nothing is chosen.
    folds_done: usize,
}

/// What the held-out error is called.
fn error_name(loss: Loss) -> &'static str {
    match loss {
        Loss::Squares => "mean squared error",
        Loss::Logistic => "mean deviance",
        _ => "mean loss",
    }
}

pub(crate) fn run(args: &LassoCvArguments, interrupt: &Interrupt) -> Result<Outcome> {
    check_outputs(&args.output, &args.data, &args.regression, None)?;
    let regression = Regression::read(&args.data, &args.regression, interrupt)?;
    let control = &regression.control;
    let place = args.output.out.as_deref().map(|path| Place::look(path, Sort::Fit, control)).transpose()?;
    let started = Instant::now();
    let explain = |error| regression.explain(error).context(args.data.display().to_string());
    let (settings, chosen) = (&regression.settings, lambdas(&args.lambdas)?);
    let cv = cross_validate(regression.data(), settings, &chosen, args.folds, args.seed, control, |_| ())
        .map_err(explain)?;
    let seconds = started.elapsed().as_secs_f64();
    let (status, (_, gap)) = (cv.status, overall(cv.points.iter().map(|one| &one.point)));
    if cv.folds < args.folds {
        note(format_args!(
            "{status}: {} of {} folds were fitted, and no lambda is chosen",
            cv.folds, args.folds
        ));
    } else if status != Status::Converged {
        note(format_args!("not converged: {status}: largest relative gap {}", above(gap, 3)));
    }
    let of = |k: usize| {
        let one = &cv.points[k];
        PointJson::new(&one.point, &regression, cv.lambda_max, seconds)
            .with_error(one.error, one.standard_error)
    };
    let json = CvJson {
        status: status.name(),
        relative_gap: gap.is_finite().then_some(gap),
        lambda_max: cv.lambda_max,
        folds: args.folds,
        best: cv.best.map(of),
        one_se: cv.one_se.map(of),
        points: (0..cv.points.len()).map(of).collect(),
        seconds_load: regression.seconds_load,
        seconds_solve: seconds,
        folds_done: cv.folds,
    };
    let standing = Standing { converged: status == Status::Converged, measure: gap };
    let stays = place.is_some_and(|place| place.stays(standing, args.output.keep_partial));
    if let Some(file) = args.output.out.as_ref().filter(|_| !stays) {
        write_fit(file, &json)?;
    }
    if let Some(file) = &args.output.plot {
        picture::draw_cv(file, &cv, &regression.names, error_name(settings.loss))?;
    }
    if let Some(file) = &args.output.history {
        let points: Vec<Point> = cv.points.iter().map(|one| one.point.clone()).collect();
        let text = report::history(&points);
        write_whole(file, |out| out.write_all(text.as_bytes()))?;
    }
    let text = if args.regression.json {
        to_json(&json)? + "\n"
    } else if args.regression.quiet {
        String::new()
    } else {
        words(&cv, &regression, status, seconds)
    };
    exit::print(&text)?;
    Ok((status == Status::Converged).into())
}

fn words(cv: &Cv, regression: &Regression, status: Status, seconds: f64) -> String {
    let points: Vec<Point> = cv.points.iter().map(|one| one.point.clone()).collect();
    let mut text = format!("{status}\n{}", report::table(&points, Some(&cv.points)));
    for (name, k) in [("best", cv.best), ("one_se", cv.one_se)] {
        let Some(k) = k else {
            let why = match cv.status {
                Status::Interrupted | Status::TimeLimit => "not every fold was fitted",
                _ => "no lambda converged in every fold",
            };
            line(&mut text, name, &format!("none: {why}"));
            continue;
        };
        let one = &cv.points[k];
        let found = format!(
            "lambda {} ({:.4} of lambda_max), {} nonzeros, {} {}",
            number(one.point.lambda),
            one.point.lambda / cv.lambda_max,
            one.point.nonzeros,
            error_name(regression.settings.loss),
            decimal(one.error, 6)
        );
        line(&mut text, name, &found);
    }
    line(&mut text, "work", &format!("{seconds:.3} s"));
    text
}
