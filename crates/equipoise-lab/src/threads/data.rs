//! Rows with labels of -1 and +1: read from LIBSVM text, or generated in memory.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use equipoise::Control;
use equipoise::matrix::Rows;
use equipoise_formats::LabelledRows;
use equipoise_formats::libsvm::{ReadOptions, read_path};
use equipoise_models::svm::{LinearModel, Samples};

use crate::generate::Source;

/// Non-zeros in every generated row.
const NON_ZEROS: usize = 20;
const SEED: u64 = 1;

/// What is learnt from.
#[derive(Debug)]
pub(super) struct Data {
    pub(super) rows: Rows<'static>,
    /// -1 and +1; the larger label of a file is +1.
    pub(super) labels: Vec<f64>,
}

impl Data {
    /// Reads a set by its name.
    pub(super) fn read(folder: &Path, name: &str) -> Result<Self> {
        let path = [folder.join(name), folder.join("classification").join(name)];
        let path = path.iter().find(|path| path.is_file());
        let path = path.with_context(|| format!("no {name} in {}", folder.display()))?;
        let LabelledRows { mut labels, starts, indices, values, features, .. } =
            read_path(path, ReadOptions::default(), &Control::unlimited())?;
        let rows = Rows::new(features.len(), starts, indices, values)?;
        let largest = labels.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let smallest = labels.iter().copied().fold(f64::INFINITY, f64::min);
        let two = labels.iter().all(|&label| label == largest || label == smallest);
        ensure!(two, "{}: more than two labels", path.display());
        labels.iter_mut().for_each(|label| *label = if *label == largest { 1.0 } else { -1.0 });
        Ok(Self { rows, labels })
    }

    /// The set of `generate-svm`, with all digits of its values.
    pub(super) fn generated(rows: usize, columns: usize) -> Result<Self> {
        let mut source = Source::new(columns, NON_ZEROS, SEED);
        let (mut labels, mut starts) = (Vec::with_capacity(rows), vec![0]);
        let mut indices = Vec::with_capacity(rows * NON_ZEROS);
        let mut values = Vec::with_capacity(rows * NON_ZEROS);
        for _ in 0..rows {
            labels.push(if source.next_row() { 1.0 } else { -1.0 });
            indices.extend(source.row.iter().map(|&(column, _)| column as u32));
            values.extend(source.row.iter().map(|&(_, value)| value));
            starts.push(indices.len());
        }
        Ok(Self { rows: Rows::new(columns, starts, indices, Some(values))?, labels })
    }

    pub(super) fn samples(&self) -> Samples<'_> {
        Samples { rows: &self.rows, labels: &self.labels, weights: None }
    }

    /// `1/2 w'w + C sum_i (1 - y_i (w'x_i + b))_+` of a model, from raw data.
    pub(super) fn primal(&self, model: &LinearModel) -> f64 {
        let (w, bias) = (&model.weights[0], model.bias[0]);
        let one = |(i, y): (usize, &f64)| (1.0 - y * (self.rows.dot(i, w) + bias)).max(0.0);
        let errors: f64 = self.labels.iter().enumerate().map(one).sum();
        0.5 * w.iter().map(|w| w * w).sum::<f64>() + model.cost * errors
    }
}
