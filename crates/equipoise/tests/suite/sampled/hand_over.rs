//! `auto` on a thousand samples a variable: samples first, second-order steps where they become slow.

use super::problem;
use crate::adaptor::{AnyProblem, solve_checked};
use crate::numbers::Numbers;
use crate::samples::term;
use equipoise::separable::L1;
use equipoise::smooth::LossOfProduct;
use equipoise::smooth::loss::Squared;
use equipoise::{BlockChoice, Coupling, Matrix, Method, Settings, Status};

const VARIABLES: usize = 4;
const SAMPLES: usize = 1000 * VARIABLES;

/// The mean of squares, a sum and a little l1. Columns differ from `+-common` by parts of this size: where they are small,
/// first-order steps are slow along most of the directions that keep the sum.
fn lasso(own: f64) -> AnyProblem {
    let mut numbers = Numbers::new(91);
    let row = |numbers: &mut Numbers| -> Vec<f64> {
        let common = numbers.next();
        let entry = |c: usize| if c.is_multiple_of(2) { common } else { -common };
        (0..VARIABLES).map(|c| entry(c) + own * numbers.next()).collect()
    };
    let rows: Vec<Vec<f64>> = (0..SAMPLES).map(|_| row(&mut numbers)).collect();
    let target = rows.iter().map(|row| row[0] - 2.0 * row[3] + 0.1 * numbers.next()).collect();
    let matrix = Matrix::from_rows(&rows).expect("rectangular");
    let f = LossOfProduct::weighted(matrix, target, Squared, 1.0 / SAMPLES as f64).expect("valid");
    let h = term(L1::new(1e-6).expect("valid"));
    problem(Box::new(f), h, Coupling::sum(-1.0).expect("finite"), BlockChoice::Automatic)
}

fn settings(method: Method) -> Settings {
    Settings { method, tolerance: 1e-10, time_limit: Some(60.0), ..Settings::default() }
}

#[test]
fn slow_samples_are_followed_by_second_order_steps_to_the_same_optimum() {
    let problem = lasso(1e-2);
    let best = solve_checked(&problem, &settings(Method::Pairs));
    let solution = solve_checked(&problem, &settings(Method::Auto));
    for solution in [&best, &solution] {
        assert_eq!(solution.status, Status::Converged, "{:?}", solution.certificate);
    }
    // The method that was chosen, and in words what became of it.
    assert_eq!(solution.method, Method::Svrg);
    let reason = "4000 samples of 4 variables: samples are cheaper than columns; then second-order steps";
    assert!(solution.reason.starts_with(reason), "{}", solution.reason);
    let (found, best) = (solution.certificate.objective, best.certificate.objective);
    assert!((found - best).abs() <= 2e-10 * (1.0 + best), "{found} and {best}");
    // Work is counted through, and one seed is one result.
    assert!((solution.epochs - solution.updates as f64 / 2.0).abs() < 1e-9);
    let again = solve_checked(&problem, &settings(Method::Auto));
    assert_eq!((again.x, again.updates), (solution.x.clone(), solution.updates));

    // A limit on updates binds on either side of the hand-over.
    for most in [100, solution.updates - 1] {
        let limited = Settings { max_updates: Some(most), ..settings(Method::Auto) };
        let limited = solve_checked(&problem, &limited);
        assert!(limited.updates <= most, "{} of {most}", limited.updates);
    }
    // So does a target that only the second part reaches.
    let target = best + 1e-9;
    let aimed = Settings { target_objective: Some(target), ..settings(Method::Auto) };
    let aimed = solve_checked(&problem, &aimed);
    assert_eq!((aimed.status, aimed.method), (Status::TargetReached, Method::Svrg));
    assert!(aimed.certificate.objective <= target);
}

#[test]
fn samples_that_are_fast_enough_finish_alone() {
    let solution = solve_checked(&lasso(1.0), &Settings { tolerance: 1e-6, ..settings(Method::Auto) });
    assert_eq!((solution.status, solution.method), (Status::Converged, Method::Svrg));
    assert!(!solution.reason.contains("second-order"), "{}", solution.reason);
}
