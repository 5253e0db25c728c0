//! Effective resistances of a large graph, estimated by random projections.
//!
//! `r_ij = || W^{1/2} B K^+ (e_i - e_j) ||^2` (B the incidence matrix). With a random sign matrix S of k rows, divided
//! by `sqrt k`, `|| S W^{1/2} B K^+ (e_i - e_j) ||^2` is about `r_ij` times a chi-square variable of k degrees of freedom
//! over k. It falls below `(1 - eps) r_ij` with probability at most `exp(k/2 (eps + ln(1 - eps)))`; eps is chosen so that
//! over all edges together this happens with probability 1e-3 at most.
//!
//! - Given: nodes, edges, positive weights. Returns: estimates and eps. The seed is fixed: no random input.
//! - Must not know: probabilities, curvature.
//!
//! Reference: Spielman and Srivastava 2011, section 4; the tail is that of Dasgupta and Gupta 2003.

use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::graph::Elimination;
use crate::stopped;
use equipoise::{Control, Result};

/// Rows of the projection: Laplacian systems to solve.
const ROWS: usize = 192;
/// Probability that some edge comes out below its share.
const FAILURE: f64 = 1e-3;

/// Estimated resistances.
pub(super) struct Estimates {
    pub(super) values: Vec<f64>,
    /// No value is below `1 - error` times the truth, but for a small probability.
    pub(super) error: f64,
}

/// Estimates for a graph; an error if it is disconnected, or if the control ends them before they are done.
pub(super) fn estimates(
    nodes: usize,
    edges: &[(u32, u32)],
    weights: &[f64],
    control: &Control,
) -> Result<Estimates> {
    // Weights up to 1, so that no square overflows or vanishes.
    let scale = weights.iter().copied().fold(0.0, f64::max);
    let relative: Vec<f64> = weights.iter().map(|w| w / scale).collect();
    let system = Elimination::new(nodes, edges, &relative)?;
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(0x7265_7369_7374);
    let mut values = vec![0.0; edges.len()];
    let mut right = vec![0.0; nodes];
    for _ in 0..ROWS {
        control.check().map_err(|halt| stopped(&halt))?;
        right.fill(0.0);
        for (&(i, j), w) in edges.iter().zip(&relative) {
            let flow = if rng.next_u64() >> 63 == 0 { w.sqrt() } else { -w.sqrt() };
            right[i as usize] += flow;
            right[j as usize] -= flow;
        }
        let z = system.solve_by_node(&right);
        for (value, &(i, j)) in values.iter_mut().zip(edges) {
            *value += (z[i as usize] - z[j as usize]).powi(2);
        }
    }
    for value in &mut values {
        *value /= ROWS as f64 * scale;
    }
    Ok(Estimates { values, error: shortfall(edges.len()) })
}

/// The eps for this number of edges, by bisection.
fn shortfall(edges: usize) -> f64 {
    let needed = (edges.max(1) as f64 / FAILURE).ln();
    let (mut low, mut high) = (0.0, 1.0 - 1e-9);
    for _ in 0..60 {
        let middle: f64 = 0.5 * (low + high);
        let certain = -0.5 * ROWS as f64 * (middle + (-middle).ln_1p());
        if certain < needed {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::super::dense::tests::random_graph;
    use super::*;

    #[test]
    fn estimates_stay_within_their_error() {
        let graph = random_graph(3, 120);
        let edges: Vec<(u32, u32)> = graph.edges().map(|(i, j)| (i as u32, j as u32)).collect();
        let weights: Vec<f64> = (0..edges.len()).map(|e| 1e-3 * (1.0 + (e % 5) as f64)).collect();
        let control = Control::unlimited();
        let exact = equipoise::graph::resistances(120, &edges, &weights, &control);
        let exact = exact.expect("not halted").expect("connected");
        let found = estimates(120, &edges, &weights, &control).expect("connected");
        assert!(found.error > 0.2 && found.error < 0.6, "{}", found.error);
        for (r, exact) in found.values.iter().zip(&exact) {
            assert!(*r > (1.0 - found.error) * exact && *r < (1.0 + found.error) * exact, "{r} {exact}");
        }
    }
}
