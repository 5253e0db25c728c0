//! `f(x) = sum_k w_k phi(M_k x, y_k)`: a scalar loss of a maintained product.
//!
//! The product is `M x`; M may be somebody else's. The majorant is `kappa M' diag(w) M`, kappa the largest curvature of phi.

use super::factored::{Factored, MatrixFactor};
use super::loss::ScalarLoss;
use super::row_losses::RowLosses;
use super::{Bend, DualSide, FiniteSum, PairTerm, Reads, SampleData, SmoothTerm};
use crate::control::{Control, Pass};
use crate::enclosure::{Enclosure, Sum};
use crate::error::Result;
use crate::matrix::Matrix;
use crate::separable::Values;

/// A sum over rows of a scalar loss of `M x`.
#[derive(Debug, Clone)]
pub struct LossOfProduct<'a, L> {
    matrix: Matrix<'a>,
    rows: RowLosses<L>,
    /// Diagonal of the majorant.
    curvature: Vec<f64>,
}

impl<'a, L: ScalarLoss> LossOfProduct<'a, L> {
    /// From a matrix M, one target a row and the loss; every row weighs 1.
    pub fn new(matrix: impl Into<Matrix<'a>>, target: Vec<f64>, loss: L) -> Result<Self> {
        Self::weighted(matrix, target, loss, 1.0)
    }

    /// The same with a weight (one for all or one a row), at least 0.
    pub fn weighted(
        matrix: impl Into<Matrix<'a>>,
        target: Vec<f64>,
        loss: L,
        weights: impl Into<Values>,
    ) -> Result<Self> {
        Self::weighted_within(matrix, target, loss, weights, &Control::unlimited())
    }

    /// The same under a control: there are two passes over the matrix.
    pub fn weighted_within(
        matrix: impl Into<Matrix<'a>>,
        target: Vec<f64>,
        loss: L,
        weights: impl Into<Values>,
        control: &Control,
    ) -> Result<Self> {
        let matrix = matrix.into();
        matrix.check_finite("matrix", control)?;
        let rows = RowLosses::new(loss, target, weights.into(), matrix.rows())?;
        let kappa = rows.loss.largest_curvature();
        let mut curvature = Vec::with_capacity(matrix.columns());
        control.in_parts(matrix.columns(), matrix.numbers_per_column(), |part| {
            curvature.extend(part.map(|c| kappa * matrix.columns_dot(c, c, |k| rows.weights.at(k))));
        })?;
        Ok(Self { matrix, rows, curvature })
    }
}

impl<L: ScalarLoss> PairTerm for LossOfProduct<'_, L> {
    fn dimension(&self) -> usize {
        self.matrix.columns()
    }
    #[inline]
    fn partial(&self, c: usize, _x: &[f64], product: &[f64]) -> f64 {
        self.matrix.column_sum(c, |k| self.rows.slope(k, product))
    }
    #[inline]
    fn curvature(&self, c: usize) -> f64 {
        self.curvature[c]
    }
    #[inline]
    fn interaction(&self, i: usize, j: usize) -> Option<f64> {
        let kappa = self.rows.loss.largest_curvature();
        Some(kappa * self.matrix.columns_dot(i, j, |k| self.rows.weights.at(k)))
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
    #[inline]
    fn add_to_product(&self, c: usize, delta: f64, product: &mut [f64]) {
        self.matrix.add_column(c, delta, product);
    }
}

impl<L: ScalarLoss> SmoothTerm for LossOfProduct<'_, L> {
    fn value(&self, _x: &[f64], product: &[f64]) -> f64 {
        self.rows.value(product)
    }
    fn fill_product(&self, x: &[f64], product: &mut [f64], control: &Control) -> Pass {
        self.matrix.multiply_within(x, product, control)
    }
    fn gradient(&self, _x: &[f64], product: &[f64], out: &mut [f64], control: &Control) -> Pass {
        // The slopes once, not once a column: a slope may cost an exponential.
        let mut slopes = vec![0.0; product.len()];
        self.rows.fill_slopes(product, &mut slopes);
        out.fill(0.0);
        self.matrix.add_transposed_within(&slopes, out, control)
    }
    fn hessian_product(
        &self,
        _x: &[f64],
        product: &[f64],
        v: &[f64],
        out: &mut [f64],
        control: &Control,
    ) -> Pass<bool> {
        let mut image = vec![0.0; product.len()];
        self.matrix.multiply_within(v, &mut image, control)?;
        image.iter_mut().enumerate().for_each(|(k, image)| *image *= self.rows.bend(k, product));
        out.fill(0.0);
        self.matrix.add_transposed_within(&image, out, control)?;
        Ok(true)
    }
    fn factored(&self) -> Option<Box<dyn Factored + '_>> {
        let RowLosses { loss, target, weights } = &self.rows;
        let weigh = (0..target.len()).all(|k| weights.at(k) > 0.0);
        if !loss.is_square() || !weigh {
            return None;
        }
        let pull: Vec<f64> = (0..target.len()).map(|k| -weights.at(k) * target[k]).collect();
        let mut slope = vec![0.0; self.matrix.columns()];
        self.matrix.add_transposed(&pull, &mut slope);
        Some(Box::new(MatrixFactor { matrix: &self.matrix, weight: |k: usize| weights.at(k), slope }))
    }
    fn finite_sum(&self) -> Option<FiniteSum<'_>> {
        let RowLosses { loss, target, weights } = &self.rows;
        let data = SampleData::Memory { matrix: &self.matrix, target, weights };
        Some(FiniteSum { loss, data, rest: Vec::new() })
    }
    fn bends(&self, _x: &[f64], product: &[f64]) -> Option<Vec<Bend<'_>>> {
        let weights = (0..product.len()).map(|k| self.rows.bend(k, product)).collect();
        Some(vec![Bend::Product(&self.matrix, weights)])
    }
    fn dual(&self) -> Option<&dyn DualSide> {
        Some(self)
    }
    fn least_value(&self) -> f64 {
        self.rows.least_value()
    }
    fn narrow(&self, level: f64, within: &mut [(f64, f64)], control: &Control) -> Pass {
        if self.rows.is_non_negative() {
            let levels: Vec<(f64, f64)> = self.rows.level_sets(level).collect();
            super::level_set::narrow(&self.matrix, &levels, within, control)?;
        }
        Ok(())
    }
    fn is_enclosed(&self) -> bool {
        self.rows.loss.is_enclosed()
    }
    fn enclose_value(&self, x: &[f64], control: &Control) -> Pass<Enclosure> {
        let mut sum = Sum::default();
        self.matrix.enclose_product(x, control, |k, z| sum.add_enclosure(self.rows.enclose_row(k, z)))?;
        Ok(sum.value())
    }
}

