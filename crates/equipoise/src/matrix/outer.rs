//! `sum_k t_k z_k z_k'` over rows `z_k` of a sparse matrix: those without gaps are collected and multiplied as one dense matrix.
//!
//! Given rows and weights `t_k >= 0`; adds to the lower triangle of a matrix kept column by column. Must not know: what it is for.

use faer::linalg::matmul::{matmul, triangular};
use faer::{Accum, MatMut, MatRef, Par};

use super::{RowValues, Rows};

/// Rows that are multiplied at a time.
const COLLECTED: usize = 64;
/// Columns below which a row is added by itself.
const FEW: usize = 16;

impl Rows<'_> {
    /// Adds the outer products of chosen rows, each times its weight, to the lower triangle of a matrix kept column by
    /// column, `stride` apart, of which `out` holds the columns from `first` on.
    pub(crate) fn add_outers(
        &self,
        chosen: impl Iterator<Item = (usize, f64)>,
        first: usize,
        out: &mut [f64],
        stride: usize,
    ) {
        let mut collected = Vec::new();
        for (i, weight) in chosen {
            match self.full_row(i) {
                Some(values) if self.columns() >= FEW && first < self.columns() => {
                    let root = weight.sqrt();
                    match values {
                        RowValues::Double(list) => {
                            collected.extend(list[first..].iter().map(|value| root * value));
                        }
                        list => collected.extend((first..self.columns()).map(|k| root * list.at(k))),
                    }
                    if collected.len() >= COLLECTED * (self.columns() - first) {
                        self.multiply(&collected, first, out, stride);
                        collected.clear();
                    }
                }
                _ => self.add_outer(i, weight, first, out, stride),
            }
        }
        if !collected.is_empty() {
            self.multiply(&collected, first, out, stride);
        }
    }

    /// Adds `z z'`, the columns of z side by side, from row and column `first` on.
    fn multiply(&self, z: &[f64], first: usize, out: &mut [f64], stride: usize) {
        let length = self.columns() - first;
        let columns = (out.len() / stride).min(length);
        let z = MatRef::from_column_major_slice(z, length, z.len() / length);
        let (upper, lower) = z.split_at_row(columns);
        let out = MatMut::from_column_major_slice_with_stride_mut(&mut out[first..], length, columns, stride);
        let (triangle, below) = out.split_at_row_mut(columns);
        let whole = triangular::BlockStructure::Rectangular;
        let half = triangular::BlockStructure::TriangularLower;
        triangular::matmul(triangle, half, Accum::Add, upper, whole, upper.transpose(), whole, 1.0, Par::Seq);
        if below.nrows() > 0 {
            matmul(below, Accum::Add, lower, upper.transpose(), 1.0, Par::Seq);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_without_gaps_give_the_same_as_one_by_one() {
        let (n, d) = (150, 20);
        let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        for i in 0..n {
            for j in 0..d {
                // Every seventh row has a gap.
                if i % 7 > 0 || j != i % d {
                    indices.push(j as u32);
                    values.push(((i * 31 + j * 17) % 23) as f64 - 11.0);
                }
            }
            starts.push(indices.len());
        }
        let rows = Rows::new(d, starts, indices, Some(values)).expect("valid");
        let weight = |i: usize| 0.25 * (1 + i % 4) as f64;
        let stride = d + 1;
        for (first, count) in [(0, stride), (0, 6), (6, 9), (15, 6)] {
            let (mut one_by_one, mut at_once) = (vec![0.0; count * stride], vec![0.0; count * stride]);
            (0..n).for_each(|i| rows.add_outer(i, weight(i), first, &mut one_by_one, stride));
            rows.add_outers((0..n).map(|i| (i, weight(i))), first, &mut at_once, stride);
            for (a, b) in one_by_one.iter().zip(&at_once) {
                assert!((a - b).abs() <= 1e-9 * (1.0 + a.abs()), "{first}: {a} {b}");
            }
        }
    }
}
