//! Random problems over every combination of f, h, A and blocks, locked in every way, on 1, 2, 3 and 8 threads.

use super::{checked, levels};
use crate::adaptor::{AnyProblem, problem};
use equipoise::{Locking, Method, Settings, Solution, Status};
use equipoise_testkit::{self as kit, random};

const PROBLEMS: usize = 100;
const THREADS: [usize; 4] = [1, 2, 3, 8];

/// What one thread needs at most on a problem that is compared; the others are counted.
const MOST_UPDATES: u64 = 20_000;

fn settings(method: Method) -> Settings {
    let tolerance = if method == Method::Pairs { 1e-5 } else { 1e-6 };
    Settings { tolerance, method, time_limit: Some(10.0), ..Settings::default() }
}

/// One thread, as far as it may go.
fn sequential(name: &str, problem: &AnyProblem, method: Method) -> Solution {
    let limit = (method == Method::Pairs).then_some(MOST_UPDATES);
    checked(name, problem, &Settings { max_updates: limit, ..settings(method) })
}

/// What is wrong with a solution, in words.
fn disagreement(
    instance: &kit::Instance,
    problem: &AnyProblem,
    settings: &Settings,
    solution: &Solution,
    reference: &Solution,
) -> Option<String> {
    let (known, objective) = (reference.certificate.objective, kit::objective(instance, &solution.x));
    let off = (objective - known) / (1.0 + known.abs());
    let infeasibility = kit::infeasibility(instance, &solution.x);
    let allowed = 1e-9 * (1.0 + problem.coupling().rhs().iter().map(|b| b * b).sum::<f64>().sqrt());
    let right = solution.status == reference.status
        && off.abs() <= 10.0 * settings.tolerance
        && infeasibility <= allowed;
    (!right).then(|| {
        format!(
            "{} by {:?}, {} threads, {:?}: {} (one thread: {}), off {off:.1e}, infeasibility {infeasibility:.1e}, \
             {:?}, {} updates, {:.2} s",
            instance.name,
            settings.method,
            settings.threads,
            settings.locking,
            solution.status,
            reference.status,
            solution.certificate,
            solution.updates,
            solution.seconds
        )
    })
}

#[test]
fn random_problems_have_the_optimum_of_one_thread() {
    let suite = random::suite();
    let (mut failures, mut compared, mut skipped) = (Vec::new(), 0, Vec::new());
    let mut seen: Vec<(Method, Locking, usize)> = Vec::new();
    for k in 0..PROBLEMS {
        let instance = &suite[k * suite.len() / PROBLEMS];
        let problem = problem(instance).expect("problems of the suite are valid");
        let method = if k % 2 == 0 { Method::Pairs } else { Method::Auto };
        let reference = sequential(&instance.name, &problem, method);
        if reference.status != Status::Converged {
            skipped.push(format!("{} by {method:?}: {}", instance.name, reference.status));
            continue;
        }
        for (j, threads) in THREADS.into_iter().enumerate() {
            let locking = levels()[(k / 2 + j) % 3];
            let settings = Settings { threads, locking, ..settings(method) };
            let solution = checked(&instance.name, &problem, &settings);
            failures.extend(disagreement(instance, &problem, &settings, &solution, &reference));
            compared += 1;
            if !seen.contains(&(method, locking, threads)) {
                seen.push((method, locking, threads));
            }
        }
    }
    println!("{compared} runs compared, {} problems left out:\n{}", skipped.len(), skipped.join("\n"));
    assert!(failures.is_empty(), "{} of {compared} disagree:\n{}", failures.len(), failures.join("\n"));
    assert!(compared >= 3 * PROBLEMS, "only {compared} runs were compared");
    assert_eq!(seen.len(), 2 * 3 * THREADS.len(), "every combination occurs");
}

#[test]
fn some_of_them_agree_with_the_oracle_on_several_threads() {
    let suite = random::suite();
    let mut compared = 0;
    for (k, instance) in suite.iter().skip(3).step_by(suite.len() / 25).enumerate() {
        let Ok(oracle) = kit::solve(instance) else { continue };
        let problem = problem(instance).expect("problems of the suite are valid");
        let (threads, locking) = (THREADS[1 + k % 3], levels()[k % 3]);
        let settings = Settings { threads, locking, ..settings(Method::Auto) };
        let solution = checked(&instance.name, &problem, &settings);
        assert_eq!(solution.status, Status::Converged, "{}: {:?}", instance.name, solution.certificate);
        let off = (kit::objective(instance, &solution.x) - oracle.objective) / (1.0 + oracle.objective.abs());
        assert!(off.abs() <= 10.0 * settings.tolerance, "{}: off {off:.1e}", instance.name);
        compared += 1;
    }
    assert!(compared >= 20, "only {compared} runs were compared");
}
