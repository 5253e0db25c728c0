//! The rows of a `.csv` file, a few at a time.
//!
//! Given a file; appends rows to a batch. Takes what the reader of whole files takes, numbers that are not finite
//! excepted. Must not know what the rows mean.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use equipoise::Control;
use equipoise::matrix::ByRow;

use super::csv::parse_row;
use super::text;
use crate::row_stream::{RowReader, Taken, emptied};
use crate::{Error, Result};

/// The longest line, newline included; an endless line must end.
const LONGEST_LINE: usize = 256 << 20;
/// Bytes read at a time.
const PIECE: usize = 256 << 10;

/// An open file, line by line.
#[derive(Debug)]
pub(crate) struct CsvRows {
    file: BufReader<File>,
    path: Box<Path>,
    columns: usize,
    /// Lines read, blank ones included.
    lines: usize,
    /// Rows read.
    row: usize,
    line: Vec<u8>,
}

impl CsvRows {
    pub(crate) fn open(path: &Path, columns: usize) -> Result<Self> {
        let file = File::open(path).map_err(|reason| Error::reading(path, &reason))?;
        let file = BufReader::with_capacity(PIECE, file);
        Ok(Self { file, path: path.into(), columns, lines: 0, row: 0, line: Vec::new() })
    }

    /// Rows and columns, by reading the file once.
    pub(crate) fn count(path: &Path, control: &Control) -> Result<(usize, usize)> {
        let mut reader = Self::open(path, 0)?;
        let (mut rows, mut columns, mut bytes) = (0, 0, PIECE);
        while reader.next_line()? {
            bytes += reader.line.len();
            if bytes >= PIECE {
                control.check()?;
                bytes = 0;
            }
            if rows == 0 {
                columns = reader.line.split(|&byte| byte == b',').count();
            }
            rows += 1;
        }
        if rows == 0 { Err(Error::NoNumbers { path: path.into() }) } else { Ok((rows, columns)) }
    }

    /// Reads the next line that is not blank; false at the end.
    fn next_line(&mut self) -> Result<bool> {
        loop {
            self.line.clear();
            let limit = LONGEST_LINE as u64 + 1;
            let read = self.file.by_ref().take(limit).read_until(b'\n', &mut self.line);
            if read.map_err(|reason| Error::reading(&self.path, &reason))? == 0 {
                return Ok(false);
            }
            self.lines += 1;
            if self.line.len() > LONGEST_LINE {
                let (path, line) = (self.path.clone(), self.lines);
                return Err(Error::LineTooLong { path, line, allowed: LONGEST_LINE });
            }
            let mark = if self.lines == 1 && self.line.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
            if !self.line[mark..].trim_ascii().is_empty() {
                return Ok(true);
            }
        }
    }
}

impl RowReader for CsvRows {
    fn fill(&mut self, most_bytes: usize, used: Option<ByRow>, taken: &mut Taken) -> Result<ByRow> {
        let most_rows = (most_bytes / (8 * self.columns + 8)).max(1);
        let mut values = emptied(used);
        while taken.rows < most_rows && self.next_line()? {
            let line = text(&self.line, &self.path).map_err(|error| match error {
                Error::NotText { path, .. } => Error::NotText { path, line: self.lines },
                other => other,
            })?;
            let before = values.len();
            if taken.rows == 0 {
                values.reserve_exact(most_rows.min(1 << 10) * self.columns);
            }
            parse_row(line, &self.path, self.lines, Some(self.columns), &mut values)?;
            if let Some(column) = values[before..].iter().position(|value| !value.is_finite()) {
                let (path, row, found) = (self.path.clone(), self.row, values[before + column]);
                return Err(Error::NonFiniteEntry { path, row, column, found });
            }
            taken.rows += 1;
            self.row += 1;
        }
        Ok(ByRow::Dense { columns: self.columns, values })
    }
}
