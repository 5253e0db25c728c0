//! Dense matrices, column-major.

use super::check_length;
use crate::error::Result;

/// A dense matrix whose columns are contiguous.
#[derive(Debug, Clone, PartialEq)]
pub struct DenseMatrix {
    rows: usize,
    columns: usize,
    values: Vec<f64>,
}

impl DenseMatrix {
    /// From values in column-major order; their number must be rows times columns.
    pub fn from_columns(rows: usize, columns: usize, values: Vec<f64>) -> Result<Self> {
        check_length("dense matrix", "entries", values.len(), rows * columns)?;
        Ok(Self { rows, columns, values })
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
        Ok(Self { rows: rows.len(), columns, values })
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

    /// All values, column-major, without a copy.
    pub fn into_values(self) -> Vec<f64> {
        self.values
    }

    pub(super) fn keep_rows(&self, kept: &[usize]) -> Self {
        let columns = (0..self.columns).map(|c| self.column(c));
        let values = columns.flat_map(|column| kept.iter().map(|&r| column[r])).collect();
        Self { rows: kept.len(), columns: self.columns, values }
    }
}
