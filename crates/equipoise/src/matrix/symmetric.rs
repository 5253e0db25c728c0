//! Small symmetric systems by eigenvalues, and the test that a quadratic is convex.
//!
//! Eigenvalues below `1e-13` of the largest count as zero in [`PseudoInverse`]: coupling rows may be
//! dependent on a subset of the columns.

use faer::sparse::Triplet;
use faer::{Mat, Side};

use super::sparse_definite::has_factor;
use super::{Cholesky, Matrix};
use crate::control::{Control, Pass};
use crate::error::{Error, Result};
use crate::team::Team;

/// Relative size under which an eigenvalue counts as zero in a pseudo-inverse.
const RANK_TOLERANCE: f64 = 1e-13;
/// Negative eigenvalues of a quadratic down to this multiple of its norm count as zero.
const CONVEXITY_TOLERANCE: f64 = 1e-10;
/// Up to this order eigenvalues are computed where a Cholesky factorisation leaves a doubt; beyond it, that decides.
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

/// Refuses a symmetric matrix with an eigenvalue below `-1e-10` times its norm.
pub(crate) fn check_convex(input: &str, matrix: &Matrix, control: &Control) -> Result<()> {
    let order = matrix.rows();
    let refuse = |eigenvalue, allowed| Err(Error::NotConvex { input: input.into(), eigenvalue, allowed });
    // A shifted Cholesky factorisation exists exactly when no eigenvalue is below minus the shift. The norm is at least
    // the largest entry and at most the largest sum of a row.
    let (mut largest, mut row_sums) = (0.0_f64, vec![0.0; order]);
    matrix.for_each(|r, _, value| {
        row_sums[r] += value.abs();
        largest = largest.max(value.abs());
    });
    if order <= EIGENVALUE_ORDER {
        if is_definite_with(CONVEXITY_TOLERANCE * largest, matrix, control)? {
            return Ok(());
        }
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
        return Ok(());
    }
    let shift = CONVEXITY_TOLERANCE * super::max_abs(&row_sums);
    if is_definite_with(shift, matrix, control)? {
        Ok(())
    } else {
        refuse(negative_direction(matrix, control)?, -shift)
    }
}

/// Whether `Q + shift I` has a Cholesky factor.
fn is_definite_with(shift: f64, matrix: &Matrix, control: &Control) -> Pass<bool> {
    let order = matrix.rows();
    match matrix {
        Matrix::Dense(m) => {
            let mut shifted = m.values().to_vec();
            (0..order).for_each(|c| shifted[c * (order + 1)] += shift);
            Cholesky::default().factor(&Team::of(1), &shifted, order, control)
        }
        Matrix::Sparse(_) => {
            let mut triplets: Vec<_> = (0..order).map(|c| Triplet::new(c, c, shift)).collect();
            matrix.for_each(|r, c, value| {
                if r >= c {
                    triplets.push(Triplet::new(r, c, value));
                }
            });
            has_factor(order, &triplets, control)
        }
    }
}

/// A Rayleigh quotient near the smallest eigenvalue, by power iteration on `norm I - Q`.
fn negative_direction(matrix: &Matrix, control: &Control) -> Pass<f64> {
    let order = matrix.rows();
    let mut row_sums = vec![0.0; order];
    matrix.for_each(|r, _, value| row_sums[r] += value.abs());
    let norm = super::max_abs(&row_sums);
    let mut v: Vec<f64> = (0..order).map(|k| 1.0 + ((k * 7919) % 104_729) as f64 / 104_729.0).collect();
    let mut image = vec![0.0; order];
    let mut quotient = 0.0;
    for _ in 0..200 {
        control.check()?;
        let size = super::dot(&v, &v).sqrt();
        v.iter_mut().for_each(|v| *v /= size);
        matrix.multiply(&v, &mut image);
        quotient = super::dot(&v, &image);
        for (v, image) in v.iter_mut().zip(&image) {
            *v = norm * *v - image;
        }
    }
    Ok(quotient)
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
        assert!(matches!(check_convex("Q", &small, &Control::unlimited()), Err(Error::NotConvex { .. })));
        let order = 2000;
        let mut triplets: Vec<_> = (0..order).map(|c| (c, c, 1.0)).collect();
        let identity = SparseMatrix::from_triplets(order, order, &triplets).expect("valid");
        assert!(check_convex("Q", &identity.into(), &Control::unlimited()).is_ok());
        triplets[5].2 = -0.5;
        let indefinite = SparseMatrix::from_triplets(order, order, &triplets).expect("valid");
        let refused = check_convex("Q", &indefinite.into(), &Control::unlimited());
        assert!(matches!(refused, Err(Error::NotConvex { eigenvalue, .. }) if eigenvalue < -0.4));
    }
}
