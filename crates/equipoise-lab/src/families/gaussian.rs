//! Dense rows of independent standard normal values, under a planted rule.
//!
//! ```text
//! score    w*.x with normal w*, scaled so that its standard deviation is 1
//! class    the sign of score + 0.25 + 0.5 e
//! target   3 score + 0.5 e, ten times the noise in one row of twenty
//! ```

use super::{Row, entries};
use crate::random::Stream;

const OFFSET: f64 = 0.25;
const NOISE: f64 = 0.5;
const SIZE_OF_TARGETS: f64 = 3.0;
const OUTLIERS: f64 = 0.05;
const NOISE_OF_OUTLIERS: f64 = 10.0 * NOISE;

/// Two classes.
pub(super) fn classes(seed: u64, rows: usize, columns: usize) -> Vec<Row> {
    generate(
        seed,
        rows,
        columns,
        |score, random| {
            if score + OFFSET + NOISE * random.normal() > 0.0 { 1.0 } else { -1.0 }
        },
    )
}

/// Targets of a regression.
pub(super) fn targets(seed: u64, rows: usize, columns: usize) -> Vec<Row> {
    generate(seed, rows, columns, |score, random| {
        let noise = if random.unit() < OUTLIERS { NOISE_OF_OUTLIERS } else { NOISE };
        let target = SIZE_OF_TARGETS * score + noise * random.normal();
        // As many digits as the values have.
        (target * 1e6).round() / 1e6
    })
}

fn generate(seed: u64, rows: usize, columns: usize, label: impl Fn(f64, &mut Stream) -> f64) -> Vec<Row> {
    let mut random = Stream::new(seed);
    let mut planted = random.normals(columns);
    let norm = planted.iter().map(|value| value * value).sum::<f64>().sqrt();
    planted.iter_mut().for_each(|value| *value /= norm);
    let mut row = || {
        let values = random.normals(columns);
        let score = values.iter().zip(&planted).map(|(value, weight)| value * weight).sum();
        Row { label: label(score, &mut random), entries: entries(&values) }
    };
    (0..rows).map(|_| row()).collect()
}
