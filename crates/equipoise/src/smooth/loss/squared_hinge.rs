//! `phi(z, y) = max(0, 1 - y z)^2`, labels y = +-1.

use super::{ScalarLoss, check_labels};
use crate::enclosure::{Enclosure, above};
use crate::error::Result;

/// The squared hinge loss.
#[derive(Debug, Clone, Copy, Default)]
pub struct SquaredHingeLoss;

impl ScalarLoss for SquaredHingeLoss {
    #[inline]
    fn value(&self, z: f64, y: f64) -> f64 {
        let slack = (1.0 - y * z).max(0.0);
        slack * slack
    }
    #[inline]
    fn derivative(&self, z: f64, y: f64) -> f64 {
        -2.0 * y * (1.0 - y * z).max(0.0)
    }
    #[inline]
    fn second_derivative(&self, z: f64, y: f64) -> f64 {
        if y * z < 1.0 { 2.0 } else { 0.0 }
    }
    #[inline]
    fn largest_curvature(&self) -> f64 {
        2.0
    }
    fn conjugate(&self, u: f64, y: f64) -> f64 {
        let a = -u * y;
        if a >= 0.0 { a * (0.25 * a - 1.0) } else { f64::INFINITY }
    }
    fn dual_domain(&self, y: f64) -> (f64, f64) {
        if y > 0.0 { (f64::NEG_INFINITY, 0.0) } else { (0.0, f64::INFINITY) }
    }
    fn is_enclosed(&self) -> bool {
        true
    }
    fn enclose_value(&self, z: Enclosure, y: f64) -> Enclosure {
        (Enclosure::from(1.0) - if y > 0.0 { z } else { -z }).positive_part().square()
    }
    fn enclose_conjugate(&self, u: Enclosure, y: f64) -> Enclosure {
        let a = if y > 0.0 { -u } else { u };
        a * (a.half().half() - 1.0.into())
    }
    fn level_set(&self, level: f64, y: f64) -> (f64, f64) {
        let reach = above(above(level.max(0.0)).sqrt());
        if y > 0.0 {
            ((1.0 - reach).next_down(), f64::INFINITY)
        } else {
            (f64::NEG_INFINITY, (reach - 1.0).next_up())
        }
    }
    fn check_targets(&self, targets: &[f64]) -> Result<()> {
        check_labels(targets)
    }
}
