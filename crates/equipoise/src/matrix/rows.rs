//! Samples by row, for data with many rows and few entries in each.
//!
//! A row holds 32-bit column numbers, ascending, and values; where every value is 1 none are stored, and a pass
//! over the data reads 4 bytes an entry in place of 12. Row i is column i of the matrix `X'` in `w = X'beta`. Column numbers
//! and values may be somebody else's: they are borrowed then, and nothing of the size of the data is copied. Where every row
//! has every column, the column numbers are those of all rows, and are kept once.

use std::borrow::Cow;
use std::ops::Range;

use super::{check_length, kernels};
use crate::enclosure::{Enclosure, Sum, gather_dot, scatter_add};
use crate::error::{Error, Result};

/// A sparse matrix by rows.
///
/// ```
/// use equipoise::matrix::Rows;
/// let rows = Rows::new(3, vec![0, 2, 3], vec![0, 2, 1], Some(vec![1.5, -1.0, 4.0]))?;
/// assert_eq!((rows.len(), rows.columns(), rows.entries()), (2, 3, 3));
/// assert_eq!(rows.dot(0, &[2.0, 0.0, 1.0]), 2.0);
/// # Ok::<(), equipoise::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Rows<'a> {
    columns: usize,
    /// Where each row begins; one more entry for the end.
    starts: Vec<usize>,
    indices: Cow<'a, [u32]>,
    /// Which bits of a start count among the column numbers: all of them, or none where all rows share theirs.
    of_index: usize,
    /// `None` when every value is 1.
    values: Option<Cow<'a, [f64]>>,
}

impl Rows<'static> {
    /// From the starts of the rows (and the end of the last), column numbers that ascend within each row, and
    /// values (`None`: every value is 1).
    pub fn new(
        columns: usize,
        starts: Vec<usize>,
        indices: Vec<u32>,
        values: Option<Vec<f64>>,
    ) -> Result<Self> {
        Rows::checked(columns, starts, indices.into(), values.map(Cow::from))
    }
}

impl<'a> Rows<'a> {
    /// The same with column numbers and values that somebody else keeps.
    ///
    /// ```
    /// use equipoise::matrix::Rows;
    /// let (indices, values) = ([0, 2, 1], [1.5, -1.0, 4.0]);
    /// let rows = Rows::borrowed(3, vec![0, 2, 3], &indices, Some(&values))?;
    /// assert_eq!(rows.dot(0, &[2.0, 0.0, 1.0]), 2.0);
    /// # Ok::<(), equipoise::Error>(())
    /// ```
    pub fn borrowed(
        columns: usize,
        starts: Vec<usize>,
        indices: &'a [u32],
        values: Option<&'a [f64]>,
    ) -> Result<Self> {
        Self::checked(columns, starts, indices.into(), values.map(Cow::from))
    }

    /// Rows that have every column: their values one after the other, borrowed or owned.
    ///
    /// ```
    /// use equipoise::matrix::Rows;
    /// let values = [1.5, -1.0, 4.0, 0.5, 2.0, 3.0];
    /// let rows = Rows::dense(2, 3, &values)?;
    /// assert_eq!((rows.len(), rows.columns(), rows.entries()), (2, 3, 6));
    /// assert_eq!(rows.dot(1, &[2.0, 0.0, 1.0]), 4.0);
    /// # Ok::<(), equipoise::Error>(())
    /// ```
    pub fn dense(count: usize, columns: usize, values: impl Into<Cow<'a, [f64]>>) -> Result<Self> {
        let values = values.into();
        check_length("values of the rows", "entries", values.len(), count.saturating_mul(columns))?;
        let Ok(last) = u32::try_from(columns) else {
            let (input, found) = ("number of columns".into(), columns as f64);
            return Err(Error::OutOfRange { input, index: 0, found, allowed: "at most 2^32 - 1" });
        };
        if let Some(place) = values.iter().position(|value| !value.is_finite()) {
            let (row, column, found) = (place / columns, place % columns, values[place]);
            return Err(Error::NonFinite { input: "samples".into(), row, column, found });
        }
        let starts = (0..=count).map(|i| i * columns).collect();
        Ok(Self { columns, starts, indices: (0..last).collect(), of_index: 0, values: Some(values) })
    }

