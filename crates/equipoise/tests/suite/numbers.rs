//! Random numbers for test data: one generator, fixed seeds.

use equipoise::{DenseMatrix, Matrix, SparseMatrix};
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

    /// Entries of +1 and -1.
    pub(crate) fn labels(&mut self, length: usize) -> Vec<f64> {
        (0..length).map(|_| self.next().signum()).collect()
    }

    pub(crate) fn dense(&mut self, rows: usize, columns: usize) -> Matrix<'static> {
        let values = self.vector(rows * columns, 1.0);
        DenseMatrix::from_columns(rows, columns, values).expect("rows times columns values").into()
    }

    /// About half of the entries stored, the diagonal always.
    pub(crate) fn sparse(&mut self, rows: usize, columns: usize) -> Matrix<'static> {
        let mut triplets = Vec::new();
        for (r, c) in (0..rows).flat_map(|r| (0..columns).map(move |c| (r, c))) {
            let value = self.next();
            if r == c || self.next() > 0.0 {
                triplets.push((r, c, value));
            }
        }
        SparseMatrix::from_triplets(rows, columns, &triplets).expect("within the matrix").into()
    }
}

/// `M'M`, dense or as sparse as it is, without any rounding asymmetry.
pub(crate) fn gram(matrix: &Matrix, sparse: bool) -> Matrix<'static> {
    let (rows, n) = (matrix.rows(), matrix.columns());
    let mut values = vec![0.0; n * n];
    for (i, j) in (0..n).flat_map(|i| (0..=i).map(move |j| (i, j))) {
        let entry: f64 = (0..rows).map(|r| matrix.entry(r, i) * matrix.entry(r, j)).sum();
        (values[i * n + j], values[j * n + i]) = (entry, entry);
    }
    if !sparse {
        return DenseMatrix::from_columns(n, n, values).expect("n times n values").into();
    }
    let stored = (0..n * n).filter(|&k| values[k] != 0.0);
    let triplets: Vec<_> = stored.map(|k| (k % n, k / n, values[k])).collect();
    SparseMatrix::from_triplets(n, n, &triplets).expect("within the matrix").into()
}
