//! The structure that second-order steps over all coordinates use, where f has it:
//!
//! ```text
//! f(x) = 1/2 sum_k w_k (Z x)_k^2 + 1/2 sum_c d_c x_c^2 + sum_c l_c x_c + constant
//! ```
//!
//! With `u = W Z x` the gradient is `l + d x + Z'u`. Every method works on many columns of Z at once, so that
//! asking through a trait object costs nothing.

use super::SmoothTerm;
use crate::matrix::{Matrix, Rows};

/// A quadratic by its factor Z (rank x n), weights w > 0, own curvatures d >= 0 and own slopes l.
pub trait Factored: Send + Sync {
    /// The number of rows of Z.
    fn rank(&self) -> usize;
    /// Numbers stored in Z, which a pass over all columns reads; how many threads are worth while depends on it.
    fn stored(&self) -> usize {
        0
    }
    /// `w_k`, above 0.
    fn weight(&self, _k: usize) -> f64 {
        1.0
    }
    /// `d_c`.
    fn own_curvature(&self, c: usize) -> f64;
    /// `l_c`.
    fn own_slope(&self, c: usize) -> f64;
    /// `sum_k w_k Z_kc^2`.
    fn column_square(&self, c: usize) -> f64;
    /// `out_k = Z_c . u` for consecutive columns, `c = first + k`.
    fn consecutive_dots(&self, first: usize, u: &[f64], out: &mut [f64]);
    /// `out_k = Z_c . u` for the k-th of the given columns.
    fn dots(&self, columns: &[u32], u: &[f64], out: &mut [f64]);
    /// `out += sum_k amounts_k Z_c`, c the k-th of the given columns.
    fn add_columns(&self, columns: &[u32], amounts: &[f64], out: &mut [f64]);
    /// The given columns of Z copied side by side, one a row, where Z is sparse: columns that lie far apart are slow to
    /// read more than once.
    fn copy_columns(&self, _columns: &[u32]) -> Option<Rows<'static>> {
        None
    }
    /// Adds `sum_k scales_k Z_c Z_c'` to the lower triangle of a matrix kept column by column, `stride` apart, of which
    /// `out` holds the columns from `first` on.
    fn add_outer(&self, columns: &[u32], scales: &[f64], first: usize, out: &mut [f64], stride: usize);
}

/// f without a factor: only own curvatures and slopes.
pub(super) struct OwnTerms<D, L> {
    pub(super) curvature: D,
    pub(super) slope: L,
}

impl<D, L> Factored for OwnTerms<D, L>
where
    D: Fn(usize) -> f64 + Send + Sync,
    L: Fn(usize) -> f64 + Send + Sync,
{
    fn rank(&self) -> usize {
        0
    }
    fn own_curvature(&self, c: usize) -> f64 {
        (self.curvature)(c)
    }
    fn own_slope(&self, c: usize) -> f64 {
        (self.slope)(c)
    }
    fn column_square(&self, _c: usize) -> f64 {
        0.0
    }
    fn consecutive_dots(&self, _first: usize, _u: &[f64], out: &mut [f64]) {
        out.fill(0.0);
    }
    fn dots(&self, _columns: &[u32], _u: &[f64], out: &mut [f64]) {
        out.fill(0.0);
    }
    fn add_columns(&self, _columns: &[u32], _amounts: &[f64], _out: &mut [f64]) {}
    fn add_outer(&self, _columns: &[u32], _scales: &[f64], _first: usize, _out: &mut [f64], _stride: usize) {}
}

/// `1/2 sum_k w_k (M_k x)^2 + l'x` with a matrix M.
pub(super) struct MatrixFactor<'a, W> {
    pub(super) matrix: &'a Matrix<'a>,
    pub(super) weight: W,
    pub(super) slope: Vec<f64>,
}

