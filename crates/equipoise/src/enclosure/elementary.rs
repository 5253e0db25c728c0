//! exp and ln with proven errors: the libraries of the system promise none.
//!
//! With u = 2^-53, every result is within `8 u` of the exact one, relative to it:
//!
//! - **exp(c)**: `c = k ln 2 + r`, |r| <= 0.35, ln 2 as the sum of 42 bits and the rest, so that r is off by less than u.
//!   Taylor's polynomial of degree 13 misses exp(r) by less than `0.35^14 / 14! < 5e-18 < u/20`. Horner's rule adds at most
//!   `3.2 u` of a coefficient a step, shrunk by 0.35 with every step that follows: less than 5 u in all.
//! - **ln(1 + f)**, -0.293 <= f <= 0.415: `2 artanh(s)`, `s = f/(2 + f)` within 2 u, |s| < 0.172. The series up to
//!   `s^20/21` misses less than `0.0296^11 / 23 < 1e-18`; its value lies in 1..1.011, and Horner's rule keeps it within
//!   2 u; two products add 2 u.
//! - **ln(v)**: v = 2^k (1 + f) with f as above, which is exact.
//!
//! An argument that is itself only known up to an error passes it on: by `|exp(d) - 1| <= 1.06 |d|` for |d| <= 0.1, and
//! by `|ln(1 + d)| <= 1.06 |d|` for the same d.

use super::{Enclosure, above};

/// The relative error of every result: 8 u.
const ERROR: f64 = 4.0 * f64::EPSILON;
/// ln 2, its leading 42 bits and the rest.
const LN2_HIGH: f64 = f64::from_bits(0x3FE6_2E42_FEFA_3800);
const LN2_LOW: f64 = f64::from_bits(0x3D2E_F357_93C7_6730);
/// The relative error of `LN2_HIGH + LN2_LOW` is far below this.
const LN2_ERROR: f64 = 1e-26;

/// 1/k!, k = 0..=13.
const INVERSE_FACTORIALS: [f64; 14] = [
    1.0,
    1.0,
    1.0 / 2.0,
    1.0 / 6.0,
    1.0 / 24.0,
    1.0 / 120.0,
    1.0 / 720.0,
    1.0 / 5_040.0,
    1.0 / 40_320.0,
    1.0 / 362_880.0,
    1.0 / 3_628_800.0,
    1.0 / 39_916_800.0,
    1.0 / 479_001_600.0,
    1.0 / 6_227_020_800.0,
];

/// exp of an f64 in -708..=709, within `ERROR`.
fn exp_of_point(c: f64) -> f64 {
    let k = (c * std::f64::consts::LOG2_E).round_ties_even();
    let r = (-k).mul_add(LN2_LOW, (-k).mul_add(LN2_HIGH, c));
    let series = INVERSE_FACTORIALS.iter().rev().fold(0.0, |sum, coefficient| sum * r + coefficient);
    // Two factors, because 2^1024 is no f64; both are normal numbers, and so is the product.
    let half = (k * 0.5).trunc();
    series * power_of_two(half) * power_of_two(k - half)
}

/// 2^k for |k| <= 1000.
fn power_of_two(k: f64) -> f64 {
    f64::from_bits(((k + 1023.0) as u64) << 52)
}

/// ln(1 + f) for -0.293 <= f <= 0.415, within `ERROR`, relative.
fn ln_near_one(f: f64) -> f64 {
    let s = f / (2.0 + f);
    let square = s * s;
    let series = (0..=10).rev().fold(0.0, |sum, j| sum * square + 1.0 / f64::from(2 * j + 1));
    2.0 * s * series
}

impl Enclosure {
    /// e to this power.
    #[must_use]
    pub fn exp(self) -> Self {
        if !self.is_known() {
            return Self::UNKNOWN;
        }
        let (centre, low, radius) = self.parts();
        let doubt = above(low.abs() + radius);
        let most = self.upper();
        if most > 709.0 {
            return Self::UNKNOWN;
        }
        if most < -708.0 {
            return Self::between(0.0, 2.0 * exp_of_point(-708.0));
        }
        if centre < -708.0 || doubt > 0.1 {
            return Self::between(0.0, above(exp_of_point(most) * (1.0 + ERROR)));
        }
        let value = exp_of_point(centre);
        Self::around(value, above(value * (ERROR + 1.06 * doubt + ERROR * doubt)))
    }

