//! The norm of the graph, in which the bounds of accelerated pairs are stated.
//!
//! Notation: an edge e = {i, j} is drawn with probability p, and `d_e = e_i - e_j` has the curvature `L_e` under f.
//! `K = sum_e p d_e d_e'/L_e` is the expected step, and `nu = max_e d_e'K^+ d_e / L_e` bounds how much longer a single
//! one may be.

use anyhow::Result;

use super::super::data::dot;
use crate::cholesky::{factor, solve};

/// `K^+` on vectors that sum to 0, and nu.
pub(super) struct Norm {
    /// The factor of `K + s 11'`, whose inverse is `K^+` on these vectors.
    factor: Vec<f64>,
    pub(super) nu: f64,
}

impl Norm {
    /// Of b scalars under the quadratic of a matrix, with the same probability for every edge.
    pub(super) fn new(hessian: &[f64], b: usize, edges: &[(usize, usize)]) -> Result<Self> {
        let curvature =
            |(i, j): (usize, usize)| hessian[i * b + i] + hessian[j * b + j] - 2.0 * hessian[i * b + j];
        let mut matrix = vec![0.0; b * b];
        for &(i, j) in edges {
            let weight = 1.0 / (edges.len() as f64 * curvature((i, j)));
            matrix[i * b + i] += weight;
            matrix[j * b + j] += weight;
            matrix[i * b + j] -= weight;
            matrix[j * b + i] -= weight;
        }
        let mean = (0..b).map(|i| matrix[i * b + i]).sum::<f64>() / b as f64;
        matrix.iter_mut().for_each(|entry| *entry += mean / b as f64);
        factor(&mut matrix, b)?;
        let mut norm = Self { factor: matrix, nu: 0.0 };
        for &(i, j) in edges {
            let mut direction = vec![0.0; b];
            (direction[i], direction[j]) = (1.0, -1.0);
            norm.nu = norm.nu.max(norm.squared(&direction) / curvature((i, j)));
        }
        Ok(norm)
    }

    /// `K^+ v`.
    pub(super) fn apply(&self, v: &[f64]) -> Vec<f64> {
        let mut image = v.to_vec();
        solve(&self.factor, &mut image);
        image
    }

    /// `v'K^+ v`.
    pub(super) fn squared(&self, v: &[f64]) -> f64 {
        dot(v, &self.apply(v))
    }

    /// The least `||v + N w||^2` over the w that keep the sum at 0, N given by its columns.
    pub(super) fn nearest_squared(&self, v: &[f64], null: &[Vec<f64>]) -> Result<f64> {
        let order = null.len();
        let images: Vec<Vec<f64>> = null.iter().map(|vector| self.apply(vector)).collect();
        let mut gram: Vec<f64> = Vec::with_capacity(order * order);
        images.iter().for_each(|image| gram.extend(null.iter().map(|vector| dot(vector, image))));
        factor(&mut gram, order)?;
        // Least squares with one constraint: w = -free - mu pull, mu such that the sums add up to 0.
        let mut free: Vec<f64> = images.iter().map(|image| dot(image, v)).collect();
        let sums: Vec<f64> = null.iter().map(|vector| vector.iter().sum()).collect();
        let mut pull = sums.clone();
        solve(&gram, &mut free);
        solve(&gram, &mut pull);
        let mu = -dot(&sums, &free) / dot(&sums, &pull).max(f64::MIN_POSITIVE);
        let mut nearest = v.to_vec();
        for ((vector, free), pull) in null.iter().zip(&free).zip(&pull) {
            let weight = -free - mu * pull;
            nearest.iter_mut().zip(vector).for_each(|(nearest, entry)| *nearest += weight * entry);
        }
        Ok(self.squared(&nearest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ring(b: usize) -> Vec<(usize, usize)> {
        (0..b).map(|i| (i, (i + 1) % b)).collect()
    }

    fn unit(b: usize) -> Vec<f64> {
        (0..b * b).map(|k| if k / b == k % b { 1.0 } else { 0.0 }).collect()
    }

    #[test]
    fn a_ring_of_equals_is_known() {
        // Every edge has leverage (b - 1)/b and probability 1/b.
        let norm = Norm::new(&unit(8), 8, &ring(8)).expect("a connected graph");
        assert!((norm.nu - 7.0).abs() < 1e-10, "{}", norm.nu);
        // The slowest vector of the ring: its eigenvalue is (2 - 2 cos(2 pi/b)) p / L.
        let wave: Vec<f64> = (0..8).map(|i| (std::f64::consts::TAU * f64::from(i) / 8.0).cos()).collect();
        let eigenvalue = (2.0 - 2.0 * (std::f64::consts::TAU / 8.0).cos()) / 16.0;
        assert!((norm.squared(&wave) - 4.0 / eigenvalue).abs() < 1e-9);
    }

    #[test]
    fn the_nearest_of_many_is_not_further_and_keeps_the_sum() {
        let norm = Norm::new(&unit(6), 6, &ring(6)).expect("a connected graph");
        let v = [1.0, -2.0, 0.5, 0.5, 1.0, -1.0];
        let direction = vec![1.0, 0.0, 0.0, -1.0, 0.0, 0.0];
        let null = [direction.clone(), vec![0.0, 1.0, 1.0, 0.0, 0.0, 0.0]];
        let found = norm.nearest_squared(&v, &null).expect("independent vectors");
        // The second vector would change the sum: only the first can be used.
        let along = |t: f64| {
            let moved: Vec<f64> = v.iter().zip(&direction).map(|(v, d)| v + t * d).collect();
            norm.squared(&moved)
        };
        let least = (-400..=400).map(|t| along(0.01 * f64::from(t))).fold(f64::INFINITY, f64::min);
        assert!(found <= least + 1e-9 && found > least - 1e-2 * least, "{found} {least}");
    }
}
