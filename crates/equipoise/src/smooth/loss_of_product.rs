//! `f(x) = sum_k w_k phi(M_k x, y_k)`: a scalar loss of a maintained product.
//!
//! The product is `M x`. The majorant is `kappa M' diag(w) M`, kappa the largest curvature of phi.

use super::factored::{Factored, MatrixFactor};
use super::loss::ScalarLoss;
use super::{DualSide, FiniteSum, Reads, SampleData, SmoothTerm};
use crate::error::Result;
use crate::matrix::{Matrix, check_finite_vector, check_length};
use crate::separable::Values;

/// A sum over rows of a scalar loss of `M x`.
#[derive(Debug, Clone)]
pub struct LossOfProduct<L> {
    matrix: Matrix,
    target: Vec<f64>,
    weights: Values,
    loss: L,
    /// Diagonal of the majorant.
    curvature: Vec<f64>,
}

impl<L: ScalarLoss> LossOfProduct<L> {
    /// From a matrix M, one target a row and the loss; every row weighs 1.
    pub fn new(matrix: impl Into<Matrix>, target: Vec<f64>, loss: L) -> Result<Self> {
        Self::weighted(matrix, target, loss, 1.0)
    }

    /// The same with a weight (one for all or one a row), at least 0.
    pub fn weighted(
        matrix: impl Into<Matrix>,
        target: Vec<f64>,
        loss: L,
        weights: impl Into<Values>,
    ) -> Result<Self> {
        let (matrix, weights) = (matrix.into(), weights.into());
        check_length("target", "entries", target.len(), matrix.rows())?;
        if let Some(found) = weights.len() {
            check_length("weights", "entries", found, matrix.rows())?;
        }
        matrix.check_finite("matrix")?;
        check_finite_vector("target", &target)?;
        weights.check_weights("weights")?;
        loss.check_targets(&target)?;
        let kappa = loss.largest_curvature();
        let curvature =
            (0..matrix.columns()).map(|c| kappa * matrix.columns_dot(c, c, |k| weights.at(k))).collect();
        Ok(Self { matrix, target, weights, loss, curvature })
    }

    #[inline]
    fn slope(&self, k: usize, product: &[f64]) -> f64 {
        self.weights.at(k) * self.loss.derivative(product[k], self.target[k])
    }

    #[inline]
    fn bend(&self, k: usize, product: &[f64]) -> f64 {
        self.weights.at(k) * self.loss.second_derivative(product[k], self.target[k])
    }
}

