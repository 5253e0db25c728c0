//! Real numbers known up to a proven error: what the certificates are computed with.
//!
//! An [`Enclosure`] is a centre of two f64, `high + low`, and a radius: the exact number is no further from the centre
//! than that. Sums and products of two f64 are taken without error (their rounding errors are f64 themselves: Dekker
//! 1971, Knuth 1969, Ogita, Rump and Oishi 2005); what the centre cannot hold goes into the radius, rounded up. With
//! u = 2^-53:
//!
//! ```text
//! a + b   high, low exact but for the additions of low parts, each off by at most u times its result
//! a b     the same, and the product of both low parts is charged whole
//! a / b   two quotients q0, q1; radius |a - (q0 + q1) b| / |b|, from above
//! ```
//!
//! Radii are sums of non-negative f64. [`above`] makes up for the rounding of a few of them and for underflow: it adds
//! `16 u` of the number and the smallest normal f64. What overflows or is no number becomes [`Enclosure::UNKNOWN`]: an
//! unknown number is never taken for a known one. Comparisons are made on [`upper`](Enclosure::upper) and
//! [`lower`](Enclosure::lower).
//!
//! Knows nothing of what is computed with it.

mod dot;
mod elementary;
mod sum;

pub(crate) use dot::{add_scattered, dot_gathered, scatter_add};
pub use dot::{dot, gather_dot};
pub use sum::Sum;
pub(crate) use sum::add_product_to;

use std::ops::{Add, AddAssign, Mul, Neg, Sub};

/// Half the distance of 1 from the next f64: the largest relative error of one rounding.
pub(crate) const UNIT: f64 = f64::EPSILON / 2.0;

/// A number at least as large as the exact value of an expression of a few non-negative f64 that was computed as `x`.
///
/// Eight roundings, and underflow in each of them, are made up for.
#[inline]
pub fn above(x: f64) -> f64 {
    x * (1.0 + 8.0 * f64::EPSILON) + f64::MIN_POSITIVE
}

/// `a + b` as the rounded sum and its error, exactly.
#[inline(always)]
#[expect(clippy::inline_always, reason = "part of vector loops, which must not call functions")]
pub(crate) fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let of_b = sum - a;
    (sum, (a - (sum - of_b)) + (b - of_b))
}

/// `a b` as the rounded product and its error, exact to the smallest f64.
#[inline(always)]
#[expect(clippy::inline_always, reason = "part of vector loops, which must not call functions")]
pub(crate) fn two_product(a: f64, b: f64) -> (f64, f64) {
    let product = a * b;
    (product, a.mul_add(b, -product))
}

/// Whether nothing of a product is lost to underflow.
#[inline]
fn is_whole(a: f64, b: f64, product: f64) -> bool {
    product.abs() > 1e-290 || a == 0.0 || b == 0.0
}

/// The smallest f64 that `a + b` does not exceed.
#[inline]
fn add_up(a: f64, b: f64) -> f64 {
    let (sum, error) = two_sum(a, b);
    if error > 0.0 { sum.next_up() } else { sum }
}

/// A real number within `radius` of `high + low`.
///
/// ```
/// use equipoise::enclosure::Enclosure;
/// let third = Enclosure::from(1.0).over(3.0.into());
/// let one = third * 3.0.into();
/// assert!(one.lower() <= 1.0 && one.upper() >= 1.0);
/// assert!(one.upper() - one.lower() < 1e-30 + 2.0 * f64::EPSILON);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Enclosure {
    high: f64,
    low: f64,
    radius: f64,
}

impl From<f64> for Enclosure {
    /// The number itself; what is not finite is not known.
    #[inline]
    fn from(value: f64) -> Self {
        Self { high: value, low: 0.0, radius: 0.0 }.or_unknown()
    }
}

impl Enclosure {
    /// Any number.
    pub const UNKNOWN: Self = Self { high: 0.0, low: 0.0, radius: f64::INFINITY };

    /// A number no further than `radius` from `centre`.
    #[inline]
    pub fn around(centre: f64, radius: f64) -> Self {
        Self { high: centre, low: 0.0, radius }.or_unknown()
    }

    /// A number between two, which may be infinite.
    pub fn between(low: f64, high: f64) -> Self {
        let centre = 0.5 * low + 0.5 * high;
        Self::around(centre, above((high - centre).max(centre - low)))
    }

    /// `a b`, to the last bit.
    #[inline]
    pub fn product(a: f64, b: f64) -> Self {
        let (high, low) = two_product(a, b);
        let radius = if is_whole(a, b, high) { 0.0 } else { f64::MIN_POSITIVE };
        Self { high, low, radius }.or_unknown()
    }

    /// `a - b`, exactly.
    #[inline]
    pub fn difference(a: f64, b: f64) -> Self {
        let (high, low) = two_sum(a, -b);
        Self { high, low, radius: 0.0 }.or_unknown()
    }

    /// Its parts: the centre is the sum of the first two, the third is the radius.
    #[inline]
    pub(crate) fn parts(self) -> (f64, f64, f64) {
        (self.high, self.low, self.radius)
    }

    /// From parts, unknown where one of them is no finite number.
    #[inline]
    pub(crate) fn of_parts(high: f64, low: f64, radius: f64) -> Self {
        let (high, low) = two_sum(high, low);
        Self { high, low, radius }.or_unknown()
    }

