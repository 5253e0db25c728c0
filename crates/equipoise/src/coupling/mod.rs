//! The coupling `A x = b`: none, one row, the sum over blocks, several rows.
//!
//! A coupling answers for its columns, its residual and the independence of its rows. It knows nothing
//! of gradients, of h or of which pair moves next.

mod apart;
mod columns;
mod enclosed;
mod independent;
mod outers;
mod passes;
mod units;

pub(crate) use apart::{Apart, Members};
pub(crate) use columns::CouplingColumns;
pub use enclosed::{ALLOWED_SHARE, Miss};
pub use independent::DroppedRow;
pub(crate) use independent::independent_rows;
pub(crate) use outers::Outers;
pub(crate) use units::RowUnits;

use crate::control::Control;
use crate::error::{Error, Result};
use crate::matrix::{Matrix, check_finite_vector, check_length, max_abs};
use crate::separable::Values;

/// The linear equations `A x = b` that tie the variables together.
///
/// ```
/// use equipoise::Coupling;
/// let budget = Coupling::sum(1.0)?; // x_1 + ... + x_n = 1
/// assert_eq!(budget.rows(), 1);
/// # Ok::<(), equipoise::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Coupling {
    shape: Shape,
    rhs: Vec<f64>,
}

/// How the columns of A look.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Shape {
    /// m = 0.
    None,
    /// One row; weights may be one for all.
    Row(Values),
    /// `A_i = I`: column c is the unit vector `c mod size`.
    BlockSum,
    /// Any matrix of m rows.
    Rows(Matrix<'static>),
}

impl Coupling {
    /// No equations.
    pub fn none() -> Self {
        Self { shape: Shape::None, rhs: Vec::new() }
    }

    /// The sum of all coordinates equals `rhs`.
    pub fn sum(rhs: f64) -> Result<Self> {
        Self::row(1.0, rhs)
    }

    /// The sum over blocks of size p equals `rhs`, a vector of length p: every `A_i` is the identity.
    pub fn block_sum(rhs: Vec<f64>) -> Result<Self> {
        check_finite_vector("coupling rhs", &rhs)?;
        if rhs.is_empty() {
            return Err(Error::ShapeMismatch {
                input: "coupling rhs".into(),
                unit: "entries",
                found: 0,
                expected: 1,
            });
        }
        Ok(Self { shape: Shape::BlockSum, rhs })
    }

    /// One row: the weighted sum of the coordinates equals `rhs`.
    pub fn row(weights: impl Into<Values>, rhs: f64) -> Result<Self> {
        let weights = weights.into();
        check_finite_vector("coupling weights", weights.as_slice())?;
        check_finite_vector("coupling rhs", &[rhs])?;
        Ok(Self { shape: Shape::Row(weights), rhs: vec![rhs] })
    }

    /// Several rows, dense or sparse.
    pub fn rows_of(matrix: impl Into<Matrix<'static>>, rhs: Vec<f64>) -> Result<Self> {
        let matrix = matrix.into();
        check_length("coupling rhs", "entries", rhs.len(), matrix.rows())?;
        matrix.check_finite("coupling matrix", &Control::unlimited())?;
        check_finite_vector("coupling rhs", &rhs)?;
        let shape = if matrix.rows() == 0 { Shape::None } else { Shape::Rows(matrix) };
        Ok(Self { shape, rhs })
    }

    /// The number m of rows.
    pub fn rows(&self) -> usize {
        self.rhs.len()
    }

    /// The right-hand side b.
    pub fn rhs(&self) -> &[f64] {
        &self.rhs
    }

    /// Whether it is a sum over blocks, [`Coupling::block_sum`].
    pub fn is_block_sum(&self) -> bool {
        self.shape == Shape::BlockSum
    }

    /// The one coefficient of a single row, where it is the same everywhere.
    #[inline]
    pub(crate) fn uniform_row(&self) -> Option<f64> {
        match &self.shape {
            Shape::Row(Values::Uniform(a)) => Some(*a),
            _ => None,
        }
    }

    pub(crate) fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Whether the coupling fits n variables.
    pub(crate) fn check_dimension(&self, n: usize) -> Result<()> {
        match &self.shape {
            Shape::None => Ok(()),
            Shape::Row(weights) => {
                weights.len().map_or(Ok(()), |found| check_length("coupling weights", "entries", found, n))
            }
            Shape::BlockSum => {
                let expected = n.div_ceil(self.rows()) * self.rows();
                check_length("variables under a block sum", "variables", n, expected)
            }
            Shape::Rows(matrix) => check_length("coupling matrix", "columns", matrix.columns(), n),
        }
    }

    /// The inner product of column c with y.
    #[inline]
    pub fn column_dot(&self, c: usize, y: &[f64]) -> f64 {
        match &self.shape {
            Shape::None => 0.0,
            Shape::Row(weights) => weights.at(c) * y[0],
            Shape::BlockSum => y[c % self.rhs.len()],
            Shape::Rows(matrix) => matrix.column_dot(c, y),
        }
    }

    /// `y += t * column c`.
    #[inline]
    pub fn add_column(&self, c: usize, t: f64, y: &mut [f64]) {
        match &self.shape {
            Shape::None => {}
            Shape::Row(weights) => y[0] += t * weights.at(c),
            Shape::BlockSum => y[c % self.rhs.len()] += t,
            Shape::Rows(matrix) => matrix.add_column(c, t, y),
        }
    }

