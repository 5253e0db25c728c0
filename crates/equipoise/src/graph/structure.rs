//! The graph itself: nodes 0..b and the pairs that are edges.
//!
//! - Given: a [`Topology`] and the number of nodes.
//! - Returns: a [`Graph`]: a clique kept as a rule, everything else as a list of pairs (first < second), shared
//!   between clones.
//! - Must not know: probabilities, weights, blocks.

use std::sync::Arc;

use super::{generate, topology::Topology};
use crate::control::Control;
use crate::error::{Error, Result};

/// A graph without loops and without double edges. Cloning is cheap.
#[derive(Debug, Clone, PartialEq)]
pub struct Graph {
    nodes: usize,
    pub(super) pairs: Pairs,
}

/// How the edges are kept.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Pairs {
    /// Every pair, by rule.
    Clique,
    /// A list; first < second.
    List(Arc<[(u32, u32)]>),
}

/// How many neighbours the nodes have.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Degrees {
    /// The fewest.
    pub min: usize,
    /// The mean, 2 |E| / b.
    pub mean: f64,
    /// The most.
    pub max: usize,
}

impl Graph {
    /// Builds the graph of a topology. Edges come in lexicographic order, except those of [`Topology::Edges`], which
    /// keep the order given.
    ///
    /// | wrong | error |
    /// |---|---|
    /// | too few nodes (2; wheel 4; edge list 1) | [`Error::GraphTooSmall`] |
    /// | loop, end out of range, double edge in a list | [`Error::InvalidEdge`] |
    /// | probability, degree or grid that does not fit | [`Error::GraphParameter`] |
    /// | more than 2 GiB of edges, 2^32 nodes or more | [`Error::TooMuchMemory`] |
    ///
    /// Being disconnected is no error here: see [`Graph::check_connected`].
    pub fn new(topology: &Topology, nodes: usize) -> Result<Self> {
        Self::new_within(topology, nodes, &Control::unlimited())
    }

    /// The same under a control; [`Error::StoppedEarly`] where it ended before the graph was built.
    pub fn new_within(topology: &Topology, nodes: usize, control: &Control) -> Result<Self> {
        generate::check(topology, nodes)?;
        if *topology == Topology::Clique {
            return Ok(Self { nodes, pairs: Pairs::Clique });
        }
        Ok(Self::from_list(nodes, generate::edges(topology, nodes, control)?))
    }

    /// One node, no edges: the graph of a problem with a single block.
    pub fn single() -> Self {
        Self::from_list(1, Vec::new())
    }

    /// A graph from pairs known to be valid (first < second < nodes, no doubles).
    pub(super) fn from_list(nodes: usize, list: Vec<(u32, u32)>) -> Self {
        Self { nodes, pairs: Pairs::List(list.into()) }
    }

    /// b, the number of nodes.
    pub fn nodes(&self) -> usize {
        self.nodes
    }

    /// |E|, the number of edges.
    pub fn edge_count(&self) -> usize {
        match &self.pairs {
            Pairs::Clique => clique_edge_count(self.nodes),
            Pairs::List(list) => list.len(),
        }
    }

    /// Whether the graph is a clique kept by rule. (A list with every pair in it says `false`.)
    pub fn is_clique(&self) -> bool {
        self.pairs == Pairs::Clique
    }

    /// Edge number `index` as (first, second), first < second, in O(1).
    ///
    /// # Panics
    /// If `index` is not below [`Graph::edge_count`].
    #[inline]
    pub fn edge_at(&self, index: usize) -> (usize, usize) {
        match &self.pairs {
            Pairs::Clique => clique_pair(self.nodes, index),
            Pairs::List(list) => {
                let (first, second) = list[index];
                (first as usize, second as usize)
            }
        }
    }

