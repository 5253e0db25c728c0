//! Problems with known optima (exact fractions).

use crate::adaptor::{problem, solve_checked};
use equipoise::{Method, PairStepper, Settings, Status};
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
