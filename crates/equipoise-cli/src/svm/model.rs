//! The columns of a model file beside those of other data.

use std::path::Path;

use anyhow::{Result, bail};
use equipoise::Control;
use equipoise_formats::svm_model::{self, ModelFile};
use equipoise_models::svm::{Kind, LinearModel};

use super::data::Data;

/// A start for training: the model of a file, with the columns of the data; features it does not know weigh 0.
pub(crate) fn warm_start(path: &Path, kind: Kind, data: &Data, control: &Control) -> Result<LinearModel> {
    let ModelFile { mut model, features } = svm_model::read(path, control)?;
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
    // What was read is for rows as they are.
    if let Some(scaling) = &data.scaling {
        scaling.unfold(&mut model);
    }
    Ok(model)
}

/// The same for weights that must not be lost: those of features that the data lack, in no order.
pub(crate) fn beyond(weights: &[f64], from: &[u32], to: &[u32]) -> Vec<f64> {
    let lost = |(feature, weight): &(&u32, &f64)| **weight != 0.0 && to.binary_search(feature).is_err();
    from.iter().zip(weights).filter(lost).map(|(_, weight)| *weight).collect()
}

/// Weights of the features `from`, in the order of the features `to`; both ascend.
pub(crate) fn moved(weights: &[f64], from: &[u32], to: &[u32]) -> Vec<f64> {
    let mut known = from.iter().zip(weights).peekable();
    to.iter()
        .map(|feature| {
            while known.next_if(|(known, _)| *known < feature).is_some() {}
            known.next_if(|(known, _)| *known == feature).map_or(0.0, |(_, weight)| *weight)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_move_with_their_features() {
        let found = moved(&[1.0, 2.0, 3.0], &[2, 5, 9], &[1, 2, 7, 9, 11]);
        assert_eq!(found, [0.0, 1.0, 0.0, 3.0, 0.0]);
        assert_eq!(beyond(&[1.0, 2.0, 0.0], &[2, 5, 9], &[1, 2, 7]), [2.0]);
    }
}
