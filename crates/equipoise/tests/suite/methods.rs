//! Every method, held to the same promises: the oracle's optimum, feasibility at every checkpoint, one seed one result,
//! warm starts, limits, an interrupt.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::adaptor::{builder, problem, solve_checked};
use crate::samples::kernels;
use equipoise::separable::{Nonsmooth, SeparableTerm};
use equipoise::smooth::SmoothTerm;
use equipoise::{Control, Error, History, Method, Named, Problem, Settings, Solver, Status};
use equipoise_testkit::{self as kit, random};

/// Those that move pairs of any graph, and need neither samples nor a single row.
fn general() -> impl Iterator<Item = Method> {
    use Method::{Auto, Saga, Stochastic, Svrg, Violating};
    let others = [Auto, Violating, Stochastic, Svrg, Saga];
    Method::ALL.iter().map(|(_, method)| *method).filter(move |method| !others.contains(method))
}

/// Whether a method takes the problem: momentum needs h = 0.
fn takes<F: SmoothTerm, H: SeparableTerm>(method: Method, problem: &Problem<F, H>) -> bool {
    let smooth = matches!(problem.separable(), Nonsmooth::Coordinates(h) if h.is_zero());
    smooth || method != Method::Accelerated
}

/// Objectives agree to this, relative to 1 + |objective|.
const AGREEMENT: f64 = 1e-5;

fn settings(method: Method) -> Settings {
    Settings {
        method,
        tolerance: 1e-6,
        time_limit: Some(20.0),
        max_epochs: Some(200_000.0),
        ..Settings::default()
    }
}

#[test]
fn momentum_agrees_with_the_oracle() {
    let (mut wrong, mut slow, mut taken, mut count) = (Vec::new(), Vec::new(), 0, 0);
    for instance in random::suite() {
        let problem = problem(&instance).expect("problems of the suite are valid");
        if !takes(Method::Accelerated, &problem) {
            continue;
        }
        taken += 1;
        let Ok(oracle) = kit::solve(&instance) else { continue };
        count += 1;
        let limited = Settings { time_limit: Some(1.0), ..settings(Method::Accelerated) };
        let solution = solve_checked(&problem, &limited);
        let objective = kit::objective(&instance, &solution.x);
        let off = (objective - oracle.objective) / (1.0 + oracle.objective.abs());
        let said = format!("{}: {} off {off:.1e} after {}", instance.name, solution.status, solution.updates);
        if solution.status != Status::Converged {
            slow.push(said);
        } else if off.abs() > AGREEMENT && solution.certificate.duality_gap.is_some() {
            // Without a gap a small residual is all that is promised: of columns near 0 it says little.
            wrong.push(said);
        }
    }
    assert!(taken >= 80 && count * 50 >= taken * 49, "{count} of {taken} were compared");
    println!("{} of {count} not converged:\n{}", slow.len(), slow.join("\n"));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(slow.len() * 20 <= count, "{} of {count}", slow.len());
}

#[test]
fn every_checkpoint_is_feasible_and_no_worse_than_the_one_before() {
    for method in general() {
        for sample in kernels() {
            let name = sample.name;
            let problem = sample.problem();
            if !takes(method, &problem) {
                continue;
            }
            let mut history = History::default();
            let settings = settings(method);
            let solution = Solver::new(&problem, &settings).observer(&mut history).run().expect("valid");
            assert_eq!(solution.status, Status::Converged, "{} {}", name, method.name());
            assert_eq!(solution.method, method);
            let mut last = f64::INFINITY;
            for progress in &history.checkpoints {
                let certificate = progress.certificate.as_ref().expect("no judge");
                assert!(certificate.is_feasible(), "{} {}: {certificate:?}", name, method.name());
                assert!(certificate.objective <= last + 1e-9 * (1.0 + last.abs()), "{}", name);
                last = certificate.objective;
            }
        }
    }
}

#[test]
fn one_seed_one_result_and_a_warm_start_ends_at_once() {
    for method in general() {
        for sample in kernels() {
            let name = sample.name;
            let problem = sample.problem();
            if !takes(method, &problem) {
                continue;
            }
            let run = |seed| solve_checked(&problem, &Settings { seed, ..settings(method) });
            let (first, second) = (run(3), run(3));
            assert_eq!((first.x.clone(), first.updates), (second.x, second.updates), "{name}");
            let settings = settings(method);
            let again = Solver::new(&problem, &settings).warm_start(first.x.clone()).run().expect("feasible");
            assert_eq!((again.status, again.updates), (Status::Converged, 0), "{name}");
        }
    }
}

