//! A matrix by rows, dense or sparse: for methods that look at one sample at a time.

use super::{Matrix, Rows, SparseMatrix, dot};
use crate::control::Control;
use crate::enclosure::{self, Enclosure};
use crate::error::Result;

/// Rows that are turned over together.
const ROWS_AT_A_TIME: usize = 16;
/// How many such handfuls there are between two looks at the control.
const ROWS_PER_LOOK: usize = 64;

/// Rows of a matrix, contiguous.
#[derive(Debug, Clone, PartialEq)]
pub enum ByRow {
    /// Every entry, row after row.
    Dense {
        /// The number of columns.
        columns: usize,
        /// `rows * columns` entries.
        values: Vec<f64>,
    },
    /// The entries that are stored.
    Sparse(Rows<'static>),
}

impl ByRow {
    /// The rows of a matrix that is kept by columns.
    pub fn from_matrix(matrix: &Matrix) -> Result<Self> {
        Self::from_matrix_within(matrix, &Control::unlimited())
    }

    /// The same under a control; [`Error::StoppedEarly`](crate::Error::StoppedEarly) where it ended the work.
    pub fn from_matrix_within(matrix: &Matrix, control: &Control) -> Result<Self> {
        control.check()?;
        match matrix {
            Matrix::Dense(dense) => {
                let (rows, columns) = (dense.rows(), dense.columns());
                let mut values = vec![0.0; rows * columns];
                // A few rows at a time, so that what is written stays in the cache.
                for (k, few) in values.chunks_mut(ROWS_AT_A_TIME * columns.max(1)).enumerate() {
                    if k % ROWS_PER_LOOK == 0 {
                        control.check()?;
                    }
                    for c in 0..columns {
                        let column = &dense.column(c)[k * ROWS_AT_A_TIME..];
                        few.chunks_exact_mut(columns).zip(column).for_each(|(row, v)| row[c] = *v);
                    }
                }
                Ok(Self::Dense { columns, values })
            }
            Matrix::Sparse(sparse) => Ok(Self::Sparse(transposed(sparse)?)),
        }
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        match self {
            Self::Dense { columns, values } => values.len().checked_div(*columns).unwrap_or(0),
            Self::Sparse(rows) => rows.len(),
        }
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of columns.
    pub fn columns(&self) -> usize {
        match self {
            Self::Dense { columns, .. } => *columns,
            Self::Sparse(rows) => rows.columns(),
        }
    }

    /// The inner product of row i with x.
    #[inline]
    pub fn dot(&self, i: usize, x: &[f64]) -> f64 {
        match self {
            Self::Dense { columns, values } => dot(&values[i * columns..(i + 1) * columns], x),
            Self::Sparse(rows) => rows.dot(i, x),
        }
    }

    /// The same with its error.
    pub fn enclose_dot(&self, i: usize, x: &[f64]) -> Enclosure {
        match self {
            Self::Dense { columns, values } => enclosure::dot(&values[i * columns..(i + 1) * columns], x),
            Self::Sparse(rows) => rows.enclose_dot(i, x),
        }
    }

    /// Entry c of row i.
    #[inline]
    pub fn entry(&self, i: usize, c: usize) -> f64 {
        match self {
            Self::Dense { columns, values } => values[i * columns + c],
            Self::Sparse(rows) => {
                let (indices, values) = rows.row(i);
                match indices.binary_search(&(c as u32)) {
                    Ok(at) => values.at(at),
                    Err(_) => 0.0,
                }
            }
        }
    }

    /// `x += t * row i`.
    #[inline]
    pub fn add(&self, i: usize, t: f64, x: &mut [f64]) {
        match self {
            Self::Dense { columns, values } => super::axpy(t, &values[i * columns..(i + 1) * columns], x),
            Self::Sparse(rows) => rows.add(i, t, x),
        }
    }

    /// Shows every stored entry of row i, by column.
    #[inline]
    pub fn for_each(&self, i: usize, mut visit: impl FnMut(usize, f64)) {
        match self {
            Self::Dense { columns, values } => {
                values[i * columns..(i + 1) * columns].iter().enumerate().for_each(|(c, v)| visit(c, *v));
            }
            Self::Sparse(rows) => rows.for_each(i, visit),
        }
    }
}

/// A sparse matrix by rows, from its columns.
fn transposed(matrix: &SparseMatrix) -> Result<Rows<'static>> {
    let mut starts = vec![0usize; matrix.rows() + 1];
    for c in 0..matrix.columns() {
        matrix.column_rows(c).iter().for_each(|&r| starts[r as usize + 1] += 1);
    }
    (0..matrix.rows()).for_each(|r| starts[r + 1] += starts[r]);
    let mut next = starts.clone();
    let (mut indices, mut values) = (vec![0u32; matrix.stored()], vec![0.0; matrix.stored()]);
    for c in 0..matrix.columns() {
        for (r, value) in matrix.column(c) {
            indices[next[r]] = c as u32;
            values[next[r]] = value;
            next[r] += 1;
        }
    }
    Rows::new(matrix.columns(), starts, indices, Some(values))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_both_forms_agree_with_the_matrix() {
        let rows = [[1.0, 0.0, 2.0], [0.0, 0.0, 0.0], [-1.0, 4.0, 0.5], [0.0, 3.0, 0.0]];
        let dense = Matrix::from_rows(&rows).expect("rectangular");
        let mut triplets = Vec::new();
        dense.for_each(|r, c, v| triplets.push((r, c, v)));
        let sparse = Matrix::from(SparseMatrix::from_triplets(4, 3, &triplets).expect("within"));
        for matrix in [dense, sparse] {
            let by_row = ByRow::from_matrix(&matrix).expect("valid");
            assert_eq!((by_row.len(), by_row.columns(), by_row.is_empty()), (4, 3, false));
            for (r, row) in rows.iter().enumerate() {
                let x = [0.5, -2.0, 3.0];
                let (mut sum, mut seen) = (vec![1.0; 3], 0.0);
                by_row.add(r, 2.0, &mut sum);
                by_row.for_each(r, |c, v| seen += v * x[c]);
                let expected: f64 = row.iter().zip(&x).map(|(a, b)| a * b).sum();
                assert_eq!((by_row.dot(r, &x), seen), (expected, expected));
                for (c, value) in row.iter().enumerate() {
                    assert_eq!((by_row.entry(r, c), sum[c]), (*value, 1.0 + 2.0 * value));
                }
            }
        }
    }
}
