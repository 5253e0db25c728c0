//! `gram += sum_k t_k a_k a_k'` over many columns of A, m x m, lower triangle, column-major.
//!
//! Dense columns are collected, as `sqrt(t_k) a_k` side by side, and multiplied many at a time: the matrix is then read
//! and written once for all of them.
//!
//! Must not know: what the sum is for.

use faer::linalg::matmul::triangular::{BlockStructure, matmul};
use faer::{Accum, MatMut, MatRef, Par};

use super::{Coupling, Shape};
use crate::control::{Control, Pass};
use crate::matrix::Matrix;

/// Columns that are collected.
const COLLECTED: usize = 128;
/// Rows below which a column is added at once.
const FEW_ROWS: usize = 8;

/// A sum that is being made; [`finish`](Self::finish) completes it.
#[derive(Debug)]
#[must_use = "the last columns are added by `finish`"]
pub(crate) struct Outers<'a> {
    coupling: &'a Coupling,
    gram: &'a mut [f64],
    collected: Vec<f64>,
    is_dense: bool,
}

impl<'a> Outers<'a> {
    pub(crate) fn new(coupling: &'a Coupling, gram: &'a mut [f64]) -> Self {
        let is_dense = matches!(coupling.shape, Shape::Rows(Matrix::Dense(_))) && coupling.rows() >= FEW_ROWS;
        Self { coupling, gram, collected: Vec::new(), is_dense }
    }

    /// Adds `t a_c a_c'`, t at least 0.
    #[inline]
    pub(crate) fn add(&mut self, c: usize, t: f64) {
        match &self.coupling.shape {
            Shape::Rows(Matrix::Dense(matrix)) if self.is_dense => {
                let root = t.sqrt();
                self.collected.extend(matrix.column(c).iter().map(|a| root * a));
                if self.collected.len() >= COLLECTED * self.coupling.rows() {
                    self.multiply();
                }
            }
            _ => self.coupling.add_outer(c, t, self.gram),
        }
    }

    /// Adds what is still collected.
    pub(crate) fn finish(mut self) {
        if !self.collected.is_empty() {
            self.multiply();
        }
    }

    fn multiply(&mut self) {
        let m = self.coupling.rows();
        let columns = MatRef::from_column_major_slice(&self.collected, m, self.collected.len() / m);
        let gram = MatMut::from_column_major_slice_mut(&mut *self.gram, m, m);
        matmul(
            gram,
            BlockStructure::TriangularLower,
            Accum::Add,
            columns,
            BlockStructure::Rectangular,
            columns.transpose(),
            BlockStructure::Rectangular,
            1.0,
            Par::Seq,
        );
        self.collected.clear();
    }
}

impl Coupling {
    /// `gram += sum_c a_c a_c'` over the given columns.
    pub(crate) fn add_outers(&self, columns: impl Iterator<Item = usize>, gram: &mut [f64]) {
        let mut outers = Outers::new(self, gram);
        columns.for_each(|c| outers.add(c, 1.0));
        outers.finish();
    }

    /// The same as a pass that may be ended.
    pub(crate) fn add_outers_within(
        &self,
        columns: std::ops::Range<usize>,
        gram: &mut [f64],
        control: &Control,
    ) -> Pass {
        let (first, numbers) = (columns.start, self.numbers_per_column());
        let mut outers = Outers::new(self, gram);
        control.in_parts(columns.len(), numbers.saturating_mul(numbers), |part| {
            part.for_each(|c| outers.add(first + c, 1.0));
        })?;
        outers.finish();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::DenseMatrix;

    #[test]
    fn sums_of_many_columns_are_those_of_one_at_a_time() {
        for (m, n) in [(1, 5), (7, 300), (8, 1), (8, 127), (9, 128), (20, 300)] {
            let values = (0..m * n).map(|k| ((k * 7919) % 1009) as f64 / 1009.0 - 0.5).collect();
            let matrix = DenseMatrix::from_columns(m, n, values).expect("finite");
            let coupling = Coupling::rows_of(matrix, vec![0.0; m]).expect("valid");
            let (mut one, mut many) = (vec![0.25; m * m], vec![0.25; m * m]);
            let mut outers = Outers::new(&coupling, &mut many);
            for c in (0..n).rev() {
                let t = (c % 3) as f64;
                coupling.add_outer(c, t, &mut one);
                outers.add(c, t);
            }
            outers.finish();
            for (one, many) in one.iter().zip(&many) {
                assert!((one - many).abs() < 1e-11, "{m} x {n}: {one} {many}");
            }
        }
    }
}
