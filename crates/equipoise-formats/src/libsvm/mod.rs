//! Rows of a label and sparse features, as LIBSVM and svmlight write them.
//!
//! ```text
//! +1 3:0.5 7:1 12:-2.25   # a comment
//! -1 qid:4 1:1 7:1
//! ```
//!
//! Given a path, a reader or bytes; returns plain numbers, or an [`Error`] with line and column.
//! Must not know what the labels mean.
//!
//! - Features are numbered from 1 to 4294967295, in any order within a row, each at most once. Those
//!   that occur become columns 0, 1, ... in ascending order, so memory grows with the non-zeros, not
//!   with the largest number.
//! - Labels and values are finite numbers, rounded as `str::parse` rounds them. A value of 0 is not
//!   stored, and its feature does not occur by it; it does count for `largest_feature`.
//! - Skipped: `qid:N` behind the label, comments from `#` on, blank lines, blanks of any sort.
//! - `.gz`, `.bz2`, `.xz` and `.zst` data are recognised by their first bytes and unpacked on the way.
//!
//! The text goes by in chunks that `threads` threads parse; the result does not depend on them. It is
//! never in memory as a whole, and the rows are stored once: 16 bytes a row, 4 a non-zero, and 8 more
//! a non-zero unless every value is 1.
//!
//! ```
//! use equipoise_formats::libsvm::{ReadOptions, parse};
//!
//! let rows = parse(b"+1 3:1 70:1\n-1 3:1 # no 70\n", "train.txt", ReadOptions::default())?;
//! assert_eq!(rows.labels, [1.0, -1.0]);
//! assert_eq!((rows.starts, rows.indices, rows.values), (vec![0, 2, 3], vec![0, 1, 0], None));
//! assert_eq!(rows.features, [3, 70]);
//!
//! let error = parse(b"+1 0:1\n", "train.txt", ReadOptions::default()).unwrap_err();
//! assert!(error.to_string().starts_with("train.txt: line 1, column 4: found feature number 0"));
//! # Ok::<(), equipoise_formats::Error>(())
//! ```

use std::io::Read;
use std::path::Path;
use std::thread;

use equipoise::Control;

use crate::{Error, Result};

mod chunk;
mod columns;
mod digits;
mod entries;
mod fault;
mod input;
mod matrix;
mod notes;
mod part;
mod pipeline;
mod rows;
mod source;
mod stream;
mod unusual;
mod zstd;

pub(crate) use digits::{PADDING, decimal};
pub(crate) use input::{read_at_most, read_everything, unpacked};
pub use matrix::read_labelled_matrix;
pub use part::read_part;
pub(crate) use stream::LibsvmRows;

use columns::{Columns, Occurring};
use input::{Input, Unpacked, Watched};

/// More threads than this read no faster.
const MOST_THREADS: usize = 64;

/// Text parsed at a time: it and the rows made of it fit a cache.
const CHUNK_BYTES: usize = 128 << 10;

/// Labels, and a sparse matrix by rows.
#[derive(Debug, Clone, PartialEq)]
pub struct LabelledRows {
    /// One label a row.
    pub labels: Vec<f64>,
    /// Where each row begins in `indices`, and at last their number: one more than rows.
    pub starts: Vec<usize>,
    /// Columns, from 0, ascending within a row.
    pub indices: Vec<u32>,
    /// One value an index, none of them 0; `None`: every value is exactly 1.
    pub values: Option<Vec<f64>>,
    /// The feature number in the file of each column, ascending, from 1.
    pub features: Vec<u32>,
    /// The largest feature number of the file, or 0; zeros and dropped entries count.
    pub largest_feature: u32,
    /// What the user should know, a sentence each.
    pub notes: Vec<String>,
}

impl LabelledRows {
    /// The same rows in wider columns: those of ascending `features`, among which its own are.
    pub fn widen(&mut self, features: &[u32]) {
        let place = |feature: &u32| features.binary_search(feature).unwrap_or_else(|place| place) as u32;
        let places: Vec<u32> = self.features.iter().map(place).collect();
        self.indices.iter_mut().for_each(|index| *index = places[*index as usize]);
        self.features = features.to_vec();
    }

    /// These rows and behind them others, in the columns of both.
    pub fn append(&mut self, mut others: Self) {
        let mut features = [&self.features[..], &others.features].concat();
        features.sort_unstable();
        features.dedup();
        self.widen(&features);
        others.widen(&features);
        let (entries, more) = (self.indices.len(), others.indices.len());
        if self.values.is_some() || others.values.is_some() {
            let values = self.values.get_or_insert_with(|| vec![1.0; entries]);
            values.extend(others.values.unwrap_or_else(|| vec![1.0; more]));
        }
        self.labels.extend(others.labels);
        self.starts.extend(others.starts.iter().skip(1).map(|start| entries + start));
        self.indices.extend(others.indices);
        self.largest_feature = self.largest_feature.max(others.largest_feature);
        self.notes.extend(others.notes);
    }
}

/// How to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadOptions {
    /// Threads that parse, 1 at least; they change the time and nothing else.
    pub threads: usize,
}

impl Default for ReadOptions {
    /// One thread a processor.
    fn default() -> Self {
        Self { threads: thread::available_parallelism().map_or(1, usize::from) }
    }
}

