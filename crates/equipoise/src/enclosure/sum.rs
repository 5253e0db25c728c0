//! Sums of many numbers with a running, proven error.
//!
//! `high` is the rounded sum, `low` the sum of its rounding errors. The errors are exact; only the additions to `low`
//! round, each by at most u times its result. Those results are added up in `drift`, so that
//!
//! ```text
//! | exact sum - (high + low) |  <=  u drift + radii .
//! ```

use super::{Enclosure, UNIT, two_product, two_sum};

/// A sum under way.
///
/// ```
/// use equipoise::enclosure::Sum;
/// let mut sum = Sum::default();
/// for term in [1e100, 1.0, -1e100] {
///     sum.add(term);
/// }
/// assert_eq!(sum.value().centre(), 1.0);
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Sum {
    pub(super) high: f64,
    pub(super) low: f64,
    /// The sizes of everything that was rounded.
    pub(super) drift: f64,
    /// The radii of the terms, and what products may have lost to underflow.
    pub(super) radius: f64,
    /// Additions so far, for the rounding of `drift` and `radius` themselves.
    pub(super) count: f64,
}

impl Sum {
    /// Adds a number.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "part of vector loops, which must not call functions")]
    pub fn add(&mut self, term: f64) {
        let (sum, error) = two_sum(self.high, term);
        self.high = sum;
        self.low += error;
        self.drift += self.low.abs();
        self.count += 1.0;
    }

    /// Adds a product.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "part of vector loops, which must not call functions")]
    pub fn add_product(&mut self, a: f64, b: f64) {
        add_product_to(a, b, &mut self.high, &mut self.low, &mut self.drift);
        // What is lost to underflow; nothing is where a factor is 0 or the product is of some size.
        let is_whole = (a * b).abs() > 1e-290 || a == 0.0 || b == 0.0;
        self.radius += if is_whole { 0.0 } else { f64::MIN_POSITIVE };
        self.count += 1.0;
    }

    /// From the parts that [`add_product_to`] made of so many products.
    pub(crate) fn of_products(high: f64, low: f64, drift: f64, products: usize) -> Self {
        let count = products as f64;
        Self { high, low, drift, radius: count * f64::MIN_POSITIVE, count }
    }

    /// Adds a number that is known up to an error.
    #[inline]
    pub fn add_enclosure(&mut self, term: Enclosure) {
        let (high, low, radius) = term.parts();
        self.add(high);
        if low != 0.0 {
            self.add(low);
        }
        self.radius += radius;
    }

    /// Adds another sum.
    #[inline]
    pub fn merge(&mut self, other: &Self) {
        self.add(other.high);
        self.add(other.low);
        self.drift += other.drift;
        self.radius += other.radius;
        self.count += other.count;
    }

    /// Sums in numbers, for another process.
    pub fn packed(sums: &[Self]) -> Vec<f64> {
        sums.iter().flat_map(|sum| [sum.high, sum.low, sum.drift, sum.radius, sum.count]).collect()
    }

    /// Adds sums that another process has [`Sum::packed`], each to the one in its place.
    pub fn merge_packed(sums: &mut [Self], numbers: &[f64]) {
        for (sum, numbers) in sums.iter_mut().zip(numbers.chunks_exact(5)) {
            if let &[high, low, drift, radius, count] = numbers {
                sum.merge(&Self { high, low, drift, radius, count });
            }
        }
    }

    /// The sum so far.
    pub fn value(&self) -> Enclosure {
        if self.drift == 0.0 && self.radius == 0.0 {
            return Enclosure::from(self.high);
        }
        // `drift` and `radius` are sums of `count` non-negative numbers, each addition off by u of its result.
        let doubt = (UNIT * self.drift + self.radius) * (1.0 + 4.0 * self.count * f64::EPSILON);
        Enclosure::of_parts(self.high, self.low, super::above(doubt))
    }
}

/// Adds `a b` to a sum in its parts; what products may have lost to underflow is left to the caller.
#[inline(always)]
#[expect(clippy::inline_always, reason = "part of vector loops, which must not call functions")]
pub(crate) fn add_product_to(a: f64, b: f64, high: &mut f64, low: &mut f64, drift: &mut f64) {
    let (product, lost) = two_product(a, b);
    let (sum, error) = two_sum(*high, product);
    let change = error + lost;
    *high = sum;
    *low += change;
    *drift += change.abs() + low.abs();
}

impl Extend<Enclosure> for Sum {
    fn extend<I: IntoIterator<Item = Enclosure>>(&mut self, terms: I) {
        terms.into_iter().for_each(|term| self.add_enclosure(term));
    }
}
