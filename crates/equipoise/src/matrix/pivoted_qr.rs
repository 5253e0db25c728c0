//! The triangle of `M P = Q R`, columns in the order of what is left of them, under a control.
//!
//! ```text
//! |r_00| >= |r_11| >= ... ,    |r_kk| = the largest distance of a column to the span of the k before it
//! ```
//!
//! - Given: a matrix of n rows and m columns, column-major, or many rows that come a few at a time.
//! - Returns: R and the order of the columns; Q is not kept.
//! - Must not know: what the columns are.
//!
//! Rows that come a few at a time are folded into one triangle by Householder reflections, so that neither n numbers a
//! column nor their squares are ever needed: the triangle has the same inner products as the whole matrix, to rounding.
//! Reference: Golub and Van Loan, Matrix Computations, 5.4.2 (pivoting); Demmel et al. 2012 (folding, TSQR).

use super::{axpy, dot};
use crate::control::{Control, Pass};

/// R, upper triangle by columns, and the column of M that each column of it belongs to.
#[derive(Debug)]
pub(crate) struct PivotedQr {
    values: Vec<f64>,
    rows: usize,
    /// Which column of the matrix is at each place.
    pub(crate) order: Vec<usize>,
}

impl PivotedQr {
    /// Factors a column-major matrix with this many rows.
    pub(crate) fn new(mut values: Vec<f64>, rows: usize, control: &Control) -> Pass<Self> {
        let m = values.len().checked_div(rows).unwrap_or(0);
        let mut order: Vec<usize> = (0..m).collect();
        let mut left: Vec<f64> = values.chunks_exact(rows.max(1)).map(|column| dot(column, column)).collect();
        for k in 0..rows.min(m) {
            control.check()?;
            let next = (k..m).max_by(|&a, &b| left[a].total_cmp(&left[b])).unwrap_or(k);
            if next != k {
                let (head, tail) = values.split_at_mut(next * rows);
                head[k * rows..(k + 1) * rows].swap_with_slice(&mut tail[..rows]);
                order.swap(k, next);
                left.swap(k, next);
            }
            let (head, tail) = values.split_at_mut((k + 1) * rows);
            let own = &mut head[k * rows + k..];
            let (corner, below) = own.split_first_mut().expect("k is below the number of rows");
            let reflection = Reflection::of(corner, below);
            for (column, left) in tail.chunks_exact_mut(rows).zip(&mut left[k + 1..]) {
                let (top, below_it) = column[k..].split_first_mut().expect("the same length");
                reflection.apply(below, top, below_it);
                *left = dot(below_it, below_it);
            }
        }
        Ok(Self { values, rows, order })
    }

    /// The number of places on the diagonal.
    pub(crate) fn diagonal_len(&self) -> usize {
        self.rows.min(self.order.len())
    }

    /// The entry of R, `row` at most `column`.
    pub(crate) fn entry(&self, row: usize, column: usize) -> f64 {
        self.values[column * self.rows + row]
    }
}

/// `I - scale v v'` with `v = (1, below)`.
struct Reflection {
    scale: f64,
}

impl Reflection {
    /// The reflection that takes (corner, below) to a multiple of the first unit vector, which then is `corner`; `below`
    /// becomes the rest of v.
    fn of(corner: &mut f64, below: &mut [f64]) -> Self {
        let square = dot(below, below);
        if square == 0.0 {
            return Self { scale: 0.0 };
        }
        let norm = (*corner * *corner + square).sqrt();
        let turned = if *corner > 0.0 { -norm } else { norm };
        let pivot = *corner - turned;
        below.iter_mut().for_each(|v| *v /= pivot);
        let scale = -pivot / turned;
        *corner = turned;
        Self { scale }
    }

    fn apply(&self, v: &[f64], top: &mut f64, below: &mut [f64]) {
        if self.scale == 0.0 {
            return;
        }
        let along = self.scale * (*top + dot(v, below));
        *top -= along;
        axpy(-along, v, below);
    }
}

