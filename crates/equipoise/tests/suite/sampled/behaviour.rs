//! What is repeatable, what binds, what is reported and what is refused.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::{N, SAMPLES, least_squares, plain_problem, problem, settings};
use crate::adaptor::{builder, solve_checked};
use crate::numbers::Numbers;
use crate::samples::{rows, term};
use equipoise::separable::{Bounds, Zero};
use equipoise::smooth::loss::Squared;
use equipoise::smooth::{Distance, LeastSquares, Linear, Quadratic, SmoothTerm, Sum};
use equipoise::{
    BlockChoice, Control, Coupling, Error, Matrix, Method, Named, Observer, Progress, Schedule, Settings,
    Solver, Status, solve,
};

const METHODS: [Method; 3] = [Method::Stochastic, Method::Svrg, Method::Saga];

/// Refuses a checkpoint that is not feasible.
#[derive(Default)]
struct Feasible {
    seen: u64,
    last: f64,
}

impl Observer for Feasible {
    fn checkpoint(&mut self, progress: &Progress) {
        let certificate = progress.certificate.as_ref().expect("no judge");
        assert!(certificate.is_feasible(), "{certificate:?}");
        self.seen += 1;
        self.last = progress.verdict.objective;
    }
}

#[test]
fn one_seed_one_sequence_of_bits_and_every_checkpoint_is_feasible() {
    for method in METHODS {
        let h = term(Bounds::new(-0.25, 0.3).expect("valid"));
        let problem = problem(least_squares(), h, rows(2, N), BlockChoice::Size(3));
        let run = |seed, threads| {
            let settings =
                Settings { seed, threads, max_updates: Some(5000), tolerance: 1e-13, ..settings(method) };
            let mut feasible = Feasible::default();
            let solution = Solver::new(&problem, &settings).observer(&mut feasible).run().expect("valid");
            assert!(feasible.seen > 1 && solution.certificate.is_feasible());
            assert!((solution.threads, solution.seed) == (1, seed));
            assert_eq!(feasible.last, solution.certificate.objective);
            solution.x
        };
        assert_eq!(run(3, 1), run(3, 1), "{}", method.name());
        assert_eq!(run(3, 1), run(3, 4), "{}", method.name());
        assert_ne!(run(3, 1), run(4, 1), "{}", method.name());
    }
}

#[test]
fn a_limit_on_updates_is_exact_and_one_on_time_binds() {
    let problem = plain_problem();
    for method in METHODS {
        for most in [1, 7, 100, 1234] {
            let limited = Settings { max_updates: Some(most), tolerance: 1e-15, ..settings(method) };
            let solution = solve_checked(&problem, &limited);
            assert_eq!(
                (solution.status, solution.updates),
                (Status::IterationLimit, most),
                "{}",
                method.name()
            );
            assert!((solution.epochs - most as f64 / 6.0).abs() < 1e-9 && solution.certificate.is_feasible());
        }
        let limited = Settings { time_limit: Some(1e-9), tolerance: 1e-15, ..settings(method) };
        let solution = solve_checked(&problem, &limited);
        assert_eq!(solution.status, Status::TimeLimit, "{}", method.name());
        let flag = Arc::new(AtomicBool::new(true));
        let settings = Settings { tolerance: 1e-15, ..settings(method) };
        let solution =
            Solver::new(&problem, &settings).control(Control::on(Arc::clone(&flag))).run().expect("valid");
        assert_eq!(solution.status, Status::Interrupted, "{}", method.name());
        assert!(solution.updates <= 64 && solution.certificate.is_feasible());
    }
}

#[test]
fn a_target_ends_a_run_once_it_is_reached() {
    let problem = plain_problem();
    let best = solve_checked(&problem, &Settings::default()).certificate.objective;
    for (method, margin) in [(Method::Stochastic, 3e-2), (Method::Svrg, 1e-6), (Method::Saga, 1e-6)] {
        let target = best + margin;
        let settings =
            Settings { target_objective: Some(target), schedule: Schedule::Constant, ..settings(method) };
        let solution = solve_checked(&problem, &settings);
        assert_eq!(solution.status, Status::TargetReached, "{}", method.name());
        assert!(solution.certificate.objective <= target, "{}", method.name());
        if method != Method::Stochastic {
            // Beyond the optimum there is nothing to reach: the run ends by itself, and the optimum is certified.
            let settings = Settings { target_objective: Some(best - 1.0), ..settings.clone() };
            assert_eq!(solve_checked(&problem, &settings).status, Status::Converged, "{}", method.name());
        }
    }
}

