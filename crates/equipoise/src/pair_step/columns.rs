//! The columns of the coupling rows, as the pair steps read them.
//!
//! A step never sees A as a matrix: it asks for products with single columns. So a dense pair of blocks and a
//! sparse coupling over a million columns are solved by the same code.

use super::kernels;

/// The m x p matrix A by its columns `a_k`.
///
/// ```
/// use equipoise::pair_step::{Columns, DenseColumns};
/// let a = DenseColumns::new(2, &[1.0, 2.0, 0.0, 3.0]); // columns (1, 2) and (0, 3)
/// assert_eq!((a.rows(), a.len()), (2, 2));
/// assert_eq!(a.dot(1, &[5.0, 1.0]), 3.0);
/// ```
pub trait Columns {
    /// The number of rows, m.
    fn rows(&self) -> usize;
    /// The number of columns, p.
    fn len(&self) -> usize;
    /// Whether there is no column.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// `a_k'y`.
    fn dot(&self, k: usize, y: &[f64]) -> f64;
    /// `out += t a_k`.
    fn add(&self, k: usize, t: f64, out: &mut [f64]);
    /// `gram += t a_k a_k'`, the lower triangle of a column-major m x m matrix.
    fn add_outer(&self, k: usize, t: f64, gram: &mut [f64]);
}

/// A dense matrix, column after column.
#[derive(Debug, Clone, Copy)]
pub struct DenseColumns<'a> {
    rows: usize,
    data: &'a [f64],
}

impl<'a> DenseColumns<'a> {
    /// The matrix with that many rows (at least 1) whose columns follow one another in `data`.
    pub fn new(rows: usize, data: &'a [f64]) -> Self {
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
