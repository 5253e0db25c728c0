//! Numbers that are not finite, negative, crossed, no labels; matrices that are not convex.

use super::{ROWS, least_squares, matrix, refused, valid};
use equipoise::separable::{Bounds, ElasticNet, GroupL2, L1, L1Bounds};
use equipoise::smooth::loss::{HuberLoss, LogisticLoss, Squared, SquaredHingeLoss};
use equipoise::smooth::{Distance, Linear, LossOfProduct, Quadratic, Sum};
use equipoise::{Coupling, DenseMatrix, Error, Matrix, ProbabilityChoice, SparseMatrix};

/// The valid matrix with one entry replaced, dense and sparse.
fn broken(row: usize, column: usize, value: f64) -> [Matrix<'static>; 2] {
    let mut rows = ROWS;
    rows[row][column] = value;
    let entries = (0..3).flat_map(|r| (0..4).map(move |c| (r, c)));
    let triplets: Vec<_> = entries.map(|(r, c)| (r, c, rows[r][c])).filter(|(_, _, v)| *v != 0.0).collect();
    let sparse = SparseMatrix::from_triplets(3, 4, &triplets).expect("3 x 4");
    [Matrix::from_rows(&rows).expect("3 x 4"), sparse.into()]
}

/// A list of ones with one entry replaced.
fn list(length: usize, index: usize, value: f64) -> Vec<f64> {
    let mut list = vec![1.0; length];
    list[index] = value;
    list
}

#[track_caller]
fn is_non_finite<T: std::fmt::Debug>(result: Result<T, Error>, input: &str, row: usize, column: usize) {
    let names = [input.to_owned(), format!("row {row}"), format!("column {column}")];
    let error = refused(result, &names.each_ref().map(String::as_str));
    let Error::NonFinite { row: r, column: c, found, .. } = error else { panic!("{error:?}") };
    assert_eq!((r, c), (row, column));
    assert!(!found.is_finite());
}

#[test]
fn matrices_with_a_number_that_is_not_finite() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        for matrix in broken(2, 3, bad) {
            let target = vec![1.0; 3];
            is_non_finite(LossOfProduct::new(matrix.clone(), target.clone(), Squared), "matrix", 2, 3);
            is_non_finite(LossOfProduct::new(matrix.clone(), target.clone(), LogisticLoss), "matrix", 2, 3);
            is_non_finite(Quadratic::from_factor(matrix.clone(), vec![1.0; 4]), "matrix", 2, 3);
            is_non_finite(Coupling::rows_of(matrix, target), "coupling matrix", 2, 3);
        }
        let square = DenseMatrix::from_columns(2, 2, vec![1.0, bad, bad, 1.0]).expect("2 x 2");
        is_non_finite(Quadratic::new(square, vec![0.0; 2]), "quadratic matrix", 1, 0);
    }
}

#[test]
fn vectors_of_f_with_a_number_that_is_not_finite() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let identity = || Matrix::from_rows(&[[1.0, 0.0], [0.0, 1.0]]).expect("2 x 2");
        is_non_finite(LossOfProduct::new(matrix(), list(3, 1, bad), Squared), "target", 1, 0);
        is_non_finite(LossOfProduct::new(matrix(), list(3, 1, bad), SquaredHingeLoss), "target", 1, 0);
        let weighted = LossOfProduct::weighted(matrix(), vec![1.0; 3], Squared, list(3, 2, bad));
        is_non_finite(weighted, "weights", 2, 0);
        is_non_finite(Quadratic::new(identity(), list(2, 1, bad)), "quadratic linear", 1, 0);
        is_non_finite(Quadratic::from_factor(matrix(), list(4, 3, bad)), "linear", 3, 0);
        is_non_finite(Distance::new(list(4, 2, bad), 1.0), "distance target", 2, 0);
        is_non_finite(Distance::new(vec![1.0; 4], list(4, 2, bad)), "distance weight", 2, 0);
        is_non_finite(Distance::new(vec![1.0; 4], bad), "distance weight", 0, 0);
        is_non_finite(Linear::new(list(4, 3, bad)), "linear", 3, 0);
    }
}

