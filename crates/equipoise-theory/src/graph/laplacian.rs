//! The weighted graph Laplacian `K = sum_e w_e (e_i - e_j)(e_i - e_j)^T`.
//!
//! - Given: a [`Graph`] and a weight per edge: 1 for the plain Laplacian, `p_e / (2L)` for the paper's K.
//! - Returns: K x, x'Kx, solutions of K z = r and the ends of the [`Spectrum`].
//! - Must not know: what the weights mean.
//!
//! A clique with equal weights w is kept as a rule: K = w (b I - 1 1^T).
//!
//! Reference: the paper (UAI 2015), section 3.

use std::sync::Arc;

use super::edge_list;
use super::elimination::Elimination;
use super::spectrum::{self, Spectrum};
use equipoise::graph::{EdgeProbabilities, Graph};
use equipoise::{Control, Error, Result};

/// A weighted graph Laplacian, never formed as a matrix.
#[derive(Debug, Clone)]
pub struct Laplacian {
    nodes: usize,
    weights: Weights,
}

#[derive(Debug, Clone)]
enum Weights {
    /// Every pair with the same weight.
    Clique(f64),
    /// The edges of positive weight and their weights.
    List(Arc<[(u32, u32)]>, Vec<f64>),
}

impl Laplacian {
    /// The plain Laplacian: weight 1 on every edge.
    pub fn new(graph: &Graph) -> Self {
        Self::equal(graph, 1.0)
    }

    /// The same weight on every edge, at least 0 and finite; a clique of any size is fine.
    pub fn uniform(graph: &Graph, weight: f64) -> Result<Self> {
        let input = || "edge weight".to_owned();
        if !weight.is_finite() {
            return Err(Error::NonFinite { input: input(), row: 0, column: 0, found: weight });
        }
        if weight < 0.0 {
            return Err(Error::NegativeWeight { input: input(), index: 0, found: weight });
        }
        Ok(Self::equal(graph, weight))
    }

    /// One weight per edge in the order of [`Graph::edges`], at least 0 and finite. Edges of weight 0 count as
    /// absent. A clique may have at most 5000 nodes ([`Error::TooMuchMemory`]).
    pub fn weighted(graph: &Graph, weights: &[f64]) -> Result<Self> {
        let kept = graph.support(&EdgeProbabilities::Weighted(weights.to_vec()))?;
        let positive = weights.iter().copied().filter(|w| *w > 0.0).collect();
        Ok(Self { nodes: graph.nodes(), weights: Weights::List(edge_list(&kept).into(), positive) })
    }

    fn equal(graph: &Graph, weight: f64) -> Self {
        let weights = if graph.is_clique() {
            Weights::Clique(weight)
        } else if weight == 0.0 {
            Weights::List(Arc::new([]), Vec::new())
        } else {
            Weights::List(edge_list(graph).into(), vec![weight; graph.edge_count()])
        };
        Self { nodes: graph.nodes(), weights }
    }

    /// b, the number of nodes.
    pub fn nodes(&self) -> usize {
        self.nodes
    }

    /// out = K x.
    ///
    /// # Panics
    /// If a slice does not have one entry per node.
    pub fn apply(&self, x: &[f64], out: &mut [f64]) {
        assert!(x.len() == self.nodes && out.len() == self.nodes, "one entry per node");
        match &self.weights {
            Weights::Clique(weight) => {
                let (b, mean) = (self.nodes as f64, self.mean(x));
                out.iter_mut().zip(x).for_each(|(out, x)| *out = weight * b * (x - mean));
            }
            Weights::List(list, weights) => {
                out.fill(0.0);
                for (&(i, j), weight) in list.iter().zip(weights) {
                    let flow = weight * (x[i as usize] - x[j as usize]);
                    out[i as usize] += flow;
                    out[j as usize] -= flow;
                }
            }
        }
    }

