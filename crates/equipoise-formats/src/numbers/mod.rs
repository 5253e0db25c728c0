//! Vectors and matrices in files, by the ending of the file's name.
//!
//! Given a path; returns plain numbers, NaN and infinities included, or an [`Error`] with the
//! place. Must not know what the numbers mean.
//!
//! | ending | holds |
//! |---|---|
//! | `.csv` | rows of numbers between commas, no header; blank lines are skipped |
//! | `.mtx` | `MatrixMarket`: coordinate or array; real, integer or pattern; general, symmetric, skew-symmetric |
//! | `.npy` | numpy: booleans, integers, `f4`, `f8`; one or two dimensions; any byte and memory order |

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use crate::{Error, Result};

mod csv;
mod csv_rows;
mod matrix_data;
mod matrix_market;
mod matrix_market_entries;
mod npy;
mod npy_rows;

pub(crate) use csv_rows::CsvRows;
pub(crate) use npy_rows::NpyRows;

pub use csv::{write_matrix_csv, write_vector_csv};
pub use matrix_data::MatrixData;
pub use matrix_market::write_matrix_market;
pub use npy::{write_matrix_npy, write_vector_npy};

/// Reads a matrix; the ending of the name tells the format.
///
/// A one-dimensional `.npy` array is one column. Coordinate `.mtx` files become
/// [`MatrixData::Sparse`], everything else [`MatrixData::Dense`].
pub fn read_matrix(path: impl AsRef<Path>) -> Result<MatrixData> {
    let path = path.as_ref();
    let read = match extension(path).as_str() {
        "csv" => csv::parse,
        "mtx" => matrix_market::parse,
        "npy" => npy::parse,
        _ => return Err(Error::UnknownExtension { path: path.into(), asked_by: None }),
    };
    let bytes = fs::read(path).map_err(|reason| Error::reading(path, &reason))?;
    read(&bytes, path)
}

/// Reads a vector: a file of one row or one column.
pub fn read_vector(path: impl AsRef<Path>) -> Result<Vec<f64>> {
    let path = path.as_ref();
    let matrix = read_matrix(path)?;
    let (rows, columns) = (matrix.rows(), matrix.columns());
    if rows != 1 && columns != 1 {
        return Err(Error::NotAVector { path: path.into(), rows, columns });
    }
    Ok(matrix.into_dense_values())
}

/// Whether a name ends in one of the endings that [`read_matrix`] knows.
pub(crate) fn has_known_extension(name: &str) -> bool {
    matches!(extension(Path::new(name)).as_str(), "csv" | "mtx" | "npy")
}

/// The ending of a name, in lower case.
pub(crate) fn extension(path: &Path) -> String {
    path.extension().map(|ending| ending.to_string_lossy().to_lowercase()).unwrap_or_default()
}

/// The bytes as text, without the byte-order mark that some spreadsheets put first.
pub(crate) fn text<'a>(bytes: &'a [u8], path: &Path) -> Result<&'a str> {
    let text = std::str::from_utf8(bytes).map_err(|error| Error::NotText {
        path: path.into(),
        line: bytes[..error.valid_up_to()].split(|&byte| byte == b'\n').count(),
    })?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}

/// Refuses a shape out of all proportion to the file that claims it.
///
/// Empty columns cost a file nothing but cost memory here; 2^24 of them are always allowed, and
/// 1024 more per byte of the file.
pub(crate) fn check_claim(path: &Path, rows: usize, columns: usize, bytes: usize) -> Result<()> {
    let allowed = bytes.saturating_mul(1024).saturating_add(1 << 24).min(u32::MAX as usize);
    if rows > allowed || columns > allowed {
        return Err(Error::ClaimTooLarge { path: path.into(), rows, columns, bytes });
    }
    Ok(())
}

/// Creates a file, lets `fill` write to it, and flushes it.
pub(crate) fn write_file(
    path: &Path,
    fill: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> Result<()> {
    let write = || {
        let mut out = BufWriter::new(File::create(path)?);
        fill(&mut out)?;
        out.flush()
    };
    write().map_err(|reason| Error::writing(path, &reason))
}
