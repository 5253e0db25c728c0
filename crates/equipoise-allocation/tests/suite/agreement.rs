//! The library beside Clarabel, on random problems of every kind.

use equipoise::{Control, Status};
use equipoise_allocation::{
    Allocation, Problem, Settings, Watch, allocate, allocate_many, sensitivity, verify,
};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::oracle;
use crate::spec::{Draw, Kind, Spec, draw};

pub(crate) fn solved(problem: &Problem) -> Allocation {
    let found = allocate(problem, &Settings::default(), None, Watch::default()).expect("a result");
    if found.status != Status::Converged && found.x.len() > 100 {
        let mut short = found;
        short.x.truncate(3);
        panic!("{short:?}");
    }
    assert_eq!(found.status, Status::Converged, "{found:?}\n{problem:?}");
    assert!(found.bound <= found.objective + 1e-9 * (1.0 + found.objective.abs()), "{found:?}");
    for (user, x) in found.x.iter().enumerate() {
        let (lower, upper) = problem.limits(user);
        assert!(*x >= lower && *x <= upper, "user {user}: {x} is not in {lower}..{upper}");
    }
    found
}

fn agrees(spec: &Spec, seed: u64) -> bool {
    let found = solved(&spec.problem());
    let Some(known) = oracle::solve(spec) else { return false };
    let scale = 1.0 + known.objective.abs();
    assert!(
        (found.objective - known.objective).abs() <= 2e-6 * scale,
        "seed {seed}: found {found:?}, known {known:?}\n{spec:?}"
    );
    // Where every cost bends x is unique.
    let bends = spec.users.iter().all(|user| match user.kind {
        Kind::Quadratic(c2, ..) => c2 > 0.0,
        Kind::Piecewise(_) => false,
        _ => true,
    });
    let is_near = found.x.iter().zip(&known.x).all(|(a, b)| (a - b).abs() <= 1e-3);
    assert!(is_near || !bends, "seed {seed}: {found:?}, {known:?}");
    // The gap is what it is said to be.
    assert!(found.bound <= known.objective + 1e-6 * scale, "seed {seed}: {found:?}, {known:?}");
    for (k, price) in known.prices.iter().enumerate() {
        let (low, high) = (found.price_low[k], found.price_high[k]);
        if !low.is_nan() {
            let room = 2e-4 * (1.0 + price.abs());
            assert!(
                *price >= low - room && *price <= high + room,
                "seed {seed}: row {k}: {found:?}, {known:?}\n{spec:?}"
            );
        }
    }
    true
}

#[test]
fn random_problems_agree_with_the_oracle() {
    let mut judged = 0;
    let kinds = [Draw::Quadratic, Draw::Straight, Draw::Smooth, Draw::Any];
    for seed in 0..360 {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let (users, rows) = (2 + (seed % 11) as usize, 1 + (seed / 4 % 3) as usize);
        let spec = draw(&mut random, users.max(rows + 2), rows, kinds[(seed % 4) as usize], seed % 5 >= 3);
        judged += usize::from(agrees(&spec, seed));
    }
    assert!(judged > 330, "the oracle was sure of {judged} only");
}

#[test]
fn larger_problems_agree_with_the_oracle() {
    for (seed, kinds) in [(1, Draw::Quadratic), (2, Draw::Straight), (3, Draw::Smooth), (4, Draw::Any)] {
        for rows in [1, 4] {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(1000 + seed);
            assert!(agrees(&draw(&mut random, 150, rows, kinds, seed % 2 == 0), seed), "{kinds:?}");
        }
    }
}

