//! How a run behaves, whatever it solves: what is repeatable, what binds, what is reported.
//!
//! * `determinism`: one seed, one sequence of bits; other seeds, the same optimum.
//! * `limits`: updates, epochs, seconds and the caller's wish to stop.
//! * `starts`: warm starts and projections.
//! * `observer`: the history of a run.
//! * `small`: one block, one variable, two variables.
//! * `graphs`: every topology and every law of draws leads to one optimum.

mod determinism;
mod graphs;
mod limits;
mod observer;
mod small;
mod starts;

use crate::adaptor::{AnyProblem, solve_checked};
use equipoise::{Settings, Solution, Status};

const TOLERANCE: f64 = 1e-8;

fn settings() -> Settings {
    Settings { tolerance: TOLERANCE, time_limit: Some(20.0), ..Settings::default() }
}

/// Solves; fails unless the certificate is met.
#[track_caller]
fn converged(name: &str, problem: &AnyProblem, settings: &Settings) -> Solution {
    let solution = solve_checked(problem, settings);
    assert_eq!(solution.status, Status::Converged, "{name}: {:?}", solution.certificate);
    solution
}

/// Two certified objectives of one problem differ by no more than what both were certified to.
#[track_caller]
fn same_optimum(name: &str, first: f64, second: f64) {
    let off = (first - second).abs() / (1.0 + first.abs());
    assert!(off <= 2.0 * TOLERANCE, "{name}: {first} and {second} differ by {off:.1e}");
}

#[track_caller]
fn is_feasible(name: &str, solution: &Solution) {
    assert!(solution.certificate.is_feasible(), "{name}: {:?}", solution.certificate);
}

#[test]
fn the_names_of_the_statuses_are_stable() {
    let names = [
        (Status::Converged, "converged"),
        (Status::IterationLimit, "iteration-limit"),
        (Status::TimeLimit, "time-limit"),
        (Status::Stalled, "stalled"),
        (Status::Interrupted, "interrupted"),
        (Status::TargetReached, "target-reached"),
    ];
    for (status, name) in names {
        assert_eq!((status.name(), status.to_string().as_str()), (name, name));
    }
}

#[test]
fn public_types_are_send_and_sync() {
    fn check<T: Send + Sync>() {}
    check::<AnyProblem>();
    check::<Settings>();
    check::<Solution>();
    check::<equipoise::Certificate>();
    check::<equipoise::Coupling>();
    check::<equipoise::Error>();
    check::<equipoise::History>();
    check::<equipoise::Matrix>();
    check::<equipoise::Progress>();
    check::<equipoise::graph::Graph>();
    check::<equipoise::problem::Blocks>();
    check::<equipoise::problem::ProblemBuilder<equipoise::smooth::Quadratic, equipoise::separable::L1>>();
    check::<equipoise::smooth::Sum>();
}
