//! CSV without a header: one row a line, numbers between commas, blanks around them allowed.
//!
//! Blank lines are skipped. Text, an empty field or a ragged row is an error with its line.
//! Numbers are written with the fewest digits that read back to the same bits.

use std::io::{self, Write};
use std::path::Path;

use equipoise::{Control, Matrix};

use super::{from_row_major, text};
use crate::whole_file::write_whole;
use crate::{Error, Result};

/// Numbers between two looks at the wish to stop.
const LOOK: usize = 1 << 16;

/// Reads a dense matrix.
pub(super) fn parse(bytes: &[u8], path: &Path, control: &Control) -> Result<Matrix<'static>> {
    let mut by_rows = Vec::new();
    let (mut rows, mut columns, mut looked) = (0, None, 0);
    for (index, line) in text(bytes, path)?.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        if by_rows.len() >= looked + LOOK || index == 0 {
            control.check()?;
            looked = by_rows.len();
        }
        columns = Some(parse_row(line, path, index + 1, columns, &mut by_rows)?);
        rows += 1;
    }
    match columns {
        Some(columns) => Ok(from_row_major(rows, columns, by_rows, control)?),
        None => Err(Error::NoNumbers { path: path.into() }),
    }
}

/// Appends the numbers of a line that is not blank; returns how many, as many as in the rows above.
pub(super) fn parse_row(
    text: &str,
    path: &Path,
    line: usize,
    expected: Option<usize>,
    out: &mut Vec<f64>,
) -> Result<usize> {
    let before = out.len();
    for (place, field) in text.split(',').enumerate() {
        out.push(number(field, path, line, place + 1)?);
    }
    let found = out.len() - before;
    match expected {
        Some(expected) if expected != found => {
            Err(Error::RaggedRow { path: path.into(), line, found, expected })
        }
        _ => Ok(found),
    }
}

fn number(field: &str, path: &Path, line: usize, place: usize) -> Result<f64> {
    let field = field.trim();
    field.parse().map_err(|_| Error::NotANumber {
        path: path.into(),
        line,
        field: place,
        found: quoted(field),
    })
}

/// A piece of a file for a message: in quotes, and not longer than a glance.
pub(crate) fn quoted(found: &str) -> String {
    const GLANCE: usize = 40;
    if found.is_empty() {
        return "an empty field".into();
    }
    if found.chars().count() <= GLANCE {
        return format!("{found:?}");
    }
    format!("{:?}...", found.chars().take(GLANCE).collect::<String>())
}

/// Writes a vector as one column.
pub fn write_vector_csv(path: impl AsRef<Path>, vector: &[f64]) -> Result<()> {
    write_whole(path.as_ref(), |out| vector.iter().try_for_each(|value| writeln!(out, "{value:?}")))
}

/// Writes every entry of a matrix, row after row.
pub fn write_matrix_csv(path: impl AsRef<Path>, matrix: &Matrix) -> Result<()> {
    write_whole(path.as_ref(), |out| (0..matrix.rows()).try_for_each(|row| write_row(out, matrix, row)))
}

fn write_row(out: &mut impl Write, matrix: &Matrix, row: usize) -> io::Result<()> {
    for column in 0..matrix.columns() {
        let separator = if column == 0 { "" } else { "," };
        write!(out, "{separator}{:?}", matrix.entry(row, column))?;
    }
    writeln!(out)
}
