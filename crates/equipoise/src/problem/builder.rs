//! The builder of a [`Problem`]: collects the parts, then checks them together.

use super::{BlockChoice, Blocks, Problem, reach, start};
use crate::coupling::{Coupling, independent_rows};
use crate::error::{Error, Result};
use crate::graph::{EdgeProbabilities, Graph, Topology};
use crate::matrix::check_length;
use crate::separable::{GroupL2, Nonsmooth, SeparableTerm, Zero};
use crate::smooth::SmoothTerm;
use crate::theory::equalised;

/// How often each pair is drawn.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum ProbabilityChoice {
    /// Every edge equally often.
    #[default]
    Uniform,
    /// In proportion to these weights, one an edge.
    Weighted(Vec<f64>),
    /// In proportion to the sum of the Lipschitz constants of the two blocks.
    Lipschitz,
    /// So that the effective resistance of every edge, over the sum of the two blocks' Lipschitz constants, is the same:
    /// the least constant of accelerated pairs. See [`theory::equalised`](crate::theory::equalised), also for where the
    /// draws stay uniform; they do so on a disconnected graph.
    Equalised,
}

/// Collects the parts of a problem; see [`Problem::builder`].
#[derive(Debug)]
pub struct ProblemBuilder<F, H> {
    smooth: F,
    separable: Nonsmooth<H>,
    coupling: Coupling,
    blocks: BlockChoice,
    topology: Topology,
    probabilities: ProbabilityChoice,
    start: Option<Vec<f64>>,
}

impl<F: SmoothTerm> ProblemBuilder<F, Zero> {
    pub(super) fn new(smooth: F) -> Self {
        Self {
            smooth,
            separable: Nonsmooth::Coordinates(Zero),
            coupling: Coupling::none(),
            blocks: BlockChoice::Automatic,
            topology: Topology::Clique,
            probabilities: ProbabilityChoice::Uniform,
            start: None,
        }
    }

    /// Sets h, a sum over coordinates.
    pub fn separable<H: SeparableTerm>(self, h: H) -> ProblemBuilder<F, H> {
        self.nonsmooth(Nonsmooth::Coordinates(h))
    }

    /// Sets h to a weighted Euclidean norm of every block.
    #[must_use]
    pub fn group_l2(self, h: GroupL2) -> Self {
        self.nonsmooth(Nonsmooth::Groups(h))
    }

    /// Sets h, in either form.
    pub fn nonsmooth<H: SeparableTerm>(self, separable: Nonsmooth<H>) -> ProblemBuilder<F, H> {
        ProblemBuilder {
            smooth: self.smooth,
            separable,
            coupling: self.coupling,
            blocks: self.blocks,
            topology: self.topology,
            probabilities: self.probabilities,
            start: self.start,
        }
    }
}

impl<F: SmoothTerm, H: SeparableTerm> ProblemBuilder<F, H> {
    /// Sets A x = b.
    #[must_use]
    pub fn coupling(mut self, coupling: Coupling) -> Self {
        self.coupling = coupling;
        self
    }

    /// Sets how the variables are grouped.
    #[must_use]
    pub fn blocks(mut self, blocks: BlockChoice) -> Self {
        self.blocks = blocks;
        self
    }

    /// Sets which pairs of blocks may move together.
    #[must_use]
    pub fn graph(mut self, topology: Topology) -> Self {
        self.topology = topology;
        self
    }

    /// Sets how often each pair is drawn.
    #[must_use]
    pub fn probabilities(mut self, probabilities: ProbabilityChoice) -> Self {
        self.probabilities = probabilities;
        self
    }

    /// Sets the start, which must be feasible; without it one is found.
    #[must_use]
    pub fn start(mut self, x: Vec<f64>) -> Self {
        self.start = Some(x);
        self
    }

