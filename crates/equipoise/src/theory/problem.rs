//! The constants of a concrete problem, and the bound that a theorem promises for a run on it.
//!
//! Scalars with one row `a'x = b`: substitute `y = a x`, coordinate by coordinate, so that a pair moves along
//! `e_i - e_j`, with curvature
//!
//! ```text
//! L_e = H_ii / a_i^2 + H_jj / a_j^2 - 2 H_ij / (a_i a_j)        (twice the first two where H_ij is not known)
//! ```
//!
//! the same as that of the pair steps. A sum over blocks with f a sum over coordinates: every entry of the blocks is a
//! layer of its own, and the worst layer counts.
//!
//! - Given: a [`Problem`], a [`Scheme`]; later an upper bound on the first suboptimality. Returns: [`PairConstants`] and a
//!   [`Prediction`]; nothing where no theorem applies or the constants would take more than about a second.
//! - Must not know: the solver, its methods and settings.
//!
//! | run | bound | needs |
//! |---|---|---|
//! | pairs, h = 0 | smaller of Theorem 1 and the linear rate | f a strongly convex quadratic |
//! | pairs, h | smaller of Theorem 4 and the linear rate for F | clique with uniform draws; bounds, or F strongly convex |
//! | accelerated, h = 0 | `2 nu R_0^2 / (k + 1)^2` | f a strongly convex quadratic |
//!
//! Reference: docs/theory.md.

use faer::Mat;

use super::k_norm::KNorm;
use super::resistance::Resistances;
use super::{curves, dense};
use crate::coupling::Shape;
use crate::graph::EdgeProbabilities;
use crate::problem::Problem;
use crate::separable::{Nonsmooth, SeparableTerm, Values};
use crate::smooth::SmoothTerm;

/// Nodes up to which a graph that is no rule is looked at, and up to which eigenvalues are found densely.
const MOST_NODES: usize = 2000;
const MOST_DENSE: usize = 500;
/// Operations worth a bound: well under a second.
const WORK: usize = 500_000_000;

/// How pairs are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// Exact steps (alpha = 1) on random pairs, one after the other.
    Pairs,
    /// The same with momentum, never restarted.
    Accelerated,
}

/// What the theorems need to know of a problem, in the variables `y = a x`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairConstants {
    /// b.
    pub blocks: usize,
    /// The smallest non-zero eigenvalue of K, less its estimated error.
    pub lambda_min: f64,
    /// nu = `max_e r_e / L_e`, from above.
    pub nu: f64,
    /// Strong convexity of f on the sums of 0, from below; `None` if not known to be positive.
    pub mu: Option<f64>,
    /// `lambda_min(K^{1/2} H K^{1/2})` on the sums of 0, from below; `None` likewise.
    pub sigma: Option<f64>,
}

impl PairConstants {
    /// The constants of a problem with one row over scalars, or a sum over blocks with f a sum over coordinates.
    pub fn of<F: SmoothTerm, H: SeparableTerm>(problem: &Problem<F, H>) -> Option<Self> {
        let layout = Layout::of(problem)?;
        let quadratic = is_quadratic(problem);
        let mut worst: Option<Self> = None;
        for layer in 0..layout.distinct_layers() {
            let found = layout.constants(layer, quadratic)?;
            worst = Some(worst.map_or(found, |worst| worst.or_worse(&found)));
        }
        worst
    }

    fn or_worse(self, other: &Self) -> Self {
        let smaller = |a: Option<f64>, b: Option<f64>| Some(a?.min(b?));
        Self {
            blocks: self.blocks,
            lambda_min: self.lambda_min.min(other.lambda_min),
            nu: self.nu.max(other.nu),
            mu: smaller(self.mu, other.mu),
            sigma: smaller(self.sigma, other.sigma),
        }
    }

    /// The smallest number known with `||x - x*||^2 <= spread (f(x) - f*)` in the norm of K^+.
    fn spread(&self) -> Option<f64> {
        let by_norm = self.mu.map(|mu| 2.0 / (mu * self.lambda_min));
        let direct = self.sigma.map(|sigma| 2.0 / sigma);
        by_norm.into_iter().chain(direct).reduce(f64::min)
    }
}

