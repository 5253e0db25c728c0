//! How often each edge is drawn: `p_e`, given by weights that need not sum to 1.
//!
//! - Given: [`EdgeProbabilities`] and a [`Graph`].
//! - Returns: checked relative weights, and the subgraph of the edges that can be drawn at all.
//! - Must not know: how an edge is drawn; where weights come from.

use super::structure::{Graph, check_clique_list};
use crate::error::{Error, Result};

/// The law by which edges are drawn.
///
/// | wrong | error |
/// |---|---|
/// | not one weight per edge (per node) | [`Error::ShapeMismatch`] |
/// | NaN or infinite weight | [`Error::NonFinite`] (its position as the row) |
/// | negative weight | [`Error::NegativeWeight`] |
/// | no edge with a positive weight | [`Error::OutOfRange`] |
/// | `Weighted` on a clique of more than 5000 nodes | [`Error::TooMuchMemory`] |
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub enum EdgeProbabilities {
    /// `p_e` = 1 / |E|.
    #[default]
    Uniform,
    /// `p_e` proportional to a weight per edge, in the order of [`Graph::edges`].
    Weighted(Vec<f64>),
    /// `p_ij` proportional to `w_i + w_j`, one weight per node (for example its Lipschitz constant). On a clique it
    /// costs memory per node only.
    NodeSum(Vec<f64>),
}

impl EdgeProbabilities {
    /// Checks lengths and signs against a graph; that some weight is positive is checked elsewhere.
    pub(super) fn check(&self, graph: &Graph) -> Result<()> {
        match self {
            Self::Uniform => Ok(()),
            Self::Weighted(weights) => {
                if graph.is_clique() {
                    check_clique_list(graph.nodes(), "a probability")?;
                }
                check_weights("edge weights", weights, graph.edge_count())
            }
            Self::NodeSum(weights) => check_weights("node weights", weights, graph.nodes()),
        }
    }

    /// One relative weight per edge, the largest at most 1. Not for cliques over the limit.
    pub(super) fn edge_weights(&self, graph: &Graph) -> Vec<f64> {
        match self {
            Self::Uniform => vec![1.0; graph.edge_count()],
            Self::Weighted(weights) => relative(weights),
            Self::NodeSum(weights) => {
                let relative = relative(weights);
                graph.edges().map(|(i, j)| 0.5 * (relative[i] + relative[j])).collect()
            }
        }
    }
}

/// Checks that there are as many weights as expected, all finite and none negative.
pub(super) fn check_weights(input: &str, weights: &[f64], expected: usize) -> Result<()> {
    let input = || input.to_owned();
    if weights.len() != expected {
        return Err(Error::ShapeMismatch { input: input(), unit: "entries", found: weights.len(), expected });
    }
    for (index, &found) in weights.iter().enumerate() {
        if !found.is_finite() {
            return Err(Error::NonFinite { input: input(), row: index, column: 0, found });
        }
        if found < 0.0 {
            return Err(Error::NegativeWeight { input: input(), index, found });
        }
    }
    Ok(())
}

/// The weights divided by the largest, so that sums cannot overflow. All zero stays all zero.
pub(super) fn relative(weights: &[f64]) -> Vec<f64> {
    let largest = weights.iter().copied().fold(0.0, f64::max);
    weights.iter().map(|w| if *w == 0.0 { 0.0 } else { w / largest }).collect()
}

/// The error for weights of which none is positive.
pub(super) fn no_positive_weight() -> Error {
    let input = "edge probabilities".to_owned();
    Error::OutOfRange { input, index: 0, found: 0.0, allowed: "at least one edge with a positive weight" }
}