/// Reads a file, or standard input if the path is `-`.
pub fn read_path(path: impl AsRef<Path>, options: ReadOptions, control: &Control) -> Result<LabelledRows> {
    all_features(input::open(path.as_ref(), control)?, options, CHUNK_BYTES, control)
}

/// Reads everything that `input` has; `name` stands for the file in messages.
pub fn read(
    input: impl Read + Send,
    name: &str,
    options: ReadOptions,
    control: &Control,
) -> Result<LabelledRows> {
    all_features(watched(input, name, control), options, CHUNK_BYTES, control)
}

/// Reads bytes, which may be compressed as well; `name` stands for the file in messages.
pub fn parse(bytes: &[u8], name: &str, options: ReadOptions) -> Result<LabelledRows> {
    parse_in_chunks(bytes, name, options, CHUNK_BYTES)
}

/// [`parse`] with chunks of another size, for tests: the result must not depend on it.
#[doc(hidden)]
pub fn parse_in_chunks(
    bytes: &[u8],
    name: &str,
    options: ReadOptions,
    chunk_bytes: usize,
) -> Result<LabelledRows> {
    let length = Some(bytes.len() as u64);
    all_features(Input { bytes, length, path: Path::new(name) }, options, chunk_bytes, &Control::unlimited())
}

/// Reads a file, or standard input for `-`, into given columns, as a model that was trained before
/// needs them.
///
/// `features` are the feature numbers of the columns, ascending: those of [`LabelledRows::features`].
/// Entries of other features are dropped; a note says how many.
pub fn read_path_with_features(
    path: impl AsRef<Path>,
    features: &[u32],
    options: ReadOptions,
    control: &Control,
) -> Result<LabelledRows> {
    given_features(input::open(path.as_ref(), control)?, features, options, control)
}

/// [`read_path_with_features`] from a reader; `name` stands for the file in messages.
pub fn read_with_features(
    input: impl Read + Send,
    name: &str,
    features: &[u32],
    options: ReadOptions,
    control: &Control,
) -> Result<LabelledRows> {
    given_features(watched(input, name, control), features, options, control)
}

fn watched<'a, R: Read + Send>(input: R, name: &'a str, control: &Control) -> Input<'a, Watched<R>> {
    Input { bytes: Watched { input, control: control.clone() }, length: None, path: Path::new(name) }
}

fn all_features(
    input: Input<'_, impl Read + Send>,
    options: ReadOptions,
    chunk_bytes: usize,
    control: &Control,
) -> Result<LabelledRows> {
    let path = input.path;
    let mut rows = collect(input, options, chunk_bytes, None, control)?.rows;
    let Occurring { features, sizes } = columns::renumber(
        &mut rows.indices,
        rows.values.as_deref(),
        rows.largest,
        options.threads.min(MOST_THREADS),
        control,
    );
    control.check().map_err(|halt| Error::from(halt).while_reading(path))?;
    let notes = notes::scales(&features, &sizes).into_iter().collect();
    Ok(LabelledRows {
        labels: rows.labels,
        starts: rows.starts,
        indices: rows.indices,
        values: rows.values,
        features,
        largest_feature: rows.largest,
        notes,
    })
}

fn given_features(
    input: Input<'_, impl Read + Send>,
    features: &[u32],
    options: ReadOptions,
    control: &Control,
) -> Result<LabelledRows> {
    let mut before = 0;
    for (place, &found) in features.iter().enumerate() {
        if found <= before {
            return Err(Error::FeatureOrder { position: place + 1, found, before });
        }
        before = found;
    }
    let columns = Columns::of(features);
    let collected = collect(input, options, CHUNK_BYTES, Some(&columns), control)?;
    let notes = notes::dropped(collected.dropped, collected.smallest_dropped).into_iter().collect();
    let rows = collected.rows;
    Ok(LabelledRows {
        labels: rows.labels,
        starts: rows.starts,
        indices: rows.indices,
        values: rows.values,
        features: features.to_vec(),
        largest_feature: rows.largest,
        notes,
    })
}

fn collect(
    input: Input<'_, impl Read + Send>,
    options: ReadOptions,
    chunk_bytes: usize,
    columns: Option<&Columns>,
    control: &Control,
) -> Result<pipeline::Collected> {
    let Input { bytes, length, path } = input;
    let halted = || control.halted().map(|halt| Error::from(halt).while_reading(path));
    let Unpacked { text, format } = input::unpack(bytes, path).map_err(|error| halted().unwrap_or(error))?;
    let text_bytes = length.filter(|_| format.is_none());
    // A short text needs no long buffer; a little more than its length shows at once that it ends.
    let chunk_bytes = text_bytes.map_or(chunk_bytes, |length| chunk_bytes.min(length as usize + 1));
    let source = source::Source::new(text, chunk_bytes);
    let explain = |reason: &std::io::Error| halted().unwrap_or_else(|| input::explain(format, path, reason));
    let mut collected =
        pipeline::collect(source, options.threads.min(MOST_THREADS), columns, text_bytes, path, &explain)?;
    if collected.rows.labels.is_empty() {
        return Err(Error::NoRows { path: path.into() });
    }
    collected.rows.shrink();
    Ok(collected)
}
