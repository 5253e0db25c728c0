//! Samples by row, for data with many rows and few entries in each.
//!
//! A row holds 32-bit column numbers, ascending, and values; where every value is 1 none are stored, and a pass
//! over the data reads 4 bytes an entry in place of 12; values of 32 bits stay as they are and are widened where they are
//! read, which is exact. Row i is column i of the matrix `X'` in `w = X'beta`. Column numbers
//! and values may be somebody else's: they are borrowed then, and nothing of the size of the data is copied. Where every row
//! has every column, the column numbers are those of all rows, and are kept once.

use std::borrow::Cow;
use std::ops::Range;

use super::row_values::{RowValues, Stored};
use super::{check_length, kernels};
use crate::enclosure::{Enclosure, Sum, add_scattered, dot_gathered, gather_dot, scatter_add};
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
    values: Stored<'a>,
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
        Rows::checked(
            columns,
            starts,
            indices.into(),
            values.map_or(Stored::Ones, |v| Stored::Double(v.into())),
        )
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
        Self::checked(
            columns,
            starts,
            indices.into(),
            values.map_or(Stored::Ones, |v| Stored::Double(v.into())),
        )
    }

    /// The same with values of 32 bits: products with them are those with the same numbers of 64 bits.
    ///
    /// ```
    /// use equipoise::matrix::Rows;
    /// let (indices, values) = ([0, 2, 1], [1.5_f32, -1.0, 4.0]);
    /// let rows = Rows::borrowed_single(3, vec![0, 2, 3], &indices, &values)?;
    /// assert_eq!(rows.dot(0, &[2.0, 0.0, 1.0]), 2.0);
    /// # Ok::<(), equipoise::Error>(())
    /// ```
    pub fn borrowed_single(
        columns: usize,
        starts: Vec<usize>,
        indices: &'a [u32],
        values: &'a [f32],
    ) -> Result<Self> {
        Self::checked(columns, starts, indices.into(), Stored::Single(values.into()))
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
        Self::full(count, columns, Stored::Double(values.into()))
    }

    /// The same with values of 32 bits.
    ///
    /// ```
    /// use equipoise::matrix::Rows;
    /// let rows = Rows::dense_single(2, 2, &[1.5, -1.0, 4.0, 0.5])?;
    /// assert_eq!(rows.dot(1, &[2.0, 2.0]), 9.0);
    /// # Ok::<(), equipoise::Error>(())
    /// ```
    pub fn dense_single(count: usize, columns: usize, values: &'a [f32]) -> Result<Self> {
        Self::full(count, columns, Stored::Single(values.into()))
    }

    fn full(count: usize, columns: usize, values: Stored<'a>) -> Result<Self> {
        let found = values.len().unwrap_or(0);
        check_length("values of the rows", "entries", found, count.saturating_mul(columns))?;
        let Ok(last) = u32::try_from(columns) else {
            let (input, found) = ("number of columns".into(), columns as f64);
            return Err(Error::OutOfRange { input, index: 0, found, allowed: "at most 2^32 - 1" });
        };
        if let Some((place, found)) = values.of(0..found).first_not_finite() {
            let (row, column) = (place / columns, place % columns);
            return Err(Error::NonFinite { input: "samples".into(), row, column, found });
        }
        let starts = (0..=count).map(|i| i * columns).collect();
        Ok(Self { columns, starts, indices: (0..last).collect(), of_index: 0, values })
    }

    /// These rows and one more without entries; what they hold is borrowed.
    #[must_use]
    pub fn with_empty_row(&self) -> Rows<'_> {
        let mut starts = Vec::with_capacity(self.starts.len() + 1);
        starts.extend_from_slice(&self.starts);
        starts.push(self.entries());
        let values = self.values.lent();
        let (columns, of_index) = (self.columns, self.of_index);
        Rows { columns, starts, indices: (&*self.indices).into(), of_index, values }
    }

    fn checked(
        columns: usize,
        starts: Vec<usize>,
        indices: Cow<'a, [u32]>,
        values: Stored<'a>,
    ) -> Result<Self> {
        if let Some(found) = values.len() {
            check_length("values of the rows", "entries", found, indices.len())?;
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
        if let Some((k, found)) = values.first_not_finite() {
            let column = indices[k] as usize;
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

    /// Columns and values of row i.
    #[inline]
    pub fn row(&self, i: usize) -> (&[u32], RowValues<'_>) {
        let range = self.starts[i]..self.starts[i + 1];
        (self.numbers(&range), self.values.of(range))
    }

    /// The number of entries of row i.
    #[inline]
    pub fn row_entries(&self, i: usize) -> usize {
        self.starts[i + 1] - self.starts[i]
    }

    /// The values of row i where every column has one: then their order is that of the columns, whose numbers need not be
    /// read.
    #[inline]
    pub(super) fn full_row(&self, i: usize) -> Option<RowValues<'_>> {
        let range = self.starts[i]..self.starts[i + 1];
        (range.len() == self.columns && !matches!(self.values, Stored::Ones)).then(|| self.values.of(range))
    }

    /// The inner product of row i with w.
    #[inline]
    pub fn dot(&self, i: usize, w: &[f64]) -> f64 {
        let range = self.starts[i]..self.starts[i + 1];
        match &self.values {
            Stored::Ones => summed(self.numbers(&range), w),
            Stored::Double(values) => {
                let own = &values[range.start..range.end];
                if own.len() == self.columns {
                    kernels::dot(own, w)
                } else {
                    gathered(self.numbers(&range), own, w)
                }
            }
            Stored::Single(values) => {
                let own = &values[range.start..range.end];
                if own.len() == self.columns {
                    kernels::dot_single(own, w)
                } else {
                    gathered(self.numbers(&range), own, w)
                }
            }
        }
    }

    /// Calls `visit(column, value)` for every stored entry of row i.
    #[inline]
    pub fn for_each(&self, i: usize, mut visit: impl FnMut(usize, f64)) {
        let (indices, values) = self.row(i);
        match values {
            RowValues::Ones => indices.iter().for_each(|&k| visit(k as usize, 1.0)),
            RowValues::Double(values) => indices.iter().zip(values).for_each(|(&k, &v)| visit(k as usize, v)),
            RowValues::Single(values) => {
                indices.iter().zip(values).for_each(|(&k, &v)| visit(k as usize, f64::from(v)));
            }
        }
    }

    /// The inner product of row i with w, with its error.
    #[inline]
    pub fn enclose_dot(&self, i: usize, w: &[f64]) -> Enclosure {
        match self.row(i) {
            (indices, RowValues::Ones) => gather_dot(indices, None, w),
            (indices, RowValues::Double(values)) => gather_dot(indices, Some(values), w),
            (indices, RowValues::Single(values)) => dot_gathered(indices, values, w),
        }
    }

    /// `sums += t * row i`, one sum a column, with their errors.
    #[inline]
    pub fn enclose_add(&self, i: usize, t: f64, sums: &mut [Sum]) {
        match self.row(i) {
            (indices, RowValues::Ones) => scatter_add(indices, None, t, sums),
            (indices, RowValues::Double(values)) => scatter_add(indices, Some(values), t, sums),
            (indices, RowValues::Single(values)) => add_scattered(indices, values, t, sums),
        }
    }

    /// `w += t * row i`.
    #[inline]
    pub fn add(&self, i: usize, t: f64, w: &mut [f64]) {
        let range = self.starts[i]..self.starts[i + 1];
        match &self.values {
            Stored::Ones => self.numbers(&range).iter().for_each(|&k| w[k as usize] += t),
            Stored::Double(values) => {
                let own = &values[range.start..range.end];
                if own.len() == self.columns {
                    kernels::axpy(t, own, w);
                } else {
                    let entries = self.numbers(&range).iter().zip(own);
                    entries.for_each(|(&k, value)| w[k as usize] += t * value);
                }
            }
            Stored::Single(values) => {
                let own = &values[range.start..range.end];
                if own.len() == self.columns {
                    kernels::axpy_single(t, own, w);
                } else {
                    let entries = self.numbers(&range).iter().zip(own);
                    entries.for_each(|(&k, &value)| w[k as usize] += t * f64::from(value));
                }
            }
        }
    }

    /// The squared Euclidean norm of row i.
    #[inline]
    pub fn squared_norm(&self, i: usize) -> f64 {
        match self.row(i) {
            (indices, RowValues::Ones) => indices.len() as f64,
            (_, RowValues::Double(values)) => values.iter().map(|value| value * value).sum(),
            (_, RowValues::Single(values)) => values.iter().map(|&v| f64::from(v) * f64::from(v)).sum(),
        }
    }

    /// Adds `scale * (row i)'(row i)` to the lower triangle of a matrix kept column by column, `stride` apart, of which
    /// `out` holds the columns from `first` on.
    #[inline]
    pub(crate) fn add_outer(&self, i: usize, scale: f64, first: usize, out: &mut [f64], stride: usize) {
        let (indices, values) = self.row(i);
        let end = first + out.len() / stride;
        if let Some(values) = self.full_row(i).and_then(RowValues::wide) {
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
                RowValues::Ones => indices[k..].iter().for_each(|&other| column[other as usize] += scale),
                RowValues::Double(values) => {
                    let t = scale * values[k];
                    let below = indices[k..].iter().zip(&values[k..]);
                    below.for_each(|(&other, value)| column[other as usize] += t * value);
                }
                RowValues::Single(values) => {
                    let t = scale * f64::from(values[k]);
                    let below = indices[k..].iter().zip(&values[k..]);
                    below.for_each(|(&other, &value)| column[other as usize] += t * f64::from(value));
                }
            }
        }
    }

    /// The rows numbered so, copied.
    pub(crate) fn chosen(&self, numbers: &[u32]) -> Rows<'static> {
        let mut starts = Vec::with_capacity(numbers.len() + 1);
        let (mut indices, mut values) = (Vec::new(), self.values.none_yet());
        starts.push(0);
        for &i in numbers {
            let (columns, entries) = self.row(i as usize);
            indices.extend_from_slice(columns);
            values.append(entries);
            starts.push(indices.len());
        }
        let indices = indices.into();
        Rows { columns: self.columns, starts, indices, of_index: usize::MAX, values }
    }

    /// The inner product of rows i and j.
    #[inline]
    pub fn rows_dot(&self, i: usize, j: usize) -> f64 {
        match (self.full_row(i), self.full_row(j)) {
            (Some(RowValues::Double(a)), Some(RowValues::Double(b))) => return kernels::dot(a, b),
            (Some(RowValues::Single(a)), Some(RowValues::Single(b))) => return kernels::dot_singles(a, b),
            _ => {}
        }
        let ((a, a_values), (b, b_values)) = (self.row(i), self.row(j));
        let (mut p, mut q, mut sum) = (0, 0, 0.0);
        while p < a.len() && q < b.len() {
            let (left, right) = (a[p], b[q]);
            if left == right {
                sum += a_values.at(p) * b_values.at(q);
            }
            p += usize::from(left <= right);
            q += usize::from(right <= left);
        }
        sum
    }
}

