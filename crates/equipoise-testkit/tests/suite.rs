//! The random suite: the oracle solves it, it covers what it promises, and it never changes.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use equipoise_testkit::{Instance, random, solve};

/// Share of instances on which the oracle may fail.
const FAILURES: f64 = 0.02;

fn solve_all(instances: &[Instance]) {
    let start = Instant::now();
    let mut failures = Vec::new();
    let mut gaps = Vec::new();
    for instance in instances {
        match solve(instance) {
            Ok(oracle) => gaps.push((oracle.gap, &instance.name)),
            Err(failure) => failures.push(failure),
        }
    }
    gaps.sort_by(|a, b| b.0.total_cmp(&a.0));
    println!("{} instances, {:.1} s", instances.len(), start.elapsed().as_secs_f64());
    println!("{} failures", failures.len());
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

#[test]
fn suite_never_changes() {
    assert_eq!(random::suite(), random::suite());
    let names: BTreeSet<_> = random::suite().into_iter().map(|instance| instance.name).collect();
    assert_eq!(names.len(), random::suite().len(), "names are unique");
    assert!(names.len() >= 330);
}

/// Counts how often each value of `key` occurs.
fn count<Key: Ord>(instances: &[Instance], key: impl Fn(&Instance) -> Key) -> BTreeMap<Key, usize> {
    let mut counts = BTreeMap::new();
    for instance in instances {
        *counts.entry(key(instance)).or_insert(0) += 1;
    }
    counts
}

#[test]
fn suite_covers_every_pair_of_kinds() {
    let suite = random::suite();
    println!("f: {:?}", count(&suite, |i| i.smooth.kind()));
    println!("h: {:?}", count(&suite, |i| i.separable.kind()));
    println!("A: {:?}", count(&suite, |i| i.coupling.kind()));
    println!("blocks: {:?}", count(&suite, |i| i.blocks.kind()));
    let random::Kinds { smooth: f, separable: h } = random::kinds();
    assert!(f >= 9 && h >= 7);
    let pairs = [
        // All but linear f with h = 0.
        (count(&suite, |i| (i.smooth.kind(), i.separable.kind())), f * h - 1),
        (count(&suite, |i| (i.separable.kind(), i.coupling.kind())), h * 6),
        (count(&suite, |i| (i.smooth.kind(), i.coupling.kind())), f * 6),
        (count(&suite, |i| (i.smooth.kind(), i.blocks.kind())), f * 3),
        // Groups need explicit blocks.
        (count(&suite, |i| (i.separable.kind(), i.blocks.kind())), h * 3 - 1),
        (count(&suite, |i| (i.coupling.kind(), i.blocks.kind())), 6 * 3),
    ];
    for (counts, expected) in pairs {
        assert_eq!(counts.len(), expected, "{counts:?}");
        assert!(counts.values().all(|number| *number >= 2), "{counts:?}");
    }
    let triples = count(&suite, |i| (i.smooth.kind(), i.separable.kind(), i.coupling.kind()));
    assert_eq!(triples.len(), (f * h - 1) * 6);
}

#[test]
fn every_combination_is_every_combination() {
    let list = random::every_combination();
    let kinds = |i: &Instance| (i.smooth.kind(), i.separable.kind(), i.coupling.kind(), i.blocks.kind());
    let counts = count(&list, kinds);
    let random::Kinds { smooth: f, separable: h } = random::kinds();
    assert_eq!(counts.len(), f * h * 6 * 3 - 6 * 3 - f * 6);
    assert_eq!(counts.len(), list.len());
}

#[test]
fn suite_covers_the_sizes() {
    let dimensions = count(&random::suite(), |i| i.dimension);
    println!("n: {dimensions:?}");
    assert!([1, 2, 40, 80].iter().all(|n| dimensions.contains_key(n)));
    let rows = count(&random::suite(), |i| i.coupling.equations(i.dimension).1.len());
    println!("m: {rows:?}");
    assert!((0..=5).all(|m| rows.contains_key(&m)));
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
