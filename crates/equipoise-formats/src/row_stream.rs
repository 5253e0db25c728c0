//! The rows of a matrix in a file, a batch at a time, as often as needed.
//!
//! Given the name of an `.npy`, `.csv`, `.svm` or `.libsvm` file; returns batches of rows as the library takes them, all
//! finite, within a limit of bytes (one row at least, and about 1 MiB for reading). Must not know what the rows mean.
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
//! use equipoise::{Control, matrix::ByRow};
//! use equipoise_formats::RowStream;
//!
//! let path = folder.join("m.csv");
//! std::fs::write(&path, "1,2\n3,4\n5,6\n")?;
//! let stream = RowStream::open(&path, &Control::unlimited())?;
//! assert_eq!((stream.rows(), stream.columns(), stream.memory()), (3, 2, 48));
//! let mut pass = stream.pass()?;
//! let batch = pass.next(60, None)?.expect("rows");
//! let rows = ByRow::Dense { columns: 2, values: vec![1.0, 2.0, 3.0, 4.0] };
//! assert_eq!((batch.first, batch.rows), (0, rows));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::path::Path;

use equipoise::Control;
use equipoise::matrix::ByRow;
use equipoise::separable::Values;
use equipoise::smooth::SampleBatch;

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

/// Whether a name ends as files of labelled rows do.
pub(crate) fn is_libsvm(path: &Path) -> bool {
    matches!(extension(path).as_str(), "svm" | "libsvm")
}

impl RowStream {
    /// Opens a file: its shape is known then, its entries are not checked yet.
    pub fn open(path: impl AsRef<Path>, control: &Control) -> Result<Self> {
        let path = path.as_ref();
        Self::opened(path, control).map_err(|error| error.while_reading(path))
    }

    fn opened(path: &Path, control: &Control) -> Result<Self> {
        let stream =
            |format, rows, columns, entries| Self { path: path.into(), format, rows, columns, entries };
        let dense = |format, (rows, columns): (usize, usize)| {
            stream(format, rows, columns, rows as u64 * columns as u64)
        };
        match extension(path).as_str() {
            "npy" => Ok(dense(Format::Npy, NpyRows::open(path)?.shape())),
            "csv" => Ok(dense(Format::Csv, CsvRows::count(path, control)?)),
            _ if is_libsvm(path) => {
                let counted = LibsvmRows::count(path, control)?;
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
    /// The next rows, as many as fit into this many bytes and at least one; none at the end. Rows that were used up lend
    /// their memory. On an error `taken.rows` counts the rows before it.
    fn fill(&mut self, most_bytes: usize, used: Option<ByRow>, taken: &mut Taken) -> Result<ByRow>;
}

/// What came with some rows.
#[derive(Debug, Default)]
pub(crate) struct Taken {
    /// How many rows there are.
    pub(crate) rows: usize,
    /// Their labels, where the file has labels.
    pub(crate) labels: Vec<f64>,
}

/// The memory of dense rows that were used up, emptied.
pub(crate) fn emptied(used: Option<ByRow>) -> Vec<f64> {
    match used {
        Some(ByRow::Dense { mut values, .. }) => {
            values.clear();
            values
        }
        _ => Vec::new(),
    }
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

    /// The next rows, of at most this many bytes and at least one row; `None` after the last. Their targets are the
    /// labels of the file, where it has labels; their weights are 1. A batch that was used up lends its memory.
    pub fn next(&mut self, most_bytes: usize, used: Option<SampleBatch>) -> Result<Option<SampleBatch>> {
        let (first, mut taken) = (self.row, Taken::default());
        let outcome = self.reader.fill(most_bytes, used.map(|used| used.rows), &mut taken);
        self.row += taken.rows;
        let rows = outcome?;
        let changed = |row, found: &str| {
            let expected = format!("{} rows", self.rows);
            Err(Error::Changed { path: self.path.clone(), row, found: found.into(), expected })
        };
        match (taken.rows, self.row) {
            (_, row) if row > self.rows => {
                self.row = self.rows;
                changed(self.rows, "one more row")
            }
            (0, row) if row < self.rows => changed(row, "the end of the file"),
            (0, _) => Ok(None),
            _ => Ok(Some(SampleBatch { first, rows, target: taken.labels, weights: Values::Uniform(1.0) })),
        }
    }
}
