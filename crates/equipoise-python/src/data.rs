//! Arrays of Python as the library's rows and matrices.
//!
//! | given | rows of a support vector machine | a matrix |
//! |---|---|---|
//! | CSR | borrowed where float64 or float32 and int32 | turned |
//! | CSC | turned | borrowed where float64 and int32 |
//! | a dense array of float64 or float32, row by row | borrowed where no entry is 0 | copied, column by column; borrowed where it is symmetric |
//! | a dense array of float64, column by column, as frames of pandas are | copied, without zeros | borrowed |
//! | any other dense array, float64 or float32, any strides | copied, without zeros | copied, column by column |
//!
//! Numbers of float32 are widened where they are read, or once, when a run begins; 64-bit indices are narrowed then. All arithmetic is that of float64,
//! and what is proven is proven of it.
//!
//! Rows are those that a file of the same numbers has, zeros left out: one seed gives one sequence of bits.
//!
//! [`Held`] keeps the arrays alive and is bound to the interpreter; [`Table`] is what the worker may see of it. All conversions
//! look at the control.

use std::borrow::Cow;

use equipoise::matrix::Rows;
use equipoise::{Control, DenseMatrix, Matrix, SparseMatrix};
use numpy::ndarray::ArrayView2;
use numpy::{Element, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::errors::{Answered, Fault, refused};
use crate::options::sort_of;
use crate::sparse::{Compressed, Numbers, turned};

/// What x may be, for messages.
const ALLOWED: &str = "a two-dimensional array of float64 or float32, or (\"csr\" or \"csc\", data, indices, indptr, (rows, columns))";

/// A matrix as Python gave it.
pub(crate) enum Held<'py> {
    Double(PyReadonlyArray2<'py, f64>),
    Single(PyReadonlyArray2<'py, f32>),
    Sparse(HeldSparse<'py>),
}

/// A sparse matrix as Python gave it.
pub(crate) struct HeldSparse<'py> {
    by_row: bool,
    shape: (usize, usize),
    data: Floats<'py>,
    indices: Integers<'py>,
    starts: Integers<'py>,
}

enum Floats<'py> {
    Double(PyReadonlyArray1<'py, f64>),
    Single(PyReadonlyArray1<'py, f32>),
}

enum Integers<'py> {
    Short(PyReadonlyArray1<'py, i32>),
    Long(PyReadonlyArray1<'py, i64>),
}

/// What a thread without the interpreter sees of a matrix.
pub(crate) enum Table<'a> {
    Double(ArrayView2<'a, f64>),
    Single(ArrayView2<'a, f32>),
    Sparse { by_row: bool, matrix: Compressed<'a> },
}

impl<'py> Held<'py> {
    /// Takes hold of what stands for a matrix; `name` stands in messages.
    pub(crate) fn of(name: &str, value: &Bound<'py, PyAny>) -> PyResult<Self> {
        if let Ok(tuple) = value.cast::<PyTuple>() {
            return HeldSparse::of(name, tuple).map(Self::Sparse);
        }
        let wrong = || refused(format!("{name} is {}; expected {ALLOWED}", sort_of(value)));
        // Through a pointer that is not aligned nothing is read.
        let array = value.cast::<PyUntypedArray>().map_err(|_| wrong())?;
        if !array.is_aligned() {
            return Err(refused(format!("{name} is not aligned in memory; copy it first")));
        }
        let double = value.extract().map(Self::Double);
        double.or_else(|_| value.extract().map(Self::Single)).map_err(|_| wrong())
    }

    /// Rows and columns.
    pub(crate) fn shape(&self) -> (usize, usize) {
        match self {
            Self::Double(array) => array.as_array().dim(),
            Self::Single(array) => array.as_array().dim(),
            Self::Sparse(sparse) => sparse.shape,
        }
    }

    /// What may go to another thread.
    pub(crate) fn table(&self) -> PyResult<Table<'_>> {
        Ok(match self {
            Self::Double(array) => Table::Double(array.as_array()),
            Self::Single(array) => Table::Single(array.as_array()),
            Self::Sparse(sparse) => Table::Sparse { by_row: sparse.by_row, matrix: sparse.compressed()? },
        })
    }
}

impl<'py> HeldSparse<'py> {
    fn of(name: &str, tuple: &Bound<'py, PyTuple>) -> PyResult<Self> {
        let wrong = |what: &str| refused(format!("{name}: {what}; expected {ALLOWED}"));
        if tuple.len() != 5 {
            return Err(wrong(&format!("a tuple of {}", tuple.len())));
        }
        let layout: String = tuple.get_item(0)?.extract().map_err(|_| wrong("no word for the layout"))?;
        let by_row = match layout.as_str() {
            "csr" => true,
            "csc" => false,
            other => return Err(wrong(&format!("the layout {other:?}"))),
        };
        let shape = tuple.get_item(4)?.extract().map_err(|_| wrong("no shape"))?;
        let integers = |what: &str, place: usize| {
            let value = tuple.get_item(place)?;
            if let Ok(short) = one::<i32>(&value) {
                Ok(Integers::Short(short))
            } else if let Ok(long) = one::<i64>(&value) {
                Ok(Integers::Long(long))
            } else {
                let found = sort_of(&value);
                Err(refused(format!(
                    "{name}: {what} is {found}; expected a contiguous array of int32 or int64"
                )))
            }
        };
        let value = tuple.get_item(1)?;
        let data = if let Ok(double) = one::<f64>(&value) {
            Floats::Double(double)
        } else if let Ok(single) = one::<f32>(&value) {
            Floats::Single(single)
        } else {
            let found = sort_of(&value);
            return Err(refused(format!(
                "{name}: data is {found}; expected a contiguous array of float64 or float32"
            )));
        };
        Ok(Self { by_row, shape, data, indices: integers("indices", 2)?, starts: integers("indptr", 3)? })
    }

    /// The parts as slices, checked.
    fn compressed(&self) -> PyResult<Compressed<'_>> {
        let starts: Vec<usize> = match &self.starts {
            Integers::Short(list) => {
                slice(list)?.iter().map(|&start| usize::try_from(start).unwrap_or(usize::MAX)).collect()
            }
            Integers::Long(list) => {
                slice(list)?.iter().map(|&start| usize::try_from(start).unwrap_or(usize::MAX)).collect()
            }
        };
        // Beyond 32 bits, or below 0, an index is that of no column: the check of its range says so.
        let indices = match &self.indices {
            Integers::Short(list) => Cow::Borrowed(bytemuck::cast_slice::<i32, u32>(slice(list)?)),
            Integers::Long(list) => Cow::Owned(
                slice(list)?.iter().map(|&index| u32::try_from(index).unwrap_or(u32::MAX)).collect(),
            ),
        };
        let values = match &self.data {
            Floats::Double(list) => Numbers::Double(Cow::Borrowed(slice(list)?)),
            Floats::Single(list) => Numbers::Single(slice(list)?),
        };
        let (rows, columns) = self.shape;
        let (outer, inner) = if self.by_row { (rows, columns) } else { (columns, rows) };
        Compressed::new(outer, inner, starts, indices, values).map_err(Into::into)
    }
}

/// A one-dimensional array without gaps.
fn one<'py, T: Element>(value: &Bound<'py, PyAny>) -> PyResult<PyReadonlyArray1<'py, T>> {
    let array: PyReadonlyArray1<'py, T> = value.extract()?;
    slice(&array)?;
    Ok(array)
}

fn slice<'a, T: Element>(array: &'a PyReadonlyArray1<'_, T>) -> PyResult<&'a [T]> {
    array.as_slice().map_err(|error| refused(error.to_string()))
}

impl Table<'_> {
    /// Rows and columns.
    pub(crate) fn shape(&self) -> (usize, usize) {
        match self {
            Self::Double(array) => array.dim(),
            Self::Single(array) => array.dim(),
            Self::Sparse { by_row: true, matrix } => (matrix.outer(), matrix.inner()),
            Self::Sparse { by_row: false, matrix } => (matrix.inner(), matrix.outer()),
        }
    }

    /// As rows.
    pub(crate) fn rows(&self, control: &Control) -> Answered<Rows<'_>> {
        let (count, columns) = self.shape();
        match self {
            Self::Double(array) => {
                let lent = |values| Ok(Rows::dense(count, columns, Cow::Borrowed(values))?);
                dense_rows(array, lent, |value| *value, control)
            }
            Self::Single(array) => {
                let lent = |values| Ok(Rows::dense_single(count, columns, values)?);
                dense_rows(array, lent, |value| f64::from(*value), control)
            }
            Self::Sparse { by_row: true, matrix } => matrix.rows(control),
            Self::Sparse { by_row: false, matrix } => turned(matrix, control)?.into_rows(control),
        }
    }

    /// As a matrix by columns, sparse where it is.
    pub(crate) fn matrix(&self, control: &Control) -> Answered<Matrix<'_>> {
        Ok(match self {
            Self::Double(_) | Self::Single(_) => Matrix::Dense(self.dense(control)?),
            Self::Sparse { .. } => Matrix::Sparse(self.sparse(control)?),
        })
    }

    /// As a sparse matrix.
    pub(crate) fn sparse(&self, control: &Control) -> Answered<SparseMatrix<'_>> {
        match self {
            Self::Sparse { by_row: true, matrix } => turned(matrix, control)?.into_matrix(control),
            Self::Sparse { by_row: false, matrix } => matrix.matrix(control),
            dense => turned(&Compressed::of_rows(&dense.rows(control)?), control)?.into_matrix(control),
        }
    }

    /// As a dense matrix.
    pub(crate) fn dense(&self, control: &Control) -> Answered<DenseMatrix<'_>> {
        let (rows, columns) = self.shape();
        if let Self::Double(array) = self
            && let Some(values) = columns_of(array, control)?
        {
            return Ok(DenseMatrix::borrowed(rows, columns, values)?);
        }
        let values = match self {
            Self::Double(array) => by_columns(array, |value| *value, control)?,
            Self::Single(array) => by_columns(array, |value| f64::from(*value), control)?,
            Self::Sparse { by_row, matrix } => {
                let mut values = vec![0.0; rows.checked_mul(columns).ok_or_else(too_large)?];
                let each = matrix.entries() / matrix.outer().max(1);
                control.in_parts(matrix.outer(), each, |part| {
                    for k in part {
                        matrix.for_each(k, |inner, value| {
                            let (r, c) = if *by_row { (k, inner) } else { (inner, k) };
                            values[c * rows + r] = value;
                        });
                    }
                })?;
                values
            }
        };
        Ok(DenseMatrix::from_columns(rows, columns, values)?)
    }
}

