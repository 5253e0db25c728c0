//! `h(x) = sum_c rise_c max(x_c, 0) + fall_c max(-x_c, 0)`: values above zero cost something else than values below.
//!
//! With `rise = fall` it is the weighted l1 norm. Not a [`Piece`](super::Piece), whose slopes are those of `|z|`: pair steps
//! find their multiplier by the prox.

use super::values::common_length;
use super::{SeparableTerm, Values};
use crate::enclosure::{Enclosure, above};
use crate::error::Result;

/// The l1 norm with one weight for positive and one for negative values.
#[derive(Debug, Clone)]
pub struct AsymmetricL1 {
    rise: Values,
    fall: Values,
    length: Option<usize>,
}

impl AsymmetricL1 {
    /// The weights of positive and of negative values, each one for all coordinates or one for each, at least 0.
    pub fn new(rise: impl Into<Values>, fall: impl Into<Values>) -> Result<Self> {
        let (rise, fall) = (rise.into(), fall.into());
        rise.check_weights("asymmetric-l1 rise")?;
        fall.check_weights("asymmetric-l1 fall")?;
        let length = common_length(&[("asymmetric-l1 rise", &rise), ("asymmetric-l1 fall", &fall)])?;
        Ok(Self { rise, fall, length })
    }
}

impl SeparableTerm for AsymmetricL1 {
    fn dimension(&self) -> Option<usize> {
        self.length
    }
    #[inline]
    fn value(&self, c: usize, z: f64) -> f64 {
        if z < 0.0 { -self.fall.at(c) * z } else { self.rise.at(c) * z }
    }
    #[inline]
    fn prox(&self, c: usize, v: f64, d: f64) -> f64 {
        let s = d * v;
        (s - s.clamp(-self.fall.at(c), self.rise.at(c))) / d
    }
    #[inline]
    fn prox_slope(&self, c: usize, v: f64, d: f64) -> f64 {
        let s = d * v;
        f64::from(s < -self.fall.at(c) || s > self.rise.at(c))
    }
    #[inline]
    fn subdifferential(&self, c: usize, z: f64) -> (f64, f64) {
        let (lo, hi) = self.dual_domain(c);
        (if z > 0.0 { hi } else { lo }, if z < 0.0 { lo } else { hi })
    }
    fn conjugate(&self, c: usize, s: f64) -> Option<f64> {
        let (lo, hi) = self.dual_domain(c);
        Some(if lo <= s && s <= hi { 0.0 } else { f64::INFINITY })
    }
    fn dual_domain(&self, c: usize) -> (f64, f64) {
        (-self.fall.at(c), self.rise.at(c))
    }
    fn is_enclosed(&self, _n: usize) -> bool {
        true
    }
    fn enclose_value(&self, c: usize, z: f64) -> Enclosure {
        Enclosure::product(if z < 0.0 { self.fall.at(c) } else { self.rise.at(c) }, z.abs())
    }
    fn level_set(&self, c: usize, level: f64) -> (f64, f64) {
        let reach = |weight: f64| if weight > 0.0 { above(level.max(0.0) / weight) } else { f64::INFINITY };
        (-reach(self.fall.at(c)), reach(self.rise.at(c)))
    }
    fn is_non_negative(&self, _n: usize) -> bool {
        true
    }
    fn conjugate_above(&self, c: usize, s: Enclosure, (lower, upper): (f64, f64)) -> f64 {
        let (lower, upper) = (lower.min(0.0), upper.max(0.0));
        let side = |excess: Enclosure, end: f64| match (excess.upper() <= 0.0, end) {
            (true, _) => 0.0,
            (false, f64::INFINITY) => f64::INFINITY,
            (false, end) => (excess * end.into()).upper().max(0.0),
        };
        side(s - self.rise.at(c).into(), upper).max(side(-s - self.fall.at(c).into(), -lower))
    }
    fn is_zero(&self) -> bool {
        self.rise.as_slice().iter().chain(self.fall.as_slice()).all(|weight| *weight == 0.0)
    }
}
