//! From a problem file to a checked [`Problem`].
//!
//! Given a [`ProblemFile`] with its arrays loaded; returns the library's problem, or an error that names the table.
//! Two parts of a file can only be understood once the blocks are known: the weights of `group-l2` and topologies
//! whose shape follows from the number of blocks.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use equipoise::graph::Topology;
use equipoise::problem::Blocks;
use equipoise::separable::{GroupL2, Nonsmooth, SeparableTerm};
use equipoise::smooth::SmoothTerm;
use equipoise::{BlockChoice, Coupling, ProbabilityChoice, Problem, Settings};
use equipoise_formats::problem_file::{
    BlocksSpec, CouplingSpec, GraphSpec, NumberOrList, ProbabilitiesSpec, ProblemFile, SeparableSpec,
    SmoothSpec,
};
use equipoise_models::Synthetic;

use crate::{suggest, terms};

/// A problem whose terms were chosen at run time.
pub(crate) type AnyProblem = Problem<Box<dyn SmoothTerm>, Box<dyn SeparableTerm>>;

/// Which pairs of blocks the problem is to know.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Pairs {
    /// The file's graph; random topologies are drawn with this seed.
    OfFile { seed: u64 },
    /// Every pair: optimality does not depend on the graph.
    Every,
}

/// Builds the problem of a file; `path` stands in messages.
pub(crate) fn build(file: ProblemFile, path: &Path, pairs: Pairs) -> Result<AnyProblem> {
    build_within(file, path, pairs, Settings::default().memory_budget)
}

/// The same; batches of samples that stay in their file take part of `memory_budget` bytes.
pub(crate) fn build_within(
    file: ProblemFile,
    path: &Path,
    pairs: Pairs,
    memory_budget: usize,
) -> Result<AnyProblem> {
    build_unnamed(file, pairs, memory_budget).with_context(|| path.display().to_string())
}

fn build_unnamed(file: ProblemFile, pairs: Pairs, memory_budget: usize) -> Result<AnyProblem> {
    let ProblemFile { smooth, separable, coupling, blocks, graph, .. } = file;
    let parts = Parts::new(smooth, coupling, blocks, memory_budget)?;
    let h = nonsmooth(separable, &parts).context("[separable]")?;
    let graph = match pairs {
        Pairs::OfFile { seed } => Some(edges(graph, seed, &parts).context("[graph]")?),
        Pairs::Every => None,
    };
    let mut builder =
        Problem::builder(parts.smooth).nonsmooth(h).coupling(parts.coupling).blocks(parts.blocks);
    if let Some((topology, probabilities)) = graph {
        builder = builder.graph(topology).probabilities(probabilities);
    }
    Ok(builder.build()?)
}

/// What has to be known before the rest can be understood.
struct Parts {
    smooth: Box<dyn SmoothTerm>,
    coupling: Coupling,
    blocks: BlockChoice,
}

impl Parts {
    fn new(
        smooth: SmoothSpec,
        coupling: CouplingSpec,
        blocks: BlocksSpec,
        memory_budget: usize,
    ) -> Result<Self> {
        let SmoothSpec::Synthetic { nodes, block, rows, seed } = smooth else {
            let smooth = terms::smooth(smooth, memory_budget).context("[smooth]")?;
            return Ok(Self {
                coupling: terms::coupling(coupling).context("[coupling]")?,
                blocks: terms::blocks(blocks, smooth.dimension()).context("[blocks]")?,
                smooth,
            });
        };
        if coupling != CouplingSpec::None {
            bail!("[coupling]: `synthetic` in [smooth] brings its own coupling; remove this table");
        }
        let paper = Synthetic { nodes, block, rows, seed };
        let distance = paper.smooth().context("[smooth]")?;
        let coupling = paper.coupling().context("[smooth]")?;
        let blocks = match blocks {
            BlocksSpec::Auto => BlockChoice::Size(block),
            given => terms::blocks(given, nodes * block).context("[blocks]")?,
        };
        Ok(Self { smooth: Box::new(distance), coupling, blocks })
    }

