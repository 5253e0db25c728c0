//! `equipoise lasso predict`: a fit and a table, the target of every row, and how well they agree.
//!
//! ```text
//! prediction of a row = intercept + sum over columns (coefficient * value), value = log(cell) where the fit took logarithms
//! ```
//!
//! Given: what `fit --out` wrote, with its `model`. Returns: predictions and scores. Must not know: how a fit is made.

use std::io::Write as _;

use anyhow::{Context, Result, bail};
use equipoise_formats::fit_file::read_fit;
use equipoise_formats::table::{TableOptions, read_table};
use equipoise_formats::write_whole;
use equipoise_models::svm::{RegressionScores, log_loss};
use serde_json::{Value, json};

use super::data::logarithm;
use super::report::{Recipe, StoredFit};
use crate::args::LassoPredictArguments;
use crate::exit::{self, Outcome};
use crate::interrupt::Interrupt;
use crate::outputs;
use crate::report::number;

pub(crate) fn run(args: &LassoPredictArguments, interrupt: &Interrupt) -> Result<Outcome> {
    let (result, data) = (args.result.as_path(), args.data.as_path());
    outputs::check(&[args.out.as_deref()], &[Some(data), Some(result)])?;
    if result.as_os_str() == "-" && data.as_os_str() == "-" {
        bail!("RESULT and DATA are both `-`, and standard input can be read only once; name a file for one");
    }
    let control = &interrupt.control;
    let stored: StoredFit = read_fit(result, control)?;
    let Some(model) = &stored.model else {
        bail!(
            "{}: found no `model`, which says how columns become numbers; expected what `lasso fit --out` writes",
            result.display()
        );
    };
    if let Some(wrong) =
        stored.coefficients.values().chain(&stored.intercept).find(|value| !value.is_finite())
    {
        bail!("{}: found {wrong}; coefficients must be finite", result.display());
    }
    // What counts for nothing is not asked for.
    let needed: Vec<(&String, f64)> = stored
        .coefficients
        .iter()
        .map(|(name, value)| (name, *value))
        .filter(|(_, value)| *value != 0.0)
        .collect();
    let target = args.target.as_ref().unwrap_or(&model.target);
    let keep = needed.iter().map(|(name, _)| (*name).clone()).chain([target.clone()]).collect();
    let mut table = read_table(data, &TableOptions { keep: Some(keep), ..TableOptions::default() }, control)?;
    let has_target = args.target.is_some() || table.names.contains(target);
    let truth = has_target.then(|| table.take(target)).transpose()?.map(|target| target.values);
    let mut values = vec![stored.intercept.unwrap_or(0.0); table.rows];
    for (name, coefficient) in needed {
        let is_part = model.log && !model.covariates.contains(name);
        let column = table.column(table.find(name)?);
        for (row, (value, cell)) in values.iter_mut().zip(column).enumerate() {
            let own = if is_part { logarithm(*cell, model.pseudo_count) } else { Ok(*cell) };
            *value += coefficient
                * own.with_context(|| format!("{}: row {}, column {name}", data.display(), row + 1))?;
        }
    }
    if model.labels.is_some() {
        values.iter_mut().for_each(|logit| *logit = 0.5 + 0.5 * (*logit / 2.0).tanh());
    }
    if let Some(path) = &args.out {
        write_whole(path, |out| values.iter().try_for_each(|value| writeln!(out, "{value:?}")))?;
    }
    let score = truth.map(|truth| score(model, &values, &truth).with_context(|| data.display().to_string()));
    let (words, mut object) = match score.transpose()? {
        Some(found) => found,
        None => (format!("not scored: the table has no column `{target}`\n"), json!({})),
    };
    object["rows"] = values.len().into();
    let text = match (args.json, args.quiet) {
        (true, _) => object.to_string() + "\n",
        (false, true) => String::new(),
        (false, false) => format!("{} rows predicted\n{words}", values.len()),
    };
    exit::print(&text)?;
    Ok(Outcome::Met)
}

/// How predictions and targets agree, in words and as fields.
fn score(model: &Recipe, values: &[f64], truth: &[f64]) -> Result<(String, Value)> {
    let Some((low, high)) = model.labels else {
        let RegressionScores { mse, mae, r2, .. } = RegressionScores::of(values, truth);
        let share = if r2.is_nan() { "no R2: targets do not vary".into() } else { format!("R2 {r2:.6}") };
        let words =
            format!("mean squared error {}\nmean absolute error {}, {share}\n", number(mse), number(mae));
        return Ok((words, json!({ "mse": mse, "mae": mae, "r2": Some(r2).filter(|r2| !r2.is_nan()) })));
    };
    if let Some(row) = truth.iter().position(|label| *label != low && *label != high) {
        bail!(
            "{}, row {}: found {}, expected {low} or {high}, as in the fit",
            model.target,
            row + 1,
            truth[row]
        );
    }
    let of_truth: Vec<f64> =
        values.iter().zip(truth).map(|(p, label)| if *label == high { *p } else { 1.0 - p }).collect();
    let right = of_truth.iter().filter(|p| **p > 0.5).count();
    let (accuracy, loss) = (right as f64 / truth.len() as f64, log_loss(&of_truth));
    let words = format!("accuracy {accuracy:.4} ({right} of {}), log loss {loss:.4}\n", truth.len());
    Ok((words, json!({ "accuracy": accuracy, "log_loss": loss })))
}
