//! Results in words, and as the objects that are printed and written.

use std::collections::BTreeMap;
use std::fmt::Write;

use equipoise::Status;
use equipoise_models::lasso::{CvPoint, Point};
use serde::{Serialize, Serializer};

use super::data::Regression;
use crate::report::{decimal, line, number};
use crate::rounding::{self, above, decimal_above};

/// How many coefficients are listed.
const LISTED: usize = 20;

/// Coefficients by name, in the order of the columns.
#[derive(Debug)]
pub(crate) struct Named<'a> {
    names: &'a [String],
    values: &'a [f64],
}

impl<'a> Named<'a> {
    pub(crate) fn new(names: &'a [String], values: &'a [f64]) -> Self {
        Self { names, values }
    }
}

impl Serialize for Named<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.names.iter().zip(self.values))
    }
}

/// The object of one fit.
#[derive(Debug, Serialize)]
pub(crate) struct PointJson<'a> {
    pub(crate) status: &'static str,
    objective: Option<f64>,
    bound: Option<f64>,
    relative_gap: Option<f64>,
    lambda: f64,
    lambda_max: f64,
    intercept: Option<f64>,
    coefficients: Named<'a>,
    nonzeros: usize,
    relative_infeasibility: f64,
    multipliers: &'a [f64],
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    standard_error: Option<f64>,
    seconds_load: f64,
    seconds_solve: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<&'a Recipe>,
}

/// How a table became numbers: what is done again for other rows.
#[derive(Debug, Clone, Serialize, serde::Deserialize)]
pub(crate) struct Recipe {
    pub(crate) target: String,
    pub(crate) loss: String,
    /// Whether logarithms are taken of all columns but the covariates.
    pub(crate) log: bool,
    /// What stands for 0 in them.
    pub(crate) pseudo_count: Option<f64>,
    pub(crate) covariates: Vec<String>,
    /// Which targets became -1 and +1, for the logistic loss.
    pub(crate) labels: Option<(f64, f64)>,
}

