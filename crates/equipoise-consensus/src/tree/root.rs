//! What the root knows of how F bends: N times its own curvature, corrected by the pairs (x, gradient) so far (BFGS).
//!
//! Given: points with their gradients. Returns: a step. Must not know: how gradients come to it.

use equipoise::matrix::{axpy, dot};
use equipoise::{Control, Pass};

use super::Seen;
use crate::factor::Cholesky;
use crate::local::Local;

/// Up to so many columns the root's curvature is used in full, beyond its diagonal.
const FULL: usize = 1000;
/// Most pairs (x, g) that are kept.
const PAIRS: usize = 40;

/// What the root knows of how F bends.
pub(super) struct RootModel {
    base: Option<Base>,
    pairs: Vec<(Vec<f64>, Vec<f64>)>,
    /// The part of its diagonal that is added to the base.
    damping: f64,
}

enum Base {
    Full(Cholesky),
    Diagonal(Vec<f64>),
}

impl RootModel {
    pub(super) fn new() -> Self {
        Self { base: None, pairs: Vec::new(), damping: 0.0 }
    }

    /// N times the root's own curvature at x, damped.
    pub(super) fn renew(&mut self, root: &Local<'_>, nodes: usize, x: &[f64], control: &Control) -> Pass {
        let n = nodes as f64;
        if x.len() > FULL {
            let diagonal = root.hessian_diagonal(x).iter().map(|v| n * v * (1.0 + self.damping)).collect();
            self.base = Some(Base::Diagonal(diagonal));
            return Ok(());
        }
        let mut matrix = root.hessian(x, control)?.scaled(n);
        // Directions that the root's rows do not see bend, too.
        let few = x.len() as f64 / (x.len() + root.rows().len()) as f64;
        let part = self.damping + if few > 0.2 { 0.3 * few } else { 0.0 };
        let mean = matrix.diagonal().iter().sum::<f64>() / x.len() as f64;
        let extra: Vec<f64> = matrix.diagonal().iter().map(|v| part * v.max(0.1 * mean)).collect();
        matrix.add_diagonal(&extra);
        self.base = match matrix.factored() {
            Some(factor) => Some(Base::Full(factor)),
            None => {
                Some(Base::Diagonal(matrix.diagonal().iter().map(|v| v.max(f64::MIN_POSITIVE)).collect()))
            }
        };
        Ok(())
    }

    pub(super) fn damp(&mut self) {
        self.damping = (4.0 * self.damping).max(0.1);
    }

    pub(super) fn relax(&mut self) {
        self.damping = if self.damping < 0.05 { 0.0 } else { 0.25 * self.damping };
    }

    /// A pair of points: how the gradient changed along the way.
    pub(super) fn learn(&mut self, from: &Seen, to: &Seen) {
        let s: Vec<f64> = to.x.iter().zip(&from.x).map(|(a, b)| a - b).collect();
        let y: Vec<f64> = to.gradient.iter().zip(&from.gradient).map(|(a, b)| a - b).collect();
        if dot(&s, &y) > 1e-14 * (dot(&s, &s) * dot(&y, &y)).sqrt() {
            self.pairs.push((s, y));
            if self.pairs.len() > PAIRS {
                self.pairs.remove(0);
            }
        }
    }

    /// `- B^-1 g`, by the two loops of limited memory.
    pub(super) fn step(&self, g: &[f64]) -> Vec<f64> {
        let mut q = g.to_vec();
        let mut weights = Vec::with_capacity(self.pairs.len());
        for (s, y) in self.pairs.iter().rev() {
            let weight = dot(s, &q) / dot(s, y);
            axpy(-weight, y, &mut q);
            weights.push(weight);
        }
        let mut z = match &self.base {
            Some(Base::Full(factor)) => factor.solve(&q),
            Some(Base::Diagonal(diagonal)) => q.iter().zip(diagonal).map(|(q, d)| q / d).collect(),
            None => q,
        };
        for ((s, y), weight) in self.pairs.iter().zip(weights.iter().rev()) {
            let back = dot(y, &z) / dot(s, y);
            axpy(weight - back, s, &mut z);
        }
        z.iter_mut().for_each(|z| *z = -*z);
        z
    }
}