/// The triangle of all rows so far, m x m, column-major.
#[derive(Debug)]
pub(crate) struct Folded {
    triangle: Vec<f64>,
    columns: usize,
}

impl Folded {
    /// No rows yet.
    pub(crate) fn new(columns: usize) -> Self {
        Self { triangle: vec![0.0; columns * columns], columns }
    }

    /// Adds rows: a column-major matrix, which is used up.
    pub(crate) fn add(&mut self, rows: &mut [f64], control: &Control) -> Pass {
        let m = self.columns;
        let count = rows.len() / m.max(1);
        for k in 0..m {
            control.check()?;
            let (head, tail) = rows.split_at_mut((k + 1) * count);
            let own = &mut head[k * count..];
            let reflection = Reflection::of(&mut self.triangle[k * m + k], own);
            for (offset, column) in tail.chunks_exact_mut(count).enumerate() {
                reflection.apply(own, &mut self.triangle[(k + 1 + offset) * m + k], column);
            }
        }
        Ok(())
    }

    /// The triangle of all rows, columns in order of what is left of them.
    pub(crate) fn factor(self, control: &Control) -> Pass<PivotedQr> {
        PivotedQr::new(self.triangle, self.columns, control)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::Halt;

    /// Columns of 12 rows, the fourth a combination of the first two.
    fn sample() -> Vec<f64> {
        let mut values: Vec<f64> =
            (0..36).map(|k| f64::from((k * 37 + 11) % 101) / 101.0 - 0.4 + f64::from(k / 12)).collect();
        let last: Vec<f64> = (0..12).map(|r| 2.0 * values[r] - values[12 + r]).collect();
        values.extend(last);
        values
    }

    fn inner_products(found: &PivotedQr) -> Vec<f64> {
        let m = found.order.len();
        let mut out = vec![0.0; m * m];
        for a in 0..m {
            for b in 0..m {
                out[found.order[a] * m + found.order[b]] =
                    (0..=a.min(b)).map(|r| found.entry(r, a) * found.entry(r, b)).sum();
            }
        }
        out
    }

    #[test]
    fn whole_and_folded_have_the_inner_products_of_the_matrix() {
        let (values, control) = (sample(), Control::unlimited());
        let whole = PivotedQr::new(values.clone(), 12, &control).expect("unlimited");
        let mut folded = Folded::new(4);
        for first in [0, 5, 10] {
            let count = (12 - first).min(5);
            let mut rows: Vec<f64> =
                (0..4).flat_map(|c| values[c * 12 + first..c * 12 + first + count].to_vec()).collect();
            folded.add(&mut rows, &control).expect("unlimited");
        }
        let folded = folded.factor(&control).expect("unlimited");
        for found in [&whole, &folded] {
            for (k, product) in inner_products(found).into_iter().enumerate() {
                let (a, b) = (k / 4 * 12, k % 4 * 12);
                let exact = dot(&values[a..a + 12], &values[b..b + 12]);
                assert!((product - exact).abs() < 1e-12 * (1.0 + exact.abs()), "{product} {exact}");
            }
            let diagonal: Vec<f64> = (0..4).map(|k| found.entry(k, k).abs()).collect();
            assert!(diagonal.windows(2).all(|pair| pair[0] >= pair[1]), "{diagonal:?}");
            assert!(diagonal[2] > 1e-3 && diagonal[3] < 1e-14, "the rank is 3: {diagonal:?}");
        }
    }

    #[test]
    fn either_ends_between_two_columns() {
        for looks in 0..4 {
            let control = Control::after_looks(looks);
            assert_eq!(PivotedQr::new(sample(), 12, &control).err(), Some(Halt::Interrupted));
            let control = Control::after_looks(looks);
            assert_eq!(Folded::new(4).add(&mut sample(), &control), Err(Halt::Interrupted));
        }
    }
}
