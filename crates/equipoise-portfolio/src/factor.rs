//! `L L' = G` of the free assets, kept while assets come and go.
//!
//! - Given: entries of a symmetric matrix with those assets that are in it already. Returns: solutions.
//! - Must not know: what the entries are of.
//!
//! L is kept row by row. A new asset is a new row, one forward solve; one that goes leaves a row too long behind it in every
//! later row, which rotations take out (Gill, Golub, Murray and Saunders 1974).

use equipoise::matrix::{axpy, dot};

/// A pivot is at least so much of its diagonal entry; what depends on others is moved that far from them.
const LEAST_PIVOT: f64 = 1e-13;

/// The factor.
#[derive(Debug, Default)]
pub(crate) struct Factor {
    rows: Vec<Vec<f64>>,
}

impl Factor {
    /// Takes another asset; `entries` are those with the assets there, in their order.
    pub(crate) fn push(&mut self, mut entries: Vec<f64>, diagonal: f64) {
        self.forward(&mut entries);
        let pivot = (diagonal - dot(&entries, &entries)).max(LEAST_PIVOT * diagonal).max(f64::MIN_POSITIVE);
        entries.push(pivot.sqrt());
        self.rows.push(entries);
    }

    /// Gives an asset up, by its place.
    pub(crate) fn remove(&mut self, place: usize) {
        self.rows.remove(place);
        let mut turns: Vec<(f64, f64)> = Vec::with_capacity(self.rows.len() - place);
        for (at, row) in self.rows.iter_mut().enumerate().skip(place) {
            for (k, &(c, s)) in turns.iter().enumerate() {
                let (a, b) = (row[place + k], row[place + k + 1]);
                (row[place + k], row[place + k + 1]) = (c * a + s * b, c * b - s * a);
            }
            let (a, b) = (row[at], row[at + 1]);
            let length = a.hypot(b).max(f64::MIN_POSITIVE);
            turns.push((a / length, b / length));
            row[at] = length;
            row.truncate(at + 1);
        }
    }

    /// The factor of `L L' + x x'`.
    pub(crate) fn update(&mut self, mut x: Vec<f64>) {
        let mut turns: Vec<(f64, f64)> = Vec::with_capacity(x.len());
        for (k, row) in self.rows.iter_mut().enumerate() {
            let mut own = x[k];
            for (entry, &(c, s)) in row.iter_mut().zip(&turns) {
                (*entry, own) = (c * *entry + s * own, c * own - s * *entry);
            }
            let length = row[k].hypot(own);
            turns.push((row[k] / length, own / length));
            (row[k], x[k]) = (length, own);
        }
    }

    /// The factor of `L L' - x x'`; false, and no factor left, where that is not positive definite in this arithmetic.
    pub(crate) fn downdate(&mut self, x: &[f64]) -> bool {
        let mut turns: Vec<(f64, f64)> = Vec::with_capacity(x.len());
        for (k, row) in self.rows.iter_mut().enumerate() {
            let mut own = x[k];
            for (entry, &(c, s)) in row.iter_mut().zip(&turns) {
                // Hyperbolic, in the mixed form, which is stable.
                *entry = (*entry - s * own) / c;
                own = c * own - s * *entry;
            }
            let s = own / row[k];
            let rest = 1.0 - s * s;
            if rest.is_nan() || rest <= 1e-12 {
                return false;
            }
            let c = rest.sqrt();
            turns.push((c, s));
            row[k] *= c;
        }
        true
    }

    /// `L^-1 x`, in place.
    pub(crate) fn forward(&self, x: &mut [f64]) {
        for (k, row) in self.rows.iter().enumerate() {
            x[k] = (x[k] - dot(&row[..k], &x[..k])) / row[k];
        }
    }

    /// `L'^-1 x`, in place.
    pub(crate) fn backward(&self, x: &mut [f64]) {
        for (k, row) in self.rows.iter().enumerate().rev() {
            x[k] /= row[k];
            let (before, from) = x.split_at_mut(k);
            axpy(-from[0], &row[..k], before);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(i: usize, j: usize) -> f64 {
        if i == j { 9.0 + i as f64 } else { 1.0 / (1.0 + i.abs_diff(j) as f64) }
    }

    #[test]
    fn what_came_and_went_leaves_the_factor_of_those_that_stayed() {
        let mut factor = Factor::default();
        let mut there: Vec<usize> = Vec::new();
        let add = |factor: &mut Factor, there: &mut Vec<usize>, j: usize| {
            factor.push(there.iter().map(|&i| entry(i, j)).collect(), entry(j, j));
            there.push(j);
        };
        (0..9).for_each(|j| add(&mut factor, &mut there, j));
        for place in [3, 0, 6] {
            factor.remove(place);
            there.remove(place);
        }
        add(&mut factor, &mut there, 3);
        let truth: Vec<f64> = (0..there.len()).map(|k| (k as f64).sin()).collect();
        let mut x: Vec<f64> =
            there.iter().map(|&i| there.iter().zip(&truth).map(|(&j, t)| entry(i, j) * t).sum()).collect();
        factor.forward(&mut x);
        factor.backward(&mut x);
        assert!(x.iter().zip(&truth).all(|(a, b)| (a - b).abs() < 1e-13), "{x:?}");
    }

    #[test]
    fn an_asset_twice_is_no_end() {
        let mut factor = Factor::default();
        factor.push(vec![], 2.0);
        factor.push(vec![2.0], 2.0);
        let mut x = vec![2.0, 2.0];
        factor.forward(&mut x);
        factor.backward(&mut x);
        assert!((x[0] + x[1] - 1.0).abs() < 1e-6, "{x:?}");
    }
}
