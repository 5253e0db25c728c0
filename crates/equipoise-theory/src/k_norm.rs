//! The K-norm: `K = sum_e (p_e / L_e)(e_i - e_j)(e_i - e_j)'`, the expected pair step as a matrix.
//!
//! A pair step on e with curvature `L_e` moves x by `-G_e grad f`, `G_e = (e_i - e_j)(e_i - e_j)' / L_e`, and K is the
//! mean of `G_e`. Bounds are stated in `||x||_K^2 = x'Kx` (gradients) and `x'K^+x` (distances, x of mean 0).
//!
//! - Given: a graph, its probabilities, and the curvature of the pairs: one Lipschitz constant L (`L_e = 2L`), one a
//!   node (`L_e = L_i + L_j`), or any function of the pair.
//! - Returns: K x, both norms, the smallest non-zero eigenvalue. A clique with uniform draws and one curvature is a
//!   rule and may have any size; other cliques are listed (up to 5000 nodes).
//! - Must not know: where the curvature comes from.
//!
//! Reference: the paper (UAI 2015), section 4 (`R(x0)`); for unequal curvature `G_e` is that of the exact pair step.

use crate::graph::Laplacian;
use equipoise::graph::{EdgeProbabilities, EdgeSampler, Graph};
use equipoise::matrix::dot;
use equipoise::{Error, Result};

/// K of a graph, its probabilities and the curvature of its pairs.
#[derive(Debug, Clone)]
pub struct KNorm {
    laplacian: Laplacian,
    pub(super) pairs: Pairs,
}

/// What K is made of.
#[derive(Debug, Clone)]
pub(super) enum Pairs {
    /// Every pair, with weight `p / L_e` each.
    Clique { probability: f64, curvature: f64 },
    /// The edges that can be drawn.
    Listed(Vec<Pair>),
}

/// An edge that can be drawn.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pair {
    pub(super) i: u32,
    pub(super) j: u32,
    pub(super) probability: f64,
    /// `L_e`.
    pub(super) curvature: f64,
}

impl Pair {
    /// `w_e = p_e / L_e`.
    pub(super) fn weight(&self) -> f64 {
        self.probability / self.curvature
    }
}

/// The smallest non-zero eigenvalue of K.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Smallest {
    /// The eigenvalue, approached from above.
    pub value: f64,
    /// Its estimated relative error; 0 for a closed form.
    pub relative_error: f64,
}

impl KNorm {
    /// One Lipschitz constant L for all blocks: `L_e = 2L`.
    pub fn uniform(graph: &Graph, probabilities: &EdgeProbabilities, lipschitz: f64) -> Result<Self> {
        check_curvature(0, lipschitz)?;
        if let (true, EdgeProbabilities::Uniform) = (graph.is_clique(), probabilities) {
            return Self::clique(graph, 2.0 * lipschitz);
        }
        Self::listed(graph, probabilities, &|_, _| 2.0 * lipschitz)
    }

    /// A Lipschitz constant for every node: `L_e = L_i + L_j`, exact where f is a sum over blocks.
    pub fn per_node(graph: &Graph, probabilities: &EdgeProbabilities, lipschitz: &[f64]) -> Result<Self> {
        if lipschitz.len() != graph.nodes() {
            let (input, unit) = ("Lipschitz constants".to_owned(), "entries");
            let (found, expected) = (lipschitz.len(), graph.nodes());
            return Err(Error::ShapeMismatch { input, unit, found, expected });
        }
        match lipschitz {
            [first, rest @ ..] if rest.iter().all(|l| l == first) => {
                Self::uniform(graph, probabilities, *first)
            }
            _ => Self::listed(graph, probabilities, &|i, j| lipschitz[i] + lipschitz[j]),
        }
    }

