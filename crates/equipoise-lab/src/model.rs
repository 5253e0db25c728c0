//! A linear classifier from a file: what a peer's driver writes, or what the command line writes.
//!
//! `.npy`: the weights of features 1, 2, ... and then the bias. `.json`: `weights` and `bias`, each a list with one
//! entry; `features`, where given, names the feature of each weight.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

/// Weight of each feature, by its number less one, and the bias.
#[derive(Debug, PartialEq)]
pub(crate) struct Model {
    pub(crate) weights: Vec<f64>,
    pub(crate) bias: f64,
}

#[derive(Deserialize)]
struct ModelFile {
    weights: Vec<Vec<f64>>,
    bias: Vec<f64>,
    features: Option<Vec<u32>>,
}

impl Model {
    /// Reads a model; the extension says which of the two forms it has.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
        let reader = BufReader::new(file);
        if path.extension().is_some_and(|extension| extension == "npy") {
            let mut weights: Vec<f64> = npyz::NpyFile::new(reader)?.into_vec()?;
            let bias = weights.pop().with_context(|| format!("{} is empty", path.display()))?;
            return Ok(Self { weights, bias });
        }
        Self::from_file(serde_json::from_reader(reader).with_context(|| path.display().to_string())?)
    }

    fn from_file(file: ModelFile) -> Result<Self> {
        ensure!(
            file.weights.len() == 1 && file.bias.len() == 1,
            "a model of two classes has one row of weights"
        );
        let weights = file.weights.into_iter().next().unwrap_or_default();
        let bias = file.bias[0];
        let Some(features) = file.features else { return Ok(Self { weights, bias }) };
        ensure!(features.len() == weights.len(), "as many features as weights");
        ensure!(!features.contains(&0), "feature numbers start at 1");
        let mut spread = vec![0.0; features.iter().copied().max().unwrap_or(0) as usize];
        for (&feature, weight) in features.iter().zip(weights) {
            spread[feature as usize - 1] = weight;
        }
        Ok(Self { weights: spread, bias })
    }

    /// `w.x + b`; a feature that the model does not know counts nothing.
    pub(crate) fn score(&self, row: impl Iterator<Item = (u32, f64)>) -> f64 {
        let weight = |feature: u32| self.weights.get(feature as usize - 1).copied().unwrap_or(0.0);
        self.bias + row.map(|(feature, value)| weight(feature) * value).sum::<f64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_place_the_weights() {
        let file = ModelFile { weights: vec![vec![2.0, 3.0]], bias: vec![0.5], features: Some(vec![1, 4]) };
        let model = Model::from_file(file).expect("well formed");
        assert_eq!(model.weights, [2.0, 0.0, 0.0, 3.0]);
        assert_eq!(model.score([(1, 1.0), (4, -1.0), (9, 5.0)].into_iter()), -0.5);
    }
}
