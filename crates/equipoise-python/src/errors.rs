//! What went wrong, from the library's errors to Python's exceptions, with the same words.
//!
//! | found | exception |
//! |---|---|
//! | input that the library refuses | `ValueError` |
//! | a file that cannot be read | `FileNotFoundError`, `OSError` |
//! | the time limit, before there was a result | `TimeoutError` |
//! | a progress function that returned `False`, before there was a result | `RuntimeError` |
//! | an exception of a Python function, Ctrl-C | itself |

use std::io::ErrorKind;

use equipoise::{Error, Halt, UnknownName};
use pyo3::PyErr;
use pyo3::exceptions::{PyFileNotFoundError, PyOSError, PyRuntimeError, PyTimeoutError, PyValueError};

/// Why work has no result.
#[derive(Debug)]
pub(crate) enum Fault {
    /// Input that cannot be.
    Refused(String),
    /// A wish to stop came before there was a result.
    Interrupted,
    /// The time limit did.
    TimeLimit,
    /// A file could not be read.
    File(ErrorKind, String),
    /// Python said so itself.
    Python(PyErr),
}

/// A result, or why there is none.
pub(crate) type Answered<T> = Result<T, Fault>;

impl Fault {
    fn of(library: &Error) -> Self {
        match library {
            Error::StoppedEarly { by: "interrupted" } => Self::Interrupted,
            Error::StoppedEarly { .. } => Self::TimeLimit,
            other => Self::Refused(other.to_string()),
        }
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::of(&error)
    }
}

impl From<Halt> for Fault {
    fn from(halt: Halt) -> Self {
        Self::of(&halt.into())
    }
}

impl From<UnknownName> for Fault {
    fn from(unknown: UnknownName) -> Self {
        Self::Refused(equipoise_formats::suggest::unknown(&unknown))
    }
}

impl From<PyErr> for Fault {
    fn from(error: PyErr) -> Self {
        Self::Python(error)
    }
}

impl From<equipoise_formats::Error> for Fault {
    fn from(error: equipoise_formats::Error) -> Self {
        match &error {
            halted if halted.is_interrupt() => Self::Interrupted,
            halted if halted.is_halt() => Self::TimeLimit,
            equipoise_formats::Error::Io { kind, .. } => Self::File(*kind, error.to_string()),
            _ => Self::Refused(error.to_string()),
        }
    }
}

macro_rules! of_models {
    ($($($model:ident)::+),+ $(,)?) => {
        $(impl From<$($model)::+::Error> for Fault {
            fn from(error: $($model)::+::Error) -> Self {
                match &error {
                    $($model)::+::Error::Equipoise(inner) => Self::of(inner),
                    other => Self::Refused(other.to_string()),
                }
            }
        })+
    };
}

of_models!(
    equipoise_models::svm,
    equipoise_models::lasso,
    equipoise_models::fused,
    equipoise_models::constrained,
    equipoise_allocation,
    equipoise_portfolio,
);

impl From<Fault> for PyErr {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Refused(words) => PyValueError::new_err(words),
            Fault::Interrupted => {
                PyRuntimeError::new_err("ended by the progress function before there was a result")
            }
            Fault::TimeLimit => {
                PyTimeoutError::new_err("time limit reached before there was a result; allow more time")
            }
            Fault::File(ErrorKind::NotFound, words) => PyFileNotFoundError::new_err(words),
            Fault::File(_, words) => PyOSError::new_err(words),
            Fault::Python(error) => error,
        }
    }
}

/// Refuses an argument in words.
pub(crate) fn refused(words: impl Into<String>) -> PyErr {
    PyValueError::new_err(words.into())
}
