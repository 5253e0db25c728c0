//! `phi(z, y) = log(1 + exp(-y z))`, labels y = +-1.

use super::{ScalarLoss, check_labels};
use crate::enclosure::Enclosure;
use crate::error::Result;

/// The logistic loss.
#[derive(Debug, Clone, Copy, Default)]
pub struct LogisticLoss;

/// `a log a`, continuous at 0.
fn entropy(a: f64) -> f64 {
    if a > 0.0 { a * a.ln() } else { 0.0 }
}

impl ScalarLoss for LogisticLoss {
    #[inline]
    fn value(&self, z: f64, y: f64) -> f64 {
        let margin = y * z;
        (-margin.abs()).exp().ln_1p() + (-margin).max(0.0)
    }
    #[inline]
    fn derivative(&self, z: f64, y: f64) -> f64 {
        -y / (1.0 + (y * z).exp())
    }
    #[inline]
    fn second_derivative(&self, z: f64, _y: f64) -> f64 {
        let tail = (-z.abs()).exp();
        tail / ((1.0 + tail) * (1.0 + tail))
    }
    #[inline]
    fn largest_curvature(&self) -> f64 {
        0.25
    }
    fn conjugate(&self, u: f64, y: f64) -> f64 {
        let a = -u * y;
        if (0.0..=1.0).contains(&a) { entropy(a) + entropy(1.0 - a) } else { f64::INFINITY }
    }
    fn dual_domain(&self, y: f64) -> (f64, f64) {
        (-y.max(0.0), (-y).max(0.0))
    }
    fn is_enclosed(&self) -> bool {
        true
    }
    fn enclose_value(&self, z: Enclosure, y: f64) -> Enclosure {
        let margin = if y > 0.0 { z } else { -z };
        (-margin.abs()).exp().ln_1p() + (-margin).positive_part()
    }
    fn enclose_conjugate(&self, u: Enclosure, y: f64) -> Enclosure {
        let a = if y > 0.0 { -u } else { u };
        a.entropy() + (Enclosure::from(1.0) - a).entropy()
    }
    fn level_set(&self, level: f64, y: f64) -> (f64, f64) {
        // log(1 + exp(-m)) >= -m.
        if y > 0.0 { (-level, f64::INFINITY) } else { (f64::NEG_INFINITY, level) }
    }
    fn check_targets(&self, targets: &[f64]) -> Result<()> {
        check_labels(targets)
    }
}
