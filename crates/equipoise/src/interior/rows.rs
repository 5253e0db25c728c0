//! Rows that are nearly parallel, made orthogonal.
//!
//! With `(R A D)' = Q T` (Q with orthonormal columns, T a triangle) the equations `A x = b` are `Q' D^-1 x = T'^-1 R b`, and
//! multipliers lambda' of these are `R T^-1 lambda'` of the rows as given. A system made of A squares how near to parallel
//! rows are; one made of Q does not see it.
//!
//! Given: rows and their scaling. Returns: other rows for the same equations, where that pays. Must not know: f, h.

use faer::Mat;

use super::scaling::Scaling;
use crate::coupling::{Coupling, Shape};
use crate::matrix::{DenseMatrix, Matrix};

/// Products of two numbers that the factorisation may cost.
const MOST_PRODUCTS: usize = 1 << 28;
/// The ratio of the smallest to the largest entry on the diagonal of T from which on rows are left as they are.
const APART: f64 = 1e-2;

/// Rows of a sparse matrix up to which they are looked at: those of many are sums of many rows, and what is sparse and small in
/// some of them is so no more.
const MOST_SPARSE: usize = 100;

/// Orthogonal rows in place of those given.
pub(super) struct Orthogonal {
    pub(super) coupling: Coupling,
    triangle: Mat<f64>,
    scale: Vec<f64>,
}

impl Orthogonal {
    /// `None` where the rows are far enough from parallel, or too many.
    pub(super) fn of(coupling: &Coupling, scaling: &Scaling) -> Option<Self> {
        let (m, n) = (coupling.rows(), scaling.columns.len());
        let is_sparse = matches!(coupling.shape(), Shape::Rows(Matrix::Sparse(_)));
        if is_sparse && m > MOST_SPARSE {
            return None;
        }
        if m < 2 || n < m || n.saturating_mul(m * m) > MOST_PRODUCTS {
            return None;
        }
        let mut transposed = Mat::<f64>::zeros(n, m);
        for c in 0..n {
            coupling
                .for_each_in_column(c, |r, a| transposed[(c, r)] = scaling.rows[r] * a * scaling.columns[c]);
        }
        let factor = transposed.qr();
        let triangle = factor.thin_R().to_owned();
        let sizes = (0..m).map(|k| triangle[(k, k)].abs());
        let (least, most) = sizes.fold((f64::INFINITY, 0.0_f64), |(l, g), v| (l.min(v), g.max(v)));
        if least.is_nan() || least <= 0.0 || least >= APART * most {
            return None;
        }
        let q = factor.compute_thin_Q();
        // T'c = R b, from the top.
        let mut rhs: Vec<f64> = coupling.rhs().iter().zip(&scaling.rows).map(|(b, r)| b * r).collect();
        for k in 0..m {
            let known: f64 = (0..k).map(|j| triangle[(j, k)] * rhs[j]).sum();
            rhs[k] = (rhs[k] - known) / triangle[(k, k)];
        }
        let values = (0..n * m).map(|k| q[(k / m, k % m)] / scaling.columns[k / m]).collect();
        let rows = DenseMatrix::from_columns(m, n, values).ok()?;
        let coupling = Coupling::rows_of(rows, rhs).ok()?;
        Some(Self { coupling, triangle, scale: scaling.rows.clone() })
    }

    /// Multipliers of the rows as given.
    pub(super) fn lambda(&self, mut lambda: Vec<f64>) -> Vec<f64> {
        let m = lambda.len();
        for k in (0..m).rev() {
            let known: f64 = (k + 1..m).map(|j| self.triangle[(k, j)] * lambda[j]).sum();
            lambda[k] = (lambda[k] - known) / self.triangle[(k, k)];
        }
        lambda.iter_mut().zip(&self.scale).for_each(|(lambda, r)| *lambda *= r);
        lambda
    }
}
