//! The point of the simplex `{x >= 0, sum x = 1}` nearest to a given one.

use equipoise::separable::NonNegative;
use equipoise::smooth::Distance;
use equipoise::{Coupling, Error, Problem, Settings, Status, solve};

/// The same by sorting: `x = max(0, y - t)` with t such that the entries sum to 1.
fn by_sorting(y: &[f64]) -> Vec<f64> {
    let mut sorted = y.to_vec();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let (mut sum, mut t) = (0.0, 0.0);
    for (k, &value) in sorted.iter().enumerate() {
        sum += value;
        let candidate = (sum - 1.0) / (k + 1) as f64;
        if value > candidate {
            t = candidate;
        }
    }
    y.iter().map(|y| (y - t).max(0.0)).collect()
}

fn main() -> Result<(), Error> {
    let y = vec![0.6, 0.9, -0.3, 0.2, 0.55];
    let problem = Problem::builder(Distance::new(y.clone(), 0.5)?)
        .separable(NonNegative)
        .coupling(Coupling::sum(1.0)?)
        .build()?;
    let solution = solve(&problem, &Settings { tolerance: 1e-12, ..Settings::default() })?;
    println!("{y:?} projects to {:.6?}", solution.x);
    let gap = solution.certificate.duality_gap.unwrap_or(f64::INFINITY);
    println!("multiplier {:.6}, gap {gap:.1e}", solution.certificate.multipliers[0]);

    assert_eq!(solution.status, Status::Converged);
    assert!(solution.x.iter().zip(by_sorting(&y)).all(|(x, expected)| (x - expected).abs() < 1e-6));
    Ok(())
}
