//! Problems with known optima (exact fractions).

use crate::adaptor::{problem, solve_checked};
use equipoise::{Method, Settings, Status};
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