    /// x'Kx = `sum_e w_e (x_i - x_j)^2`.
    ///
    /// # Panics
    /// If `x` does not have one entry per node.
    pub fn quadratic(&self, x: &[f64]) -> f64 {
        assert!(x.len() == self.nodes, "one entry per node");
        match &self.weights {
            Weights::Clique(weight) => {
                let mean = self.mean(x);
                weight * self.nodes as f64 * x.iter().map(|x| (x - mean).powi(2)).sum::<f64>()
            }
            Weights::List(list, weights) => {
                let square = |&(i, j): &(u32, u32)| (x[i as usize] - x[j as usize]).powi(2);
                list.iter().zip(weights).map(|(edge, weight)| weight * square(edge)).sum()
            }
        }
    }

    /// The z of mean 0 with K z = r; of r only the part of mean 0 counts.
    ///
    /// Errors: [`Error::GraphDisconnected`] if the edges of positive weight do not connect the nodes.
    ///
    /// # Panics
    /// If `right` does not have one entry per node.
    pub fn solve(&self, right: &[f64]) -> Result<Vec<f64>> {
        assert!(right.len() == self.nodes, "one entry per node");
        let mean = self.mean(right);
        let mut right: Vec<f64> = right.iter().map(|r| r - mean).collect();
        match &self.weights {
            Weights::Clique(weight) if *weight > 0.0 => {
                let value = weight * self.nodes as f64;
                right.iter_mut().for_each(|r| *r /= value);
                Ok(right)
            }
            Weights::Clique(_) => Err(self.without_edges()),
            Weights::List(list, weights) => {
                let scale = weights.iter().copied().fold(0.0, f64::max);
                let system = Elimination::new(self.nodes, list, &relative(weights))?;
                right.iter_mut().for_each(|r| *r /= scale);
                Ok(system.solve_by_node(&right))
            }
        }
    }

    fn without_edges(&self) -> Error {
        Error::GraphDisconnected { from: 0, to: 1, unreached: self.nodes - 1, nodes: self.nodes }
    }

    /// The smallest non-zero and the largest eigenvalue; see [`Spectrum`] for accuracy and cost.
    ///
    /// Errors: [`Error::GraphTooSmall`] for one node, [`Error::GraphDisconnected`] if the edges of positive weight do
    /// not connect the nodes (then 0 is a multiple eigenvalue).
    pub fn spectrum(&self) -> Result<Spectrum> {
        self.spectrum_within(&Control::unlimited())
    }

    /// The same under a control, which is asked before every step; [`Error::StoppedEarly`] where it ended the work.
    pub fn spectrum_within(&self, control: &Control) -> Result<Spectrum> {
        let nodes = self.nodes;
        if nodes < 2 {
            return Err(Error::GraphTooSmall { topology: "a spectrum", found: nodes, minimum: 2 });
        }
        match &self.weights {
            Weights::Clique(weight) if *weight > 0.0 => {
                let value = weight * nodes as f64;
                Ok(Spectrum { smallest_nonzero: value, largest: value, relative_error: 0.0 })
            }
            Weights::Clique(_) => Err(self.without_edges()),
            Weights::List(list, weights) => {
                // Weights up to 1, so that no square overflows or vanishes.
                let scale = weights.iter().copied().fold(0.0, f64::max);
                let found = spectrum::of(&Elimination::new(nodes, list, &relative(weights))?, control)?;
                Ok(Spectrum {
                    smallest_nonzero: scale * found.smallest_nonzero,
                    largest: scale * found.largest,
                    ..found
                })
            }
        }
    }

    fn mean(&self, x: &[f64]) -> f64 {
        x.iter().sum::<f64>() / self.nodes as f64
    }
}

