//! `h(x) = sum over blocks B of weight_B ||x_B||`, the Euclidean norm of each block.
//!
//! The prox with an isotropic metric d shrinks the block along itself:
//! `prox(v) = (1 - weight / (d ||v||))_+ v`. Weights are given per block (one for all, or one a block);
//! the builder of a problem also takes one a coordinate.

use super::Values;
use crate::error::Result;

/// A weighted Euclidean norm of every block (the group lasso penalty).
#[derive(Debug, Clone)]
pub struct GroupL2 {
    weight: Values,
}

/// The Euclidean norm of a slice.
pub(crate) fn norm(v: &[f64]) -> f64 {
    v.iter().map(|a| a * a).sum::<f64>().sqrt()
}

impl GroupL2 {
    /// Group norms with one weight for all blocks or one for each; weights are at least 0.
    pub fn new(weight: impl Into<Values>) -> Result<Self> {
        let weight = weight.into();
        weight.check_weights("group-l2 weight")?;
        Ok(Self { weight })
    }

    /// The number of blocks it was made for; `None` fits any number.
    pub fn blocks(&self) -> Option<usize> {
        self.weight.len()
    }

    /// The same norms for so many blocks, their weights taken from the places that `place_of` gives.
    pub(crate) fn gathered(self, blocks: usize, place_of: impl Fn(usize) -> usize) -> Self {
        Self { weight: Values::Each((0..blocks).map(|b| self.weight.at(place_of(b))).collect()) }
    }

    /// The weight of block b.
    #[inline]
    pub fn weight(&self, b: usize) -> f64 {
        self.weight.at(b)
    }

    /// The value on block b.
    pub fn value(&self, b: usize, x: &[f64]) -> f64 {
        self.weight(b) * norm(x)
    }

    /// The minimiser over z of `weight ||z|| + d/2 ||z - v||^2`, for d > 0, into `z`.
    pub fn prox(&self, b: usize, v: &[f64], d: f64, z: &mut [f64]) {
        let (size, radius) = (norm(v), self.weight(b) / d);
        let scale = if size > radius { 1.0 - radius / size } else { 0.0 };
        for (z, v) in z.iter_mut().zip(v) {
            *z = scale * v;
        }
    }

    /// The derivative of the prox at v as `(alpha, beta)`: it is `alpha I + beta v v'`.
    pub fn prox_slope(&self, b: usize, v: &[f64], d: f64) -> (f64, f64) {
        let (size, radius) = (norm(v), self.weight(b) / d);
        if size > radius { (1.0 - radius / size, radius / (size * size * size)) } else { (0.0, 0.0) }
    }

    /// `s` minus its projection onto the subdifferential at x, into `residual`.
    pub fn subdifferential_residual(&self, b: usize, x: &[f64], s: &[f64], residual: &mut [f64]) {
        let weight = self.weight(b);
        let size = norm(x);
        if size > 0.0 {
            for ((r, s), x) in residual.iter_mut().zip(s).zip(x) {
                *r = s - weight * x / size;
            }
        } else {
            let length = norm(s);
            let excess = if length > weight { 1.0 - weight / length } else { 0.0 };
            for (r, s) in residual.iter_mut().zip(s) {
                *r = excess * s;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prox_shrinks_along_the_block() {
        let h = GroupL2::new(1.0).expect("weight is fine");
        let mut z = [0.0; 2];
        h.prox(0, &[3.0, 4.0], 1.0, &mut z);
        assert!((z[0] - 2.4).abs() < 1e-15 && (z[1] - 3.2).abs() < 1e-15);
        h.prox(0, &[0.3, 0.4], 1.0, &mut z);
        assert_eq!(z, [0.0, 0.0]);
    }
}
