//! nu of a clique with unequal curvature that is too large to factorise, from parallel paths.
//!
//! The edge and the paths of two edges between i and j are disjoint, so that (Rayleigh: more paths, less resistance)
//!
//! ```text
//! 1 / r_ij  >=  w_ij + sum_k w_ik w_kj / (w_ik + w_kj)        w_e = p_e / L_e
//! ```
//!
//! - Given: a clique of more than 1500 nodes. Returns: the largest of these bounds on `r_ij / L_ij` over a sample of
//!   pairs: the least curved of 20000 (they are the worst where curvature is unequal) and some at random. Over more than
//!   20000 nodes k, the sum is taken over a sample too.
//! - Must not know: how the curvature comes about. Not a bound for pairs outside the sample.

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::k_norm::check_curvature;
use equipoise::Result;
use equipoise::graph::{EdgeProbabilities, EdgeSampler, Graph, Topology};

/// From here on a clique is not factorised.
const MOST_FACTORISED: usize = 1500;
/// Pairs whose curvature is looked at.
const PROBES: usize = 20_000;
/// Paths looked at over all, and for one pair; an evaluation of the curvature may be a product of two columns.
const WORK: usize = 2_000_000;
const MOST_PATHS: usize = 20_000;

/// Whether a graph is such a clique.
pub(super) fn applies(graph: &Graph) -> bool {
    graph.is_clique() && graph.nodes() > MOST_FACTORISED
}

/// The largest bound over the sample.
pub(super) fn pair_constant(
    graph: &Graph,
    probabilities: &EdgeProbabilities,
    curvature: &dyn Fn(usize, usize) -> f64,
) -> Result<f64> {
    graph.check_support_connected(probabilities)?;
    let nodes = graph.nodes();
    // Pairs are sampled uniformly whatever their probability: rare ones have the largest resistance.
    let clique = Graph::new(&Topology::Clique, nodes)?;
    let uniform = EdgeSampler::new(&clique, &EdgeProbabilities::Uniform)?;
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(0x636c_6971_7565);
    let ordered = |(i, j): (usize, usize)| if i < j { (i, j) } else { (j, i) };
    let mut probes = Vec::with_capacity(PROBES);
    for _ in 0..PROBES {
        let (i, j) = ordered(uniform.draw(&mut rng));
        let found = curvature(i, j);
        check_curvature(0, found)?;
        probes.push((found, i, j));
    }
    let alike = probes.iter().all(|probe| probe.0 == probes[0].0);
    if alike && *probabilities == EdgeProbabilities::Uniform {
        return Ok((nodes - 1) as f64);
    }
    let law = PairLaw::new(graph, probabilities)?;
    let paths = nodes.min(MOST_PATHS);
    let sample = (WORK / paths / 2).clamp(8, PROBES / 2);
    // The first probes are as good as any others for the random half.
    let mut chosen = probes[..sample].to_vec();
    probes.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    chosen.extend_from_slice(&probes[..sample]);
    let stride = nodes.div_ceil(paths);
    let weight = |i: usize, j: usize| {
        let (i, j) = ordered((i, j));
        law.of(i, j) / curvature(i, j)
    };
    let bound = |&(own, i, j): &(f64, usize, usize)| {
        let direct = weight(i, j);
        let through = |k: usize| {
            let (first, second) = (weight(i, k), weight(k, j));
            if first > 0.0 && second > 0.0 { first * (second / (first + second)) } else { 0.0 }
        };
        let around: f64 = (0..nodes).step_by(stride).filter(|&k| k != i && k != j).map(through).sum();
        if direct == 0.0 { 0.0 } else { 1.0 / (own * (direct + stride as f64 * around)) }
    };
    Ok(chosen.iter().map(bound).fold((nodes - 1) as f64, f64::max))
}

/// The probability of a pair of a clique, in O(1).
enum PairLaw {
    Uniform(f64),
    /// `(share_i + share_j) / (b - 1)`.
    Nodes(Vec<f64>),
    /// By the number of the edge.
    Edges(EdgeSampler),
}

impl PairLaw {
    fn new(graph: &Graph, probabilities: &EdgeProbabilities) -> Result<Self> {
        Ok(match probabilities {
            EdgeProbabilities::Uniform => Self::Uniform(1.0 / graph.edge_count() as f64),
            EdgeProbabilities::NodeSum(weights) => {
                let total: f64 = weights.iter().sum();
                let of_node = (graph.nodes() - 1) as f64 * total;
                Self::Nodes(weights.iter().map(|w| w / of_node).collect())
            }
            _ => Self::Edges(EdgeSampler::new(graph, probabilities)?),
        })
    }

    /// For i < j.
    fn of(&self, i: usize, j: usize) -> f64 {
        match self {
            Self::Uniform(p) => *p,
            Self::Nodes(shares) => shares[i] + shares[j],
            Self::Edges(sampler) => {
                let nodes = sampler.graph().nodes();
                sampler.probability(i * (2 * nodes - i - 1) / 2 + j - i - 1)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{KNorm, Resistances};
    use super::*;
    use equipoise::Control;

    #[test]
    fn the_bound_is_above_and_near_the_truth() {
        let clique = Graph::new(&Topology::Clique, 300).expect("valid");
        let lipschitz: Vec<f64> = (0..300).map(|i| 1.0 + f64::from(i % 10)).collect();
        let l = |i: usize, j: usize| lipschitz[i] + lipschitz[j];
        for law in [EdgeProbabilities::Uniform, EdgeProbabilities::NodeSum(lipschitz.clone())] {
            let exact = Resistances::of(
                &KNorm::per_node(&clique, &law, &lipschitz).expect("valid"),
                &Control::unlimited(),
            )
            .expect("connected")
            .nu();
            let bound = pair_constant(&clique, &law, &l).expect("connected");
            assert!(bound >= exact * (1.0 - 1e-12) && bound < 1.1 * exact, "{bound} {exact}");
        }
        let listed = EdgeProbabilities::Weighted(clique.edges().map(|(i, j)| l(i, j)).collect());
        let by_node = pair_constant(&clique, &EdgeProbabilities::NodeSum(lipschitz.clone()), &l);
        let by_edge = pair_constant(&clique, &listed, &l);
        assert!((by_node.expect("valid") / by_edge.expect("valid") - 1.0).abs() < 1e-9);
    }

    #[test]
    fn equal_curvature_is_exact_at_any_size() {
        let clique = Graph::new(&Topology::Clique, 1_000_000).expect("valid");
        let nu = pair_constant(&clique, &EdgeProbabilities::Uniform, &|_, _| 3.0).expect("valid");
        assert!((nu - 999_999.0).abs() < 1e-6);
    }
}
