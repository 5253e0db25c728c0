//! The neighbours of each node, in compressed rows, and the breadth-first search over them.
//!
//! - Given: the number of nodes and a list of edges.
//! - Returns: for each node its neighbours and the numbers of the edges that lead there.
//! - Must not know: weights, cliques kept by rule.

/// Neighbours in compressed rows.
#[derive(Debug)]
pub(super) struct Adjacency {
    starts: Vec<usize>,
    /// (neighbour, number of the edge).
    entries: Vec<(u32, u32)>,
}

impl Adjacency {
    pub(super) fn new(nodes: usize, edges: &[(u32, u32)]) -> Self {
        let mut starts = vec![0; nodes + 1];
        for &(i, j) in edges {
            starts[i as usize + 1] += 1;
            starts[j as usize + 1] += 1;
        }
        for i in 0..nodes {
            starts[i + 1] += starts[i];
        }
        let mut next = starts.clone();
        let mut entries = vec![(0, 0); 2 * edges.len()];
        for (edge, &(i, j)) in edges.iter().enumerate() {
            for (from, to) in [(i as usize, j), (j as usize, i)] {
                entries[next[from]] = (to, edge as u32);
                next[from] += 1;
            }
        }
        Self { starts, entries }
    }

    /// The neighbours of a node, each with the number of the edge that leads there.
    pub(super) fn of(&self, node: usize) -> &[(u32, u32)] {
        &self.entries[self.starts[node]..self.starts[node + 1]]
    }
}

/// Room for breadth-first searches, reused from one to the next.
#[derive(Debug)]
pub(super) struct Search {
    /// Nodes in the order in which they were reached.
    pub(super) order: Vec<u32>,
    distance: Vec<u32>,
}

/// The distance of a node that was not reached.
const UNREACHED: u32 = u32::MAX;

impl Search {
    pub(super) fn new(nodes: usize) -> Self {
        Self { order: Vec::with_capacity(nodes), distance: vec![UNREACHED; nodes] }
    }

    /// Searches from a node; returns the last node reached and its distance.
    pub(super) fn run(&mut self, adjacency: &Adjacency, root: usize) -> (usize, usize) {
        self.distance.fill(UNREACHED);
        self.order.clear();
        self.distance[root] = 0;
        self.order.push(root as u32);
        let mut done = 0;
        while done < self.order.len() {
            let node = self.order[done] as usize;
            done += 1;
            for &(next, _) in adjacency.of(node) {
                if self.distance[next as usize] == UNREACHED {
                    self.distance[next as usize] = self.distance[node] + 1;
                    self.order.push(next);
                }
            }
        }
        let last = self.order[done - 1] as usize;
        (last, self.distance[last] as usize)
    }

    /// Some node that the last search did not reach.
    pub(super) fn unreached(&self) -> Option<usize> {
        self.distance.iter().position(|&d| d == UNREACHED)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_and_search() {
        let adjacency = Adjacency::new(5, &[(0, 1), (1, 2), (0, 3)]);
        assert_eq!(adjacency.of(0), [(1, 0), (3, 2)]);
        assert_eq!(adjacency.of(1), [(0, 0), (2, 1)]);
        assert_eq!(adjacency.of(4), []);
        let mut search = Search::new(5);
        assert_eq!(search.run(&adjacency, 3), (2, 3));
        assert_eq!(search.order, [3, 0, 1, 2]);
        assert_eq!(search.unreached(), Some(4));
        assert_eq!(search.run(&adjacency, 4), (4, 0));
    }
}
