//! Tables: named columns of numbers, as data of regressions come.
//!
//! ```text
//! names   column 1, column 2, ...          values   column after column, every column of `rows` numbers
//! ```
//!
//! - Given: a file and what is to be made of it: with or without a header, turned over, names from another file.
//! - Returns: a [`Table`], or an [`Error`] that names the file, the row, the column by its name and what was found.
//! - Must not know: what the columns mean.
//!
//! | ending | holds |
//! |---|---|
//! | `.npy`, `.mtx` | a matrix, as in [`crate::numbers`]; columns are named 1, 2, ... |
//! | any other, also packed by gzip, bzip2, xz or zstd | text: fields between commas, semicolons or tabs, in quotes or not |
//!
//! Text has a header if its first line is not all numbers ([`Header`]). A first column of text under an empty name, or one
//! more field than the header has, is taken as the names of the rows ([`RowNames`]). Cells that are empty or say `NA`,
//! `NaN`, `null` or the like are missing: an error, unless NaN is asked for ([`Missing`]). Columns of words are read where they
//! are asked for.

mod cells;
mod names;
mod records;
mod text;

use std::path::{Path, PathBuf};

use equipoise::{Control, DenseMatrix, Matrix};

use crate::numbers::{extension, into_dense_values, read_bytes, read_matrix};
use crate::suggest::nearest;
use crate::{Error, Result};

pub use records::{Record, Records, read_records};

/// Whether the first line of a text holds names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Header {
    /// Names, unless every field of the first line is a number.
    #[default]
    Auto,
    /// Names.
    Yes,
    /// Numbers; columns are named 1, 2, ...
    No,
}

/// Whether the first column of a text holds the names of the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RowNames {
    /// If its name is empty, or missing, and its first cell is text; in a table that is turned over, if that cell is text.
    #[default]
    Auto,
    /// If its first cell is text, whatever its name: dates, say.
    IfText,
    /// Names.
    Yes,
    /// Numbers.
    No,
}

/// What becomes of cells without a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Missing {
    /// An error that names the row and the column.
    #[default]
    Refuse,
    /// NaN.
    Keep,
}

/// How a table is read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TableOptions {
    /// Whether the first line holds names.
    pub header: Header,
    /// Whether the first column holds names.
    pub row_names: RowNames,
    /// Whether the columns of the table are the rows of the file.
    pub transpose: bool,
    /// A file of the names of the columns, in place of those the table has: one a line; or one line of them; or lines of
    /// several fields, of which the last counts whose entries all differ.
    pub names: Option<PathBuf>,
    /// Columns of the file that are not read, whatever they hold.
    pub drop: Vec<String>,
    /// Columns of the file that are read, and no others; those that it does not have are not missed.
    pub keep: Option<Vec<String>>,
    /// What becomes of cells without a number.
    pub missing: Missing,
    /// Columns that hold words, where a text under a header has them.
    pub words: Vec<String>,
    /// Whether cells may say `inf` or `-inf`.
    pub infinite: bool,
}

/// Named columns of numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// The name of every column; no two are the same.
    pub names: Vec<String>,
    /// The number of rows.
    pub rows: usize,
    /// The entries, column after column.
    pub values: Vec<f64>,
    /// The name of every row, where the file has some.
    pub row_names: Option<Vec<String>>,
    /// Columns of words that were asked for and found, with their names.
    pub words: Vec<(String, Vec<String>)>,
    /// The file, for messages.
    path: Box<Path>,
}

/// A column taken out of a table, or read from a file of its own.
#[derive(Debug, Clone, PartialEq)]
pub struct Target {
    /// Its name.
    pub name: String,
    /// Its entries.
    pub values: Vec<f64>,
    /// The file it was read from, where that is another.
    pub file: Option<PathBuf>,
}

/// Reads a table.
pub fn read_table(path: impl AsRef<Path>, options: &TableOptions, control: &Control) -> Result<Table> {
    let path = path.as_ref();
    match extension(path).as_str() {
        "npy" | "mtx" => {
            under_names(from_matrix(read_matrix(path, control)?, path, options)?, path, options, control)
        }
        _ => {
            let text = unpacked(path, control).map_err(|error| error.while_reading(path))?;
            parse_table(text, path, options, control)
        }
    }
}

/// The same of text that is at hand; `path` is for messages.
pub fn parse_table(text: Vec<u8>, path: &Path, options: &TableOptions, control: &Control) -> Result<Table> {
    let raw = text::read(text, path, options, control).map_err(|error| error.while_reading(path))?;
    under_names(raw.table(path, options, control)?, path, options, control)
}

/// The table under the names of another file, if one was given.
fn under_names(mut table: Table, path: &Path, options: &TableOptions, control: &Control) -> Result<Table> {
    if let Some(file) = &options.names {
        let given = names::read(file, control)?;
        if given.len() != table.names.len() {
            return Err(Error::TableShape {
                path: file.as_path().into(),
                found: format!("{} names", given.len()),
                expected: format!("{}, one a column of {}", table.names.len(), path.display()),
            });
        }
        table.names = given;
    }
    names::check_distinct(&table.names, options.names.as_deref().unwrap_or(path))?;
    Ok(table)
}

/// Reads one column of numbers, with or without a header; one row of them will do.
pub fn read_column(path: impl AsRef<Path>, control: &Control) -> Result<Target> {
    let path = path.as_ref();
    let table = read_table(path, &TableOptions::default(), control)?;
    let (rows, columns) = (table.rows, table.columns());
    if rows != 1 && columns != 1 {
        return Err(Error::NotAVector { path: path.into(), rows, columns });
    }
    let stem = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    let name = if columns == 1 && table.names[0] != "1" { table.names[0].clone() } else { stem };
    Ok(Target { name, values: table.values, file: Some(path.into()) })
}

