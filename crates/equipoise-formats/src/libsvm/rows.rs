//! All rows read so far, growing chunk by chunk.
//!
//! Memory stays near what the rows need: 16 bytes a row, 4 a non-zero, and 8 more a non-zero from the
//! first value on that is not 1. Large vectors grow by an eighth at a time; the system's allocator
//! moves them by remapping pages, not by copying.

use super::chunk::Chunk;

/// Vectors below this size double.
const SMALL_BYTES: usize = 16 << 20;

/// Labels, row starts, feature numbers less one, and values.
#[derive(Debug)]
pub(super) struct Rows {
    pub(super) labels: Vec<f64>,
    pub(super) starts: Vec<usize>,
    pub(super) indices: Vec<u32>,
    pub(super) values: Option<Vec<f64>>,
    pub(super) largest: u32,
}

impl Rows {
    pub(super) fn new() -> Self {
        Self { labels: Vec::new(), starts: vec![0], indices: Vec::new(), values: None, largest: 0 }
    }

    /// Makes room for all rows of a text, given its first chunk and how many times longer it is.
    ///
    /// Room is not memory until it is used, and what is left over goes back in the end.
    pub(super) fn expect(&mut self, first: &Chunk, times: f64) {
        let rows = (first.labels.len() as f64 * times) as usize;
        let entries = (first.indices().len() as f64 * times) as usize;
        // A guess that cannot be granted is no misfortune: the vectors grow as they need to.
        let _ = self.labels.try_reserve_exact(rows);
        let _ = self.starts.try_reserve_exact(rows + 1);
        let _ = self.indices.try_reserve_exact(entries);
        if !first.only_ones {
            let mut values = Vec::new();
            let _ = values.try_reserve_exact(entries);
            self.values = Some(values);
        }
    }

    /// Appends the rows of a chunk.
    pub(super) fn append(&mut self, chunk: &Chunk) {
        let (before, more) = (self.indices.len(), chunk.indices().len());
        make_room(&mut self.labels, chunk.labels.len());
        self.labels.extend_from_slice(&chunk.labels);
        make_room(&mut self.starts, chunk.ends.len());
        self.starts.extend(chunk.ends.iter().map(|end| before + end));
        if !chunk.only_ones && self.values.is_none() {
            let mut values = Vec::new();
            make_room(&mut values, before + more);
            values.resize(before, 1.0);
            self.values = Some(values);
        }
        if let Some(values) = &mut self.values {
            make_room(values, more);
            if chunk.only_ones {
                values.resize(before + more, 1.0);
            } else {
                values.extend_from_slice(chunk.values());
            }
        }
        make_room(&mut self.indices, more);
        self.indices.extend_from_slice(chunk.indices());
        self.largest = self.largest.max(chunk.largest);
    }

    /// Gives back the room that was not needed.
    pub(super) fn shrink(&mut self) {
        self.labels.shrink_to_fit();
        self.starts.shrink_to_fit();
        self.indices.shrink_to_fit();
        if let Some(values) = &mut self.values {
            values.shrink_to_fit();
        }
    }
}

/// Makes room for `more` entries: twice the size while small, an eighth more when large.
fn make_room<T>(vector: &mut Vec<T>, more: usize) {
    if vector.capacity() - vector.len() < more {
        let small = vector.len() * size_of::<T>() < SMALL_BYTES;
        let spare = if small { vector.len() } else { vector.len() / 8 };
        vector.reserve_exact(more.max(spare));
    }
}

#[cfg(test)]
mod tests {
    use super::{SMALL_BYTES, make_room};

    #[test]
    fn large_vectors_do_not_double() {
        let mut vector = vec![0_u8; 2 * SMALL_BYTES];
        vector.shrink_to_fit();
        make_room(&mut vector, 1);
        assert!(vector.capacity() >= vector.len() + vector.len() / 8);
        assert!(vector.capacity() < vector.len() + vector.len() / 4);
    }
}
