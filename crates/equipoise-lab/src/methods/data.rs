//! What the generated problems share: spectra, rotations, planted rules.

use equipoise::smooth::loss::{LogisticLoss, Squared};
use equipoise::smooth::{Distance, LeastSquares, Logistic, SmoothTerm, Sum};
use equipoise::{Matrix, Result};

use crate::random::Stream;

/// Standard deviation of the noise beside a score of deviation 1.
const NOISE: f64 = 0.5;

/// `condition^U`, so many times, U uniform in [0, 1).
pub(super) fn spectrum(count: usize, condition: f64, random: &mut Stream) -> Vec<f64> {
    (0..count).map(|_| condition.powf(random.unit())).collect()
}

/// A product R of three Householder reflections.
#[derive(Debug)]
pub(super) struct Rotation {
    normals: [Vec<f64>; 3],
}

impl Rotation {
    pub(super) fn new(n: usize, random: &mut Stream) -> Self {
        let mut unit = || {
            let mut v = random.normals(n);
            let norm = dot(&v, &v).sqrt();
            v.iter_mut().for_each(|v| *v /= norm);
            v
        };
        Self { normals: [unit(), unit(), unit()] }
    }

    /// `v = R v`.
    pub(super) fn apply(&self, v: &mut [f64]) {
        self.normals.iter().rev().for_each(|normal| reflect(normal, v));
    }

    /// `v = R' v`.
    fn apply_transposed(&self, v: &mut [f64]) {
        self.normals.iter().for_each(|normal| reflect(normal, v));
    }

    /// `R diag(spectrum) R'`, row after row and exactly symmetric.
    pub(super) fn conjugate(&self, spectrum: &[f64]) -> Vec<f64> {
        let n = spectrum.len();
        let mut matrix = vec![0.0; n * n];
        for (c, column) in matrix.chunks_exact_mut(n).enumerate() {
            column[c] = 1.0;
            self.apply_transposed(column);
            column.iter_mut().zip(spectrum).for_each(|(v, s)| *v *= s);
            self.apply(column);
        }
        for r in 0..n {
            for c in 0..r {
                matrix[c * n + r] = matrix[r * n + c];
            }
        }
        matrix
    }
}

fn reflect(normal: &[f64], v: &mut [f64]) {
    let twice = 2.0 * dot(normal, v);
    v.iter_mut().zip(normal).for_each(|(v, normal)| *v -= twice * normal);
}

pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Targets of a planted rule: its scores, scaled to deviation 1, and noise.
pub(super) fn noisy(mut scores: Vec<f64>, random: &mut Stream) -> Vec<f64> {
    let deviation = (dot(&scores, &scores) / scores.len() as f64).sqrt();
    scores.iter_mut().for_each(|score| *score = *score / deviation + NOISE * random.normal());
    scores
}

/// The rule: normal numbers without their mean.
pub(super) fn zero_sum(n: usize, random: &mut Stream) -> Vec<f64> {
    let mut rule = random.normals(n);
    let mean = rule.iter().sum::<f64>() / n as f64;
    rule.iter_mut().for_each(|value| *value -= mean);
    rule
}

/// Which loss of the samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Loss {
    Squared,
    /// Of the targets' signs.
    Logistic,
}

/// The mean loss over the rows, and `ridge/2 ||x||^2`.
pub(super) fn mean_loss(matrix: Matrix, target: Vec<f64>, loss: Loss, ridge: f64) -> Result<Sum> {
    let (n, weight) = (matrix.columns(), 1.0 / matrix.rows() as f64);
    let sampled: Box<dyn SmoothTerm> = match loss {
        Loss::Squared => Box::new(LeastSquares::weighted(matrix, target, Squared, weight)?),
        Loss::Logistic => {
            let labels = target.iter().map(|target| if *target > 0.0 { 1.0 } else { -1.0 }).collect();
            Box::new(Logistic::weighted(matrix, labels, LogisticLoss, weight)?)
        }
    };
    Sum::new(vec![sampled, Box::new(Distance::new(vec![0.0; n], 0.5 * ridge)?)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rotation_keeps_the_spectrum() {
        let mut random = Stream::new(1);
        let spectrum = spectrum(6, 100.0, &mut random);
        let rotation = Rotation::new(6, &mut random);
        let matrix = rotation.conjugate(&spectrum);
        for (k, &value) in spectrum.iter().enumerate() {
            // Column k of R is an eigenvector.
            let mut vector = vec![0.0; 6];
            vector[k] = 1.0;
            rotation.apply(&mut vector);
            assert!((dot(&vector, &vector) - 1.0).abs() < 1e-12);
            for (row, entry) in matrix.chunks_exact(6).zip(&vector) {
                assert!((dot(row, &vector) - value * entry).abs() < 1e-10);
            }
        }
    }

    #[test]
    fn rules_sum_to_zero_and_targets_have_the_deviation_of_score_and_noise() {
        let mut random = Stream::new(2);
        assert!(zero_sum(30, &mut random).iter().sum::<f64>().abs() < 1e-12);
        let scores = random.normals(20_000).iter().map(|score| 7.0 * score).collect();
        let targets = noisy(scores, &mut random);
        assert!((dot(&targets, &targets) / 20_000.0 - 1.25).abs() < 0.05);
    }
}
