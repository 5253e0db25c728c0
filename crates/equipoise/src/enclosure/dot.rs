//! Inner products with a proven error, by the vector instructions that are found at run time.

#![expect(
    clippy::inline_always,
    reason = "vector code must end up in the function for which the instructions are enabled"
)]

use pulp::{Arch, Simd, WithSimd};

use super::{Enclosure, Sum};

/// `a'b` of two slices of one length.
pub fn dot(a: &[f64], b: &[f64]) -> Enclosure {
    let length = a.len().min(b.len());
    Arch::new().dispatch(Dense { a: &a[..length], b: &b[..length] }).value()
}

/// The sum over k of `values[k] y[indices[k]]`; without values, of `y[indices[k]]`.
pub fn gather_dot(indices: &[u32], values: Option<&[f64]>, y: &[f64]) -> Enclosure {
    if let Some(values) = values {
        return Arch::new().dispatch(Gathered { indices, values, y }).value();
    }
    let mut sum = Sum::default();
    indices.iter().for_each(|&c| sum.add(y[c as usize]));
    sum.value()
}

/// Adds `t values[k]` to the sum of `indices[k]`, for every k; without values, t.
pub(crate) fn scatter_add(indices: &[u32], values: Option<&[f64]>, t: f64, sums: &mut [Sum]) {
    match values {
        Some(values) => Arch::new().dispatch(Scattered { indices, values, t, sums }),
        None => indices.iter().for_each(|&c| sums[c as usize].add(t)),
    }
}

/// [`gather_dot`] with values of 32 bits.
pub(crate) fn dot_gathered(indices: &[u32], values: &[f32], y: &[f64]) -> Enclosure {
    Arch::new().dispatch(Gathered { indices, values, y }).value()
}

/// [`scatter_add`] with values of 32 bits.
pub(crate) fn add_scattered(indices: &[u32], values: &[f32], t: f64, sums: &mut [Sum]) {
    Arch::new().dispatch(Scattered { indices, values, t, sums });
}

struct Dense<'a> {
    a: &'a [f64],
    b: &'a [f64],
}

impl WithSimd for Dense<'_> {
    type Output = Sum;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Sum {
        let ((a, a_tail), (b, b_tail)) = (S::as_simd_f64s(self.a), S::as_simd_f64s(self.b));
        let zero = simd.splat_f64s(0.0);
        // Lane by lane what `Sum::add_product` does; two of them side by side hide the latency.
        let mut sums = [[zero; 3]; 2];
        let ((a2, a_rest), (b2, b_rest)) = (a.as_chunks::<2>(), b.as_chunks::<2>());
        for (a, b) in a2.iter().zip(b2) {
            add_products(simd, &mut sums[0], a[0], b[0]);
            add_products(simd, &mut sums[1], a[1], b[1]);
        }
        for (a, b) in a_rest.iter().zip(b_rest) {
            add_products(simd, &mut sums[0], *a, *b);
        }
        let mut total = Sum::default();
        for sum in sums {
            let lanes = sum.map(|part| {
                let mut numbers = [0.0; MOST_LANES];
                let count = size_of::<S::f64s>() / size_of::<f64>();
                S::as_mut_simd_f64s(&mut numbers[..count]).0[0] = part;
                (numbers, count)
            });
            for l in 0..lanes[0].1 {
                let [high, low, drift] = [lanes[0].0[l], lanes[1].0[l], lanes[2].0[l]];
                total.merge(&Sum { high, low, drift, ..Sum::default() });
            }
        }
        for (a, b) in a_tail.iter().zip(b_tail) {
            total.add_product(*a, *b);
        }
        let terms = self.a.len() as f64;
        total.count += terms;
        total.radius += terms * f64::MIN_POSITIVE;
        total
    }
}

/// `sum += a b`, lane by lane. A function and no closure: one that is not compiled for the vector instructions of its caller
/// would call each of them.
#[inline(always)]
fn add_products<S: Simd>(simd: S, sum: &mut [S::f64s; 3], a: S::f64s, b: S::f64s) {
    let product = simd.mul_f64s(a, b);
    let lost = simd.mul_add_f64s(a, b, simd.neg_f64s(product));
    let high = simd.add_f64s(sum[0], product);
    let of_product = simd.sub_f64s(high, sum[0]);
    let error = simd
        .add_f64s(simd.sub_f64s(sum[0], simd.sub_f64s(high, of_product)), simd.sub_f64s(product, of_product));
    let low = simd.add_f64s(error, lost);
    let lows = simd.add_f64s(sum[1], low);
    let drift = simd.add_f64s(simd.abs_f64s(low), simd.abs_f64s(lows));
    *sum = [high, lows, simd.add_f64s(sum[2], drift)];
}

/// The f64 of the widest vector.
const MOST_LANES: usize = 16;

struct Gathered<'a, T> {
    indices: &'a [u32],
    values: &'a [T],
    y: &'a [f64],
}

impl<T: Copy + Into<f64>> WithSimd for Gathered<'_, T> {
    type Output = Sum;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) -> Sum {
        let mut sum = Sum::default();
        for (&c, &value) in self.indices.iter().zip(self.values) {
            sum.add_product(value.into(), self.y[c as usize]);
        }
        sum
    }
}

struct Scattered<'a, T> {
    indices: &'a [u32],
    values: &'a [T],
    t: f64,
    sums: &'a mut [Sum],
}

impl<T: Copy + Into<f64>> WithSimd for Scattered<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) {
        for (&c, &value) in self.indices.iter().zip(self.values) {
            self.sums[c as usize].add_product(self.t, value.into());
        }
    }
}
