//! A rooted spanning tree of a graph. Must not know: what travels along it.

use equipoise::graph::Graph;

use crate::fit::neighbours;

/// A rooted spanning tree.
#[derive(Debug)]
pub(super) struct Tree {
    pub(super) root: usize,
    /// Child and parent, parents before their children.
    pub(super) edges: Vec<(usize, usize)>,
}

impl Tree {
    /// Of shortest paths from a node in the middle of a longest one.
    pub(super) fn new(graph: &Graph) -> Self {
        let lists = neighbours(graph);
        let walk = |from: usize| -> (Vec<usize>, Vec<(usize, usize)>) {
            let mut seen = vec![false; lists.len()];
            let (mut order, mut edges) = (vec![from], Vec::new());
            seen[from] = true;
            let mut next = 0;
            while next < order.len() {
                let node = order[next];
                next += 1;
                for &to in &lists[node] {
                    if !seen[to] {
                        seen[to] = true;
                        order.push(to);
                        edges.push((to, node));
                    }
                }
            }
            (order, edges)
        };
        let last = |order: &[usize]| order.last().copied().unwrap_or(0);
        let end = last(&walk(0).0);
        let (order, edges) = walk(end);
        let mut parents = vec![None; lists.len()];
        edges.iter().for_each(|&(child, parent)| parents[child] = Some(parent));
        let mut way = vec![last(&order)];
        while let Some(parent) = parents[way[way.len() - 1]] {
            way.push(parent);
        }
        let root = way[way.len() / 2];
        Self { root, edges: walk(root).1 }
    }

    /// The parent of every node; none of the root.
    pub(super) fn parents(&self) -> Vec<Option<usize>> {
        let mut parents = vec![None; self.edges.len() + 1];
        self.edges.iter().for_each(|&(child, parent)| parents[child] = Some(parent));
        parents
    }
}
