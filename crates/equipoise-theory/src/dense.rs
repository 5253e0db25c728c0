//! K as a dense matrix: the smallest valid nu by an eigenproblem, and a Hessian on the sums of 0.
//!
//! The smallest nu with `E[G_e K^+ G_e] <= nu K` is the largest
//! eigenvalue of `C^{-1} M C^{-T}`, `C C' = K + s 1 1'/b`, `M = sum_e (p_e r_e / L_e^2)(e_i - e_j)(e_i - e_j)'`.
//!
//! - Given: nodes, edges with weights; a Hessian. Returns: eigenvalues. Time O(b^3).
//! - Must not know: probabilities, cliques.

use faer::{Mat, Side};

use super::KNorm;

/// `sum_e w_e (e_i - e_j)(e_i - e_j)' + s 1 1'/b`, s the mean of the diagonal.
fn matrix(nodes: usize, edges: &[(u32, u32)], weights: &[f64], with_ones: bool) -> Mat<f64> {
    let mut k = Mat::<f64>::zeros(nodes, nodes);
    for (&(i, j), &w) in edges.iter().zip(weights) {
        let (i, j) = (i as usize, j as usize);
        k[(i, i)] += w;
        k[(j, j)] += w;
        k[(i, j)] -= w;
        k[(j, i)] -= w;
    }
    if with_ones {
        let b = nodes as f64;
        let shift = (0..nodes).map(|i| k[(i, i)]).sum::<f64>() / b / b;
        for i in 0..nodes {
            for j in 0..nodes {
                k[(i, j)] += shift;
            }
        }
    }
    k
}

/// The largest eigenvalue of the Laplacian with weights `above` relative to that with weights `below`, both connected.
pub(super) fn largest_relative(
    nodes: usize,
    edges: &[(u32, u32)],
    above: &[f64],
    below: &[f64],
) -> Option<f64> {
    let factor = matrix(nodes, edges, below, true).llt(Side::Lower).ok()?;
    let lower = factor.L();
    let mut middle = matrix(nodes, edges, above, false);
    for _ in 0..2 {
        lower.solve_lower_triangular_in_place(middle.as_mut());
        middle = middle.transpose().to_owned();
    }
    let values = middle.self_adjoint_eigenvalues(Side::Lower).ok()?;
    values.last().copied()
}

/// Eigenvalues of a Hessian on the vectors of sum 0.
pub(super) struct OnSumsOfZero {
    /// The smallest of H.
    pub(super) mu: f64,
    /// The smallest of `K^{1/2} H K^{1/2}`.
    pub(super) sigma: f64,
    /// The largest entry that took part, for the size of rounding.
    pub(super) largest: f64,
}

/// The smallest eigenvalues of H and of `K^{1/2} H K^{1/2}`, K connected: with the eigenvectors of K but the constant one
/// as a basis, those of `U'HU` and of the same scaled by the roots of the eigenvalues.
pub(super) fn on_sums_of_zero(norm: &KNorm, hessian: &Mat<f64>) -> Option<OnSumsOfZero> {
    let nodes = norm.nodes();
    let (mut unit, mut image) = (vec![0.0; nodes], vec![0.0; nodes]);
    let mut k = Mat::<f64>::zeros(nodes, nodes);
    for j in 0..nodes {
        unit[j] = 1.0;
        norm.apply(&unit, &mut image);
        unit[j] = 0.0;
        for i in 0..nodes {
            k[(i, j)] = image[i];
        }
    }
    let eigen = k.self_adjoint_eigen(Side::Lower).ok()?;
    // Eigenvalues come in ascending order: the first is the 0 of the constants.
    let basis = eigen.U().get(.., 1..);
    let middle = basis.transpose() * hessian * basis;
    let root = |s: usize| eigen.S()[s + 1].max(0.0).sqrt();
    let scaled = Mat::from_fn(nodes - 1, nodes - 1, |i, j| root(i) * middle[(i, j)] * root(j));
    let ends = |m: &Mat<f64>| m.self_adjoint_eigenvalues(Side::Lower).ok();
    let (plain, weighted) = (ends(&middle)?, ends(&scaled)?);
    let largest = plain.last()?.max(*weighted.last()?);
    Some(OnSumsOfZero { mu: plain[0], sigma: weighted[0], largest })
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use equipoise::graph::{EdgeProbabilities, Graph, Topology};

    /// Numbers that look random, in 0..1.
    pub(in super::super) fn numbers(seed: u64) -> impl FnMut() -> f64 {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(0x1234_5678_9abc_def1);
        move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as f64 / (1u64 << 53) as f64
        }
    }

    /// A connected graph with random edges.
    pub(in super::super) fn random_graph(seed: u64, nodes: usize) -> Graph {
        let mut number = numbers(seed);
        let mut edges: Vec<(usize, usize)> =
            (1..nodes).map(|i| ((number() * i as f64) as usize, i)).collect();
        for i in 0..nodes {
            for j in i + 1..nodes {
                if number() < 0.2 && !edges.contains(&(i, j)) {
                    edges.push((i, j));
                }
            }
        }
        Graph::new(&Topology::Edges(edges), nodes).expect("valid")
    }

    /// The K-norm of a random graph with random probabilities and curvature, and K as a matrix.
    pub(in super::super) fn random_norm(seed: u64, nodes: usize) -> (KNorm, Mat<f64>) {
        let graph = random_graph(seed, nodes);
        let mut number = numbers(seed + 77);
        let p: Vec<f64> = (0..graph.edge_count()).map(|_| 0.05 + number()).collect();
        let total: f64 = p.iter().sum();
        let lipschitz: Vec<f64> = (0..nodes).map(|_| 0.1 + number()).collect();
        let edges: Vec<(u32, u32)> = graph.edges().map(|(i, j)| (i as u32, j as u32)).collect();
        let l_of = |(i, j): (usize, usize)| lipschitz[i] + lipschitz[j];
        let weights: Vec<f64> = graph.edges().zip(&p).map(|(e, p)| p / total / l_of(e)).collect();
        let norm = KNorm::per_node(&graph, &EdgeProbabilities::Weighted(p), &lipschitz).expect("valid");
        (norm, matrix(nodes, &edges, &weights, false))
    }

    /// K^+ from the eigenvectors of K.
    pub(in super::super) fn pseudo_inverse(k: &Mat<f64>) -> Mat<f64> {
        let eigen = k.self_adjoint_eigen(Side::Lower).expect("converges");
        let (u, values) = (eigen.U(), eigen.S());
        let nodes = k.nrows();
        let largest = values[nodes - 1];
        Mat::from_fn(nodes, nodes, |i, j| {
            let part =
                |s: usize| if values[s] > 1e-12 * largest { u[(i, s)] * u[(j, s)] / values[s] } else { 0.0 };
            (0..nodes).map(part).sum::<f64>()
        })
    }
}