fn too_large() -> Fault {
    Fault::Refused("the matrix has more entries than can be counted".into())
}

/// Whether no value is 0, and not every value 1.
fn is_full<T>(array: &ArrayView2<'_, T>, number: impl Fn(&T) -> f64, control: &Control) -> Answered<bool> {
    let (mut has_zeros, mut has_others) = (false, false);
    control.in_parts(array.nrows(), array.ncols(), |part| {
        for i in part {
            if has_zeros {
                return;
            }
            for value in array.row(i) {
                let value = number(value);
                has_zeros |= value == 0.0;
                has_others |= value != 1.0;
            }
        }
    })?;
    Ok(has_others && !has_zeros)
}

/// The entries other than 0, row by row; every value 1 is none. Where all are there, they are those lent, or copied without
/// the numbers of their columns.
fn dense_rows<'a, T>(
    array: &'a ArrayView2<'_, T>,
    lent: impl FnOnce(&'a [T]) -> Answered<Rows<'a>>,
    number: impl Fn(&T) -> f64,
    control: &Control,
) -> Answered<Rows<'a>> {
    let (count, columns) = array.dim();
    if u32::try_from(columns).is_err() {
        return Err(Fault::Refused(format!("found {columns} columns; allowed: at most {}", u32::MAX)));
    }
    if is_full(array, &number, control)? {
        if let Some(values) = array.as_slice() {
            return lent(values);
        }
        let mut values = Vec::with_capacity(count * columns);
        control.in_parts(count, columns, |part| {
            part.for_each(|i| values.extend(array.row(i).iter().map(&number)));
        })?;
        return Ok(Rows::dense(count, columns, values)?);
    }
    let mut starts = Vec::with_capacity(count + 1);
    starts.push(0);
    let (mut indices, mut values): (Vec<u32>, Vec<f64>) = (Vec::new(), Vec::new());
    control.in_parts(count, columns, |part| {
        for i in part {
            for (c, value) in array.row(i).iter().enumerate() {
                let value = number(value);
                if value != 0.0 {
                    indices.push(c as u32);
                    values.push(value);
                }
            }
            starts.push(indices.len());
        }
    })?;
    let values = (!values.iter().all(|value| *value == 1.0)).then_some(values);
    Ok(Rows::new(columns, starts, indices, values)?)
}