#[test]
fn vectors_of_h_and_of_the_coupling_with_a_number_that_is_not_finite() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        is_non_finite(L1::new(list(4, 2, bad)), "l1 weight", 2, 0);
        is_non_finite(ElasticNet::new(list(4, 2, bad), 1.0), "elastic-net l1", 2, 0);
        is_non_finite(ElasticNet::new(1.0, list(4, 2, bad)), "elastic-net l2", 2, 0);
        is_non_finite(L1Bounds::new(bad, 0.0, 1.0), "l1-box weight", 0, 0);
        is_non_finite(GroupL2::new(list(2, 1, bad)), "group-l2 weight", 1, 0);
        is_non_finite(Coupling::sum(bad), "coupling rhs", 0, 0);
        is_non_finite(Coupling::row(list(4, 3, bad), 0.0), "coupling weights", 3, 0);
        is_non_finite(Coupling::row(1.0, bad), "coupling rhs", 0, 0);
        is_non_finite(Coupling::block_sum(list(2, 1, bad)), "coupling rhs", 1, 0);
        is_non_finite(Coupling::rows_of(matrix(), list(3, 2, bad)), "coupling rhs", 2, 0);
        let weighted = valid().probabilities(ProbabilityChoice::Weighted(list(6, 4, bad))).build();
        is_non_finite(weighted, "edge weights", 4, 0);
    }
}

#[test]
fn bounds_may_be_infinite_outwards_only() {
    assert!(Bounds::new(f64::NEG_INFINITY, f64::INFINITY).is_ok());
    is_non_finite(Bounds::new(list(4, 2, f64::NAN), 2.0), "lower", 2, 0);
    is_non_finite(Bounds::new(0.0, list(4, 2, f64::NAN)), "upper", 2, 0);
    is_non_finite(Bounds::new(list(4, 2, f64::INFINITY), f64::INFINITY), "lower", 2, 0);
    is_non_finite(Bounds::new(f64::NEG_INFINITY, list(4, 2, f64::NEG_INFINITY)), "upper", 2, 0);
    is_non_finite(L1Bounds::new(1.0, list(4, 1, f64::NAN), 2.0), "lower", 1, 0);
}

#[track_caller]
fn is_negative<T: std::fmt::Debug>(result: Result<T, Error>, input: &str, at: usize) {
    let error = refused(result, &[input, &format!("entry {at}"), "-0.5"]);
    assert!(matches!(error, Error::NegativeWeight { index, found: -0.5, .. } if index == at), "{error:?}");
}

#[test]
fn negative_weights() {
    is_negative(L1::new(-0.5), "l1 weight", 0);
    is_negative(L1::new(list(4, 3, -0.5)), "l1 weight", 3);
    is_negative(ElasticNet::new(-0.5, 1.0), "elastic-net l1", 0);
    is_negative(ElasticNet::new(1.0, list(4, 2, -0.5)), "elastic-net l2", 2);
    is_negative(L1Bounds::new(list(4, 1, -0.5), 0.0, 1.0), "l1-box weight", 1);
    is_negative(GroupL2::new(list(2, 1, -0.5)), "group-l2 weight", 1);
    is_negative(Distance::new(vec![1.0; 4], -0.5), "distance weight", 0);
    is_negative(Distance::new(vec![1.0; 4], list(4, 3, -0.5)), "distance weight", 3);
    is_negative(LossOfProduct::weighted(matrix(), vec![1.0; 3], Squared, list(3, 2, -0.5)), "weights", 2);
    is_negative(
        valid().probabilities(ProbabilityChoice::Weighted(list(6, 4, -0.5))).build(),
        "edge weights",
        4,
    );
}