/// How a problem looks in the variables y.
struct Layout<'a, F, H> {
    problem: &'a Problem<F, H>,
    /// Coordinates a block; as many layers.
    size: usize,
    /// `curvature / a^2`, where f is a sum over coordinates and it is one number.
    even: Option<f64>,
}

impl<'a, F: SmoothTerm, H: SeparableTerm> Layout<'a, F, H> {
    fn of(problem: &'a Problem<F, H>) -> Option<Self> {
        let (coupling, blocks, f) = (problem.independent_coupling(), problem.blocks(), problem.smooth());
        let size = match coupling.shape() {
            Shape::Row(_) if blocks.are_scalars() => 1,
            Shape::BlockSum if blocks.are_uniform(coupling.rows()) && f.is_decomposable() => coupling.rows(),
            _ => return None,
        };
        let mut layout = Self { problem, size, even: None };
        if blocks.len() < 2 || !(0..problem.dimension()).all(|c| layout.coefficient(c) != 0.0) {
            return None;
        }
        let first = layout.own(0);
        let alike = f.is_decomposable() && (1..problem.dimension()).all(|c| layout.own(c) == first);
        layout.even = alike.then_some(first);
        Some(layout)
    }

    fn coefficient(&self, c: usize) -> f64 {
        match self.problem.independent_coupling().shape() {
            Shape::Row(Values::Uniform(a)) => *a,
            Shape::Row(weights) => weights.at(c),
            _ => 1.0,
        }
    }

    /// `H_cc / a_c^2`.
    fn own(&self, c: usize) -> f64 {
        self.problem.smooth().curvature(c) / self.coefficient(c).powi(2)
    }

    fn distinct_layers(&self) -> usize {
        if self.even.is_some() { 1 } else { self.size }
    }

    fn blocks(&self) -> usize {
        self.problem.blocks().len()
    }

    fn coordinate(&self, block: usize, layer: usize) -> usize {
        block * self.size + layer
    }

    /// `L_e`, as the pair steps have it.
    fn pair_curvature(&self, i: usize, j: usize) -> f64 {
        let (f, own) = (self.problem.smooth(), self.own(i) + self.own(j));
        match f.interaction(i, j) {
            Some(cross) => own - 2.0 * cross / (self.coefficient(i) * self.coefficient(j)),
            None if f.is_decomposable() => own,
            None => 2.0 * own,
        }
    }

    fn norm(&self, layer: usize) -> Option<KNorm> {
        let (graph, law) = (self.problem.graph(), self.problem.probabilities());
        let by_rule = graph.is_clique() && *law == EdgeProbabilities::Uniform;
        if let Some(own) = self.even {
            let affordable = by_rule || graph.nodes() <= MOST_NODES;
            return if affordable { KNorm::uniform(graph, law, own).ok() } else { None };
        }
        let work = graph.edge_count().saturating_mul(1 + self.problem.smooth().product_len());
        if graph.nodes() > MOST_NODES || work.saturating_mul(self.size) > WORK {
            return None;
        }
        if graph.is_clique() && graph.nodes() > MOST_DENSE {
            return None;
        }
        let at = |i: usize| self.coordinate(i, layer);
        KNorm::with_curvature(graph, law, &|i, j| self.pair_curvature(at(i), at(j))).ok()
    }

    fn constants(&self, layer: usize, quadratic: bool) -> Option<PairConstants> {
        let norm = self.norm(layer)?;
        let smallest = norm.smallest().ok()?;
        let lambda_min = smallest.value / (1.0 + smallest.relative_error);
        let nu = Resistances::of(&norm).ok()?.nu();
        let (mut mu, mut sigma) = (None, None);
        if quadratic {
            let blocks = 0..self.blocks();
            let positive = |value: f64| Some(value).filter(|value| *value > 0.0 && value.is_finite());
            if self.problem.smooth().is_decomposable() {
                mu = positive(
                    blocks.map(|i| self.own(self.coordinate(i, layer))).fold(f64::INFINITY, f64::min),
                );
                sigma = mu.map(|mu| (mu * lambda_min).min(1.0));
            }
            if self.even.is_none()
                && let Some(found) = self.hessian(layer).and_then(|h| dense::on_sums_of_zero(&norm, &h))
            {
                // From below, allowing for rounding.
                let least = |value: f64| positive(value - 1e-11 * found.largest);
                (mu, sigma) = (least(found.mu), least(found.sigma).map(|sigma| sigma.min(1.0)));
            }
        }
        Some(PairConstants { blocks: self.blocks(), lambda_min, nu, mu, sigma })
    }

