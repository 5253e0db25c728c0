//! Labelled rows, a few at a time.
//!
//! Given a file, plain or packed; appends rows to a batch. Column c is feature c + 1, whether or not every feature
//! occurs. One chunk of text and its rows are in memory beside the batch. Must not know what the labels mean.

use std::io::Read;
use std::path::Path;

use equipoise::Control;
use equipoise::matrix::{ByRow, Rows};

use super::CHUNK_BYTES;
use super::chunk::Chunk;
use super::input::{self, Input, Unpacked};
use super::source::{Interruption, LONGEST_LINE, Source};
use crate::numbers::check_claim;
use crate::row_stream::{RowReader, Taken};
use crate::{Error, Result};

/// What a first reading finds.
#[derive(Debug)]
pub(crate) struct Counted {
    pub(crate) rows: usize,
    /// The largest feature.
    pub(crate) columns: usize,
    pub(crate) entries: u64,
}

/// An open file, chunk by chunk.
pub(crate) struct LibsvmRows {
    source: Source<'static>,
    format: Option<&'static str>,
    path: Box<Path>,
    columns: usize,
    text: Vec<u8>,
    chunk: Chunk,
    /// Rows of the chunk that were handed out.
    used: usize,
    /// Lines before the next chunk.
    lines: usize,
    /// Rows handed out.
    row: usize,
}

impl LibsvmRows {
    pub(crate) fn open(path: &Path, columns: usize) -> Result<Self> {
        let Input { bytes, .. } = input::open(path, &Control::unlimited())?;
        Self::of(bytes, path, columns, CHUNK_BYTES)
    }

    fn of(bytes: Box<dyn Read + Send>, path: &Path, columns: usize, chunk_bytes: usize) -> Result<Self> {
        let Unpacked { text, format } = input::unpack(bytes, path)?;
        let (source, chunk) = (Source::new(text, chunk_bytes), Chunk::new());
        Ok(Self {
            source,
            format,
            path: path.into(),
            columns,
            text: Vec::new(),
            chunk,
            used: 0,
            lines: 0,
            row: 0,
        })
    }

    /// Rows, columns and entries, by reading the file once.
    pub(crate) fn count(path: &Path, control: &Control) -> Result<Counted> {
        let Input { bytes, length, .. } = input::open(path, control)?;
        let mut reader = Self::of(bytes, path, 0, CHUNK_BYTES)?;
        let mut counted = Counted { rows: 0, columns: 0, entries: 0 };
        while reader.next_chunk()? {
            control.check()?;
            counted.rows += reader.chunk.labels.len();
            counted.columns = counted.columns.max(reader.chunk.largest as usize);
            counted.entries += reader.chunk.indices().len() as u64;
        }
        if counted.rows == 0 {
            return Err(Error::NoRows { path: path.into() });
        }
        check_claim(
            path,
            counted.rows,
            counted.columns,
            length.map_or(usize::MAX, |length| length as usize),
        )?;
        Ok(counted)
    }

    /// Reads the next chunk that holds rows; false at the end. On an error the chunk holds the labels before it.
    fn next_chunk(&mut self) -> Result<bool> {
        loop {
            self.used = 0;
            self.chunk.labels.clear();
            let Some((_, end)) = self.source.next(&mut self.text) else { return Ok(false) };
            let end = end.map_err(|interruption| match interruption {
                Interruption::Io(error) => input::explain(self.format, &self.path, &error),
                Interruption::EndlessLine => {
                    let (path, line) = (self.path.clone(), self.lines + 1);
                    Error::LineTooLong { path, line, allowed: LONGEST_LINE }
                }
            })?;
            let filled = self.chunk.fill(&self.text, end);
            filled.map_err(|fault| fault.in_file(&self.text, self.lines, &self.path))?;
            self.lines += self.chunk.lines;
            if !self.chunk.labels.is_empty() {
                return Ok(true);
            }
        }
    }
}

impl RowReader for LibsvmRows {
    fn fill(&mut self, most_bytes: usize, used: Option<ByRow>, taken: &mut Taken) -> Result<ByRow> {
        // The used rows go before the next ones are made.
        drop(used);
        let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        'rows: loop {
            if self.used == self.chunk.labels.len() {
                match self.next_chunk() {
                    Ok(true) => {}
                    Ok(false) => break,
                    Err(error) => {
                        taken.rows += self.chunk.labels.len();
                        return Err(error);
                    }
                }
            }
            while self.used < self.chunk.labels.len() {
                let start = if self.used == 0 { 0 } else { self.chunk.ends[self.used - 1] };
                let entries = start..self.chunk.ends[self.used];
                // Start, label and target of a row take 8 bytes each.
                let bytes = 12 * (indices.len() + entries.len()) + 24 * (taken.rows + 1);
                if taken.rows > 0 && bytes > most_bytes {
                    break 'rows;
                }
                let row = &self.chunk.indices()[entries.clone()];
                if let Some(&index) = row.last().filter(|&&index| index as usize >= self.columns) {
                    let found = format!("feature {}", index + 1);
                    let expected = format!("features up to {}", self.columns);
                    return Err(Error::Changed { path: self.path.clone(), row: self.row, found, expected });
                }
                indices.extend_from_slice(row);
                if self.chunk.only_ones {
                    values.resize(indices.len(), 1.0);
                } else {
                    values.extend_from_slice(&self.chunk.values()[entries]);
                }
                starts.push(indices.len());
                taken.labels.push(self.chunk.labels[self.used]);
                (taken.rows, self.used, self.row) = (taken.rows + 1, self.used + 1, self.row + 1);
            }
        }
        Ok(ByRow::Sparse(Rows::new(self.columns, starts, indices, Some(values))?))
    }
}