    /// Any curvature: `L_e = curvature(i, j)`, i < j. A clique with uniform draws whose pairs all have the same
    /// stays a rule, if it is small enough (5000 nodes) to see that.
    pub fn with_curvature(
        graph: &Graph,
        probabilities: &EdgeProbabilities,
        curvature: &dyn Fn(usize, usize) -> f64,
    ) -> Result<Self> {
        if let (true, EdgeProbabilities::Uniform) = (graph.is_clique(), probabilities) {
            let first = curvature(0, 1);
            if graph.nodes() <= 5000 && graph.edges().all(|(i, j)| curvature(i, j) == first) {
                check_curvature(0, first)?;
                return Self::clique(graph, first);
            }
        }
        Self::listed(graph, probabilities, curvature)
    }

    fn clique(graph: &Graph, curvature: f64) -> Result<Self> {
        let probability = 1.0 / graph.edge_count() as f64;
        let laplacian = Laplacian::uniform(graph, probability / curvature)?;
        Ok(Self { laplacian, pairs: Pairs::Clique { probability, curvature } })
    }

    fn listed(
        graph: &Graph,
        probabilities: &EdgeProbabilities,
        curvature: &dyn Fn(usize, usize) -> f64,
    ) -> Result<Self> {
        // Refuses what is too large before a number per edge is made.
        graph.support(probabilities)?;
        if graph.is_clique() && graph.nodes() > 5000 {
            Laplacian::weighted(graph, &[])?;
        }
        let sampler = EdgeSampler::new(graph, probabilities)?;
        let mut pairs = Vec::with_capacity(graph.edge_count());
        let mut weights = vec![0.0; graph.edge_count()];
        for (edge, (i, j)) in graph.edges().enumerate() {
            let probability = sampler.probability(edge);
            if probability > 0.0 {
                let pair = Pair { i: i as u32, j: j as u32, probability, curvature: curvature(i, j) };
                check_curvature(edge, pair.curvature)?;
                weights[edge] = pair.weight();
                pairs.push(pair);
            }
        }
        Ok(Self { laplacian: Laplacian::weighted(graph, &weights)?, pairs: Pairs::Listed(pairs) })
    }

    /// b, the number of nodes.
    pub fn nodes(&self) -> usize {
        self.laplacian.nodes()
    }

    /// out = K x.
    ///
    /// # Panics
    /// If a slice does not have one entry per node.
    pub fn apply(&self, x: &[f64], out: &mut [f64]) {
        self.laplacian.apply(x, out);
    }

    /// x'Kx.
    ///
    /// # Panics
    /// If `x` does not have one entry per node.
    pub fn squared(&self, x: &[f64]) -> f64 {
        self.laplacian.quadratic(x)
    }

    /// x'K^+x, of the part of x whose mean is 0.
    ///
    /// Errors: [`Error::GraphDisconnected`] if the edges that can be drawn do not connect the nodes.
    ///
    /// # Panics
    /// If `x` does not have one entry per node.
    pub fn dual_squared(&self, x: &[f64]) -> Result<f64> {
        // K^+x has mean 0, so that the mean of x does not count.
        let z = self.laplacian.solve(x)?;
        Ok(dot(&z, x))
    }

    /// The smallest non-zero eigenvalue: `||x||^2 <= lambda_min(K) x'K^+x` is best possible for x of mean 0.
    ///
    /// Errors: [`Error::GraphDisconnected`], and [`Error::GraphTooSmall`] for one node.
    pub fn smallest(&self) -> Result<Smallest> {
        let spectrum = self.laplacian.spectrum()?;
        Ok(Smallest { value: spectrum.smallest_nonzero, relative_error: spectrum.relative_error })
    }
}

/// Refuses a curvature that is not positive and finite.
pub(super) fn check_curvature(edge: usize, found: f64) -> Result<()> {
    if found > 0.0 && found.is_finite() {
        return Ok(());
    }
    let input = "curvature of pairs".to_owned();
    Err(Error::OutOfRange { input, index: edge, found, allowed: "a finite number above 0" })
}

