//! The entries of a `MatrixMarket` file, below its size line.
//!
//! Given what the header claims and the numbered lines that follow; returns the whole matrix, the
//! implied triangle filled in. Must not allocate for entries that are claimed but not there.

use equipoise::Matrix;

use super::assemble::{Entry, from_column_major, from_entries};
use super::matrix_market::{Claim, Field, Symmetry};
use crate::{Error, Result};

/// Lines between two looks at the wish to stop.
const LOOK: usize = 1 << 14;

/// Reads `row column value` lines into a sparse matrix; equal places are summed.
pub(super) fn read_coordinates<'t>(
    claim: Claim<'_>,
    expected: usize,
    lines: impl Iterator<Item = (usize, &'t str)>,
) -> Result<Matrix<'static>> {
    // An entry takes at least four bytes: two digits, a blank and a line end.
    let mut entries = Vec::with_capacity(expected.min(claim.bytes / 4));
    let mut found = 0;
    for (line, text) in lines {
        if found % LOOK == 0 {
            claim.control.check()?;
        }
        let entry = read_entry(claim, line, text)?;
        entries.push(entry);
        if claim.symmetry != Symmetry::General && entry.row != entry.column {
            entries.push(mirrored(entry, claim.symmetry));
        }
        found += 1;
    }
    if found != expected {
        return Err(Error::EntryCount { path: claim.path.into(), unit: "entries", found, expected });
    }
    from_entries(claim.rows, claim.columns, &entries, claim.control)
}

fn read_entry(claim: Claim<'_>, line: usize, text: &str) -> Result<Entry> {
    let expected = match claim.field {
        Field::Pattern => "an entry `row column`",
        _ => "an entry `row column value`",
    };
    let wrong = || claim.malformed(line, text, expected);
    let mut words = text.split_whitespace();
    let (row, column) = (words.next().ok_or_else(wrong)?, words.next().ok_or_else(wrong)?);
    let row = read_index(claim, line, "row", row, claim.rows)?;
    let column = read_index(claim, line, "column", column, claim.columns)?;
    let value = match claim.field {
        Field::Pattern => 1.0,
        _ => read_value(claim, line, words.next().ok_or_else(wrong)?)?,
    };
    if words.next().is_some() {
        return Err(wrong());
    }
    match claim.symmetry {
        Symmetry::Symmetric if column > row => {
            Err(claim.malformed(line, text, "an entry of the lower triangle in a symmetric matrix"))
        }
        Symmetry::SkewSymmetric if column >= row => {
            Err(claim.malformed(line, text, "an entry below the diagonal in a skew-symmetric matrix"))
        }
        _ => Ok(Entry { row, column, value }),
    }
}

/// An index from 1 in the file, from 0 here. The shape is known to fit in 32 bits.
fn read_index(claim: Claim<'_>, line: usize, axis: &'static str, word: &str, allowed: usize) -> Result<u32> {
    let found: usize = word.parse().map_err(|_| claim.malformed(line, word, &format!("a {axis} index")))?;
    if found == 0 || found > allowed {
        return Err(Error::IndexOutOfRange { path: claim.path.into(), line, axis, found, allowed });
    }
    Ok((found - 1) as u32)
}

fn read_value(claim: Claim<'_>, line: usize, word: &str) -> Result<f64> {
    let value: f64 = word.parse().map_err(|_| claim.malformed(line, word, "a number"))?;
    if claim.field == Field::Integer && value.fract() != 0.0 {
        return Err(claim.malformed(line, word, "a whole number in an integer matrix"));
    }
    Ok(value)
}

fn mirrored(entry: Entry, symmetry: Symmetry) -> Entry {
    let sign = if symmetry == Symmetry::SkewSymmetric { -1.0 } else { 1.0 };
    Entry { row: entry.column, column: entry.row, value: sign * entry.value }
}

/// Reads all values, column after column, into a dense matrix.
pub(super) fn read_array<'t>(
    claim: Claim<'_>,
    lines: impl Iterator<Item = (usize, &'t str)>,
) -> Result<Matrix<'static>> {
    // Rows and columns fit in 32 bits each, so that products fit in 64.
    let (rows, columns) = (claim.rows, claim.columns);
    let expected = match claim.symmetry {
        Symmetry::General => rows * columns,
        Symmetry::Symmetric => triangle(rows),
        Symmetry::SkewSymmetric => triangle(rows) - rows,
    };
    let mut held = Vec::with_capacity(expected.min(claim.bytes / 2 + 1));
    for (line, text) in lines {
        if line % LOOK == 0 {
            claim.control.check()?;
        }
        for word in text.split_whitespace() {
            held.push(read_value(claim, line, word)?);
        }
    }
    if held.len() != expected {
        let found = held.len();
        return Err(Error::EntryCount { path: claim.path.into(), unit: "values", found, expected });
    }
    let values = if claim.symmetry == Symmetry::General { held } else { unfold(rows, &held, claim.symmetry) };
    from_column_major(rows, columns, values)
}

fn triangle(order: usize) -> usize {
    order * (order + 1) / 2
}

/// The whole square matrix from its lower triangle, held column after column.
fn unfold(order: usize, held: &[f64], symmetry: Symmetry) -> Vec<f64> {
    let (first, sign) = match symmetry {
        Symmetry::SkewSymmetric => (1, -1.0),
        _ => (0, 1.0),
    };
    let mut values = vec![0.0; order * order];
    let mut held = held.iter();
    for column in 0..order {
        // The diagonal is written last to itself, so its sign is kept.
        for (row, &value) in (column + first..order).zip(&mut held) {
            values[column + order * row] = sign * value;
            values[row + order * column] = value;
        }
    }
    values
}
