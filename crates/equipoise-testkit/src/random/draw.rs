//! Random numbers from a fixed seed, by plain arithmetic only, so that every platform agrees.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::instance::Dense;

/// A seeded source.
#[derive(Debug)]
pub(crate) struct Draw {
    rng: Xoshiro256PlusPlus,
}

impl Draw {
    pub(crate) fn new(seed: u64) -> Self {
        Self { rng: Xoshiro256PlusPlus::seed_from_u64(seed) }
    }

    /// Uniform in [low, high).
    pub(crate) fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.rng.random::<f64>()
    }

    /// Nearly normal with variance 1: a sum of twelve uniforms, centred.
    pub(crate) fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.rng.random::<f64>()).sum::<f64>() - 6.0
    }

    /// Uniform in low..=high.
    pub(crate) fn index(&mut self, low: usize, high: usize) -> usize {
        self.rng.random_range(low as u64..=high as u64) as usize
    }

    pub(crate) fn chance(&mut self, probability: f64) -> bool {
        self.rng.random::<f64>() < probability
    }

    pub(crate) fn sign(&mut self) -> f64 {
        if self.chance(0.5) { 1.0 } else { -1.0 }
    }

    pub(crate) fn uniforms(&mut self, n: usize, low: f64, high: f64) -> Vec<f64> {
        (0..n).map(|_| self.uniform(low, high)).collect()
    }

    pub(crate) fn normals(&mut self, n: usize, deviation: f64) -> Vec<f64> {
        (0..n).map(|_| deviation * self.normal()).collect()
    }

    /// One number for all, or a list.
    pub(crate) fn weights(&mut self, n: usize, low: f64, high: f64) -> Vec<f64> {
        if self.chance(0.5) { vec![self.uniform(low, high); n] } else { self.uniforms(n, low, high) }
    }

    /// Normal entries. A sparse one keeps two in five, and a diagonal so that it has full rank.
    pub(crate) fn matrix(&mut self, rows: usize, cols: usize, sparse: bool) -> Dense {
        let mut matrix = Dense::zeros(rows, cols);
        matrix.sparse = sparse;
        for r in 0..rows {
            for c in 0..cols {
                let value = if r == c { self.away_from_zero() } else { self.normal() };
                let keep = !sparse || r == c || self.chance(0.4);
                matrix.row_mut(r)[c] = if keep { value } else { 0.0 };
            }
        }
        matrix
    }

    /// Of either sign, size between 1/2 and 2.
    pub(crate) fn away_from_zero(&mut self) -> f64 {
        self.sign() * self.uniform(0.5, 2.0)
    }
}
