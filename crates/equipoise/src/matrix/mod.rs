//! Matrices by column: dense or sparse is decided here and nowhere else.
//!
//! A term asks for a column's dot product, for a column to be added to a vector, or for whole
//! products; it never learns how the numbers are stored, nor whose they are: they may be borrowed. Dense matrices are column-major; sparse ones
//! hold 32-bit row indices, sorted within each column.

mod by_row;
mod cholesky;
mod definite;
mod dense;
mod enclosed;
mod kernels;
mod outer;
mod pivoted_qr;
mod row_values;
mod rows;
mod sparse;
mod sparse_definite;
mod symmetric;

pub use by_row::ByRow;
pub use dense::DenseMatrix;
pub use row_values::RowValues;
pub use rows::Rows;
pub use sparse::SparseMatrix;

pub(crate) use cholesky::Cholesky;
pub(crate) use definite::{LeastCurvature, least_curvature};
pub(crate) use kernels::short;
pub use kernels::{axpy, dot, max_abs};
pub(crate) use pivoted_qr::{Folded, PivotedQr};
pub(crate) use symmetric::{PseudoInverse, check_convex};

use std::ops::Range;

use crate::control::{Control, Pass};
use crate::error::Result;

/// A matrix, dense or sparse.
#[derive(Debug, Clone, PartialEq)]
pub enum Matrix<'a> {
    /// Every entry stored, column after column.
    Dense(DenseMatrix<'a>),
    /// Only non-zero entries stored, column after column.
    Sparse(SparseMatrix<'a>),
}

impl<'a> From<DenseMatrix<'a>> for Matrix<'a> {
    fn from(matrix: DenseMatrix<'a>) -> Self {
        Self::Dense(matrix)
    }
}

impl<'a> From<SparseMatrix<'a>> for Matrix<'a> {
    fn from(matrix: SparseMatrix<'a>) -> Self {
        Self::Sparse(matrix)
    }
}

impl Matrix<'static> {
    /// A dense matrix from its rows.
    ///
    /// ```
    /// let m = equipoise::Matrix::from_rows(&[&[1.0, 2.0], &[3.0, 4.0]])?;
    /// assert_eq!((m.rows(), m.columns()), (2, 2));
    /// # Ok::<(), equipoise::Error>(())
    /// ```
    pub fn from_rows<R: AsRef<[f64]>>(rows: &[R]) -> Result<Self> {
        DenseMatrix::from_rows(rows).map(Self::Dense)
    }
}