#[cfg(test)]
mod tests {
    use super::super::dense::tests::{pseudo_inverse, random_norm};
    use super::*;
    use equipoise::graph::Topology;

    #[test]
    fn norms_agree_with_dense_matrices() {
        for seed in 0..20 {
            let (norm, k) = random_norm(seed, 12);
            let x: Vec<f64> = (0..12u64).map(|i| ((i * i + seed) % 7) as f64 - 2.5).collect();
            let mean = x.iter().sum::<f64>() / 12.0;
            let quadratic = |m: &faer::Mat<f64>, x: &[f64]| -> f64 {
                (0..12).map(|i| (0..12).map(|j| x[i] * m[(i, j)] * x[j]).sum::<f64>()).sum()
            };
            assert!((norm.squared(&x) / quadratic(&k, &x) - 1.0).abs() < 1e-12);
            let mut out = vec![0.0; 12];
            norm.apply(&x, &mut out);
            for i in 0..12 {
                let expected: f64 = (0..12).map(|j| k[(i, j)] * x[j]).sum();
                assert!((out[i] - expected).abs() < 1e-13);
            }
            let centred: Vec<f64> = x.iter().map(|x| x - mean).collect();
            let expected = quadratic(&pseudo_inverse(&k), &centred);
            for x in [&x, &centred] {
                assert!((norm.dual_squared(x).expect("connected") / expected - 1.0).abs() < 1e-9, "{seed}");
            }
            let values = k.self_adjoint_eigenvalues(faer::Side::Lower).expect("converges");
            let smallest = norm.smallest().expect("connected");
            assert!((smallest.value / values[1] - 1.0).abs() < 1e-9, "{seed}");
        }
    }

    #[test]
    fn a_clique_stays_a_rule_and_equals_its_list() {
        let million = Graph::new(&Topology::Clique, 1_000_000).expect("valid");
        let norm = KNorm::uniform(&million, &EdgeProbabilities::Uniform, 3.0).expect("a rule");
        let expected = 1.0 / (3.0 * 999_999.0);
        assert!((norm.smallest().expect("connected").value / expected - 1.0).abs() < 1e-12);
        let clique = Graph::new(&Topology::Clique, 6).expect("valid");
        let x = [1.0, -2.0, 0.0, 4.0, -3.0, 0.0];
        let rule = KNorm::per_node(&clique, &EdgeProbabilities::Uniform, &[2.0; 6]).expect("valid");
        let weights = EdgeProbabilities::Weighted(vec![7.0; 15]);
        let list = KNorm::with_curvature(&clique, &weights, &|_, _| 4.0).expect("valid");
        let close = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-12;
        assert!(close(rule.squared(&x), list.squared(&x)));
        assert!(close(rule.dual_squared(&x).expect("connected"), list.dual_squared(&x).expect("connected")));
    }

    #[test]
    fn what_is_refused() {
        let ring = Graph::new(&Topology::Ring, 4).expect("valid");
        let uniform = EdgeProbabilities::Uniform;
        assert!(matches!(KNorm::uniform(&ring, &uniform, 0.0), Err(Error::OutOfRange { .. })));
        assert!(matches!(KNorm::per_node(&ring, &uniform, &[1.0; 3]), Err(Error::ShapeMismatch { .. })));
        let broken = EdgeProbabilities::Weighted(vec![1.0, 0.0, 1.0, 0.0]);
        let norm = KNorm::uniform(&ring, &broken, 1.0).expect("valid");
        assert!(matches!(norm.smallest(), Err(Error::GraphDisconnected { .. })));
        assert!(matches!(norm.dual_squared(&[0.0; 4]), Err(Error::GraphDisconnected { .. })));
        let large = Graph::new(&Topology::Clique, 6000).expect("valid");
        let uneven = KNorm::with_curvature(&large, &uniform, &|i, _| 1.0 + i as f64);
        assert!(matches!(uneven, Err(Error::TooMuchMemory { .. })));
    }
}