/// What is not finite is not known.
fn known(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

impl<'a> PointJson<'a> {
    pub(crate) fn new(point: &'a Point, regression: &'a Regression, lambda_max: f64, seconds: f64) -> Self {
        Self {
            status: point.status.name(),
            objective: known(point.objective),
            bound: known(point.bound),
            relative_gap: known(point.relative_gap),
            lambda: point.lambda,
            lambda_max,
            intercept: point.intercept,
            coefficients: Named::new(&regression.names, &point.coefficients),
            nonzeros: point.nonzeros,
            relative_infeasibility: point.relative_infeasibility,
            multipliers: &point.multipliers,
            error: None,
            standard_error: None,
            seconds_load: regression.seconds_load,
            seconds_solve: seconds,
            model: None,
        }
    }

    /// The same with what `predict` needs beside the coefficients.
    pub(crate) fn with_model(self, model: &'a Recipe) -> Self {
        Self { model: Some(model), ..self }
    }

    pub(crate) fn with_error(self, error: f64, standard_error: f64) -> Self {
        Self { error: Some(error), standard_error: Some(standard_error), ..self }
    }
}

/// What is read back of a result.
#[derive(Debug, serde::Deserialize)]
pub(crate) struct StoredFit {
    pub(crate) lambda: f64,
    #[serde(default)]
    pub(crate) intercept: Option<f64>,
    pub(crate) coefficients: BTreeMap<String, f64>,
    #[serde(default)]
    pub(crate) model: Option<Recipe>,
}

impl StoredFit {
    /// The coefficients in the order of the columns; an error names one that is missing or unknown.
    pub(crate) fn ordered(&self, names: &[String]) -> anyhow::Result<Vec<f64>> {
        if let Some(unknown) = self.coefficients.keys().find(|name| !names.contains(name)) {
            anyhow::bail!("the result has a coefficient of {unknown}, which is no column of the data");
        }
        let of = |name: &String| {
            self.coefficients
                .get(name)
                .copied()
                .ok_or_else(|| anyhow::anyhow!("the result has no coefficient of column {name}"))
        };
        names.iter().map(of).collect()
    }
}

/// One fit for people.
pub(crate) fn words(point: &Point, regression: &Regression, lambda_max: f64, seconds: f64) -> String {
    let mut text = format!("{}\n", point.status);
    line(&mut text, "objective", &number(point.objective));
    line(&mut text, "optimum", &format!("at least {}", number(point.bound)));
    let allowed = regression.settings.gap;
    line(&mut text, "relative gap", &rounding::allowed(point.relative_gap, allowed));
    if regression.settings.constraints.is_some() {
        let miss = above(point.relative_infeasibility, 3);
        line(&mut text, "infeasibility", &format!("{miss} of a constraint's own terms"));
    }
    let ratio = point.lambda / lambda_max;
    line(
        &mut text,
        "lambda",
        &format!("{} ({ratio:.4} of lambda_max {})", number(point.lambda), number(lambda_max)),
    );
    line(&mut text, "work", &format!("{} walks, {seconds:.3} s", point.walks));
    if let Some((low, high)) = regression.labels {
        line(&mut text, "labels", &format!("{} = {high} against {low}", regression.target));
    }
    if let Some(intercept) = point.intercept {
        line(&mut text, "intercept", &number(intercept));
    }
    text + &coefficients(point, &regression.names)
}

/// The coefficients that are not 0, the largest first.
fn coefficients(point: &Point, names: &[String]) -> String {
    let mut text = String::new();
    let mut list: Vec<(&String, f64)> =
        names.iter().zip(point.coefficients.iter().copied()).filter(|one| one.1 != 0.0).collect();
    line(&mut text, "coefficients", &format!("{} of {} are not 0", list.len(), names.len()));
    list.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
    let width = list.iter().take(LISTED).map(|one| one.0.chars().count()).max().unwrap_or(0);
    for (name, value) in list.iter().take(LISTED) {
        let _ = writeln!(text, "  {name:<width$}  {:>14}", decimal(*value, 8));
    }
    if list.len() > LISTED {
        let _ = writeln!(text, "  ... {} more; --out FILE writes all", list.len() - LISTED);
    }
    text
}

/// Fits along lambda for people; a fit that did not converge is marked.
pub(crate) fn table(points: &[Point], errors: Option<&[CvPoint]>) -> String {
    let mut text = format!("{:>14}  {:>9}  {:>18}  {:>10}", "lambda", "nonzeros", "objective", "gap");
    if errors.is_some() {
        text += "           error  standard error";
    }
    text.push('\n');
    let mut marked = false;
    for (k, point) in points.iter().enumerate() {
        let Point { lambda, nonzeros, objective, relative_gap, .. } = point;
        let (lambda, objective) = (decimal(*lambda, 6), decimal_above(*objective, 8));
        let gap = above(*relative_gap, 2);
        let _ = write!(text, "{lambda:>14}  {nonzeros:>9}  {objective:>18}  {gap:>10}");
        let mut is_converged = point.status == Status::Converged;
        if let Some(one) = errors.map(|errors| &errors[k]) {
            let _ = write!(text, "  {:>14}  {:>14}", decimal(one.error, 6), decimal(one.standard_error, 6));
            is_converged = one.is_converged;
        }
        text += if is_converged { "\n" } else { " *\n" };
        marked |= !is_converged;
    }
    if marked {
        let not_chosen = if errors.is_some() { "; its lambda is not chosen" } else { "" };
        let _ = writeln!(text, "*: a fit that did not converge{not_chosen}");
    }
    text
}

/// A row for each lambda.
pub(crate) fn history(points: &[Point]) -> String {
    let mut text = String::from("lambda,objective,bound,relative_gap,nonzeros,walks,products\n");
    for point in points {
        let Point { lambda, objective, bound, relative_gap, nonzeros, walks, products, .. } = point;
        let [lambda, objective, bound, gap] =
            [lambda, objective, bound, relative_gap].map(|cell| number(*cell));
        let _ = writeln!(text, "{lambda},{objective},{bound},{gap},{nonzeros},{walks},{products}");
    }
    text
}
