//! Sparse matrices by column, with 32-bit row indices. Row indices and values may be somebody else's: they are borrowed then, and
//! nothing of the size of the matrix is copied.

use std::borrow::Cow;
use std::cmp::Ordering;

use crate::error::{Error, Result};

/// A sparse matrix whose columns are contiguous, rows sorted within each.
#[derive(Debug, Clone, PartialEq)]
pub struct SparseMatrix<'a> {
    rows: usize,
    columns: usize,
    starts: Vec<usize>,
    indices: Cow<'a, [u32]>,
    values: Cow<'a, [f64]>,
}

impl SparseMatrix<'static> {
    /// From compressed columns: column c holds entries `starts[c]..starts[c + 1]`, its row indices
    /// strictly increasing.
    pub fn from_columns(
        rows: usize,
        columns: usize,
        starts: Vec<usize>,
        indices: Vec<u32>,
        values: Vec<f64>,
    ) -> Result<Self> {
        SparseMatrix::checked(rows, columns, starts, indices.into(), values.into())
    }

    /// From (row, column, value) triplets in any order; duplicates are added up.
    pub fn from_triplets(rows: usize, columns: usize, triplets: &[(usize, usize, f64)]) -> Result<Self> {
        let mut sorted = triplets.to_vec();
        sorted.sort_by_key(|&(r, c, _)| (c, r));
        let mut starts = vec![0; columns + 1];
        let (mut indices, mut values): (Vec<u32>, Vec<f64>) = (Vec::new(), Vec::new());
        let mut last = None;
        for (r, c, value) in sorted {
            if r >= rows || c >= columns {
                let (index, found) = (r, c as f64);
                let allowed = "row and column indices within the matrix";
                return Err(Error::OutOfRange { input: "sparse triplets".into(), index, found, allowed });
            }
            if last == Some((r, c)) {
                *values.last_mut().expect("a duplicate follows an entry") += value;
                continue;
            }
            last = Some((r, c));
            indices.push(r as u32);
            values.push(value);
            starts[c + 1] = values.len();
        }
        for c in 0..columns {
            starts[c + 1] = starts[c + 1].max(starts[c]);
        }
        Ok(Self { rows, columns, starts, indices: indices.into(), values: values.into() })
    }
}

impl<'a> SparseMatrix<'a> {
    /// The same with row indices and values that somebody else keeps.
    ///
    /// ```
    /// use equipoise::matrix::SparseMatrix;
    /// let (indices, values) = ([0, 1, 1], [1.5, -1.0, 4.0]);
    /// let m = SparseMatrix::borrowed(2, 2, vec![0, 2, 3], &indices, &values)?;
    /// assert_eq!(m.column(1).collect::<Vec<_>>(), [(1, 4.0)]);
    /// # Ok::<(), equipoise::Error>(())
    /// ```
    pub fn borrowed(
        rows: usize,
        columns: usize,
        starts: Vec<usize>,
        indices: &'a [u32],
        values: &'a [f64],
    ) -> Result<Self> {
        Self::checked(rows, columns, starts, indices.into(), values.into())
    }

