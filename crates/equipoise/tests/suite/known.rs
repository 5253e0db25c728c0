//! Problems with known optima (exact fractions).

use crate::adaptor::{builder, problem, solve_checked};
use equipoise::smooth::Quadratic;
use equipoise::{Coupling, Matrix, Method, PairStepper, Settings, Status};
use equipoise_testkit::known;

#[test]
fn known_optima_are_found_by_every_method() {
    for known in known::all() {
        for method in [Method::Auto, Method::Pairs] {
            let problem = problem(&known.instance).expect("a valid problem");
            let settings =
                Settings { tolerance: 1e-10, method, time_limit: Some(20.0), ..Settings::default() };
            let solution = solve_checked(&problem, &settings);
            let name = &known.instance.name;
            assert_eq!(
                solution.status,
                Status::Converged,
                "{name} by {method:?}: {:?}",
                solution.certificate
            );
            let off = (solution.certificate.objective - known.objective).abs();
            assert!(off <= 1e-9 * (1.0 + known.objective.abs()), "{name} by {method:?}: off by {off:.1e}");
        }
    }
}

#[test]
fn pairs_alone_stall_where_a_full_step_does_not() {
    // Two rows, l1, three blocks of two: x = 0 is optimal for every pair, with objective 9; the optimum is 35/4.
    let known = known::block_pairs_stall();
    let problem = problem(&known.instance).expect("a valid problem");
    let mut stepper = PairStepper::new(&problem, &Settings::default()).expect("valid settings");
    for (i, j) in [(0, 1), (0, 2), (1, 2)] {
        stepper.update(i, j).expect("bounded");
        assert!(stepper.x().iter().all(|x| *x == 0.0), "pair ({i}, {j}) moved to {:?}", stepper.x());
    }
    assert_eq!(stepper.objective(), 9.0);
    let solution = solve_checked(&problem, &Settings { method: Method::Pairs, ..Settings::default() });
    assert_eq!(solution.status, Status::Converged);
    assert!((solution.certificate.objective - 8.75).abs() < 1e-5);
}

#[test]
fn the_dual_of_ridge_consensus() {
    // f_i(x) = 1/2 ||A_i x - b_i||^2 + 1/4 ||x||^2 on two nodes; H_i = A_i'A_i + I/2. The dual is
    // min sum_i 1/2 (l_i + A_i'b_i)' H_i^-1 (l_i + A_i'b_i) - 1/2 ||b_i||^2 with l_1 + l_2 = 0.
    let inverse = |h: [f64; 3]| {
        let determinant = h[0] * h[2] - h[1] * h[1];
        [h[2] / determinant, -h[1] / determinant, h[0] / determinant]
    };
    // A_1 = [1 2; 0 1], b_1 = (1, 0); A_2 = [2 0; 1 1], b_2 = (1, -1).
    let (first, second) = (inverse([1.5, 2.0, 5.5]), inverse([5.5, 1.0, 1.5]));
    let pulls = [[1.0, 2.0], [1.0, -1.0]];
    let apply = |h: [f64; 3], v: [f64; 2]| [h[0] * v[0] + h[1] * v[1], h[1] * v[0] + h[2] * v[1]];
    let q = Matrix::from_rows(&[
        [first[0], first[1], 0.0, 0.0],
        [first[1], first[2], 0.0, 0.0],
        [0.0, 0.0, second[0], second[1]],
        [0.0, 0.0, second[1], second[2]],
    ]);
    let linear = [apply(first, pulls[0]), apply(second, pulls[1])].concat();
    let constant: f64 = [(first, pulls[0], 1.0), (second, pulls[1], 2.0)]
        .into_iter()
        .map(|(h, pull, square)| {
            let image = apply(h, pull);
            0.5 * (pull[0] * image[0] + pull[1] * image[1]) - 0.5 * square
        })
        .sum();
    let problem = builder(Quadratic::new(q.expect("square"), linear).expect("convex"))
        .coupling(Coupling::block_sum(vec![0.0, 0.0]).expect("finite"))
        .build()
        .expect("valid");
    let settings = Settings { tolerance: 1e-12, ..Settings::default() };
    let solution = equipoise::solve(&problem, &settings).expect("bounded");
    assert_eq!(solution.status, Status::Converged);
    let expected = [-43.0 / 80.0, -21.0 / 16.0, 43.0 / 80.0, 21.0 / 16.0];
    assert!(solution.x.iter().zip(expected).all(|(x, e)| (x - e).abs() < 1e-6), "{:?}", solution.x);
    assert!((solution.certificate.objective + constant + 97.0 / 80.0).abs() < 1e-10);
    // x_i = H_i^-1 (A_i'b_i + l_i) = x* on both nodes, which is minus the multiplier.
    let multipliers = &solution.certificate.multipliers;
    assert!((multipliers[0] + 11.0 / 40.0).abs() < 1e-6 && (multipliers[1] + 1.0 / 40.0).abs() < 1e-6);
}
