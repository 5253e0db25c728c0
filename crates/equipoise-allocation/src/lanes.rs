//! Sums over blocks in eight lanes: plain ones, and ones with a proven error.
//!
//! ```text
//! Twofold: high + low = the sum of products; |error| <= (gamma_n)^2 sum |a b| + what underflows,   gamma_n = n u/(1 - n u)
//! ```
//!
//! (Ogita, Rump and Oishi 2005, `Dot2`, in each lane.) The order of the additions depends on the lengths alone. Must not
//! know: what is summed.

#![expect(clippy::inline_always, reason = "part of vector loops, which must not call functions")]

use equipoise::enclosure::{Enclosure, Sum, above};

use crate::elementary::UNIT;

const LANES: usize = 8;

/// A sum of products in two parts, with the sum of their sizes.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Twofold {
    high: [f64; LANES],
    low: [f64; LANES],
    size: [f64; LANES],
    count: usize,
}

impl Twofold {
    /// Adds `sum_k a_k b_k`.
    #[inline(always)]
    pub(crate) fn add_products(&mut self, a: &[f64], b: &[f64]) {
        let (a_chunks, a_rest) = a.as_chunks::<LANES>();
        let (b_chunks, b_rest) = b.as_chunks::<LANES>();
        for (a, b) in a_chunks.iter().zip(b_chunks) {
            for j in 0..LANES {
                self.add_one(j, a[j], b[j]);
            }
        }
        for (j, (a, b)) in a_rest.iter().zip(b_rest).enumerate() {
            self.add_one(j, *a, *b);
        }
        self.count += a.len();
    }

    /// Adds `sum_k a_k`.
    #[inline(always)]
    pub(crate) fn add_numbers(&mut self, a: &[f64]) {
        let (chunks, rest) = a.as_chunks::<LANES>();
        for a in chunks {
            for j in 0..LANES {
                self.add_number(j, a[j]);
            }
        }
        for (j, a) in rest.iter().enumerate() {
            self.add_number(j, *a);
        }
        self.count += a.len();
    }

    #[inline(always)]
    fn add_one(&mut self, j: usize, a: f64, b: f64) {
        let product = a * b;
        let lost = a.mul_add(b, -product);
        let sum = self.high[j] + product;
        let of_product = sum - self.high[j];
        let error = (self.high[j] - (sum - of_product)) + (product - of_product);
        self.high[j] = sum;
        self.low[j] += error + lost;
        self.size[j] += product.abs();
    }

    #[inline(always)]
    fn add_number(&mut self, j: usize, a: f64) {
        let sum = self.high[j] + a;
        let of_a = sum - self.high[j];
        let error = (self.high[j] - (sum - of_a)) + (a - of_a);
        self.high[j] = sum;
        self.low[j] += error;
        self.size[j] += a.abs();
    }

    /// The sum of the sizes, in plain arithmetic.
    pub(crate) fn size(&self) -> f64 {
        self.size.iter().sum()
    }

    /// The sum, in plain arithmetic, as good as it gets.
    pub(crate) fn value(&self) -> f64 {
        let low: f64 = self.low.iter().sum();
        // Infinite terms leave errors that are no numbers.
        self.high.iter().sum::<f64>() + if low.is_finite() { low } else { 0.0 }
    }

    /// The numbers whose sum it is, in plain arithmetic.
    pub(crate) fn parts(&self) -> [f64; 2 * LANES] {
        let mut parts = [0.0; 2 * LANES];
        parts[..LANES].copy_from_slice(&self.high);
        parts[LANES..].copy_from_slice(&self.low);
        parts
    }

    /// Adds what is known of the sum to another.
    pub(crate) fn add_to(&self, total: &mut Sum) {
        let n = self.count as f64;
        let gamma = 2.0 * (n + 2.0) * UNIT;
        for j in 0..LANES {
            total.add_enclosure(Enclosure::from(self.high[j]));
            total.add_enclosure(Enclosure::from(self.low[j]));
        }
        let size = above(self.size() * (1.0 + gamma)) + n * f64::MIN_POSITIVE;
        let doubt = above(gamma * gamma * size) + n * f64::MIN_POSITIVE;
        total.add_enclosure(Enclosure::around(0.0, doubt));
    }
}

/// A plain sum of products, each fused with its addition.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Plain([f64; LANES]);

impl Plain {
    /// Adds `sum_k a_k b_k`.
    #[inline(always)]
    pub(crate) fn add_products(&mut self, a: &[f64], b: &[f64]) {
        let (a_chunks, a_rest) = a.as_chunks::<LANES>();
        let (b_chunks, b_rest) = b.as_chunks::<LANES>();
        for (a, b) in a_chunks.iter().zip(b_chunks) {
            for j in 0..LANES {
                self.0[j] = a[j].mul_add(b[j], self.0[j]);
            }
        }
        for (j, (a, b)) in a_rest.iter().zip(b_rest).enumerate() {
            self.0[j] = a.mul_add(*b, self.0[j]);
        }
    }

    /// Adds `sum_k |a_k b_k|`.
    #[inline(always)]
    pub(crate) fn add_sizes(&mut self, a: &[f64], b: &[f64]) {
        let (a_chunks, a_rest) = a.as_chunks::<LANES>();
        let (b_chunks, b_rest) = b.as_chunks::<LANES>();
        for (a, b) in a_chunks.iter().zip(b_chunks) {
            for j in 0..LANES {
                self.0[j] = a[j].abs().mul_add(b[j].abs(), self.0[j]);
            }
        }
        for (j, (a, b)) in a_rest.iter().zip(b_rest).enumerate() {
            self.0[j] = a.abs().mul_add(b.abs(), self.0[j]);
        }
    }

    /// Adds `sum_k a_k`.
    #[inline(always)]
    pub(crate) fn add_numbers(&mut self, a: &[f64]) {
        let (chunks, rest) = a.as_chunks::<LANES>();
        for a in chunks {
            for j in 0..LANES {
                self.0[j] += a[j];
            }
        }
        for (j, a) in rest.iter().enumerate() {
            self.0[j] += a;
        }
    }

    /// The sum.
    #[inline(always)]
    pub(crate) fn value(&self) -> f64 {
        self.0.iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cancels_is_not_lost() {
        let a: Vec<f64> = (0..1000).map(|k| if k % 2 == 0 { 1e16 } else { -1e16 }).chain([1.0]).collect();
        let b = vec![1.0; a.len()];
        let (mut products, mut numbers) = (Twofold::default(), Twofold::default());
        products.add_products(&a, &b);
        numbers.add_numbers(&a);
        for sum in [products, numbers] {
            assert_eq!(sum.value(), 1.0);
            let mut total = Sum::default();
            sum.add_to(&mut total);
            let value = total.value();
            assert!(value.lower() <= 1.0 && value.upper() >= 1.0 && value.upper() - value.lower() < 1e-4);
        }
        let mut plain = Plain::default();
        plain.add_products(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]);
        plain.add_numbers(&[0.5; 9]);
        assert_eq!(plain.value(), 36.5);
    }
}
