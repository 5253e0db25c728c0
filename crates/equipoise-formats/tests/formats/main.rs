//! Tests of what the crate promises to those who use it, file by file.
//!
//! - `csv`, `matrix_market`, `npy`: numbers, well-formed and malformed
//! - `libsvm`, `libsvm_errors`, `libsvm_random`: labelled rows
//! - `problem`, `problem_errors`, `round_trip`: the problem file
//! - `row_stream`: rows of a file, a batch at a time
//! - `results`: solution files and histories
//! - `mutations`: damaged files of every format never panic

mod csv;
mod libsvm;
mod libsvm_errors;
mod libsvm_random;
mod matrix_market;
mod mutations;
mod npy;
mod problem;
mod problem_errors;
mod results;
mod round_trip;
mod row_stream;

use std::fs;
use std::path::PathBuf;

use equipoise_formats::MatrixData;

/// An empty folder of one test.
fn scratch(test: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("formats").join(test);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("the scratch folder can be made");
    folder
}

/// A file of one test.
fn file(test: &str, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
    let path = scratch(test).join(name);
    fs::write(&path, content).expect("the scratch file can be written");
    path
}

fn dense(rows: usize, columns: usize, values: &[f64]) -> MatrixData {
    MatrixData::Dense { rows, columns, values: values.to_vec() }
}

/// Asserts that a message is one lower-case line without a full stop.
fn assert_good_words(error: &equipoise_formats::Error) {
    let words = error.to_string();
    assert!(!words.ends_with('.') && !words.contains('\n'), "{words}");
}
