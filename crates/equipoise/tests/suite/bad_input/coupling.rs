//! Rows of A x = b that contradict each other or the bounds; every piece of evidence is checked by arithmetic.

use super::{least_squares, refused, valid};
use crate::adaptor::composite;
use crate::numbers::Numbers;
use equipoise::separable::{Bounds, NonNegative, SeparableTerm};
use equipoise::smooth::Distance;
use equipoise::{Coupling, Error, Matrix, Settings, Status, certificate, solve};

/// Three rows of rank two: the third is twice the first plus three times the second.
const DEPENDENT: [[f64; 4]; 3] = [[1.0, 1.0, 0.0, -1.0], [0.0, 1.0, 2.0, 1.0], [2.0, 5.0, 6.0, 1.0]];

fn rows<R: AsRef<[f64]>>(rows: &[R], rhs: Vec<f64>) -> Coupling {
    Coupling::rows_of(Matrix::from_rows(rows).expect("rectangular"), rhs).expect("finite")
}

#[test]
fn rows_that_contradict_each_other() {
    let rhs = [1.0, 2.0, 9.0];
    let error =
        refused(valid().coupling(rows(&DEPENDENT, rhs.to_vec())).build(), &["inconsistent", "combination"]);
    let Error::InconsistentRows { row, rows, coefficients, implied, found } = error else {
        panic!("{error:?}")
    };
    let combine =
        |of: &dyn Fn(usize) -> f64| -> f64 { rows.iter().zip(&coefficients).map(|(&r, t)| t * of(r)).sum() };
    for c in 0..4 {
        assert!((combine(&|r| DEPENDENT[r][c]) - DEPENDENT[row][c]).abs() < 1e-12, "not that combination");
    }
    assert!((combine(&|r| rhs[r]) - implied).abs() < 1e-12);
    assert_eq!(found, rhs[row]);
    assert!((implied - found).abs() > 1e-3);
}

#[test]
fn a_row_of_zeros_cannot_give_one() {
    for coupling in [rows(&[[0.0; 4]], vec![1.0]), Coupling::row(0.0, 1.0).expect("finite")] {
        let error = refused(valid().coupling(coupling).build(), &["row 0", "b[0] is 1"]);
        let Error::InconsistentRows { row: 0, rows, implied, found, .. } = error else { panic!("{error:?}") };
        assert!(rows.is_empty());
        assert_eq!((implied, found), (0.0, 1.0));
    }
}

#[test]
fn redundant_rows_are_dropped_and_reported() {
    let coupling = rows(&DEPENDENT, vec![1.0, 2.0, 8.0]);
    let problem = valid().coupling(coupling).build().expect("consistent");
    let [dropped] = problem.dropped_rows() else { panic!("{:?}", problem.dropped_rows()) };
    let others: Vec<usize> = (0..3).filter(|&r| r != dropped.row).collect();
    let mut of = dropped.of.clone();
    of.sort_unstable();
    assert_eq!(of, others);
    let solution = solve(&problem, &Settings::default()).expect("solvable");
    assert_eq!(solution.status, Status::Converged);
    assert_eq!(solution.certificate.multipliers.len(), 3);
    assert_eq!(solution.certificate.multipliers[dropped.row], 0.0);
    let again = certificate::check(&problem, &solution.x).expect("right length");
    assert!(again.meets(1e-6) && again.infeasibility <= 3e-9, "all three rows hold: {again:?}");
}

#[test]
fn duplicate_rows_of_any_scale_are_redundant() {
    let twice = rows(&[[1.0, 1.0, 1.0, 1.0], [1e6, 1e6, 1e6, 1e6]], vec![0.5, 0.5e6]);
    let problem = valid().coupling(twice).build().expect("consistent");
    assert_eq!(problem.dropped_rows().len(), 1);
    let none_left = valid().coupling(rows(&[[0.0; 4], [0.0; 4]], vec![0.0; 2])).build().expect("consistent");
    assert_eq!(none_left.dropped_rows().len(), 2);
    assert_eq!(solve(&none_left, &Settings::default()).expect("solvable").certificate.multipliers, [0.0; 2]);
}

