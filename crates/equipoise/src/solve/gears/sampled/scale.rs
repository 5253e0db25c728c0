//! How much single samples bend f: what the steps of sampled methods are made from.
//!
//! - Given: samples with a loss of largest curvature kappa, and the curvature s of f along each coordinate.
//! - Returns: for every sample its share `w_l kappa sum_c a_lc^2 / s_c` (the curvature of its term in the metric
//!   diag(s)), or for every coordinate the largest curvature that N times a single term has there.
//! - Must not know: how samples are drawn, pairs, h.
//!
//! Where every move keeps one row r'x, samples may be shifted by multiples of r without any move noticing. What is left
//! of a sample after the best shift, `a_l - gamma_l r`, may bend far less: a common offset of all columns goes away.

use super::feed::Feed;
use crate::control::{Control, Pass};
use crate::smooth::{SampleBatch, SmoothTerm};

/// No curvature counts as this share of the largest: a linear coordinate still gets a finite step.
const SHARE_OF_LINEAR: f64 = 1e-9;

/// A shift is made where it takes this share off the curvature.
const WORTH_A_SHIFT: f64 = 0.8;

/// Differences of sums below this share of the sums may be rounding.
const ROUNDING: f64 = 1e-10;

/// What one pass over the samples tells.
#[derive(Debug)]
pub(super) struct Shares {
    /// The share of every sample; empty where they are streamed.
    pub(super) each: Vec<f64>,
    pub(super) largest: f64,
    pub(super) total: f64,
    /// Stored entries of all rows.
    pub(super) entries: f64,
}

/// Curvatures without zeros.
pub(super) fn floored(mut curvature: Vec<f64>) -> Vec<f64> {
    let largest = curvature.iter().copied().fold(0.0, f64::max);
    let floor = if largest > 0.0 { SHARE_OF_LINEAR * largest } else { 1e-6 };
    curvature.iter_mut().for_each(|s| *s = if *s > 0.0 { *s } else { floor });
    curvature
}

/// The multiples of a row that samples are shifted by.
#[derive(Debug)]
pub(super) struct Shift {
    row: Vec<f64>,
    /// gamma is the inner product of a sample with these.
    weights: Vec<f64>,
}

impl Shift {
    /// The best shifts in the metric s.
    pub(super) fn new(row: Vec<f64>, s: &[f64]) -> Self {
        let size: f64 = row.iter().zip(s).map(|(r, s)| r * r / s).sum();
        let weights = row.iter().zip(s).map(|(r, s)| r / s / size).collect();
        Self { row, weights }
    }

    /// The curvature along every coordinate of shifted samples with what is the coordinate's own beside them, without
    /// zeros, where it is clearly smaller than s.
    pub(super) fn curvature(
        &self,
        batch: &SampleBatch,
        kappa: f64,
        own: &[f64],
        s: &[f64],
    ) -> Option<Vec<f64>> {
        let mut felt = vec![0.0; s.len()];
        let mut squares = 0.0;
        for l in 0..batch.target.len() {
            let (gamma, weight) = (batch.rows.dot(l, &self.weights), kappa * batch.weights.at(l));
            squares += weight * gamma * gamma;
            batch.rows.for_each(l, |c, a| felt[c] += weight * a * (a - 2.0 * gamma * self.row[c]));
        }
        for (c, felt) in felt.iter_mut().enumerate() {
            let (r, least) = (self.row[c], ROUNDING * s[c]);
            *felt = (*felt + squares * r * r).max(least) + own[c];
        }
        let felt = floored(felt);
        let ratio: f64 = felt.iter().zip(s).map(|(felt, s)| felt / s).sum();
        (ratio < WORTH_A_SHIFT * s.len() as f64).then_some(felt)
    }
}

/// The curvature of f along every coordinate, without zeros.
pub(super) fn curvature_of<F: SmoothTerm>(f: &F) -> Vec<f64> {
    floored((0..f.dimension()).map(|c| f.curvature(c)).collect())
}

