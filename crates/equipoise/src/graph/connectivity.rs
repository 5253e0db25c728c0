//! Which nodes a path joins, by union and find.
//!
//! - Given: a [`Graph`], perhaps with some nodes left out.
//! - Returns: nothing, or two nodes that no path joins.
//! - Must not know: why a node is left out.

use super::structure::{Graph, Pairs};
use crate::error::{Error, Result};

impl Graph {
    /// Whether a path joins every two nodes; if not, [`Error::GraphDisconnected`] names a node of each part.
    pub fn check_connected(&self) -> Result<()> {
        self.check_connected_among(|_| true)
    }

    /// The same for the kept nodes alone, by paths through kept nodes.
    pub fn check_connected_among(&self, keep: impl Fn(usize) -> bool) -> Result<()> {
        let Some((from, to)) = self.connected_among(&keep) else { return Ok(()) };
        let mut parts = self.parts(&keep);
        let root = parts.find(from);
        let nodes = self.nodes();
        let unreached = (0..nodes).filter(|&i| keep(i) && parts.find(i) != root).count();
        Err(Error::GraphDisconnected { from, to, unreached, nodes })
    }

    /// Two kept nodes that no path through kept nodes joins, or `None` if there are none. Time O(nodes + edges); O(1)
    /// for a clique.
    pub fn connected_among(&self, keep: impl Fn(usize) -> bool) -> Option<(usize, usize)> {
        if self.is_clique() {
            return None;
        }
        let mut parts = self.parts(&keep);
        let from = (0..self.nodes()).find(|&i| keep(i))?;
        let root = parts.find(from);
        let to = (from..self.nodes()).find(|&i| keep(i) && parts.find(i) != root)?;
        Some((from, to))
    }

    /// The parts that the edges between kept nodes make of a listed graph.
    fn parts(&self, keep: impl Fn(usize) -> bool) -> Parts {
        let mut parts = Parts::new(self.nodes());
        if let Pairs::List(list) = &self.pairs {
            for &(i, j) in list.iter() {
                if keep(i as usize) && keep(j as usize) {
                    parts.join(i as usize, j as usize);
                }
            }
        }
        parts
    }
}

/// Disjoint sets of nodes.
struct Parts {
    parent: Vec<u32>,
    size: Vec<u32>,
}

impl Parts {
    fn new(nodes: usize) -> Self {
        Self { parent: (0..nodes as u32).collect(), size: vec![1; nodes] }
    }

    /// The node that stands for the part of `node`.
    fn find(&mut self, mut node: usize) -> usize {
        while self.parent[node] as usize != node {
            let above = self.parent[self.parent[node] as usize];
            self.parent[node] = above;
            node = above as usize;
        }
        node
    }

    fn join(&mut self, i: usize, j: usize) {
        let (mut i, mut j) = (self.find(i), self.find(j));
        if i == j {
            return;
        }
        if self.size[i] < self.size[j] {
            (i, j) = (j, i);
        }
        self.parent[j] = i as u32;
        self.size[i] += self.size[j];
    }
}

#[cfg(test)]
mod tests {
    use super::super::Topology;
    use super::*;

    #[test]
    fn named_graphs_are_connected() {
        for &name in Topology::NAMES {
            let topology = Topology::parse(name, 24, 1).expect("known");
            let graph = Graph::new(&topology, 24).expect("valid");
            assert_eq!(graph.check_connected(), Ok(()), "{name}");
        }
        assert_eq!(Graph::single().check_connected(), Ok(()));
    }

    #[test]
    fn parts_are_named() {
        let graph = Graph::new(&Topology::Edges(vec![(0, 2), (1, 3), (3, 4)]), 5).expect("valid");
        let error = graph.check_connected().expect_err("disconnected");
        assert_eq!(error, Error::GraphDisconnected { from: 0, to: 1, unreached: 3, nodes: 5 });
        let empty = Graph::new(&Topology::Edges(vec![]), 2).expect("valid");
        assert!(empty.check_connected().is_err());
    }

    #[test]
    fn leaving_nodes_out() {
        let star = Graph::new(&Topology::Star, 5).expect("valid");
        assert_eq!(star.connected_among(|i| i != 3), None);
        assert_eq!(star.connected_among(|i| i != 0), Some((1, 2)));
        assert_eq!(star.connected_among(|i| i == 4), None);
        assert_eq!(star.connected_among(|_| false), None);
        let ring = Graph::new(&Topology::Ring, 6).expect("valid");
        assert_eq!(ring.connected_among(|i| i != 2), None);
        assert_eq!(ring.connected_among(|i| i != 2 && i != 4), Some((0, 3)));
        let clique = Graph::new(&Topology::Clique, 1_000_000).expect("valid");
        assert_eq!(clique.connected_among(|i| i % 7 == 0), None);
    }
}
