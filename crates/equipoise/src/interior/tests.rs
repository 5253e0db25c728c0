//! Programs with known solutions, straight through the path.

use super::*;
use crate::matrix::{Matrix, SparseMatrix, max_abs};

fn solved(program: &Program<'_>) -> Found {
    solve(program, Sought::Points, 1e-10, MOST_PRODUCTS, &Control::unlimited())
        .expect("unlimited")
        .expect("small and solvable")
}

#[test]
fn a_linear_program_ends_at_its_vertex() {
    // max x + 2y, x + y <= 4, x + 3y <= 6, x, y >= 0: (3, 1).
    let rows = Matrix::from_rows(&[[1.0, 1.0, 1.0, 0.0], [1.0, 3.0, 0.0, 1.0]]).expect("rectangular");
    let coupling = Coupling::rows_of(rows, vec![4.0, 6.0]).expect("valid");
    let pieces = vec![Piece { lower: 0.0, ..Piece::FREE }; 4];
    let program =
        Program { coupling: &coupling, bends: Vec::new(), linear: vec![-1.0, -2.0, 0.0, 0.0], pieces };
    let found = solved(&program);
    let snapped = found.snapped.expect("a vertex");
    for (found, expected) in snapped.x.iter().zip([3.0, 1.0, 0.0, 0.0]) {
        assert!((found - expected).abs() < 1e-12, "{:?}", snapped.x);
    }
    for (found, expected) in snapped.lambda.iter().zip([0.5, 0.5]) {
        assert!((found - expected).abs() < 1e-9, "{:?}", snapped.lambda);
    }
    assert!(coupling.miss(&found.inside.x).relative < 1e-13);
}

#[test]
fn kinks_are_found_and_kept() {
    // 1/2 |x - t|^2 + |x|_1 with x_1 + x_2 + x_3 = 0.
    let coupling = Coupling::sum(0.0).expect("valid");
    let pieces = vec![Piece { l1: 1.0, ..Piece::FREE }; 3];
    let bends = vec![Bend::Diagonal(vec![1.0; 3])];
    let program = Program { coupling: &coupling, bends, linear: vec![-5.0, 3.0, -0.2], pieces };
    let snapped = solved(&program).snapped.expect("a point with its zeros");
    // lambda = 1 balances: x = (3, -3, 0).
    for (found, expected) in snapped.x.iter().zip([3.0, -3.0, 0.0]) {
        assert!((found - expected).abs() < 1e-9, "{:?}", snapped.x);
    }
    assert_eq!(snapped.x[2], 0.0);
}

#[test]
fn units_do_not_matter() {
    let (m, n) = (6, 15);
    let entry = |k: usize| ((k * 7919 + 13) % 1009) as f64 / 1009.0 - 0.5;
    let rows: Vec<Vec<f64>> = (0..m).map(|r| (0..n).map(|c| entry(r * n + c)).collect()).collect();
    let inside: Vec<f64> = (0..n).map(|c| 0.5 + 0.3 * entry(77 * c + 5)).collect();
    let rhs = |rows: &[Vec<f64>], x: &[f64]| -> Vec<f64> {
        rows.iter().map(|row| row.iter().zip(x).map(|(a, x)| a * x).sum()).collect()
    };
    let linear: Vec<f64> = (0..n).map(|c| 3.0 * entry(31 * c + 8)).collect();
    let mut objectives = Vec::new();
    for decades in [0, 3, 6] {
        let unit = |k: usize| 10f64.powi(i32::try_from(k * 5).expect("few") % (2 * decades + 1) - decades);
        let scaled: Vec<Vec<f64>> =
            (0..m).map(|r| (0..n).map(|c| unit(r + 3) * rows[r][c] / unit(c)).collect()).collect();
        let x: Vec<f64> = inside.iter().enumerate().map(|(c, x)| x * unit(c)).collect();
        let coupling = Coupling::rows_of(Matrix::from_rows(&scaled).expect("rectangular"), rhs(&scaled, &x))
            .expect("valid");
        let pieces = (0..n).map(|c| Piece { lower: 0.0, upper: unit(c), ..Piece::FREE }).collect();
        let diagonal = (0..n).map(|c| 0.5 / (unit(c) * unit(c))).collect();
        let slopes: Vec<f64> = (0..n).map(|c| linear[c] / unit(c)).collect();
        let bends = vec![Bend::Diagonal(diagonal)];
        let program = Program { coupling: &coupling, bends, linear: slopes.clone(), pieces };
        let found = solved(&program);
        let snapped = found.snapped.expect("a point on its bounds");
        assert!(coupling.miss(&snapped.x).relative < 1e-12, "{decades}");
        let own = |c: usize| snapped.x[c] / unit(c);
        objectives.push((0..n).map(|c| own(c) * (0.25 * own(c) + linear[c])).sum::<f64>());
    }
    assert!(objectives.iter().all(|o| (o - objectives[0]).abs() < 1e-9), "{objectives:?}");
}

#[test]
fn products_that_are_lifted_and_those_that_are_formed_agree() {
    let (samples, n) = (9, 5);
    let entry = |k: usize| ((k * 37 + 11) % 101) as f64 / 101.0 - 0.4;
    let dense: Vec<Vec<f64>> = (0..samples).map(|r| (0..n).map(|c| entry(r * n + c)).collect()).collect();
    let dense = Matrix::from_rows(&dense).expect("rectangular");
    let mut triplets = Vec::new();
    dense.for_each(|r, c, v| triplets.push((r, c, v)));
    let sparse = Matrix::from(SparseMatrix::from_triplets(samples, n, &triplets).expect("inside"));
    let coupling = Coupling::sum(1.0).expect("valid");
    let of = |matrix: &Matrix| {
        let weights = (0..samples).map(|k| 1.0 + k as f64).collect();
        let pieces = vec![Piece { lower: 0.0, ..Piece::FREE }; n];
        let bends = vec![Bend::Product(matrix, weights)];
        solved(&Program { coupling: &coupling, bends, linear: vec![0.3, -0.1, 0.2, 0.0, -0.3], pieces })
    };
    let (one, other) = (of(&dense).inside.x, of(&sparse).inside.x);
    let apart: Vec<f64> = one.iter().zip(&other).map(|(a, b)| a - b).collect();
    assert!(max_abs(&apart) < 1e-6, "{one:?} {other:?}");
}

#[test]
fn work_ends_when_it_is_told_to() {
    let coupling = Coupling::sum(1.0).expect("valid");
    let pieces = vec![Piece { lower: 0.0, ..Piece::FREE }; 4];
    let program =
        Program { coupling: &coupling, bends: Vec::new(), linear: vec![1.0, 2.0, 3.0, 4.0], pieces };
    for looks in [0, 1, 2, 3, 5, 8] {
        assert!(
            solve(&program, Sought::Points, 1e-10, MOST_PRODUCTS, &Control::after_looks(looks)).is_err(),
            "{looks}"
        );
    }
    // A factor that would cost too much is not made.
    assert!(solve(&program, Sought::Points, 1e-10, 0.0, &Control::unlimited()).expect("unlimited").is_none());
}
