//! Sparse matrices in compressed form, rows or columns alike, borrowed where they can be.
//!
//! ```text
//! entries of k = indices[starts[k] .. starts[k + 1]], ascending, with their values
//! ```
//!
//! Turning by counting: the entries of every inner index are counted, then put where the counts say; what ascends stays
//! ascending. Must not know: Python.

use std::borrow::Cow;

use equipoise::matrix::Rows;
use equipoise::{Control, SparseMatrix};

use crate::errors::{Answered, Fault};

/// A matrix by its outer index.
pub(crate) struct Compressed<'a> {
    inner: usize,
    starts: Vec<usize>,
    indices: Cow<'a, [u32]>,
    values: Numbers<'a>,
}

/// Values of 64 bits, or of 32 that are somebody else's: where they are rows they stay as they are.
pub(crate) enum Numbers<'a> {
    Double(Cow<'a, [f64]>),
    Single(&'a [f32]),
}

impl Numbers<'_> {
    fn len(&self) -> usize {
        match self {
            Self::Double(list) => list.len(),
            Self::Single(list) => list.len(),
        }
    }

    fn cut(self, end: usize) -> Self {
        match self {
            Self::Double(list) => Self::Double(cut(list, end)),
            Self::Single(list) => Self::Single(&list[..end]),
        }
    }

    fn are_ones(&self) -> bool {
        match self {
            Self::Double(list) => list.iter().all(|value| *value == 1.0),
            Self::Single(list) => list.iter().all(|value| *value == 1.0),
        }
    }

    /// In 64 bits.
    fn into_owned(self) -> Vec<f64> {
        match self {
            Self::Double(list) => list.into_owned(),
            Self::Single(list) => list.iter().map(|&value| f64::from(value)).collect(),
        }
    }
}

impl<'a> Compressed<'a> {
    /// Refuses starts that fall or do not fit, and indices out of range; order and values are the library's to judge.
    pub(crate) fn new(
        outer: usize,
        inner: usize,
        starts: Vec<usize>,
        indices: Cow<'a, [u32]>,
        values: Numbers<'a>,
    ) -> Answered<Self> {
        let refuse = |words: String| Err(Fault::Refused(words));
        if u32::try_from(inner).is_err() {
            return refuse(format!(
                "a sparse matrix has {inner} entries along one side; allowed: at most {}",
                u32::MAX
            ));
        }
        if starts.len().checked_sub(1) != Some(outer) {
            let found = starts.len();
            return refuse(format!(
                "indptr has {found} entries; expected {}, one more than the shape says",
                outer + 1
            ));
        }
        let end = starts.last().copied().unwrap_or(0);
        if starts.first() != Some(&0) || starts.windows(2).any(|pair| pair[0] > pair[1]) {
            return refuse("indptr must begin with 0 and never fall".into());
        }
        if end > indices.len() || end > values.len() {
            let (indices, values) = (indices.len(), values.len());
            return refuse(format!(
                "indptr ends at {end}, but there are {indices} indices and {values} values"
            ));
        }
        // SciPy may keep room behind the last entry.
        let (indices, values) = (cut(indices, end), values.cut(end));
        Ok(Self { inner, starts, indices, values })
    }

