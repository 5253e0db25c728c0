//! Results in words, and as the objects of `--json` and `--out`.

use std::fmt::Write as _;

use equipoise::{Halt, Status};
use equipoise_models::fused::{Fit, FitSettings, Point};
use serde::{Deserialize, Serialize};

use super::data::Data;
use crate::report::{line, number};
use crate::rounding;

/// The object of `fit`.
#[derive(Debug, Serialize)]
pub(crate) struct FitJson<'a> {
    status: &'static str,
    objective: f64,
    bound: f64,
    relative_gap: f64,
    lambda: f64,
    /// Null where it takes a search and nobody asked for it.
    lambda_max: Option<f64>,
    sparse: f64,
    penalty: &'static str,
    method: &'static str,
    segments: Option<usize>,
    degrees_of_freedom: Option<usize>,
    /// Where a new segment begins, from 0; null where coefficients do not form a chain.
    breaks: Option<Vec<usize>>,
    rounds: usize,
    observations: usize,
    /// Rows and columns of an image; x is then a list of rows.
    shape: Option<(usize, usize)>,
    seconds_load: f64,
    seconds_solve: f64,
    seconds_certificate: f64,
    x: Coefficients<'a>,
}

/// A list of numbers; for an image, a list of its rows.
#[derive(Debug)]
struct Coefficients<'a> {
    x: &'a [f64],
    shape: Option<(usize, usize)>,
}

impl Serialize for Coefficients<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.shape {
            Some((_, columns)) => serializer.collect_seq(self.x.chunks(columns.max(1))),
            None => self.x.serialize(serializer),
        }
    }
}

/// What is read back of it.
#[derive(Debug, Deserialize)]
pub(crate) struct Stored {
    pub(crate) lambda: f64,
    #[serde(default)]
    pub(crate) sparse: f64,
    #[serde(default)]
    pub(crate) penalty: Option<String>,
    x: StoredCoefficients,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum StoredCoefficients {
    Line(Vec<f64>),
    Rows(Vec<Vec<f64>>),
}

impl Stored {
    /// The coefficients, an image row after row.
    pub(crate) fn coefficients(self) -> Vec<f64> {
        match self.x {
            StoredCoefficients::Line(x) => x,
            StoredCoefficients::Rows(rows) => rows.concat(),
        }
    }
}

impl<'a> FitJson<'a> {
    pub(crate) fn new(fit: &'a Fit, data: &Data, lambda_max: Option<f64>) -> Self {
        Self {
            status: fit.status.name(),
            objective: fit.objective,
            bound: fit.bound,
            relative_gap: fit.relative_gap,
            lambda: fit.lambda,
            lambda_max,
            sparse: fit.sparse,
            penalty: data.penalty.name(),
            method: fit.method.name(),
            segments: fit.segments,
            degrees_of_freedom: fit.degrees_of_freedom,
            breaks: fit.breaks.clone(),
            rounds: fit.rounds,
            observations: data.y.len(),
            shape: data.shape,
            seconds_load: data.seconds,
            seconds_solve: fit.seconds_solve,
            seconds_certificate: fit.seconds_certify,
            x: Coefficients { x: &fit.x, shape: data.shape },
        }
    }
}

/// The object of `path`.
#[derive(Debug, Serialize)]
pub(crate) struct PathJson<'a> {
    status: &'static str,
    /// The largest of all points.
    relative_gap: Option<f64>,
    /// Lambdas without a converged fit.
    missing: usize,
    lambda_max: f64,
    criterion: &'static str,
    /// The number of the chosen point, from 0, and its lambda.
    best: Option<usize>,
    best_lambda: Option<f64>,
    seconds_load: f64,
    seconds_solve: f64,
    points: Vec<PointJson<'a>>,
}

#[derive(Debug, Serialize)]
struct PointJson<'a> {
    #[serde(flatten)]
    fit: FitJson<'a>,
    residual: f64,
    bic: Option<f64>,
    aic: Option<f64>,
    cp: Option<f64>,
}

