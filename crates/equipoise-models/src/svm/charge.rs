//! What an error of a row costs: `C_i = cost * weight of its class * weight of the row`, as a real number, or the
//! ceiling where that is less.
//!
//! The product of three f64 need not be one. Proofs take it with its error; the solver takes the largest f64 that is known
//! not to exceed it, so that multipliers within its bounds are within the exact ones.
//!
//! Must not know: what is made of the charges.

use equipoise::enclosure::Enclosure;
use equipoise::separable::Values;

/// The factors of the charges.
#[derive(Debug, Clone, Copy)]
pub(super) struct Charges<'a> {
    pub(super) cost: f64,
    /// Labels and their weights; labels not named have 1.
    pub(super) class_weights: &'a [(f64, f64)],
    /// One a row.
    pub(super) labels: &'a [f64],
    /// One a row, `None` for 1 each.
    pub(super) weights: Option<&'a [f64]>,
    /// Where charges are cut off; infinite for nowhere, which is what a user means.
    pub(super) ceiling: f64,
}

impl Charges<'_> {
    /// `C_i`.
    #[inline]
    pub(super) fn exact(&self, i: usize) -> Enclosure {
        let named = || self.class_weights.iter().find(|(label, _)| *label == self.labels[i]);
        let of_class = if self.class_weights.is_empty() { None } else { named() };
        let cost = of_class.map_or(self.cost.into(), |(_, weight)| times(self.cost.into(), *weight));
        let charge = self.weights.map_or(cost, |weights| times(cost, weights[i]));
        if charge.upper() > self.ceiling { self.cut(charge) } else { charge }
    }

    /// The smaller of a charge and the ceiling, where the first is not known to be that.
    #[cold]
    fn cut(&self, charge: Enclosure) -> Enclosure {
        let ceiling = self.ceiling;
        if charge.lower() >= ceiling { ceiling.into() } else { Enclosure::between(charge.lower(), ceiling) }
    }

    /// Numbers that the charges do not fall below; infinite where one overflows.
    pub(super) fn below(&self) -> Values {
        if self.weights.is_none() && self.class_weights.is_empty() {
            return Values::Uniform(self.cost.min(self.ceiling));
        }
        let below = |i: usize| {
            let exact = self.exact(i);
            if exact.is_known() { exact.lower().max(0.0) } else { f64::INFINITY }
        };
        Values::Each((0..self.labels.len()).map(below).collect())
    }
}

/// `a b`; a product that is an f64 has no error.
pub(super) fn times(a: Enclosure, b: f64) -> Enclosure {
    let (low, high) = (a.lower(), a.upper());
    if low == high {
        let product = low * b;
        // Far from underflow the error of a product is an f64, and fma finds it.
        let is_exact = product.abs() > 1e-280 && low.mul_add(b, -product) == 0.0;
        return if is_exact || low == 0.0 || b == 0.0 { product.into() } else { Enclosure::product(low, b) };
    }
    a * b.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_that_are_numbers_stay_exact() {
        let weights = [2.0, 0.1, 0.0];
        let charges = Charges {
            cost: 3.0,
            class_weights: &[(1.0, 5.0), (2.0, 1e308)],
            labels: &[1.0, 1.0, 7.0],
            weights: Some(&weights),
            ceiling: f64::INFINITY,
        };
        assert_eq!(charges.below().as_slice()[0], 30.0);
        assert_eq!(charges.below().as_slice()[2], 0.0);
        // 15 times the f64 next to 0.1 is no f64.
        let exact = charges.exact(1);
        assert!(exact.lower() < exact.upper() && charges.below().as_slice()[1] <= 1.5);
        let overflows = Charges { labels: &[2.0], weights: None, ..charges };
        assert_eq!(overflows.below().as_slice(), [f64::INFINITY]);
        let cut = Charges { ceiling: 7.0, ..charges };
        assert_eq!((cut.below().as_slice()[0], cut.exact(0).upper()), (7.0, 7.0));
        assert_eq!(cut.exact(1).upper(), exact.upper());
    }
}
