//! `equipoise._native`: the library as Python sees it.
//!
//! ```text
//! NumPy arrays and words  ->  the library's types  ->  a run, with the interpreter free  ->  dictionaries of arrays
//! ```
//!
//! - Given: arrays, dictionaries of words, keyword settings; callables for progress and for terms.
//! - Returns: dictionaries whose keys are those of the command line's JSON; `ValueError` with the library's own words.
//! - Must not know: defaults other than the library's, scikit-learn, what an estimator is. Nothing is computed here that
//!   the library does not compute, and nothing is decided: that is the Python package's part (`python/equipoise`).
//!
//! One file a model; `data.rs` has the arrays, `running.rs` the thread that waits and the thread that works.

// PyO3 hands arguments over by value.
#![allow(clippy::needless_pass_by_value)]

mod allocation;
mod answers;
mod constrained;
mod data;
mod errors;
mod functions;
mod fused;
mod lasso;
mod options;
mod portfolio;
mod running;
mod solve;
mod sparse;
mod svm;
mod words;

use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Which build this is: version, profile and target.
#[pyfunction]
fn build_info(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let info = PyDict::new(py);
    info.set_item("version", env!("CARGO_PKG_VERSION"))?;
    info.set_item("debug_assertions", cfg!(debug_assertions))?;
    info.set_item("target", format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS))?;
    Ok(info)
}

/// The compiled part of the package `equipoise`; use the package, not this.
#[pymodule(gil_used = false)]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_function(wrap_pyfunction!(build_info, module)?)?;
    module.add_function(wrap_pyfunction!(running::leave, module)?)?;
    svm::register(module)?;
    lasso::register(module)?;
    fused::register(module)?;
    constrained::register(module)?;
    allocation::register(module)?;
    portfolio::register(module)?;
    solve::register(module)
}
