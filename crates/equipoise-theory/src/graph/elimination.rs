//! Solving L z = r for a connected weighted Laplacian L, up to constants: conjugate gradients, preconditioned by a
//! diagonal incomplete Cholesky factorisation in reverse breadth-first order.
//!
//! With the nodes in that order and `d_p = L_pp - sum_{k<p} w_pk^2 / d_k`, M = (D + E) D^{-1} (D + E^T), E the part of
//! L below the diagonal. By induction `d_p >= sum_{q>p} w_pq > 0` for all nodes but the root, whose pivot is put
//! to its degree: M always exists. On a tree M is exact, on a ring nearly so, which are the graphs on which plain
//! conjugate gradients would be slow.
//!
//! - Given: nodes, edges, positive weights. Returns: solutions with mean 0 to right-hand sides with mean 0.
//! - Must not know: eigenvalues.
//!
//! Reference: Meijerink and van der Vorst 1977.

use super::adjacency::{Adjacency, Search};
use equipoise::matrix::{axpy, dot};
use equipoise::{Control, Error, Pass, Result};

/// Conjugate gradients stop when the preconditioned residual has shrunk by this factor.
const TOLERANCE: f64 = 1e-11;

/// The Laplacian with its nodes in order of elimination, leaves first and the root last.
#[derive(Debug)]
pub(crate) struct Elimination {
    starts: Vec<usize>,
    /// Where in each row the columns beyond the diagonal begin.
    middles: Vec<usize>,
    /// (column, weight), columns ascending within each row.
    entries: Vec<(u32, f64)>,
    pivots: Vec<f64>,
    /// The node in each place.
    order: Vec<u32>,
}

impl Elimination {
    /// Orders the nodes and factorises. [`Error::GraphDisconnected`] if the edges do not connect them.
    pub(crate) fn new(nodes: usize, edges: &[(u32, u32)], weights: &[f64]) -> Result<Self> {
        let adjacency = Adjacency::new(nodes, edges);
        let weight_of = |&(_, edge): &(u32, u32)| weights[edge as usize];
        let degree = |i: usize| adjacency.of(i).iter().map(weight_of).sum::<f64>();
        let root = (0..nodes).max_by(|&i, &j| degree(i).total_cmp(&degree(j))).unwrap_or(0);
        let mut search = Search::new(nodes);
        search.run(&adjacency, root);
        if let Some(to) = search.unreached() {
            let unreached = nodes - search.order.len();
            return Err(Error::GraphDisconnected { from: root, to, unreached, nodes });
        }
        let mut order = search.order;
        order.reverse();
        let mut position = vec![0; nodes];
        for (p, &node) in order.iter().enumerate() {
            position[node as usize] = p as u32;
        }

        let mut system = Self {
            starts: vec![0],
            middles: Vec::with_capacity(nodes),
            entries: Vec::with_capacity(2 * edges.len()),
            pivots: Vec::with_capacity(nodes),
            order: Vec::new(),
        };
        for (p, &node) in order.iter().enumerate() {
            let start = system.entries.len();
            let row = adjacency.of(node as usize);
            system.entries.extend(row.iter().map(|e| (position[e.0 as usize], weight_of(e))));
            system.entries[start..].sort_unstable_by_key(|&(column, _)| column);
            let before = system.entries[start..].partition_point(|&(column, _)| (column as usize) < p);
            system.middles.push(start + before);
            system.starts.push(system.entries.len());
            system.pivots.push(system.pivot(p));
        }
        system.order = order;
        Ok(system)
    }

    pub(super) fn nodes(&self) -> usize {
        self.pivots.len()
    }

    /// Number of entries off the diagonal.
    pub(super) fn entry_count(&self) -> usize {
        self.entries.len()
    }

    /// The pivot of a row whose predecessors have theirs: `sum_{q>p} w_pq + sum_{k<p} (w_pk - w_pk^2 / d_k)`, no
    /// term negative. Only the root has nothing after it.
    fn pivot(&self, p: usize) -> f64 {
        let after: f64 = self.after(p).iter().map(|e| e.1).sum();
        if after == 0.0 {
            return self.before(p).iter().map(|e| e.1).sum();
        }
        let kept = |&(k, w): &(u32, f64)| w * (1.0 - w / self.pivots[k as usize]).max(0.0);
        after + self.before(p).iter().map(kept).sum::<f64>()
    }

    fn before(&self, p: usize) -> &[(u32, f64)] {
        &self.entries[self.starts[p]..self.middles[p]]
    }

    fn after(&self, p: usize) -> &[(u32, f64)] {
        &self.entries[self.middles[p]..self.starts[p + 1]]
    }

    /// out = L x, by differences: small ones between neighbours are not lost in large values.
    pub(super) fn apply(&self, x: &[f64], out: &mut [f64]) {
        for p in 0..out.len() {
            let row = &self.entries[self.starts[p]..self.starts[p + 1]];
            out[p] = row.iter().map(|&(q, w)| w * (x[p] - x[q as usize])).sum();
        }
    }

    /// x'Lx, as a sum of squares.
    pub(super) fn quadratic(&self, x: &[f64]) -> f64 {
        let square = |p: usize, &(q, w): &(u32, f64)| w * (x[p] - x[q as usize]).powi(2);
        (0..x.len()).map(|p| self.after(p).iter().map(|e| square(p, e)).sum::<f64>()).sum()
    }

