//! Dense matrices, column-major. The values may be somebody else's: they are borrowed then, and nothing is copied.

use std::borrow::Cow;

use super::check_length;
use crate::error::Result;

/// A dense matrix whose columns are contiguous.
#[derive(Debug, Clone, PartialEq)]
pub struct DenseMatrix<'a> {
    rows: usize,
    columns: usize,
    values: Cow<'a, [f64]>,
}

impl DenseMatrix<'static> {
    /// From values in column-major order; their number must be rows times columns.
    pub fn from_columns(rows: usize, columns: usize, values: Vec<f64>) -> Result<Self> {
        Self::checked(rows, columns, values.into())
    }

    /// From rows of one length.
    pub fn from_rows<R: AsRef<[f64]>>(rows: &[R]) -> Result<Self> {
        let columns = rows.first().map_or(0, |row| row.as_ref().len());
        let mut values = vec![0.0; rows.len() * columns];
        for (r, row) in rows.iter().enumerate() {
            check_length(&format!("row {r} of the matrix"), "entries", row.as_ref().len(), columns)?;
            for (c, &value) in row.as_ref().iter().enumerate() {
                values[c * rows.len() + r] = value;
            }
        }
        Ok(Self { rows: rows.len(), columns, values: values.into() })
    }
}

impl<'a> DenseMatrix<'a> {
    /// From values in column-major order that somebody else keeps.
    ///
    /// ```
    /// let values = [1.0, 3.0, 2.0, 4.0];
    /// let m = equipoise::DenseMatrix::borrowed(2, 2, &values)?;
    /// assert_eq!(m, equipoise::DenseMatrix::from_rows(&[&[1.0, 2.0], &[3.0, 4.0]])?);
    /// # Ok::<(), equipoise::Error>(())
    /// ```
    pub fn borrowed(rows: usize, columns: usize, values: &'a [f64]) -> Result<Self> {
        Self::checked(rows, columns, values.into())
    }

    fn checked(rows: usize, columns: usize, values: Cow<'a, [f64]>) -> Result<Self> {
        check_length("dense matrix", "entries", values.len(), rows.saturating_mul(columns))?;
        Ok(Self { rows, columns, values })
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Column c.
    #[inline]
    pub fn column(&self, c: usize) -> &[f64] {
        &self.values[c * self.rows..(c + 1) * self.rows]
    }

    /// All values, column-major.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// All values, column-major; without a copy unless they are borrowed.
    pub fn into_values(self) -> Vec<f64> {
        self.values.into_owned()
    }

    /// The same with a copy of what is borrowed.
    #[must_use]
    pub fn into_owned(self) -> DenseMatrix<'static> {
        let Self { rows, columns, values } = self;
        DenseMatrix { rows, columns, values: values.into_owned().into() }
    }

    /// The same with row r times `factors[r]`.
    pub(crate) fn with_rows_times(&self, factors: &[f64]) -> DenseMatrix<'static> {
        let columns = (0..self.columns).map(|c| self.column(c));
        let values =
            columns.flat_map(|column| column.iter().zip(factors).map(|(value, t)| value * t)).collect();
        DenseMatrix { rows: self.rows, columns: self.columns, values }
    }

    pub(super) fn keep_rows(&self, kept: &[usize]) -> DenseMatrix<'static> {
        let columns = (0..self.columns).map(|c| self.column(c));
        let values = columns.flat_map(|column| kept.iter().map(|&r| column[r])).collect();
        DenseMatrix { rows: kept.len(), columns: self.columns, values }
    }
}
