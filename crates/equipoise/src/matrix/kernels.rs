//! Inner loops over contiguous numbers: short ones written so that the compiler vectorises them, long ones by the
//! vector instructions that are found at run time.

#![expect(
    clippy::inline_always,
    reason = "vector code must end up in the function for which the instructions are enabled"
)]

use pulp::{Arch, Simd, WithSimd};

/// Numbers from which on asking for the instructions takes less than they save.
const LONG: usize = 128;

/// The inner product of two slices of one length.
#[inline]
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    let length = a.len().min(b.len());
    let (a, b) = (&a[..length], &b[..length]);
    if length >= LONG { Arch::new().dispatch(LongDot { a, b }) } else { short::dot(a, b) }
}

/// `y += t * x`.
#[inline]
pub fn axpy(t: f64, x: &[f64], y: &mut [f64]) {
    if x.len() >= LONG { Arch::new().dispatch(LongAxpy { t, x, y }) } else { short::axpy(t, x, y) }
}

/// Numbers of 32 bits that are widened at a time.
const WIDENED: usize = 1024;
/// The same of rows that are short: a smaller place is sooner there.
const FEW_WIDENED: usize = 64;

/// The inner product with numbers of 32 bits: the same bits as with these numbers widened, where they are no more than
/// [`WIDENED`].
#[inline]
pub(crate) fn dot_single(a: &[f32], b: &[f64]) -> f64 {
    let mut sum = 0.0;
    widened(a, |first, wide| sum += dot(wide, &b[first..first + wide.len()]));
    sum
}

/// The inner product of numbers of 32 bits.
#[inline]
pub(crate) fn dot_singles(a: &[f32], b: &[f32]) -> f64 {
    let mut sum = 0.0;
    widened(a, |first, wide| sum += dot_single(&b[first..first + wide.len()], wide));
    sum
}

/// `y += t * x` with numbers of 32 bits.
#[inline]
pub(crate) fn axpy_single(t: f64, x: &[f32], y: &mut [f64]) {
    widened(x, |first, wide| axpy(t, wide, &mut y[first..first + wide.len()]));
}

/// Hands over the numbers in 64 bits, chunk by chunk, each with the place where it begins.
#[inline]
fn widened(list: &[f32], take: impl FnMut(usize, &[f64])) {
    if list.len() <= FEW_WIDENED { by::<FEW_WIDENED>(list, take) } else { by::<WIDENED>(list, take) }
}

#[inline]
fn by<const N: usize>(list: &[f32], mut take: impl FnMut(usize, &[f64])) {
    let mut buffer = [0.0; N];
    for (k, chunk) in list.chunks(N).enumerate() {
        let wide = &mut buffer[..chunk.len()];
        wide.iter_mut().zip(chunk).for_each(|(wide, &short)| *wide = f64::from(short));
        take(k * N, wide);
    }
}

/// The same where vectors are known to be short: without asking for the instructions, and in the same order of additions
/// at every length.
pub(crate) mod short {
    /// The number of independent sums that hide the latency of an addition.
    const LANES: usize = 8;

    /// `a'b`.
    #[inline]
    pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
        let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
        let mut lanes = [0.0; LANES];
        for (a, b) in a.iter().zip(b) {
            for l in 0..LANES {
                lanes[l] += a[l] * b[l];
            }
        }
        let rest: f64 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
        let [a, b, c, d, e, f, g, h] = lanes;
        ((a + e) + (b + f)) + ((c + g) + (d + h)) + rest
    }

    /// `y += t x`.
    #[inline]
    pub(crate) fn axpy(t: f64, x: &[f64], y: &mut [f64]) {
        for (y, x) in y.iter_mut().zip(x) {
            *y += t * x;
        }
    }
}

struct LongDot<'a> {
    a: &'a [f64],
    b: &'a [f64],
}

impl WithSimd for LongDot<'_> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f64 {
        let ((a, a_tail), (b, b_tail)) = (S::as_simd_f64s(self.a), S::as_simd_f64s(self.b));
        let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<4>(), b.as_chunks::<4>());
        let mut sums = [simd.splat_f64s(0.0); 4];
        for (a, b) in a.iter().zip(b) {
            sums[0] = simd.mul_add_e_f64s(a[0], b[0], sums[0]);
            sums[1] = simd.mul_add_e_f64s(a[1], b[1], sums[1]);
            sums[2] = simd.mul_add_e_f64s(a[2], b[2], sums[2]);
            sums[3] = simd.mul_add_e_f64s(a[3], b[3], sums[3]);
        }
        for (a, b) in a_rest.iter().zip(b_rest) {
            sums[0] = simd.mul_add_e_f64s(*a, *b, sums[0]);
        }
        let sum = simd.add_f64s(simd.add_f64s(sums[0], sums[2]), simd.add_f64s(sums[1], sums[3]));
        let tail: f64 = a_tail.iter().zip(b_tail).map(|(a, b)| a * b).sum();
        simd.reduce_sum_f64s(sum) + tail
    }
}

struct LongAxpy<'a> {
    t: f64,
    x: &'a [f64],
    y: &'a mut [f64],
}

impl WithSimd for LongAxpy<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let length = self.x.len().min(self.y.len());
        let (x, x_tail) = S::as_simd_f64s(&self.x[..length]);
        let (y, y_tail) = S::as_mut_simd_f64s(&mut self.y[..length]);
        let t = simd.splat_f64s(self.t);
        y.iter_mut().zip(x).for_each(|(y, x)| *y = simd.mul_add_e_f64s(t, *x, *y));
        y_tail.iter_mut().zip(x_tail).for_each(|(y, x)| *y += self.t * x);
    }
}

/// The largest size of an entry; 0 for none.
#[inline]
pub fn max_abs(v: &[f64]) -> f64 {
    v.iter().fold(0.0, |most: f64, a| most.max(a.abs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dot_and_axpy_agree_with_plain_loops_at_every_length() {
        for length in (0..40).chain([127, 128, 129, 143, 144, 145, 300]) {
            let a: Vec<f64> = (0..length).map(|k| f64::from(k) - 3.5).collect();
            let b: Vec<f64> = (0..length).map(|k| 0.5 * f64::from(k * k) - 1.0).collect();
            let plain: f64 = a.iter().zip(&b).map(|(a, b)| a * b).sum();
            assert!((dot(&a, &b) - plain).abs() <= 1e-12 * (1.0 + plain.abs()));
            let mut y = b.clone();
            axpy(2.0, &a, &mut y);
            // All of these are exact.
            assert!(y.iter().zip(&a).zip(&b).all(|((y, a), b)| *y == 2.0 * a + b));
        }
    }
}