/// `sum_k w[indices_k]` in two running sums: one would wait for itself at every addition.
#[inline]
fn summed(indices: &[u32], w: &[f64]) -> f64 {
    let (mut even, mut odd) = (0.0, 0.0);
    let (pairs, rest) = indices.as_chunks::<2>();
    rest.iter().for_each(|&k| even += w[k as usize]);
    for pair in pairs {
        even += w[pair[0] as usize];
        odd += w[pair[1] as usize];
    }
    even + odd
}

/// `sum_k values_k w[indices_k]` in two running sums: one would wait for itself at every addition.
#[inline]
fn gathered<T: Copy + Into<f64>>(indices: &[u32], values: &[T], w: &[f64]) -> f64 {
    let (mut even, mut odd) = (0.0, 0.0);
    let (pairs, value_pairs) = (indices.chunks_exact(2), values.chunks_exact(2));
    for (&k, &value) in pairs.remainder().iter().zip(value_pairs.remainder()) {
        even += value.into() * w[k as usize];
    }
    for (pair, value) in pairs.zip(value_pairs) {
        even += value[0].into() * w[pair[0] as usize];
        odd += value[1].into() * w[pair[1] as usize];
    }
    even + odd
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
    fn values_of_32_bits_are_the_same_numbers() {
        // No sum of these is exact: an order of additions that differs would show.
        let short: Vec<f32> = (0..600).map(|k| 1.0 / (k as f32 - 300.5)).collect();
        let wide: Vec<f64> = short.iter().map(|&value| f64::from(value)).collect();
        let (starts, indices) = (vec![0, 3, 3, 150, 300], [0..3, 0..147, 150..300]);
        let indices: Vec<u32> = indices.into_iter().flatten().collect();
        let single = Rows::borrowed_single(400, starts.clone(), &indices, &short[..300]).expect("valid");
        let double = Rows::borrowed(400, starts, &indices, Some(&wide[..300])).expect("valid");
        let dense = [Rows::dense_single(2, 300, &short), Rows::dense_single(60, 10, &short)];
        let [long, brief] = dense.map(|rows| rows.expect("valid"));
        let long_double = Rows::dense(2, 300, &wide).expect("valid");
        let brief_double = Rows::dense(60, 10, &wide).expect("valid");
        for (single, double) in [(&single, &double), (&long, &long_double), (&brief, &brief_double)] {
            let w: Vec<f64> = (0..single.columns()).map(|k| (k as f64).sin()).collect();
            for i in 0..single.len() {
                assert_eq!(single.dot(i, &w).to_bits(), double.dot(i, &w).to_bits());
                assert_eq!(single.enclose_dot(i, &w), double.enclose_dot(i, &w));
                assert_eq!(single.squared_norm(i).to_bits(), double.squared_norm(i).to_bits());
                let (mut a, mut b) = (w.clone(), w.clone());
                single.add(i, 0.3, &mut a);
                double.add(i, 0.3, &mut b);
                assert_eq!(a, b);
                let (mut a, mut b) = (vec![Sum::default(); w.len()], vec![Sum::default(); w.len()]);
                single.enclose_add(i, 0.3, &mut a);
                double.enclose_add(i, 0.3, &mut b);
                assert!(a.iter().zip(&b).all(|(a, b)| a.value() == b.value()));
                assert_eq!(single.rows_dot(0, i).to_bits(), double.rows_dot(0, i).to_bits());
                let (mut entries, mut others) = (Vec::new(), Vec::new());
                single.for_each(i, |k, value| entries.push((k, value)));
                double.for_each(i, |k, value| others.push((k, value)));
                assert_eq!(entries, others);
            }
            let size = single.columns();
            let (mut a, mut b) = (vec![0.0; size * size], vec![0.0; size * size]);
            single.add_outers([(0, 0.5), (1, 2.0)].into_iter(), 0, &mut a, size);
            double.add_outers([(0, 0.5), (1, 2.0)].into_iter(), 0, &mut b, size);
            assert_eq!(a, b);
            let (chosen, other) = (single.chosen(&[1, 0]), double.chosen(&[1, 0]));
            assert_eq!(chosen.dot(1, &vec![1.0; size]).to_bits(), other.dot(1, &vec![1.0; size]).to_bits());
            assert_eq!(single.with_empty_row().row(0), single.row(0));
        }
        assert!(Rows::borrowed_single(400, vec![0, 2], &[0, 1], &short[..3]).is_err());
        let error = Rows::dense_single(1, 2, &[1.0, f32::NAN]).expect_err("not finite");
        assert!(error.to_string().contains("row 0, column 1"), "{error}");
        let error = Rows::borrowed_single(3, vec![0, 1], &[2], &[f32::INFINITY]).expect_err("not finite");
        assert!(error.to_string().contains("row 0, column 2"), "{error}");
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
        assert_eq!((longer.row(1), longer.row(2)), (stored.row(1), (&[][..], RowValues::Double(&[]))));
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