    /// The same from the library's rows.
    pub(crate) fn of_rows(rows: &Rows<'_>) -> Compressed<'static> {
        let mut starts = Vec::with_capacity(rows.len() + 1);
        starts.push(0);
        let (mut indices, mut values) = (Vec::new(), Vec::new());
        for i in 0..rows.len() {
            rows.for_each(i, |column, value| {
                indices.push(column as u32);
                values.push(value);
            });
            starts.push(indices.len());
        }
        let values = Numbers::Double(values.into());
        Compressed { inner: rows.columns(), starts, indices: indices.into(), values }
    }

    pub(crate) fn outer(&self) -> usize {
        self.starts.len() - 1
    }

    pub(crate) fn inner(&self) -> usize {
        self.inner
    }

    pub(crate) fn entries(&self) -> usize {
        self.indices.len()
    }

    /// Calls `visit(inner index, value)` for the entries of k that are in range.
    pub(crate) fn for_each(&self, k: usize, mut visit: impl FnMut(usize, f64)) {
        let range = self.starts[k]..self.starts[k + 1];
        let places = self.indices[range.clone()].iter().map(|&index| index as usize);
        let mut within = |(index, value): (usize, f64)| {
            if index < self.inner {
                visit(index, value);
            }
        };
        match &self.values {
            Numbers::Double(list) => places.zip(list[range].iter().copied()).for_each(&mut within),
            Numbers::Single(list) => places.zip(list[range].iter().map(|&v| f64::from(v))).for_each(within),
        }
    }

    /// As the library's rows, borrowed.
    pub(crate) fn rows(&self, control: &Control) -> Answered<Rows<'_>> {
        control.check()?;
        let starts = self.starts.clone();
        Ok(match &self.values {
            values if values.are_ones() => Rows::borrowed(self.inner, starts, &self.indices, None)?,
            Numbers::Double(list) => Rows::borrowed(self.inner, starts, &self.indices, Some(list))?,
            Numbers::Single(list) => Rows::borrowed_single(self.inner, starts, &self.indices, list)?,
        })
    }

    /// As a matrix by columns, its own outer index, borrowed where the values have 64 bits.
    pub(crate) fn matrix(&self, control: &Control) -> Answered<SparseMatrix<'_>> {
        control.check()?;
        let (outer, starts) = (self.outer(), self.starts.clone());
        Ok(match &self.values {
            Numbers::Double(list) => SparseMatrix::borrowed(self.inner, outer, starts, &self.indices, list)?,
            Numbers::Single(list) => {
                let values = list.iter().map(|&value| f64::from(value)).collect();
                SparseMatrix::from_columns(self.inner, outer, starts, self.indices.to_vec(), values)?
            }
        })
    }

    pub(crate) fn into_rows(self, control: &Control) -> Answered<Rows<'static>> {
        control.check()?;
        let values = (!self.values.are_ones()).then(|| self.values.into_owned());
        Ok(Rows::new(self.inner, self.starts, self.indices.into_owned(), values)?)
    }

    pub(crate) fn into_matrix(self, control: &Control) -> Answered<SparseMatrix<'static>> {
        control.check()?;
        let outer = self.outer();
        let (indices, values) = (self.indices.into_owned(), self.values.into_owned());
        Ok(SparseMatrix::from_columns(self.inner, outer, self.starts, indices, values)?)
    }
}

fn cut<T: Clone>(list: Cow<'_, [T]>, end: usize) -> Cow<'_, [T]> {
    match list {
        Cow::Borrowed(list) => Cow::Borrowed(&list[..end]),
        Cow::Owned(mut list) => {
            list.truncate(end);
            Cow::Owned(list)
        }
    }
}

/// The same matrix by its other index.
pub(crate) fn turned(matrix: &Compressed<'_>, control: &Control) -> Answered<Compressed<'static>> {
    if let Some(place) = matrix.indices.iter().position(|index| *index as usize >= matrix.inner) {
        let (found, inner) = (matrix.indices[place].cast_signed(), matrix.inner);
        return Err(Fault::Refused(format!(
            "entry {place} of indices is {found}; allowed: 0 to below {inner}"
        )));
    }
    let mut starts = vec![0; matrix.inner + 1];
    matrix.indices.iter().for_each(|&index| starts[index as usize + 1] += 1);
    for k in 0..matrix.inner {
        starts[k + 1] += starts[k];
    }
    let (mut next, mut indices) = (starts.clone(), vec![0_u32; matrix.entries()]);
    let mut values = vec![0.0; matrix.entries()];
    let each = matrix.entries() / matrix.outer().max(1);
    control.in_parts(matrix.outer(), each, |part| {
        for k in part {
            matrix.for_each(k, |inner, value| {
                let place = next[inner];
                next[inner] += 1;
                indices[place] = k as u32;
                values[place] = value;
            });
        }
    })?;
    let values = Numbers::Double(values.into());
    Ok(Compressed { inner: matrix.outer(), starts, indices: indices.into(), values })
}