    /// z = M^{-1} r, with mean 0.
    fn precondition(&self, r: &[f64], z: &mut [f64]) {
        for p in 0..z.len() {
            let carried: f64 = self.before(p).iter().map(|&(k, w)| w * z[k as usize]).sum();
            z[p] = (r[p] + carried) / self.pivots[p];
        }
        for p in (0..z.len()).rev() {
            let carried: f64 = self.after(p).iter().map(|&(q, w)| w * z[q as usize]).sum();
            z[p] += carried / self.pivots[p];
        }
        center(z);
    }

    /// The z with mean 0 and L z = r, r with mean 0, both with one entry per node as they were given.
    pub(crate) fn solve_by_node(&self, right: &[f64]) -> Vec<f64> {
        let in_place: Vec<f64> = self.order.iter().map(|&node| right[node as usize]).collect();
        let mut solution = vec![0.0; right.len()];
        for (&node, z) in self.order.iter().zip(self.solve(&in_place)) {
            solution[node as usize] = z;
        }
        solution
    }

    /// The same in the order of elimination.
    pub(super) fn solve(&self, right: &[f64]) -> Vec<f64> {
        // Without a control a solve cannot be ended.
        self.solve_within(right, &Control::unlimited()).unwrap_or_default()
    }

    /// The same under a control, which is asked before every iteration.
    pub(super) fn solve_within(&self, right: &[f64], control: &Control) -> Pass<Vec<f64>> {
        let nodes = self.nodes();
        let mut residual = right.to_vec();
        let (mut z, mut product) = (vec![0.0; nodes], vec![0.0; nodes]);
        let mut solution = vec![0.0; nodes];
        self.precondition(&residual, &mut z);
        let mut direction = z.clone();
        let mut size = dot(&residual, &z);
        let target = TOLERANCE * TOLERANCE * size;
        for _ in 0..10 * nodes + 100 {
            control.check()?;
            self.apply(&direction, &mut product);
            let curvature = dot(&direction, &product);
            if size <= target || curvature <= 0.0 {
                break;
            }
            let step = size / curvature;
            axpy(step, &direction, &mut solution);
            axpy(-step, &product, &mut residual);
            self.precondition(&residual, &mut z);
            let before = size;
            size = dot(&residual, &z);
            let keep = size / before;
            direction.iter_mut().zip(&z).for_each(|(d, z)| *d = z + keep * *d);
        }
        center(&mut solution);
        Ok(solution)
    }
}

/// Subtracts the mean.
pub(super) fn center(x: &mut [f64]) {
    let mean = x.iter().sum::<f64>() / x.len() as f64;
    for x in x.iter_mut() {
        *x -= mean;
    }
}

#[cfg(test)]
mod tests {
    use super::super::edge_list;
    use super::*;
    use equipoise::graph::{Graph, Topology};

    fn system(name: &str, nodes: usize) -> Elimination {
        let topology = Topology::parse(name, nodes, 5).expect("known");
        let list = edge_list(&Graph::new(&topology, nodes).expect("valid"));
        let weights: Vec<f64> = (0..list.len()).map(|e| 1.0 + (e % 7) as f64).collect();
        Elimination::new(nodes, &list, &weights).expect("connected")
    }

    #[test]
    fn solves() {
        for &name in Topology::NAMES {
            let system = system(name, 60);
            let mut expected: Vec<f64> = (0..60).map(|i| f64::from(i * i % 17)).collect();
            center(&mut expected);
            let mut right = vec![0.0; 60];
            system.apply(&expected, &mut right);
            let found = system.solve(&right);
            let worst = found.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(worst < 1e-8, "{name}: {worst}");
            assert!((system.quadratic(&expected) / dot(&expected, &right) - 1.0).abs() < 1e-13);
        }
    }

    #[test]
    fn nodes_keep_their_numbers() {
        // A star whose hub is node 2, weights 1, 2, 4: from node 0 to node 3 the potential falls by 1/1 + 1/4.
        let system = Elimination::new(4, &[(0, 2), (1, 2), (2, 3)], &[1.0, 2.0, 4.0]).expect("connected");
        let z = system.solve_by_node(&[1.0, 0.0, 0.0, -1.0]);
        assert!((z[0] - z[3] - 1.25).abs() < 1e-12 && (z[1] - z[2]).abs() < 1e-12);
    }

    #[test]
    fn exact_on_trees() {
        for name in ["tree", "star", "grid:1x100"] {
            let system = system(name, 100);
            let mut right: Vec<f64> = (0..100).map(|i| f64::from(i * i % 17)).collect();
            center(&mut right);
            let (mut z, mut back) = (vec![0.0; 100], vec![0.0; 100]);
            system.precondition(&right, &mut z);
            system.apply(&z, &mut back);
            let worst = back.iter().zip(&right).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(worst < 1e-10, "{name}: {worst}");
        }
    }

    #[test]
    fn pivots_are_positive() {
        for &name in Topology::NAMES {
            assert!(system(name, 60).pivots.iter().all(|d| *d > 0.0), "{name}");
        }
    }
}
