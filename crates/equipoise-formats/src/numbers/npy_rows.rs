//! The rows of an `.npy` file, a few at a time.
//!
//! Given a file; appends rows to a batch. In C order rows are consecutive bytes; in Fortran order each batch is gathered
//! column by column. Must not know what the rows mean.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use equipoise::matrix::ByRow;

use super::npy::Layout;
use crate::row_stream::{RowReader, Taken, emptied};
use crate::{Error, Result};

/// Longer headers than this do not describe numbers.
const HEADER: u64 = 128 << 10;
/// Bytes decoded at a time.
const PIECE: usize = 256 << 10;

/// An open file and the next row.
#[derive(Debug)]
pub(crate) struct NpyRows {
    file: File,
    path: Box<Path>,
    layout: Layout,
    row: usize,
    bytes: Vec<u8>,
    column: Vec<f64>,
}

impl NpyRows {
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let failed = |reason| Error::reading(path, &reason);
        let mut file = File::open(path).map_err(failed)?;
        let size = file.metadata().map_err(failed)?.len();
        let mut head = Vec::new();
        file.by_ref().take(HEADER).read_to_end(&mut head).map_err(failed)?;
        let layout = Layout::of(&head, size, path)?;
        file.seek(SeekFrom::Start(layout.start as u64)).map_err(failed)?;
        Ok(Self { file, path: path.into(), layout, row: 0, bytes: Vec::new(), column: Vec::new() })
    }

    /// Rows and columns.
    pub(crate) fn shape(&self) -> (usize, usize) {
        (self.layout.rows, self.layout.columns)
    }

    /// Reads the next bytes of the file.
    fn read(&mut self, count: usize) -> Result<()> {
        self.bytes.resize(count, 0);
        self.file.read_exact(&mut self.bytes).map_err(|reason| Error::reading(&self.path, &reason))
    }

    fn in_c_order(&mut self, count: usize, values: &mut Vec<f64>, complete: &mut usize) -> Result<()> {
        let Layout { columns, width, .. } = self.layout;
        let (all, piece) = (count * columns, (PIECE / width).max(1));
        while values.len() < all {
            self.read((all - values.len()).min(piece) * width)?;
            self.layout.decode(&self.bytes, values, &self.path)?;
            *complete = values.len() / columns;
        }
        Ok(())
    }

    fn in_fortran_order(&mut self, count: usize, values: &mut Vec<f64>) -> Result<()> {
        let Layout { rows, columns, start, width, .. } = self.layout;
        values.resize(count * columns, 0.0);
        for c in 0..columns {
            let place = start as u64 + ((c * rows + self.row) as u64) * width as u64;
            let sought = self.file.seek(SeekFrom::Start(place));
            sought.map_err(|reason| Error::reading(&self.path, &reason))?;
            self.read(count * width)?;
            self.column.clear();
            self.layout.decode(&self.bytes, &mut self.column, &self.path)?;
            self.column.iter().enumerate().for_each(|(i, value)| values[i * columns + c] = *value);
        }
        Ok(())
    }
}

impl RowReader for NpyRows {
    fn fill(&mut self, most_bytes: usize, used: Option<ByRow>, taken: &mut Taken) -> Result<ByRow> {
        let (rows, columns) = self.shape();
        let count = (rows - self.row).min((most_bytes / (8 * columns + 8)).max(1));
        if columns == 0 || count == 0 {
            taken.rows = count;
            self.row += count;
            return Ok(ByRow::Dense { columns, values: Vec::new() });
        }
        let mut values = emptied(used);
        values.reserve_exact(count * columns);
        let read = if self.layout.by_rows || columns == 1 {
            self.in_c_order(count, &mut values, &mut taken.rows)
        } else {
            self.in_fortran_order(count, &mut values)
        };
        read?;
        if let Some(place) = values.iter().position(|value| !value.is_finite()) {
            (taken.rows, self.row) = (place / columns, self.row + place / columns);
            let (path, row, column) = (self.path.clone(), self.row, place % columns);
            return Err(Error::NonFiniteEntry { path, row, column, found: values[place] });
        }
        taken.rows = count;
        self.row += count;
        Ok(ByRow::Dense { columns, values })
    }
}
