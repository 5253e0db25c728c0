//! `MatrixMarket`: the header and the size line, and the writer.
//!
//! Given `%%MatrixMarket matrix FORMAT FIELD SYMMETRY`, comments, a size line and entries with
//! indices from 1. Symmetric and skew-symmetric files hold the lower triangle; the upper one is
//! filled in. Complex and Hermitian files are refused in words.
//! Reference: Boisvert, Pozo, Remington, "The Matrix Market Exchange Formats", NISTIR 5935.

use std::io::Write;
use std::path::Path;

use equipoise::{Control, Matrix};

use super::csv::quoted;
use super::matrix_market_entries::{read_array, read_coordinates};
use super::{check_claim, text};
use crate::whole_file::write_whole;
use crate::{Error, Result};

/// What fills a file: all entries, or those that are not zero.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Format {
    Coordinate,
    Array,
}

/// What an entry is written as.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Field {
    Real,
    Integer,
    Pattern,
}

/// Which entries are left out because others imply them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Symmetry {
    General,
    Symmetric,
    SkewSymmetric,
}

/// What the size line and the header say, and where the file lies.
#[derive(Debug, Clone, Copy)]
pub(super) struct Claim<'a> {
    pub(super) path: &'a Path,
    pub(super) bytes: usize,
    pub(super) rows: usize,
    pub(super) columns: usize,
    pub(super) field: Field,
    pub(super) symmetry: Symmetry,
    pub(super) control: &'a Control,
}

impl Claim<'_> {
    /// The error of a line that the format does not allow.
    pub(super) fn malformed(&self, line: usize, found: &str, expected: &str) -> Error {
        malformed(self.path, line, found, expected)
    }
}

fn malformed(path: &Path, line: usize, found: &str, expected: &str) -> Error {
    Error::Malformed { path: path.into(), line, found: quoted(found), expected: expected.into() }
}

/// Reads a dense matrix from an array file, a sparse one from a coordinate file.
pub(super) fn parse(bytes: &[u8], path: &Path, control: &Control) -> Result<Matrix<'static>> {
    let text = text(bytes, path)?;
    let mut lines = text.lines().enumerate().map(|(index, line)| (index + 1, line.trim()));
    let (_, banner) = lines.next().unwrap_or((1, ""));
    let (format, field, symmetry) = parse_banner(banner, path)?;
    // Comments stand before the size line; some writers leave blank lines and comments below it.
    let mut lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('%'));

    let expected = match format {
        Format::Coordinate => "the size line `rows columns entries`",
        Format::Array => "the size line `rows columns`",
    };
    let (line, size) = lines.next().ok_or_else(|| Error::Malformed {
        path: path.into(),
        line: text.lines().count().max(1),
        found: "the end of the file".into(),
        expected: expected.into(),
    })?;
    let numbers: Option<Vec<usize>> = size.split_whitespace().map(|word| word.parse().ok()).collect();
    let (rows, columns, entries) = match (format, numbers.as_deref()) {
        (Format::Coordinate, Some(&[rows, columns, entries])) => (rows, columns, entries),
        (Format::Array, Some(&[rows, columns])) => (rows, columns, 0),
        _ => return Err(malformed(path, line, size, expected)),
    };
    if symmetry != Symmetry::General && rows != columns {
        return Err(malformed(path, line, size, "as many rows as columns in a symmetric matrix"));
    }
    check_claim(path, rows, columns, bytes.len())?;
    let claim = Claim { path, bytes: bytes.len(), rows, columns, field, symmetry, control };
    match format {
        Format::Coordinate => read_coordinates(claim, entries, lines),
        Format::Array => read_array(claim, lines),
    }
}

fn parse_banner(banner: &str, path: &Path) -> Result<(Format, Field, Symmetry)> {
    const EXPECTED: &str = "%%MatrixMarket matrix FORMAT FIELD SYMMETRY";
    let lower = banner.to_lowercase();
    let words: Vec<&str> = lower.split_whitespace().collect();
    let &["%%matrixmarket", object, format, field, symmetry] = words.as_slice() else {
        return Err(malformed(path, 1, banner, EXPECTED));
    };
    if object != "matrix" {
        return Err(unsupported(path, object, "matrix"));
    }
    let format = match format {
        "coordinate" => Format::Coordinate,
        "array" => Format::Array,
        _ => return Err(unsupported(path, format, "coordinate, array")),
    };
    let field = match field {
        "real" | "double" => Field::Real,
        "integer" => Field::Integer,
        "pattern" if format == Format::Coordinate => Field::Pattern,
        "pattern" => return Err(unsupported(path, "pattern array", "real, integer")),
        _ => return Err(unsupported(path, field, "real, integer, pattern")),
    };
    let symmetry = match symmetry {
        "general" => Symmetry::General,
        "symmetric" => Symmetry::Symmetric,
        "skew-symmetric" if field == Field::Pattern => {
            return Err(unsupported(path, "skew-symmetric pattern", "general, symmetric"));
        }
        "skew-symmetric" => Symmetry::SkewSymmetric,
        _ => return Err(unsupported(path, symmetry, "general, symmetric, skew-symmetric")),
    };
    Ok((format, field, symmetry))
}

fn unsupported(path: &Path, found: &str, allowed: &'static str) -> Error {
    Error::Unsupported { path: path.into(), found: format!("a MatrixMarket file of {found:?}"), allowed }
}

/// Writes a matrix: sparse as coordinate, dense as array; real and general either way.
pub fn write_matrix_market(path: impl AsRef<Path>, matrix: &Matrix) -> Result<()> {
    let (rows, columns) = (matrix.rows(), matrix.columns());
    write_whole(path.as_ref(), |out| match matrix {
        Matrix::Dense(dense) => {
            writeln!(out, "%%MatrixMarket matrix array real general\n{rows} {columns}")?;
            dense.values().iter().try_for_each(|value| writeln!(out, "{value:?}"))
        }
        Matrix::Sparse(sparse) => {
            let entries = sparse.stored();
            writeln!(out, "%%MatrixMarket matrix coordinate real general\n{rows} {columns} {entries}")?;
            (0..columns).try_for_each(|column| {
                let mut held = sparse.column(column);
                held.try_for_each(|(row, value)| writeln!(out, "{} {} {value:?}", row + 1, column + 1))
            })
        }
    })
}
