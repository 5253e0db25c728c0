//! Model files in the library's terms, and their columns beside those of other data.

use std::path::Path;

use anyhow::{Result, bail};
use equipoise_formats::svm_model::{self, Format, SvmModel};
use equipoise_models::svm::{Kind, LinearModel, TrainSettings};

use super::data::Data;

/// A model, and what its columns stand for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ModelFile {
    pub(crate) model: LinearModel,
    /// The feature of every column, ascending, from 1.
    pub(crate) features: Vec<u32>,
}

impl ModelFile {
    /// Reads a file of either format; what it does not say has its default.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let read = svm_model::read(path)?;
        let default = TrainSettings::default();
        let model = LinearModel {
            kind: read.kind.name().parse().unwrap_or(default.kind),
            loss: read.loss.name().parse().unwrap_or(default.loss),
            labels: read.labels,
            cost: read.cost.unwrap_or(default.cost),
            nu: read.nu.unwrap_or(default.nu),
            epsilon: read.epsilon.unwrap_or(default.epsilon),
            weights: read.weights,
            bias: read.bias,
        };
        Ok(Self { model, features: read.features })
    }

    pub(crate) fn write(self, path: &Path, format: Format) -> Result<()> {
        let model = self.model;
        let plain = SvmModel {
            kind: translated(&svm_model::Kind::ALL, model.kind.name(), svm_model::Kind::Svc),
            loss: translated(&svm_model::Loss::ALL, model.loss.name(), svm_model::Loss::Hinge),
            labels: model.labels,
            cost: Some(model.cost),
            nu: Some(model.nu),
            epsilon: Some(model.epsilon),
            weights: model.weights,
            bias: model.bias,
            features: self.features,
        };
        Ok(svm_model::write(path, &plain, format)?)
    }
}

/// A start for training: the model of a file, with the columns of the data; features it does not know weigh 0.
pub(crate) fn warm_start(path: &Path, kind: Kind, data: &Data) -> Result<LinearModel> {
    let ModelFile { mut model, features } = ModelFile::read(path)?;
    let name = path.display();
    if model.kind != kind {
        bail!("warm start {name}: found kind {}, expected {}", model.kind.name(), kind.name());
    }
    let labels = if matches!(kind, Kind::Svc | Kind::NuSvc) { data.distinct() } else { Vec::new() };
    if model.labels != labels {
        bail!("warm start {name}: its labels {:?} are not those of the data, {labels:?}", model.labels);
    }
    for weights in &mut model.weights {
        *weights = moved(weights, &features, &data.features);
    }
    Ok(model)
}

/// Weights of the features `from`, in the order of the features `to`; both ascend.
fn moved(weights: &[f64], from: &[u32], to: &[u32]) -> Vec<f64> {
    let mut known = from.iter().zip(weights).peekable();
    to.iter()
        .map(|feature| {
            while known.next_if(|(known, _)| *known < feature).is_some() {}
            known.next_if(|(known, _)| *known == feature).map_or(0.0, |(_, weight)| *weight)
        })
        .collect()
}

/// The format of a name that the command line has checked.
pub(crate) fn format(name: &str) -> Format {
    translated(&Format::ALL, name, Format::Equipoise)
}

fn translated<T: Copy>(all: &[(&'static str, T)], name: &str, default: T) -> T {
    all.iter().find(|(known, _)| *known == name).map_or(default, |(_, value)| *value)
}

#[cfg(test)]
mod tests {
    use equipoise::Named;

    use equipoise_models::svm::Loss;

    use super::*;

    #[test]
    fn files_and_library_use_the_same_words() {
        assert_eq!(
            Kind::ALL.iter().map(|(name, _)| *name).collect::<Vec<_>>(),
            svm_model::Kind::ALL.map(|(name, _)| name)
        );
        assert_eq!(
            Loss::ALL.iter().map(|(name, _)| *name).collect::<Vec<_>>(),
            svm_model::Loss::ALL.map(|(name, _)| name)
        );
    }

    #[test]
    fn weights_move_with_their_features() {
        let found = moved(&[1.0, 2.0, 3.0], &[2, 5, 9], &[1, 2, 7, 9, 11]);
        assert_eq!(found, [0.0, 1.0, 0.0, 3.0, 0.0]);
    }
}
