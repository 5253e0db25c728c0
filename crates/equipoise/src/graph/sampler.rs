//! Drawing the pair that moves next: edge e with probability `p_e`.
//!
//! - Given: a [`Graph`], [`EdgeProbabilities`] and a generator of random numbers.
//! - Returns: pairs of nodes, in O(1) and without allocation; the probabilities themselves, for the theory.
//! - Must not know: what the pair will do, or what happened before: draws are independent.
//!
//! On a clique `p_ij` proportional to `w_i + w_j` needs no edge list: i with probability `w_i / sum w` and j uniformly
//! among the others gives `(w_i + w_j) / ((b - 1) sum w)` for the pair.

use rand_xoshiro::Xoshiro256PlusPlus;

use super::alias::AliasTable;
use super::probabilities::{EdgeProbabilities, no_positive_weight, relative};
use super::structure::{Graph, Pairs};
use super::uniform;
use crate::error::{Error, Result};

/// Draws edges of a graph. It holds no generator: one sampler serves many threads.
#[derive(Debug, Clone)]
pub struct EdgeSampler {
    graph: Graph,
    law: Law,
}

#[derive(Debug, Clone)]
enum Law {
    Uniform,
    /// By a table over the edges, with their probabilities.
    Edges(AliasTable, Vec<f64>),
    /// A clique: the first node by a table over the nodes, with their shares `w_i / sum w`; the second uniformly.
    CliqueNodes(AliasTable, Vec<f64>),
}

impl EdgeSampler {
    /// Prepares the draws: O(1) for uniform draws, O(edges) for weights, O(nodes) for node weights on a clique.
    ///
    /// Errors: those of [`EdgeProbabilities`]; [`Error::GraphTooSmall`] for one node and
    /// [`Error::GraphDisconnected`] for more nodes without an edge. That the edges of positive probability connect the
    /// graph is for the caller to check: [`Graph::check_support_connected`].
    pub fn new(graph: &Graph, probabilities: &EdgeProbabilities) -> Result<Self> {
        if graph.nodes() < 2 {
            let found = graph.nodes();
            return Err(Error::GraphTooSmall { topology: "drawing edges", found, minimum: 2 });
        }
        if graph.edge_count() == 0 {
            graph.check_connected()?;
        }
        probabilities.check(graph)?;
        let law = match probabilities {
            EdgeProbabilities::Uniform => Law::Uniform,
            EdgeProbabilities::NodeSum(weights) if graph.is_clique() => {
                let (table, shares) = prepare(relative(weights))?;
                Law::CliqueNodes(table, shares)
            }
            _ => {
                let (table, shares) = prepare(probabilities.edge_weights(graph))?;
                Law::Edges(table, shares)
            }
        };
        Ok(Self { graph: graph.clone(), law })
    }

    /// Draws an edge. The two nodes differ; on a clique they may come in either order, otherwise the smaller first.
    #[inline]
    pub fn draw(&self, rng: &mut Xoshiro256PlusPlus) -> (usize, usize) {
        match (&self.law, &self.graph.pairs) {
            (Law::Uniform, Pairs::Clique) => uniform::two_different(rng, self.graph.nodes()),
            (Law::Uniform, Pairs::List(list)) => self.graph.edge_at(uniform::below(rng, list.len())),
            (Law::Edges(table, _), _) => self.graph.edge_at(table.draw(rng)),
            (Law::CliqueNodes(table, _), _) => {
                let i = table.draw(rng);
                (i, uniform::other_than(i, rng, self.graph.nodes()))
            }
        }
    }

    /// The graph whose edges are drawn.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// `p_e` of edge number `edge`; they sum to 1.
    ///
    /// # Panics
    /// If `edge` is not below the number of edges.
    pub fn probability(&self, edge: usize) -> f64 {
        let (i, j) = self.graph.edge_at(edge);
        match &self.law {
            Law::Uniform => 1.0 / self.graph.edge_count() as f64,
            Law::Edges(_, shares) => shares[edge],
            Law::CliqueNodes(_, shares) => (shares[i] + shares[j]) / (self.graph.nodes() - 1) as f64,
        }
    }

    /// For each node the probability that it takes part in a draw; they sum to 2.
    pub fn node_probabilities(&self) -> Vec<f64> {
        let nodes = self.graph.nodes();
        if let Law::CliqueNodes(_, shares) = &self.law {
            return shares.iter().map(|s| s + (1.0 - s) / (nodes - 1) as f64).collect();
        }
        if let (Law::Uniform, true) = (&self.law, self.graph.is_clique()) {
            return vec![2.0 / nodes as f64; nodes];
        }
        let mut of_node = vec![0.0; nodes];
        for (edge, (i, j)) in self.graph.edges().enumerate() {
            let p = self.probability(edge);
            of_node[i] += p;
            of_node[j] += p;
        }
        of_node
    }
}

/// The table and the shares of relative weights.
fn prepare(mut weights: Vec<f64>) -> Result<(AliasTable, Vec<f64>)> {
    if weights.iter().all(|w| *w == 0.0) {
        return Err(no_positive_weight());
    }
    let table = AliasTable::new(&weights);
    let total: f64 = weights.iter().sum();
    for w in &mut weights {
        *w /= total;
    }
    Ok((table, weights))
}

#[cfg(test)]
mod tests {
    use super::super::Topology;
    use super::*;
    use rand::SeedableRng;

