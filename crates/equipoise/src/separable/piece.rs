//! One scalar piece: `h(z) = l1 |z| + l2/2 z^2` on `[lower, upper]`, infinite elsewhere.
//!
//! Zero, bounds, l1, elastic net and their combinations are all of this form, so their prox,
//! subdifferential and conjugate are written once, here.

use crate::enclosure::{Enclosure, above};

/// The scalar function `l1 |z| + l2/2 z^2` restricted to `[lower, upper]`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Piece {
    /// Weight of |z|, at least 0.
    pub l1: f64,
    /// Weight of z^2 / 2, at least 0.
    pub l2: f64,
    /// Smallest z allowed, perhaps minus infinity.
    pub lower: f64,
    /// Largest z allowed, perhaps infinity.
    pub upper: f64,
}

/// `s` moved towards zero by `t`, never across it.
#[inline]
pub(crate) fn soft_threshold(s: f64, t: f64) -> f64 {
    s - s.clamp(-t, t)
}

impl Piece {
    /// The function that is zero everywhere.
    pub const FREE: Self = Self { l1: 0.0, l2: 0.0, lower: f64::NEG_INFINITY, upper: f64::INFINITY };

    /// The value at z; infinite outside the interval.
    #[inline]
    pub fn value(&self, z: f64) -> f64 {
        if z < self.lower || z > self.upper {
            f64::INFINITY
        } else {
            self.l1 * z.abs() + 0.5 * self.l2 * z * z
        }
    }

    /// The minimiser of `h(z) + d/2 (z - v)^2`, for d > 0.
    #[inline]
    pub fn prox(&self, v: f64, d: f64) -> f64 {
        let free =
            if self.l1 == 0.0 && self.l2 == 0.0 { v } else { soft_threshold(d * v, self.l1) / (d + self.l2) };
        free.max(self.lower).min(self.upper)
    }

    /// The derivative of [`prox`](Self::prox) in v (an element of it at a kink).
    #[inline]
    pub fn prox_slope(&self, v: f64, d: f64) -> f64 {
        let free = soft_threshold(d * v, self.l1) / (d + self.l2);
        let at_kink = self.l1 > 0.0 && free == 0.0;
        if at_kink || free <= self.lower || free >= self.upper { 0.0 } else { d / (d + self.l2) }
    }

    /// The subdifferential at z, as an interval.
    #[inline]
    pub fn subdifferential(&self, z: f64) -> (f64, f64) {
        let smooth = self.l2 * z;
        let (mut lo, mut hi) = if z > 0.0 {
            (smooth + self.l1, smooth + self.l1)
        } else if z < 0.0 {
            (smooth - self.l1, smooth - self.l1)
        } else {
            (-self.l1, self.l1)
        };
        if z <= self.lower {
            lo = f64::NEG_INFINITY;
        }
        if z >= self.upper {
            hi = f64::INFINITY;
        }
        (lo, hi)
    }

    /// The conjugate `sup_z s z - h(z)`; infinite outside [`dual_domain`](Self::dual_domain).
    #[inline]
    pub fn conjugate(&self, s: f64) -> f64 {
        if self.l1 == 0.0 && self.l2 == 0.0 {
            // Bounds alone: the end that s points to.
            let end = if s > 0.0 { self.upper } else { self.lower };
            return if s == 0.0 { 0.0 } else { s * end };
        }
        self.penalised_conjugate(s)
    }

    fn penalised_conjugate(&self, s: f64) -> f64 {
        let (lo, hi) = self.dual_domain();
        if s < lo || s > hi {
            return f64::INFINITY;
        }
        let gain = |z: f64| s * z - self.l1 * z.abs() - 0.5 * self.l2 * z * z;
        if self.l2 > 0.0 {
            let z = (soft_threshold(s, self.l1) / self.l2).max(self.lower).min(self.upper);
            return gain(z);
        }
        // Piecewise linear: the supremum is at a finite end or at the kink.
        let mut best = f64::NEG_INFINITY;
        for z in [self.lower, self.upper, 0.0_f64.max(self.lower).min(self.upper)] {
            if z.is_finite() {
                best = best.max(gain(z));
            }
        }
        best
    }

    /// The s at which the conjugate is finite: bounded only where z may run away linearly.
    #[inline]
    pub fn dual_domain(&self) -> (f64, f64) {
        let lo = if self.lower == f64::NEG_INFINITY && self.l2 == 0.0 { -self.l1 } else { f64::NEG_INFINITY };
        let hi = if self.upper == f64::INFINITY && self.l2 == 0.0 { self.l1 } else { f64::INFINITY };
        (lo, hi)
    }

    /// The value at z with its error; unknown outside the interval.
    pub fn enclose_value(&self, z: f64) -> Enclosure {
        if !(self.lower <= z && z <= self.upper) {
            return Enclosure::UNKNOWN;
        }
        if self.l1 == 0.0 && self.l2 == 0.0 {
            return Enclosure::from(0.0);
        }
        (Enclosure::product(self.l2, z.abs()).half() + self.l1.into()) * z.abs().into()
    }