#[test]
fn crossed_bounds() {
    let error = refused(Bounds::new(0.0, list(4, 2, -0.5)), &["coordinate 2", "lower 0", "upper -0.5"]);
    assert_eq!(error, Error::CrossedBounds { index: 2, lower: 0.0, upper: -0.5 });
    let error = refused(L1Bounds::new(1.0, list(4, 1, 7.5), 2.0), &["coordinate 1", "7.5", "2"]);
    assert_eq!(error, Error::CrossedBounds { index: 1, lower: 7.5, upper: 2.0 });
    assert!(Bounds::new(2.0, 2.0).is_ok(), "a fixed variable is allowed");
}

#[test]
fn labels_are_plus_or_minus_one() {
    for bad in [0.0, 0.5, 2.0, -1.5] {
        let target = list(3, 1, bad);
        let names: [&str; 3] = ["target", "entry 1", "-1 or +1"];
        let logistic = refused(LossOfProduct::new(matrix(), target.clone(), LogisticLoss), &names);
        let hinge = refused(LossOfProduct::new(matrix(), target, SquaredHingeLoss), &names);
        assert!(matches!(logistic, Error::OutOfRange { index: 1, found, .. } if found == bad));
        assert_eq!(logistic, hinge);
    }
}

#[test]
fn the_width_of_huber_is_positive() {
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = refused(HuberLoss::new(bad), &["huber delta", "above 0"]);
        assert!(matches!(error, Error::OutOfRange { found, .. } if found.to_bits() == bad.to_bits()));
    }
}

fn quadratic(rows: &[[f64; 3]; 3]) -> Result<Quadratic<'static>, Error> {
    Quadratic::new(Matrix::from_rows(rows).expect("3 x 3"), vec![0.0; 3])
}

#[test]
fn a_quadratic_is_symmetric() {
    let bad = quadratic(&[[2.0, 0.0, 0.0], [0.0, 2.0, 0.5], [0.0, 0.25, 2.0]]);
    let error = refused(bad, &["quadratic matrix", "0.5", "0.25", "symmetric"]);
    let Error::NotSymmetric { row, column, found, mirrored, .. } = error else { panic!("{error:?}") };
    assert_eq!((row.min(column), row.max(column)), (1, 2));
    assert_eq!(found.min(mirrored), 0.25);
    // A sparse matrix with one half left out.
    let half = SparseMatrix::from_triplets(2, 2, &[(0, 0, 1.0), (1, 0, 0.5), (1, 1, 1.0)]).expect("2 x 2");
    let error = refused(Quadratic::new(half, vec![0.0; 2]), &["(1, 0)", "0.5"]);
    assert!(matches!(error, Error::NotSymmetric { row: 1, column: 0, mirrored: 0.0, .. }));
}

#[test]
fn a_quadratic_is_convex_up_to_rounding() {
    // Eigenvalues 4, 1 and `smallest`, in a rotated basis.
    let rotated = |smallest: f64| {
        let (p, q) = (0.5 * (4.0 + smallest), 0.5 * (4.0 - smallest));
        quadratic(&[[p, q, 0.0], [q, p, 0.0], [0.0, 0.0, 1.0]])
    };
    let error = refused(rotated(-0.5), &["quadratic matrix", "-5.000e-1"]);
    let Error::NotConvex { eigenvalue, allowed, .. } = error else { panic!("{error:?}") };
    assert!((eigenvalue + 0.5).abs() < 1e-12 && allowed < 0.0 && allowed > -1e-9);
    assert!(matches!(rotated(-4e-8), Err(Error::NotConvex { .. })), "1e-8 of the norm is no rounding");
    assert!(rotated(0.0).is_ok());
    assert!(rotated(-4e-12).is_ok(), "1e-12 of the norm is rounding");
}

#[test]
fn a_broken_term_in_a_sum() {
    let terms =
        Sum::new(vec![Box::new(least_squares()), Box::new(Linear::new(vec![0.0; 3]).expect("valid"))]);
    let error = refused(terms, &["term 1 of the sum", "3 variables", "expected 4"]);
    assert!(matches!(error, Error::ShapeMismatch { found: 3, expected: 4, .. }));
}