    /// Adds `t * (column c)(column c)'` to the lower triangle of a column-major m x m matrix.
    pub(crate) fn add_outer(&self, c: usize, t: f64, gram: &mut [f64]) {
        let m = self.rows();
        match &self.shape {
            Shape::None => {}
            Shape::Row(weights) => gram[0] += t * weights.at(c) * weights.at(c),
            Shape::BlockSum => gram[(c % m) * (m + 1)] += t,
            Shape::Rows(Matrix::Dense(matrix)) => {
                let column = matrix.column(c);
                for k in 0..m {
                    crate::matrix::axpy(t * column[k], &column[k..], &mut gram[k * m + k..(k + 1) * m]);
                }
            }
            Shape::Rows(Matrix::Sparse(matrix)) => {
                for (k, (row, value)) in matrix.column(c).enumerate() {
                    for (other, second) in matrix.column(c).skip(k) {
                        gram[row * m + other] += t * value * second;
                    }
                }
            }
        }
    }

    /// The coefficient of row r in column c.
    pub(crate) fn entry(&self, r: usize, c: usize) -> f64 {
        match &self.shape {
            Shape::None => 0.0,
            Shape::Row(weights) => weights.at(c),
            Shape::BlockSum => f64::from(c % self.rhs.len() == r),
            Shape::Rows(matrix) => matrix.entry(r, c),
        }
    }

    /// The Euclidean norm of every row, over n columns.
    pub(crate) fn row_norms(&self, n: usize) -> Vec<f64> {
        let mut squares = vec![0.0; self.rows()];
        match &self.shape {
            Shape::None => {}
            Shape::Row(weights) => squares[0] = (0..n).map(|c| weights.at(c) * weights.at(c)).sum(),
            Shape::BlockSum => squares.fill((n / self.rhs.len()) as f64),
            Shape::Rows(matrix) => matrix.for_each(|r, _, value| squares[r] += value * value),
        }
        squares.iter().map(|square| square.sqrt()).collect()
    }

    /// Copies column c into `out` (m entries).
    pub(crate) fn copy_column(&self, c: usize, out: &mut [f64]) {
        out.fill(0.0);
        self.add_column(c, 1.0, out);
    }

    /// `A x - b`, into `out`.
    pub fn residual(&self, x: &[f64], out: &mut [f64]) {
        if let Shape::Row(Values::Uniform(a)) = &self.shape {
            out[0] = a * x.iter().sum::<f64>() - self.rhs[0];
            return;
        }
        out.iter_mut().zip(&self.rhs).for_each(|(out, b)| *out = -b);
        if self.rows() > 0 {
            x.iter().enumerate().for_each(|(c, &t)| self.add_column(c, t, out));
        }
    }

    /// The largest size of an entry of `A x - b`.
    pub fn infeasibility(&self, x: &[f64]) -> f64 {
        let mut residual = vec![0.0; self.rows()];
        self.residual(x, &mut residual);
        max_abs(&residual)
    }

    /// The coupling that keeps the given rows.
    pub(crate) fn keep_rows(&self, kept: &[usize]) -> Self {
        if kept.is_empty() {
            return Self::none();
        }
        let rhs = kept.iter().map(|&r| self.rhs[r]).collect();
        match &self.shape {
            Shape::Rows(matrix) => {
                Self { shape: Shape::Rows(matrix.keep_rows(kept)), rhs }.in_its_own_shape()
            }
            _ => self.clone(),
        }
    }

    /// The same equations; a matrix of one row is that row, so that whatever is said of one row holds for it.
    pub(crate) fn in_its_own_shape(self) -> Self {
        let shape = match self.shape {
            Shape::Rows(matrix) if matrix.rows() == 1 => Shape::Row(Values::Each(match &matrix {
                Matrix::Dense(row) => row.values().to_vec(),
                Matrix::Sparse(_) => {
                    let mut row = vec![0.0; matrix.columns()];
                    matrix.for_each(|_, c, value| row[c] = value);
                    row
                }
            })),
            other => other,
        };
        Self { shape, rhs: self.rhs }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::SparseMatrix;

    #[test]
    fn every_shape_gives_the_same_numbers_as_its_matrix() {
        let x = [1.0, -2.0, 3.0, 0.5];
        let rows = Matrix::from_rows(&[[1.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 1.0]]).expect("rectangular");
        let explicit = Coupling::rows_of(rows, vec![1.0, 2.0]).expect("valid");
        let implicit = Coupling::block_sum(vec![1.0, 2.0]).expect("valid");
        let (mut a, mut b) = ([0.0; 2], [0.0; 2]);
        explicit.residual(&x, &mut a);
        implicit.residual(&x, &mut b);
        assert_eq!(a, b);
        let (mut g, mut h) = ([0.0; 4], [0.0; 4]);
        for c in 0..4 {
            explicit.add_outer(c, 2.0, &mut g);
            implicit.add_outer(c, 2.0, &mut h);
            assert_eq!(explicit.column_dot(c, &[3.0, 4.0]), implicit.column_dot(c, &[3.0, 4.0]));
        }
        assert_eq!((g[0], g[1], g[3]), (h[0], h[1], h[3]));
        assert_eq!(explicit.infeasibility(&x), 3.5);
    }

    #[test]
    fn a_matrix_of_one_row_is_that_row() {
        let weights = vec![1.0, 0.0, -2.0];
        let row = Coupling::row(weights.clone(), 3.0).expect("valid");
        let dense = Matrix::from_rows(&[&weights]).expect("rectangular");
        let sparse = SparseMatrix::from_triplets(1, 3, &[(0, 2, -2.0), (0, 0, 1.0)]).expect("inside");
        for matrix in [dense, sparse.into()] {
            let given = Coupling::rows_of(matrix, vec![3.0]).expect("valid");
            assert_ne!(given, row);
            assert_eq!(given.in_its_own_shape(), row);
        }
        assert_eq!(row.clone().in_its_own_shape(), row);
    }
}
