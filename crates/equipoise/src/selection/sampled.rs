//! Edges of the graph drawn at random, each with its probability (Algorithm 1, line 3).

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

use crate::error::Result;
use crate::graph::{EdgeProbabilities, EdgeSampler, Graph};

/// Independent draws of edges.
#[derive(Debug)]
pub(crate) struct SampledEdges {
    /// `None` for a single block, which is its own partner.
    sampler: Option<EdgeSampler>,
    rng: Xoshiro256PlusPlus,
}

impl SampledEdges {
    pub(crate) fn new(graph: &Graph, probabilities: &EdgeProbabilities, seed: u64) -> Result<Self> {
        let sampler = if graph.nodes() > 1 { Some(EdgeSampler::new(graph, probabilities)?) } else { None };
        Ok(Self { sampler, rng: Xoshiro256PlusPlus::seed_from_u64(seed) })
    }

    /// The next pair; (0, 0) for a single block.
    #[inline]
    pub(crate) fn draw(&mut self) -> (usize, usize) {
        match &self.sampler {
            Some(sampler) => sampler.draw(&mut self.rng),
            None => (0, 0),
        }
    }
}