/// K = M and `f*(u) = sum_k w_k phi*(u_k / w_k, y_k)`; rows of weight 0 take u = 0.
impl<L: ScalarLoss> DualSide for LossOfProduct<'_, L> {
    fn dual_len(&self) -> usize {
        self.rows.len()
    }
    fn dual_point(&self, _x: &[f64], product: &[f64], u: &mut [f64]) {
        self.rows.fill_slopes(product, u);
    }
    fn add_dual_step(
        &self,
        _x: &[f64],
        product: &[f64],
        y: &[f64],
        u: &mut [f64],
        control: &Control,
    ) -> Pass {
        let mut image = vec![0.0; product.len()];
        self.matrix.multiply_within(y, &mut image, control)?;
        self.rows.add_dual_step(product, &image, u);
        Ok(())
    }
    fn add_dual_gradient(&self, u: &[f64], out: &mut [f64], control: &Control) -> Pass {
        self.matrix.add_transposed_within(u, out, control)
    }
    fn add_dual_magnitude(&self, u: &[f64], out: &mut [f64], control: &Control) -> Pass {
        self.matrix.add_magnitudes(u, out, control)
    }
    fn conjugate(&self, u: &[f64], _control: &Control) -> Pass<f64> {
        Ok(self.rows.conjugate(u))
    }
    fn settle(&self, u: &mut [f64]) {
        self.rows.settle(u);
    }
    fn enclose_conjugate(&self, u: &[f64], _control: &Control) -> Pass<Enclosure> {
        Ok(self.rows.enclose_conjugate(u))
    }
    fn enclose_dual_entry(&self, c: usize, u: &[f64]) -> Option<Enclosure> {
        Some(self.matrix.enclose_column_dot(c, u))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
    use std::time::Duration;

    use super::*;
    use crate::Halt;
    use crate::matrix::DenseMatrix;
    use crate::smooth::loss::Squared;

    #[test]
    fn a_flag_raised_by_another_thread_ends_passes_over_memory() {
        let n = 2000;
        let matrix = DenseMatrix::from_columns(n, n, vec![0.5; n * n]).expect("finite");
        let f = LossOfProduct::new(matrix, vec![0.0; n], Squared).expect("finite");
        let (x, mut product, mut out) = (vec![1.0; n], vec![0.0; n], vec![0.0; n]);
        let flag = Arc::new(AtomicBool::new(false));
        let control = Control::on(Arc::clone(&flag));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(20));
                flag.store(true, Relaxed);
            });
            // Wherever it is raised, this pass or the next looks before its end.
            let mut passes = || f.fill_product(&x, &mut product, &control);
            assert_eq!(
                std::iter::repeat_with(&mut passes).find(std::result::Result::is_err),
                Some(Err(Halt::Interrupted))
            );
        });
        let dual = f.dual().expect("a dual side");
        let (x, product, out) = (&x, &product, &mut out);
        assert_eq!(f.gradient(x, product, out, &control), Err(Halt::Interrupted));
        assert_eq!(f.hessian_product(x, product, x, out, &control), Err(Halt::Interrupted));
        assert_eq!(dual.add_dual_step(x, product, x, out, &control), Err(Halt::Interrupted));
        assert_eq!(dual.add_dual_gradient(x, out, &control), Err(Halt::Interrupted));
        assert_eq!(dual.add_dual_magnitude(x, out, &control), Err(Halt::Interrupted));
    }
}
