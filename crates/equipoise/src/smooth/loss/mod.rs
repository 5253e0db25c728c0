//! Scalar losses `phi(z, y)`: functions of a prediction z and a target y, which see no matrix.
//!
//! Adding a loss takes one file: value, derivative, second derivative with its bound, conjugate.

mod huber;
mod logistic;
mod poisson;
mod squared;
mod squared_hinge;

pub use huber::HuberLoss;
pub use logistic::LogisticLoss;
pub use poisson::PoissonLoss;
pub use squared::Squared;
pub use squared_hinge::SquaredHingeLoss;

use std::fmt::Debug;

use crate::enclosure::Enclosure;
use crate::error::{Error, Result};

/// A convex, differentiable loss of a prediction z against a target y.
pub trait ScalarLoss: Debug + Send + Sync {
    /// phi(z, y).
    fn value(&self, z: f64, y: f64) -> f64;
    /// The derivative in z.
    fn derivative(&self, z: f64, y: f64) -> f64;
    /// The second derivative in z (one of them where phi' has a kink).
    fn second_derivative(&self, z: f64, y: f64) -> f64;
    /// The largest second derivative over all z and y.
    fn largest_curvature(&self) -> f64;
    /// `sup_z u z - phi(z, y)` for u in [`dual_domain`](Self::dual_domain); infinite elsewhere.
    fn conjugate(&self, u: f64, y: f64) -> f64;
    /// The interval of u on which the conjugate is finite: the closure of all derivatives.
    fn dual_domain(&self, _y: f64) -> (f64, f64) {
        (f64::NEG_INFINITY, f64::INFINITY)
    }
    /// Whether the loss has enclosures of its value and of its conjugate.
    fn is_enclosed(&self) -> bool {
        false
    }
    /// phi(z, y) with its error; unknown where nothing can be said.
    fn enclose_value(&self, _z: Enclosure, _y: f64) -> Enclosure {
        Enclosure::UNKNOWN
    }
    /// The conjugate with its error, for a u that is known to lie in [`dual_domain`](Self::dual_domain) though its enclosure
    /// may reach beyond.
    fn enclose_conjugate(&self, _u: Enclosure, _y: f64) -> Enclosure {
        Enclosure::UNKNOWN
    }
    /// An interval that holds every z with `phi(z, y) <= level`.
    fn level_set(&self, _level: f64, _y: f64) -> (f64, f64) {
        (f64::NEG_INFINITY, f64::INFINITY)
    }
    /// Whether phi is `1/2 (z - y)^2`.
    fn is_square(&self) -> bool {
        false
    }
    /// Refuses targets that the loss is not made for.
    fn check_targets(&self, _targets: &[f64]) -> Result<()> {
        Ok(())
    }
}

/// Targets must be labels, -1 or +1.
fn check_labels(targets: &[f64]) -> Result<()> {
    match targets.iter().position(|y| y.abs() != 1.0) {
        None => Ok(()),
        Some(index) => Err(Error::OutOfRange {
            input: "target".into(),
            index,
            found: targets[index],
            allowed: "-1 or +1",
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(loss: &impl ScalarLoss, y: f64) {
        for k in -30..=30 {
            let z = f64::from(k) * 0.17 + 0.01;
            let step = 1e-6;
            let slope = (loss.value(z + step, y) - loss.value(z - step, y)) / (2.0 * step);
            assert!((slope - loss.derivative(z, y)).abs() < 1e-6, "{loss:?} slope at {z}");
            let bend = (loss.derivative(z + step, y) - loss.derivative(z - step, y)) / (2.0 * step);
            assert!((bend - loss.second_derivative(z, y)).abs() < 1e-5, "{loss:?} bend at {z}");
            assert!(loss.second_derivative(z, y) <= loss.largest_curvature() + 1e-15);
            // Fenchel-Young with equality at the derivative, inequality elsewhere.
            let u = loss.derivative(z, y);
            let touch = loss.value(z, y) + loss.conjugate(u, y) - u * z;
            assert!(touch.abs() < 1e-12, "{loss:?} conjugate at {z}: {touch}");
            for j in -20..=20 {
                let other = f64::from(j) * 0.3;
                assert!(loss.value(other, y) + loss.conjugate(u, y) - u * other >= -1e-12);
            }
        }
    }

    #[test]
    fn every_loss_agrees_with_finite_differences_and_its_conjugate() {
        for y in [-1.0, 1.0] {
            check(&Squared, y);
            check(&LogisticLoss, y);
            check(&SquaredHingeLoss, y);
            check(&HuberLoss::new(0.7).expect("positive"), y);
        }
        check(&PoissonLoss::new(2.0).expect("finite"), 3.0);
    }

    #[test]
    fn logistic_does_not_overflow() {
        assert_eq!(LogisticLoss.value(-800.0, 1.0), 800.0);
        assert!(LogisticLoss.value(800.0, 1.0) >= 0.0);
        assert_eq!(LogisticLoss.derivative(-800.0, 1.0), -1.0);
    }
}
