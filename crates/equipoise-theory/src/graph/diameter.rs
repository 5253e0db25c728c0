//! The diameter: the most edges that a shortest path between two nodes needs.
//!
//! - Given: a [`Graph`].
//! - Returns: its [`Diameter`], exact for cliques, trees and graphs of moderate size, a lower bound otherwise.
//! - Must not know: weights, probabilities.
//!
//! Exact: a breadth-first search from every node. Bound: sweeps, each from the last node of the one before (on a tree
//! two of them are exact).

use super::adjacency::{Adjacency, Search};
use super::edge_list;
use equipoise::graph::Graph;
use equipoise::{Control, Pass};

/// Nodes times edges up to which every node is searched from: about a second.
const EXACT_BUDGET: usize = 200_000_000;
/// Starting points of sweeps for the lower bound.
const SWEEP_STARTS: usize = 4;

/// The longest of the shortest paths, in edges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diameter {
    /// Its number of edges; a lower bound unless `exact`.
    pub length: usize,
    /// Whether `length` is the diameter.
    pub exact: bool,
}

impl Diameter {
    /// That of a graph, or `None` if it is disconnected. Exact if it is a clique or a tree, or if nodes times edges is at
    /// most 2e8; a lower bound otherwise.
    pub fn of(graph: &Graph) -> Option<Self> {
        // Without a control a search cannot be ended.
        Self::within(graph, &Control::unlimited()).unwrap_or_default()
    }

    /// The same under a control, which is asked before every search.
    pub fn within(graph: &Graph, control: &Control) -> Pass<Option<Self>> {
        if graph.is_clique() {
            return Ok(Some(Self { length: 1, exact: true }));
        }
        let (nodes, list) = (graph.nodes(), edge_list(graph));
        let adjacency = Adjacency::new(nodes, &list);
        let mut search = Search::new(nodes);
        let (mut last, mut length) = search.run(&adjacency, 0);
        if search.unreached().is_some() {
            return Ok(None);
        }
        let tree = list.len() + 1 == nodes;
        if tree || nodes.saturating_mul(list.len()) > EXACT_BUDGET {
            for start in 0..SWEEP_STARTS {
                length = length.max(sweep(&adjacency, &mut search, last, control)?);
                last = (start + 1) * (nodes / (SWEEP_STARTS + 1));
            }
            return Ok(Some(Self { length, exact: tree }));
        }
        for root in 1..nodes {
            control.check()?;
            length = length.max(search.run(&adjacency, root).1);
        }
        Ok(Some(Self { length, exact: true }))
    }
}

/// Searches from a node, from the last node of that search, and so on while the distance grows.
fn sweep(adjacency: &Adjacency, search: &mut Search, start: usize, control: &Control) -> Pass<usize> {
    let (mut last, mut length) = search.run(adjacency, start);
    loop {
        control.check()?;
        let (next, distance) = search.run(adjacency, last);
        if distance <= length {
            return Ok(length);
        }
        (last, length) = (next, distance);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use equipoise::graph::Topology;

    #[test]
    fn a_search_that_is_ended_says_so() {
        let ring = Graph::new(&Topology::Ring, 24).expect("valid");
        let flag = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(true));
        assert_eq!(Diameter::within(&ring, &Control::on(flag)), Err(equipoise::Halt::Interrupted));
    }

    #[test]
    fn known_diameters() {
        for (name, nodes, expected) in [
            ("ring", 24, 12),
            ("ring", 25, 12),
            ("ring", 2, 1),
            ("clique", 1_000_000, 1),
            ("star", 24, 2),
            ("star+ring", 24, 2),
            ("wheel", 24, 2),
            ("tree", 15, 6),
            ("tree", 24, 8),
            ("grid:4x6", 24, 8),
            ("grid:1x20000", 20_000, 19_999),
            ("star", 100_000, 2),
        ] {
            let topology = Topology::parse(name, nodes, 0).expect("known");
            let graph = Graph::new(&topology, nodes).expect("valid");
            assert_eq!(Diameter::of(&graph), Some(Diameter { length: expected, exact: true }), "{name}");
        }
        assert_eq!(Diameter::of(&Graph::single()), Some(Diameter { length: 0, exact: true }));
    }

    #[test]
    fn large_graphs_get_a_bound() {
        let ring = Graph::new(&Topology::Ring, 20_001).expect("valid");
        assert_eq!(Diameter::of(&ring), Some(Diameter { length: 10_000, exact: false }));
    }

    #[test]
    fn disconnected_graphs_have_none() {
        let graph = Graph::new(&Topology::Edges(vec![(0, 1)]), 3).expect("valid");
        assert_eq!(Diameter::of(&graph), None);
    }
}
