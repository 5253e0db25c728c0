//! The oracle, judged on the random suite: it solves it, its points leave room for what is asked of the solver, and no
//! small feasible move from them improves the naive objective.
//!
//! The last judges the cone models independently of Clarabel: a wrong weight or sign in one of them would move the point
//! away from the optimum of the naive objective. Problems in extreme units (families with seeds from 3001 on) are judged
//! by their well-scaled twins instead.
//!
//! These tests are here and not in the testkit because here the same problems are solved anyway, and each only once.

use equipoise_testkit::{Dense, Instance, objective, random, solve};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Share of instances on which the oracle may fail.
const FAILURES: f64 = 0.02;
/// How far a point is moved, and how often.
const STEP: f64 = 1e-3;
const MOVES: usize = 30;

fn solve_all(instances: &[Instance]) {
    let mut failures = Vec::new();
    let mut gaps = Vec::new();
    for instance in instances {
        match solve(instance) {
            Ok(oracle) => gaps.push((oracle.gap, &instance.name)),
            Err(failure) => failures.push(failure),
        }
    }
    gaps.sort_by(|a, b| b.0.total_cmp(&a.0));
    println!("{} instances, {} failures", instances.len(), failures.len());
    for failure in &failures {
        println!("  {failure}");
    }
    println!("largest gaps:");
    gaps.iter().take(12).for_each(|(gap, name)| println!("  {gap:.1e} {name}"));
    assert!(failures.len() as f64 <= FAILURES * instances.len() as f64, "the oracle fails too often");
}

#[test]
fn oracle_solves_the_suite() {
    solve_all(&random::suite());
}

#[test]
fn oracle_solves_every_combination() {
    solve_all(&random::every_combination());
}

/// `|A x - b| <= 1e-9 (1 + max|b|)` is asked of the solver: rounding of A x must leave room for it.
#[test]
fn asked_feasibility_is_reachable() {
    for instance in random::suite() {
        let Ok(oracle) = solve(&instance) else { continue };
        let (matrix, rhs) = instance.coupling.equations(instance.dimension);
        let allowed = 1e-9 * (1.0 + rhs.iter().fold(0.0, |top: f64, b| top.max(b.abs())));
        for r in 0..matrix.rows {
            let size: f64 = matrix.row(r).iter().zip(&oracle.x).map(|(a, x)| (a * x).abs()).sum();
            assert!(16.0 * f64::EPSILON * size <= allowed, "{}: row {r} of size {size:e}", instance.name);
        }
    }
}

#[test]
fn no_small_feasible_move_improves() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
    let mut moves = 0;
    for instance in random::suite().iter().filter(|instance| seed(instance) < 3000) {
        let Ok(oracle) = solve(instance) else { continue };
        for _ in 0..MOVES {
            let Some(direction) = direction(instance, &oracle.x, &mut rng) else { continue };
            let moved: Vec<f64> = oracle.x.iter().zip(&direction).map(|(x, d)| x + STEP * d).collect();
            let gain = oracle.objective - objective(instance, &moved);
            let allowed = 1e-7 * (1.0 + oracle.objective.abs());
            assert!(gain <= allowed, "{}: a move gains {gain:e}", instance.name);
            moves += 1;
        }
    }
    assert!(moves > 8000, "only {moves} moves were possible");
}

fn seed(instance: &Instance) -> u64 {
    let digits = instance.name.rsplit("seed").next().expect("names end with the seed");
    digits.parse().expect("names end with the seed")
}

/// A direction of length at most 1 in the kernel of A, over coordinates that may move both ways.
fn direction(instance: &Instance, x: &[f64], rng: &mut Xoshiro256PlusPlus) -> Option<Vec<f64>> {
    let roomy = |c: usize| {
        let (lower, upper) = instance.separable.bounds(c);
        x[c] - lower > STEP && upper - x[c] > STEP
    };
    let free: Vec<bool> = (0..x.len()).map(roomy).collect();
    let random = |free: &bool| if *free { rng.random::<f64>() - 0.5 } else { 0.0 };
    let mut direction: Vec<f64> = free.iter().map(random).collect();
    let mut rows = instance.coupling.equations(instance.dimension).0;
    (0..rows.rows).for_each(|r| {
        rows.row_mut(r).iter_mut().zip(&free).for_each(|(a, free)| {
            if !free {
                *a = 0.0;
            }
        });
    });
    let basis = orthonormal(&rows);
    for _ in 0..2 {
        for row in &basis {
            remove(&mut direction, row);
        }
    }
    let length = norm(&direction);
    (length > 1e-3).then(|| direction.iter().map(|d| d / length).collect())
}

fn orthonormal(rows: &Dense) -> Vec<Vec<f64>> {
    let mut basis: Vec<Vec<f64>> = Vec::new();
    for r in 0..rows.rows {
        let mut row = rows.row(r).to_vec();
        let before = norm(&row);
        for _ in 0..2 {
            for other in &basis {
                remove(&mut row, other);
            }
        }
        let length = norm(&row);
        if length > 1e-9 * before {
            basis.push(row.iter().map(|v| v / length).collect());
        }
    }
    basis
}

fn remove(vector: &mut [f64], unit: &[f64]) {
    let part: f64 = vector.iter().zip(unit).map(|(a, b)| a * b).sum();
    vector.iter_mut().zip(unit).for_each(|(a, b)| *a -= part * b);
}

fn norm(vector: &[f64]) -> f64 {
    vector.iter().map(|v| v * v).sum::<f64>().sqrt()
}
