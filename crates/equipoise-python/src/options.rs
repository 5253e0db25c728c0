//! Keyword settings, taken one by one; what nobody took is refused by name.
//!
//! - Given: the keywords of a call. Returns: each as its type, or the default that the caller names; at the end an error for
//!   keywords that nobody asked for, with those that are known. `None` is the same as not given.
//! - Must not know: what any keyword means.

use std::cell::RefCell;

use equipoise::Named;
use numpy::{AllowTypeChange, PyArrayLike1, PyArrayMethods};
use pyo3::conversion::FromPyObjectOwned;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::Fault;

/// The keywords of a call.
pub(crate) struct Options<'py> {
    function: &'static str,
    given: Option<Bound<'py, PyDict>>,
    known: RefCell<Vec<&'static str>>,
}

impl<'py> Options<'py> {
    pub(crate) fn new(function: &'static str, given: Option<Bound<'py, PyDict>>) -> Self {
        Self { function, given, known: RefCell::default() }
    }

    /// A keyword as it was given.
    pub(crate) fn raw(&self, name: &'static str) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.known.borrow_mut().push(name);
        let found = self.given.as_ref().map(|given| given.get_item(name)).transpose()?.flatten();
        Ok(found.filter(|value| !value.is_none()))
    }

    /// A keyword, where it is given.
    pub(crate) fn get<T: FromPyObjectOwned<'py>>(&self, name: &'static str) -> PyResult<Option<T>> {
        let Some(value) = self.raw(name)? else { return Ok(None) };
        value.extract::<T>().map(Some).map_err(|error| self.explained(name, &error.into(), value.py()))
    }

    /// A keyword, or its default.
    pub(crate) fn or<T: FromPyObjectOwned<'py>>(&self, name: &'static str, default: T) -> PyResult<T> {
        Ok(self.get(name)?.unwrap_or(default))
    }

    /// A keyword that must be there.
    pub(crate) fn need<T: FromPyObjectOwned<'py>>(&self, name: &'static str) -> PyResult<T> {
        let missing =
            || PyTypeError::new_err(format!("{}() misses the keyword argument '{name}'", self.function));
        self.get(name)?.ok_or_else(missing)
    }

    /// One of the names of a type, or a default.
    pub(crate) fn named<T: Named>(&self, name: &'static str, default: T) -> PyResult<T> {
        match self.get::<String>(name)? {
            None => Ok(default),
            Some(text) => Ok(T::of_name(&text).map_err(Fault::from)?),
        }
    }

    /// Numbers, one after the other.
    pub(crate) fn numbers(&self, name: &'static str) -> PyResult<Option<Vec<f64>>> {
        let Some(value) = self.raw(name)? else { return Ok(None) };
        numbers(name, &value).map(Some)
    }

    /// One number for all of so many, or one each.
    pub(crate) fn numbers_or(&self, name: &'static str, count: usize, default: f64) -> PyResult<Vec<f64>> {
        match self.raw(name)? {
            None => Ok(vec![default; count]),
            Some(value) => match value.extract::<f64>() {
                Ok(number) => Ok(vec![number; count]),
                Err(_) => numbers(name, &value),
            },
        }
    }

    /// Refuses keywords that nobody has asked for.
    pub(crate) fn done(&self) -> PyResult<()> {
        let Some(given) = &self.given else { return Ok(()) };
        let known = self.known.borrow();
        for key in given.keys() {
            let key: String = key.extract()?;
            if !known.contains(&key.as_str()) {
                let near = equipoise_formats::suggest::nearest(&key, &known)
                    .map_or_else(String::new, |near| format!("; did you mean '{near}'?"));
                return Err(PyTypeError::new_err(format!(
                    "{}() has no keyword argument '{key}'; known: {}{near}",
                    self.function,
                    known.join(", ")
                )));
            }
        }
        Ok(())
    }

    fn explained(&self, name: &str, error: &PyErr, py: Python<'_>) -> PyErr {
        let words = format!("{}(): {name}: {}", self.function, error.value(py));
        // A number that does not fit is a wrong value, the rest is a wrong type.
        if error.is_instance_of::<pyo3::exceptions::PyOverflowError>(py) {
            PyValueError::new_err(words)
        } else {
            PyTypeError::new_err(words)
        }
    }
}

/// A list of numbers: a one-dimensional array, or anything that `NumPy` makes one of.
pub(crate) fn numbers(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
    let list: PyArrayLike1<'_, f64, AllowTypeChange> = value.extract().map_err(|_| {
        PyValueError::new_err(format!(
            "{name} is {}; expected a one-dimensional array of numbers",
            sort_of(value)
        ))
    })?;
    Ok(list.to_vec().unwrap_or_else(|_| list.as_array().iter().copied().collect()))
}

/// What a value is, in a few words: `an array of shape (3, 2) and dtype int64`, `a str`.
pub(crate) fn sort_of(value: &Bound<'_, PyAny>) -> String {
    match (value.getattr("shape"), value.getattr("dtype")) {
        (Ok(shape), Ok(dtype)) => format!("an array of shape {shape} and dtype {dtype}"),
        _ => match value.get_type().name() {
            Ok(name) => format!("a {name}"),
            Err(_) => "an object".into(),
        },
    }
}