    /// The blocks that the problem will have.
    fn layout(&self) -> Result<Blocks> {
        Ok(Blocks::for_coupling(&self.blocks, self.smooth.dimension(), &self.coupling)?)
    }
}

/// h, a sum over coordinates or over blocks.
fn nonsmooth(spec: SeparableSpec, parts: &Parts) -> Result<Nonsmooth<Box<dyn SeparableTerm>>> {
    let weight = match spec {
        SeparableSpec::GroupL2 { weight } => weight,
        other => return Ok(Nonsmooth::Coordinates(terms::separable(other)?)),
    };
    let weight = match weight {
        NumberOrList::List(list) => terms::values(NumberOrList::List(block_weights(list, &parts.layout()?)?)),
        number @ NumberOrList::Number(_) => terms::values(number),
    };
    Ok(Nonsmooth::Groups(GroupL2::new(weight)?))
}

/// Weights by block, from a list by block or by coordinate; the library judges any other length.
fn block_weights(list: Vec<f64>, blocks: &Blocks) -> Result<Vec<f64>> {
    if list.len() == blocks.len() || list.len() != blocks.dimension() {
        return Ok(list);
    }
    let weight_of = |block: usize| {
        let mut coordinates = blocks.coordinates(block);
        let first = coordinates.next().context("a block without coordinates")?;
        match coordinates.find(|&c| list[c] != list[first]) {
            None => Ok(list[first]),
            Some(other) => bail!(
                "group-l2 weight: coordinates {first} and {other} lie in one block, but their weights are {} and {}; \
                 give one weight a block",
                list[first],
                list[other]
            ),
        }
    };
    (0..blocks.len()).map(weight_of).collect()
}

/// Which pairs may move, and how often.
fn edges(spec: GraphSpec, seed: u64, parts: &Parts) -> Result<(Topology, ProbabilityChoice)> {
    let topology = match (spec.edges, spec.topology) {
        (Some(edges), _) => Topology::Edges(edges),
        // The clique is the default, and the only topology that a single block may have.
        (None, None) => Topology::Clique,
        (None, Some(name)) => parse_topology(&name, parts.layout()?.len(), seed)?,
    };
    let probabilities = match spec.probabilities {
        ProbabilitiesSpec::Uniform => ProbabilityChoice::Uniform,
        ProbabilitiesSpec::Lipschitz => ProbabilityChoice::Lipschitz,
        ProbabilitiesSpec::Equalised => ProbabilityChoice::Law(Arc::new(equipoise_theory::Equalised)),
        ProbabilitiesSpec::Weights(weights) => ProbabilityChoice::Weighted(weights),
        other => bail!("this version cannot use {other:?}"),
    };
    Ok((topology, probabilities))
}

/// A topology by name, with a suggestion where the name is unknown.
pub(crate) fn parse_topology(name: &str, nodes: usize, seed: u64) -> Result<Topology> {
    Topology::parse(name, nodes, seed).map_err(|unknown| {
        let stem = name.split(':').next().unwrap_or(name);
        let hint = if Topology::NAMES.contains(&stem) {
            String::new()
        } else {
            suggest::hint(stem, Topology::NAMES.iter().copied())
        };
        anyhow::anyhow!("{unknown}{hint}")
    })
}

/// The first coordinate outside the domain of h, with its bounds.
pub(crate) fn outside_domain(problem: &AnyProblem, x: &[f64]) -> Option<(usize, f64, f64)> {
    let Nonsmooth::Coordinates(h) = problem.separable() else { return None };
    let bounds = (0..x.len()).map(|c| (c, h.domain(c)));
    let outside = |&(c, (lower, upper)): &(usize, (f64, f64))| x[c] < lower || x[c] > upper;
    bounds.into_iter().find(outside).map(|(c, (lower, upper))| (c, lower, upper))
}
