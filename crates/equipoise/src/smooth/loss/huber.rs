//! `phi(z, y) = r^2 / 2` for `|r| <= delta`, `delta (|r| - delta / 2)` beyond, with `r = z - y`.

use super::ScalarLoss;
use crate::error::{Error, Result};

/// The Huber loss.
#[derive(Debug, Clone, Copy)]
pub struct HuberLoss {
    delta: f64,
}

impl HuberLoss {
    /// With the width delta > 0 of the quadratic part.
    pub fn new(delta: f64) -> Result<Self> {
        if delta > 0.0 && delta.is_finite() {
            Ok(Self { delta })
        } else {
            let allowed = "a finite number above 0";
            Err(Error::OutOfRange { input: "huber delta".into(), index: 0, found: delta, allowed })
        }
    }
}

impl ScalarLoss for HuberLoss {
    #[inline]
    fn value(&self, z: f64, y: f64) -> f64 {
        let size = (z - y).abs();
        if size <= self.delta { 0.5 * size * size } else { self.delta * (size - 0.5 * self.delta) }
    }
    #[inline]
    fn derivative(&self, z: f64, y: f64) -> f64 {
        (z - y).clamp(-self.delta, self.delta)
    }
    #[inline]
    fn second_derivative(&self, z: f64, y: f64) -> f64 {
        if (z - y).abs() <= self.delta { 1.0 } else { 0.0 }
    }
    #[inline]
    fn largest_curvature(&self) -> f64 {
        1.0
    }
    fn conjugate(&self, u: f64, y: f64) -> f64 {
        if u.abs() <= self.delta { u * (0.5 * u + y) } else { f64::INFINITY }
    }
    fn dual_domain(&self, _y: f64) -> (f64, f64) {
        (-self.delta, self.delta)
    }
}
