//! How much single samples bend f: what the steps of sampled methods are made from.
//!
//! - Given: samples with a loss of largest curvature kappa, and the curvature s of f along each coordinate.
//! - Returns: for every sample its share `w_l kappa sum_c a_lc^2 / s_c` (the curvature of its term in the metric
//!   diag(s)), or for every coordinate the largest curvature that N times a single term has there.
//! - Must not know: how samples are drawn, pairs, h, A.

use super::feed::Feed;
use crate::smooth::{SampleBatch, SampleFault, SmoothTerm};

/// No curvature counts as this share of the largest: a linear coordinate still gets a finite step.
const SHARE_OF_LINEAR: f64 = 1e-9;

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
) -> Result<Shares, SampleFault> {
    let keep = feed.is_memory();
    let mut shares = Shares { each: Vec::new(), largest: 0.0, total: 0.0, entries: 0.0 };
    feed.pass(batch, |batch| {
        for l in 0..batch.target.len() {
            let (mut sum, mut entries) = (0.0, 0);
            batch.rows.for_each(l, |c, a| {
                sum += a * a / s[c];
                entries += 1;
            });
            let share = kappa * batch.weights.at(l) * sum;
            shares.largest = shares.largest.max(share);
            shares.total += share;
            shares.entries += f64::from(entries);
            if keep {
                shares.each.push(share);
            }
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
) -> Result<(Vec<f64>, f64), SampleFault> {
    let (mut largest, mut entries) = (vec![0.0_f64; dimension], 0.0);
    feed.pass(batch, |batch| {
        for l in 0..batch.target.len() {
            let scale = samples as f64 * kappa * batch.weights.at(l);
            batch.rows.for_each(l, |c, a| {
                largest[c] = largest[c].max(scale * a * a);
                entries += 1.0;
            });
        }
    })?;
    Ok((largest, entries))
}
