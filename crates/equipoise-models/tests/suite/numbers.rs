//! Random numbers for test data: one generator, fixed seeds.

use equipoise::{DenseMatrix, Matrix};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// Numbers that are the same in every run.
pub(crate) struct Numbers(Xoshiro256PlusPlus);

impl Numbers {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// Uniform between -1 and 1.
    pub(crate) fn next(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    /// Uniform in 0..end.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.0.next_u64() % end as u64) as usize
    }

    /// Entries between -size and size.
    pub(crate) fn vector(&mut self, length: usize, size: f64) -> Vec<f64> {
        (0..length).map(|_| size * self.next()).collect()
    }

    pub(crate) fn dense(&mut self, rows: usize, columns: usize) -> Matrix<'static> {
        let values = self.vector(rows * columns, 1.0);
        DenseMatrix::from_columns(rows, columns, values).expect("rows times columns values").into()
    }
}
