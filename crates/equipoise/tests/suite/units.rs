//! Rows in any unit: a row times any number is the same equation, and no number makes it another problem.

use equipoise::separable::{L1, NonNegative, SeparableTerm, Zero};
use equipoise::smooth::loss::{HuberLoss, ScalarLoss, Squared, SquaredHingeLoss};
use equipoise::smooth::{LossOfProduct, SmoothTerm};
use equipoise::{Coupling, Error, Matrix, Method, Settings, Status, solve};

use crate::adaptor::{AnyProblem, composite, solve_checked};
use crate::numbers::Numbers;

/// Far beyond what can be squared.
const FAR_OUT: [f64; 5] = [1e-310, 1e-300, 1e-250, 1e-200, 1e200];

fn loss<L: ScalarLoss + 'static>(matrix: Matrix<'static>, y: Vec<f64>, loss: L) -> Box<dyn SmoothTerm> {
    Box::new(LossOfProduct::new(matrix, y, loss).expect("valid"))
}

/// Losses with two identical columns, a penalty, and one row or two in this unit.
fn problem(seed: u64, rows: usize, unit: f64) -> AnyProblem {
    let mut numbers = Numbers::new(70_000 + seed);
    let (n, m) = (2 + numbers.below(6), 1 + numbers.below(4));
    let n = n.max(rows + 1);
    let mut entries: Vec<Vec<f64>> = (0..m).map(|_| numbers.vector(n, 1.0)).collect();
    entries.iter_mut().for_each(|row| row[n - 1] = row[0]);
    let matrix = Matrix::from_rows(&entries).expect("m x n");
    let f = match seed % 3 {
        0 => loss(matrix, numbers.vector(m, 1.0), Squared),
        1 => loss(matrix, numbers.vector(m, 1.0), HuberLoss::new(0.5).expect("positive")),
        _ => loss(matrix, numbers.labels(m), SquaredHingeLoss),
    };
    let h: Box<dyn SeparableTerm> = match seed / 3 % 3 {
        0 => Box::new(Zero),
        1 => Box::new(L1::new(0.1).expect("positive")),
        _ => Box::new(NonNegative),
    };
    let own: Vec<Vec<f64>> = (0..rows).map(|_| numbers.vector(n, 1.0)).collect();
    let rhs = own.iter().map(|row| 0.3 * row.iter().sum::<f64>() * unit).collect();
    let scaled: Vec<Vec<f64>> = own.iter().map(|row| row.iter().map(|a| unit * a).collect()).collect();
    let coupling = Coupling::rows_of(Matrix::from_rows(&scaled).expect("rows x n"), rhs).expect("finite");
    composite(f, h).coupling(coupling).build().expect("feasible")
}

#[test]
fn a_row_in_any_unit_is_the_same_equation() {
    let mut wrong = Vec::new();
    for seed in 0..36 {
        let rows = 1 + usize::from(seed % 4 == 3);
        let settings = Settings { time_limit: Some(20.0), ..Settings::default() };
        let plain = solve_checked(&problem(seed, rows, 1.0), &settings);
        for unit in FAR_OUT {
            let found = solve(&problem(seed, rows, unit), &settings);
            let is_same = found.as_ref().is_ok_and(|found| {
                let [one, other] = [found, &plain].map(|solution| solution.certificate.objective);
                found.status == plain.status && (one - other).abs() <= 1e-5 * (1.0 + other.abs())
            });
            if !is_same {
                let found = found.map(|found| (found.status, found.certificate));
                wrong.push(format!("seed {seed}, {rows} rows, {unit:e}: {:?}, {found:?}", plain.status));
            }
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}

/// No objective that is known never to fall below a number is said to fall for ever.
#[test]
fn what_has_a_floor_is_never_called_unbounded() {
    for seed in 0..36 {
        for method in [Method::Pairs, Method::Violating, Method::Accelerated] {
            for unit in FAR_OUT {
                let settings = Settings { method, max_updates: Some(2000), ..Settings::default() };
                let found = solve(&problem(seed, 1, unit), &settings);
                assert!(
                    !matches!(found, Err(Error::Unbounded { .. })),
                    "seed {seed}, {unit:e}, {method:?}: {found:?}"
                );
            }
        }
    }
}

#[test]
fn multipliers_are_those_of_the_rows_given() {
    // 1/2 (x - 3)^2 + 1/2 (y - 1)^2 with u x + u y = u: both move by -1.5, and u lambda = 1.5.
    for unit in [1.0, 1e-200, 1e200] {
        let f = equipoise::smooth::Distance::new(vec![3.0, 1.0], 0.5).expect("finite");
        let coupling = Coupling::row(vec![unit, unit], unit).expect("finite");
        let problem = crate::adaptor::builder(f).coupling(coupling).build().expect("feasible");
        let solution = solve_checked(&problem, &Settings::default());
        assert_eq!(solution.status, Status::Converged);
        let own = solution.certificate.multipliers[0] * unit;
        assert!((own - 1.5).abs() <= 1e-6, "{unit:e}: {own}");
        assert!((solution.x[0] - 1.5).abs() <= 1e-6 && (solution.x[1] + 0.5).abs() <= 1e-6);
    }
}

#[test]
fn a_contradiction_is_told_in_the_units_given() {
    let rows = Matrix::from_rows(&[[1e-200, 1e-200], [2e-200, 2e-200]]).expect("2 x 2");
    let coupling = Coupling::rows_of(rows, vec![1e-200, 3e-200]).expect("finite");
    let f = equipoise::smooth::Distance::new(vec![0.0, 0.0], 1.0).expect("finite");
    let refused = crate::adaptor::builder(f).coupling(coupling).build().expect_err("contradicting");
    let Error::InconsistentRows { coefficients, implied, found, row, .. } = refused else {
        panic!("{refused:?}");
    };
    let (of_row, of_other) = if row == 0 { (1e-200, 0.5) } else { (3e-200, 2.0) };
    assert!((found - of_row).abs() <= 1e-12 * of_row && (coefficients[0] - of_other).abs() <= 1e-9);
    assert!((implied - found).abs() >= 0.1 * found);
}
