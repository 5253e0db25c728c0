//! How convex a quadratic is, proven.
//!
//! - Given: a symmetric matrix Q that counts as positive semidefinite.
//! - Returns: a number mu, perhaps a little below 0, with `x'Qx >= mu sum_c d_c x_c^2` for all x in exact arithmetic; d are powers
//!   of two near the diagonal of Q, so that mu does not depend on the units of x, and 0 where Q has a row of zeros.
//! - Must not know: what the quadratic is for.
//!
//! The proof is a factorisation of `S = (Q + Q')/2` in units of d, shifted. In plain arithmetic: if Cholesky's method runs to its
//! end then `S >= -g tr(S) I` with `g = (n + 2) u / (1 - (n + 2) u)`, in whatever order its sums are taken (Rump 2006). Where
//! S is singular up to rounding, elimination with enclosures has twice the digits: all its pivots are proven to be
//! above 0.

use faer::sparse::Triplet;

use super::sparse_definite::has_factor;
use super::{Cholesky, Matrix};
use crate::control::{Control, Pass};
use crate::enclosure::{Enclosure, above};
use crate::team::Team;

/// Up to this order a singular matrix is looked at with twice the digits.
const ELIMINATION_ORDER: usize = 160;

/// `x'Qx >= least sum_c weight_c x_c^2`.
#[derive(Debug, Clone)]
pub(crate) struct LeastCurvature {
    pub(crate) least: f64,
    pub(crate) weight: Vec<f64>,
}

/// The largest number found for which the inequality is proven.
pub(crate) fn least_curvature(matrix: &Matrix, control: &Control) -> Pass<LeastCurvature> {
    let order = matrix.rows();
    // s_c with s_c^2 q_cc between 1/2 and 2; products with powers of two are exact.
    let scale: Vec<f64> = (0..order).map(|c| inverse_root(matrix.entry(c, c))).collect();
    let scaled = Scaled { matrix, scale: &scale, is_zero: &[] };
    // Rows of zeros, as those of slacks, say nothing and take no part: what is left may be definite.
    let mut is_zero = vec![true; order];
    matrix.for_each(|r, c, value| {
        if value != 0.0 {
            (is_zero[r], is_zero[c]) = (false, false);
        }
    });
    let scaled = Scaled { is_zero: &is_zero, ..scaled };
    let weigh = |(s, is_zero): (&f64, &bool)| if *is_zero { 0.0 } else { 1.0 / (s * s) };
    let weight = scale.iter().zip(&is_zero).map(weigh).collect();
    let rounding = order as f64 * f64::EPSILON;
    let plain = |shift: f64| scaled.by_cholesky(shift, control);
    let precise = |shift: f64| Ok(scaled.by_elimination(shift));
    let proofs: [&dyn Fn() -> Pass<f64>; 10] = [
        &|| plain(1e-3),
        &|| plain(1e-6),
        &|| plain(1e-9),
        &|| plain(0.0),
        &|| precise(1e-26),
        &|| precise(1e-20),
        &|| precise(rounding),
        &|| plain(-32.0 * rounding),
        &|| plain(-1e-9),
        &|| plain(-1e-6),
    ];
    for proof in proofs {
        let least = proof()?;
        if least.is_finite() {
            return Ok(LeastCurvature { least, weight });
        }
    }
    Ok(LeastCurvature { least: f64::NEG_INFINITY, weight })
}

/// A power of two near `1/sqrt(q)`; 1 where q is not above 0.
fn inverse_root(q: f64) -> f64 {
    if q > 0.0 { (-0.5 * q.log2()).round().clamp(-500.0, 500.0).exp2() } else { 1.0 }
}

/// Q in units in which its diagonal is near 1.
struct Scaled<'a> {
    matrix: &'a Matrix<'a>,
    scale: &'a [f64],
    is_zero: &'a [bool],
}

