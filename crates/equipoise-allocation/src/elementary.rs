//! exp and ln for vector loops, with proven errors.
//!
//! Without branches and without calls, so that a compiler turns loops over them into vector instructions; products and sums are
//! fused, which rounds once in place of twice. With u = 2^-53:
//!
//! - **exp(c)**, c clamped to -708..=709: `c = k ln 2 + r`, |r| <= 0.347, ln 2 in two parts, so that r is off by less than
//!   `u + |k| 2^-95`; Taylor's polynomial of degree 13 misses exp(r) by less than u/20; Horner's rule adds less than 5 u.
//!   Together: relative error at most [`EXP_ERROR`] = 8 u.
//! - **ln(v)**, v a positive f64: `v = 2^k m`, m in 0.707..1.415, `ln m = 2 artanh(s)`, `s = (m - 1)/(m + 1)`. The series up to
//!   `s^21/21` misses less than 1e-18 of it; s, the series and the products are off by 8 u of `ln m`; `k ln 2` and the sum
//!   add 3 u of themselves. For k = 0 the error is 8 u of the result; otherwise the terms are at most 3 times the result.
//!   Together: relative error at most [`LN_ERROR`] = 32 u.
//!
//! The tests below compare both with the enclosures of [`equipoise::enclosure`]. Must not know: what is computed with them.

#![expect(clippy::inline_always, reason = "part of vector loops, which must not call functions")]

/// Half the distance of 1 from the next f64.
pub(crate) const UNIT: f64 = f64::EPSILON / 2.0;
/// The relative error of [`exp`] within its range.
pub(crate) const EXP_ERROR: f64 = 8.0 * UNIT;
/// The relative error of [`ln`].
pub(crate) const LN_ERROR: f64 = 32.0 * UNIT;

/// ln 2, its leading 42 bits and the rest.
const LN2_HIGH: f64 = f64::from_bits(0x3FE6_2E42_FEFA_3800);
const LN2_LOW: f64 = f64::from_bits(0x3D2E_F357_93C7_6730);
/// 1.5 2^52: adding it rounds to a whole number, which then is in the last bits.
const WHOLE: f64 = 6_755_399_441_055_744.0;

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

/// e to the power c; c is taken as -708 where it is below, as 709 where it is above (or no number).
#[inline(always)]
pub(crate) fn exp(c: f64) -> f64 {
    let c = if c < 709.0 { c } else { 709.0 };
    let c = if c > -708.0 { c } else { -708.0 };
    let shifted = c.mul_add(std::f64::consts::LOG2_E, WHOLE);
    let k = shifted - WHOLE;
    let r = (-k).mul_add(LN2_LOW, (-k).mul_add(LN2_HIGH, c));
    let mut series = INVERSE_FACTORIALS[13];
    for coefficient in INVERSE_FACTORIALS[..13].iter().rev() {
        series = series.mul_add(r, *coefficient);
    }
    // 2^(k - 1), because 2^1024 is no f64; the last bits of `shifted` are k.
    let power = f64::from_bits((shifted.to_bits().wrapping_add(1022)) << 52);
    (series * power) * 2.0
}

/// The natural logarithm of a positive f64; for 0 and below the result means nothing.
#[inline(always)]
pub(crate) fn ln(v: f64) -> f64 {
    // A subnormal number becomes normal first.
    let is_small = v < f64::MIN_POSITIVE;
    let normal = if is_small { v * 18_014_398_509_481_984.0 } else { v };
    let bits = normal.to_bits();
    // The exponent as the last bits of a large number.
    let exponent = f64::from_bits((bits >> 52) | 0x4330_0000_0000_0000) - 4_503_599_627_370_496.0 - 1023.0;
    let mantissa = f64::from_bits((bits & 0x000F_FFFF_FFFF_FFFF) | 0x3FF0_0000_0000_0000);
    let is_large = mantissa > std::f64::consts::SQRT_2;
    let m = if is_large { 0.5 * mantissa } else { mantissa };
    let k = exponent + if is_large { 1.0 } else { 0.0 } - if is_small { 54.0 } else { 0.0 };
    let s = (m - 1.0) / (m + 1.0);
    let square = s * s;
    let mut series = 1.0_f64 / 21.0;
    for j in [19.0, 17.0, 15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0, 1.0] {
        series = series.mul_add(square, 1.0 / j);
    }
    k.mul_add(LN2_HIGH, k.mul_add(LN2_LOW, 2.0 * s * series))
}

#[cfg(test)]
mod tests {
    use equipoise::enclosure::Enclosure;

    use super::*;

    /// Both are as near to the enclosures of the library, which have tests of their own, as they promise.
    #[test]
    fn errors_are_what_they_are_said_to_be() {
        let mut seed = 1_u64;
        let mut next = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 11) as f64 / 9_007_199_254_740_992.0
        };
        for k in 0..200_000 {
            let c = if k % 2 == 0 { 1416.0 * next() - 707.0 } else { 4.0 * next() - 2.0 };
            let (found, known) = (exp(c), Enclosure::from(c).exp());
            let worst = (found - known.lower()).abs().max((found - known.upper()).abs());
            assert!(worst <= (EXP_ERROR + 9.0 * UNIT) * found + 1e-307, "exp({c}) = {found}, {known:?}");
            let v = if k % 2 == 0 { exp(1400.0 * next() - 700.0) } else { 0.5 + 2.0 * next() };
            let (found, known) = (ln(v), Enclosure::from(v).ln());
            let worst = (found - known.lower()).abs().max((found - known.upper()).abs());
            assert!(worst <= (LN_ERROR + 20.0 * UNIT) * found.abs(), "ln({v}) = {found}, {known:?}");
        }
        assert_eq!((exp(0.0), ln(1.0)), (1.0, 0.0));
        assert!((ln(5e-324) + 744.440_071_921_381_2).abs() < 1e-12 && exp(-1e9) == exp(-708.0));
        assert!(exp(709.0).is_finite() && exp(f64::NAN) == exp(709.0));
        for step in [-3_i64, -1, 0, 1, 3] {
            let v = f64::from_bits(1.0_f64.to_bits().wrapping_add_signed(step));
            assert!((ln(v) - (v - 1.0)).abs() <= 1e-30, "{v}");
        }
    }
}
