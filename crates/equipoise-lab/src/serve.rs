//! Our solver with one data set in memory, asked over standard input for one fit at a time (JSON lines).
//!
//! The seconds are those of the library call: from rows in memory to a model with its proof. With `penalised` the rows
//! get a column of ones and the model no bias, which is the problem of the peers that penalise it:
//! `(|w|^2 + b^2) / 2 + C sum loss`; the gap is proven for that problem all the same.
//!
//! Must not know: how others fare.

use std::fs::File;
use std::io::{BufRead, BufWriter, Write, stdin, stdout};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;
use equipoise::Control;
use equipoise::matrix::Rows;
use equipoise_formats::LabelledRows;
use equipoise_formats::libsvm::{ReadOptions, read_path};
use equipoise_models::svm::{Samples, TrainSettings, Trained, Watch, train};
use npyz::WriterBuilder;
use serde::{Deserialize, Serialize};

/// What to serve.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Training rows (LIBSVM text).
    data: PathBuf,
}

#[derive(Deserialize)]
struct Request {
    /// `svc` or `svr`.
    kind: String,
    cost: f64,
    gap: f64,
    threads: usize,
    seed: u64,
    /// Seconds after which the fit ends.
    limit: f64,
    /// Whether the bias is penalised.
    penalised: bool,
    /// Where the model goes: a row a decision function, its weights by feature number and then its bias (npy).
    model: Option<PathBuf>,
}

/// One fit.
#[derive(Debug, Serialize)]
struct Answer {
    seconds: f64,
    status: String,
    relative_gap: f64,
    epochs: f64,
    /// The objective of each decision function, as the model is.
    primals: Vec<f64>,
}

/// Answers requests until the input ends.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let read = read_path(&arguments.data, ReadOptions { threads: 1 }, &Control::unlimited())?;
    let LabelledRows { labels, starts, indices, values, features, .. } = read;
    let rows = Rows::new(features.len(), starts, indices, values)?;
    let mut served = Served { rows, labels, features, with_ones: None };
    println!("{}", serde_json::json!({"ready": true}));
    stdout().flush()?;
    for line in stdin().lock().lines() {
        let request: Request = serde_json::from_str(&line?).context("a request")?;
        let answer = match served.fit(&request) {
            Ok(answer) => serde_json::to_string(&answer)?,
            Err(error) => serde_json::json!({"error": format!("{error:#}")}).to_string(),
        };
        println!("{answer}");
        stdout().flush()?;
    }
    Ok(())
}

struct Served {
    rows: Rows<'static>,
    labels: Vec<f64>,
    /// The number of each column in the file.
    features: Vec<u32>,
    /// The rows with a column of ones, once they were asked for.
    with_ones: Option<Rows<'static>>,
}

impl Served {
    fn fit(&mut self, request: &Request) -> Result<Answer> {
        if request.penalised && self.with_ones.is_none() {
            self.with_ones = Some(with_ones(&self.rows)?);
        }
        let rows = self.with_ones.as_ref().filter(|_| request.penalised).unwrap_or(&self.rows);
        let settings = TrainSettings {
            kind: request.kind.parse()?,
            cost: request.cost,
            gap: request.gap,
            threads: request.threads,
            seed: request.seed,
            time_limit: Some(request.limit),
            bias: !request.penalised,
            ..TrainSettings::default()
        };
        let samples = Samples { rows, labels: &self.labels, weights: None };
        let trained = train(samples, &settings, None, Watch::default())?;
        if let Some(path) = &request.model {
            self.write(&trained, request.penalised, path)
                .with_context(|| format!("cannot write {}", path.display()))?;
        }
        let report = trained.report;
        Ok(Answer {
            seconds: report.seconds,
            status: report.status().to_string(),
            relative_gap: report.relative_gap(),
            epochs: report.classes.iter().map(|class| class.epochs).sum(),
            primals: report.classes.iter().map(|class| class.primal).collect(),
        })
    }

    fn write(&self, trained: &Trained, penalised: bool, path: &Path) -> std::io::Result<()> {
        let width = 1 + self.features.iter().copied().max().unwrap_or(0) as usize;
        let functions = trained.model.weights.len();
        let out = BufWriter::new(File::create(path)?);
        let shape = [functions as u64, width as u64];
        let mut out = npyz::WriteOptions::new().default_dtype().shape(&shape).writer(out).begin_nd()?;
        for (weights, &bias) in trained.model.weights.iter().zip(&trained.model.bias) {
            let mut row = vec![0.0; width];
            for (&feature, &weight) in self.features.iter().zip(weights) {
                row[feature as usize - 1] = weight;
            }
            let of_ones = weights.get(self.features.len()).copied().filter(|_| penalised);
            row[width - 1] = of_ones.unwrap_or(bias);
            out.extend(row)?;
        }
        out.finish()
    }
}

/// The same rows with a last column of ones.
fn with_ones(rows: &Rows<'_>) -> Result<Rows<'static>> {
    let last = u32::try_from(rows.columns()).context("too many columns")?;
    let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for i in 0..rows.len() {
        rows.for_each(i, |column, value| {
            indices.push(column as u32);
            values.push(value);
        });
        indices.push(last);
        values.push(1.0);
        starts.push(indices.len());
    }
    Ok(Rows::new(rows.columns() + 1, starts, indices, Some(values))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two features of which the second is number 4, four rows on a line.
    fn served() -> Served {
        let values = vec![-2.0, -1.0, 1.0, 3.0];
        let rows = Rows::new(1, vec![0, 1, 2, 3, 4], vec![0; 4], Some(values)).expect("valid");
        Served { rows, labels: vec![-1.0, -1.0, 1.0, 1.0], features: vec![4], with_ones: None }
    }

    fn request(penalised: bool, model: &Path) -> Request {
        let (kind, cost, gap) = ("svc".into(), 10.0, 1e-9);
        Request { kind, cost, gap, threads: 1, seed: 1, limit: 10.0, penalised, model: Some(model.into()) }
    }

    #[test]
    fn both_problems_are_solved_and_models_are_written_by_feature() {
        let folder = std::env::temp_dir().join(format!("equipoise-lab-serve-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let path = folder.join("model.npy");
        for penalised in [false, true] {
            let answer = served().fit(&request(penalised, &path)).expect("a fit");
            // The margin is decided by -1 and 1: w = 1, b = 0 is best, whether b is penalised or not.
            assert!((answer.primals[0] - 0.5).abs() < 1e-6, "{answer:?}");
            let bytes = std::fs::read(&path).expect("a model");
            let model: Vec<f64> = npyz::NpyFile::new(&bytes[..]).expect("npy").into_vec().expect("numbers");
            assert_eq!(model.len(), 5);
            assert!((model[3] - 1.0).abs() < 1e-4 && model[4].abs() < 1e-4, "{model:?}");
        }
        std::fs::remove_dir_all(&folder).expect("removed");
    }
}
