//! Several threads on one run: the optimum of one thread, however they lock, and what they may never do.
//!
//! * `agreement`: random problems over every level of locking and several thread counts.
//! * `graphs`: the paper's synthetic problem over ring, clique and star+ring, without locks.
//! * `determinism`: one seed and thread count, one sequence of bits; one thread is the sequential run.
//! * `shapes`: more threads than blocks, one block, one edge, counts outside their range.
//! * `limits`: updates, seconds, an objective that is good enough, the caller's wish to stop.
//! * `terms`: smooth and separable terms of the caller's own, and one that panics.
//! * `choices`: delays, step rules, observers.

mod agreement;
mod choices;
mod determinism;
mod graphs;
mod limits;
mod shapes;
mod terms;

use equipoise::separable::SeparableTerm;
use equipoise::smooth::SmoothTerm;
use equipoise::{Locking, Method, Problem, Settings, Solution, Status, certificate, solve};

const TOLERANCE: f64 = 1e-6;

/// Every level of locking.
fn levels() -> [Locking; 3] {
    [Locking::Double, Locking::Single, Locking::None]
}

/// Random pairs on so many threads; the time limit is a guard.
fn pairs(threads: usize, locking: Locking) -> Settings {
    Settings {
        tolerance: TOLERANCE,
        time_limit: Some(20.0),
        method: Method::Pairs,
        threads,
        locking,
        ..Settings::default()
    }
}

/// Solves; fails unless x is feasible and what is reported is what the certificate recomputes.
#[track_caller]
fn checked<F: SmoothTerm, H: SeparableTerm>(
    name: &str,
    problem: &Problem<F, H>,
    settings: &Settings,
) -> Solution {
    let solution = solve(problem, settings).expect("a valid problem");
    verify(name, problem, settings, &solution);
    solution
}

/// What holds of every solution, whatever its status.
#[track_caller]
fn verify<F: SmoothTerm, H: SeparableTerm>(
    name: &str,
    problem: &Problem<F, H>,
    settings: &Settings,
    solution: &Solution,
) {
    let again = certificate::check(problem, &solution.x).expect("x of the right length");
    assert!(again.is_feasible() && again.separable.is_finite(), "{name}: {again:?}");
    let off = (again.objective - solution.certificate.objective).abs();
    assert!(off <= 1e-12 * (1.0 + again.objective.abs()), "{name}: reported {:?}", solution.certificate);
    if solution.certificate.is_proven {
        assert_eq!(again.infeasibility, solution.certificate.infeasibility, "{name}");
    }
    if solution.status == Status::Converged {
        assert!(again.meets(settings.tolerance), "{name}: reported converged, recomputed {again:?}");
    }
    let most = settings.threads;
    assert!((1..=most).contains(&solution.threads), "{name}: {} of {most} threads", solution.threads);
    let start = problem.objective(problem.start()).expect("in memory");
    assert!(
        again.objective <= start + 1e-12 * (1.0 + start.abs()),
        "{name}: ends at {}, began at {start}",
        again.objective
    );
}

/// Solves; fails unless the certificate is met as well.
#[track_caller]
fn converged<F: SmoothTerm, H: SeparableTerm>(
    name: &str,
    problem: &Problem<F, H>,
    settings: &Settings,
) -> Solution {
    let solution = checked(name, problem, settings);
    assert_eq!(solution.status, Status::Converged, "{name}: {:?}", solution.certificate);
    solution
}

/// Fails unless two objectives agree to ten tolerances.
#[track_caller]
fn same_optimum(name: &str, tolerance: f64, first: f64, second: f64) {
    let off = (first - second).abs() / (1.0 + first.abs());
    assert!(off <= 10.0 * tolerance, "{name}: {first} and {second} differ by {off:.1e}");
}

fn bits(solution: &Solution) -> Vec<u64> {
    solution.x.iter().map(|x| x.to_bits()).collect()
}
