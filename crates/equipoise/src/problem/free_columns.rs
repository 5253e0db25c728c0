//! `C = Q R` for a few columns C that come and go one at a time: least squares in `O(m k)` a change.
//!
//! ```text
//! argmin_d ||C d - r|| = R^{-1} Q' r
//! ```
//!
//! - Given: columns of m numbers, one that enters, the place of one that leaves, a right-hand side.
//! - Returns: the least-squares coefficients; and of a column that enters, whether it is independent of the others.
//! - Must not know: what the columns are, bounds.
//!
//! A column enters by orthogonalisation, twice (Kahan and Parlett: twice is enough), and leaves by plane rotations.

use crate::matrix::{axpy, dot};

/// The share of a column's length that must be left of it beside the others.
const INDEPENDENT: f64 = 1e-7;

/// The columns at hand, factored.
#[derive(Debug, Default)]
pub(super) struct FreeColumns {
    /// Orthonormal, one a column.
    basis: Vec<Vec<f64>>,
    /// R by columns, each as long as its place from 1.
    triangle: Vec<Vec<f64>>,
}

impl FreeColumns {
    /// Adds a column at the end; false, and nothing done, where it is a combination of the others.
    pub(super) fn push(&mut self, mut column: Vec<f64>) -> bool {
        let size = dot(&column, &column).sqrt();
        let mut along = vec![0.0; self.basis.len() + 1];
        for _ in 0..2 {
            for (basis, along) in self.basis.iter().zip(&mut along) {
                let part = dot(basis, &column);
                axpy(-part, basis, &mut column);
                *along += part;
            }
        }
        let left = dot(&column, &column).sqrt();
        if !(left > INDEPENDENT * size && left.is_normal()) {
            return false;
        }
        column.iter_mut().for_each(|v| *v /= left);
        along[self.basis.len()] = left;
        self.basis.push(column);
        self.triangle.push(along);
        true
    }

    /// Takes the column at this place away; those after it move up by one.
    pub(super) fn remove(&mut self, place: usize) {
        self.triangle.remove(place);
        for k in place..self.triangle.len() {
            // Column k has one number too many, below its diagonal: a rotation of two basis vectors takes it away.
            let (a, b) = (self.triangle[k][k], self.triangle[k][k + 1]);
            let size = a.hypot(b);
            let (cos, sin) = if size > 0.0 { (a / size, b / size) } else { (1.0, 0.0) };
            for column in &mut self.triangle[k..] {
                let (upper, lower) = (column[k], column[k + 1]);
                column[k] = cos * upper + sin * lower;
                column[k + 1] = cos * lower - sin * upper;
            }
            self.triangle[k].truncate(k + 1);
            let (head, tail) = self.basis.split_at_mut(k + 1);
            for (upper, lower) in head[k].iter_mut().zip(&mut tail[0]) {
                (*upper, *lower) = (cos * *upper + sin * *lower, cos * *lower - sin * *upper);
            }
        }
        self.basis.pop();
    }

    /// The coefficients for which the columns come nearest to r.
    pub(super) fn nearest(&self, r: &[f64]) -> Vec<f64> {
        let mut d: Vec<f64> = self.basis.iter().map(|basis| dot(basis, r)).collect();
        for k in (0..d.len()).rev() {
            d[k] /= self.triangle[k][k];
            let (above, own) = d.split_at_mut(k);
            axpy(-own[0], &self.triangle[k][..k], above);
        }
        d
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(k: usize) -> Vec<f64> {
        (0..7).map(|r| ((k * 31 + r * 17 + 5) % 23) as f64 / 23.0 - 0.4).collect()
    }

    #[test]
    fn columns_that_come_and_go_leave_the_least_squares_of_those_at_hand() {
        let (mut free, mut at_hand) = (FreeColumns::default(), Vec::new());
        for (enters, leaves) in [(1, None), (2, None), (5, Some(0)), (9, None), (4, Some(1)), (8, Some(2))] {
            assert!(free.push(column(enters)), "{enters}");
            at_hand.push(enters);
            if let Some(place) = leaves {
                free.remove(place);
                at_hand.remove(place);
            }
            let r: Vec<f64> = (0..7).map(|r| f64::from(r * r) - 3.0).collect();
            let mut left = r.clone();
            free.nearest(&r).iter().zip(&at_hand).for_each(|(d, k)| axpy(-d, &column(*k), &mut left));
            // What is left is orthogonal to every column, and to no less than that.
            for &k in &at_hand {
                assert!(dot(&left, &column(k)).abs() < 1e-12, "{at_hand:?}: {k}");
            }
        }
    }

    #[test]
    fn a_combination_of_the_others_does_not_enter() {
        let mut free = FreeColumns::default();
        assert!(free.push(column(1)) && free.push(column(2)));
        let mut both = column(1);
        axpy(-3.0, &column(2), &mut both);
        assert!(!free.push(both) && !free.push(vec![0.0; 7]));
        assert_eq!(free.nearest(&[1.0; 7]).len(), 2);
    }
}
