//! The primal value of linear classifiers, from the raw data: `|w|^2 / 2 + C sum max(0, 1 - y (w.x + b))`, without
//! and with `b^2 / 2`, and the share of rows that are classified correctly.
//!
//! The data are read once; then one request a line is answered with one line, so that a benchmark can ask for
//! hundreds of models. A request is `{"model": FILE, "cost": C}`.

use std::io::{BufRead, Write, stdin, stdout};
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;
use serde::{Deserialize, Serialize};

use crate::model::Model;
use crate::rows::Rows;

/// What to evaluate on.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Training rows (LIBSVM text).
    data: PathBuf,
    /// Test rows.
    #[arg(long)]
    test: Option<PathBuf>,
}

#[derive(Deserialize)]
struct Request {
    model: PathBuf,
    cost: f64,
}

/// The value of one model.
#[derive(Debug, Serialize)]
struct Value {
    /// Objective without a penalty on the bias.
    free: f64,
    /// Objective with half the square of the bias.
    penalised: f64,
    train_accuracy: f64,
    test_accuracy: Option<f64>,
}

/// Answers requests until the input ends.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let train = Rows::read(&arguments.data)?;
    let test = arguments.test.as_deref().map(Rows::read).transpose()?;
    for line in stdin().lock().lines() {
        let request: Request = serde_json::from_str(&line?).context("a request")?;
        let value = evaluate(&Model::read(&request.model)?, request.cost, &train, test.as_ref());
        println!("{}", serde_json::to_string(&value)?);
        stdout().flush()?;
    }
    Ok(())
}

fn evaluate(model: &Model, cost: f64, train: &Rows, test: Option<&Rows>) -> Value {
    let (hinge, train_accuracy) = losses(model, train);
    let norm: f64 = model.weights.iter().map(|weight| weight * weight).sum();
    let free = 0.5 * norm + cost * hinge;
    let penalised = free + 0.5 * model.bias * model.bias;
    Value { free, penalised, train_accuracy, test_accuracy: test.map(|rows| losses(model, rows).1) }
}

/// Sum of the hinge losses, and the share of rows with the right sign.
fn losses(model: &Model, rows: &Rows) -> (f64, f64) {
    let (mut hinge, mut right) = (0.0, 0_usize);
    for (label, row) in rows.iter() {
        let margin = label * model.score(row);
        hinge += (1.0 - margin).max(0.0);
        right += usize::from(margin > 0.0);
    }
    (hinge, right as f64 / rows.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::rows_of;

    #[test]
    fn the_objective_is_that_of_the_definition() {
        let rows = rows_of("1 1:1\n-1 1:-1 2:1\n-1 2:2\n").expect("rows");
        let model = Model { weights: vec![1.0, 0.5], bias: 0.25 };
        // Scores 1.25, -0.25, 1.25; margins 1.25, 0.25, -1.25; hinges 0, 0.75, 2.25.
        let value = evaluate(&model, 2.0, &rows, None);
        assert!((value.free - (0.625 + 6.0)).abs() < 1e-15);
        assert!((value.penalised - (value.free + 0.03125)).abs() < 1e-15);
        assert!((value.train_accuracy - 2.0 / 3.0).abs() < 1e-15);
    }
}