impl Table {
    /// A table made here; one name a column, every column of so many rows.
    pub fn new(names: Vec<String>, rows: usize, values: Vec<f64>) -> Self {
        assert_eq!(names.len() * rows, values.len(), "a name a column, a value a cell");
        Self { names, rows, values, row_names: None, words: Vec::new(), path: Path::new("table").into() }
    }

    /// The number of columns.
    pub fn columns(&self) -> usize {
        self.names.len()
    }

    /// One column.
    pub fn column(&self, column: usize) -> &[f64] {
        &self.values[column * self.rows..(column + 1) * self.rows]
    }

    /// The place of a column, by its name; or an error that lists the names.
    pub fn find(&self, name: &str) -> Result<usize> {
        self.names.iter().position(|own| own == name).ok_or_else(|| {
            let known: Vec<&str> = self.names.iter().map(String::as_str).collect();
            Error::UnknownColumn {
                path: self.path.clone(),
                found: name.into(),
                suggestion: nearest(name, &known).map(Into::into),
                known: listed(&known),
            }
        })
    }

    /// Takes a column out.
    pub fn take(&mut self, name: &str) -> Result<Target> {
        let place = self.find(name)?;
        let values = self.values.drain(place * self.rows..(place + 1) * self.rows).collect();
        Ok(Target { name: self.names.remove(place), values, file: None })
    }

    /// Takes a column out by its name; where no column has the name but a file does, reads that, of as many rows.
    pub fn take_or_read(&mut self, name_or_file: &str, control: &Control) -> Result<Target> {
        if self.names.iter().any(|own| own == name_or_file) || !Path::new(name_or_file).exists() {
            return self.take(name_or_file);
        }
        let target = read_column(name_or_file, control)?;
        if target.values.len() != self.rows {
            return Err(Error::TableShape {
                path: Path::new(name_or_file).into(),
                found: format!("{} numbers", target.values.len()),
                expected: format!("{}, one a row of {}", self.rows, self.path.display()),
            });
        }
        Ok(target)
    }

    /// Its columns as a matrix, without their names.
    pub fn into_matrix(self) -> Result<Matrix<'static>> {
        Ok(DenseMatrix::from_columns(self.rows, self.names.len(), self.values)?.into())
    }
}

/// Names for a message: not more than a glance.
fn listed(known: &[&str]) -> String {
    const GLANCE: usize = 12;
    let shown = known[..known.len().min(GLANCE)].join(", ");
    if known.len() > GLANCE { format!("{shown}, ... ({} in all)", known.len()) } else { shown }
}

/// What a file holds, as it lies in it: numbers row after row.
struct Raw {
    /// Of the columns of the file.
    names: Option<Vec<String>>,
    row_names: Option<Vec<String>>,
    rows: usize,
    columns: usize,
    values: Vec<f64>,
    words: Vec<(String, Vec<String>)>,
}

impl Raw {
    /// The columns, turned over where asked for.
    fn table(self, path: &Path, options: &TableOptions, control: &Control) -> Result<Table> {
        let Self { names, row_names, rows, columns, values, words } = self;
        let (names, row_names, rows, columns, values) = if options.transpose {
            (row_names, names, columns, rows, values)
        } else if columns == 0 {
            // Words alone.
            (names, row_names, rows, columns, values)
        } else {
            let matrix = crate::numbers::from_row_major(rows, columns, values, control)?;
            (names, row_names, rows, columns, into_dense_values(matrix))
        };
        let names = names.unwrap_or_else(|| (1..=columns).map(|number| number.to_string()).collect());
        Ok(Table { names, rows, values, row_names, words, path: path.into() })
    }
}

/// A matrix has no names; its missing numbers are NaN.
fn from_matrix(matrix: Matrix, path: &Path, options: &TableOptions) -> Result<Table> {
    let (rows, columns) = (matrix.rows(), matrix.columns());
    if rows == 0 || columns == 0 {
        return Err(Error::NoNumbers { path: path.into() });
    }
    let values = into_dense_values(matrix);
    let keep = options.missing == Missing::Keep;
    let allowed = |value: &f64| value.is_finite() || if value.is_nan() { keep } else { options.infinite };
    if let Some(place) = values.iter().position(|value| !allowed(value)) {
        let (row, column) = (place % rows + 1, (place / rows + 1).to_string());
        return Err(if values[place].is_nan() {
            Error::MissingCell { path: path.into(), line: row, row, column, found: "NaN".into() }
        } else {
            Error::BadCell { path: path.into(), line: row, row, column, found: values[place].to_string() }
        });
    }
    let (rows, columns, values) = if options.transpose {
        let turned = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
        (columns, rows, turned.map(|(row, column)| values[column * rows + row]).collect())
    } else {
        (rows, columns, values)
    };
    let names = (1..=columns).map(|number| number.to_string()).collect();
    Ok(Table { names, rows, values, row_names: None, words: Vec::new(), path: path.into() })
}

/// All bytes of a text, unpacked, with room behind them for the reader of numbers.
fn unpacked(path: &Path, control: &Control) -> Result<Vec<u8>> {
    let bytes = read_bytes(path, control)?;
    let mut text = crate::libsvm::unpacked(bytes, path, control)?;
    if text.starts_with(b"\xef\xbb\xbf") {
        text.drain(..3);
    }
    Ok(text)
}
