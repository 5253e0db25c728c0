//! Small symmetric systems by eigenvalues, and the test that a quadratic is convex.
//!
//! Eigenvalues below `1e-13` of the largest count as zero in [`PseudoInverse`]: coupling rows may be
//! dependent on a subset of the columns.

use faer::sparse::{SparseColMat, Triplet};
use faer::{Mat, Side};

use super::Matrix;
use crate::error::{Error, Result};

/// Relative size under which an eigenvalue counts as zero in a pseudo-inverse.
const RANK_TOLERANCE: f64 = 1e-13;
/// Negative eigenvalues of a quadratic down to this multiple of its norm count as zero.
const CONVEXITY_TOLERANCE: f64 = 1e-10;
/// Up to this order eigenvalues are computed; beyond it a Cholesky factorisation decides.
const EIGENVALUE_ORDER: usize = 1500;

/// The pseudo-inverse of a small symmetric positive semidefinite matrix.
#[derive(Debug, Clone)]
pub(crate) struct PseudoInverse {
    order: usize,
    /// Eigenvectors, column after column, each divided by the root of its eigenvalue.
    scaled: Vec<f64>,
}

impl PseudoInverse {
    /// From the lower triangle of a column-major matrix.
    pub(crate) fn new(gram: &[f64], order: usize) -> Self {
        if order == 0 {
            return Self { order, scaled: Vec::new() };
        }
        let matrix = Mat::from_fn(order, order, |r, c| gram[c.min(r) * order + r.max(c)]);
        let Ok(eigen) = matrix.self_adjoint_eigen(Side::Lower) else {
            return Self { order, scaled: Vec::new() };
        };
        let values = eigen.S().column_vector();
        let largest = (0..order).map(|k| values[k]).fold(0.0, f64::max);
        let mut scaled = Vec::new();
        for k in (0..order).filter(|&k| values[k] > RANK_TOLERANCE * largest) {
            let root = values[k].sqrt();
            scaled.extend((0..order).map(|r| eigen.U()[(r, k)] / root));
        }
        Self { order, scaled }
    }

    /// `out = (pseudo-inverse) rhs`.
    pub(crate) fn apply(&self, rhs: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        for vector in self.scaled.chunks_exact(self.order.max(1)) {
            super::axpy(super::dot(vector, rhs), vector, out);
        }
    }
}

/// Refuses a symmetric matrix with an eigenvalue below `-1e-10` times its norm; returns a number that no eigenvalue is
/// below, proven: a little below 0 where the matrix is singular up to rounding.
pub(crate) fn check_convex(input: &str, matrix: &Matrix) -> Result<f64> {
    let order = matrix.rows();
    let refuse = |eigenvalue, allowed| Err(Error::NotConvex { input: input.into(), eigenvalue, allowed });
    if order <= EIGENVALUE_ORDER {
        let dense = Mat::from_fn(order, order, |r, c| matrix.entry(r, c));
        let values = dense.self_adjoint_eigenvalues(Side::Lower).unwrap_or_default();
        let norm = values.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
        let smallest = values.iter().copied().fold(f64::INFINITY, f64::min);
        let allowed = -CONVEXITY_TOLERANCE * norm;
        // Eigenvalues themselves are known to rounding only.
        let rounding = 1e-14 * norm * order as f64;
        if smallest < allowed - rounding {
            return refuse(smallest, allowed);
        }
        // Half of what seems to be there, then nothing, then what is refused anyway.
        let wanted = [0.5 * smallest, 0.0, -16.0 * rounding, 2.0 * (allowed - rounding)];
        let proven = wanted.into_iter().filter(|&shift| shift <= 0.5 * smallest.max(0.0));
        return Ok(proven
            .map(|shift| least_by_cholesky(matrix, shift))
            .find(|least| least.is_finite())
            .unwrap_or(f64::NEG_INFINITY));
    }
    // A shifted Cholesky factorisation exists exactly when no eigenvalue is below minus the shift.
    let mut row_sums = vec![0.0; order];
    matrix.for_each(|r, _, value| row_sums[r] += value.abs());
    let shift = CONVEXITY_TOLERANCE * super::max_abs(&row_sums);
    for wanted in [0.0, -shift] {
        let least = least_by_cholesky(matrix, wanted);
        if least.is_finite() {
            return Ok(least);
        }
    }
    refuse(negative_direction(matrix), -shift)
}

