//! lambda in fixed point: whole numbers of a unit, so that additions are exact in any order and transfers cancel to the bit.
//!
//! ```text
//! lambda_j = q_j 2^e,   q_j an i128,   e from the data;      sum over nodes + in flight = 0, exactly
//! ```
//!
//! A transfer is an f64 that is a whole number of units ([`Unit::rounded`]): both ends turn it into the same integer.
//!
//! Must not know: who transfers what, and why.

/// The unit of lambda, a power of two.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Unit {
    unit: f64,
}

/// Bits below the largest number that lambda is expected to reach; as many again are left above it.
const BITS_BELOW: i32 = 72;

impl Unit {
    /// A unit for numbers of about this size.
    pub(crate) fn for_size(size: f64) -> Self {
        let exponent = if size > 0.0 && size.is_finite() { size.log2().ceil() as i32 } else { 0 };
        Self { unit: 2f64.powi((exponent - BITS_BELOW).clamp(-1000, 900)) }
    }

    /// The nearest whole number of units, as an f64 without error; what is too large, or no number, becomes 0.
    pub(crate) fn rounded(self, value: f64) -> f64 {
        self.units(value) as f64 * self.unit
    }

    /// The same as an integer. An f64 has 53 bits, so an f64 of so many units is that f64 again.
    pub(crate) fn units(self, value: f64) -> i128 {
        /// Transfers beyond this many units are refused: a sum of 2^20 of them still fits.
        const MOST: f64 = (1_u128 << 106) as f64;
        let units = (value / self.unit).round_ties_even();
        if units.abs() <= MOST { units as i128 } else { 0 }
    }

    /// An integer as a number, rounded once.
    pub(crate) fn value(self, units: i128) -> f64 {
        units as f64 * self.unit
    }
}

/// lambda of one node.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Ledger {
    unit: Unit,
    units: Vec<i128>,
}

impl Ledger {
    /// All zero.
    pub(crate) fn new(unit: Unit, columns: usize) -> Self {
        Self { unit, units: vec![0; columns] }
    }

    /// The unit.
    pub(crate) fn unit(&self) -> Unit {
        self.unit
    }

    /// `lambda += sign * delta`, exactly; delta in whole units, as [`Unit::rounded`] makes them.
    pub(crate) fn transfer(&mut self, delta: &[f64], adds: bool) {
        for (own, value) in self.units.iter_mut().zip(delta) {
            let units = self.unit.units(*value);
            *own += if adds { units } else { -units };
        }
    }

    /// The integers.
    pub(crate) fn units(&self) -> &[i128] {
        &self.units
    }

    /// lambda, each entry rounded once.
    pub(crate) fn values(&self) -> Vec<f64> {
        self.units.iter().map(|units| self.unit.value(*units)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transfers_cancel_to_the_bit() {
        let unit = Unit::for_size(37.0);
        let (mut one, mut other) = (Ledger::new(unit, 2), Ledger::new(unit, 2));
        for k in 1..1000 {
            let delta: Vec<f64> =
                [1e-9 / f64::from(k), 123.456 / f64::from(k)].map(|v| unit.rounded(v)).into();
            assert_eq!(delta[0], unit.rounded(delta[0]));
            one.transfer(&delta, k % 3 == 0);
            other.transfer(&delta, k % 3 != 0);
        }
        assert!(one.units().iter().zip(other.units()).all(|(a, b)| a + b == 0 && *a != 0));
        assert_eq!(unit.rounded(f64::NAN), 0.0);
        assert_eq!(unit.rounded(1e300), 0.0);
    }
}