#[test]
fn a_price_is_the_slope_of_the_cost_and_x_moves_as_it_is_said() {
    for seed in 0..40 {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let rows = 1 + (seed % 2) as usize;
        let spec = draw(&mut random, 8, rows, Draw::Smooth, false);
        let problem = spec.problem();
        let found = solved(&problem);
        let Some(rates) = sensitivity(&problem, &found) else { continue };
        for k in 0..rows {
            let step = 1e-5;
            let at = |by: f64| {
                let value = spec.rows[k].1 + by;
                let settings = Settings { gap: 1e-12, ..Settings::default() };
                allocate(&problem.with_value(k, value).expect("near"), &settings, None, Watch::default())
                    .expect("a result")
            };
            let (below, above) = (at(-step), at(step));
            let slope = (above.objective - below.objective) / (2.0 * step);
            assert!(
                (slope - found.prices[k]).abs() <= 1e-4 * (1.0 + slope.abs()),
                "seed {seed}: {slope}, {found:?}"
            );
            for user in 0..8 {
                let rate = (above.x[user] - below.x[user]) / (2.0 * step);
                let is_near = (rate - rates[k][user]).abs() <= 1e-3 * (1.0 + rate.abs());
                let (lower, upper) = problem.limits(user);
                let at_kink = (found.x[user] - lower).min(upper - found.x[user]).abs() < 1e-4;
                assert!(is_near || at_kink, "seed {seed}, user {user}: {rate}, {}", rates[k][user]);
            }
        }
    }
}

#[test]
fn many_demands_are_what_each_is_by_itself() {
    for seed in 0..12 {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let kinds = [Draw::Quadratic, Draw::Any, Draw::Straight][(seed % 3) as usize];
        let spec = draw(&mut random, 9, 1 + (seed % 2) as usize, kinds, false);
        let problem = spec.problem();
        let value = spec.rows[0].1;
        let values: Vec<f64> = (0..9).map(|k| value * (0.98 + 0.005 * f64::from(k))).collect();
        let settings = Settings::default();
        let control = Control::unlimited();
        let Ok(list) = allocate_many(&problem, 0, &values, &settings, None, true, &control) else { continue };
        for (one, value) in list.iter().zip(&values) {
            let Ok(alone) = problem.with_value(0, *value) else { continue };
            let Ok(alone) = allocate(&alone, &settings, None, Watch::default()) else { continue };
            assert!(
                (one.objective - alone.objective).abs() <= 1e-8 * (1.0 + one.objective.abs()),
                "{one:?}, {alone:?}"
            );
        }
        let bare =
            allocate_many(&problem, 0, &values[..2], &settings, None, false, &control).expect("as before");
        assert!(bare.iter().all(|one| one.x.is_empty()));
    }
}

#[test]
fn good_starts_save_passes_and_change_nothing_else() {
    for seed in 0..20 {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let problem = draw(&mut random, 20, 1 + (seed % 3) as usize, Draw::Smooth, false).problem();
        let cold = solved(&problem);
        let warm =
            allocate(&problem, &Settings::default(), Some(&cold.prices), Watch::default()).expect("a result");
        assert_eq!(warm.status, Status::Converged);
        assert!(warm.passes <= cold.passes, "{} after {}", warm.passes, cold.passes);
        assert!((warm.objective - cold.objective).abs() <= 1e-10 * (1.0 + cold.objective.abs()));
    }
}

#[test]
fn points_are_checked_whoever_found_them() {
    for seed in 0..30 {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let problem = draw(&mut random, 8, 1 + (seed % 2) as usize, Draw::Any, seed % 3 == 0).problem();
        let found = solved(&problem);
        let (settings, control) = (Settings::default(), Control::unlimited());
        let with = verify(&problem, &settings, &found.x, Some(&found.prices), &control).expect("inside");
        assert_eq!((with.allocation.status, with.allocation.objective), (Status::Converged, found.objective));
        let without = verify(&problem, &settings, &found.x, None, &control).expect("inside");
        assert_eq!(without.allocation.status, Status::Converged, "{without:?}");
        // Wrong prices do not harm a good point.
        let wrong: Vec<f64> = found.prices.iter().map(|price| 3.0 * price + 1.0).collect();
        let wrong = verify(&problem, &settings, &found.x, Some(&wrong), &control).expect("inside");
        assert_eq!(wrong.allocation.status, Status::Converged, "{wrong:?}");
        // A point off the rows is never met.
        let moved: Vec<f64> = found
            .x
            .iter()
            .enumerate()
            .map(|(user, x)| {
                let (lower, upper) = problem.limits(user);
                0.99 * x + 0.01 * if *x - lower > upper - *x { lower } else { upper }
            })
            .collect();
        let moved = verify(&problem, &settings, &moved, None, &control).expect("inside");
        assert_eq!(moved.allocation.status, Status::Stalled, "{moved:?}");
    }
}
