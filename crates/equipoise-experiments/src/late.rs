//! Late reads, one update at a time: what several threads do to the pairs of a graph, without threads.
//!
//! ```text
//! f(x) = 1/2 ||x - t||^2,  sum x = 0;   update k is computed from x as it was tau updates before it is made
//! d = alpha (g_j - g_i) / (D_i + D_j),  x_i += d,  x_j -= d
//! ```
//!
//! Every update keeps the sum, however late it is. Whether f falls is another matter: a block that many pairs share is
//! moved by updates that have not seen each other.
//!
//! - Given: a graph, a delay, steps. Returns: how f goes. Deterministic in the seed, the same on every machine.
//! - Must not know: threads, clocks.

use std::collections::VecDeque;

use anyhow::Result;
use equipoise::graph::{EdgeProbabilities, EdgeSampler, Graph};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

/// A gap so many times that of the start has no way back.
const LOST: f64 = 1e6;

/// The steps of a run.
#[derive(Debug, Clone)]
pub(crate) struct Steps {
    pub(crate) alpha: f64,
    /// D, for every node.
    pub(crate) metric: Vec<f64>,
}

/// How a run went.
#[derive(Debug, Clone)]
pub(crate) struct Late {
    /// Updates and the gap as a share of that of the start.
    pub(crate) curve: Vec<(f64, f64)>,
    /// Updates until the gap was down to the share asked for.
    pub(crate) reached: Option<f64>,
    /// The largest share seen.
    pub(crate) highest: f64,
    /// `|sum x|` at the end, with nothing under way.
    pub(crate) infeasibility: f64,
}

impl Late {
    /// Whether f grew beyond all bounds.
    pub(crate) fn diverged(&self) -> bool {
        self.highest >= LOST
    }
}

/// Targets as in the paper's problem: i mod 10, less their mean.
pub(crate) fn targets(b: usize) -> Vec<f64> {
    let targets: Vec<f64> = (1..=b).map(|i| (i % 10) as f64).collect();
    let mean = targets.iter().sum::<f64>() / b as f64;
    targets.iter().map(|target| target - mean).collect()
}

/// Runs until the gap is down to a share of that of x = 0, or for so many updates.
pub(crate) fn run(
    graph: &Graph,
    tau: usize,
    steps: &Steps,
    share: f64,
    most: u64,
    seed: u64,
) -> Result<Late> {
    let b = graph.nodes();
    let t = targets(b);
    let sampler = EdgeSampler::new(graph, &EdgeProbabilities::Uniform)?;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut x = vec![0.0; b];
    // The optimum is t, whose sum is 0.
    let start: f64 = t.iter().map(|t| 0.5 * t * t).sum();
    let mut gap = start;
    let mut under_way: VecDeque<(usize, usize, f64)> = VecDeque::with_capacity(tau + 1);
    let every = (most / 200).max(1);
    let mut late = Late { curve: vec![(0.0, 1.0)], reached: None, highest: 1.0, infeasibility: 0.0 };
    let make = |x: &mut [f64], (i, j, d): (usize, usize, f64), gap: &mut f64| {
        let half = |x: &[f64]| 0.5 * ((x[i] - t[i]).powi(2) + (x[j] - t[j]).powi(2));
        let before = half(x);
        x[i] += d;
        x[j] -= d;
        *gap += half(x) - before;
    };
    for k in 1..=most {
        let (i, j) = sampler.draw(&mut random);
        let (gi, gj) = (x[i] - t[i], x[j] - t[j]);
        under_way.push_back((i, j, steps.alpha * (gj - gi) / (steps.metric[i] + steps.metric[j])));
        if under_way.len() > tau
            && let Some(oldest) = under_way.pop_front()
        {
            make(&mut x, oldest, &mut gap);
        }
        let left = gap.max(0.0) / start;
        late.highest = late.highest.max(left);
        if k % every == 0 {
            late.curve.push((k as f64, left));
        }
        if left <= share && late.reached.is_none() {
            late.reached = Some(k as f64);
            break;
        }
        if !left.is_finite() || left >= LOST {
            late.highest = LOST;
            late.curve.push((k as f64, LOST));
            break;
        }
    }
    for update in under_way {
        make(&mut x, update, &mut gap);
    }
    let size = x.iter().map(|x| x.abs()).fold(1.0, f64::max);
    late.infeasibility = x.iter().sum::<f64>().abs() / size;
    Ok(late)
}

/// The chance of every node to be in a pair.
pub(crate) fn chances(graph: &Graph) -> Vec<f64> {
    let mut chances = vec![0.0; graph.nodes()];
    let share = 1.0 / graph.edge_count() as f64;
    for (i, j) in graph.edges() {
        chances[i] += share;
        chances[j] += share;
    }
    chances
}

#[cfg(test)]
mod tests {
    use equipoise::graph::Topology;

    use super::*;

    fn steps(b: usize, alpha: f64) -> Steps {
        Steps { alpha, metric: vec![1.0; b] }
    }

    #[test]
    fn without_delay_full_steps_solve_it() {
        let graph = Graph::new(&Topology::Clique, 20).expect("valid");
        let late = run(&graph, 0, &steps(20, 1.0), 1e-6, 10_000, 1).expect("edges");
        assert!(late.reached.is_some() && late.highest <= 1.0 + 1e-12);
    }

    #[test]
    fn a_hub_diverges_under_full_steps_and_stays_feasible() {
        let graph = Graph::new(&Topology::StarRing, 200).expect("valid");
        let naive = run(&graph, 15, &steps(200, 1.0), 1e-3, 100_000, 1).expect("edges");
        assert!(naive.diverged() && naive.reached.is_none());
        assert!(naive.infeasibility < 1e-9, "{}", naive.infeasibility);
        let metric = chances(&graph).iter().map(|p| 1.0 + 15.0 * p).collect();
        let damped = run(&graph, 15, &Steps { alpha: 1.0, metric }, 1e-3, 100_000, 1).expect("edges");
        assert!(damped.reached.is_some() && !damped.diverged());
    }
}
