//! Feature numbers to columns: 0 for the smallest that occurs, and so on.
//!
//! Features are numbers up to 2^32 - 1 with any gaps; columns have none, so that memory grows with
//! the non-zeros. Where the largest feature is moderate beside the non-zeros a table of all features
//! says which occur, and then where they go; otherwise they are sorted. On the way the largest
//! `|value|` of each feature is found, for a warning about scales.
//!
//! Everywhere here an *index* is a feature number less one.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::thread;

use equipoise::Control;

/// Sorted features with a table of where to look: a search looks at a few neighbours only.
#[derive(Debug)]
pub(super) struct Sorted {
    indices: Vec<u32>,
    /// Where the indices with these high bits begin.
    buckets: Vec<u32>,
    shift: u32,
}

/// Which index goes to which column.
#[derive(Debug)]
pub(super) enum Columns {
    /// Column plus one of each index, 0 where there is none.
    Table(Vec<u32>),
    Sorted(Sorted),
}

impl Columns {
    /// The columns of ascending features.
    pub(super) fn of(features: &[u32]) -> Self {
        let largest = features.last().map_or(0, |&feature| feature as usize);
        if !is_moderate(largest, features.len()) {
            return Self::Sorted(Sorted::new(features.iter().map(|feature| feature - 1).collect()));
        }
        let mut table = vec![0; largest];
        for (column, &feature) in features.iter().enumerate() {
            table[feature as usize - 1] = column as u32 + 1;
        }
        Self::Table(table)
    }

    /// The column of an index, if it has one.
    #[inline]
    pub(super) fn get(&self, index: u32) -> Option<u32> {
        match self {
            Self::Table(table) => table.get(index as usize)?.checked_sub(1),
            Self::Sorted(sorted) => sorted.position(index).ok(),
        }
    }
}

impl Sorted {
    /// Takes ascending indices.
    fn new(indices: Vec<u32>) -> Self {
        let largest = indices.last().copied().unwrap_or(0);
        // About four to a bucket where they are spread evenly.
        let bits = (indices.len() / 4).max(1).ilog2();
        let shift = (32 - largest.leading_zeros()).saturating_sub(bits);
        let bucket = |index: u32| (u64::from(index) >> shift) as usize;
        let mut buckets = vec![0; bucket(largest) + 2];
        indices.iter().for_each(|&index| buckets[bucket(index) + 1] += 1);
        for place in 1..buckets.len() {
            buckets[place] += buckets[place - 1];
        }
        Self { indices, buckets, shift }
    }

    fn position(&self, index: u32) -> Result<u32, u32> {
        let bucket = (u64::from(index) >> self.shift) as usize;
        let Some(&[start, end]) = self.buckets.get(bucket..bucket + 2).and_then(|pair| pair.first_chunk())
        else {
            return Err(self.indices.len() as u32);
        };
        match self.indices[start as usize..end as usize].binary_search(&index) {
            Ok(place) => Ok(start + place as u32),
            Err(place) => Err(start + place as u32),
        }
    }
}

/// The features that occur, and how large the values of each are.
#[derive(Debug)]
pub(super) struct Occurring {
    /// Ascending feature numbers.
    pub(super) features: Vec<u32>,
    /// The largest `|value|` of each, as [`size`] has it; empty where every value is 1.
    pub(super) sizes: Vec<u32>,
}

/// Replaces indices by columns.
///
/// Given the largest index that may occur, and a value for each entry unless all are 1.
pub(super) fn renumber(
    indices: &mut [u32],
    values: Option<&[f64]>,
    largest: u32,
    threads: usize,
    control: &Control,
) -> Occurring {
    if is_moderate(largest as usize, indices.len()) {
        by_table(indices, values, largest as usize, Parts { threads, control })
    } else {
        by_sorting(indices, values, Parts { threads, control })
    }
}

/// Whether a table of all features costs little beside the entries.
fn is_moderate(largest: usize, entries: usize) -> bool {
    largest <= entries / 4 + (1 << 20)
}

