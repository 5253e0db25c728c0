//! `phi(z, y) = 1/2 (z - y)^2`.

use super::ScalarLoss;

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
}