    /// The Hessian of a quadratic in the variables y, on one layer.
    fn hessian(&self, layer: usize) -> Option<Mat<f64>> {
        let (f, n, nodes) = (self.problem.smooth(), self.problem.dimension(), self.blocks());
        let work = nodes.saturating_mul(n).saturating_mul(1 + f.product_len());
        if nodes > MOST_DENSE || work.saturating_mul(self.size) > WORK {
            return None;
        }
        let x = self.problem.start();
        let mut product = vec![0.0; f.product_len()];
        f.fill_product(x, &mut product);
        let (mut unit, mut image) = (vec![0.0; n], vec![0.0; n]);
        let mut hessian = Mat::<f64>::zeros(nodes, nodes);
        for j in 0..nodes {
            let c = self.coordinate(j, layer);
            unit[c] = 1.0 / self.coefficient(c);
            if !f.hessian_product(x, &product, &unit, &mut image) {
                return None;
            }
            unit[c] = 0.0;
            for i in 0..nodes {
                let row = self.coordinate(i, layer);
                hessian[(i, j)] = image[row] / self.coefficient(row);
            }
        }
        Some(hessian)
    }
}

/// Whether the Hessian is the same at points near and far: then f is taken for a quadratic.
fn is_quadratic<F: SmoothTerm, H: SeparableTerm>(problem: &Problem<F, H>) -> bool {
    let (f, n, x) = (problem.smooth(), problem.dimension(), problem.start());
    let direction: Vec<f64> = (0..n).map(|c| ((c * 7 + 3) % 11) as f64 - 5.5).collect();
    let mut product = vec![0.0; f.product_len()];
    let mut images = Vec::new();
    // Far enough to leave the middle of a Huber loss, and to both sides of a hinge.
    for step in [0.0, 1.0, -1.0, 1e6, -1e6] {
        let size = 1.0 + crate::matrix::max_abs(x);
        let point: Vec<f64> = x.iter().zip(&direction).map(|(x, d)| x + step * size * d).collect();
        f.fill_product(&point, &mut product);
        let mut image = vec![0.0; n];
        if !f.hessian_product(&point, &product, &direction, &mut image) {
            return false;
        }
        images.push(image);
    }
    let size = crate::matrix::max_abs(&images[0]);
    images.iter().all(|image| image.iter().zip(&images[0]).all(|(a, b)| (a - b).abs() <= 1e-12 * size))
}

/// An upper bound on the expected suboptimality of a run: the smallest of the curves that apply.
#[derive(Debug, Clone)]
pub struct Prediction {
    curves: Vec<Curve>,
}

/// What a curve needs beside Delta0 and k.
#[derive(Debug, Clone, Copy)]
enum Curve {
    /// `R^2 <= spread Delta0`.
    Theorem1 {
        spread: f64,
    },
    Linear {
        sigma: f64,
    },
    /// `R_2^2` is at most the squared diameter of the domain, and at most `2 Delta0 / mu`.
    Theorem4 {
        blocks: usize,
        lipschitz: f64,
        diameter_squared: f64,
        mu: f64,
    },
    CompositeLinear {
        blocks: usize,
        lipschitz: f64,
        mu: f64,
    },
    /// `R_0^2 <= spread Delta0`.
    Accelerated {
        nu: f64,
        spread: f64,
    },
}

