//! The builder of a [`Problem`]: collects the parts, then checks them together.

use std::sync::Arc;

use super::{BlockChoice, Blocks, DrawLaw, Problem, reach, start};
use crate::control::Control;
use crate::coupling::{Coupling, independent_rows};
use crate::error::{Error, Result};
use crate::graph::{EdgeProbabilities, Graph, Topology};
use crate::matrix::check_length;
use crate::separable::{GroupL2, Nonsmooth, SeparableTerm, Zero};
use crate::smooth::SmoothTerm;

/// How often each pair is drawn.
#[derive(Debug, Clone, Default)]
pub enum ProbabilityChoice {
    /// Every edge equally often.
    #[default]
    Uniform,
    /// In proportion to these weights, one an edge.
    Weighted(Vec<f64>),
    /// In proportion to the sum of the Lipschitz constants of the two blocks.
    Lipschitz,
    /// By a law that is made for the graph and the Lipschitz constants of the blocks, for example that of equal effective
    /// resistances in the crate `equipoise-theory`.
    Law(Arc<dyn DrawLaw>),
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
        self.build_within(&Control::unlimited())
    }

    /// The same under a control.
    pub fn build_within(self, control: &Control) -> Result<Problem<F, H>> {
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
        let probabilities = edge_probabilities(self.probabilities, &self.smooth, &blocks, &graph, control);
        reach::check(&graph.support(&probabilities)?, &blocks, independent)?;
        let start = match self.start {
            Some(x) => {
                start::check(&self.coupling, self.separable.as_dyn(), &x, n)?;
                x
            }
            None => start::project(independent, self.separable.as_dyn(), &vec![0.0; n], control)?,
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
    control: &Control,
) -> EdgeProbabilities {
    match choice {
        ProbabilityChoice::Uniform => EdgeProbabilities::Uniform,
        ProbabilityChoice::Weighted(weights) => EdgeProbabilities::Weighted(weights),
        ProbabilityChoice::Lipschitz => EdgeProbabilities::NodeSum(block_constants(f, blocks)),
        ProbabilityChoice::Law(law) => law.probabilities(graph, &block_constants(f, blocks), control),
    }
}

/// The largest curvature of every block.
fn block_constants<F: SmoothTerm>(f: &F, blocks: &Blocks) -> Vec<f64> {
    // A linear block has curvature 0 and must be drawn all the same.
    let largest = (0..f.dimension()).map(|c| f.curvature(c)).fold(0.0, f64::max);
    let least = if largest > 0.0 { 1e-3 * largest } else { 1.0 };
    (0..blocks.len()).map(|i| blocks.coordinates(i).map(|c| f.curvature(c)).fold(least, f64::max)).collect()
}
