//! Delays, steps of an experiment and observers on several threads.

use std::time::Duration;

use super::{converged, levels, pairs, same_optimum, verify};
use crate::adaptor::{AnyProblem, builder, composite};
use crate::samples::kernels;
use equipoise::separable::NonNegative;
use equipoise::smooth::Distance;
use equipoise::{
    Coupling, Experiment, History, Locking, Method, Named, Settings, Solution, Solver, Staleness, Status,
    Steps,
};

/// Six variables on one row; the optimum by hand: all give way by 1/2, the objective is 3/4.
fn six() -> AnyProblem {
    let f = Distance::new(vec![1.0, 2.0, 3.0, 1.0, 2.0, 3.0], 0.5).expect("finite");
    builder(f).coupling(Coupling::sum(9.0).expect("finite")).build().expect("valid")
}

/// The point of the simplex nearest to a target: x = (0.4, 0.6, 0, 0).
fn simplex() -> AnyProblem {
    let f = Distance::new(vec![0.6, 0.8, -0.3, 0.1], 0.5).expect("finite");
    let builder = composite(f, NonNegative);
    builder.coupling(Coupling::sum(1.0).expect("finite")).build().expect("feasible")
}

/// f at the optimum of [`simplex`]: half of 0.2^2 + 0.2^2 + 0.3^2 + 0.1^2.
const SIMPLEX: f64 = 0.09;

/// Every update takes its time.
struct Late(Duration);

const LATE: Late = Late(Duration::from_micros(50));

impl Experiment for Late {
    fn delay(&self) -> Duration {
        self.0
    }
}

/// One step for all, the smaller the more updates are under way.
struct Careful;

impl Experiment for Careful {
    fn steps(&self, staleness: &Staleness<'_>) -> Option<Steps> {
        assert!(staleness.tau >= 0.0 && !staleness.chances.is_empty());
        Some(Steps::of_all(1.0 / (1.0 + 2.0 * staleness.tau)))
    }
}

fn tried(name: &str, problem: &AnyProblem, settings: &Settings, experiment: &dyn Experiment) -> Solution {
    let solution = Solver::new(problem, settings).experiment(experiment).run().expect("valid");
    assert_eq!(solution.status, Status::Converged, "{name}");
    verify(name, problem, settings, &solution);
    solution
}

#[test]
fn a_delay_does_not_change_the_optimum() {
    for &(_, locking) in Locking::ALL {
        for threads in [2, 4] {
            let settings = pairs(threads, locking);
            let name = format!("delay, {threads} threads, {locking:?}");
            let found = tried(&name, &six(), &settings, &LATE).certificate.objective;
            same_optimum(&name, 1e-6, 0.75, found);
            let found = tried(&name, &simplex(), &settings, &LATE).certificate.objective;
            same_optimum(&name, 1e-6, SIMPLEX, found);
        }
    }
}

#[test]
fn a_delay_is_borne_by_every_kernel() {
    for (k, sample) in kernels().into_iter().enumerate() {
        let name = sample.name;
        let problem = sample.problem();
        let limited = Settings { max_updates: Some(200), ..pairs(3, levels()[k % 3]) };
        let solution = Solver::new(&problem, &limited).experiment(&LATE).run().expect("valid");
        verify(name, &problem, &limited, &solution);
        let auto = Settings { method: Method::Auto, ..pairs(3, levels()[k % 3]) };
        let known = converged(name, &problem, &Settings::default()).certificate.objective;
        same_optimum(name, 1e-6, known, tried(name, &problem, &auto, &LATE).certificate.objective);
    }
}

#[test]
fn smaller_steps_of_an_experiment_solve_every_kernel() {
    for (k, sample) in kernels().into_iter().enumerate() {
        let name = sample.name;
        let problem = sample.problem();
        let known = converged(name, &problem, &Settings::default()).certificate.objective;
        let settings = Settings { tolerance: 1e-5, ..pairs(4, levels()[k % 3]) };
        let found = tried(name, &problem, &settings, &Careful).certificate.objective;
        same_optimum(name, 1e-5, known, found);
    }
}

#[test]
fn an_observer_sees_updates_go_up() {
    for (k, sample) in kernels().into_iter().enumerate() {
        let name = sample.name;
        let problem = sample.problem();
        for threads in [2, 8] {
            let settings = Settings { tolerance: 1e-5, ..pairs(threads, levels()[k % 3]) };
            let mut history = History::default();
            let solution = Solver::new(&problem, &settings).observer(&mut history).run().expect("valid");
            verify(name, &problem, &settings, &solution);
            let seen = &history.checkpoints;
            assert!(seen.len() >= 2, "{name}: {} checkpoints", seen.len());
            assert_eq!((seen[0].update, seen[0].epoch), (0, 0.0), "{name}");
            assert_eq!(
                seen[0].verdict.objective,
                problem.objective(problem.start()).expect("in memory"),
                "{name}"
            );
            let last = &seen[seen.len() - 1];
            let found = last.certificate.as_ref();
            assert_eq!((last.update, found), (solution.updates, Some(&solution.certificate)), "{name}");
            assert!(last.update > 0, "{name}");
            for pair in seen.windows(2) {
                assert!(pair[0].update <= pair[1].update, "{name}: {} updates first", pair[0].update);
                assert!(pair[0].epoch < pair[1].epoch && pair[0].seconds <= pair[1].seconds, "{name}");
                let certificate = pair[1].certificate.as_ref().expect("no judge");
                assert!(certificate.is_feasible(), "{name}: {certificate:?}");
            }
        }
    }
}

#[test]
fn a_warm_start_is_where_threads_begin() {
    let problem = six();
    let settings = pairs(4, Locking::None);
    let optimum = vec![0.5, 1.5, 2.5, 0.5, 1.5, 2.5];
    let mut history = History::default();
    let solver = Solver::new(&problem, &settings).warm_start(optimum).observer(&mut history);
    let solution = solver.run().expect("valid");
    verify("warm", &problem, &settings, &solution);
    assert!((history.checkpoints[0].verdict.objective - 0.75).abs() < 1e-12);
    assert_eq!(solution.updates, 0, "nothing is left to do");
}
