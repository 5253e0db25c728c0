//! The paper's synthetic problem without locks: never worse than at the start, and solved.

use super::{converged, pairs, same_optimum};
use equipoise::graph::Topology;
use equipoise::separable::Zero;
use equipoise::smooth::Distance;
use equipoise::{Locking, Method, Problem, Settings};
use equipoise_models::Synthetic;

const THREADS: [usize; 5] = [1, 2, 4, 8, 15];

fn problem(topology: Topology) -> Problem<Distance, Zero> {
    let paper = Synthetic { nodes: 60, block: 4, rows: 3, seed: 1 };
    paper.problem().expect("valid").graph(topology).build().expect("connected")
}

/// On every thread count, from the paper's start 0, where the objective is 1000.
fn solved_on(topology: &Topology) {
    let problem = problem(topology.clone());
    assert!((problem.objective(problem.start()).expect("in memory") - 1000.0).abs() < 1e-6);
    let default = Settings { tolerance: 1e-8, ..Settings::default() };
    let known = converged("one thread", &problem, &default).certificate.objective;
    for threads in THREADS {
        let settings = Settings { tolerance: 1e-5, ..pairs(threads, Locking::None) };
        for method in [Method::Pairs, Method::Auto] {
            let name = format!("{topology} by {method:?} on {threads} threads");
            let found = converged(&name, &problem, &Settings { method, ..settings.clone() });
            same_optimum(&name, settings.tolerance, known, found.certificate.objective);
        }
    }
}

#[test]
fn star_and_ring() {
    solved_on(&Topology::StarRing);
}

#[test]
fn clique() {
    solved_on(&Topology::Clique);
}

#[test]
fn ring() {
    solved_on(&Topology::Ring);
}

#[test]
fn a_run_that_is_cut_short_is_not_worse_than_its_start() {
    for topology in [Topology::StarRing, Topology::Clique, Topology::Ring] {
        let problem = problem(topology.clone());
        for threads in THREADS {
            for most in [1, 20, 500] {
                let settings = Settings { max_updates: Some(most), ..pairs(threads, Locking::None) };
                let name = format!("{topology} on {threads} threads");
                let found = super::checked(&name, &problem, &settings);
                assert!(found.certificate.objective <= 1000.0 + 1e-9, "{name}: {:?}", found.certificate);
            }
        }
    }
}
