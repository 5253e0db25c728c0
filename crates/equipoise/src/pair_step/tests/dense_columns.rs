//! A dense matrix by its columns, for these tests, and the factor of its rows.

use crate::pair_step::{Columns, Factor, kernels};

/// A dense matrix, column after column.
#[derive(Debug, Clone, Copy)]
pub(super) struct DenseColumns<'a> {
    rows: usize,
    data: &'a [f64],
}

impl<'a> DenseColumns<'a> {
    /// The matrix with that many rows (at least 1) whose columns follow one another in `data`.
    pub(super) fn new(rows: usize, data: &'a [f64]) -> Self {
        debug_assert!(rows > 0 && data.len().is_multiple_of(rows), "columns of {rows} rows");
        Self { rows, data }
    }

    #[inline]
    fn column(&self, k: usize) -> &'a [f64] {
        &self.data[k * self.rows..(k + 1) * self.rows]
    }
}

impl Columns for DenseColumns<'_> {
    #[inline]
    fn rows(&self) -> usize {
        self.rows
    }
    #[inline]
    fn len(&self) -> usize {
        self.data.len() / self.rows
    }
    #[inline]
    fn dot(&self, k: usize, y: &[f64]) -> f64 {
        kernels::dot(self.column(k), y)
    }
    #[inline]
    fn add(&self, k: usize, t: f64, out: &mut [f64]) {
        kernels::axpy(t, self.column(k), out);
    }
    #[inline]
    fn add_outer(&self, k: usize, t: f64, gram: &mut [f64]) {
        kernels::add_outer(t, self.column(k), gram);
    }
}

/// The factor of `A diag(1/metric) A'`.
pub(super) fn factor(columns: &DenseColumns<'_>, metric: &[f64]) -> Factor {
    let m = columns.rows();
    let mut gram = vec![0.0; m * m];
    for (k, d) in metric.iter().enumerate() {
        columns.add_outer(k, 1.0 / d, &mut gram);
    }
    Factor::from_gram(m, &gram)
}
