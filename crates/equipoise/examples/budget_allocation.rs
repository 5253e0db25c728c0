//! A budget over 100,000 users: everyone as near to their demand as their cap and the budget allow.
//!
//! `minimise sum_c w_c (x_c - demand_c)^2` subject to `sum x = budget`, `0 <= x <= cap`.

use equipoise::separable::Bounds;
use equipoise::smooth::Distance;
use equipoise::{Coupling, Error, Problem, Settings, Status, solve};

const USERS: usize = 100_000;

/// A number in 0..1 that looks random, by the golden ratio.
fn fraction(c: usize, stream: f64) -> f64 {
    ((c + 1) as f64 * 0.618_033_988_749_894_9 * stream).fract()
}

fn main() -> Result<(), Error> {
    let demand: Vec<f64> = (0..USERS).map(|c| 10.0 * fraction(c, 1.0)).collect();
    let weight: Vec<f64> = (0..USERS).map(|c| 0.5 + fraction(c, 3.7)).collect();
    let cap: Vec<f64> = (0..USERS).map(|c| 2.0 + 6.0 * fraction(c, 7.3)).collect();
    let budget = 0.5 * demand.iter().sum::<f64>();

    let problem = Problem::builder(Distance::new(demand.clone(), weight.clone())?)
        .separable(Bounds::new(0.0, cap.clone())?)
        .coupling(Coupling::sum(budget)?)
        .build()?;
    let solution = solve(&problem, &Settings::default())?;
    let certificate = &solution.certificate;
    let share = |count: usize| 100.0 * count as f64 / USERS as f64;
    println!("{USERS} users, budget {budget:.0}: {} in {:.2} s", solution.status, solution.seconds);
    let gap = certificate.duality_gap.unwrap_or(f64::INFINITY);
    println!("price of the budget {:.4}, gap {gap:.1e}", certificate.multipliers[0]);
    println!("{:.1} % get nothing", share(solution.x.iter().filter(|x| **x == 0.0).count()));
    println!("{:.1} % get their cap", share(solution.x.iter().zip(&cap).filter(|(x, cap)| x == cap).count()));

    assert_eq!(solution.status, Status::Converged);
    assert!(certificate.infeasibility <= 1e-9 * (1.0 + budget));
    // Everyone pays the same price: x = demand - price / (2 w), cut to 0..cap.
    let price = certificate.multipliers[0];
    let fair = |c: usize| (demand[c] - price / (2.0 * weight[c])).clamp(0.0, cap[c]);
    assert!((0..USERS).all(|c| (solution.x[c] - fair(c)).abs() < 1e-2));
    Ok(())
}