    /// The edges in order, first < second; those of a clique are made one by one.
    pub fn edges(&self) -> impl ExactSizeIterator<Item = (usize, usize)> + '_ {
        (0..self.edge_count()).map(|index| self.edge_at(index))
    }

    /// The fewest, mean and most neighbours of a node.
    pub fn degrees(&self) -> Degrees {
        let Pairs::List(list) = &self.pairs else {
            let all = self.nodes - 1;
            return Degrees { min: all, mean: all as f64, max: all };
        };
        let mut degree = vec![0; self.nodes];
        for &(first, second) in list.iter() {
            degree[first as usize] += 1;
            degree[second as usize] += 1;
        }
        Degrees {
            min: degree.iter().copied().min().unwrap_or(0),
            mean: 2.0 * list.len() as f64 / self.nodes as f64,
            max: degree.iter().copied().max().unwrap_or(0),
        }
    }
}

/// The largest clique for which one number per edge is kept.
const CLIQUE_LIST_LIMIT: usize = 5000;

/// Refuses one number per edge of a clique that is too large.
pub(super) fn check_clique_list(nodes: usize, what: &str) -> Result<()> {
    const BYTES_PER_EDGE: usize = 16;
    if nodes <= CLIQUE_LIST_LIMIT {
        return Ok(());
    }
    Err(Error::TooMuchMemory {
        what: format!("{what} for each edge of a clique of {nodes} nodes"),
        needed: clique_edge_count(nodes).saturating_mul(BYTES_PER_EDGE),
        allowed: clique_edge_count(CLIQUE_LIST_LIMIT) * BYTES_PER_EDGE,
    })
}

/// b(b-1)/2; the product fits because [`Graph::new`] refuses 2^32 nodes.
pub(super) fn clique_edge_count(nodes: usize) -> usize {
    nodes * (nodes - 1) / 2
}

/// The pair number `index` of a clique in lexicographic order: (0,1), (0,2), ..., (0,b-1), (1,2), ...
pub(super) fn clique_pair(nodes: usize, index: usize) -> (usize, usize) {
    let count = clique_edge_count(nodes);
    assert!(index < count, "edge {index} of a graph with {count} edges");
    // Counted from the end, row m (from 0) has m + 1 pairs, so row m starts at m(m+1)/2.
    let back = count - 1 - index;
    let mut row = (((8.0 * back as f64 + 1.0).sqrt() - 1.0) / 2.0) as usize;
    while row * (row + 1) / 2 > back {
        row -= 1;
    }
    while (row + 1) * (row + 2) / 2 <= back {
        row += 1;
    }
    (nodes - 2 - row, nodes - 1 - (back - row * (row + 1) / 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clique_pairs_come_in_order_and_cost_nothing() {
        let graph = Graph::new(&Topology::Clique, 7).expect("valid");
        let expected: Vec<_> = (0..7).flat_map(|i| (i + 1..7).map(move |j| (i, j))).collect();
        assert_eq!(graph.edges().collect::<Vec<_>>(), expected);
        assert_eq!(graph.degrees(), Degrees { min: 6, mean: 6.0, max: 6 });

        for nodes in [1_000_000, 1_000_001, u32::MAX as usize] {
            let graph = Graph::new(&Topology::Clique, nodes).expect("valid");
            let count = graph.edge_count();
            assert_eq!(graph.edges().len(), count);
            assert_eq!(graph.edge_at(0), (0, 1));
            assert_eq!(graph.edge_at(nodes - 2), (0, nodes - 1));
            assert_eq!(graph.edge_at(nodes - 1), (1, 2));
            assert_eq!(graph.edge_at(count - 3), (nodes - 3, nodes - 2));
            assert_eq!(graph.edge_at(count - 2), (nodes - 3, nodes - 1));
            assert_eq!(graph.edge_at(count - 1), (nodes - 2, nodes - 1));
        }
    }

    #[test]
    fn single_node() {
        let graph = Graph::single();
        assert_eq!((graph.nodes(), graph.edge_count(), graph.is_clique()), (1, 0, false));
        assert_eq!(graph.degrees(), Degrees { min: 0, mean: 0.0, max: 0 });
        assert_eq!(graph, Graph::new(&Topology::Edges(vec![]), 1).expect("valid"));
    }

    #[test]
    fn large_cliques_are_not_listed() {
        let graph = Graph::new(&Topology::Clique, 5001).expect("valid");
        let error = check_clique_list(graph.nodes(), "a weight").expect_err("too large");
        assert!(matches!(error, Error::TooMuchMemory { needed, allowed, .. } if needed > allowed));
    }
}
