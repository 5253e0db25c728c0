//! `phi(z, y) = 1/2 (z - y)^2`.

use super::ScalarLoss;
use crate::enclosure::{Enclosure, above};

/// Half the squared error.
#[derive(Debug, Clone, Copy, Default)]
pub struct Squared;

impl ScalarLoss for Squared {
    #[inline]
    fn value(&self, z: f64, y: f64) -> f64 {
        0.5 * (z - y) * (z - y)
    }
    #[inline]
    fn derivative(&self, z: f64, y: f64) -> f64 {
        z - y
    }
    #[inline]
    fn second_derivative(&self, _z: f64, _y: f64) -> f64 {
        1.0
    }
    #[inline]
    fn largest_curvature(&self) -> f64 {
        1.0
    }
    fn is_square(&self) -> bool {
        true
    }
    fn conjugate(&self, u: f64, y: f64) -> f64 {
        u * (0.5 * u + y)
    }
    fn is_enclosed(&self) -> bool {
        true
    }
    fn enclose_value(&self, z: Enclosure, y: f64) -> Enclosure {
        (z - y.into()).square().half()
    }
    fn enclose_conjugate(&self, u: Enclosure, y: f64) -> Enclosure {
        u * (u.half() + y.into())
    }
    fn level_set(&self, level: f64, y: f64) -> (f64, f64) {
        let reach = above(above(2.0 * level.max(0.0)).sqrt());
        ((y - reach).next_down(), (y + reach).next_up())
    }
}
