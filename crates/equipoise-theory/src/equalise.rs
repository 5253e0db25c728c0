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
use equipoise::graph::{EdgeProbabilities, EdgeSampler, Graph};
use equipoise::{Control, DrawLaw, Error, Result};

/// Rounds, and the excess of nu over b - 1 that is good enough.
const ROUNDS: usize = 200;
const EXCESS: f64 = 1e-3;
/// Nodes from which a clique of unequal curvature keeps uniform draws: every round is a dense factorisation.
const LARGEST_CLIQUE: usize = 500;

/// Probabilities with nu within 1e-3 of b - 1, or as near as 200 rounds come.
///
/// Kept uniform: a clique with equal curvature, for which that is optimal, and cliques of more than 500 nodes. Where
/// resistances are only estimates (large graphs without structure), there is one round. Once the control ends it, those so
/// far: every round leaves a law that can be drawn from.
pub fn equalised(
    graph: &Graph,
    curvature: &dyn Fn(usize, usize) -> f64,
    control: &Control,
) -> Result<EdgeProbabilities> {
    equalised_within(graph, curvature, ROUNDS, control)
}

/// Draws for which the effective resistance of every edge, over the sum of the two blocks' Lipschitz constants, is the
/// same: the least constant of accelerated pairs. See [`equalised`], also for where the draws stay uniform; they do so on
/// a disconnected graph.
///
/// ```
/// use std::sync::Arc;
/// use equipoise::graph::Topology;
/// use equipoise::{Coupling, ProbabilityChoice, Problem, smooth::Distance};
/// let problem = Problem::builder(Distance::new(vec![1.0; 24], 0.5)?)
///     .coupling(Coupling::sum(1.0)?)
///     .graph(Topology::Wheel)
///     .probabilities(ProbabilityChoice::Law(Arc::new(equipoise_theory::Equalised)))
///     .build()?;
/// # assert_ne!(*problem.probabilities(), equipoise::graph::EdgeProbabilities::Uniform);
/// # Ok::<(), equipoise::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Equalised;

impl DrawLaw for Equalised {
    fn name(&self) -> &'static str {
        "equalised"
    }
    fn probabilities(&self, graph: &Graph, constants: &[f64], control: &Control) -> EdgeProbabilities {
        // What keeps them from being equalised, the check of the graph's reach puts in better words.
        equalised(graph, &|i, j| constants[i] + constants[j], control).unwrap_or_default()
    }
}

/// The same with a limit on the rounds.
pub fn equalised_within(
    graph: &Graph,
    curvature: &dyn Fn(usize, usize) -> f64,
    rounds: usize,
    control: &Control,
) -> Result<EdgeProbabilities> {
    if graph.nodes() < 2 || (graph.is_clique() && graph.nodes() > LARGEST_CLIQUE) {
        return Ok(EdgeProbabilities::Uniform);
    }
    let target = (1.0 + EXCESS) * (graph.nodes() - 1) as f64;
    let mut law = EdgeProbabilities::Uniform;
    for _ in 0..rounds {
        if control.halted().is_some() {
            break;
        }
        let found = match Resistances::of(&KNorm::with_curvature(graph, &law, curvature)?, control) {
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
    use crate::pair_constant;
    use equipoise::graph::Topology;
    use equipoise::smooth::Distance;
    use equipoise::{Coupling, ProbabilityChoice, Problem};

    #[test]
    fn a_flag_ends_the_rounds_with_the_law_so_far() {
        let wheel = Graph::new(&Topology::Wheel, 40).expect("valid");
        let (flag, asked) = (Arc::new(AtomicBool::new(false)), Cell::new(0));
        let control = Control::on(Arc::clone(&flag));
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
            let law = equalised(&wheel, &curvature, &control).expect("connected");
            (law, asked.get() / edges)
        };
        let whole = rounds_until(ROUNDS + 1);
        assert!(whole.1 > 3, "{} rounds", whole.1);
        assert_eq!(rounds_until(0), (EdgeProbabilities::Uniform, 0));
        let nu = |law: &EdgeProbabilities| {
            pair_constant(&wheel, law, &|_, _| 2.0, &Control::unlimited()).expect("connected")
        };
        let (law, rounds) = rounds_until(2);
        assert_eq!(rounds, 2);
        assert!(nu(&law) < nu(&EdgeProbabilities::Uniform) && nu(&law) > nu(&whole.0));
        assert_eq!(rounds_until(ROUNDS + 1), whole);
    }

    fn law(topology: Topology, weight: Vec<f64>) -> (Graph, EdgeProbabilities) {
        let f = Distance::new(vec![0.0; weight.len()], weight).expect("valid");
        let coupling = Coupling::sum(1.0).expect("valid");
        let problem = Problem::builder(f)
            .coupling(coupling)
            .graph(topology)
            .probabilities(ProbabilityChoice::Law(Arc::new(Equalised)))
            .build()
            .expect("valid");
        (problem.graph().clone(), problem.probabilities().clone())
    }

    #[test]
    fn equalised_probabilities_have_the_least_constant() {
        let weight: Vec<f64> = (0..24).map(|i| 0.5 + 0.25 * f64::from(i % 4)).collect();
        let (graph, equal) = law(Topology::TreeRing, weight.clone());
        let nu = pair_constant(&graph, &equal, &|i, j| 2.0 * (weight[i] + weight[j]), &Control::unlimited())
            .expect("connected");
        assert!(nu <= 23.0 * 1.001, "{nu}");
        assert_eq!(law(Topology::Clique, vec![1.0; 9]).1, EdgeProbabilities::Uniform);
        assert_eq!(
            law(Topology::Clique, (0..2000).map(|i| 1.0 + f64::from(i)).collect()).1,
            EdgeProbabilities::Uniform
        );
    }
}