impl Matrix<'_> {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        match self {
            Self::Dense(m) => m.rows(),
            Self::Sparse(m) => m.rows(),
        }
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        match self {
            Self::Dense(m) => m.columns(),
            Self::Sparse(m) => m.columns(),
        }
    }

    /// The inner product of column c with y.
    #[inline]
    pub fn column_dot(&self, c: usize, y: &[f64]) -> f64 {
        match self {
            Self::Dense(m) => dot(m.column(c), y),
            Self::Sparse(m) => m.column(c).map(|(r, v)| v * y[r]).sum(),
        }
    }

    /// The sum over rows r of `M[r, c] * weight(r)`.
    #[inline]
    pub(crate) fn column_sum(&self, c: usize, weight: impl Fn(usize) -> f64) -> f64 {
        match self {
            Self::Dense(m) => m.column(c).iter().enumerate().map(|(r, v)| v * weight(r)).sum(),
            Self::Sparse(m) => m.column(c).map(|(r, v)| v * weight(r)).sum(),
        }
    }

    /// `y += t * column c`.
    #[inline]
    pub fn add_column(&self, c: usize, t: f64, y: &mut [f64]) {
        match self {
            Self::Dense(m) => axpy(t, m.column(c), y),
            Self::Sparse(m) => m.column(c).for_each(|(r, v)| y[r] += t * v),
        }
    }

    /// `y = M x`.
    pub fn multiply(&self, x: &[f64], y: &mut [f64]) {
        y.fill(0.0);
        self.add_columns(0..x.len(), x, y);
    }

    /// The same as a pass that may be ended.
    pub(crate) fn multiply_within(&self, x: &[f64], y: &mut [f64], control: &Control) -> Pass {
        y.fill(0.0);
        self.add_product(x, y, control)
    }

    /// `y += M x`, as a pass that may be ended.
    pub(crate) fn add_product(&self, x: &[f64], y: &mut [f64], control: &Control) -> Pass {
        control.in_parts(x.len(), self.numbers_per_column(), |part| self.add_columns(part, x, y))
    }

    /// `y += sum of x_c column c` over some columns.
    fn add_columns(&self, part: Range<usize>, x: &[f64], y: &mut [f64]) {
        for c in part {
            if x[c] != 0.0 {
                self.add_column(c, x[c], y);
            }
        }
    }

    /// `x += M' y`.
    pub fn add_transposed(&self, y: &[f64], x: &mut [f64]) {
        x.iter_mut().enumerate().for_each(|(c, x)| *x += self.column_dot(c, y));
    }

    /// The same as a pass that may be ended.
    pub(crate) fn add_transposed_within(&self, y: &[f64], x: &mut [f64], control: &Control) -> Pass {
        control.in_parts(x.len(), self.numbers_per_column(), |part| {
            for c in part {
                x[c] += self.column_dot(c, y);
            }
        })
    }

    /// `x += |M|'|y|`, as a pass that may be ended.
    pub(crate) fn add_magnitudes(&self, y: &[f64], x: &mut [f64], control: &Control) -> Pass {
        control.in_parts(x.len(), self.numbers_per_column(), |part| {
            for c in part {
                self.for_each_in_column(c, |r, value| x[c] += (value * y[r]).abs());
            }
        })
    }

    /// About how many numbers a column holds.
    pub(crate) fn numbers_per_column(&self) -> usize {
        match self {
            Self::Dense(m) => m.rows(),
            Self::Sparse(m) => m.stored().div_ceil(m.columns().max(1)),
        }
    }

    /// The sum over rows r of `weight(r) M[r, i] M[r, j]`.
    #[inline]
    pub(crate) fn columns_dot(&self, i: usize, j: usize, weight: impl Fn(usize) -> f64) -> f64 {
        match self {
            Self::Dense(m) => {
                let pairs = m.column(i).iter().zip(m.column(j));
                pairs.enumerate().map(|(r, (a, b))| weight(r) * a * b).sum()
            }
            Self::Sparse(m) => m.columns_dot(i, j, weight),
        }
    }

    /// The entry in row r and column c.
    pub fn entry(&self, r: usize, c: usize) -> f64 {
        match self {
            Self::Dense(m) => m.column(c)[r],
            Self::Sparse(m) => m.entry(r, c),
        }
    }

    /// Calls `visit(row, column, value)` for every stored entry.
    pub fn for_each(&self, mut visit: impl FnMut(usize, usize, f64)) {
        for c in 0..self.columns() {
            self.for_each_in_column(c, |r, v| visit(r, c, v));
        }
    }

    /// Calls `visit(row, value)` for every stored entry of column c.
    #[inline]
    pub(crate) fn for_each_in_column(&self, c: usize, mut visit: impl FnMut(usize, f64)) {
        match self {
            Self::Dense(m) => m.column(c).iter().enumerate().for_each(|(r, &v)| visit(r, v)),
            Self::Sparse(m) => m.column(c).for_each(|(r, v)| visit(r, v)),
        }
    }

    /// The matrix that keeps the given rows, in that order.
    pub(crate) fn keep_rows(&self, kept: &[usize]) -> Matrix<'static> {
        match self {
            Self::Dense(m) => Matrix::Dense(m.keep_rows(kept)),
            Self::Sparse(m) => Matrix::Sparse(m.keep_rows(kept)),
        }
    }

    /// The matrix of consecutive rows.
    pub fn part_of_rows(&self, rows: std::ops::Range<usize>) -> Matrix<'static> {
        self.keep_rows(&rows.collect::<Vec<_>>())
    }

    /// The same with a copy of what is borrowed.
    pub fn into_owned(self) -> Matrix<'static> {
        match self {
            Self::Dense(m) => Matrix::Dense(m.into_owned()),
            Self::Sparse(m) => Matrix::Sparse(m.into_owned()),
        }
    }

    /// Every entry finite, or an error naming row and column.
    pub(crate) fn check_finite(&self, input: &str, control: &Control) -> Result<()> {
        let mut bad = None;
        control.in_parts(self.columns(), self.numbers_per_column(), |part| {
            for column in part {
                self.for_each_in_column(column, |row, found| {
                    if !found.is_finite() && bad.is_none() {
                        bad = Some(crate::Error::NonFinite { input: input.into(), row, column, found });
                    }
                });
            }
        })?;
        bad.map_or(Ok(()), Err)
    }
}

/// Every entry of a vector finite, or an error naming the first that is not.
pub(crate) fn check_finite_vector(input: &str, vector: &[f64]) -> Result<()> {
    match vector.iter().position(|v| !v.is_finite()) {
        Some(row) => Err(crate::Error::NonFinite { input: input.into(), row, column: 0, found: vector[row] }),
        None => Ok(()),
    }
}

/// A length that must match, or an error naming both.
pub(crate) fn check_length(input: &str, unit: &'static str, found: usize, expected: usize) -> Result<()> {
    if found == expected {
        Ok(())
    } else {
        Err(crate::Error::ShapeMismatch { input: input.into(), unit, found, expected })
    }
}
