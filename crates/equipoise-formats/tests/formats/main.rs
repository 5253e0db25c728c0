//! Tests of what the crate promises to those who use it, file by file.
//!
//! - `csv`, `matrix_market`, `npy`: numbers, well-formed and malformed
//! - `libsvm`, `libsvm_errors`, `libsvm_random`: labelled rows
//! - `problem`, `problem_errors`, `round_trip`: the problem file
//! - `mps`: linear and quadratic programs
//! - `table`: named columns, with and without a header
//! - `row_stream`: rows of a file, a batch at a time
//! - `results`: solution files and histories
//! - `whole_file`: writers that are killed, disks without room
//! - `mutations`: damaged files of every format never panic

mod csv;
mod libsvm;
mod libsvm_errors;
mod libsvm_random;
mod matrix_market;
mod mps;
mod mutations;
mod npy;
mod problem;
mod problem_errors;
mod results;
mod round_trip;
mod row_stream;
mod table;
mod whole_file;

use std::fs;
use std::path::{Path, PathBuf};

use equipoise::{Control, DenseMatrix, Matrix, SparseMatrix};
use equipoise_formats::Result;

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

fn dense(rows: usize, columns: usize, values: &[f64]) -> Matrix<'static> {
    DenseMatrix::from_columns(rows, columns, values.to_vec()).expect("as many as rows times columns").into()
}

/// From where columns start, the rows of the entries and their values.
fn sparse(rows: usize, columns: usize, starts: &[usize], indices: &[u32], values: &[f64]) -> Matrix<'static> {
    let matrix =
        SparseMatrix::from_columns(rows, columns, starts.to_vec(), indices.to_vec(), values.to_vec());
    matrix.expect("rows rise within each column").into()
}

fn read_matrix(path: impl AsRef<Path>) -> Result<Matrix<'static>> {
    equipoise_formats::read_matrix(path, &Control::unlimited())
}

fn read_vector(path: impl AsRef<Path>) -> Result<Vec<f64>> {
    equipoise_formats::read_vector(path, &Control::unlimited())
}

/// Asserts that a message is one lower-case line without a full stop.
fn assert_good_words(error: &equipoise_formats::Error) {
    let words = error.to_string();
    assert!(!words.ends_with('.') && !words.contains('\n'), "{words}");
}
