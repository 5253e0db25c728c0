//! Many rows of few dense columns: correlated and skewed ones, standardised; or ranges brought to [0, 1].

use super::{Row, entries, quantile};
use crate::random::Stream;

/// Weight of the product of two columns in the planted score, which no linear model has.
const BEND: f64 = 0.5;
const NOISE: f64 = 0.7;
/// The share of rows in the positive class.
const STANDARDISED_SHARE: f64 = 0.4;
const UNIT_SHARE: f64 = 0.1;

/// Columns `M z` with normal z and M; every second one is replaced by its exponential. Then all have mean 0 and
/// deviation 1.
pub(super) fn standardised(seed: u64, rows: usize, columns: usize) -> Vec<Row> {
    let mut random = Stream::new(seed);
    let mixing: Vec<Vec<f64>> = (0..columns).map(|_| random.normals(columns)).collect();
    let mut values: Vec<Vec<f64>> = Vec::with_capacity(rows);
    for _ in 0..rows {
        let normal = random.normals(columns);
        let mixed = mixing.iter().enumerate().map(|(column, weights)| {
            let sum: f64 = weights.iter().zip(&normal).map(|(weight, value)| weight * value).sum();
            let scaled = sum / (columns as f64).sqrt();
            if column % 2 == 1 { scaled.exp() } else { scaled }
        });
        values.push(mixed.collect());
    }
    for column in 0..columns {
        let mean = values.iter().map(|row| row[column]).sum::<f64>() / rows as f64;
        let variance = values.iter().map(|row| (row[column] - mean).powi(2)).sum::<f64>() / rows as f64;
        let deviation = variance.sqrt();
        values.iter_mut().for_each(|row| row[column] = (row[column] - mean) / deviation);
    }
    labelled(&values, STANDARDISED_SHARE, &mut random)
}

/// Columns uniform in [0, 1], every third one raised to the power 4 (most values small), neither centred nor scaled.
pub(super) fn in_unit_range(seed: u64, rows: usize, columns: usize) -> Vec<Row> {
    let mut random = Stream::new(seed);
    let mut row = || {
        let value = |column: usize| {
            let uniform = random.unit();
            if column % 3 == 2 { uniform.powi(4) } else { uniform }
        };
        (0..columns).map(value).collect::<Vec<f64>>()
    };
    let values: Vec<Vec<f64>> = (0..rows).map(|_| row()).collect();
    labelled(&values, UNIT_SHARE, &mut random)
}

/// The rows with the largest planted scores are positive, after noise.
fn labelled(values: &[Vec<f64>], share: f64, random: &mut Stream) -> Vec<Row> {
    let planted = random.normals(values[0].len());
    let linear = |row: &Vec<f64>| row.iter().zip(&planted).map(|(value, weight)| value * weight).sum::<f64>();
    let plain: Vec<f64> = values.iter().map(linear).collect();
    let mean = plain.iter().sum::<f64>() / plain.len() as f64;
    let variance = plain.iter().map(|score| (score - mean).powi(2)).sum::<f64>() / plain.len() as f64;
    let deviation = variance.sqrt();
    let score = |(row, score): (&Vec<f64>, &f64)| {
        (score - mean) / deviation + BEND * row[0] * row[1] + NOISE * random.normal()
    };
    let scores: Vec<f64> = values.iter().zip(&plain).map(score).collect();
    let threshold = quantile(&scores, 1.0 - share);
    let label = |score: f64| if score >= threshold { 1.0 } else { -1.0 };
    values
        .iter()
        .zip(&scores)
        .map(|(row, &score)| Row { label: label(score), entries: entries(row) })
        .collect()
}
