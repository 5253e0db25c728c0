//! The columns of the coupling rows, as the pair steps read them.
//!
//! A step never sees A as a matrix: it asks for products with single columns. So a dense pair of blocks and a
//! sparse coupling over a million columns are solved by the same code.

/// The m x p matrix A by its columns `a_k`.
pub(crate) trait Columns {
    /// The number of rows, m.
    fn rows(&self) -> usize;
    /// The number of columns, p.
    fn len(&self) -> usize;
    /// `a_k'y`.
    fn dot(&self, k: usize, y: &[f64]) -> f64;
    /// `out += t a_k`.
    fn add(&self, k: usize, t: f64, out: &mut [f64]);
    /// `gram += t a_k a_k'`, the lower triangle of a column-major m x m matrix.
    fn add_outer(&self, k: usize, t: f64, gram: &mut [f64]);
}
