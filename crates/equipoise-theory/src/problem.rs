//! The constants of a concrete problem.
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
//! - Given: a [`Problem`]. Returns: [`PairConstants`]; nothing for other couplings, or where they would take more than
//!   about a second.
//! - Must not know: the solver, bounds.
//!
//! Reference: docs/theory.md.

use faer::Mat;

use super::dense;
use super::k_norm::KNorm;
use super::resistance::Resistances;
use equipoise::Control;
use equipoise::graph::EdgeProbabilities;
use equipoise::matrix::max_abs;
use equipoise::problem::Problem;
use equipoise::separable::SeparableTerm;
use equipoise::smooth::SmoothTerm;

/// Nodes up to which a graph that is no rule is looked at, and up to which eigenvalues are found densely.
const MOST_NODES: usize = 2000;
const MOST_DENSE: usize = 500;
/// Operations worth a bound: well under a second.
const WORK: usize = 500_000_000;

/// What the theorems need to know of a problem, in the variables `y = a x`.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
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
    pub(super) fn spread(&self) -> Option<f64> {
        let by_norm = self.mu.map(|mu| 2.0 / (mu * self.lambda_min));
        let direct = self.sigma.map(|sigma| 2.0 / sigma);
        by_norm.into_iter().chain(direct).reduce(f64::min)
    }
}

/// How a problem looks in the variables y.
pub(super) struct Layout<'a, F, H> {
    problem: &'a Problem<F, H>,
    /// Coordinates a block; as many layers.
    size: usize,
    /// `curvature / a^2`, where f is a sum over coordinates and it is one number.
    even: Option<f64>,
}

impl<'a, F: SmoothTerm, H: SeparableTerm> Layout<'a, F, H> {
    pub(super) fn of(problem: &'a Problem<F, H>) -> Option<Self> {
        let (coupling, blocks, f) = (problem.independent_coupling(), problem.blocks(), problem.smooth());
        let alike = |size: usize| (0..blocks.len()).all(|i| blocks.size(i) == size);
        let size = match coupling.rows() {
            1 if blocks.are_scalars() => 1,
            rows if coupling.is_block_sum() && alike(rows) && f.is_decomposable() => rows,
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

    pub(super) fn coefficient(&self, c: usize) -> f64 {
        if self.size == 1 { self.problem.independent_coupling().column_dot(c, &[1.0]) } else { 1.0 }
    }

    /// `H_cc / a_c^2`.
    pub(super) fn own(&self, c: usize) -> f64 {
        self.problem.smooth().curvature(c) / self.coefficient(c).powi(2)
    }

    /// Coordinates a block: row r of a sum over blocks is the coordinates r, r + size, ...
    pub(super) fn size(&self) -> usize {
        self.size
    }

    fn distinct_layers(&self) -> usize {
        if self.even.is_some() { 1 } else { self.size }
    }

    pub(super) fn blocks(&self) -> usize {
        self.problem.blocks().len()
    }

    fn coordinate(&self, block: usize, layer: usize) -> usize {
        block * self.size + layer
    }

    /// `L_e`, as the pair steps have it.
    pub(super) fn pair_curvature(&self, i: usize, j: usize) -> f64 {
        let (f, own) = (self.problem.smooth(), self.own(i) + self.own(j));
        match f.interaction(i, j) {
            Some(cross) => own - 2.0 * cross / (self.coefficient(i) * self.coefficient(j)),
            None if f.is_decomposable() => own,
            None => 2.0 * own,
        }
    }

    pub(super) fn norm(&self, layer: usize) -> Option<KNorm> {
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
        let nu = Resistances::of(&norm, &Control::unlimited()).ok()?.nu();
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
        let unlimited = Control::unlimited();
        f.fill_product(x, &mut product, &unlimited).ok()?;
        let (mut unit, mut image) = (vec![0.0; n], vec![0.0; n]);
        let mut hessian = Mat::<f64>::zeros(nodes, nodes);
        for j in 0..nodes {
            let c = self.coordinate(j, layer);
            unit[c] = 1.0 / self.coefficient(c);
            if !f.hessian_product(x, &product, &unit, &mut image, &unlimited).ok()? {
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
pub(super) fn is_quadratic<F: SmoothTerm, H: SeparableTerm>(problem: &Problem<F, H>) -> bool {
    let (f, n, x) = (problem.smooth(), problem.dimension(), problem.start());
    let direction: Vec<f64> = (0..n).map(|c| ((c * 7 + 3) % 11) as f64 - 5.5).collect();
    let mut product = vec![0.0; f.product_len()];
    let (mut images, unlimited) = (Vec::new(), Control::unlimited());
    // Far enough to leave the middle of a Huber loss, and to both sides of a hinge.
    for step in [0.0, 1.0, -1.0, 1e6, -1e6] {
        let size = 1.0 + max_abs(x);
        let point: Vec<f64> = x.iter().zip(&direction).map(|(x, d)| x + step * size * d).collect();
        let mut image = vec![0.0; n];
        let found = f
            .fill_product(&point, &mut product, &unlimited)
            .and_then(|()| f.hessian_product(&point, &product, &direction, &mut image, &unlimited));
        if found != Ok(true) {
            return false;
        }
        images.push(image);
    }
    let size = max_abs(&images[0]);
    images.iter().all(|image| image.iter().zip(&images[0]).all(|(a, b)| (a - b).abs() <= 1e-12 * size))
}