/// The shares of all samples in the metric s.
pub(super) fn shares(
    feed: &mut Feed<'_>,
    batch: &mut Option<SampleBatch>,
    kappa: f64,
    s: &[f64],
    shift: Option<&Shift>,
    control: &Control,
) -> Pass<Shares> {
    let keep = feed.is_memory();
    let of_row = shift.map_or(0.0, |shift| shift.row.iter().zip(s).map(|(r, s)| r * r / s).sum());
    let mut shares = Shares { each: Vec::new(), largest: 0.0, total: 0.0, entries: 0.0 };
    feed.pass(batch, control, |batch, l| {
        let (mut sum, mut entries) = (0.0, 0);
        if let Some(shift) = shift {
            let gamma = batch.rows.dot(l, &shift.weights);
            batch.rows.for_each(l, |c, a| {
                sum += a * (a - 2.0 * gamma * shift.row[c]) / s[c];
                entries += 1;
            });
            sum = (sum + gamma * gamma * of_row).max(0.0);
        } else {
            batch.rows.for_each(l, |c, a| {
                sum += a * a / s[c];
                entries += 1;
            });
        }
        let share = kappa * batch.weights.at(l) * sum;
        shares.largest = shares.largest.max(share);
        shares.total += share;
        shares.entries += f64::from(entries);
        if keep {
            shares.each.push(share);
        }
    })?;
    Ok(shares)
}

/// For every coordinate `max_l N w_l kappa a_lc^2`, and the number of entries of all rows.
pub(super) fn largest_of_single(
    feed: &mut Feed<'_>,
    batch: &mut Option<SampleBatch>,
    kappa: f64,
    samples: usize,
    dimension: usize,
    control: &Control,
) -> Pass<(Vec<f64>, f64)> {
    let (mut largest, mut entries) = (vec![0.0_f64; dimension], 0.0);
    feed.pass(batch, control, |batch, l| {
        let scale = samples as f64 * kappa * batch.weights.at(l);
        batch.rows.for_each(l, |c, a| {
            largest[c] = largest[c].max(scale * a * a);
            entries += 1.0;
        });
    })?;
    Ok((largest, entries))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::{ByRow, Matrix, SparseMatrix};
    use crate::separable::Values;

    #[test]
    fn a_common_offset_is_not_felt_along_a_sum() {
        let rows = [[10.0, 11.0, 9.5], [-4.0, -4.5, -3.0], [7.0, 7.5, 6.0]];
        let dense = Matrix::from_rows(&rows).expect("rectangular");
        let mut triplets = Vec::new();
        dense.for_each(|r, c, v| triplets.push((r, c, v)));
        let sparse = Matrix::from(SparseMatrix::from_triplets(3, 3, &triplets).expect("within"));
        for matrix in [dense, sparse] {
            let rows_of = ByRow::from_matrix(&matrix).expect("valid");
            let batch =
                SampleBatch { first: 0, rows: rows_of, target: vec![0.0; 3], weights: Values::Uniform(0.5) };
            let shift = Shift::new(vec![2.0; 3], &[1.0; 3]);
            let felt = shift.curvature(&batch, 4.0, &[0.25; 3], &[100.0; 3]).expect("far smaller");
            for (c, felt) in felt.iter().enumerate() {
                let left = |row: &[f64; 3]| row[c] - row.iter().sum::<f64>() / 3.0;
                let expected = 0.25 + rows.iter().map(|row| 2.0 * left(row) * left(row)).sum::<f64>();
                assert!((felt - expected).abs() < 1e-11, "{felt} and {expected}");
            }
            assert!(shift.curvature(&batch, 4.0, &[0.25; 3], &felt).is_none());
            let shares =
                shares(&mut Feed::Memory, &mut Some(batch), 4.0, &felt, Some(&shift), &Control::unlimited())
                    .expect("in memory");
            // Together the shares are the coordinates, less what is their own.
            let own: f64 = felt.iter().map(|felt| 0.25 / felt).sum();
            assert!((shares.total - (3.0 - own)).abs() < 1e-11, "{shares:?}");
            assert_eq!((shares.each.len(), shares.entries), (3, 9.0));
        }
    }
}
