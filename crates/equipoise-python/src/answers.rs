//! Results as Python has them: dictionaries, float64 arrays, `None` for what is not known.

use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;

/// A dictionary from names to values.
macro_rules! answer {
    ($py:expr, { $($key:literal: $value:expr),+ $(,)? }) => {{
        let dict = pyo3::types::PyDict::new($py);
        $(dict.set_item(pyo3::intern!($py, $key), $value)?;)+
        dict
    }};
}
pub(crate) use answer;

/// A list of numbers as an array, without a copy.
pub(crate) fn array(py: Python<'_>, list: Vec<f64>) -> Bound<'_, PyArray1<f64>> {
    PyArray1::from_vec(py, list)
}

/// Lists of one length as the rows of an array.
pub(crate) fn table<'py>(
    py: Python<'py>,
    columns: usize,
    rows: &[Vec<f64>],
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    flat_table(py, [rows.len(), columns], rows.concat())
}

/// Numbers row by row as an array, without a copy.
pub(crate) fn flat_table(
    py: Python<'_>,
    shape: [usize; 2],
    values: Vec<f64>,
) -> PyResult<Bound<'_, PyArray2<f64>>> {
    PyArray1::from_vec(py, values).reshape(shape)
}

/// A number that is known; an infinity or a NaN stands for one that is not.
pub(crate) fn known(number: f64) -> Option<f64> {
    number.is_finite().then_some(number)
}
