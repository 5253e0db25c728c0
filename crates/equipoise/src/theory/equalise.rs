//! Probabilities that make nu as small as it can be: `r_e / L_e = b - 1` on every edge that is drawn.
//!
//! ```text
//! p_e  <-  p_e (r_e / L_e) / (b - 1)        until  nu <= (1 + 1e-3)(b - 1)
//! ```
//!
//! By Foster's identity the sum of p stays 1. This is the multiplicative update of D-optimal design: `ln det K` on the
//! vectors of sum 0 rises in every round.
//!
//! - Given: a graph, the curvature of its pairs. Returns: [`EdgeProbabilities`].
//! - Must not know: problems.
//!
//! Reference: Silvey, Titterington and Torsney 1978; Ghosh, Boyd and Saberi 2008 (resistances and optimal design).

use super::k_norm::KNorm;
use super::resistance::Resistances;
use crate::error::{Error, Result};
use crate::graph::{EdgeProbabilities, EdgeSampler, Graph};
use crate::stop_scope::StopScope;

/// Rounds, and the excess of nu over b - 1 that is good enough.
const ROUNDS: usize = 200;
const EXCESS: f64 = 1e-3;
/// Nodes from which a clique of unequal curvature keeps uniform draws: every round is a dense factorisation.
const LARGEST_CLIQUE: usize = 500;

/// Probabilities with nu within 1e-3 of b - 1, or as near as 200 rounds come.
///
/// Kept uniform: a clique with equal curvature, for which that is optimal, and cliques of more than 500 nodes. Where
/// resistances are only estimates (large graphs without structure), there is one round. In a
/// [`StopScope`](crate::StopScope) whose flag is raised, those so far: every round leaves a law that can be drawn from.
pub fn equalised(graph: &Graph, curvature: &dyn Fn(usize, usize) -> f64) -> Result<EdgeProbabilities> {
    equalised_within(graph, curvature, ROUNDS)
}

/// The same with a limit on the rounds.
pub fn equalised_within(
    graph: &Graph,
    curvature: &dyn Fn(usize, usize) -> f64,
    rounds: usize,
) -> Result<EdgeProbabilities> {
    if graph.nodes() < 2 || (graph.is_clique() && graph.nodes() > LARGEST_CLIQUE) {
        return Ok(EdgeProbabilities::Uniform);
    }
    let target = (1.0 + EXCESS) * (graph.nodes() - 1) as f64;
    let mut law = EdgeProbabilities::Uniform;
    for _ in 0..rounds {
        if StopScope::is_over() {
            break;
        }
        let found = match Resistances::of(&KNorm::with_curvature(graph, &law, curvature)?) {
            Err(Error::StoppedEarly { .. }) => break,
            found => found?,
        };
        // A tree draws every edge with equal ratio already, and so does a clique by rule.
        if found.nu() <= target || found.values().len() != graph.edge_count() {
            break;
        }
        let sampler = EdgeSampler::new(graph, &law)?;
        let next =
            found.ratios().enumerate().map(|(edge, ratio)| sampler.probability(edge) * ratio).collect();
        law = EdgeProbabilities::Weighted(next);
        if found.relative_error() > 0.0 {
            break;
        }
    }
    Ok(law)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

    use super::*;
    use crate::graph::Topology;
    use crate::theory::pair_constant;

    #[test]
    fn a_flag_ends_the_rounds_with_the_law_so_far() {
        let wheel = Graph::new(&Topology::Wheel, 40).expect("valid");
        let (flag, asked) = (Arc::new(AtomicBool::new(false)), Cell::new(0));
        let edges = wheel.edge_count();
        let rounds_until = |most: usize| {
            asked.set(0);
            flag.store(most == 0, Relaxed);
            // Every round asks for the curvature of every edge once.
            let curvature = |_: usize, _: usize| {
                asked.set(asked.get() + 1);
                if asked.get() >= most * edges {
                    flag.store(true, Relaxed);
                }
                2.0
            };
            let law = equalised(&wheel, &curvature).expect("connected");
            (law, asked.get() / edges)
        };
        let whole = rounds_until(ROUNDS + 1);
        assert!(whole.1 > 3, "{} rounds", whole.1);
        let _scope = StopScope::new(Arc::clone(&flag));
        assert_eq!(rounds_until(0), (EdgeProbabilities::Uniform, 0));
        let nu = |law: &EdgeProbabilities| pair_constant(&wheel, law, &|_, _| 2.0).expect("connected");
        let (law, rounds) = rounds_until(2);
        assert_eq!(rounds, 2);
        assert!(nu(&law) < nu(&EdgeProbabilities::Uniform) && nu(&law) > nu(&whole.0));
        assert_eq!(rounds_until(ROUNDS + 1), whole);
    }
}
