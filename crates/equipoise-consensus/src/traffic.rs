//! What crossed the edges: messages and bytes.
//!
//! A message is a header of 16 bytes (from, kind, sequence) and 8 bytes a number. Every sending counts, also one that is
//! lost on its way. Must not know: what messages say.

use std::collections::BTreeMap;

/// Bytes of a message beside its numbers.
pub(crate) const HEADER: u64 = 16;

/// What crossed one edge, both ways together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct EdgeTraffic {
    /// Messages.
    pub messages: u64,
    /// Bytes.
    pub bytes: u64,
}

/// What crossed all edges.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Traffic {
    edges: BTreeMap<(usize, usize), EdgeTraffic>,
}

impl Traffic {
    /// Counts a message of so many numbers.
    pub fn count(&mut self, from: usize, to: usize, numbers: usize) {
        let edge = self.edges.entry((from.min(to), from.max(to))).or_default();
        edge.messages += 1;
        edge.bytes += HEADER + 8 * numbers as u64;
    }

    /// Adds what another counted.
    pub fn merge(&mut self, other: &Self) {
        other.edges.iter().for_each(|(edge, counted)| self.add(*edge, *counted));
    }

    /// Adds what another counted on one edge.
    pub(crate) fn add(&mut self, edge: (usize, usize), counted: EdgeTraffic) {
        let own = self.edges.entry(edge).or_default();
        own.messages += counted.messages;
        own.bytes += counted.bytes;
    }

    /// The sum over all edges.
    pub fn total(&self) -> EdgeTraffic {
        self.edges.values().fold(EdgeTraffic::default(), |sum, edge| EdgeTraffic {
            messages: sum.messages + edge.messages,
            bytes: sum.bytes + edge.bytes,
        })
    }

    /// Edges that were used, the smaller end first, ascending.
    pub fn edges(&self) -> impl Iterator<Item = ((usize, usize), EdgeTraffic)> + '_ {
        self.edges.iter().map(|(edge, counted)| (*edge, *counted))
    }
}