fn by_table(indices: &mut [u32], values: Option<&[f64]>, largest: usize, parts: Parts<'_>) -> Occurring {
    let table: Vec<AtomicU32> = (0..largest).map(|_| AtomicU32::new(0)).collect();
    match values {
        None => parts.each(indices, |_, part| {
            part.iter().for_each(|&index| table[index as usize].store(1, Relaxed));
        }),
        Some(values) => parts.each(indices, |start, part| {
            for (&index, &value) in part.iter().zip(&values[start..]) {
                raise(&table[index as usize], size(value));
            }
        }),
    }
    let (mut features, mut sizes) = (Vec::new(), Vec::new());
    for (index, place) in table.iter().enumerate() {
        let size = place.load(Relaxed);
        if size > 0 {
            place.store(features.len() as u32, Relaxed);
            features.push(index as u32 + 1);
            if values.is_some() {
                sizes.push(size);
            }
        }
    }
    if features.len() < largest {
        parts.each(indices, |_, part| {
            part.iter_mut().for_each(|index| *index = table[*index as usize].load(Relaxed));
        });
    }
    Occurring { features, sizes }
}

fn by_sorting(indices: &mut [u32], values: Option<&[f64]>, parts: Parts<'_>) -> Occurring {
    let sorted = Sorted::new(distinct(indices, parts.control));
    if parts.control.halted().is_some() {
        return Occurring { features: Vec::new(), sizes: Vec::new() };
    }
    let sizes: Vec<AtomicU32> =
        values.iter().flat_map(|_| &sorted.indices).map(|_| AtomicU32::new(0)).collect();
    parts.each(indices, |start, part| {
        for (entry, index) in part.iter_mut().enumerate() {
            *index = sorted.position(*index).unwrap_or_else(|place| place);
            if let Some(values) = values {
                raise(&sizes[*index as usize], size(values[start + entry]));
            }
        }
    });
    let mut features = sorted.indices;
    features.iter_mut().for_each(|index| *index += 1);
    Occurring { features, sizes: sizes.into_iter().map(AtomicU32::into_inner).collect() }
}

/// The distinct numbers, ascending, found block by block so that no copy of all is made.
fn distinct(numbers: &[u32], control: &Control) -> Vec<u32> {
    let mut found: Vec<u32> = Vec::new();
    let mut rest = numbers;
    while !rest.is_empty() && control.halted().is_none() {
        let known = found.len();
        let block;
        (block, rest) = rest.split_at(rest.len().min(known.max(1 << 16)));
        found.extend_from_slice(block);
        found[known..].sort_unstable();
        // Two ascending runs: a stable sort merges them.
        #[allow(clippy::stable_sort_primitive)]
        found.sort();
        found.dedup();
    }
    found.shrink_to_fit();
    found
}

/// The upper half of the bits of `|value|`: orders sizes, and is never 0.
fn size(value: f64) -> u32 {
    ((value.abs().to_bits() >> 32) as u32).max(1)
}

/// A number of this [`size`], correct to six digits.
pub(super) fn magnitude(size: u32) -> f64 {
    f64::from_bits(u64::from(size) << 32)
}

#[inline]
fn raise(place: &AtomicU32, size: u32) {
    // Seldom more than a look: a size is raised a few times and then stays.
    if place.load(Relaxed) < size {
        place.fetch_max(size, Relaxed);
    }
}

/// How work on all entries is shared, and ended early; what it leaves behind is then of no use.
#[derive(Debug, Clone, Copy)]
struct Parts<'a> {
    threads: usize,
    control: &'a Control,
}

impl Parts<'_> {
    /// Lets each thread work on one part, given where it starts.
    fn each(self, indices: &mut [u32], work: impl Fn(usize, &mut [u32]) + Sync) {
        /// Fewer entries are not worth a thread, and are worked on between two looks at the wish to stop.
        const WORTH_A_THREAD: usize = 1 << 17;
        let piecewise = |start: usize, part: &mut [u32]| {
            for (k, piece) in part.chunks_mut(WORTH_A_THREAD).enumerate() {
                if self.control.halted().is_some() {
                    return;
                }
                work(start + k * WORTH_A_THREAD, piece);
            }
        };
        let threads = self.threads.min(indices.len() / WORTH_A_THREAD);
        if threads <= 1 {
            return piecewise(0, indices);
        }
        let length = indices.len().div_ceil(threads);
        thread::scope(|scope| {
            for (part, entries) in indices.chunks_mut(length).enumerate() {
                let piecewise = &piecewise;
                scope.spawn(move || piecewise(part * length, entries));
            }
        });
    }
}
