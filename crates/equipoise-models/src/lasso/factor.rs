//! A Cholesky factor that grows and shrinks by one row, with columns carried along.
//!
//! ```text
//! H = L L',   Y = L^-1 C        H k x k, C k x m
//! ```
//!
//! Appending costs one forward substitution; removing row i costs a rotation for each row after it
//! (Golub and Van Loan, Matrix Computations, 6.5). A pivot that rounding has eaten is raised: steps along such a direction are
//! long, and whoever takes them stops at the first bound.
//!
//! - Given: rows of H and C, one at a time. Returns: solutions of triangular systems.
//! - Must not know: what H and C are.

use equipoise::matrix::{axpy, dot};

/// The least share of the size of H that a pivot may be.
const LEAST_PIVOT: f64 = 1e-11;

/// L by rows, and Y by rows.
#[derive(Debug, Clone, Default)]
pub(super) struct Factor {
    rows: Vec<Vec<f64>>,
    carried: Vec<Vec<f64>>,
}

impl Factor {
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn clear(&mut self) {
        self.rows.clear();
        self.carried.clear();
    }

    /// Y, a row for each row of L.
    pub(super) fn carried(&self) -> &[Vec<f64>] {
        &self.carried
    }

    /// Adds a last row and column to H: `beside` is the new row without its diagonal entry; `scale` is the size of H.
    pub(super) fn append(&mut self, beside: &[f64], diagonal: f64, scale: f64, c: &[f64]) {
        let mut row = beside.to_vec();
        self.forward(&mut row);
        let pivot = (diagonal - dot(&row, &row)).max(LEAST_PIVOT * scale).max(f64::MIN_POSITIVE).sqrt();
        let mut carried = c.to_vec();
        for (l, y) in row.iter().zip(&self.carried) {
            axpy(-l, y, &mut carried);
        }
        carried.iter_mut().for_each(|y| *y /= pivot);
        row.push(pivot);
        self.rows.push(row);
        self.carried.push(carried);
    }

    /// Takes row and column i out of H.
    pub(super) fn remove(&mut self, i: usize) {
        self.rows.remove(i);
        let mut turns: Vec<(f64, f64)> = Vec::with_capacity(self.rows.len() - i);
        for (r, row) in self.rows.iter_mut().enumerate().skip(i) {
            for (k, &(cosine, sine)) in turns.iter().enumerate() {
                let (a, b) = (row[i + k], row[i + k + 1]);
                row[i + k] = cosine * a + sine * b;
                row[i + k + 1] = cosine * b - sine * a;
            }
            let (a, b) = (row[r], row[r + 1]);
            let length = a.hypot(b).max(f64::MIN_POSITIVE);
            let (cosine, sine) = (a / length, b / length);
            turns.push((cosine, sine));
            row[r] = length;
            row.truncate(r + 1);
            let (above, below) = self.carried.split_at_mut(r + 1);
            for (a, b) in above[r].iter_mut().zip(&mut below[0]) {
                (*a, *b) = (cosine * *a + sine * *b, cosine * *b - sine * *a);
            }
        }
        self.carried.pop();
    }

    /// `v = L^-1 v`.
    pub(super) fn forward(&self, v: &mut [f64]) {
        for (r, row) in self.rows.iter().enumerate() {
            let sum = dot(&row[..r], &v[..r]);
            v[r] = (v[r] - sum) / row[r];
        }
    }

    /// `v = L'^-1 v`.
    pub(super) fn backward(&self, v: &mut [f64]) {
        for (r, row) in self.rows.iter().enumerate().rev() {
            v[r] /= row[r];
            let t = v[r];
            axpy(-t, &row[..r], &mut v[..r]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `x_i'x_k + [i = k]` of made-up columns.
    fn entry(i: usize, k: usize) -> f64 {
        let of = |i: usize, t: usize| ((i * 31 + t * 17) % 13) as f64 - 6.0;
        (0..5).map(|t| of(i, t) * of(k, t)).sum::<f64>() + f64::from(u8::from(i == k))
    }

    #[test]
    fn what_grew_and_shrank_solves_the_system_that_is_left() {
        let mut factor = Factor::default();
        let mut kept: Vec<usize> = Vec::new();
        let append = |factor: &mut Factor, kept: &mut Vec<usize>, i: usize| {
            let beside: Vec<f64> = kept.iter().map(|&k| entry(i, k)).collect();
            factor.append(&beside, entry(i, i), 100.0, &[1.0, i as f64]);
            kept.push(i);
        };
        (0..9).for_each(|i| append(&mut factor, &mut kept, i));
        for gone in [8, 0, 3, 2] {
            factor.remove(gone);
            kept.remove(gone);
            append(&mut factor, &mut kept, 10 + gone);
            let x: Vec<f64> = (0..kept.len()).map(|k| 1.0 / (1.0 + k as f64)).collect();
            let mut v: Vec<f64> =
                kept.iter().map(|&i| kept.iter().zip(&x).map(|(&k, x)| entry(i, k) * x).sum()).collect();
            factor.forward(&mut v);
            factor.backward(&mut v);
            assert!(v.iter().zip(&x).all(|(v, x)| (v - x).abs() < 1e-9), "{v:?}");
            // L Y = C.
            for (r, row) in factor.rows.iter().enumerate() {
                for (column, wanted) in [1.0, kept[r] as f64].into_iter().enumerate() {
                    let found: f64 = row.iter().zip(factor.carried()).map(|(l, y)| l * y[column]).sum();
                    assert!((found - wanted).abs() < 1e-9, "row {r}: {found} for {wanted}");
                }
            }
        }
    }
}
