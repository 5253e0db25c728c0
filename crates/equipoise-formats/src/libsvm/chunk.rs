//! Whole lines of text to rows.
//!
//! Given bytes that end in a newline, with [`PADDING`](super::digits::PADDING) more behind it. Fills a
//! [`Chunk`]: labels, row ends, feature numbers less one, values. The entries of a row are read by
//! `entries.rs`; a row that is out of order or holds zeros is set right here when it ends. While every
//! value is exactly 1 none is stored.
//!
//! Must not know of files, threads, other chunks, or the final numbers of the columns.

use super::digits::decimal;
use super::entries::{Guess, Halt, Row, Slots, read_entries};
use super::fault::Fault;
use super::unusual::{self, Beginning, ends_word};

/// The rows of one chunk; kept and filled again, so that its memory stays warm.
#[derive(Debug)]
pub(super) struct Chunk {
    /// One label a row.
    pub(super) labels: Vec<f64>,
    /// Where each row ends among the entries.
    pub(super) ends: Vec<usize>,
    /// Room for feature numbers; `used` of them count.
    index_slots: Vec<u32>,
    /// Room for values.
    value_slots: Vec<f64>,
    /// Entries.
    used: usize,
    /// Whether every value is 1, and none is stored.
    pub(super) only_ones: bool,
    /// Lines, those without a row included.
    pub(super) lines: usize,
    /// The largest feature number, explicit zeros included.
    pub(super) largest: u32,
    /// A row on its way to being sorted.
    sorting: Vec<(u32, f64)>,
}

impl Chunk {
    pub(super) fn new() -> Self {
        Self {
            labels: Vec::new(),
            ends: Vec::new(),
            index_slots: Vec::new(),
            value_slots: Vec::new(),
            used: 0,
            only_ones: true,
            lines: 0,
            largest: 0,
            sorting: Vec::new(),
        }
    }

    /// Feature numbers, less one, ascending within a row; or columns after [`Chunk::select`].
    pub(super) fn indices(&self) -> &[u32] {
        &self.index_slots[..self.used]
    }

    /// One value an index, unless `only_ones`.
    pub(super) fn values(&self) -> &[f64] {
        &self.value_slots[..self.used]
    }

    /// Replaces the rows by those of `text[..end]`.
    pub(super) fn fill(&mut self, text: &[u8], end: usize) -> Result<(), Fault> {
        self.labels.clear();
        self.ends.clear();
        (self.used, self.only_ones, self.lines, self.largest) = (0, true, 0, 0);
        // An entry takes four bytes at least: `1:1` and what ends it.
        let most = end / 4 + 1;
        if self.index_slots.len() < most {
            // New, not resized: pages that are not used are never touched.
            self.index_slots = vec![0; most];
            self.value_slots = vec![0.0; most];
        }
        let mut guess = Guess::default();
        let mut zeros = false;
        let mut at = 0;
        while at < end {
            self.lines += 1;
            let (label, label_end) = match class_label(text, at).or_else(|| plain_label(text, at)) {
                Some(label) => label,
                None => match unusual::beginning(text, at)? {
                    Beginning::Label(label, behind) => (label, behind),
                    Beginning::Nothing(next) => {
                        at = next;
                        continue;
                    }
                },
            };
            let mut row = Row::new(label_end, self.used);
            at = self.read_row(text, &mut row, &mut guess)?;
            self.used = row.used;
            if row.unsorted || row.zeros {
                self.set_right(row, text)?;
                zeros |= row.zeros;
            }
            self.largest = self.largest.max(row.largest);
            self.labels.push(label);
            self.ends.push(self.used);
        }
        // A dropped zero is no reason to store ones.
        if zeros && self.values().iter().all(|&value| value == 1.0) {
            self.only_ones = true;
        }
        Ok(())
    }

    /// Reads the entries of a row; returns where the next line begins.
    #[inline]
    fn read_row(&mut self, text: &[u8], row: &mut Row, guess: &mut Guess) -> Result<usize, Fault> {
        let mut at = row.label_end + usize::from(text[row.label_end] == b' ');
        let mut slots = Slots { indices: &mut self.index_slots, values: &mut self.value_slots };
        if self.only_ones {
            match read_entries::<true>(text, at, row, &mut slots, guess)? {
                Halt::RowEnd(next) => return Ok(next),
                Halt::NotOne(entry) => at = entry,
            }
            self.only_ones = false;
            slots.values[..row.used].fill(1.0);
        }
        match read_entries::<false>(text, at, row, &mut slots, guess)? {
            Halt::RowEnd(next) => Ok(next),
            Halt::NotOne(_) => unreachable!("any value may be stored"),
        }
    }

    /// Sorts a row, refuses a repeated feature, and drops zeros.
    #[cold]
    fn set_right(&mut self, row: Row, text: &[u8]) -> Result<(), Fault> {
        let indices = &mut self.index_slots[row.start..row.used];
        let values = &mut self.value_slots[row.start..row.used];
        if self.only_ones {
            indices.sort_unstable();
        } else if row.unsorted {
            self.sorting.clear();
            self.sorting.extend(indices.iter().copied().zip(values.iter().copied()));
            self.sorting.sort_unstable_by_key(|&(index, _)| index);
            for ((index, value), sorted) in indices.iter_mut().zip(&mut *values).zip(&self.sorting) {
                (*index, *value) = *sorted;
            }
        }
        if row.unsorted && indices.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(unusual::repeated(text, row.label_end));
        }
        if row.zeros {
            let mut kept = 0;
            for entry in 0..indices.len() {
                if values[entry] != 0.0 {
                    (indices[kept], values[kept]) = (indices[entry], values[entry]);
                    kept += 1;
                }
            }
            self.used = row.start + kept;
        }
        Ok(())
    }

    /// Replaces each index by `column` of it, and drops the entries that have none.
    ///
    /// Columns must ascend with the indices. Tells `dropped` of each entry that goes.
    pub(super) fn select(&mut self, column: impl Fn(u32) -> Option<u32>, mut dropped: impl FnMut(u32)) {
        let (mut entry, mut kept) = (0, 0);
        for end in &mut self.ends {
            while entry < *end {
                let index = self.index_slots[entry];
                if let Some(column) = column(index) {
                    self.index_slots[kept] = column;
                    if !self.only_ones {
                        self.value_slots[kept] = self.value_slots[entry];
                    }
                    kept += 1;
                } else {
                    dropped(index);
                }
                entry += 1;
            }
            *end = kept;
        }
        self.used = kept;
    }
}

/// A label of one digit, with or without a sign; and the position behind it.
#[inline]
fn class_label(text: &[u8], at: usize) -> Option<(f64, usize)> {
    let sign = text[at];
    let digit = at + usize::from(sign == b'-' || sign == b'+');
    let size = text[digit].wrapping_sub(b'0');
    if size > 9 || text[digit + 1] != b' ' {
        return None;
    }
    let size = f64::from(size);
    Some((if sign == b'-' { -size } else { size }, digit + 1))
}

/// A label that is a plain decimal; and the position behind it.
fn plain_label(text: &[u8], at: usize) -> Option<(f64, usize)> {
    decimal(text, at).filter(|&(_, behind)| ends_word(text[behind]))
}
