//! Products with a proven error: what certificates ask of a matrix.
//!
//! `M x` is built row block by row block, so that the running sums of a block stay in the fastest memory; `M'y` is one inner
//! product a column.

#![expect(
    clippy::inline_always,
    reason = "vector code must end up in the function for which the instructions are enabled"
)]

use pulp::{Arch, Simd, WithSimd};

use super::Matrix;
use crate::control::{Control, Pass};
use crate::enclosure::{self, Enclosure, Sum};

/// Rows whose sums are kept at a time: three numbers each.
const BLOCK: usize = 512;

impl Matrix<'_> {
    /// Calls `visit(r, (M x)_r)` for every row, in order.
    pub(crate) fn enclose_product(
        &self,
        x: &[f64],
        control: &Control,
        mut visit: impl FnMut(usize, Enclosure),
    ) -> Pass {
        match self {
            Self::Dense(matrix) => {
                let blocks = matrix.rows().div_ceil(BLOCK);
                control.in_parts(blocks, BLOCK * matrix.columns(), |part| {
                    let mut sums = Sums::default();
                    for block in part {
                        let first = block * BLOCK;
                        let rows = (matrix.rows() - first).min(BLOCK);
                        sums.clear(rows);
                        for (c, &t) in x.iter().enumerate() {
                            if t != 0.0 {
                                let column = &matrix.column(c)[first..first + rows];
                                Arch::new().dispatch(AddColumn { t, column, sums: &mut sums });
                            }
                        }
                        (0..rows).for_each(|k| visit(first + k, sums.value(k, x.len())));
                    }
                })
            }
            Self::Sparse(matrix) => {
                let mut sums = Sums::default();
                sums.clear(matrix.rows());
                let mut most = vec![0_u32; matrix.rows()];
                control.in_parts(x.len(), self.numbers_per_column(), |part| {
                    for c in part {
                        if x[c] != 0.0 {
                            let (rows, values) = matrix.column_parts(c);
                            Arch::new().dispatch(ScatterColumn { t: x[c], rows, values, sums: &mut sums });
                            rows.iter().for_each(|&r| most[r as usize] += 1);
                        }
                    }
                })?;
                control.in_parts(matrix.rows(), 1, |part| {
                    part.for_each(|r| visit(r, sums.value(r, most[r] as usize)));
                })
            }
        }
    }

    /// The inner product of column c with y.
    pub(crate) fn enclose_column_dot(&self, c: usize, y: &[f64]) -> Enclosure {
        match self {
            Self::Dense(matrix) => enclosure::dot(matrix.column(c), y),
            Self::Sparse(matrix) => {
                let (rows, values) = matrix.column_parts(c);
                enclosure::gather_dot(rows, Some(values), y)
            }
        }
    }
}

/// The parts of many sums of products side by side; as of [`Sum`].
#[derive(Debug, Default)]
struct Sums {
    high: Vec<f64>,
    low: Vec<f64>,
    drift: Vec<f64>,
}

impl Sums {
    fn clear(&mut self, rows: usize) {
        for part in [&mut self.high, &mut self.low, &mut self.drift] {
            part.clear();
            part.resize(rows, 0.0);
        }
    }

    /// Sum r, of at most so many products.
    fn value(&self, r: usize, products: usize) -> Enclosure {
        Sum::of_products(self.high[r], self.low[r], self.drift[r], products).value()
    }
}

struct AddColumn<'a> {
    t: f64,
    column: &'a [f64],
    sums: &'a mut Sums,
}

impl WithSimd for AddColumn<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let rows = self.column.len();
        let (column, column_tail) = S::as_simd_f64s(self.column);
        let (high, high_tail) = S::as_mut_simd_f64s(&mut self.sums.high[..rows]);
        let (low, low_tail) = S::as_mut_simd_f64s(&mut self.sums.low[..rows]);
        let (drift, drift_tail) = S::as_mut_simd_f64s(&mut self.sums.drift[..rows]);
        let t = simd.splat_f64s(self.t);
        for (((a, high), low), drift) in column.iter().zip(high).zip(low).zip(drift) {
            let product = simd.mul_f64s(*a, t);
            let lost = simd.mul_add_f64s(*a, t, simd.neg_f64s(product));
            let sum = simd.add_f64s(*high, product);
            let of_product = simd.sub_f64s(sum, *high);
            let error = simd.add_f64s(
                simd.sub_f64s(*high, simd.sub_f64s(sum, of_product)),
                simd.sub_f64s(product, of_product),
            );
            let change = simd.add_f64s(error, lost);
            *high = sum;
            *low = simd.add_f64s(*low, change);
            *drift = simd.add_f64s(*drift, simd.add_f64s(simd.abs_f64s(change), simd.abs_f64s(*low)));
        }
        for (((a, high), low), drift) in column_tail.iter().zip(high_tail).zip(low_tail).zip(drift_tail) {
            enclosure::add_product_to(self.t, *a, high, low, drift);
        }
    }
}

struct ScatterColumn<'a> {
    t: f64,
    rows: &'a [u32],
    values: &'a [f64],
    sums: &'a mut Sums,
}

impl WithSimd for ScatterColumn<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) {
        let Sums { high, low, drift } = self.sums;
        for (&r, &a) in self.rows.iter().zip(self.values) {
            let r = r as usize;
            enclosure::add_product_to(self.t, a, &mut high[r], &mut low[r], &mut drift[r]);
        }
    }
}
