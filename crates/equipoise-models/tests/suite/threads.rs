//! Several threads on one fit: the same certified gap, feasibility to rounding, and one result for one thread count.
//!
//! The data are large enough for the threads to be used; `proximal_newton/tests.rs` in the library forces them
//! on small problems.

use crate::judge::certified;
use crate::numbers::Numbers;
use crate::{Data, classes, targets};
use equipoise::separable::{Bounds, L1Bounds, SeparableTerm};
use equipoise::smooth::loss::Squared;
use equipoise::smooth::{Gram, LeastSquares, SmoothTerm};
use equipoise::{Coupling, Problem, Settings, Solution, Status, certificate, solve};
use equipoise_models::svm::{Kind, Loss, TrainSettings, Trained};

const THREADS: [usize; 4] = [1, 2, 3, 8];
const GAP: f64 = 1e-6;

fn bits(trained: &Trained) -> Vec<u64> {
    trained.model.weights.iter().flatten().chain(&trained.model.bias).map(|w| w.to_bits()).collect()
}

/// Trains with every number of threads, twice, and compares.
fn check(data: &Data, settings: &TrainSettings) {
    let mut objectives = Vec::new();
    for threads in THREADS {
        let settings = TrainSettings { gap: GAP, threads, ..settings.clone() };
        let trained = certified(data, &settings);
        let again = data.train(&settings).expect("valid data");
        assert_eq!(bits(&trained), bits(&again), "{threads} threads");
        let class = &trained.report.classes[0];
        let total: f64 =
            data.weights.as_ref().map_or(data.labels.len() as f64, |weights| weights.iter().sum());
        assert!(class.infeasibility <= 1e-12 * total * settings.cost, "{threads} threads: {class:?}");
        objectives.push((class.dual, class.primal));
    }
    // Every dual is below every primal, and both are within the gap.
    for (dual, _) in &objectives {
        for (_, primal) in &objectives {
            let (gap, scale) = (primal - dual, dual.abs().max(1e-12));
            assert!(gap >= 0.0 && gap <= 2.0 * GAP * scale, "{objectives:?}");
        }
    }
}

#[test]
fn every_kind_reaches_the_same_gap_on_any_number_of_threads() {
    let mut numbers = Numbers::new(91);
    let data = classes(&mut numbers, 9000, 100, 1.0);
    check(&data, &TrainSettings { cost: 0.1, ..TrainSettings::default() });
    check(&data, &TrainSettings { cost: 0.1, loss: Loss::SquaredHinge, ..TrainSettings::default() });
    check(&data, &TrainSettings { kind: Kind::OneClass, nu: 0.2, ..TrainSettings::default() });
}

#[test]
fn regressions_and_weights_reach_the_same_gap_on_any_number_of_threads() {
    let mut numbers = Numbers::new(92);
    let data = targets(&mut numbers, 9000, 100, 1.0);
    check(&data, &TrainSettings { kind: Kind::Svr, cost: 0.1, ..TrainSettings::default() });
    let data = classes(&mut numbers, 9000, 100, 1.0);
    let weights = (0..9000).map(|_| 2.0 * numbers.next().abs()).collect();
    let class_weights = vec![(1.0, 3.0)];
    check(&data.weighted(weights), &TrainSettings { cost: 0.1, class_weights, ..TrainSettings::default() });
}

fn solved<F: SmoothTerm, H: SeparableTerm>(problem: &Problem<F, H>, threads: usize) -> Solution {
    let settings = Settings { tolerance: 1e-8, threads, ..Settings::default() };
    let solution = solve(problem, &settings).expect("a valid problem");
    assert_eq!(solution.status, Status::Converged);
    let again = certificate::check(problem, &solution.x).expect("x of the right length");
    assert!(again.meets(1e-8), "{again:?}");
    solution
}

#[test]
fn boxes_are_kept_exactly_and_the_sum_to_rounding() {
    let mut numbers = Numbers::new(93);
    let (n, cap) = (15_000, 0.05);
    let data = classes(&mut numbers, n, 60, 1.0);
    let linear: Vec<f64> = data.labels.iter().map(|y| -y).collect();
    let bound = |sign: f64| -> Vec<f64> {
        data.labels.iter().map(|y| if *y == sign { sign * cap } else { 0.0 }).collect()
    };
    let problem = Problem::builder(Gram::new(&data.rows, 0.0, linear).expect("valid"))
        .separable(Bounds::new(bound(-1.0), bound(1.0)).expect("valid"))
        .coupling(Coupling::sum(0.0).expect("valid"))
        .build()
        .expect("valid");
    for threads in THREADS {
        let solution = solved(&problem, threads);
        assert!(threads == 1 || solution.threads > 1);
        let inside =
            |(x, y): (&f64, &f64)| if *y > 0.0 { 0.0 <= *x && *x <= cap } else { -cap <= *x && *x <= 0.0 };
        assert!(solution.x.iter().zip(&data.labels).all(inside));
        assert!(solution.x.contains(&cap) && solution.x.contains(&0.0));
        assert!(solution.x.iter().sum::<f64>().abs() <= 1e-12 * n as f64 * cap);
        assert_eq!(solution.x, solved(&problem, threads).x);
    }
}

#[test]
fn a_lasso_with_a_sum_uses_threads_too() {
    let mut numbers = Numbers::new(94);
    let (rows, n) = (80, 11_000);
    let matrix = numbers.dense(rows, n);
    let y = numbers.vector(rows, 3.0);
    let problem = Problem::builder(LeastSquares::new(matrix, y, Squared).expect("valid"))
        .separable(L1Bounds::new(0.3, -2.0, 2.0).expect("valid"))
        .coupling(Coupling::sum(0.5).expect("valid"))
        .build()
        .expect("valid");
    let first = solved(&problem, 1);
    for threads in [2, 3, 8] {
        let solution = solved(&problem, threads);
        assert!(solution.threads > 1);
        let (a, b) = (first.certificate.objective, solution.certificate.objective);
        assert!((a - b).abs() <= 2e-8 * (1.0 + a.abs()));
        assert_eq!(solution.x, solved(&problem, threads).x);
    }
}
