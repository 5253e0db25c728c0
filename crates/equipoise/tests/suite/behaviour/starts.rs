//! Warm starts and projections.

use super::{TOLERANCE, converged, same_optimum, settings};
use crate::adaptor::AnyProblem;
use crate::numbers::Numbers;
use crate::samples::{N, kernels};
use equipoise::separable::{Nonsmooth, SeparableTerm};
use equipoise::{Settings, Solver, Status, certificate};

#[test]
fn from_the_optimum_nothing_is_left_to_do() {
    for sample in kernels() {
        let name = sample.name;
        let problem = sample.problem();
        let cold = converged(name, &problem, &settings());
        let settings = settings();
        let warm = Solver::new(&problem, &settings).warm_start(cold.x.clone()).run().expect("feasible");
        assert_eq!((warm.status, warm.updates), (Status::Converged, 0), "{name}");
        assert_eq!(warm.x, cold.x, "{name}");
    }
}

#[test]
fn where_a_run_begins_does_not_change_where_it_ends() {
    let mut numbers = Numbers::new(17);
    for sample in kernels() {
        let name = sample.name;
        let problem = sample.problem();
        let cold = converged(name, &problem, &settings());
        let settings = settings();
        for size in [1.0, 100.0] {
            let far = problem.nearest_feasible(&numbers.vector(N, size)).expect("the problem is feasible");
            let warm = Solver::new(&problem, &settings).warm_start(far).run().expect("feasible");
            assert_eq!(warm.status, Status::Converged, "{name}");
            assert!(certificate::check(&problem, &warm.x).expect("right length").meets(TOLERANCE), "{name}");
            same_optimum(name, cold.certificate.objective, warm.certificate.objective);
        }
    }
}

fn in_domain(problem: &AnyProblem, c: usize, z: f64) -> bool {
    match problem.separable() {
        Nonsmooth::Coordinates(h) => {
            let (lower, upper) = h.domain(c);
            lower <= z && z <= upper
        }
        Nonsmooth::Groups(_) => true,
    }
}

#[test]
fn the_nearest_feasible_point_is_feasible_and_nearest() {
    let mut numbers = Numbers::new(19);
    let squared = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum() };
    for sample in kernels() {
        let name = sample.name;
        let problem = sample.problem();
        let point = numbers.vector(N, 2.0);
        let nearest = problem.nearest_feasible(&point).expect("the problem is feasible");
        assert!(problem.coupling().miss(&nearest).is_feasible(), "{name}");
        assert!((0..N).all(|c| in_domain(&problem, c, nearest[c])), "{name}");
        // Nearest: the obtuse angle (point - nearest)'(other - nearest) <= 0 for every feasible other.
        for _ in 0..20 {
            let other = problem.nearest_feasible(&numbers.vector(N, 3.0)).expect("the problem is feasible");
            let angle: f64 = (0..N).map(|c| (point[c] - nearest[c]) * (other[c] - nearest[c])).sum();
            assert!(angle <= 1e-8, "{name}: {angle:.1e}");
            assert!(squared(&point, &nearest) <= squared(&point, &other) + 1e-8, "{name}");
        }
        let again = problem.nearest_feasible(&nearest).expect("the problem is feasible");
        assert!(squared(&again, &nearest) <= 1e-16, "{name}: a feasible point is its own projection");
    }
}

#[test]
fn a_start_of_the_callers_is_where_the_run_begins() {
    let start = kernels().swap_remove(2).problem().nearest_feasible(&[0.3; N]).expect("feasible");
    let sample = kernels().swap_remove(2);
    let builder =
        equipoise::Problem::builder(sample.smooth).nonsmooth(sample.separable).coupling(sample.coupling);
    let problem = builder.start(start.clone()).build().expect("valid");
    assert_eq!(problem.start(), start);
    let first = Settings { max_updates: Some(1), ..settings() };
    let solution = equipoise::solve(&problem, &first).expect("valid");
    let moved = solution.x.iter().zip(&start).filter(|(x, start)| (**x - **start).abs() > 1e-12).count();
    assert!(moved <= 2, "one update moves two coordinates, not {moved}");
}
