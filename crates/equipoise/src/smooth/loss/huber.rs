//! `phi(z, y) = r^2 / 2` for `|r| <= delta`, `delta (|r| - delta / 2)` beyond, with `r = z - y`.

use super::ScalarLoss;
use crate::enclosure::{Enclosure, above};
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
    fn is_enclosed(&self) -> bool {
        true
    }
    fn enclose_value(&self, z: Enclosure, y: f64) -> Enclosure {
        let (size, delta) = ((z - y.into()).abs(), Enclosure::from(self.delta));
        // 1/2 r^2 minus what r exceeds delta by, squared and halved: one formula on both sides of the seam.
        size.square().half() - (size - delta).positive_part().square().half()
    }
    fn enclose_conjugate(&self, u: Enclosure, y: f64) -> Enclosure {
        u * (u.half() + y.into())
    }
    fn level_set(&self, level: f64, y: f64) -> (f64, f64) {
        // delta (|r| - delta/2) is nowhere above phi.
        let reach = above(above(level.max(0.0) / self.delta) + 0.5 * self.delta);
        ((y - reach).next_down(), (y + reach).next_up())
    }
}
