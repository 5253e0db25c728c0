//! Linear support vector machines, judged from outside: objectives and certificates are computed here from raw
//! rows, or by the conic oracle, or were found by other programs.
//!
//! * `judge`: primal, best bias and the oracle's optimum of a model, written from the definitions alone.
//! * `public_data`: optima of public data sets, by LIBSVM and Clarabel; ignored unless these are at hand.
//! * `exact`: every bound that is reported holds in rational arithmetic.
//! * `certificates`: every kind of model is what its report says.
//! * `weights`: a weight of k is k rows.
//! * `degenerate`: data with something missing, doubled or out of scale.
//! * `properties`: random data, random settings.
//! * `folds`: cross-validation.
//! * `numbers`: the data of these tests.
//! * `passes`: how many a fit takes.
//! * `ranks`: rows that are spread over ranks.
//! * `resume`: a training that is put aside and gone on with is one that was not.
//! * `threads`: several threads on one fit.
//! * `units`: features that nobody scaled.
//! * `warm_starts`: what an earlier model saves.

mod bias;
mod certificates;
mod degenerate;
mod exact;
mod folds;
mod judge;
mod numbers;
mod passes;
mod properties;
mod public_data;
mod ranks;
mod regressions;
mod resume;
mod threads;
mod units;
mod warm_starts;
mod weights;

use crate::numbers::Numbers;
use equipoise::matrix::Rows;
use equipoise_models::svm::{Error, Samples, TrainSettings, Trained, Watch, train};

/// Rows, labels and weights, both plain and as the library takes them.
#[derive(Debug, Clone)]
struct Data {
    plain: Vec<Vec<(u32, f64)>>,
    labels: Vec<f64>,
    weights: Option<Vec<f64>>,
    rows: Rows<'static>,
}

impl Data {
    fn new(columns: usize, plain: Vec<Vec<(u32, f64)>>, labels: Vec<f64>) -> Self {
        let mut starts = vec![0];
        plain.iter().for_each(|row| starts.push(starts[starts.len() - 1] + row.len()));
        let (indices, values) = plain.iter().flatten().copied().unzip();
        let rows = Rows::new(columns, starts, indices, Some(values)).expect("valid rows");
        Self { plain, labels, weights: None, rows }
    }

    /// From dense rows; zeros are not stored.
    fn dense(rows: &[&[f64]], labels: &[f64]) -> Self {
        let stored = |row: &&[f64]| {
            let entries = row.iter().enumerate().filter(|(_, value)| **value != 0.0);
            entries.map(|(k, value)| (k as u32, *value)).collect()
        };
        Self::new(rows[0].len(), rows.iter().map(stored).collect(), labels.to_vec())
    }

    fn weighted(self, weights: Vec<f64>) -> Self {
        Self { weights: Some(weights), ..self }
    }

    fn samples(&self) -> Samples<'_> {
        Samples { rows: &self.rows, labels: &self.labels, weights: self.weights.as_deref() }
    }

    fn train(&self, settings: &TrainSettings) -> Result<Trained, Error> {
        train(self.samples(), settings, None, Watch::default())
    }

    /// The rows numbered so, without weights.
    fn chosen(&self, chosen: &[usize]) -> Self {
        let plain = chosen.iter().map(|&i| self.plain[i].clone()).collect();
        Self::new(self.rows.columns(), plain, chosen.iter().map(|&i| self.labels[i]).collect())
    }

    /// The same rows with every value multiplied.
    fn scaled(&self, factor: f64) -> Self {
        let row = |row: &Vec<(u32, f64)>| row.iter().map(|(k, value)| (*k, factor * value)).collect();
        Self::new(self.rows.columns(), self.plain.iter().map(row).collect(), self.labels.clone())
    }

    /// The same rows with every stored value moved by as much as its label says.
    fn moved(&self, by: impl Fn(f64) -> f64) -> Self {
        let row = |(row, label): (&Vec<(u32, f64)>, &f64)| {
            row.iter().map(|(k, value)| (*k, value + by(*label))).collect()
        };
        let plain = self.plain.iter().zip(&self.labels).map(row).collect();
        Self::new(self.rows.columns(), plain, self.labels.clone())
    }

    /// The same rows with other labels.
    fn relabelled(&self, labels: impl Fn(f64) -> f64) -> Self {
        Self { labels: self.labels.iter().map(|label| labels(*label)).collect(), ..self.clone() }
    }
}

/// Rows with about `share` of the entries stored; labels +-1 of a random plane, one in eight wrong.
fn classes(numbers: &mut Numbers, n: usize, columns: usize, share: f64) -> Data {
    let (plain, scores) = rows_and_scores(numbers, n, columns, share);
    let mut labels: Vec<f64> =
        scores.iter().map(|z| if numbers.below(8) == 0 { -z.signum() } else { z.signum() }).collect();
    (labels[0], labels[1]) = (1.0, -1.0);
    Data::new(columns, plain, labels)
}

/// Classes of equal size, apart by twice `by` in every feature, so that every nu is possible.
fn shifted(numbers: &mut Numbers, n: usize, columns: usize, share: f64, by: f64) -> Data {
    let mut data = classes(numbers, n, columns, share);
    (0..n).for_each(|i| data.labels[i] = if i % 2 == 0 { 1.0 } else { -1.0 });
    data.moved(|label| by * label)
}

/// The same with targets: a random plane and noise.
fn targets(numbers: &mut Numbers, n: usize, columns: usize, share: f64) -> Data {
    let (plain, scores) = rows_and_scores(numbers, n, columns, share);
    let labels = scores.iter().map(|z| z + 0.5 * numbers.next()).collect();
    Data::new(columns, plain, labels)
}

fn rows_and_scores(
    numbers: &mut Numbers,
    n: usize,
    columns: usize,
    share: f64,
) -> (Vec<Vec<(u32, f64)>>, Vec<f64>) {
    let plane = numbers.vector(columns, 1.0);
    let mut row = || {
        let stored: Vec<u32> = (0..columns as u32).filter(|_| numbers.next() < 2.0 * share - 1.0).collect();
        stored.into_iter().map(|k| (k, 2.0 * numbers.next())).collect::<Vec<_>>()
    };
    let plain: Vec<Vec<(u32, f64)>> = (0..n).map(|_| row()).collect();
    let score = |row: &Vec<(u32, f64)>| row.iter().map(|(k, v)| plane[*k as usize] * v).sum::<f64>() + 0.1;
    let scores = plain.iter().map(score).collect();
    (plain, scores)
}