impl<'a> PathJson<'a> {
    pub(crate) fn new(
        points: &'a [Point],
        data: &Data,
        overall: &Overall,
        lambda_max: f64,
        criterion: &'static str,
        best: Option<usize>,
    ) -> Self {
        let point = |point: &'a Point| PointJson {
            fit: FitJson::new(&point.fit, data, Some(lambda_max)),
            residual: point.residual,
            bic: point.bic,
            aic: point.aic,
            cp: point.cp,
        };
        Self {
            status: overall.status.name(),
            relative_gap: overall.gap.is_finite().then_some(overall.gap),
            missing: overall.missing,
            lambda_max,
            criterion,
            best,
            best_lambda: best.map(|k| points[k].fit.lambda),
            seconds_load: data.seconds,
            seconds_solve: points
                .iter()
                .map(|point| point.fit.seconds_solve + point.fit.seconds_certify)
                .sum(),
            points: points.iter().map(point).collect(),
        }
    }
}

/// What a path came to.
#[derive(Debug)]
pub(crate) struct Overall {
    /// `Converged` when every point that was asked for is, else the first other status.
    pub(crate) status: Status,
    pub(crate) gap: f64,
    /// Points that are not there, or did not converge.
    pub(crate) missing: usize,
}

impl Overall {
    /// `halt` is what ended the run, where something did.
    pub(crate) fn of(points: &[Point], asked: usize, halt: Option<&Halt>) -> Self {
        let is_other = |status: &Status| *status != Status::Converged;
        let other = points.iter().map(|point| point.fit.status).find(is_other);
        let ended = if points.len() < asked { halt.and_then(Status::after) } else { None };
        let gap = points.iter().map(|point| point.fit.relative_gap).fold(0.0, f64::max);
        let others = points.iter().filter(|point| is_other(&point.fit.status)).count();
        let missing = asked.saturating_sub(points.len()) + others;
        Self { status: other.or(ended).unwrap_or(Status::Converged), gap, missing }
    }
}

/// A fit for people.
pub(crate) fn words(fit: &Fit, data: &Data, settings: &FitSettings, lambda_max: Option<f64>) -> String {
    let mut text = format!("{}\n", fit.status);
    let mut what = match (data.shape, &data.column) {
        (Some((rows, columns)), _) => format!("image of {rows} x {columns}"),
        (None, Some(name)) => format!("{} observations of {name}", data.y.len()),
        (None, None) => format!("{} observations", data.y.len()),
    };
    if data.skipped() > 0 {
        let _ = write!(what, ", {} left out", data.skipped());
    }
    line(&mut text, "data", &what);
    line(&mut text, "penalty", data.penalty.name());
    let of_max =
        lambda_max.map_or_else(String::new, |most| format!(" (a single piece from {} on)", number(most)));
    line(&mut text, "lambda", &format!("{}{of_max}", number(fit.lambda)));
    let bound = if fit.bound.is_finite() {
        format!("at least {}", number(fit.bound))
    } else {
        "no bound proven".into()
    };
    line(&mut text, "objective", &format!("{} ({bound})", number(fit.objective)));
    line(&mut text, "relative gap", &rounding::allowed(fit.relative_gap, settings.gap));
    if let Some(segments) = fit.segments {
        line(&mut text, "segments", &segments.to_string());
    }
    if let Some(count) = fit.degrees_of_freedom {
        line(&mut text, "degrees", &format!("{count} of freedom"));
    }
    line(&mut text, "method", &format!("{}, {} rounds", fit.method, fit.rounds));
    let seconds = format!(
        "{:.3} s to load, {:.3} s to solve, {:.3} s to certify",
        data.seconds, fit.seconds_solve, fit.seconds_certify
    );
    line(&mut text, "time", &seconds);
    text
}

/// Why a run that did not converge ended, and what to do about it, in one line.
pub(crate) fn not_converged(status: Status, gap: f64, allowed: f64) -> String {
    let advice = match status {
        Status::IterationLimit => "raise --max-rounds",
        Status::TimeLimit => "raise --time-limit",
        Status::Stalled => "raise --gap, or try --method interior",
        _ => "run again",
    };
    format!("not converged: {status}: {}; {advice}", rounding::relative_gap(gap, allowed))
}