    /// Checks everything and makes the problem.
    pub fn build(self) -> Result<Problem<F, H>> {
        let n = self.smooth.dimension();
        if n == 0 {
            return Err(Error::EmptyProblem);
        }
        self.coupling.check_dimension(n)?;
        let independence = independent_rows(&self.coupling, n)?;
        let reduced = (!independence.dropped.is_empty()).then(|| self.coupling.keep_rows(&independence.kept));
        let independent = reduced.as_ref().unwrap_or(&self.coupling);
        let blocks = Blocks::new(&self.blocks, n, independent)?;
        check_separable(&self.separable, n, blocks.len())?;
        let graph = if blocks.len() == 1 && self.topology == Topology::Clique {
            Graph::single()
        } else {
            Graph::new(&self.topology, blocks.len())?
        };
        let probabilities = edge_probabilities(self.probabilities, &self.smooth, &blocks, &graph);
        reach::check(&graph.support(&probabilities)?, &blocks, independent)?;
        let start = match self.start {
            Some(x) => {
                start::check(&self.coupling, &self.separable, &x, n)?;
                x
            }
            None => start::project(independent, &self.separable, &vec![0.0; n])?,
        };
        Ok(Problem {
            smooth: self.smooth,
            separable: self.separable,
            reduced,
            coupling: self.coupling,
            kept_rows: independence.kept,
            dropped_rows: independence.dropped,
            blocks,
            graph,
            probabilities,
            start,
        })
    }
}

fn check_separable<H: SeparableTerm>(separable: &Nonsmooth<H>, n: usize, blocks: usize) -> Result<()> {
    match separable {
        Nonsmooth::Coordinates(h) => {
            h.dimension().map_or(Ok(()), |found| check_length("separable term", "entries", found, n))
        }
        Nonsmooth::Groups(h) => {
            h.blocks().map_or(Ok(()), |found| check_length("group-l2 weight", "entries", found, blocks))
        }
    }
}

fn edge_probabilities<F: SmoothTerm>(
    choice: ProbabilityChoice,
    f: &F,
    blocks: &Blocks,
    graph: &Graph,
) -> EdgeProbabilities {
    match choice {
        ProbabilityChoice::Uniform => EdgeProbabilities::Uniform,
        ProbabilityChoice::Weighted(weights) => EdgeProbabilities::Weighted(weights),
        ProbabilityChoice::Lipschitz => EdgeProbabilities::NodeSum(block_constants(f, blocks)),
        ProbabilityChoice::Equalised => {
            let constants = block_constants(f, blocks);
            // What keeps them from being equalised, the check of the graph's reach puts in better words.
            equalised(graph, &|i, j| constants[i] + constants[j]).unwrap_or_default()
        }
    }
}

/// The largest curvature of every block.
fn block_constants<F: SmoothTerm>(f: &F, blocks: &Blocks) -> Vec<f64> {
    // A linear block has curvature 0 and must be drawn all the same.
    let largest = (0..f.dimension()).map(|c| f.curvature(c)).fold(0.0, f64::max);
    let least = if largest > 0.0 { 1e-3 * largest } else { 1.0 };
    (0..blocks.len()).map(|i| blocks.coordinates(i).map(|c| f.curvature(c)).fold(least, f64::max)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::smooth::Distance;
    use crate::theory::pair_constant;

    fn law(topology: Topology, weight: Vec<f64>) -> (Graph, EdgeProbabilities) {
        let f = Distance::new(vec![0.0; weight.len()], weight).expect("valid");
        let coupling = Coupling::sum(1.0).expect("valid");
        let problem = Problem::builder(f)
            .coupling(coupling)
            .graph(topology)
            .probabilities(ProbabilityChoice::Equalised)
            .build()
            .expect("valid");
        (problem.graph().clone(), problem.probabilities().clone())
    }

    #[test]
    fn equalised_probabilities_have_the_least_constant() {
        let weight: Vec<f64> = (0..24).map(|i| 0.5 + 0.25 * f64::from(i % 4)).collect();
        let (graph, equal) = law(Topology::TreeRing, weight.clone());
        let nu = pair_constant(&graph, &equal, &|i, j| 2.0 * (weight[i] + weight[j])).expect("connected");
        assert!(nu <= 23.0 * 1.001, "{nu}");
        assert_eq!(law(Topology::Clique, vec![1.0; 9]).1, EdgeProbabilities::Uniform);
        assert_eq!(
            law(Topology::Clique, (0..2000).map(|i| 1.0 + f64::from(i)).collect()).1,
            EdgeProbabilities::Uniform
        );
    }
}
