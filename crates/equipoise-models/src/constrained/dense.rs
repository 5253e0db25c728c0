//! Small dense systems: `L L' = G` of the free columns, in place, and what is solved with it.
//!
//! Given: the lower triangle of a symmetric matrix, column after column. Returns: its factor, or that it has none worth
//! the name. Must not know: what is solved.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{LltRegularization, cholesky_in_place, cholesky_in_place_scratch};
use faer::linalg::triangular_solve::{solve_lower_triangular_in_place, solve_upper_triangular_in_place};
use faer::{MatMut, MatRef, Par, Spec};

/// Columns from which on blocks pay.
const LARGE: usize = 96;
/// A pivot must be so much of its diagonal entry.
const LEAST_PIVOT: f64 = 1e-13;

/// Factors a matrix of n columns in place; false where a pivot is next to nothing.
pub(super) fn factor(a: &mut [f64], n: usize) -> bool {
    if n >= LARGE {
        return factor_large(a, n);
    }
    for j in 0..n {
        let diagonal = a[j * n + j];
        // Left-looking: column j loses what the columns before it explain.
        let (before, rest) = a.split_at_mut(j * n);
        let column = &mut rest[..n];
        for k in 0..j {
            let t = before[k * n + j];
            if t != 0.0 {
                let earlier = &before[k * n + j..k * n + n];
                column[j..].iter_mut().zip(earlier).for_each(|(entry, other)| *entry -= t * other);
            }
        }
        if column[j].is_nan() || column[j] <= LEAST_PIVOT * diagonal {
            return false;
        }
        let root = column[j].sqrt();
        column[j] = root;
        let inverse = 1.0 / root;
        column[j + 1..].iter_mut().for_each(|entry| *entry *= inverse);
    }
    true
}

fn factor_large(a: &mut [f64], n: usize) -> bool {
    let diagonal: Vec<f64> = (0..n).map(|j| a[j * n + j]).collect();
    let mut memory = MemBuffer::new(cholesky_in_place_scratch::<f64>(n, Par::Seq, Spec::default()));
    let matrix = MatMut::from_column_major_slice_mut(&mut *a, n, n);
    let plain = LltRegularization::default();
    let stack = MemStack::new(&mut memory);
    cholesky_in_place(matrix, plain, Par::Seq, stack, Spec::default()).is_ok()
        && (0..n).all(|j| a[j * n + j].powi(2) > LEAST_PIVOT * diagonal[j])
}

/// Solves `L L' z = right` in place.
pub(super) fn solve(a: &[f64], n: usize, right: &mut [f64]) {
    if n >= LARGE {
        let lower = MatRef::from_column_major_slice(a, n, n);
        let mut right = MatMut::from_column_major_slice_mut(&mut right[..n], n, 1);
        solve_lower_triangular_in_place(lower, right.as_mut(), Par::Seq);
        solve_upper_triangular_in_place(lower.transpose(), right, Par::Seq);
        return;
    }
    for j in 0..n {
        let column = &a[j * n..(j + 1) * n];
        let z = right[j] / column[j];
        right[j] = z;
        right[j + 1..n].iter_mut().zip(&column[j + 1..]).for_each(|(entry, other)| *entry -= z * other);
    }
    for j in (0..n).rev() {
        let column = &a[j * n..(j + 1) * n];
        let below: f64 = right[j + 1..n].iter().zip(&column[j + 1..]).map(|(a, b)| a * b).sum();
        right[j] = (right[j] - below) / column[j];
    }
}

/// The same for several right-hand sides, column after column.
pub(super) fn solve_many(a: &[f64], n: usize, right: &mut [f64]) {
    let lower = MatRef::from_column_major_slice(a, n, n);
    let count = right.len() / n;
    let mut right = MatMut::from_column_major_slice_mut(right, n, count);
    solve_lower_triangular_in_place(lower, right.as_mut(), Par::Seq);
    solve_upper_triangular_in_place(lower.transpose(), right, Par::Seq);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_and_large_systems_are_solved_and_singular_ones_refused() {
        for n in [1, 2, 7, 95, 96, 130] {
            // Diagonally dominant, so the solution is as exact as it gets.
            let entry =
                |i: usize, j: usize| if i == j { n as f64 + 1.0 } else { 1.0 / (1.0 + i.abs_diff(j) as f64) };
            let mut a: Vec<f64> = (0..n * n).map(|at| entry(at % n, at / n)).collect();
            let truth: Vec<f64> = (0..n).map(|k| (k as f64).sin()).collect();
            let mut right: Vec<f64> = (0..n).map(|i| (0..n).map(|j| entry(i, j) * truth[j]).sum()).collect();
            assert!(factor(&mut a, n), "{n}");
            solve(&a, n, &mut right);
            assert!(right.iter().zip(&truth).all(|(z, t)| (z - t).abs() < 1e-12), "{n}");
            let mut many = [0.0, 1.0]
                .map(|_| (0..n).map(|i| (0..n).map(|j| entry(i, j) * truth[j]).sum()).collect::<Vec<f64>>())
                .concat();
            solve_many(&a, n, &mut many);
            assert!(many.iter().zip(truth.iter().cycle()).all(|(z, t)| (z - t).abs() < 1e-12), "{n}");
            let mut ones = vec![1.0; n * n];
            assert_eq!(factor(&mut ones, n), n == 1, "{n}");
        }
    }
}
