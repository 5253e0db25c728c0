//! The rows of `sum_k w_k phi(z_k, y_k)`, wherever the matrix of `z = M x` is kept.
//!
//! - Given: a scalar loss phi, a target `y_k` and a weight `w_k` a row; the product z.
//! - Returns: value, slopes `w_k phi'` and bends `w_k phi''`; `sum_k w_k phi*(u_k / w_k, y_k)`, where rows of weight 0
//!   take u = 0; steps of u that stay in the domain of the conjugate.
//! - Must not know: M, x, how often M can be read.

use super::loss::ScalarLoss;
use crate::error::Result;
use crate::matrix::{check_finite_vector, check_length};
use crate::separable::Values;

/// A loss with the targets and weights of its rows.
#[derive(Debug, Clone)]
pub(super) struct RowLosses<L> {
    pub(super) loss: L,
    pub(super) target: Vec<f64>,
    pub(super) weights: Values,
}

impl<L: ScalarLoss> RowLosses<L> {
    /// From targets and weights, checked against the number of rows.
    pub(super) fn new(loss: L, target: Vec<f64>, weights: Values, rows: usize) -> Result<Self> {
        check_length("target", "entries", target.len(), rows)?;
        if let Some(found) = weights.len() {
            check_length("weights", "entries", found, rows)?;
        }
        check_finite_vector("target", &target)?;
        weights.check_weights("weights")?;
        loss.check_targets(&target)?;
        Ok(Self { loss, target, weights })
    }

    /// The number of rows.
    pub(super) fn len(&self) -> usize {
        self.target.len()
    }

    /// The sum over all rows.
    pub(super) fn value(&self, product: &[f64]) -> f64 {
        let rows = product.iter().zip(&self.target).enumerate();
        rows.map(|(k, (&z, &y))| self.weights.at(k) * self.loss.value(z, y)).sum()
    }

    /// The derivative of row k in its prediction.
    #[inline]
    pub(super) fn slope(&self, k: usize, product: &[f64]) -> f64 {
        self.weights.at(k) * self.loss.derivative(product[k], self.target[k])
    }

    /// The second derivative of row k in its prediction.
    #[inline]
    pub(super) fn bend(&self, k: usize, product: &[f64]) -> f64 {
        self.weights.at(k) * self.loss.second_derivative(product[k], self.target[k])
    }

    /// Every slope.
    pub(super) fn fill_slopes(&self, product: &[f64], out: &mut [f64]) {
        out.iter_mut().enumerate().for_each(|(k, out)| *out = self.slope(k, product));
    }

    /// Adds to u the change that a move of the predictions by `image` makes.
    pub(super) fn add_dual_step(&self, product: &[f64], image: &[f64], u: &mut [f64]) {
        for (k, (u, image)) in u.iter_mut().zip(image).enumerate() {
            // A step may leave the domain of the conjugate; the caller sees what is missing and steps again.
            let (lo, hi) = self.loss.dual_domain(self.target[k]);
            let w = self.weights.at(k);
            if w > 0.0 {
                *u = (*u + self.bend(k, product) * image).max(w * lo).min(w * hi);
            }
        }
    }

    /// The conjugate of the sum.
    pub(super) fn conjugate(&self, u: &[f64]) -> f64 {
        let rows = u.iter().zip(&self.target).enumerate();
        // w (u / w) may differ from u in the last digit: an end of the domain stays an end.
        let ratio = |w: f64, u: f64, y: f64| {
            let (lo, hi) = self.loss.dual_domain(y);
            let (v, slack) = (u / w, 4.0 * f64::EPSILON);
            if v > hi && v <= hi + slack * hi.abs() {
                hi
            } else if v < lo && v >= lo - slack * lo.abs() {
                lo
            } else {
                v
            }
        };
        let scalar = |w: f64, u: f64, y: f64| match (w > 0.0, u == 0.0) {
            (true, _) => w * self.loss.conjugate(ratio(w, u, y), y),
            (false, true) => 0.0,
            (false, false) => f64::INFINITY,
        };
        rows.map(|(k, (&u, &y))| scalar(self.weights.at(k), u, y)).sum()
    }
}