impl Prediction {
    /// For runs of this scheme; `None` where no theorem applies.
    pub fn new<F: SmoothTerm, H: SeparableTerm>(problem: &Problem<F, H>, scheme: Scheme) -> Option<Self> {
        let Nonsmooth::Coordinates(h) = problem.separable() else { return None };
        let curves = match (scheme, h.is_zero()) {
            (Scheme::Pairs, true) => {
                let constants = PairConstants::of(problem)?;
                let linear = constants.sigma.map(|sigma| Curve::Linear { sigma });
                linear.into_iter().chain([Curve::Theorem1 { spread: constants.spread()? }]).collect()
            }
            (Scheme::Accelerated, true) => {
                let constants = PairConstants::of(problem)?;
                vec![Curve::Accelerated { nu: constants.nu, spread: constants.spread()? }]
            }
            (Scheme::Pairs, false) => composite(problem, h)?,
            (Scheme::Accelerated, false) => return None,
        };
        Some(Self { curves })
    }

    /// The bound on `E F(x_k) - F*` for a run from a point whose objective is at most `delta_0` above the optimum (its
    /// duality gap, say); `None` where that is negative or not finite, or no curve says anything yet.
    pub fn bound(&self, delta_0: f64, k: u64) -> Option<f64> {
        if !(delta_0 >= 0.0 && delta_0.is_finite()) {
            return None;
        }
        if k == 0 {
            return Some(delta_0);
        }
        let least = self.curves.iter().map(|curve| curve.at(delta_0, k)).fold(f64::INFINITY, f64::min);
        least.is_finite().then_some(least)
    }
}

impl Curve {
    fn at(self, delta_0: f64, k: u64) -> f64 {
        match self {
            Self::Theorem1 { spread } => curves::theorem_1_corrected(spread * delta_0, delta_0, k),
            Self::Linear { sigma } => curves::linear(sigma, delta_0, k),
            Self::Theorem4 { blocks, lipschitz, diameter_squared, mu } => {
                let near = if mu > 0.0 { 2.0 * delta_0 / mu } else { f64::INFINITY };
                let r_2_squared = diameter_squared.min(near);
                curves::theorem_4_corrected(blocks, lipschitz, r_2_squared, delta_0, k)
            }
            Self::CompositeLinear { blocks, lipschitz, mu } => {
                curves::composite_linear(blocks, lipschitz, mu, delta_0, k)
            }
            // A_k >= (k + 1)^2 / (4 nu).
            Self::Accelerated { nu, spread } => curves::accelerated(nu, spread * delta_0, k + 1),
        }
    }
}

/// The curves of pairs with h: every pair of a clique equally often, every piece of h in closed form.
fn composite<F: SmoothTerm, H: SeparableTerm>(problem: &Problem<F, H>, h: &H) -> Option<Vec<Curve>> {
    let layout = Layout::of(problem)?;
    if !problem.graph().is_clique() || *problem.probabilities() != EdgeProbabilities::Uniform {
        return None;
    }
    let (mut diameter_squared, mut bend) = (0.0, f64::INFINITY);
    let (mut most, mut second) = (0.0f64, 0.0f64);
    for c in 0..problem.dimension() {
        let (piece, a) = (h.piece(c)?, layout.coefficient(c));
        diameter_squared += (a * (piece.upper - piece.lower)).powi(2);
        bend = bend.min(piece.l2 / (a * a));
        let own = layout.own(c);
        second = second.max(own.min(most));
        most = most.max(own);
    }
    // L_e <= 2 (H_ii/a_i^2 + H_jj/a_j^2), and without the 2 where f is a sum over coordinates; L is half of L_e.
    let decomposable = problem.smooth().is_decomposable();
    let lipschitz = if decomposable { 0.5 * (most + second) } else { most + second };
    // Only for the strong convexity of f, which may be unknown.
    let mu = bend + PairConstants::of(problem).and_then(|constants| constants.mu).unwrap_or(0.0);
    let blocks = layout.blocks();
    let mut curves = Vec::new();
    if mu > 0.0 {
        curves.push(Curve::CompositeLinear { blocks, lipschitz, mu });
    }
    if lipschitz > 0.0 && (mu > 0.0 || diameter_squared < f64::INFINITY) {
        curves.push(Curve::Theorem4 { blocks, lipschitz, diameter_squared, mu });
    }
    (!curves.is_empty()).then_some(curves)
}

#[cfg(test)]
#[path = "problem_tests.rs"]
mod tests;
