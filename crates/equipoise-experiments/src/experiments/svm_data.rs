//! Rows with labels of -1 and +1: a7a and w8a where they are given, look-alikes otherwise.
//!
//! A look-alike has as many features and non-zeros as its model: one feature of each of so many groups is 1, the first of
//! a group the most often; a planted rule with noise decides the label, the same share of rows positive.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use equipoise::Control;
use equipoise::matrix::Rows;
use equipoise_formats::LabelledRows;
use equipoise_formats::libsvm::{ReadOptions, read_path};
use equipoise_models::svm::Samples;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// What is learnt from.
#[derive(Debug)]
pub(super) struct Data {
    pub(super) rows: Rows<'static>,
    /// -1 and +1; the larger label of a file is +1.
    pub(super) labels: Vec<f64>,
}

/// The content of a set as a few letters (Fowler, Noll and Vo's sum): records of other rows are not taken for those of these.
pub(super) fn content(folder: &Path, name: &str) -> Result<String> {
    let path = find(folder, name)?;
    let bytes = std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let sum = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |sum, &byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    Ok(format!("{sum:016x}"))
}

/// What a look-alike looks like.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    pub(super) rows: usize,
    pub(super) features: usize,
    /// Non-zeros a row.
    pub(super) groups: usize,
    /// The share of rows with label +1.
    pub(super) positive: f64,
}

impl Data {
    /// Reads a set by its name.
    pub(super) fn read(folder: &Path, name: &str) -> Result<Self> {
        let path = find(folder, name)?;
        let LabelledRows { mut labels, starts, indices, values, features, .. } =
            read_path(&path, ReadOptions::default(), &Control::unlimited())?;
        let rows = Rows::new(features.len(), starts, indices, values)?;
        let largest = labels.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let smallest = labels.iter().copied().fold(f64::INFINITY, f64::min);
        let two = labels.iter().all(|&label| label == largest || label == smallest);
        ensure!(two, "{}: more than two labels", path.display());
        labels.iter_mut().for_each(|label| *label = if *label == largest { 1.0 } else { -1.0 });
        Ok(Self { rows, labels })
    }

    /// Makes a look-alike; always the same one.
    pub(super) fn generated(shape: Shape) -> Result<Self> {
        let Shape { rows, features, groups, positive } = shape;
        let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
        let rule: Vec<f64> = (0..features).map(|_| random.random_range(-1.0..1.0)).collect();
        let edge = |group: usize| group * features / groups;
        let (mut indices, mut starts, mut scores) = (Vec::with_capacity(rows * groups), vec![0], Vec::new());
        for _ in 0..rows {
            let mut score = random.random_range(-1.5..1.5);
            for group in 0..groups {
                let (from, to) = (edge(group), edge(group + 1));
                let u: f64 = random.random_range(0.0..1.0);
                // The square makes the first features of a group the common ones.
                let feature = from + ((u * u) * (to - from) as f64) as usize;
                score += rule[feature];
                indices.push(feature as u32);
            }
            starts.push(indices.len());
            scores.push(score);
        }
        let mut sorted = scores.clone();
        sorted.sort_by(f64::total_cmp);
        let threshold = sorted[((1.0 - positive) * rows as f64) as usize];
        let labels = scores.iter().map(|&score| if score >= threshold { 1.0 } else { -1.0 }).collect();
        Ok(Self { rows: Rows::new(features, starts, indices, None)?, labels })
    }

    /// The rows of one of several ranks.
    pub(super) fn share(&self, rank: usize, ranks: usize) -> Result<Self> {
        let edge = |rank: usize| rank * self.rows.len() / ranks;
        let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        for i in edge(rank)..edge(rank + 1) {
            self.rows.for_each(i, |column, value| {
                indices.push(column as u32);
                values.push(value);
            });
            starts.push(indices.len());
        }
        let rows = Rows::new(self.rows.columns(), starts, indices, Some(values))?;
        Ok(Self { rows, labels: self.labels[edge(rank)..edge(rank + 1)].to_vec() })
    }

    pub(super) fn samples(&self) -> Samples<'_> {
        Samples { rows: &self.rows, labels: &self.labels, weights: None }
    }

    /// `1/2 w'w + C sum_i (1 - y_i (w'x_i + b))_+`, from raw data.
    pub(super) fn primal(&self, w: &[f64], bias: f64, cost: f64) -> f64 {
        let one = |(i, y): (usize, &f64)| (1.0 - y * (self.rows.dot(i, w) + bias)).max(0.0);
        let errors: f64 = self.labels.iter().enumerate().map(one).sum();
        0.5 * w.iter().map(|w| w * w).sum::<f64>() + cost * errors
    }
}

/// The file of a set, in the folder or in its folder `classification`.
pub(super) fn find(folder: &Path, name: &str) -> Result<std::path::PathBuf> {
    let places = [folder.join(name), folder.join("classification").join(name)];
    let found = places.into_iter().find(|path| path.is_file());
    found.with_context(|| {
        format!("no {name} in {} (--data); without --data a generated look-alike stands in", folder.display())
    })
}