/// Checks by arithmetic that y proves the domain empty: the supremum of y'Ax over the bounds is below y'b.
#[track_caller]
fn proves_emptiness(error: &Error, coupling: &Coupling, h: &impl SeparableTerm, n: usize) {
    let Error::EmptyDomain { witness, reachable, needed } = error else { panic!("{error:?}") };
    let mut supremum = 0.0;
    for c in 0..n {
        let (t, (lower, upper)) = (coupling.column_dot(c, witness), h.domain(c));
        supremum += if t == 0.0 { 0.0 } else { (t * lower).max(t * upper) };
    }
    let combined: f64 = coupling.rhs().iter().zip(witness).map(|(b, y)| b * y).sum();
    assert!(supremum < combined, "{witness:?} reaches {supremum}, needs {combined}");
    assert!((supremum - reachable).abs() <= 1e-12 * (1.0 + supremum.abs()), "{supremum} is not {reachable}");
    assert!((combined - needed).abs() <= 1e-12 * (1.0 + combined.abs()), "{combined} is not {needed}");
}

#[test]
fn bounds_that_one_row_cannot_meet() {
    let unit = || Bounds::new(0.0, 1.0).expect("valid");
    let weighted = |rhs| Coupling::row(vec![1.0, -2.0, 0.0, 3.0], rhs).expect("finite");
    for coupling in [
        Coupling::sum(4.5).expect("finite"),
        Coupling::sum(-0.5).expect("finite"),
        weighted(4.5),
        weighted(-2.5),
    ] {
        let problem = composite(least_squares(), unit()).coupling(coupling.clone());
        let error = refused(problem.build(), &["no x within the bounds", "multipliers"]);
        proves_emptiness(&error, &coupling, &unit(), 4);
    }
    let negative = Coupling::sum(-1.0).expect("finite");
    let problem = composite(least_squares(), NonNegative).coupling(negative.clone());
    proves_emptiness(&refused(problem.build(), &["no x"]), &negative, &NonNegative, 4);
    let corner = composite(least_squares(), unit()).coupling(Coupling::sum(4.0).expect("finite"));
    assert_eq!(corner.build().expect("one point is enough").start(), [1.0; 4]);
}

#[test]
fn bounds_that_several_rows_cannot_meet() {
    // Each row alone can be met, both together cannot.
    let coupling = rows(&[[1.0, 1.0, 1.0, 0.0], [1.0, 1.0, 0.0, 1.0]], vec![0.5, 2.75]);
    let unit = Bounds::new(0.0, 1.0).expect("valid");
    let problem = composite(least_squares(), unit.clone()).coupling(coupling.clone()).build();
    proves_emptiness(&refused(problem, &["no x within the bounds"]), &coupling, &unit, 4);
}

#[test]
fn random_empty_domains_come_with_a_proof() {
    let mut numbers = Numbers::new(11);
    let mut empty = 0;
    for _ in 0..200 {
        let (n, m) = (3 + numbers.below(6), 2 + numbers.below(2));
        let coupling = Coupling::rows_of(numbers.dense(m, n), numbers.vector(m, 3.0)).expect("finite");
        let unit = Bounds::new(-0.5, 1.0).expect("valid");
        let f = Distance::new(vec![0.0; n], 1.0).expect("valid");
        match composite(f, unit.clone()).coupling(coupling.clone()).build() {
            Ok(problem) => assert!(problem.coupling().infeasibility(problem.start()) <= 4e-9),
            Err(error) => {
                proves_emptiness(&error, &coupling, &unit, n);
                empty += 1;
            }
        }
    }
    assert!((40..160).contains(&empty), "{empty} of 200 are empty: the test is not balanced");
}
