//! `equipoise svm predict`: a model, rows, and how well the one knows the other.

use std::io::Write as _;

use anyhow::Result;
use equipoise_formats::svm_model::{self, ModelFile};
use equipoise_formats::write_whole;
use equipoise_models::svm::{Kind, TrainSettings};
use serde::Serialize;

use super::data::{Data, Reading, counted};
use crate::args::PredictArguments;
use crate::exit::{self, Outcome};
use crate::interrupt::Interrupt;
use crate::outputs;

/// The object of `predict --json`: `accuracy`, or `mse` for a regression.
#[derive(Debug, Serialize)]
struct PredictJson {
    #[serde(skip_serializing_if = "Option::is_none")]
    accuracy: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    correct: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mse: Option<f64>,
    rows: usize,
}

pub(crate) fn run(args: &PredictArguments, interrupt: &Interrupt) -> Result<Outcome> {
    let threads = args.threads.unwrap_or_else(|| TrainSettings::default().threads);
    TrainSettings { threads, ..TrainSettings::default() }.validate()?;
    outputs::check(&[args.out.as_deref()], &[Some(args.data.as_path()), Some(args.model.as_path())])?;
    let ModelFile { model, features } = svm_model::read(&args.model, &interrupt.control)?;
    let data = Data::read_for(
        &args.data,
        &features,
        Reading { threads, quiet: args.quiet, control: &interrupt.control },
    )?;
    let predictions = model.predict_within(&data.rows, &interrupt.control).map_err(equipoise::Error::from)?;
    let score = Score::of(model.kind, &predictions, &data.labels);
    if let Some(path) = &args.out {
        write_whole(path, |out| predictions.iter().try_for_each(|value| writeln!(out, "{value}")))?;
    }
    let text = match (args.json, args.quiet) {
        (true, _) => serde_json::to_string(&score.json())? + "\n",
        (false, true) => String::new(),
        (false, false) => score.words(),
    };
    exit::print(&text)?;
    Ok(Outcome::Met)
}

/// How well rows are predicted.
#[derive(Debug, PartialEq)]
enum Score {
    /// Rows predicted right, of so many.
    Correct(usize, usize),
    /// The mean squared error over so many.
    Error(f64, usize),
}

impl Score {
    fn of(kind: Kind, predictions: &[f64], labels: &[f64]) -> Self {
        let (pairs, rows) = (predictions.iter().zip(labels), labels.len());
        match kind {
            Kind::Svr => {
                let sum: f64 = pairs.map(|(found, label)| (found - label).powi(2)).sum();
                Self::Error(sum / rows.max(1) as f64, rows)
            }
            _ => Self::Correct(pairs.filter(|(found, label)| found == label).count(), rows),
        }
    }

    fn json(&self) -> PredictJson {
        match *self {
            Self::Correct(correct, rows) => {
                let accuracy = Some(correct as f64 / rows.max(1) as f64);
                PredictJson { accuracy, correct: Some(correct), mse: None, rows }
            }
            Self::Error(mse, rows) => PredictJson { accuracy: None, correct: None, mse: Some(mse), rows },
        }
    }

    fn words(&self) -> String {
        match *self {
            Self::Correct(correct, rows) => {
                let percent = 100.0 * correct as f64 / rows.max(1) as f64;
                format!("accuracy {percent:.2} % ({correct} of {})\n", counted(rows, "row"))
            }
            Self::Error(mse, rows) => format!("mean squared error {mse} ({})\n", counted(rows, "row")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores() {
        assert_eq!(Score::of(Kind::Svc, &[1.0, 2.0], &[1.0, 7.0]), Score::Correct(1, 2));
        assert_eq!(Score::of(Kind::Svr, &[1.0, 2.0], &[1.0, 4.0]), Score::Error(2.0, 2));
        assert_eq!(Score::Correct(1, 1).words(), "accuracy 100.00 % (1 of 1 row)\n");
    }
}
