//! The builder of a [`Problem`]: collects the parts, then checks them together.
//!
//! What depends on the blocks is decided here, once they are known: weights of groups that were given by coordinate, and
//! topologies whose shape follows from the number of blocks.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use super::{BlockChoice, Blocks, DrawLaw, Problem, reach, start};
use crate::control::Control;
use crate::coupling::{Coupling, RowUnits, independent_rows};
use crate::error::{Error, Result};
use crate::graph::{EdgeProbabilities, Graph, Topology, TopologyChoice};
use crate::matrix::check_length;
use crate::names::UnknownName;
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

impl ProbabilityChoice {
    /// The names of those that need nobody else's law.
    pub const NAMES: &'static [&'static str] = &["uniform", "lipschitz"];
}

impl PartialEq for ProbabilityChoice {
    /// Laws are equal that have the same name.
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Uniform, Self::Uniform) | (Self::Lipschitz, Self::Lipschitz) => true,
            (Self::Weighted(one), Self::Weighted(another)) => one == another,
            (Self::Law(one), Self::Law(another)) => one.name() == another.name(),
            _ => false,
        }
    }
}

impl FromStr for ProbabilityChoice {
    type Err = UnknownName;

    fn from_str(text: &str) -> std::result::Result<Self, UnknownName> {
        match text {
            "uniform" => Ok(Self::Uniform),
            "lipschitz" => Ok(Self::Lipschitz),
            _ => Err(UnknownName {
                what: "probabilities",
                text: text.to_owned(),
                known: Self::NAMES.to_vec(),
                more: "",
            }),
        }
    }
}

impl fmt::Display for ProbabilityChoice {
    /// The name, where it has one; it reads back.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Uniform => f.write_str("uniform"),
            Self::Weighted(weights) => write!(f, "{} weights", weights.len()),
            Self::Lipschitz => f.write_str("lipschitz"),
            Self::Law(law) => f.write_str(law.name()),
        }
    }
}

/// Collects the parts of a problem; see [`Problem::builder`].
#[derive(Debug)]
pub struct ProblemBuilder<F, H> {
    smooth: F,
    separable: Nonsmooth<H>,
    coupling: Coupling,
    blocks: BlockChoice,
    topology: TopologyChoice,
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
            topology: Topology::Clique.into(),
            probabilities: ProbabilityChoice::Uniform,
            start: None,
        }
    }

    /// Sets h, a sum over coordinates.
    pub fn separable<H: SeparableTerm>(self, h: H) -> ProblemBuilder<F, H> {
        self.nonsmooth(Nonsmooth::Coordinates(h))
    }

    /// Sets h to a weighted Euclidean norm of every block; its weights are one for all, one a block, or one a coordinate,
    /// equal within a block.
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

    /// Sets which pairs of blocks may move together. A topology by its name takes what it leaves open from the number
    /// of blocks, see [`TopologyChoice`].
    #[must_use]
    pub fn graph(mut self, topology: impl Into<TopologyChoice>) -> Self {
        self.topology = topology.into();
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

    /// The same under a control; [`Error::StoppedEarly`] where it ended before everything was checked and a start found.
    pub fn build_within(self, control: &Control) -> Result<Problem<F, H>> {
        let n = self.smooth.dimension();
        if n == 0 {
            return Err(Error::EmptyProblem);
        }
        self.coupling.check_dimension(n)?;
        let coupling = self.coupling.in_its_own_shape();
        let units = RowUnits::of(&coupling, n, control)?;
        let even = units.applied_to(&coupling);
        let in_units = even.as_ref().unwrap_or(&coupling);
        let independence =
            independent_rows(in_units, n, control).map_err(|error| units.error_given(error))?;
        let reduced =
            if independence.dropped.is_empty() { even } else { Some(in_units.keep_rows(&independence.kept)) };
        let units = units.of_rows(&independence.kept);
        let independent = reduced.as_ref().unwrap_or(&coupling);
        let apart = independent.apart(n);
        let blocks = Blocks::new(&self.blocks, n, independent, control)?;
        let separable = by_block(self.separable, &blocks)?;
        let topology = self.topology.resolve(blocks.len());
        let graph = if blocks.len() == 1 && topology == Topology::Clique {
            Graph::single()
        } else {
            Graph::new_within(&topology, blocks.len(), control)?
        };
        let probabilities = edge_probabilities(self.probabilities, &self.smooth, &blocks, &graph, control);
        control.check()?;
        let pairs_fail = match reach::check(&graph.support(&probabilities)?, &blocks, independent, control) {
            Ok(()) => None,
            Err(why @ (Error::GraphDisconnected { .. } | Error::GraphCannotMove { .. })) => Some(why),
            Err(error) => return Err(error),
        };
        let start = match self.start {
            Some(x) => {
                start::check(&coupling, separable.as_dyn(), &x, n, control)?;
                x
            }
            None => start::project(independent, separable.as_dyn(), &vec![0.0; n], control)
                .map_err(|error| units.error_given(error))?,
        };
        Ok(Problem {
            smooth: self.smooth,
            separable,
            reduced,
            units,
            apart,
            coupling,
            kept_rows: independence.kept,
            dropped_rows: independence.dropped,
            blocks,
            graph,
            probabilities,
            pairs_fail,
            start,
        })
    }
}

/// h, checked against the number of coordinates; weights of groups by block.
fn by_block<H: SeparableTerm>(separable: Nonsmooth<H>, blocks: &Blocks) -> Result<Nonsmooth<H>> {
    let n = blocks.dimension();
    match &separable {
        Nonsmooth::Coordinates(h) => {
            h.dimension().map_or(Ok(()), |found| check_length("separable term", "entries", found, n))?;
            Ok(separable)
        }
        Nonsmooth::Groups(h) => match h.blocks() {
            Some(found) if found == n && n != blocks.len() => {
                group_weights(h.clone(), blocks).map(Nonsmooth::Groups)
            }
            Some(found) => {
                check_length("group-l2 weight", "entries", found, blocks.len())?;
                Ok(separable)
            }
            None => Ok(separable),
        },
    }
}

/// Group norms with one weight a block, from one a coordinate.
fn group_weights(h: GroupL2, blocks: &Blocks) -> Result<GroupL2> {
    let first_of = |block: usize| blocks.coordinate(blocks.span(block).start);
    for block in 0..blocks.len() {
        let first = first_of(block);
        if let Some(second) = blocks.coordinates(block).find(|&c| h.weight(c) != h.weight(first)) {
            return Err(Error::UnequalWeights {
                input: "group-l2 weight".into(),
                first,
                second,
                found: h.weight(first),
                other: h.weight(second),
            });
        }
    }
    Ok(h.gathered(blocks.len(), first_of))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn laws_by_name_are_read_and_written_back() {
        for name in ProbabilityChoice::NAMES {
            assert_eq!(name.parse::<ProbabilityChoice>().map(|law| law.to_string()), Ok((*name).to_owned()));
        }
        assert_eq!(
            "unifrom".parse::<ProbabilityChoice>().expect_err("unknown").known,
            ProbabilityChoice::NAMES
        );
    }
}
