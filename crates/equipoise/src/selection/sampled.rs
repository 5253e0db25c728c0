//! Edges of the graph drawn at random, each with its probability (Algorithm 1, line 3).
//!
//! A pair comes as (master, slave). Where one of the two blocks moves far more often than the other it is the slave:
//! the slave is read late and moved early, so that of several threads fewer miss each other there.

use std::sync::Arc;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

use crate::archive::Archive;
use crate::error::Result;
use crate::graph::{EdgeProbabilities, EdgeSampler, Graph};

/// A block is a hub beside one that is drawn this many times less often.
const HUB: f64 = 4.0;

/// What all threads share.
#[derive(Debug)]
struct Law {
    /// `None` for a single block, which is its own partner.
    sampler: Option<EdgeSampler>,
    /// How often each block is drawn; empty where none is a hub.
    shares: Vec<f64>,
}

/// Independent draws of edges.
#[derive(Debug)]
pub(crate) struct SampledEdges {
    law: Arc<Law>,
    rng: Xoshiro256PlusPlus,
}

impl SampledEdges {
    pub(crate) fn new(graph: &Graph, probabilities: &EdgeProbabilities, seed: u64) -> Result<Self> {
        let sampler = if graph.nodes() > 1 { Some(EdgeSampler::new(graph, probabilities)?) } else { None };
        let shares = sampler.as_ref().map_or_else(Vec::new, EdgeSampler::node_probabilities);
        let (least, most) =
            shares.iter().fold((f64::INFINITY, 0.0), |(lo, hi): (f64, f64), p| (lo.min(*p), hi.max(*p)));
        let shares = if most > HUB * least { shares } else { Vec::new() };
        Ok(Self { law: Arc::new(Law { sampler, shares }), rng: Xoshiro256PlusPlus::seed_from_u64(seed) })
    }

    /// Draws of the same law for the k-th of several threads, independent of those of every other: the stream of the
    /// first goes on where this one stands.
    pub(crate) fn fork(&self, k: usize) -> Self {
        let mut rng = self.rng.clone();
        (0..k).for_each(|_| rng.jump());
        Self { law: Arc::clone(&self.law), rng }
    }

    /// The next pair; (0, 0) for a single block.
    #[inline]
    pub(crate) fn draw(&mut self) -> (usize, usize) {
        match &self.law.sampler {
            Some(sampler) => self.law.in_roles(sampler.draw(&mut self.rng)),
            None => (0, 0),
        }
    }

    /// Shows an archive which draws come next.
    pub(crate) fn carry(&mut self, archive: &mut Archive<'_>) -> Result<()> {
        archive.generator(&mut self.rng)
    }

    /// For every block the chance that a draw makes it master, and that it makes it slave.
    pub(crate) fn chances(&self) -> Vec<[f64; 2]> {
        let Some(sampler) = &self.law.sampler else { return vec![[1.0, 0.0]] };
        if self.law.shares.is_empty() {
            return sampler.node_probabilities().iter().map(|p| [0.5 * p; 2]).collect();
        }
        let mut chances = vec![[0.0; 2]; sampler.graph().nodes()];
        for (edge, pair) in sampler.graph().edges().enumerate() {
            let (master, slave) = self.law.in_roles(pair);
            let p = sampler.probability(edge);
            chances[master][0] += p;
            chances[slave][1] += p;
        }
        chances
    }
}

impl Law {
    #[inline]
    fn in_roles(&self, (i, j): (usize, usize)) -> (usize, usize) {
        if !self.shares.is_empty() && self.shares[i] > HUB * self.shares[j] { (j, i) } else { (i, j) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{Graph, Topology};

    #[test]
    fn the_hub_of_a_star_is_the_slave_and_chances_add_up() {
        let graph = Graph::new(&Topology::parse("star", 12, 0).expect("known"), 12).expect("valid");
        let mut draws = SampledEdges::new(&graph, &EdgeProbabilities::Uniform, 3).expect("connected");
        for _ in 0..200 {
            let (master, slave) = draws.draw();
            assert!(master != 0 && master != slave);
        }
        let chances = draws.chances();
        assert!((chances[0][1] - 1.0).abs() < 1e-12 && chances[0][0] == 0.0);
        let total: f64 = chances.iter().flatten().sum();
        assert!((total - 2.0).abs() < 1e-12);
    }

    #[test]
    fn the_first_fork_goes_on_and_the_others_differ() {
        let graph = Graph::new(&Topology::parse("clique", 50, 0).expect("known"), 50).expect("valid");
        let mut draws = SampledEdges::new(&graph, &EdgeProbabilities::Uniform, 1).expect("connected");
        draws.draw();
        let (mut first, mut second) = (draws.fork(0), draws.fork(1));
        let (a, b, c): (Vec<_>, Vec<_>, Vec<_>) = (
            (0..20).map(|_| draws.draw()).collect(),
            (0..20).map(|_| first.draw()).collect(),
            (0..20).map(|_| second.draw()).collect(),
        );
        assert!(a == b && a != c);
    }
}