    /// An interval that holds every z whose value is at most `level`.
    pub fn level_set(&self, level: f64) -> (f64, f64) {
        let level = level.max(0.0);
        let linear = if self.l1 > 0.0 { above(level / self.l1) } else { f64::INFINITY };
        let square = if self.l2 > 0.0 { above(above(2.0 * level / self.l2).sqrt()) } else { f64::INFINITY };
        let reach = linear.min(square);
        (self.lower.max(-reach), self.upper.min(reach))
    }

    /// The same function on less of its interval.
    #[must_use]
    pub fn within(&self, (lower, upper): (f64, f64)) -> Self {
        Self { lower: self.lower.max(lower), upper: self.upper.min(upper), ..*self }
    }

    /// A number that the conjugate does not exceed at any s of the enclosure; minus infinity where the interval is empty.
    ///
    /// The supremum of `s z - l1 |z| - l2/2 z^2` over z of one sign is at an end of the interval, at 0, or where the
    /// derivative vanishes; without regard to the interval that last one is at most `(|s| - l1)^2 / (2 l2)`. Taking
    /// the largest of all of these is never too small.
    pub fn conjugate_above(&self, s: Enclosure) -> f64 {
        if self.lower > self.upper {
            return f64::NEG_INFINITY;
        }
        let (low, high) = (s.lower(), s.upper());
        let gain = |z: f64| {
            if z == 0.0 {
                return 0.0;
            }
            let reward = s * z.into() - self.enclose_value(z);
            reward.upper()
        };
        let mut best = if self.lower <= 0.0 && 0.0 <= self.upper { 0.0 } else { f64::NEG_INFINITY };
        // Upwards: z >= 0 pays where s exceeds l1.
        let rises = |excess: Enclosure, end: f64, near: f64| -> f64 {
            if excess.upper() <= 0.0 {
                // Falls all the way: best at the end that is nearer to 0.
                return gain(near);
            }
            let mut most = if end.is_finite() { gain(end) } else { f64::INFINITY };
            if self.l2 > 0.0 {
                let free = excess.square().half().over(self.l2.into()).upper();
                let turning = excess.over(self.l2.into());
                if turning.upper() <= near.abs() {
                    return gain(near);
                }
                // Beyond the end the function still rises there, and the end is the best.
                let past = end.is_finite() && turning.lower() >= end.abs();
                if !past {
                    most = free;
                }
            }
            most.max(gain(near))
        };
        let l1 = Enclosure::from(self.l1);
        if self.upper > 0.0 && high > 0.0 || self.lower > 0.0 {
            best = best.max(rises(s - l1, self.upper, self.lower.max(0.0)));
        }
        if self.lower < 0.0 && low < 0.0 || self.upper < 0.0 {
            best = best.max(rises(-s - l1, self.lower, self.upper.min(0.0)));
        }
        if best.is_nan() { f64::INFINITY } else { best }
    }

    /// Whether the piece is zero everywhere.
    #[inline]
    pub fn is_free(&self) -> bool {
        *self == Self::FREE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CASES: [Piece; 6] = [
        Piece::FREE,
        Piece { l1: 0.0, l2: 0.0, lower: -1.0, upper: 2.0 },
        Piece { l1: 0.0, l2: 0.0, lower: 0.5, upper: f64::INFINITY },
        Piece { l1: 0.7, l2: 0.0, lower: f64::NEG_INFINITY, upper: f64::INFINITY },
        Piece { l1: 0.7, l2: 1.5, lower: f64::NEG_INFINITY, upper: f64::INFINITY },
        Piece { l1: 0.7, l2: 0.0, lower: -0.25, upper: 1.0 },
    ];

    #[test]
    fn prox_satisfies_its_optimality_condition() {
        for piece in CASES {
            for k in -40..=40 {
                let (v, d) = (f64::from(k) * 0.1, 1.7);
                let z = piece.prox(v, d);
                let (lo, hi) = piece.subdifferential(z);
                let s = d * (v - z);
                assert!(lo - 1e-12 <= s && s <= hi + 1e-12, "{piece:?} v={v} z={z}");
            }
        }
    }

    #[test]
    fn fenchel_young_holds_with_equality_on_subgradients() {
        for piece in CASES {
            for k in -30..=30 {
                let s = f64::from(k) * 0.1;
                let conjugate = piece.conjugate(s);
                for j in -30..=30 {
                    let z = f64::from(j) * 0.1;
                    let gap = piece.value(z) + conjugate - s * z;
                    assert!(gap >= -1e-12, "{piece:?} s={s} z={z} gap={gap}");
                    let (lo, hi) = piece.subdifferential(z);
                    if piece.value(z).is_finite() && lo <= s && s <= hi {
                        assert!(gap.abs() < 1e-12, "{piece:?} s={s} z={z} gap={gap}");
                    }
                }
            }
        }
    }
}