    /// Draws many edges, compares their frequencies with the probabilities and those with the expected ones.
    fn compare(graph: &Graph, probabilities: &EdgeProbabilities, expected: &[f64]) {
        const DRAWS: usize = 200_000;
        let sampler = EdgeSampler::new(graph, probabilities).expect("valid");
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(11);
        let edges: Vec<_> = graph.edges().collect();
        let mut count = vec![0.0; edges.len()];
        for _ in 0..DRAWS {
            let (i, j) = sampler.draw(&mut rng);
            let edge = edges.iter().position(|&e| e == (i.min(j), i.max(j))).expect("an edge");
            count[edge] += 1.0;
        }
        let total: f64 = expected.iter().sum();
        let mut of_node = vec![0.0; graph.nodes()];
        for (edge, &(i, j)) in edges.iter().enumerate() {
            let p = expected[edge] / total;
            of_node[i] += p;
            of_node[j] += p;
            assert!((sampler.probability(edge) - p).abs() < 1e-15);
            let spread = (p * DRAWS as f64).sqrt();
            assert!((count[edge] - p * DRAWS as f64).abs() <= 5.0 * spread, "{edge}: {} {p}", count[edge]);
        }
        for (found, p) in sampler.node_probabilities().iter().zip(&of_node) {
            assert!((found - p).abs() < 1e-14);
        }
    }

    #[test]
    fn frequencies_match() {
        let weights = [3.0, 0.0, 1e300, 5e299, 0.0];
        let nodes = [1.0, 2.0, 0.0, 0.0, 7.0];
        for topology in [Topology::Ring, Topology::Clique] {
            let graph = Graph::new(&topology, 5).expect("valid");
            let m = graph.edge_count();
            compare(&graph, &EdgeProbabilities::Uniform, &vec![1.0; m]);
            let sums: Vec<f64> = graph.edges().map(|(i, j)| nodes[i] + nodes[j]).collect();
            compare(&graph, &EdgeProbabilities::NodeSum(nodes.to_vec()), &sums);
            let cycled: Vec<f64> = weights.iter().copied().cycle().take(m).collect();
            compare(&graph, &EdgeProbabilities::Weighted(cycled.clone()), &cycled);
        }
        let huge = Graph::new(&Topology::Star, 3).expect("valid");
        compare(&huge, &EdgeProbabilities::NodeSum(vec![f64::MAX; 3]), &[1.0, 1.0]);
    }

    #[test]
    fn a_large_clique_is_never_listed() {
        let graph = Graph::new(&Topology::Clique, 1_000_000).expect("valid");
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let sampler = EdgeSampler::new(&graph, &EdgeProbabilities::Uniform).expect("valid");
        let sums = EdgeProbabilities::NodeSum((0..1_000_000).map(f64::from).collect());
        let weighted = EdgeSampler::new(&graph, &sums).expect("valid");
        for _ in 0..1000 {
            let (i, j) = sampler.draw(&mut rng);
            assert!(i != j && i.max(j) < 1_000_000);
            let (i, j) = weighted.draw(&mut rng);
            assert!(i != j && i.max(j) < 1_000_000);
        }
        assert!((sampler.probability(77) - 2e-12 / (1.0 - 1e-6)).abs() < 1e-24);
        let error = EdgeSampler::new(&graph, &EdgeProbabilities::Weighted(vec![])).expect_err("too large");
        assert!(matches!(error, Error::TooMuchMemory { .. }));
    }

    #[test]
    fn wrong_weights_are_refused() {
        let graph = Graph::new(&Topology::Ring, 3).expect("valid");
        let refuse = |weights: [f64; 3]| {
            let edges = EdgeSampler::new(&graph, &EdgeProbabilities::Weighted(weights.to_vec()));
            let nodes = EdgeSampler::new(&graph, &EdgeProbabilities::NodeSum(weights.to_vec()));
            (edges.expect_err("invalid"), nodes.expect_err("invalid"))
        };
        let (edges, nodes) = refuse([0.0, 1.0, -1.0]);
        assert!(matches!(edges, Error::NegativeWeight { index: 2, .. }));
        assert!(matches!(nodes, Error::NegativeWeight { index: 2, .. }));
        let (edges, nodes) = refuse([0.0, f64::NAN, -1.0]);
        assert!(matches!(edges, Error::NonFinite { row: 1, column: 0, .. }));
        assert!(matches!(nodes, Error::NonFinite { row: 1, column: 0, .. }));
        let (edges, nodes) = refuse([0.0; 3]);
        assert!(matches!(edges, Error::OutOfRange { .. }));
        assert!(matches!(nodes, Error::OutOfRange { .. }));
        let error = EdgeSampler::new(&graph, &EdgeProbabilities::Weighted(vec![1.0])).expect_err("short");
        assert!(matches!(error, Error::ShapeMismatch { found: 1, expected: 3, .. }));
    }

    #[test]
    fn nothing_to_draw() {
        let uniform = EdgeProbabilities::Uniform;
        let error = EdgeSampler::new(&Graph::single(), &uniform).expect_err("no edge");
        assert!(matches!(error, Error::GraphTooSmall { found: 1, .. }));
        let empty = Graph::new(&Topology::Edges(vec![]), 3).expect("valid");
        let error = EdgeSampler::new(&empty, &uniform).expect_err("no edge");
        assert!(matches!(error, Error::GraphDisconnected { .. }));
    }

    #[test]
    fn shared_between_threads() {
        fn check<T: Send + Sync>() {}
        check::<EdgeSampler>();
        check::<Graph>();
    }
}