impl<L: ScalarLoss> SmoothTerm for LossOfProduct<L> {
    fn dimension(&self) -> usize {
        self.matrix.columns()
    }
    fn value(&self, _x: &[f64], product: &[f64]) -> f64 {
        let rows = product.iter().zip(&self.target).enumerate();
        rows.map(|(k, (&z, &y))| self.weights.at(k) * self.loss.value(z, y)).sum()
    }
    #[inline]
    fn partial(&self, c: usize, _x: &[f64], product: &[f64]) -> f64 {
        self.matrix.column_sum(c, |k| self.slope(k, product))
    }
    #[inline]
    fn curvature(&self, c: usize) -> f64 {
        self.curvature[c]
    }
    #[inline]
    fn interaction(&self, i: usize, j: usize) -> Option<f64> {
        Some(self.loss.largest_curvature() * self.matrix.columns_dot(i, j, |k| self.weights.at(k)))
    }
    fn reads(&self, c: usize) -> Reads<'_> {
        match &self.matrix {
            Matrix::Sparse(matrix) => Reads::Entries(matrix.column_rows(c)),
            Matrix::Dense(_) => Reads::Product,
        }
    }
    fn product_len(&self) -> usize {
        self.matrix.rows()
    }
    fn fill_product(&self, x: &[f64], product: &mut [f64]) {
        self.matrix.multiply(x, product);
    }
    #[inline]
    fn add_to_product(&self, c: usize, delta: f64, product: &mut [f64]) {
        self.matrix.add_column(c, delta, product);
    }
    fn gradient(&self, _x: &[f64], product: &[f64], out: &mut [f64]) {
        // The slopes once, not once a column: a slope may cost an exponential.
        let slopes: Vec<f64> = (0..product.len()).map(|k| self.slope(k, product)).collect();
        out.fill(0.0);
        self.matrix.add_transposed(&slopes, out);
    }
    fn hessian_product(&self, _x: &[f64], product: &[f64], v: &[f64], out: &mut [f64]) -> bool {
        let mut image = vec![0.0; product.len()];
        self.matrix.multiply(v, &mut image);
        image.iter_mut().enumerate().for_each(|(k, image)| *image *= self.bend(k, product));
        out.fill(0.0);
        self.matrix.add_transposed(&image, out);
        true
    }
    fn factored(&self) -> Option<Box<dyn Factored + '_>> {
        let weigh = (0..self.target.len()).all(|k| self.weights.at(k) > 0.0);
        if !self.loss.is_square() || !weigh {
            return None;
        }
        let pull: Vec<f64> = (0..self.target.len()).map(|k| -self.weights.at(k) * self.target[k]).collect();
        let mut slope = vec![0.0; self.matrix.columns()];
        self.matrix.add_transposed(&pull, &mut slope);
        Some(Box::new(MatrixFactor { matrix: &self.matrix, weight: |k: usize| self.weights.at(k), slope }))
    }
    fn finite_sum(&self) -> Option<FiniteSum<'_>> {
        let Self { matrix, target, weights, .. } = self;
        let data = SampleData::Memory { matrix, target, weights };
        Some(FiniteSum { loss: &self.loss, data, rest: Vec::new() })
    }
    fn dual(&self) -> Option<&dyn DualSide> {
        Some(self)
    }
}

/// K = M and `f*(u) = sum_k w_k phi*(u_k / w_k, y_k)`; rows of weight 0 take u = 0.
impl<L: ScalarLoss> DualSide for LossOfProduct<L> {
    fn dual_len(&self) -> usize {
        self.target.len()
    }
    fn dual_point(&self, _x: &[f64], product: &[f64], u: &mut [f64]) {
        u.iter_mut().enumerate().for_each(|(k, u)| *u = self.slope(k, product));
    }
    fn add_dual_step(&self, _x: &[f64], product: &[f64], y: &[f64], u: &mut [f64]) {
        let mut image = vec![0.0; product.len()];
        self.matrix.multiply(y, &mut image);
        for (k, (u, image)) in u.iter_mut().zip(&image).enumerate() {
            // A step may leave the domain of the conjugate; the caller sees what is missing and steps again.
            let (lo, hi) = self.loss.dual_domain(self.target[k]);
            let w = self.weights.at(k);
            if w > 0.0 {
                *u = (*u + self.bend(k, product) * image).max(w * lo).min(w * hi);
            }
        }
    }
    fn add_dual_gradient(&self, u: &[f64], out: &mut [f64]) {
        self.matrix.add_transposed(u, out);
    }
    fn add_dual_magnitude(&self, u: &[f64], out: &mut [f64]) {
        self.matrix.add_magnitudes(u, out);
    }
    fn conjugate(&self, u: &[f64]) -> f64 {
        let rows = u.iter().zip(&self.target).enumerate();
        // w (u / w) may differ from u in the last digit: an end of the domain stays an end.
        let ratio = |w: f64, u: f64, y: f64| {
            let (lo, hi) = self.loss.dual_domain(y);
            let (v, slack) = (u / w, 4.0 * f64::EPSILON);
            if v > hi && v <= hi + slack * hi.abs() {
                hi
            } else if v < lo && v >= lo - slack * lo.abs() {
                lo
            } else {
                v
            }
        };
        let scalar = |w: f64, u: f64, y: f64| match (w > 0.0, u == 0.0) {
            (true, _) => w * self.loss.conjugate(ratio(w, u, y), y),
            (false, true) => 0.0,
            (false, false) => f64::INFINITY,
        };
        rows.map(|(k, (&u, &y))| scalar(self.weights.at(k), u, y)).sum()
    }
}
