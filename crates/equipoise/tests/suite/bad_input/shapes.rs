//! Lengths that disagree, blocks that do not partition the variables, no variables at all.

use super::{least_squares, matrix, refused, valid};
use crate::adaptor::{builder, composite};
use equipoise::separable::{Bounds, ElasticNet, GroupL2, L1, L1Bounds};
use equipoise::smooth::loss::Squared;
use equipoise::smooth::{Distance, LeastSquares, Linear, Quadratic, Sum};
use equipoise::{BlockChoice, Coupling, DenseMatrix, Error, Matrix, Problem, SparseMatrix};

#[track_caller]
fn is_mismatch<T: std::fmt::Debug>(result: Result<T, Error>, input: &str, found: usize, expected: usize) {
    let names = [input.to_owned(), format!("found {found}"), format!("expected {expected}")];
    let error = refused(result, &names.each_ref().map(String::as_str));
    let Error::ShapeMismatch { found: f, expected: e, .. } = error else { panic!("{error:?}") };
    assert_eq!((f, e), (found, expected));
}

#[test]
fn lengths_of_f() {
    is_mismatch(LeastSquares::new(matrix(), vec![1.0; 2], Squared), "target", 2, 3);
    is_mismatch(LeastSquares::weighted(matrix(), vec![1.0; 3], Squared, vec![1.0; 4]), "weights", 4, 3);
    is_mismatch(Quadratic::new(matrix(), vec![0.0; 4]), "quadratic matrix", 3, 4);
    let identity = Matrix::from_rows(&[[1.0, 0.0], [0.0, 1.0]]).expect("2 x 2");
    is_mismatch(Quadratic::new(identity, vec![0.0; 3]), "quadratic linear", 3, 2);
    is_mismatch(Quadratic::from_factor(matrix(), vec![0.0; 3]), "quadratic linear", 3, 4);
    is_mismatch(Distance::new(vec![0.0; 4], vec![1.0; 3]), "distance weight", 3, 4);
}

#[test]
fn lengths_of_matrices() {
    is_mismatch(Matrix::from_rows(&[&[1.0, 2.0][..], &[3.0]]), "row 1", 1, 2);
    is_mismatch(DenseMatrix::from_columns(2, 3, vec![0.0; 5]), "dense matrix", 5, 6);
    is_mismatch(SparseMatrix::from_columns(3, 2, vec![0, 1], vec![0], vec![1.0]), "column starts", 2, 3);
    is_mismatch(SparseMatrix::from_columns(3, 1, vec![0, 1], vec![0], vec![1.0; 2]), "sparse values", 2, 1);
    for columns in [vec![2, 1], vec![1, 1], vec![0, 3]] {
        let error =
            refused(SparseMatrix::from_columns(3, 1, vec![0, 2], columns, vec![1.0; 2]), &["increasing"]);
        assert!(matches!(error, Error::OutOfRange { index: 0, .. }));
    }
    let outside = SparseMatrix::from_triplets(3, 4, &[(0, 0, 1.0), (3, 1, 1.0)]);
    assert!(matches!(refused(outside, &["sparse triplets", "within"]), Error::OutOfRange { .. }));
}

#[test]
fn lengths_of_the_coupling() {
    let with = |coupling: Result<Coupling, Error>| valid().coupling(coupling.expect("valid alone")).build();
    is_mismatch(with(Coupling::row(vec![1.0; 3], 0.0)), "coupling weights", 3, 4);
    is_mismatch(
        with(Coupling::rows_of(DenseMatrix::from_columns(1, 5, vec![1.0; 5]).expect("1 x 5"), vec![0.0])),
        "coupling matrix",
        5,
        4,
    );
    is_mismatch(Coupling::rows_of(matrix(), vec![0.0; 2]), "coupling rhs", 2, 3);
    is_mismatch(Coupling::block_sum(Vec::new()), "coupling rhs", 0, 1);
    is_mismatch(with(Coupling::block_sum(vec![0.0; 3])), "block sum", 4, 6);
}

#[test]
fn lengths_of_h() {
    let with = |h: Result<L1, Error>| {
        let problem = composite(least_squares(), h.expect("valid alone"));
        problem.coupling(Coupling::sum(0.0).expect("valid")).build()
    };
    is_mismatch(with(L1::new(vec![1.0; 5])), "separable term", 5, 4);
    is_mismatch(Bounds::new(vec![0.0; 4], vec![1.0; 3]), "upper", 3, 4);
    is_mismatch(ElasticNet::new(vec![0.0; 4], vec![1.0; 3]), "elastic-net l2", 3, 4);
    is_mismatch(L1Bounds::new(vec![0.0; 4], vec![0.0; 3], 1.0), "lower", 3, 4);
    let bounds = composite(least_squares(), Bounds::new(vec![0.0; 3], 1.0).expect("valid alone"));
    is_mismatch(bounds.build(), "separable term", 3, 4);
    let groups = Problem::builder(least_squares()).group_l2(GroupL2::new(vec![1.0; 3]).expect("valid alone"));
    is_mismatch(groups.blocks(BlockChoice::Size(2)).build(), "group-l2 weight", 3, 2);
}

#[test]
fn no_variables() {
    let nothing = Linear::new(Vec::new()).expect("an empty list is no error yet");
    assert_eq!(refused(builder(nothing).build(), &["no variables"]), Error::EmptyProblem);
    let columns = DenseMatrix::from_columns(3, 0, Vec::new()).expect("3 x 0");
    let f = LeastSquares::new(columns, vec![1.0; 3], Squared).expect("an empty matrix is no error yet");
    assert_eq!(refused(builder(f).build(), &["no variables"]), Error::EmptyProblem);
    assert_eq!(refused(Sum::new(Vec::new()), &["no variables"]), Error::EmptyProblem);
}

#[test]
fn blocks_of_no_size() {
    let error =
        refused(valid().blocks(BlockChoice::Size(0)).build(), &["blocks", "at least 1", "4 variables"]);
    assert!(matches!(error, Error::InvalidBlocks { found: 0, dimension: 4, .. }));
    let larger = valid().blocks(BlockChoice::Size(9)).build().expect("one block of everything");
    assert_eq!(larger.blocks().len(), 1);
}

#[test]
fn boundaries_that_do_not_partition() {
    let cases: [(&[usize], usize, &str); 6] = [
        (&[1, 4], 0, "begin with 0"),
        (&[0, 2, 2, 4], 2, "increase"),
        (&[0, 3, 1, 4], 2, "increase"),
        (&[0, 2], 1, "end with the number of variables"),
        (&[0, 2, 5], 2, "end with the number of variables"),
        (&[], 0, "begin with 0"),
    ];
    for (boundaries, at, reason) in cases {
        let result = valid().blocks(BlockChoice::Boundaries(boundaries.to_vec())).build();
        let error = refused(result, &[reason, &format!("entry {at}")]);
        let Error::InvalidBlocks { index, found, dimension: 4, .. } = error else { panic!("{error:?}") };
        assert_eq!((index, found), (at, boundaries.get(at).copied().unwrap_or(0)));
    }
}