    /// These rows and one more without entries; what they hold is borrowed.
    #[must_use]
    pub fn with_empty_row(&self) -> Rows<'_> {
        let mut starts = Vec::with_capacity(self.starts.len() + 1);
        starts.extend_from_slice(&self.starts);
        starts.push(self.entries());
        let values = self.values.as_deref().map(Cow::from);
        let (columns, of_index) = (self.columns, self.of_index);
        Rows { columns, starts, indices: (&*self.indices).into(), of_index, values }
    }

    fn checked(
        columns: usize,
        starts: Vec<usize>,
        indices: Cow<'a, [u32]>,
        values: Option<Cow<'a, [f64]>>,
    ) -> Result<Self> {
        if let Some(values) = &values {
            check_length("values of the rows", "entries", values.len(), indices.len())?;
        }
        let ascending = starts.first() == Some(&0) && starts.windows(2).all(|w| w[0] <= w[1]);
        let end = if ascending { starts.last().copied().unwrap_or(0) } else { usize::MAX };
        check_length("starts of the rows", "entries up to the last start", end, indices.len())?;
        let rows = Self { columns, starts, indices, of_index: usize::MAX, values };
        for i in 0..rows.len() {
            rows.check_row(i)?;
        }
        Ok(rows)
    }

    fn check_row(&self, i: usize) -> Result<()> {
        let (indices, values) = self.row(i);
        let ascending = indices.windows(2).all(|w| w[0] < w[1]);
        let within = indices.last().is_none_or(|&last| (last as usize) < self.columns);
        if !ascending || !within {
            let input = format!("row {i} of the samples");
            let found = indices.last().map_or(0.0, |&last| f64::from(last));
            let allowed = "column numbers that ascend and are smaller than the number of columns";
            return Err(Error::OutOfRange { input, index: indices.len().saturating_sub(1), found, allowed });
        }
        if let Some(k) = values.and_then(|values| values.iter().position(|value| !value.is_finite())) {
            let (column, found) = (indices[k] as usize, values.map_or(0.0, |values| values[k]));
            return Err(Error::NonFinite { input: "samples".into(), row: i, column, found });
        }
        Ok(())
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The number of stored entries.
    pub fn entries(&self) -> usize {
        self.starts.last().copied().unwrap_or(0)
    }

    /// The column numbers of entries that are those of one row.
    #[inline]
    fn numbers(&self, range: &Range<usize>) -> &[u32] {
        let from = range.start & self.of_index;
        &self.indices[from..from + range.len()]
    }

    /// Columns and values of row i; no values where all are 1.
    #[inline]
    pub fn row(&self, i: usize) -> (&[u32], Option<&[f64]>) {
        let range = self.starts[i]..self.starts[i + 1];
        (self.numbers(&range), self.values.as_deref().map(|values| &values[range]))
    }

    /// The number of entries of row i.
    #[inline]
    pub fn row_entries(&self, i: usize) -> usize {
        self.starts[i + 1] - self.starts[i]
    }

    /// The values of row i where every column has one: then their order is that of the columns, whose numbers need not be
    /// read.
    #[inline]
    pub(super) fn full_row(&self, i: usize) -> Option<&[f64]> {
        let range = self.starts[i]..self.starts[i + 1];
        if range.len() == self.columns { self.values.as_deref().map(|values| &values[range]) } else { None }
    }

    /// The inner product of row i with w.
    #[inline]
    pub fn dot(&self, i: usize, w: &[f64]) -> f64 {
        if let Some(values) = self.full_row(i) {
            return kernels::dot(values, w);
        }
        let range = self.starts[i]..self.starts[i + 1];
        let indices = self.numbers(&range);
        // Two running sums: one would wait for itself at every addition.
        let (mut even, mut odd) = (0.0, 0.0);
        let pairs = indices.chunks_exact(2);
        match &self.values {
            None => {
                pairs.remainder().iter().for_each(|&k| even += w[k as usize]);
                for pair in pairs {
                    even += w[pair[0] as usize];
                    odd += w[pair[1] as usize];
                }
            }
            Some(values) => {
                let value_pairs = values[range].chunks_exact(2);
                for (&k, value) in pairs.remainder().iter().zip(value_pairs.remainder()) {
                    even += value * w[k as usize];
                }
                for (pair, value) in pairs.zip(value_pairs) {
                    even += value[0] * w[pair[0] as usize];
                    odd += value[1] * w[pair[1] as usize];
                }
            }
        }
        even + odd
    }

    /// Calls `visit(column, value)` for every stored entry of row i.
    #[inline]
    pub fn for_each(&self, i: usize, mut visit: impl FnMut(usize, f64)) {
        match self.row(i) {
            (indices, None) => indices.iter().for_each(|&k| visit(k as usize, 1.0)),
            (indices, Some(values)) => indices.iter().zip(values).for_each(|(&k, &v)| visit(k as usize, v)),
        }
    }

    /// The inner product of row i with w, with its error.
    #[inline]
    pub fn enclose_dot(&self, i: usize, w: &[f64]) -> Enclosure {
        let (indices, values) = self.row(i);
        gather_dot(indices, values, w)
    }

    /// `sums += t * row i`, one sum a column, with their errors.
    #[inline]
    pub fn enclose_add(&self, i: usize, t: f64, sums: &mut [Sum]) {
        let (indices, values) = self.row(i);
        scatter_add(indices, values, t, sums);
    }

    /// `w += t * row i`.
    #[inline]
    pub fn add(&self, i: usize, t: f64, w: &mut [f64]) {
        if let Some(values) = self.full_row(i) {
            kernels::axpy(t, values, w);
            return;
        }
        match self.row(i) {
            (indices, None) => indices.iter().for_each(|&k| w[k as usize] += t),
            (indices, Some(values)) => {
                indices.iter().zip(values).for_each(|(&k, value)| w[k as usize] += t * value);
            }
        }
    }

    /// The squared Euclidean norm of row i.
    #[inline]
    pub fn squared_norm(&self, i: usize) -> f64 {
        match self.row(i) {
            (indices, None) => indices.len() as f64,
            (_, Some(values)) => values.iter().map(|value| value * value).sum(),
        }
    }

    /// Adds `scale * (row i)'(row i)` to the lower triangle of a matrix kept column by column, `stride` apart, of which
    /// `out` holds the columns from `first` on.
    #[inline]
    pub(crate) fn add_outer(&self, i: usize, scale: f64, first: usize, out: &mut [f64], stride: usize) {
        let (indices, values) = self.row(i);
        let end = first + out.len() / stride;
        if let Some(values) = self.full_row(i) {
            for k in first..end.min(values.len()) {
                let start = (k - first) * stride;
                kernels::axpy(scale * values[k], &values[k..], &mut out[start + k..start + values.len()]);
            }
            return;
        }
        // Column numbers ascend: those from first to end are one stretch of them.
        let begin = if first == 0 { 0 } else { indices.partition_point(|&j| (j as usize) < first) };
        for k in begin..indices.len() {
            let j = indices[k] as usize;
            if j >= end {
                break;
            }
            let column = &mut out[(j - first) * stride..(j - first + 1) * stride];
            match values {
                None => indices[k..].iter().for_each(|&other| column[other as usize] += scale),
                Some(values) => {
                    let t = scale * values[k];
                    let below = indices[k..].iter().zip(&values[k..]);
                    below.for_each(|(&other, value)| column[other as usize] += t * value);
                }
            }
        }
    }

    /// The rows numbered so, copied.
    pub(crate) fn chosen(&self, numbers: &[u32]) -> Rows<'static> {
        let mut starts = Vec::with_capacity(numbers.len() + 1);
        let (mut indices, mut values) = (Vec::new(), self.values.as_ref().map(|_| Vec::new()));
        starts.push(0);
        for &i in numbers {
            let (columns, entries) = self.row(i as usize);
            indices.extend_from_slice(columns);
            if let (Some(values), Some(entries)) = (&mut values, entries) {
                values.extend_from_slice(entries);
            }
            starts.push(indices.len());
        }
        let (indices, values) = (indices.into(), values.map(Cow::from));
        Rows { columns: self.columns, starts, indices, of_index: usize::MAX, values }
    }

    /// The inner product of rows i and j.
    #[inline]
    pub fn rows_dot(&self, i: usize, j: usize) -> f64 {
        if let (Some(a), Some(b)) = (self.full_row(i), self.full_row(j)) {
            return kernels::dot(a, b);
        }
        let ((a, a_values), (b, b_values)) = (self.row(i), self.row(j));
        let (mut p, mut q, mut sum) = (0, 0, 0.0);
        while p < a.len() && q < b.len() {
            let (left, right) = (a[p], b[q]);
            if left == right {
                sum += match (a_values, b_values) {
                    (Some(a), Some(b)) => a[p] * b[q],
                    _ => 1.0,
                };
            }
            p += usize::from(left <= right);
            q += usize::from(right <= left);
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ones_and_stored_ones_give_the_same_numbers() {
        let (starts, indices) = (vec![0, 3, 3, 5, 6], vec![0, 2, 3, 1, 2, 3]);
        let plain = Rows::new(4, starts.clone(), indices.clone(), None).expect("valid");
        let stored = Rows::new(4, starts, indices, Some(vec![1.0; 6])).expect("valid");
        let w = [0.5, -1.0, 2.0, 4.0];
        for i in 0..4 {
            assert_eq!(plain.dot(i, &w), stored.dot(i, &w));
            assert_eq!(plain.squared_norm(i), stored.squared_norm(i));
            let (mut a, mut b) = (w, w);
            plain.add(i, 0.3, &mut a);
            stored.add(i, 0.3, &mut b);
            assert_eq!(a, b);
            for j in 0..4 {
                assert_eq!(plain.rows_dot(i, j), stored.rows_dot(i, j));
            }
        }
        assert_eq!(plain.rows_dot(0, 2), 1.0);
    }

    #[test]
    fn chosen_rows_and_stripes_of_their_outer_products() {
        let values = vec![1.0, -2.0, 0.5, 3.0, 4.0, -1.0];
        let rows = Rows::new(4, vec![0, 3, 3, 5, 6], vec![0, 2, 3, 1, 2, 3], Some(values)).expect("valid");
        let chosen = rows.chosen(&[2, 0]);
        assert_eq!((chosen.row(0), chosen.row(1)), (rows.row(2), rows.row(0)));
        let mut whole = [0.0; 16];
        rows.add_outer(0, 2.0, 0, &mut whole, 4);
        assert_eq!((whole[2], whole[10], whole[11], whole[8]), (-4.0, 8.0, -2.0, 0.0));
        let mut stripe = [0.0; 8];
        chosen.add_outer(1, 2.0, 2, &mut stripe, 4);
        assert_eq!(stripe, whole[8..]);
    }

    #[test]
    fn borrowed_rows_are_the_same_rows() {
        let (starts, indices, values) = (vec![0, 2, 2, 3], vec![0, 2, 1], vec![1.5, -1.0, 4.0]);
        let lent = Rows::borrowed(3, starts.clone(), &indices, Some(&values)).expect("valid");
        let owned = Rows::new(3, starts, indices.clone(), Some(values.clone())).expect("valid");
        assert_eq!(lent, owned);
        let longer = lent.with_empty_row();
        assert_eq!((longer.len(), longer.entries(), longer.row_entries(3)), (4, 3, 0));
        assert_eq!((longer.row(0), longer.row(2)), (owned.row(0), owned.row(2)));
        assert!(Rows::borrowed(1, vec![0, 3], &indices, None).is_err());
    }

    #[test]
    fn dense_rows_are_rows_with_every_column() {
        let values = [1.5, -1.0, 4.0, 0.5, 2.0, 3.0];
        let dense = Rows::dense(2, 3, &values).expect("valid");
        let stored =
            Rows::new(3, vec![0, 3, 6], vec![0, 1, 2, 0, 1, 2], Some(values.to_vec())).expect("valid");
        let w = [0.3, -0.7, 1.1];
        assert_eq!((dense.len(), dense.columns(), dense.entries()), (2, 3, 6));
        for i in 0..2 {
            assert_eq!(dense.row(i), stored.row(i));
            assert_eq!(dense.dot(i, &w).to_bits(), stored.dot(i, &w).to_bits());
            assert_eq!(dense.enclose_dot(i, &w), stored.enclose_dot(i, &w));
            assert_eq!(dense.squared_norm(i), stored.squared_norm(i));
            let (mut a, mut b) = (w, w);
            dense.add(i, 0.4, &mut a);
            stored.add(i, 0.4, &mut b);
            assert_eq!(a, b);
            assert_eq!(dense.rows_dot(i, 1 - i), stored.rows_dot(i, 1 - i));
        }
        let longer = dense.with_empty_row();
        assert_eq!((longer.len(), longer.entries(), longer.row_entries(2)), (3, 6, 0));
        assert_eq!((longer.row(1), longer.row(2)), (stored.row(1), (&[][..], Some(&[][..]))));
        assert_eq!(dense.chosen(&[1]).row(0), stored.row(1));
        assert!(Rows::dense(2, 2, &values).is_err());
        let error = Rows::dense(2, 2, vec![1.0, 2.0, f64::INFINITY, 0.0]).expect_err("not finite");
        assert!(error.to_string().contains("row 1, column 0"), "{error}");
        assert_eq!(Rows::dense(3, 0, vec![]).expect("rows without columns").len(), 3);
    }

    #[test]
    fn malformed_rows_are_refused() {
        assert!(Rows::new(2, vec![0, 2], vec![1, 0], None).is_err());
        assert!(Rows::new(2, vec![0, 2], vec![0, 2], None).is_err());
        assert!(Rows::new(2, vec![0, 3], vec![0, 1], None).is_err());
        assert!(Rows::new(2, vec![1, 2], vec![0, 1], None).is_err());
        assert!(Rows::new(2, vec![], vec![], None).is_err());
        let error = Rows::new(2, vec![0, 1], vec![1], Some(vec![f64::NAN])).expect_err("not finite");
        assert!(error.to_string().contains("row 0, column 1 is NaN"));
    }
}
