//! Which labels there are, and which decision functions they ask for.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::error::{Error, Result};
use super::train::Samples;
use super::{Kind, TrainSettings};
use equipoise::collective::Collective;

/// The labels of rows that count, ascending, each with the number of these rows.
pub(super) fn counted(samples: Samples<'_>) -> Vec<(f64, usize)> {
    let counts = |i: usize| samples.weights.is_none_or(|weights| weights[i] > 0.0);
    let mut labels: Vec<(f64, usize)> = Vec::new();
    for (_, label) in samples.labels.iter().enumerate().filter(|(i, _)| counts(*i)) {
        // 0 and -0 are one label.
        let label = *label + 0.0;
        match labels.binary_search_by(|(known, _)| known.total_cmp(&label)) {
            Ok(place) => labels[place].1 += 1,
            Err(place) => labels.insert(place, (label, 1)),
        }
    }
    labels
}

/// The labels in ascending order, and the positive label of every fit.
pub(super) fn classes(counts: &[(f64, usize)], settings: &TrainSettings) -> Result<(Vec<f64>, Vec<f64>)> {
    let labels: Vec<f64> = counts.iter().map(|(label, _)| *label).collect();
    match labels.len() {
        0 | 1 => {
            let rows = counts.iter().map(|(_, count)| count).sum();
            Err(Error::OneClassOnly { rows, label: labels.first().copied().unwrap_or(f64::NAN) })
        }
        2 => Ok((labels.clone(), vec![labels[1]])),
        found if settings.kind == Kind::NuSvc => Err(Error::TooManyClasses { kind: "nu-svc", found }),
        _ => Ok((labels.clone(), labels)),
    }
}

/// The labels of all ranks, ascending, each with the number of its rows that count.
pub(super) fn labels_of_all(world: &Arc<dyn Collective>, samples: Samples<'_>) -> Result<Vec<(f64, usize)>> {
    let mut own: BTreeMap<u64, (f64, f64)> = BTreeMap::new();
    for (i, label) in samples.labels.iter().enumerate() {
        // 0 and -0 are one label.
        let label = *label + 0.0;
        let counts = samples.weights.is_none_or(|weights| weights[i] > 0.0);
        own.entry(label.to_bits()).or_insert((label, 0.0)).1 += f64::from(u8::from(counts));
    }
    let words: Vec<f64> = own.into_values().flat_map(|(label, count)| [label, count]).collect();
    let mut all: Vec<(f64, usize)> = Vec::new();
    for words in world.lists(&words)? {
        for pair in words.chunks_exact(2) {
            match all.binary_search_by(|(label, _)| label.total_cmp(&pair[0])) {
                Ok(place) => all[place].1 += pair[1] as usize,
                Err(place) => all.insert(place, (pair[0], pair[1] as usize)),
            }
        }
    }
    Ok(all)
}
