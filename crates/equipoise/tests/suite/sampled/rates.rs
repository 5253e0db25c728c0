//! How fast: linear where the variance is reduced and f strongly convex; like k^(-1/2) or better on average without.

use super::{N, losses, problem, settings};
use crate::adaptor::{AnyProblem, solve_checked};
use crate::numbers::Numbers;
use crate::samples::term;
use equipoise::separable::{ElasticNet, Zero};
use equipoise::{BlockChoice, Coupling, Method, Schedule, Settings, Status};

/// More samples than it takes to see them once: rounds are a part of a pass.
fn large(loss: usize, l2: f64) -> AnyProblem {
    let f = losses(&Numbers::new(61).dense(2000, N), 62).swap_remove(loss).1;
    let h = term(ElasticNet::new(0.0, l2).expect("valid"));
    problem(f, h, Coupling::sum(1.0).expect("finite"), BlockChoice::Automatic)
}

#[test]
fn ten_more_decades_take_a_multiple_of_the_updates_of_five() {
    for (name, problem) in [("least squares", large(0, 0.0)), ("logistic", large(1, 0.01))] {
        let best = solve_checked(&problem, &Settings { tolerance: 1e-14, ..Settings::default() });
        let optimum = best.certificate.objective;
        for method in [Method::Svrg, Method::Saga] {
            let updates = |off: f64| {
                let target = Some(optimum + off * (1.0 + optimum.abs()));
                let solution =
                    solve_checked(&problem, &Settings { target_objective: target, ..settings(method) });
                assert_eq!(solution.status, Status::TargetReached, "{name}, {}", method.name());
                solution.updates
            };
            let counts = [1e-3, 1e-6, 1e-9, 1e-12].map(updates);
            // As many updates for each three decades, up to the first rounds and the grain of a round.
            let steps = [counts[1] - counts[0], counts[2] - counts[1], counts[3] - counts[2]];
            let most = 3 * counts[1].max(2000 * 6);
            assert!(steps.iter().all(|step| *step <= most), "{name}, {}: {counts:?}", method.name());
        }
    }
}

#[test]
fn the_average_of_a_stochastic_run_gets_better_like_the_root_of_the_updates() {
    let f = losses(&Numbers::new(71).dense(200, N), 72).swap_remove(0).1;
    let problem = problem(f, term(Zero), Coupling::sum(1.0).expect("finite"), BlockChoice::Automatic);
    let best = solve_checked(&problem, &Settings { tolerance: 1e-13, ..Settings::default() });
    let optimum = best.certificate.objective;
    for schedule in [Schedule::Paper, Schedule::Horizon] {
        let off = |most: u64| {
            let seeds = 0..12;
            let count = f64::from(seeds.end);
            let sum: f64 = seeds
                .map(|seed| {
                    let settings = Settings {
                        max_updates: Some(most),
                        tolerance: 1e-15,
                        seed: u64::try_from(seed).unwrap_or(0),
                        schedule,
                        ..settings(Method::Stochastic)
                    };
                    let solution = solve_checked(&problem, &settings);
                    let average = solution.candidates.iter().find(|c| c.name == "average").expect("offered");
                    average.objective - optimum
                })
                .sum();
            sum / count
        };
        let found = [off(1000), off(16_000), off(256_000)];
        // 256 times the updates: a sixteenth.
        let falls = found[1] < found[0] && found[2] < found[1];
        assert!(falls && 16.0 * found[2] <= found[0], "{schedule:?}: {found:?}");
    }
}
