//! From a problem in words to a checked [`Problem`].
//!
//! Given a [`ProblemFile`] with its arrays loaded, whoever wrote it (a file, `generate`, keywords of another language);
//! returns the library's problem, or an error that names the table.

use std::path::Path;
use std::sync::Arc;

use equipoise::collective::Accord;
use equipoise::separable::{Nonsmooth, SeparableTerm};
use equipoise::smooth::SmoothTerm;
use equipoise::{BlockChoice, Control, Coupling, Problem, Settings};

use super::keys::Place;
use super::smooth::Means;
use super::{GraphSpec, ProblemFile, Term, coupling, separable, smooth};
use crate::{Error, Result};

/// A problem whose terms were chosen at run time.
pub type AnyProblem<'a> = Problem<Box<dyn SmoothTerm + 'a>, Box<dyn SeparableTerm>>;

/// Which pairs of blocks a problem is to know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pairs {
    /// Those of its graph; random topologies are drawn with this seed.
    OfGraph {
        /// The seed.
        seed: u64,
    },
    /// Every pair: optimality does not depend on the graph.
    Every,
}

/// How a problem in words becomes one to be solved.
#[derive(Debug, Clone)]
pub struct Building<'a> {
    /// What stands for the file in messages.
    pub name: &'a Path,
    /// Which pairs of blocks the problem is to know.
    pub pairs: Pairs,
    /// Bytes that batches of samples which stay in their file take part of.
    pub memory_budget: usize,
    /// Ranks among which the rows of losses are dealt, each of which builds the problem with its own; none: all are here.
    pub ranks: Option<&'a Arc<Accord>>,
    /// Ends it early.
    pub control: &'a Control,
}

impl<'a> Building<'a> {
    /// With the default memory budget.
    pub fn new(name: &'a Path, pairs: Pairs, control: &'a Control) -> Self {
        Self { name, pairs, memory_budget: Settings::default().memory_budget, ranks: None, control }
    }
}

impl<'a> Term<'a> {
    /// f of these words alone, without a file around them; `synthetic`, which brings a coupling, is refused.
    pub fn into_smooth(self, control: &Control) -> Result<Box<dyn SmoothTerm + 'a>> {
        let memory_budget = Settings::default().memory_budget;
        smooth::build(
            self,
            &Place::new(Path::new("words"), "smooth"),
            Means { memory_budget, ranks: None, control },
        )
    }

    /// h of these words alone.
    pub fn into_separable(self) -> Result<Nonsmooth<Box<dyn SeparableTerm>>> {
        separable::build(self.into_owned(), &Place::new(Path::new("words"), "separable"))
    }
}

impl<'a> ProblemFile<'a> {
    /// The problem, checked.
    pub fn build(self, how: &Building<'_>) -> Result<AnyProblem<'a>> {
        self.build_unnamed(how).map_err(|error| error.within(&how.name.display().to_string()))
    }

    /// The same around an f of the caller's own; what the words say of `[smooth]` is not looked at.
    pub fn build_around(self, f: Box<dyn SmoothTerm + 'a>, how: &Building<'_>) -> Result<AnyProblem<'a>> {
        let parts = Parts::around(f, self.coupling, self.blocks, how);
        let named = |error: Error| error.within(&how.name.display().to_string());
        parts.and_then(|parts| parts.build(self.separable, self.graph, how)).map_err(named)
    }

    fn build_unnamed(self, how: &Building<'_>) -> Result<AnyProblem<'a>> {
        Parts::new(self.smooth, self.coupling, self.blocks, how)?.build(self.separable, self.graph, how)
    }
}

/// f, A x = b and blocks, which a kind of f may bring together.
struct Parts<'a> {
    smooth: Box<dyn SmoothTerm + 'a>,
    coupling: Coupling,
    blocks: BlockChoice,
}

impl<'a> Parts<'a> {
    fn build(self, separable: Term<'static>, graph: GraphSpec, how: &Building<'_>) -> Result<AnyProblem<'a>> {
        let place = |table: &str| Place::new(how.name, table);
        let h =
            separable::build(separable, &place("separable")).map_err(|error| error.within("[separable]"))?;
        let mut builder =
            Problem::builder(self.smooth).nonsmooth(h).coupling(self.coupling).blocks(self.blocks);
        if let Pairs::OfGraph { seed } = how.pairs {
            builder = builder.graph(graph.topology.seeded(seed)).probabilities(graph.probabilities);
        }
        builder.build_within(how.control).map_err(|error| match error {
            unequal @ equipoise::Error::UnequalWeights { .. } => Error::from(unequal).within("[separable]"),
            other => other.into(),
        })
    }

    fn new(f: Term<'a>, rows: Term<'static>, blocks: BlockChoice, how: &Building<'_>) -> Result<Self> {
        let place = |table: &str| Place::new(how.name, table);
        let of_smooth = |error: Error| error.within("[smooth]");
        if let Some(paper) = smooth::synthetic(&f, &place("smooth"))? {
            if rows.kind() != coupling::DEFAULT {
                let reason = "`synthetic` in [smooth] brings its own coupling; remove this table";
                return Err(Error::refused(reason).within("[coupling]"));
            }
            let (nodes, block) = (paper.nodes, paper.block);
            return Ok(Self {
                smooth: Box::new(paper.smooth().map_err(Error::from).map_err(of_smooth)?),
                coupling: paper.coupling_within(how.control).map_err(Error::from).map_err(of_smooth)?,
                blocks: match blocks {
                    BlockChoice::Automatic => BlockChoice::Size(block),
                    given => with_ends(given, nodes * block),
                },
            });
        }
        let means = Means { memory_budget: how.memory_budget, ranks: how.ranks, control: how.control };
        Self::around(smooth::build(f, &place("smooth"), means).map_err(of_smooth)?, rows, blocks, how)
    }

    fn around(
        smooth: Box<dyn SmoothTerm + 'a>,
        rows: Term<'static>,
        blocks: BlockChoice,
        how: &Building<'_>,
    ) -> Result<Self> {
        let coupling = coupling::build(rows, &Place::new(how.name, "coupling"));
        let coupling = coupling.map_err(|error| error.within("[coupling]"))?;
        let blocks = with_ends(blocks, smooth.dimension());
        Ok(Self { smooth, coupling, blocks })
    }
}

/// Boundaries with the ends 0 and n, which a file may leave out; the library judges the rest.
fn with_ends(blocks: BlockChoice, dimension: usize) -> BlockChoice {
    let BlockChoice::Boundaries(mut list) = blocks else { return blocks };
    if list.first() != Some(&0) {
        list.insert(0, 0);
    }
    if list.last().is_some_and(|&last| last < dimension) {
        list.push(dimension);
    }
    BlockChoice::Boundaries(list)
}
