//! The bound that a theorem promises for a run on a concrete problem.
//!
//! - Given: a [`Problem`], a [`Scheme`]; later an upper bound on the first suboptimality. Returns: a [`Prediction`];
//!   nothing where no theorem applies or the constants would take more than about a second.
//! - Must not know: the solver, its methods and settings.
//!
//! | run | bound | needs |
//! |---|---|---|
//! | pairs, h = 0 | smaller of Theorem 1 and the linear rate | f a strongly convex quadratic |
//! | pairs, h | smaller of Theorem 4 and the linear rate for F | clique with uniform draws; bounds, or F strongly convex |
//! | accelerated, h = 0 | `2 nu R_0^2 / (k + 1)^2` | f a strongly convex quadratic |
//!
//! Reference: docs/theory.md.

use super::curves;
use super::problem::{Layout, PairConstants};
use equipoise::Control;
use equipoise::graph::EdgeProbabilities;
use equipoise::problem::Problem;
use equipoise::separable::{Nonsmooth, SeparableTerm};
use equipoise::smooth::SmoothTerm;

/// How pairs are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// Exact steps (alpha = 1) on random pairs, one after the other.
    Pairs,
    /// The same with momentum, never restarted.
    Accelerated,
}

/// An upper bound on the expected suboptimality of a run: the smallest of the curves that apply.
#[derive(Debug, Clone)]
pub struct Prediction {
    curves: Vec<Curve>,
    /// Strong convexity of f in the variables y, where h = 0.
    mu: Option<f64>,
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
        if !h.is_zero() {
            let curves = if scheme == Scheme::Pairs { composite(problem, h)? } else { return None };
            return Some(Self { curves, mu: None });
        }
        let constants = PairConstants::of(problem)?;
        let spread = constants.spread()?;
        let curves = match scheme {
            Scheme::Pairs => {
                let linear = constants.sigma.map(|sigma| Curve::Linear { sigma });
                linear.into_iter().chain([Curve::Theorem1 { spread }]).collect()
            }
            Scheme::Accelerated => vec![Curve::Accelerated { nu: constants.nu, spread }],
        };
        Some(Self { curves, mu: constants.mu })
    }

    /// An upper bound on `f(x) - f*` at a feasible x, where h = 0: `||g||^2 / (2 mu)`, g the gradient in the variables y
    /// less its mean. Without h a duality gap is known only near the optimum.
    pub fn suboptimality<F: SmoothTerm, H: SeparableTerm>(
        &self,
        problem: &Problem<F, H>,
        x: &[f64],
    ) -> Option<f64> {
        let (mu, layout, f) = (self.mu?, Layout::of(problem)?, problem.smooth());
        let mut product = vec![0.0; f.product_len()];
        let unlimited = Control::unlimited();
        f.fill_product(x, &mut product, &unlimited).ok()?;
        let mut gradient = vec![0.0; x.len()];
        f.gradient(x, &product, &mut gradient, &unlimited).ok()?;
        gradient.iter_mut().enumerate().for_each(|(c, g)| *g /= layout.coefficient(c));
        let of_row = |row: usize| gradient.iter().skip(row).step_by(layout.size());
        let around_mean = |row: usize| {
            let mean = of_row(row).sum::<f64>() / layout.blocks() as f64;
            of_row(row).map(|g| (g - mean).powi(2)).sum::<f64>()
        };
        Some((0..layout.size()).map(around_mean).sum::<f64>() / (2.0 * mu))
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

    /// The fewest updates after which the bound is at most `wanted`, for a run from such a point; `None` where it is not within
    /// `2^53`, or nothing is known.
    pub fn updates_to(&self, delta_0: f64, wanted: f64) -> Option<u64> {
        const MOST: u64 = 1 << 53;
        let is_enough = |k: u64| self.bound(delta_0, k).is_some_and(|bound| bound <= wanted);
        if is_enough(0) {
            return Some(0);
        }
        let mut high = 1;
        while !is_enough(high) {
            if high >= MOST {
                return None;
            }
            high *= 2;
        }
        // Every curve falls.
        let mut low = high / 2;
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if is_enough(middle) {
                high = middle;
            } else {
                low = middle;
            }
        }
        Some(high)
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
#[path = "prediction_tests.rs"]
mod tests;