impl<W: Fn(usize) -> f64 + Send + Sync> Factored for MatrixFactor<'_, W> {
    fn rank(&self) -> usize {
        self.matrix.rows()
    }
    fn stored(&self) -> usize {
        match self.matrix {
            Matrix::Dense(matrix) => matrix.values().len(),
            Matrix::Sparse(matrix) => matrix.stored(),
        }
    }
    fn weight(&self, k: usize) -> f64 {
        (self.weight)(k)
    }
    fn own_curvature(&self, _c: usize) -> f64 {
        0.0
    }
    fn own_slope(&self, c: usize) -> f64 {
        self.slope[c]
    }
    fn column_square(&self, c: usize) -> f64 {
        self.matrix.columns_dot(c, c, &self.weight)
    }
    fn consecutive_dots(&self, first: usize, u: &[f64], out: &mut [f64]) {
        out.iter_mut().enumerate().for_each(|(k, out)| *out = self.matrix.column_dot(first + k, u));
    }
    fn dots(&self, columns: &[u32], u: &[f64], out: &mut [f64]) {
        out.iter_mut().zip(columns).for_each(|(out, &c)| *out = self.matrix.column_dot(c as usize, u));
    }
    fn add_columns(&self, columns: &[u32], amounts: &[f64], out: &mut [f64]) {
        columns.iter().zip(amounts).for_each(|(&c, &t)| self.matrix.add_column(c as usize, t, out));
    }
    fn add_outer(&self, columns: &[u32], scales: &[f64], first: usize, out: &mut [f64], stride: usize) {
        let end = first + out.len() / stride;
        for (&c, &scale) in columns.iter().zip(scales) {
            match self.matrix {
                Matrix::Dense(matrix) => {
                    let column = matrix.column(c as usize);
                    for k in first..end.min(column.len()) {
                        let start = (k - first) * stride;
                        let below = &mut out[start + k..start + column.len()];
                        crate::matrix::axpy(scale * column[k], &column[k..], below);
                    }
                }
                Matrix::Sparse(matrix) => {
                    let inside = |(_, (row, _)): &(usize, (usize, f64))| (first..end).contains(row);
                    for (k, (row, value)) in matrix.column(c as usize).enumerate().filter(inside) {
                        for (other, second) in matrix.column(c as usize).skip(k) {
                            out[(row - first) * stride + other] += scale * value * second;
                        }
                    }
                }
            }
        }
    }
}

/// A sum in which at most one term has a factor.
struct FactoredSum<'a> {
    main: Box<dyn Factored + 'a>,
    others: Vec<Box<dyn Factored + 'a>>,
}

/// The structure of a sum, where every term has it and at most one has a factor.
pub(super) fn of_sum<'a>(terms: &'a [Box<dyn SmoothTerm + 'a>]) -> Option<Box<dyn Factored + 'a>> {
    let parts: Option<Vec<_>> = terms.iter().map(SmoothTerm::factored).collect();
    let (mut factors, mut others): (Vec<_>, Vec<_>) = parts?.into_iter().partition(|part| part.rank() > 0);
    if factors.len() > 1 {
        return None;
    }
    let main = factors.pop().or_else(|| others.pop())?;
    Some(Box::new(FactoredSum { main, others }))
}

impl Factored for FactoredSum<'_> {
    fn rank(&self) -> usize {
        self.main.rank()
    }
    fn weight(&self, k: usize) -> f64 {
        self.main.weight(k)
    }
    fn own_curvature(&self, c: usize) -> f64 {
        self.main.own_curvature(c) + self.others.iter().map(|part| part.own_curvature(c)).sum::<f64>()
    }
    fn own_slope(&self, c: usize) -> f64 {
        self.main.own_slope(c) + self.others.iter().map(|part| part.own_slope(c)).sum::<f64>()
    }
    fn column_square(&self, c: usize) -> f64 {
        self.main.column_square(c)
    }
    fn stored(&self) -> usize {
        self.main.stored()
    }
    fn consecutive_dots(&self, first: usize, u: &[f64], out: &mut [f64]) {
        self.main.consecutive_dots(first, u, out);
    }
    fn dots(&self, columns: &[u32], u: &[f64], out: &mut [f64]) {
        self.main.dots(columns, u, out);
    }
    fn add_columns(&self, columns: &[u32], amounts: &[f64], out: &mut [f64]) {
        self.main.add_columns(columns, amounts, out);
    }
    fn copy_columns(&self, columns: &[u32]) -> Option<Rows<'static>> {
        self.main.copy_columns(columns)
    }
    fn add_outer(&self, columns: &[u32], scales: &[f64], first: usize, out: &mut [f64], stride: usize) {
        self.main.add_outer(columns, scales, first, out, stride);
    }
}