/// A number near `wanted` that no eigenvalue of `(Q + Q')/2` is below, proven; minus infinity where there is no proof.
///
/// If Cholesky's factorisation of a matrix S runs to its end in floating point, then `S >= -g tr(S) I` with
/// `g = (n + 2) u / (1 - (n + 2) u)`, in whatever order its sums are taken (Rump 2006). S is Q less a shift that leaves room
/// for that; rounding the diagonal of S and the differences of mirrored entries are charged as well. The lower triangle
/// is what is factored.
fn least_by_cholesky(matrix: &Matrix, wanted: f64) -> f64 {
    let order = matrix.rows();
    let (mut trace, mut skew) = (0.0, vec![0.0; order]);
    matrix.for_each(|r, c, value| {
        if r == c {
            trace += value.abs();
        } else {
            skew[r] += (value - matrix.entry(c, r)).abs();
        }
    });
    let trace = (trace + order as f64 * wanted.abs()) * (1.0 + 4.0 * order as f64 * f64::EPSILON);
    let doubt = (order as f64 + 4.0) * f64::EPSILON * trace + super::max_abs(&skew) + f64::MIN_POSITIVE;
    let shift = wanted + if wanted >= 0.0 { 2.0 * doubt } else { 0.0 };
    let diagonal = |value: f64| value - shift;
    let factored = match matrix {
        Matrix::Dense(m) => {
            let shifted = Mat::from_fn(order, order, |r, c| {
                let value = m.column(c)[r];
                if r == c { diagonal(value) } else { value }
            });
            shifted.llt(Side::Lower).is_ok()
        }
        Matrix::Sparse(_) => {
            let mut triplets: Vec<_> =
                (0..order).map(|c| Triplet::new(c, c, diagonal(matrix.entry(c, c)))).collect();
            matrix.for_each(|r, c, value| {
                if r > c {
                    triplets.push(Triplet::new(r, c, value));
                }
            });
            SparseColMat::<usize, f64>::try_new_from_triplets(order, order, &triplets)
                .is_ok_and(|sparse| sparse.sp_cholesky(Side::Lower).is_ok())
        }
    };
    let least = if wanted >= 0.0 { wanted } else { shift - 2.0 * doubt };
    if factored && least.is_finite() { least } else { f64::NEG_INFINITY }
}

/// A Rayleigh quotient near the smallest eigenvalue, by power iteration on `norm I - Q`.
fn negative_direction(matrix: &Matrix) -> f64 {
    let order = matrix.rows();
    let mut row_sums = vec![0.0; order];
    matrix.for_each(|r, _, value| row_sums[r] += value.abs());
    let norm = super::max_abs(&row_sums);
    let mut v: Vec<f64> = (0..order).map(|k| 1.0 + ((k * 7919) % 104_729) as f64 / 104_729.0).collect();
    let mut image = vec![0.0; order];
    let mut quotient = 0.0;
    for _ in 0..200 {
        let size = super::dot(&v, &v).sqrt();
        v.iter_mut().for_each(|v| *v /= size);
        matrix.multiply(&v, &mut image);
        quotient = super::dot(&v, &image);
        for (v, image) in v.iter_mut().zip(&image) {
            *v = norm * *v - image;
        }
    }
    quotient
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::SparseMatrix;

    #[test]
    fn pseudo_inverse_of_a_singular_matrix_solves_in_its_range() {
        // [2 2; 2 2] has pseudo-inverse [1 1; 1 1] / 8.
        let inverse = PseudoInverse::new(&[2.0, 2.0, 0.0, 2.0], 2);
        assert_eq!(inverse.scaled.len(), 2); // one eigenvector is left
        let mut out = [0.0; 2];
        inverse.apply(&[4.0, 4.0], &mut out);
        assert!((out[0] - 1.0).abs() < 1e-14 && (out[1] - 1.0).abs() < 1e-14);
    }

    #[test]
    fn indefinite_matrices_are_refused_small_and_large() {
        let small = Matrix::from_rows(&[[1.0, 2.0], [2.0, 1.0]]).expect("square");
        assert!(matches!(check_convex("Q", &small), Err(Error::NotConvex { .. })));
        let order = 2000;
        let mut triplets: Vec<_> = (0..order).map(|c| (c, c, 1.0)).collect();
        let identity = SparseMatrix::from_triplets(order, order, &triplets).expect("valid");
        assert!(check_convex("Q", &identity.into()).is_ok());
        triplets[5].2 = -0.5;
        let indefinite = SparseMatrix::from_triplets(order, order, &triplets).expect("valid");
        let refused = check_convex("Q", &indefinite.into());
        assert!(matches!(refused, Err(Error::NotConvex { eigenvalue, .. }) if eigenvalue < -0.4));
    }
}
