//! The rows of a matrix in a file, a batch at a time, as often as needed.
//!
//! Given the name of an `.npy`, `.csv`, `.svm` or `.libsvm` file; returns batches of rows as plain numbers, all finite,
//! within a limit of bytes (one row at least, and about 1 MiB for reading). Must not know what the rows mean.
//!
//! | ending | how often read to be opened | memory order |
//! |---|---|---|
//! | `.npy` | header only | C is read in one sweep; Fortran is gathered column by column, slower |
//! | `.csv` | once, to count rows | |
//! | `.svm`, `.libsvm` | once, to count rows and entries | column c is feature c + 1; labels come with the rows |
//!
//! `MatrixMarket` files stand in the order of columns and are refused.
//!
//! ```
//! # let folder = std::env::temp_dir().join("equipoise-row-stream-doc");
//! # std::fs::create_dir_all(&folder)?;
//! use equipoise_formats::RowStream;
//! use equipoise_formats::row_stream::RowData;
//!
//! let path = folder.join("m.csv");
//! std::fs::write(&path, "1,2\n3,4\n5,6\n")?;
//! let stream = RowStream::open(&path)?;
//! assert_eq!((stream.rows(), stream.columns(), stream.memory()), (3, 2, 48));
//! let mut pass = stream.pass()?;
//! let batch = pass.next(60, None)?.expect("rows");
//! assert_eq!((batch.first, batch.rows, batch.data), (0, 2, RowData::Dense(vec![1.0, 2.0, 3.0, 4.0])));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::path::Path;

use crate::libsvm::LibsvmRows;
use crate::numbers::{CsvRows, NpyRows, extension};
use crate::{Error, Result};

/// A file whose rows are read in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowStream {
    path: Box<Path>,
    format: Format,
    rows: usize,
    columns: usize,
    entries: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Npy,
    Csv,
    Libsvm,
}

/// Consecutive rows. A batch that was used up can be filled again.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RowBatch {
    /// The number of the first row, from 0.
    pub first: usize,
    /// How many rows there are.
    pub rows: usize,
    /// Their numbers.
    pub data: RowData,
    /// Their labels, where the file has labels; else empty.
    pub labels: Vec<f64>,
}

/// The numbers of some rows.
#[derive(Debug, Clone, PartialEq)]
pub enum RowData {
    /// Every entry, row after row.
    Dense(Vec<f64>),
    /// The entries that are stored.
    Sparse {
        /// Where each row begins, and at last the number of entries.
        starts: Vec<usize>,
        /// Columns, from 0, ascending within a row.
        indices: Vec<u32>,
        /// One value an index.
        values: Vec<f64>,
    },
}

impl Default for RowData {
    fn default() -> Self {
        Self::Dense(Vec::new())
    }
}

/// Whether a name ends as files of labelled rows do.
pub(crate) fn is_libsvm(path: &Path) -> bool {
    matches!(extension(path).as_str(), "svm" | "libsvm")
}

impl RowStream {
    /// Opens a file: its shape is known then, its entries are not checked yet.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let stream =
            |format, rows, columns, entries| Self { path: path.into(), format, rows, columns, entries };
        let dense = |format, (rows, columns): (usize, usize)| {
            stream(format, rows, columns, rows as u64 * columns as u64)
        };
        match extension(path).as_str() {
            "npy" => Ok(dense(Format::Npy, NpyRows::open(path)?.shape())),
            "csv" => Ok(dense(Format::Csv, CsvRows::count(path)?)),
            _ if is_libsvm(path) => {
                let counted = LibsvmRows::count(path)?;
                Ok(stream(Format::Libsvm, counted.rows, counted.columns, counted.entries))
            }
            "mtx" => Err(Error::Unsupported {
                path: path.into(),
                found: "reading a MatrixMarket file row by row (it stands in the order of columns)".into(),
                allowed: ".npy, .csv, .svm and .libsvm files; convert it, or allow more memory to load it",
            }),
            _ => Err(Error::UnknownExtension { path: path.into(), asked_by: None }),
        }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Whether rows come with labels, and sparse.
    pub fn is_labelled(&self) -> bool {
        self.format == Format::Libsvm
    }

    /// Bytes that the whole matrix would take: 8 an entry, 12 where it is sparse.
    pub fn memory(&self) -> u64 {
        self.entries.saturating_mul(if self.format == Format::Libsvm { 12 } else { 8 })
    }

    /// Begins a pass at the first row.
    pub fn pass(&self) -> Result<RowPass> {
        let path = &self.path;
        let reader: Box<dyn RowReader> = match self.format {
            Format::Npy => {
                let reader = NpyRows::open(path)?;
                let (rows, columns) = reader.shape();
                if (rows, columns) != (self.rows, self.columns) {
                    let (found, expected) = (shape(rows, columns), shape(self.rows, self.columns));
                    return Err(Error::Changed { path: path.clone(), row: 0, found, expected });
                }
                Box::new(reader)
            }
            Format::Csv => Box::new(CsvRows::open(path, self.columns)?),
            Format::Libsvm => Box::new(LibsvmRows::open(path, self.columns)?),
        };
        Ok(RowPass { reader, path: path.clone(), row: 0, rows: self.rows })
    }
}

fn shape(rows: usize, columns: usize) -> String {
    format!("a {rows} x {columns} matrix")
}

/// Rows of one format.
pub(crate) trait RowReader {
    /// Appends the next rows, as many as fit into this many bytes and at least one; none at the end. On an error
    /// `batch.rows` counts the rows before it.
    fn fill(&mut self, most_bytes: usize, batch: &mut RowBatch) -> Result<()>;
}

/// A pass over the rows of a file.
pub struct RowPass {
    reader: Box<dyn RowReader>,
    path: Box<Path>,
    row: usize,
    rows: usize,
}

impl std::fmt::Debug for RowPass {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("RowPass").field("path", &self.path).field("row", &self.row).finish_non_exhaustive()
    }
}

impl RowPass {
    /// The number of the next row, from 0; after an error, of the row that is at fault.
    pub fn row(&self) -> usize {
        self.row
    }

    /// The next rows, of at most this many bytes and at least one row; `None` after the last. A batch that was used
    /// up lends its memory.
    pub fn next(&mut self, most_bytes: usize, used: Option<RowBatch>) -> Result<Option<RowBatch>> {
        let mut batch = used.unwrap_or_default();
        (batch.first, batch.rows) = (self.row, 0);
        batch.labels.clear();
        match &mut batch.data {
            RowData::Dense(values) => values.clear(),
            RowData::Sparse { starts, indices, values } => {
                starts.clear();
                indices.clear();
                values.clear();
            }
        }
        let outcome = self.reader.fill(most_bytes, &mut batch);
        self.row += batch.rows;
        outcome?;
        let changed = |row, found: &str| {
            let expected = format!("{} rows", self.rows);
            Err(Error::Changed { path: self.path.clone(), row, found: found.into(), expected })
        };
        match (batch.rows, self.row) {
            (_, row) if row > self.rows => {
                self.row = self.rows;
                changed(self.rows, "one more row")
            }
            (0, row) if row < self.rows => changed(row, "the end of the file"),
            (0, _) => Ok(None),
            _ => Ok(Some(batch)),
        }
    }
}
