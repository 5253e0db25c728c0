//! Vectors and matrices in files, by the ending of the file's name.
//!
//! Given a path; returns numbers, NaN and infinities included, or an [`Error`] with the
//! place. A [`Control`] ends the reading of large files early. Must not know what the numbers mean.
//!
//! | ending | holds |
//! |---|---|
//! | `.csv` | rows of numbers between commas, no header; blank lines are skipped |
//! | `.mtx` | `MatrixMarket`: coordinate or array; real, integer or pattern; general, symmetric, skew-symmetric |
//! | `.npy` | numpy: booleans, integers, `f4`, `f8`; one or two dimensions; any byte and memory order |

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use equipoise::{Control, Matrix};

use crate::{Error, Result};

mod assemble;
mod csv;
mod csv_rows;
mod matrix_market;
mod matrix_market_entries;
mod npy;
mod npy_rows;

pub(crate) use assemble::{from_row_major, into_dense_values};
pub(crate) use csv::quoted;
pub(crate) use csv_rows::CsvRows;
pub(crate) use npy_rows::NpyRows;

pub use csv::{write_matrix_csv, write_vector_csv};
pub use matrix_market::write_matrix_market;
pub use npy::{write_matrix_npy, write_vector_npy};

/// Reads a matrix; the ending of the name tells the format.
///
/// A one-dimensional `.npy` array is one column. Coordinate `.mtx` files become sparse, everything else dense.
pub fn read_matrix(path: impl AsRef<Path>, control: &Control) -> Result<Matrix<'static>> {
    let path = path.as_ref();
    let read = match extension(path).as_str() {
        "csv" => csv::parse,
        "mtx" => matrix_market::parse,
        "npy" => npy::parse,
        _ => return Err(Error::UnknownExtension { path: path.into(), asked_by: None }),
    };
    read(&read_bytes(path, control)?, path, control).map_err(|error| error.while_reading(path))
}

/// Reads a vector: a file of one row or one column.
pub fn read_vector(path: impl AsRef<Path>, control: &Control) -> Result<Vec<f64>> {
    let path = path.as_ref();
    let matrix = read_matrix(path, control)?;
    let (rows, columns) = (matrix.rows(), matrix.columns());
    if rows != 1 && columns != 1 {
        return Err(Error::NotAVector { path: path.into(), rows, columns });
    }
    Ok(assemble::into_dense_values(matrix))
}

/// All text of a file; a control ends the reading.
pub fn read_text(path: impl AsRef<Path>, control: &Control) -> Result<String> {
    let path = path.as_ref();
    let bytes = read_bytes(path, control)?;
    text(&bytes, path).map(str::to_owned)
}

/// The text of a file, which may be packed by gzip, bzip2, xz or zstd; `-` is standard input. No more than `most` bytes are read.
pub fn read_unpacked(path: impl AsRef<Path>, most: u64, control: &Control) -> Result<String> {
    let path = path.as_ref();
    let bytes = crate::libsvm::read_at_most(path, most, control)?;
    text(&bytes, path).map(str::to_owned)
}

/// All bytes of a file, read in pieces; `-` is standard input.
pub(crate) fn read_bytes(path: &Path, control: &Control) -> Result<Vec<u8>> {
    /// Bytes between two looks at the wish to stop.
    const PIECE: u64 = 1 << 20;
    if path.as_os_str() == "-" {
        return crate::libsvm::read_everything(control);
    }
    let failed = |reason: io::Error| Error::reading(path, &reason);
    let file = File::open(path).map_err(failed)?;
    let length = file.metadata().map_or(0, |about| about.len());
    let mut bytes = Vec::new();
    // A guess that cannot be granted is no misfortune: the vector grows as it needs to.
    let _ = bytes.try_reserve_exact(usize::try_from(length).unwrap_or(0));
    loop {
        control.check().map_err(|halt| Error::from(halt).while_reading(path))?;
        if (&file).take(PIECE).read_to_end(&mut bytes).map_err(failed)? == 0 {
            return Ok(bytes);
        }
    }
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
