//! The least size of a dual that a gap is relative to, where the dual may be 0.
//!
//! The optimum of nu-svc is `-1/2 |w|^2`, and `w = nu N / 2 (p - q)`, p and q the nearest points of what is left of the hulls of
//! both classes. Where these overlap it is 0, and a gap relative to it never falls. It is then relative to what it would be
//! if p and q were a share of the spread of the rows apart:
//!
//! ```text
//! SHARE 1/2 (nu N / 2)^2 V        V = sum_i c_i |x_i - m|^2 / N ,    m = sum_i c_i x_i / N ,    N = sum_i c_i
//! ```
//!
//! which moves with the units of the features and of the weights as the dual does, and not with their origin. A gap of 1e-4
//! then says `w = 0` where the hulls are within 1e-7 of the spread of each other.
//!
//! Must not know: who asks.

use super::Kind;
use super::dual::Task;
use super::proof::LEAST_SCALE;
use equipoise::{Control, Pass};

/// The squared distance of the hulls, in shares of V, from which on a gap is relative to the dual.
const SHARE: f64 = 1e-10;

impl Task<'_> {
    /// The smallest size of a dual that a gap is relative to.
    pub(super) fn least_scale(&self, control: &Control) -> Pass<f64> {
        if self.kind != Kind::NuSvc {
            return Ok(LEAST_SCALE);
        }
        let half = 0.5 * self.nu * self.total();
        let scale = SHARE * 0.5 * half * half * self.variance(control)?;
        // Rows that are all the same have no spread, and w = 0 whatever their unit.
        Ok(if scale > 0.0 && scale.is_finite() { scale } else { LEAST_SCALE })
    }

    /// V, column by column, so that a feature far from 0 does not drown in rounding what it differs by.
    fn variance(&self, control: &Control) -> Pass<f64> {
        let (columns, total) = (self.rows.columns(), self.total());
        let add = |i: usize, sums: &mut Vec<f64>| {
            let weight = self.caps.at(i);
            self.rows.for_each(i, |c, value| {
                sums[c] += weight * value;
                sums[columns + c] += weight;
            });
        };
        let mut means = self.total_vector(2 * columns, control, add)?;
        let stored = means.split_off(columns);
        means.iter_mut().for_each(|mean| *mean /= total);
        let add = |i: usize, sums: &mut Vec<f64>| {
            let weight = self.caps.at(i);
            self.rows.for_each(i, |c, value| sums[c] += weight * (value - means[c]).powi(2));
        };
        let squares = self.total_vector(columns, control, add)?;
        // Rows that do not store a feature have a 0 there.
        let of_column = |c: usize| squares[c] + (total - stored[c]).max(0.0) * means[c] * means[c];
        Ok((0..columns).map(of_column).sum::<f64>() / total)
    }
}
