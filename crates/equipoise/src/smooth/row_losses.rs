//! The rows of `sum_k w_k phi(z_k, y_k)`, wherever the matrix of `z = M x` is kept.
//!
//! - Given: a scalar loss phi, a target `y_k` and a weight `w_k` a row; the product z.
//! - Returns: value, slopes `w_k phi'` and bends `w_k phi''`; `sum_k w_k phi*(u_k / w_k, y_k)`, where rows of weight 0
//!   take u = 0; steps of u that stay in the domain of the conjugate.
//! - Must not know: M, x, how often M can be read.

use super::loss::ScalarLoss;
use crate::enclosure::{Enclosure, Sum, above};
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

    /// Row k at a prediction that is known up to an error.
    pub(super) fn enclose_row(&self, k: usize, z: Enclosure) -> Enclosure {
        match self.weights.at(k) {
            0.0 => Enclosure::from(0.0),
            1.0 => self.loss.enclose_value(z, self.target[k]),
            w => self.loss.enclose_value(z, self.target[k]) * w.into(),
        }
    }

    /// Moves u into the domain of the conjugate, exactly: ends that are no f64 are left by a few units in the last place.
    pub(super) fn settle(&self, u: &mut [f64]) {
        for (k, u) in u.iter_mut().enumerate() {
            let (lo, hi) = self.loss.dual_domain(self.target[k]);
            let w = self.weights.at(k);
            // w times 0 or 1 is exact.
            let inside = |end: f64, towards: f64| match end.abs() {
                0.0 | 1.0 => w * end,
                _ => {
                    w * end * (1.0 + 4.0 * f64::EPSILON * (end * towards).signum())
                        + towards * f64::MIN_POSITIVE
                }
            };
            if w == 0.0 {
                *u = 0.0;
            } else {
                *u = if lo.is_finite() { u.max(inside(lo, 1.0)) } else { *u };
                *u = if hi.is_finite() { u.min(inside(hi, -1.0)) } else { *u };
            }
        }
    }

    /// The conjugate of the sum with its error, for a u that is in its domain.
    pub(super) fn enclose_conjugate(&self, u: &[f64]) -> Enclosure {
        let mut sum = Sum::default();
        for (k, &u) in u.iter().enumerate() {
            let y = self.target[k];
            sum.add_enclosure(match self.weights.at(k) {
                0.0 if u == 0.0 => continue,
                0.0 => Enclosure::UNKNOWN,
                1.0 => self.loss.enclose_conjugate(u.into(), y),
                w => self.loss.enclose_conjugate(Enclosure::from(u).over(w.into()), y) * w.into(),
            });
        }
        sum.value()
    }

    /// A number that the sum never falls below.
    pub(super) fn least_value(&self) -> f64 {
        // The conjugate at 0 is minus the infimum.
        let mut origin = vec![0.0; self.len()];
        self.settle(&mut origin);
        if origin.iter().any(|u| *u != 0.0) {
            f64::NEG_INFINITY
        } else {
            -self.enclose_conjugate(&origin).upper()
        }
    }

    /// Whether no row ever falls below 0.
    pub(super) fn is_non_negative(&self) -> bool {
        (0..self.len()).all(|k| self.loss.enclose_conjugate(0.0.into(), self.target[k]).upper() <= 0.0)
    }

    /// For every row an interval of predictions outside which the sum is above `level`; what the other rows are at least
    /// is 0.
    pub(super) fn level_sets(&self, level: f64) -> impl Iterator<Item = (f64, f64)> {
        (0..self.len()).map(move |k| match self.weights.at(k) {
            0.0 => (f64::NEG_INFINITY, f64::INFINITY),
            w => self.loss.level_set(above(level / w), self.target[k]),
        })
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
