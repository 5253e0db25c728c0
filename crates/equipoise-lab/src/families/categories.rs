//! Rows of categories, each as indicators of its levels: a one for the level that the row has, nothing for the others.
//!
//! Level k of a category has a probability proportional to `1 / (k + 1)` and a normal planted weight. The rows with the
//! largest scores, after noise, are positive.

use super::{Row, quantile};
use crate::random::Stream;

/// Noise of the score, in deviations of it.
const NOISE: f64 = 0.7;
/// The share of rows in the positive class.
const SHARE: f64 = 0.25;

pub(super) fn rows(seed: u64, rows: usize, categories: usize, levels: usize) -> Vec<Row> {
    let mut random = Stream::new(seed);
    let planted = random.normals(categories * levels);
    let total: f64 = (1..=levels).map(|level| 1.0 / level as f64).sum();
    let mut found: Vec<Vec<usize>> = Vec::with_capacity(rows);
    let mut scores = Vec::with_capacity(rows);
    for _ in 0..rows {
        let mut level = || {
            let mut left = total * random.unit();
            let within = |level: &usize| {
                left -= 1.0 / (level + 1) as f64;
                left < 0.0
            };
            (0..levels).find(within).unwrap_or(levels - 1)
        };
        let columns: Vec<usize> = (0..categories).map(|category| category * levels + level()).collect();
        // The score of independent categories has a variance of about the number of categories.
        let noise = NOISE * (categories as f64).sqrt() * random.normal();
        scores.push(columns.iter().map(|&column| planted[column]).sum::<f64>() + noise);
        found.push(columns);
    }
    let threshold = quantile(&scores, 1.0 - SHARE);
    let label = |score: f64| if score >= threshold { 1.0 } else { -1.0 };
    let row = |(columns, &score): (Vec<usize>, &f64)| Row {
        label: label(score),
        entries: columns.into_iter().map(|column| (column, 1.0)).collect(),
    };
    found.into_iter().zip(&scores).map(row).collect()
}