/// The weights divided by the largest, so that no square overflows or vanishes.
fn relative(weights: &[f64]) -> Vec<f64> {
    let largest = weights.iter().copied().fold(0.0, f64::max);
    weights.iter().map(|w| w / largest).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use equipoise::graph::Topology;

    fn graph(name: &str, nodes: usize) -> Graph {
        Graph::new(&Topology::parse(name, nodes, 1).expect("known"), nodes).expect("valid")
    }

    #[test]
    fn products_by_hand_and_by_rule() {
        let ring = Laplacian::weighted(&graph("ring", 3), &[1.0, 2.0, 0.0]).expect("valid");
        let mut out = [0.0; 3];
        ring.apply(&[1.0, 4.0, 2.0], &mut out);
        assert_eq!(out, [-5.0, 3.0, 2.0]);
        assert!((ring.quadratic(&[1.0, 4.0, 2.0]) - 11.0).abs() < 1e-14);

        let clique = graph("clique", 5);
        let rule = Laplacian::uniform(&clique, 0.3).expect("valid");
        let listed = Laplacian::weighted(&clique, &[0.3; 10]).expect("valid");
        let x = [1.0, -2.0, 0.5, 4.0, 0.0];
        let (mut by_rule, mut by_list) = ([0.0; 5], [0.0; 5]);
        rule.apply(&x, &mut by_rule);
        listed.apply(&x, &mut by_list);
        assert!(by_rule.iter().zip(&by_list).all(|(a, b)| (a - b).abs() < 1e-14));
        assert!((rule.quadratic(&x) - listed.quadratic(&x)).abs() < 1e-13);
        assert_eq!(rule.nodes(), 5);
    }

    #[test]
    fn algorithms_4_8() {
        // K = sum_e p_e / (2 L), p_e = 1 / |E|, L = 1, b = 24.
        for (name, expected) in [
            ("clique", 0.043_478),
            ("star", 0.021_739),
            ("ring", 0.001_420),
            ("tree", 0.001_289),
            ("star+ring", 0.011_318),
            ("wheel", 0.011_676),
            ("tree+ring", 0.006_392),
        ] {
            let graph = graph(name, 24);
            let weight = 0.5 / graph.edge_count() as f64;
            let uniform = Laplacian::uniform(&graph, weight).expect("valid").spectrum().expect("connected");
            assert!((uniform.smallest_nonzero - expected).abs() < 5.1e-7, "{name}: {uniform:?}");
            let weights = vec![weight; graph.edge_count()];
            let listed = Laplacian::weighted(&graph, &weights).expect("valid").spectrum().expect("connected");
            assert!((listed.smallest_nonzero / uniform.smallest_nonzero - 1.0).abs() < 1e-12, "{name}");
            assert!((listed.largest / uniform.largest - 1.0).abs() < 1e-12, "{name}");
        }
    }

    #[test]
    fn what_is_refused() {
        let ring = graph("ring", 4);
        let weighted = |weights: &[f64]| Laplacian::weighted(&ring, weights);
        assert!(matches!(weighted(&[1.0; 3]), Err(Error::ShapeMismatch { .. })));
        assert!(matches!(weighted(&[1.0, 1.0, -1.0, 1.0]), Err(Error::NegativeWeight { index: 2, .. })));
        assert!(matches!(weighted(&[1.0, f64::INFINITY, 1.0, 1.0]), Err(Error::NonFinite { row: 1, .. })));
        assert!(matches!(Laplacian::uniform(&ring, -1.0), Err(Error::NegativeWeight { .. })));
        let broken = weighted(&[1.0, 0.0, 0.0, 1.0]).expect("valid");
        assert!(matches!(broken.spectrum(), Err(Error::GraphDisconnected { unreached: 2, .. })));
        for name in ["ring", "clique"] {
            let zero = Laplacian::uniform(&graph(name, 4), 0.0).expect("valid");
            assert!(matches!(zero.spectrum(), Err(Error::GraphDisconnected { .. })), "{name}");
        }
        assert!(matches!(Laplacian::new(&Graph::single()).spectrum(), Err(Error::GraphTooSmall { .. })));
        let flag = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(true));
        let ended = Laplacian::new(&Graph::new(&Topology::Ring, 50).expect("valid"));
        let ended = ended.spectrum_within(&Control::on(flag));
        assert_eq!(ended, Err(Error::StoppedEarly { by: "interrupted" }));
        let large = graph("clique", 1_000_000);
        assert!(matches!(Laplacian::weighted(&large, &[]), Err(Error::TooMuchMemory { .. })));
        let spectrum = Laplacian::new(&large).spectrum().expect("connected");
        assert!((spectrum.smallest_nonzero - 1e6).abs() < 1e-6);
    }
}