    /// The natural logarithm of a number that is known to be above 0; unknown otherwise.
    #[must_use]
    pub fn ln(self) -> Self {
        let (centre, low, radius) = self.parts();
        let doubt = if low == 0.0 && radius == 0.0 { 0.0 } else { above(above(low.abs() + radius) / centre) };
        if !self.is_known() || centre <= 0.0 || self.lower() <= 0.0 || doubt > 0.1 {
            return Self::UNKNOWN;
        }
        // A subnormal number becomes normal first.
        let (normal, shift) =
            if centre < f64::MIN_POSITIVE { (centre * power_of_two(54.0), -54.0) } else { (centre, 0.0) };
        let bits = normal.to_bits();
        let mut k = ((bits >> 52) as f64) - 1023.0;
        let mut mantissa = f64::from_bits((bits & ((1 << 52) - 1)) | (1023 << 52));
        if mantissa > std::f64::consts::SQRT_2 {
            mantissa *= 0.5;
            k += 1.0;
        }
        k += shift;
        let part = ln_near_one(mantissa - 1.0);
        let own = Self::around(part, above(part.abs() * ERROR + 1.06 * doubt));
        let whole = Self::from(k * LN2_HIGH) + Self::product(k, LN2_LOW);
        (whole + own).widened(if k == 0.0 { 0.0 } else { k.abs() * LN2_ERROR })
    }

    /// ln(1 + t) for t in 0..=1; unknown elsewhere.
    #[must_use]
    pub fn ln_1p(self) -> Self {
        let (centre, low, radius) = self.parts();
        if !self.is_known() || !(0.0..=1.0).contains(&centre) {
            return Self::UNKNOWN;
        }
        let doubt = above(low.abs() + radius);
        if doubt > 0.05 {
            // 0 <= ln(1 + t) <= t.
            return Self::between(0.0, self.upper());
        }
        // The slope of ln(1 + t) is at most 1.06 for t >= -0.05.
        let doubt = 1.06 * doubt;
        if centre <= 0.414 {
            let value = ln_near_one(centre);
            return Self::around(value, above(value * ERROR + doubt));
        }
        // (1 + t)/2 = 1 + (t - 1)/2; the difference is rounded by at most u/2, its half likewise.
        let value = ln_near_one(0.5 * (centre - 1.0));
        let own = Self::around(value, above(value.abs() * ERROR + f64::EPSILON + doubt));
        Self::from(LN2_HIGH) + Self::from(LN2_LOW) + own.widened(LN2_ERROR)
    }

    /// `a ln a` for a number that is at least 0, with 0 at 0.
    #[must_use]
    pub fn entropy(self) -> Self {
        let most = self.upper();
        if most <= 0.0 {
            return Self::from(0.0);
        }
        if self.lower() > 0.0 {
            let direct = self * self.ln();
            if direct.is_known() {
                return direct;
            }
        }
        // Too little is known of a: on 0..=most the function is at least -1/e and at most its value at the upper end.
        if most <= 1.0 {
            let end = Self::from(most);
            // It falls up to 1/e and rises to 0 at 1.
            let lowest = if most <= 0.36 { (end * end.ln()).lower() } else { -0.367_879_442 };
            return Self::between(lowest, 0.0);
        }
        let end = Self::from(most);
        Self::between(-0.367_879_442, (end * end.ln()).upper())
    }

    /// The square root of a number that is at least 0.
    #[must_use]
    pub fn sqrt(self) -> Self {
        if !self.is_known() || self.upper() < 0.0 {
            return Self::UNKNOWN;
        }
        // The root of an f64 is correctly rounded, and next_up and next_down take it outwards.
        let low = if self.lower() > 0.0 { self.lower().sqrt().next_down() } else { 0.0 };
        Self::between(low, self.upper().sqrt().next_up())
    }
}