impl Scaled<'_> {
    fn entry(&self, r: usize, c: usize) -> f64 {
        self.matrix.entry(r, c) * (self.scale[r] * self.scale[c])
    }

    /// Entry c of the diagonal less the shift; 1 where the row is of zeros and stands alone.
    fn pivot(&self, c: usize, shift: f64) -> f64 {
        if self.is_zero[c] { 1.0 } else { self.entry(c, c) - shift }
    }

    /// Calls `visit(r, c, entry, mirrored entry)` for every stored entry.
    fn for_each(&self, mut visit: impl FnMut(usize, usize, f64, f64)) {
        self.matrix.for_each(|r, c, value| {
            let unit = self.scale[r] * self.scale[c];
            visit(r, c, value * unit, self.matrix.entry(c, r) * unit);
        });
    }

    /// A number near `wanted` that no eigenvalue is below; minus infinity where there is no proof.
    fn by_cholesky(&self, wanted: f64, control: &Control) -> Pass<f64> {
        let order = self.scale.len();
        let (mut trace, mut skew, mut tiny) = (0.0, vec![0.0; order], 0.0);
        self.for_each(|r, c, value, mirrored| {
            if r == c {
                trace += value.abs();
            } else {
                skew[r] += (value - mirrored).abs();
                // What the units made too small for an exact product.
                tiny += f64::MIN_POSITIVE;
            }
        });
        // Each row of zeros has a pivot of 1 instead.
        let zeros = self.is_zero.iter().filter(|is_zero| **is_zero).count() as f64;
        let trace = (trace + zeros + order as f64 * wanted.abs()) * (1.0 + 4.0 * order as f64 * f64::EPSILON);
        let doubt = above((order as f64 + 4.0) * f64::EPSILON * trace + super::max_abs(&skew) + tiny);
        let shift = if wanted >= 0.0 { wanted + 2.0 * doubt } else { wanted };
        control.check()?;
        let factored = match self.matrix {
            Matrix::Dense(_) => {
                let mut shifted: Vec<f64> =
                    (0..order).flat_map(|c| (0..order).map(move |r| self.entry(r, c))).collect();
                (0..order).for_each(|c| {
                    shifted[c * (order + 1)] = self.pivot(c, shift);
                });
                Cholesky::default().factor(&Team::of(1), &shifted, order, control)?
            }
            Matrix::Sparse(_) => {
                let diagonal = |c: usize| Triplet::new(c, c, self.pivot(c, shift));
                let mut triplets: Vec<_> = (0..order).map(diagonal).collect();
                self.for_each(|r, c, value, _| {
                    if r > c {
                        triplets.push(Triplet::new(r, c, value));
                    }
                });
                has_factor(order, &triplets, control)?
            }
        };
        let least = if wanted >= 0.0 { wanted } else { shift - 2.0 * doubt };
        Ok(if factored && least.is_finite() { least } else { f64::NEG_INFINITY })
    }

    /// Minus the shift, where the matrix with the shift is proven positive definite; minus infinity where it is not, or the order
    /// is too large for that.
    fn by_elimination(&self, shift: f64) -> f64 {
        let order = self.scale.len();
        if order > ELIMINATION_ORDER {
            return f64::NEG_INFINITY;
        }
        let tiny = f64::MIN_POSITIVE;
        let mean = |r: usize, c: usize| {
            (Enclosure::from(self.entry(r, c)) + self.entry(c, r).into()).half().widened(tiny)
        };
        let mut left: Vec<Vec<Enclosure>> =
            (0..order).map(|r| (0..=r).map(|c| mean(r, c)).collect()).collect();
        for k in 0..order {
            if self.is_zero[k] {
                continue;
            }
            let pivot = left[k][k] + shift.into();
            if !pivot.is_known() || pivot.lower() <= 0.0 {
                return f64::NEG_INFINITY;
            }
            for r in k + 1..order {
                let factor = left[r][k].over(pivot);
                for c in k + 1..=r {
                    left[r][c] = left[r][c] - factor * left[c][k];
                }
            }
        }
        -shift
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(rows: &[&[f64]]) -> LeastCurvature {
        least_curvature(&Matrix::from_rows(rows).expect("square"), &Control::unlimited())
            .expect("nothing ends it")
    }

    #[test]
    fn what_is_proven_holds_and_is_sharp() {
        let definite = of(&[&[2.0, 1.0], &[1.0, 2.0]]);
        assert!(definite.least >= 1e-3 && definite.least * definite.weight[0] <= 1.0);
        // Singular, in units that differ by 1e8 in each variable.
        let singular = of(&[&[1e-8, 1.0], &[1.0, 1e8]]);
        assert!(singular.least <= 0.0 && singular.least >= -1e-15, "{singular:?}");
        // A row of zeros says nothing, and spoils nothing.
        let slack = of(&[&[2.0, 0.0, 1.0], &[0.0, 0.0, 0.0], &[1.0, 0.0, 2.0]]);
        assert!(slack.least >= 1e-3 && slack.weight[1] == 0.0 && slack.weight[0] > 0.0, "{slack:?}");
        let zero = of(&[&[0.0, 0.0], &[0.0, 0.0]]);
        assert!(zero.least >= -1e-25 && zero.weight == [0.0, 0.0], "{zero:?}");
        assert_eq!(of(&[&[1.0, 2.0], &[2.0, 1.0]]).least, f64::NEG_INFINITY);
    }
}