#[test]
fn a_warm_start_at_the_optimum_stays_there() {
    let problem = plain_problem();
    let best = solve_checked(&problem, &Settings { tolerance: 1e-12, ..Settings::default() });
    for method in METHODS {
        let settings = settings(method);
        let solution = Solver::new(&problem, &settings).warm_start(best.x.clone()).run().expect("feasible");
        assert_eq!((solution.status, solution.updates), (Status::Converged, 0), "{}", method.name());
        let infeasible = Solver::new(&problem, &settings).warm_start(vec![7.0; N]).run();
        assert!(matches!(infeasible, Err(Error::InfeasibleStart { .. })));
    }
}

#[test]
fn a_stochastic_run_offers_four_points_and_returns_the_lowest() {
    let h = term(Bounds::new(-0.25, 0.3).expect("valid"));
    let problem = problem(least_squares(), h, Coupling::sum(1.0).expect("finite"), BlockChoice::Automatic);
    for &(_, schedule) in Schedule::ALL {
        for batch in [1, 8, SAMPLES] {
            let settings = Settings {
                schedule,
                batch,
                max_updates: Some(3000),
                tolerance: 1e-15,
                ..settings(Method::Stochastic)
            };
            let solution = solve_checked(&problem, &settings);
            let names: Vec<_> = solution.candidates.iter().map(|candidate| candidate.name).collect();
            assert_eq!(names, ["last", "best", "average", "tail-average"]);
            let lowest = solution.candidates.iter().map(|c| c.objective).fold(f64::INFINITY, f64::min);
            assert!((lowest - solution.certificate.objective).abs() <= 1e-12, "{schedule:?}");
            assert!(solution.certificate.is_feasible());
        }
    }
}

#[test]
fn what_does_not_fit_is_refused_in_words() {
    let sum = || Coupling::sum(1.0).expect("finite");
    let apart = builder(Distance::new(vec![0.0; 4], 1.0).expect("valid")).coupling(sum());
    let apart = apart.build().expect("valid");
    let identity = Matrix::from_rows(&[[1.0, 0.0], [0.0, 1.0]]).expect("square");
    let quadratic = Quadratic::new(identity, vec![0.0; 2]).expect("convex");
    let quadratic = builder(quadratic).coupling(sum()).build().expect("valid");
    let problem = problem(least_squares(), term(Zero), sum(), BlockChoice::Automatic);
    for method in METHODS {
        let settings = settings(method);
        let name = method.name();
        for error in [
            solve(&apart, &settings).expect_err("no samples"),
            solve(&quadratic, &settings).expect_err("no samples"),
        ] {
            assert!(matches!(error, Error::MethodNotApplicable { method, .. } if method == name));
            assert!(error.to_string().contains("not a loss summed over samples"), "{error}");
        }
        for batch in [0, SAMPLES + 1] {
            let error = solve(&problem, &Settings { batch, ..settings.clone() }).expect_err("out of range");
            assert!(matches!(error, Error::InvalidSetting { name: "batch", .. }), "{error}");
        }
        for step_size in [0.0, -1.0, 2.0, f64::NAN] {
            let error =
                solve(&problem, &Settings { step_size, ..settings.clone() }).expect_err("out of range");
            assert!(matches!(error, Error::InvalidSetting { name: "step-size", .. }), "{error}");
        }
    }
}

#[test]
fn an_objective_that_falls_for_ever_is_said_to() {
    // Two columns are the same, and a slope tells them apart: along (-1, 1, 0) nothing bends.
    let mut numbers = Numbers::new(61);
    let rows: Vec<[f64; 3]> = (0..SAMPLES)
        .map(|_| {
            let (twin, other) = (numbers.next(), numbers.next());
            [twin, twin, other]
        })
        .collect();
    let target = numbers.vector(SAMPLES, 1.0);
    let build = |slope: f64| {
        let matrix = Matrix::from_rows(&rows).expect("rectangular");
        let terms: Vec<Box<dyn SmoothTerm>> = vec![
            Box::new(LeastSquares::new(matrix, target.clone(), Squared).expect("valid")),
            Box::new(Linear::new(vec![slope, 0.0, 0.0]).expect("finite")),
        ];
        let f = Box::new(Sum::new(terms).expect("one length"));
        problem(f, term(Zero), Coupling::sum(1.0).expect("finite"), BlockChoice::Automatic)
    };
    for method in METHODS {
        let settings = Settings { max_updates: Some(10_000_000), ..settings(method) };
        let found = solve(&build(1.0), &settings);
        assert!(matches!(found, Err(Error::Unbounded { .. })), "{}: {found:?}", method.name());
        // Without the slope there is an optimum, and none of the soundings mistakes it.
        let settings = Settings { max_updates: Some(100_000), ..settings };
        assert!(solve_checked(&build(0.0), &settings).certificate.is_feasible());
    }
}
