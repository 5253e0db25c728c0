//! Any bytes as a matrix in a file of numbers; the first byte chooses npy, MatrixMarket or CSV. No panic; a matrix that is read
//! can be written in its own format and is read back the same.
#![no_main]

use std::fs;
use std::path::PathBuf;

use equipoise::{Control, Matrix};
use equipoise_formats::numbers::{write_matrix_csv, write_matrix_market, write_matrix_npy};
use equipoise_formats::{Result, read_matrix};
use libfuzzer_sys::fuzz_target;

type Write = fn(&PathBuf, &Matrix) -> Result<()>;

const FORMATS: [(&str, Write); 3] = [
    ("npy", |path, matrix| write_matrix_npy(path, matrix)),
    ("mtx", |path, matrix| write_matrix_market(path, matrix)),
    ("csv", |path, matrix| write_matrix_csv(path, matrix)),
];

/// In memory where there is such a place.
fn place(ending: &str) -> PathBuf {
    let folder = PathBuf::from("/dev/shm");
    let folder = if folder.is_dir() { folder } else { std::env::temp_dir() };
    folder.join(format!("equipoise-fuzz-matrix-{}.{ending}", std::process::id()))
}

fuzz_target!(|bytes: &[u8]| {
    let Some((choice, rest)) = bytes.split_first() else { return };
    let (ending, write) = FORMATS[usize::from(*choice) % FORMATS.len()];
    let (path, control) = (place(ending), Control::unlimited());
    fs::write(&path, rest).expect("a place to write");
    let Ok(matrix) = read_matrix(&path, &control) else { return };
    write(&path, &matrix).expect("a matrix that was read");
    let again = read_matrix(&path, &control).expect("what was written");
    assert_eq!((again.rows(), again.columns()), (matrix.rows(), matrix.columns()));
    // Entry by entry: what was read sparse may come back dense.
    for c in 0..matrix.columns() {
        for r in 0..matrix.rows() {
            assert_eq!(again.entry(r, c), matrix.entry(r, c), "row {r}, column {c}");
        }
    }
});
