//! Starts that are not finite, not of the right length, outside the domain or off A x = b.

use super::{least_squares, refused, valid};
use crate::adaptor::composite;
use equipoise::separable::Bounds;
use equipoise::{Coupling, Error, Settings, Solver, certificate};

/// Runs from x; the problem is valid.
fn run_from(x: Vec<f64>) -> Result<equipoise::Solution, Error> {
    let problem = valid().build().expect("valid");
    Solver::new(&problem, &Settings::default()).warm_start(x).run()
}

#[test]
fn off_the_rows() {
    for result in [
        valid().start(vec![0.0, 0.0, 0.0, 0.5]).build().map(|_| ()),
        run_from(vec![0.5, 0.0, 0.0, 0.0]).map(|_| ()),
    ] {
        let error = refused(result, &["start", "row 0", "5.000e-1"]);
        assert!(matches!(error, Error::InfeasibleStart { row: 0, found: 0.5, .. }), "{error:?}");
    }
    assert!(valid().start(vec![1.0, -1.0, 0.0, 1e-10]).build().is_ok(), "within what counts as feasible");
}

#[test]
fn outside_the_domain() {
    let unit = Bounds::new(0.0, 1.0).expect("valid");
    let problem = || {
        let builder = composite(least_squares(), unit.clone());
        builder.coupling(Coupling::sum(2.0).expect("finite"))
    };
    let error =
        refused(problem().start(vec![0.5, 0.0, 1.25, 0.25]).build(), &["coordinate 2", "1.25", "0 to 1"]);
    assert_eq!(error, Error::StartOutsideDomain { index: 2, found: 1.25, lower: 0.0, upper: 1.0 });
    let built = problem().build().expect("valid");
    let settings = Settings::default();
    let warm = Solver::new(&built, &settings).warm_start(vec![1.0, 1.0, 0.5, -0.5]).run();
    let error = refused(warm, &["coordinate 3", "-0.5"]);
    assert_eq!(error, Error::StartOutsideDomain { index: 3, found: -0.5, lower: 0.0, upper: 1.0 });
}

#[test]
fn not_finite_or_not_of_the_right_length() {
    let problem = valid().build().expect("valid");
    for bad in [f64::NAN, f64::INFINITY] {
        let x = vec![0.0, 0.0, bad, 0.0];
        let given = valid().start(x.clone()).build().map(|_| ());
        let warm = run_from(x.clone()).map(|_| ());
        let projected = problem.nearest_feasible(&x).map(|_| ());
        let checked = certificate::check(&problem, &x).map(|_| ());
        for (result, input) in
            [(given, "start"), (warm, "start"), (projected, "start"), (checked, "solution x")]
        {
            let error = refused(result, &[input, "row 2"]);
            assert!(matches!(error, Error::NonFinite { row: 2, column: 0, .. }));
        }
    }
    let given = valid().start(vec![0.0; 3]).build().map(|_| ());
    let warm = run_from(vec![0.0; 3]).map(|_| ());
    let projected = problem.nearest_feasible(&[0.0; 3]).map(|_| ());
    let checked = certificate::check(&problem, &[0.0; 3]).map(|_| ());
    for (result, input) in [(given, "start"), (warm, "start"), (projected, "start"), (checked, "solution x")]
    {
        let error = refused(result, &[input, "3 entries", "expected 4"]);
        assert!(matches!(error, Error::ShapeMismatch { found: 3, expected: 4, .. }));
    }
}