impl Graph {
    /// The subgraph of the edges of positive probability, on the same nodes, edges in the same order. A clique of which
    /// nothing falls away stays one.
    ///
    /// With [`EdgeProbabilities::NodeSum`] on a clique of more than 5000 nodes, two of them or more of weight 0, it is
    /// refused ([`Error::TooMuchMemory`]); to learn only whether it is connected, ask
    /// [`Graph::check_support_connected`].
    pub fn support(&self, probabilities: &EdgeProbabilities) -> Result<Self> {
        probabilities.check(self)?;
        match probabilities {
            EdgeProbabilities::Uniform => Ok(self.clone()),
            EdgeProbabilities::Weighted(w) if w.iter().all(|w| *w > 0.0) => Ok(self.clone()),
            EdgeProbabilities::Weighted(w) => self.filtered(|edge, _, _| w[edge] > 0.0),
            EdgeProbabilities::NodeSum(w) if w.iter().filter(|w| **w == 0.0).count() < 2 => Ok(self.clone()),
            EdgeProbabilities::NodeSum(w) => self.filtered(|_, i, j| w[i] > 0.0 || w[j] > 0.0),
        }
    }

    /// Whether the edges of positive probability join every two nodes; [`Error::GraphDisconnected`] if not
    /// ([`Error::OutOfRange`] for a clique with node weights all 0). Node weights on a clique need no memory per edge.
    pub fn check_support_connected(&self, probabilities: &EdgeProbabilities) -> Result<()> {
        if let (true, EdgeProbabilities::NodeSum(weights)) = (self.is_clique(), probabilities) {
            probabilities.check(self)?;
            // A node of positive weight is joined to every other.
            if weights.iter().any(|w| *w > 0.0) {
                return Ok(());
            }
            return Err(no_positive_weight());
        }
        self.support(probabilities)?.check_connected()
    }

    /// The edges for which `keep(number, first, second)` holds.
    fn filtered(&self, keep: impl Fn(usize, usize, usize) -> bool) -> Result<Self> {
        if self.is_clique() {
            check_clique_list(self.nodes(), "the support")?;
        }
        let edges = self.edges().enumerate().filter(|&(edge, (i, j))| keep(edge, i, j));
        Ok(Self::from_list(self.nodes(), edges.map(|(_, (i, j))| (i as u32, j as u32)).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Topology;
    use super::*;

    fn graph(topology: &Topology, nodes: usize) -> Graph {
        Graph::new(topology, nodes).expect("valid")
    }

    #[test]
    fn support_of_a_list() {
        let ring = graph(&Topology::Ring, 4);
        let support = |probabilities| ring.support(&probabilities).expect("valid");
        assert_eq!(support(EdgeProbabilities::Uniform), ring);
        let part = support(EdgeProbabilities::Weighted(vec![1.0, 0.0, 2.0, 0.0]));
        assert_eq!(part.edges().collect::<Vec<_>>(), [(0, 1), (1, 2)]);
        assert!(part.check_connected().is_err());
        let part = support(EdgeProbabilities::NodeSum(vec![1.0, 0.0, 0.0, 1.0]));
        assert_eq!(part.edges().collect::<Vec<_>>(), [(0, 1), (0, 3), (2, 3)]);
    }

    #[test]
    fn support_of_a_clique() {
        let small = graph(&Topology::Clique, 4);
        let keep_all = EdgeProbabilities::NodeSum(vec![0.0, 1.0, 1.0, 1.0]);
        assert!(small.support(&keep_all).expect("valid").is_clique());
        let lose_one = EdgeProbabilities::NodeSum(vec![0.0, 0.0, 1.0, 1.0]);
        assert_eq!(small.support(&lose_one).expect("valid").edge_count(), 5);

        let large = graph(&Topology::Clique, 100_000);
        assert!(large.support(&EdgeProbabilities::Uniform).expect("valid").is_clique());
        let mut weights = vec![0.0; 100_000];
        weights[5] = 1.0;
        let hub = EdgeProbabilities::NodeSum(weights);
        assert!(matches!(large.support(&hub), Err(Error::TooMuchMemory { .. })));
        assert_eq!(large.check_support_connected(&hub), Ok(()));
        let nothing = EdgeProbabilities::NodeSum(vec![0.0; 100_000]);
        assert!(matches!(large.check_support_connected(&nothing), Err(Error::OutOfRange { .. })));
    }
}