/// The numbers column by column, where they lie so, or where rows and columns are the same.
fn columns_of<'a>(array: &'a ArrayView2<'_, f64>, control: &Control) -> Answered<Option<&'a [f64]>> {
    if let Some(values) = array.view().reversed_axes().to_slice() {
        return Ok(Some(values));
    }
    let (Some(values), true) = (array.as_slice(), array.is_square()) else { return Ok(None) };
    let (size, mut is_symmetric) = (array.nrows(), true);
    control.in_parts(size, size, |part| {
        for r in part {
            is_symmetric = is_symmetric && (0..r).all(|c| array[[r, c]].to_bits() == array[[c, r]].to_bits());
        }
    })?;
    Ok(is_symmetric.then_some(values))
}

fn by_columns<T: Copy>(
    array: &ArrayView2<'_, T>,
    number: impl Fn(&T) -> f64,
    control: &Control,
) -> Answered<Vec<f64>> {
    let (rows, columns) = array.dim();
    let mut values = vec![0.0; rows * columns];
    // Row by row is how most arrays lie; a few rows at a time keep the columns that are written near.
    control.in_parts(rows, columns, |part| {
        for c in 0..columns {
            for r in part.clone() {
                values[c * rows + r] = number(&array[[r, c]]);
            }
        }
    })?;
    Ok(values)
}

/// An array of any shape as a matrix for terms in words: one dimension is a column.
pub(crate) fn is_matrix(value: &Bound<'_, PyAny>) -> bool {
    value.cast::<PyTuple>().is_ok_and(|tuple| tuple.len() == 5)
        || value.cast::<PyUntypedArray>().is_ok_and(|array| array.ndim() == 2)
}
