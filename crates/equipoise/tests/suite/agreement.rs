//! Random problems over every combination of f, h, A and blocks, against the independent oracle.

use crate::adaptor::{problem, solve_checked};
use equipoise::{Settings, Status};
use equipoise_testkit::{self as kit, random};

/// Objectives agree to this, relative to 1 + |objective|.
const AGREEMENT: f64 = 1e-6;

#[test]
fn random_problems_agree_with_the_oracle() {
    let settings = Settings { tolerance: 1e-7, time_limit: Some(20.0), ..Settings::default() };
    let suite = random::suite();
    let mut failures = Vec::new();
    let mut oracle_failures = Vec::new();
    for instance in &suite {
        let oracle = match kit::solve(instance) {
            Ok(oracle) => oracle,
            Err(failure) => {
                oracle_failures.push(failure.to_string());
                continue;
            }
        };
        let problem = match problem(instance) {
            Ok(problem) => problem,
            Err(error) => {
                failures.push(format!("{}: {error}", instance.name));
                continue;
            }
        };
        let solution = solve_checked(&problem, &settings);
        let objective = kit::objective(instance, &solution.x);
        let off = (objective - oracle.objective) / (1.0 + oracle.objective.abs());
        let allowed = 1e-9 * (1.0 + problem.coupling().rhs().iter().map(|b| b * b).sum::<f64>().sqrt());
        let infeasibility = kit::infeasibility(instance, &solution.x);
        if off.abs() > AGREEMENT || infeasibility > allowed || solution.status != Status::Converged {
            failures.push(format!(
                "{}: {} off {off:.1e}, infeasibility {infeasibility:.1e}, kkt {:.1e}, gap {:?}, {} updates, {:.2} s",
                instance.name,
                solution.status,
                solution.certificate.kkt_residual,
                solution.certificate.duality_gap,
                solution.updates,
                solution.seconds
            ));
        }
    }
    println!("{} problems, {} without an oracle", suite.len(), oracle_failures.len());
    assert!(oracle_failures.len() * 50 <= suite.len(), "the oracle failed on {oracle_failures:#?}");
    assert!(failures.is_empty(), "{} of {} disagree:\n{}", failures.len(), suite.len(), failures.join("\n"));
}