    fn checked(
        rows: usize,
        columns: usize,
        starts: Vec<usize>,
        indices: Cow<'a, [u32]>,
        values: Cow<'a, [f64]>,
    ) -> Result<Self> {
        super::check_length("column starts", "entries", starts.len(), columns + 1)?;
        super::check_length("sparse values", "entries", values.len(), indices.len())?;
        super::check_length("column starts (last)", "entries", starts[columns], indices.len())?;
        super::check_length("column starts (first)", "entries", starts[0], 0)?;
        let matrix = Self { rows, columns, starts, indices, values };
        for c in 0..columns {
            let (from, to) = (matrix.starts[c], matrix.starts[c + 1]);
            let sorted = from <= to
                && to <= matrix.indices.len()
                && matrix.indices[from..to].windows(2).all(|pair| pair[0] < pair[1])
                && matrix.indices[from..to].last().is_none_or(|&last| (last as usize) < rows);
            if !sorted {
                return Err(Error::OutOfRange {
                    input: "sparse row indices".into(),
                    index: c,
                    found: from as f64,
                    allowed: "strictly increasing row indices below the number of rows in every column",
                });
            }
        }
        Ok(matrix)
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The rows of the entries of column c.
    pub(crate) fn column_rows(&self, c: usize) -> &[u32] {
        &self.indices[self.starts[c]..self.starts[c + 1]]
    }

    /// Rows and values of column c.
    pub(crate) fn column_parts(&self, c: usize) -> (&[u32], &[f64]) {
        let range = self.starts[c]..self.starts[c + 1];
        (&self.indices[range.clone()], &self.values[range])
    }

    /// Number of stored entries.
    pub fn stored(&self) -> usize {
        self.values.len()
    }

    /// The stored entries of column c as (row, value).
    #[inline]
    pub fn column(&self, c: usize) -> impl Iterator<Item = (usize, f64)> {
        let range = self.starts[c]..self.starts[c + 1];
        self.indices[range.clone()].iter().map(|&r| r as usize).zip(self.values[range].iter().copied())
    }

    pub(super) fn entry(&self, r: usize, c: usize) -> f64 {
        let range = self.starts[c]..self.starts[c + 1];
        match self.indices[range.clone()].binary_search(&(r as u32)) {
            Ok(at) => self.values[range.start + at],
            Err(_) => 0.0,
        }
    }

    pub(super) fn columns_dot(&self, i: usize, j: usize, weight: impl Fn(usize) -> f64) -> f64 {
        let (mut a, mut b) = (self.starts[i], self.starts[j]);
        let (a_end, b_end) = (self.starts[i + 1], self.starts[j + 1]);
        let mut sum = 0.0;
        while a < a_end && b < b_end {
            match self.indices[a].cmp(&self.indices[b]) {
                Ordering::Less => a += 1,
                Ordering::Greater => b += 1,
                Ordering::Equal => {
                    sum += weight(self.indices[a] as usize) * self.values[a] * self.values[b];
                    a += 1;
                    b += 1;
                }
            }
        }
        sum
    }

    /// The same with a copy of what is borrowed.
    #[must_use]
    pub fn into_owned(self) -> SparseMatrix<'static> {
        let Self { rows, columns, starts, indices, values } = self;
        let (indices, values) = (indices.into_owned().into(), values.into_owned().into());
        SparseMatrix { rows, columns, starts, indices, values }
    }

    /// The same with row r times `factors[r]`.
    pub(crate) fn with_rows_times(&self, factors: &[f64]) -> SparseMatrix<'static> {
        let values =
            self.values.iter().zip(self.indices.iter()).map(|(value, &r)| value * factors[r as usize]);
        SparseMatrix {
            rows: self.rows,
            columns: self.columns,
            starts: self.starts.clone(),
            indices: self.indices.to_vec().into(),
            values: values.collect(),
        }
    }

    pub(super) fn keep_rows(&self, kept: &[usize]) -> SparseMatrix<'static> {
        let mut new_row = vec![None; self.rows];
        for (new, &old) in kept.iter().enumerate() {
            new_row[old] = Some(new);
        }
        let triplets: Vec<_> = (0..self.columns)
            .flat_map(|c| self.column(c).map(move |(r, v)| (r, c, v)))
            .filter_map(|(r, c, v)| new_row[r].map(|r| (r, c, v)))
            .collect();
        SparseMatrix::from_triplets(kept.len(), self.columns, &triplets)
            .expect("indices come from a valid matrix")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn triplets_are_sorted_and_added_up() {
        let m = SparseMatrix::from_triplets(3, 4, &[(2, 3, 1.0), (0, 1, 2.0), (2, 3, 4.0), (1, 1, 3.0)])
            .expect("valid triplets");
        assert_eq!(m.stored(), 3);
        assert_eq!(m.column(1).collect::<Vec<_>>(), vec![(0, 2.0), (1, 3.0)]);
        assert_eq!(m.column(0).count(), 0);
        assert_eq!(m.entry(2, 3), 5.0);
        assert_eq!(m.keep_rows(&[2, 0]).entry(0, 3), 5.0);
    }

    #[test]
    fn unsorted_columns_are_refused() {
        let bad = SparseMatrix::from_columns(3, 1, vec![0, 2], vec![2, 1], vec![1.0, 1.0]);
        assert!(matches!(bad, Err(Error::OutOfRange { .. })));
    }
}
