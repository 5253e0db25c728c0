//! Limits on several threads: they bind, and what comes back is feasible whichever one it was.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::{checked, converged, levels, pairs, verify};
use crate::adaptor::{AnyProblem, composite};
use crate::samples::kernels;
use equipoise::separable::{Bounds, SeparableTerm, Zero};
use equipoise::smooth::Quadratic;
use equipoise::{Control, Coupling, Locking, Settings, Solver, SparseMatrix, Status, solve};

/// A machine that is busy with other tests may take so much longer than asked.
const GRACE: Duration = Duration::from_millis(500);

/// How often a test of time is tried before it counts as failed.
const TRIES: usize = 3;

/// A quadratic of a long chain, its halves pulled apart: so badly conditioned, and so far from its optimum along the
/// worst direction, that pairs take ages on any machine.
fn chain(h: impl SeparableTerm + 'static) -> AnyProblem {
    let n = 2000;
    let below = (1..n).flat_map(|r| [(r, r - 1, -1.0), (r - 1, r, -1.0)]);
    let entries: Vec<_> = (0..n).map(|r| (r, r, 2.0)).chain(below).collect();
    let matrix = SparseMatrix::from_triplets(n, n, &entries).expect("within the matrix");
    let linear = (0..n).map(|c| if c < n / 2 { 1.0 } else { -1.0 }).collect::<Vec<_>>();
    let f = Quadratic::new(matrix, linear).expect("convex");
    let coupling = Coupling::sum(1.0).expect("finite");
    composite(f, h).coupling(coupling).build().expect("feasible")
}

fn endless(threads: usize, locking: Locking) -> Settings {
    Settings { tolerance: 1e-300, ..pairs(threads, locking) }
}

#[test]
fn a_limit_on_updates_is_overshot_by_no_more_than_one_a_thread() {
    for (k, sample) in kernels().into_iter().enumerate() {
        let name = sample.name;
        let problem = sample.problem();
        for threads in [2, 3, 8] {
            for most in [1, 7, 1000] {
                let settings = Settings { max_updates: Some(most), ..pairs(threads, levels()[k % 3]) };
                let solution = checked(name, &problem, &settings);
                let at_most = most + threads as u64;
                assert!(solution.updates <= at_most, "{name}: {} of {most}", solution.updates);
                match solution.status {
                    Status::IterationLimit => {
                        assert!(solution.updates >= most, "{name}: {}", solution.updates);
                    }
                    Status::Converged => {}
                    other => panic!("{name}: {other} after {} of {most}", solution.updates),
                }
            }
        }
    }
}

#[test]
fn a_limit_on_epochs_binds() {
    let problem = chain(Zero);
    for threads in [2, 8] {
        let settings = Settings { max_epochs: Some(3.0), ..endless(threads, Locking::None) };
        let solution = checked("chain", &problem, &settings);
        assert_eq!(solution.status, Status::IterationLimit);
        let most = 3.0 * problem.blocks().len() as f64 / 2.0 + threads as f64;
        assert!(solution.updates as f64 <= most, "{} updates", solution.updates);
    }
}

/// Tries until the wait is within the grace; fails with the shortest wait.
fn within_grace(name: &str, mut wait: impl FnMut() -> Duration) {
    let mut shortest = Duration::MAX;
    for _ in 0..TRIES {
        shortest = shortest.min(wait());
        if shortest <= GRACE {
            return;
        }
    }
    panic!("{name}: ended {shortest:?} late");
}

/// A run of a tenth of a second ends soon after it.
fn ends_soon(name: &str, problem: &AnyProblem, settings: &Settings) {
    let settings = Settings { time_limit: Some(0.1), ..settings.clone() };
    within_grace(name, || {
        let begin = Instant::now();
        let solution = solve(problem, &settings).expect("valid");
        let late = begin.elapsed().saturating_sub(Duration::from_millis(100));
        assert_eq!(solution.status, Status::TimeLimit, "{name}");
        verify(name, problem, &settings, &solution);
        late
    });
}

#[test]
fn a_limit_on_time_ends_a_run_soon() {
    let (free, bounded) = (chain(Zero), chain(Bounds::new(-50.0, 1.0).expect("valid")));
    for (threads, locking) in [(2, Locking::None), (3, Locking::Single), (8, Locking::Double)] {
        let name = format!("{threads} threads, {locking:?}");
        ends_soon(&name, &free, &endless(threads, locking));
        ends_soon(&format!("{name}, bounds"), &bounded, &endless(threads, locking));
    }
}

#[test]
fn a_tiny_limit_on_time_is_legal() {
    for sample in kernels() {
        let name = sample.name;
        let problem = sample.problem();
        let settings = Settings { tolerance: 1e-14, time_limit: Some(1e-9), ..pairs(3, Locking::None) };
        let solution = checked(name, &problem, &settings);
        // A start that is optimal to the last digit is one all the same.
        let optimal = solution.status == Status::Converged && solution.certificate.is_proven;
        assert!(solution.status == Status::TimeLimit || optimal, "{name}: {}", solution.status);
    }
}

#[test]
fn a_flag_set_by_another_thread_ends_a_run() {
    let problem = chain(Zero);
    for (threads, locking) in
        [(2, Locking::None), (2, Locking::Double), (8, Locking::None), (8, Locking::Single)]
    {
        let settings = endless(threads, locking);
        let name = format!("{threads} threads, {locking:?}");
        within_grace(&name, || {
            let flag = Arc::new(AtomicBool::new(false));
            std::thread::scope(|scope| {
                let set = scope.spawn(|| {
                    std::thread::sleep(Duration::from_millis(100));
                    flag.store(true, Ordering::Relaxed);
                    Instant::now()
                });
                let solution = Solver::new(&problem, &settings)
                    .control(Control::on(Arc::clone(&flag)))
                    .run()
                    .expect("valid");
                let end = Instant::now();
                assert_eq!(solution.status, Status::Interrupted, "{name}");
                verify(&name, &problem, &settings, &solution);
                end.duration_since(set.join().expect("it only waits"))
            })
        });
    }
}

#[test]
fn a_flag_that_is_already_set_interrupts_at_once() {
    let problem = chain(Zero);
    for threads in [2, 8] {
        let (flag, settings) = (Arc::new(AtomicBool::new(true)), endless(threads, Locking::None));
        let solution =
            Solver::new(&problem, &settings).control(Control::on(Arc::clone(&flag))).run().expect("valid");
        assert_eq!(solution.status, Status::Interrupted);
        verify("set before", &problem, &settings, &solution);
    }
}

#[test]
fn an_objective_that_is_good_enough_ends_a_run() {
    for sample in kernels() {
        let name = sample.name;
        let problem = sample.problem();
        let known = converged(name, &problem, &Settings::default()).certificate.objective;
        let start = problem.objective(problem.start()).expect("in memory");
        let target = known + 0.1 * (start - known);
        if start <= target {
            continue; // the start is the optimum
        }
        for (k, threads) in [1, 2, 8].into_iter().enumerate() {
            let settings =
                Settings { tolerance: 1e-12, target_objective: Some(target), ..pairs(threads, levels()[k]) };
            let solution = checked(name, &problem, &settings);
            assert_eq!(solution.status, Status::TargetReached, "{name} on {threads} threads");
            let found = solution.certificate.objective;
            assert!(found <= target, "{name} on {threads} threads: {found} above {target}");
            // A target that the start meets already.
            let settings = Settings { target_objective: Some(start + 1.0), ..settings };
            assert_eq!(checked(name, &problem, &settings).status, Status::TargetReached, "{name}");
        }
    }
}