    #[inline]
    fn or_unknown(self) -> Self {
        let known = self.high.is_finite() && self.low.is_finite() && self.radius.is_finite();
        if known { self } else { Self::UNKNOWN }
    }

    /// Whether anything is known.
    #[inline]
    pub fn is_known(self) -> bool {
        self.radius.is_finite()
    }

    /// The f64 nearest to the centre: no bound.
    #[inline]
    pub fn centre(self) -> f64 {
        self.high + self.low
    }

    /// An f64 that the number does not exceed.
    pub fn upper(self) -> f64 {
        if !self.is_known() {
            return f64::INFINITY;
        }
        let (sum, error) = two_sum(self.high, self.low);
        add_up(sum, add_up(error, self.radius))
    }

    /// An f64 that the number does not fall below.
    pub fn lower(self) -> f64 {
        -(-self).upper()
    }

    /// A bound on the size of the number.
    #[inline]
    pub fn magnitude(self) -> f64 {
        above(self.high.abs() + self.low.abs() + self.radius)
    }

    /// The same number with more doubt.
    #[inline]
    #[must_use]
    pub fn widened(self, by: f64) -> Self {
        Self { radius: above(self.radius + by), ..self }.or_unknown()
    }

    /// Half of it, exactly.
    #[inline]
    #[must_use]
    pub fn half(self) -> Self {
        // Halves of the smallest numbers are rounded; the radius pays.
        let is_exact = |part: f64| part == 0.0 || part.abs() > 1e-290;
        let is_whole = self.radius == 0.0 && is_exact(self.high) && is_exact(self.low);
        let radius = if is_whole { 0.0 } else { above(0.5 * self.radius) };
        Self { high: 0.5 * self.high, low: 0.5 * self.low, radius }.or_unknown()
    }

    /// Its square.
    #[inline]
    #[must_use]
    pub fn square(self) -> Self {
        self * self
    }

    /// The larger of it and 0.
    #[must_use]
    pub fn positive_part(self) -> Self {
        if self.lower() >= 0.0 {
            self
        } else if self.upper() <= 0.0 {
            Self::from(0.0)
        } else {
            Self::between(0.0, self.upper())
        }
    }

    /// Its size.
    #[must_use]
    pub fn abs(self) -> Self {
        if self.lower() >= 0.0 {
            self
        } else if self.upper() <= 0.0 {
            -self
        } else {
            Self::between(0.0, self.magnitude())
        }
    }

    /// A number that is one of two.
    #[must_use]
    pub fn hull(self, other: Self) -> Self {
        Self::between(self.lower().min(other.lower()), self.upper().max(other.upper()))
    }

    /// Its quotient by a number that is known not to be 0; unknown otherwise.
    #[must_use]
    pub fn over(self, divisor: Self) -> Self {
        let least = divisor.lower().max(-divisor.upper());
        if least.is_nan() || least <= 0.0 || !self.is_known() {
            return Self::UNKNOWN;
        }
        let first = self.centre() / divisor.centre();
        if !first.is_finite() {
            return Self::UNKNOWN;
        }
        let rest = self - Self::from(first) * divisor;
        let second = rest.centre() / divisor.centre();
        let rest = rest - Self::from(second) * divisor;
        Self::of_parts(first, second, above(rest.magnitude() / least))
    }
}

impl Neg for Enclosure {
    type Output = Self;
    #[inline]
    fn neg(self) -> Self {
        Self { high: -self.high, low: -self.low, radius: self.radius }
    }
}

impl Add for Enclosure {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        let (sum, error) = two_sum(self.high, other.high);
        let lows = self.low + other.low;
        let low = error + lows;
        let (high, rest) = two_sum(sum, low);
        let radius = above(self.radius + other.radius + UNIT * (lows.abs() + low.abs()));
        // Nothing was rounded: nothing to make up for, not even underflow.
        let exact = self.radius + other.radius == 0.0 && lows == 0.0;
        Self { high, low: rest, radius: if exact { 0.0 } else { radius } }.or_unknown()
    }
}

impl<T: Into<Self>> AddAssign<T> for Enclosure {
    #[inline]
    fn add_assign(&mut self, other: T) {
        *self = *self + other.into();
    }
}

impl Sub for Enclosure {
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Mul for Enclosure {
    type Output = Self;
    #[inline]
    fn mul(self, other: Self) -> Self {
        let (product, error) = two_product(self.high, other.high);
        let (left, right) = (self.high * other.low, self.low * other.high);
        let cross = left + right;
        let low = error + cross;
        let (high, rest) = two_sum(product, low);
        let rounded = UNIT * (left.abs() + right.abs() + cross.abs() + low.abs());
        let spread = self.magnitude() * other.radius + other.magnitude() * self.radius;
        let is_exact = self.low == 0.0 && other.low == 0.0 && self.radius == 0.0 && other.radius == 0.0;
        let radius = if is_exact && is_whole(self.high, other.high, product) {
            0.0
        } else {
            above(above(spread) + above(rounded + (self.low * other.low).abs()))
        };
        Self { high, low: rest, radius }.or_unknown()
    }
}

#[cfg(test)]
mod tests;