#[test]
fn limits_and_interrupts_bind() {
    for method in general() {
        for sample in kernels() {
            let name = sample.name;
            let problem = sample.problem();
            if !takes(method, &problem) {
                continue;
            }
            for most in [1, 7, 100] {
                let limited = Settings { max_updates: Some(most), tolerance: 1e-15, ..settings(method) };
                let solution = solve_checked(&problem, &limited);
                assert!(solution.updates <= most, "{}: {} of {most}", name, solution.updates);
                assert!(solution.certificate.is_feasible());
            }
            let flag = Control::on(Arc::new(AtomicBool::new(true)));
            let settings = Settings { tolerance: 1e-15, ..settings(method) };
            let solution = Solver::new(&problem, &settings).control(flag).run().expect("valid");
            assert_eq!(solution.status, Status::Interrupted, "{name}");
            assert!(solution.certificate.is_feasible());
        }
    }
}

#[test]
fn a_target_ends_every_method() {
    let mut reached = Vec::new();
    for sample in kernels() {
        let name = sample.name;
        let problem = sample.problem();
        let optimum = solve_checked(&problem, &settings(Method::Auto)).certificate.objective;
        let start = problem.objective(problem.start()).expect("in memory");
        for &(_, method) in Method::ALL {
            // Steps that shrink take long to come near.
            let share = if method == Method::Stochastic { 0.5 } else { 1e-3 };
            let target = optimum + share * (start - optimum);
            let settings = Settings { target_objective: Some(target), ..settings(method) };
            let solution = match equipoise::solve(&problem, &settings) {
                Ok(solution) => solution,
                Err(Error::MethodNotApplicable { .. }) => continue,
                Err(error) => panic!("{name} {}: {error}", method.name()),
            };
            assert_eq!(solution.status, Status::TargetReached, "{} {}", name, method.name());
            assert!(solution.certificate.objective <= target);
            if !reached.contains(&method) {
                reached.push(method);
            }
        }
    }
    assert_eq!(reached.len(), Method::ALL.len(), "{reached:?}");
}

/// Sweeps and Newton steps used to look for a target at checkpoints only.
#[test]
fn violating_pairs_end_soon_after_the_target() {
    use equipoise::Coupling;
    use equipoise::separable::Bounds;
    use equipoise::smooth::{LeastSquares, loss::Squared};
    let entry = |r: usize, c: usize| ((r * 7919 + c * 104_729) % 1009) as f64 / 504.0 - 1.0;
    let rows: Vec<Vec<f64>> = (0..30).map(|r| (0..200).map(|c| entry(r, c)).collect()).collect();
    let matrix = equipoise::Matrix::from_rows(&rows).expect("rectangular");
    let f =
        LeastSquares::new(matrix, (0..30).map(|r| 40.0 * entry(r, 300)).collect(), Squared).expect("valid");
    let problem = Problem::builder(f)
        .separable(Bounds::new(-1.0, 1.0).expect("ordered"))
        .coupling(Coupling::sum(3.0).expect("finite"))
        .build()
        .expect("valid");
    let exact = Settings { tolerance: 1e-10, ..settings(Method::Violating) };
    let exact = equipoise::solve(&problem, &exact).expect("valid");
    let (start, optimum) =
        (problem.objective(problem.start()).expect("in memory"), exact.certificate.objective);
    let mut before = 0;
    for share in [0.5, 1e-2, 1e-4] {
        let target = optimum + share * (start - optimum);
        let aimed = Settings { target_objective: Some(target), ..settings(Method::Violating) };
        let solution = equipoise::solve(&problem, &aimed).expect("valid");
        assert_eq!(solution.status, Status::TargetReached, "{share}");
        assert!(solution.certificate.objective <= target, "{share}");
        assert!(before <= solution.updates && solution.updates <= exact.updates, "{share}");
        before = solution.updates;
    }
    assert!(problem.objective(problem.start()).expect("in memory") > optimum && before > 0);
}

#[test]
fn momentum_is_refused_where_there_is_an_h() {
    let problem = |sample: crate::samples::Sample| sample.problem();
    let refused = kernels().into_iter().map(problem).filter(|problem| !takes(Method::Accelerated, problem));
    let errors: Vec<Error> = refused
        .map(|problem| equipoise::solve(&problem, &settings(Method::Accelerated)).expect_err("h is not 0"))
        .collect();
    assert!(!errors.is_empty());
    for error in errors {
        assert!(matches!(error, Error::MethodNotApplicable { method: "accelerated", .. }), "{error}");
        assert!(error.to_string().ends_with("use method auto"), "{error}");
    }
}

#[test]
fn an_objective_that_falls_for_ever_is_said_to() {
    use equipoise::Coupling;
    use equipoise::smooth::Linear;
    let f = Linear::new(vec![1.0, 2.0, 4.0]).expect("finite");
    let problem = builder(f).coupling(Coupling::sum(0.0).expect("finite")).build().expect("valid");
    let found = equipoise::solve(&problem, &settings(Method::Accelerated));
    assert!(matches!(found, Err(Error::Unbounded { .. })), "{found:?}");
}
