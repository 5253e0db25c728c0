//! Many users: windows and samples find what the plain search finds, threads change no bit, an interrupt leaves a result.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use equipoise::{Control, Status};
use equipoise_allocation::{Column, Costs, Error, Problem, Row, Settings, Step, Users, Watch, allocate};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::agreement::solved;

fn column(random: &mut Xoshiro256PlusPlus, count: usize, low: f64, high: f64) -> Column {
    Column::Many((0..count).map(|_| random.random_range(low..high)).collect())
}

fn quadratic(count: usize, seed: u64, share: f64) -> Problem {
    let random = &mut Xoshiro256PlusPlus::seed_from_u64(seed);
    let (lower, upper) = (column(random, count, 0.0, 0.5), column(random, count, 0.5, 3.0));
    let costs = Costs::Quadratic {
        c2: column(random, count, 0.1, 2.0),
        c1: column(random, count, -1.0, 1.0),
        c0: 0.0.into(),
    };
    let sum = |column: &Column| (0..count).map(|k| column.get(k)).sum::<f64>();
    let demand = (1.0 - share) * sum(&lower) + share * sum(&upper);
    let users = Users { count, costs, lower, upper, coefficients: vec![1.0.into()], places: None };
    Problem::new(vec![users], vec![Row::equal("demand", demand)]).expect("sound")
}

fn entropy(count: usize, rows: usize, seed: u64) -> Problem {
    let random = &mut Xoshiro256PlusPlus::seed_from_u64(seed);
    let coefficients: Vec<Column> =
        (0..rows).map(|k| if k == 0 { Column::One(1.0) } else { column(random, count, -1.0, 1.0) }).collect();
    let point: Vec<f64> = (0..count).map(|_| random.random_range(0.5..1.5)).collect();
    let asked = |a: &Column| (0..count).map(|k| a.get(k) * point[k]).sum::<f64>();
    let rows =
        coefficients.iter().enumerate().map(|(k, a)| Row::equal(format!("row {k}"), asked(a))).collect();
    let costs =
        Costs::Entropy { weight: 1.0.into(), reference: column(random, count, 0.5, 2.0), c1: 0.0.into() };
    let users =
        Users { count, costs, lower: 0.0.into(), upper: f64::INFINITY.into(), coefficients, places: None };
    Problem::new(vec![users], rows).expect("sound")
}

#[test]
fn windows_find_the_price_wherever_it_is() {
    for (seed, share) in [(1, 0.5), (2, 0.01), (3, 0.99), (4, 0.3), (5, 0.0), (6, 1.0)] {
        let found = solved(&quadratic(30_000, seed, share));
        assert_eq!(found.method, "window");
        assert!(
            found.relative_gap < 1e-13 && found.relative_infeasibility < 1e-14,
            "{share}: {}",
            found.relative_gap
        );
    }
    // Sorted users: a sample of blocks must still be one of all.
    let count = 40_000;
    let costs = Costs::quadratic((0..count).map(|k| 0.1 + f64::from(k)).collect::<Vec<f64>>(), 0.0, 0.0);
    let users = Users {
        count: count as usize,
        costs,
        lower: 0.0.into(),
        upper: 1.0.into(),
        coefficients: vec![1.0.into()],
        places: None,
    };
    let found = solved(&Problem::new(vec![users], vec![Row::equal("demand", 20_000.0)]).expect("sound"));
    assert!(found.relative_gap < 1e-13, "{}", found.relative_gap);
}

/// Most users at a limit, so that one pass does: with coefficients of both signs, users that cannot move, straight costs
/// and users without an upper limit. Whoever is on which side, the proof holds, and every x is the response to the price.
#[test]
fn most_users_at_their_limits() {
    for seed in 0..12 {
        let count = 30_000;
        let random = &mut Xoshiro256PlusPlus::seed_from_u64(100 + seed);
        let pick = |random: &mut Xoshiro256PlusPlus, share: f64| random.random_range(0.0..1.0) < share;
        let straight = if seed % 3 == 0 { 0.2 } else { 0.0 };
        let (mut c2, mut c1, mut lower, mut upper, mut a) = (vec![], vec![], vec![], vec![], vec![]);
        for _ in 0..count {
            let sign = if seed % 2 == 0 && pick(random, 0.3) { -1.0 } else { 1.0 };
            let is_straight = pick(random, straight);
            c2.push(if is_straight { 0.0 } else { random.random_range(0.05..0.5) });
            c1.push(sign * random.random_range(1.0..10.0));
            lower.push(if sign < 0.0 { -2.0 } else { random.random_range(-0.5..0.0) });
            let most: f64 = random.random_range(0.5..2.0);
            upper.push(match () {
                () if pick(random, 0.1) => lower[lower.len() - 1],
                () if pick(random, 0.05) && !is_straight && sign > 0.0 => f64::INFINITY,
                () => most,
            });
            a.push(sign * random.random_range(0.5..1.5));
        }
        let users = Users {
            count,
            costs: Costs::quadratic(c2.clone(), c1.clone(), 0.0),
            lower: lower.clone().into(),
            upper: upper.clone().into(),
            coefficients: vec![a.clone().into()],
            places: None,
        };
        let problem = Problem::new(vec![users], vec![Row::equal("demand", 9_000.0)]).expect("sound");
        let found = solved(&problem);
        assert_eq!(found.method, "window");
        assert!(found.relative_gap < 1e-12 && found.relative_infeasibility < 1e-14, "{seed}");
        let price = found.prices[0];
        for k in (0..count).filter(|&k| c2[k] > 0.0) {
            let response = ((a[k] * price - c1[k]) / (2.0 * c2[k])).clamp(lower[k], upper[k]);
            assert!(
                (found.x[k] - response).abs() < 1e-9,
                "seed {seed}, user {k}: {}, {response}",
                found.x[k]
            );
        }
    }
}

#[test]
fn linear_costs_of_many_users_share_the_last_step() {
    let count = 20_000;
    let costs = Costs::linear((0..count).map(|k| f64::from(k % 100)).collect::<Vec<f64>>());
    let users = Users {
        count: count as usize,
        costs,
        lower: 0.0.into(),
        upper: 1.0.into(),
        coefficients: vec![1.0.into()],
        places: None,
    };
    let found = solved(&Problem::new(vec![users], vec![Row::equal("demand", 10_050.0)]).expect("sound"));
    assert_eq!((found.prices[0], found.x[50], found.x[49], found.x[51]), (50.0, 0.25, 1.0, 0.0));
}

#[test]
fn threads_change_no_bit() {
    for problem in [quadratic(300_000, 7, 0.4), entropy(100_000, 3, 8)] {
        let at = |threads: usize| {
            let settings = Settings { threads, ..Settings::default() };
            allocate(&problem, &settings, None, Watch::default()).expect("a result")
        };
        let (one, two) = (at(1), at(2));
        assert_eq!(one.status, Status::Converged);
        assert!(one.relative_gap < 1e-12, "{}", one.relative_gap);
        assert!(one.x == two.x && one.prices == two.prices && one.bound == two.bound);
    }
}

#[test]
fn an_interrupt_leaves_what_users_give_at_the_last_prices() {
    let problem = entropy(50_000, 3, 9);
    let flag = Arc::new(AtomicBool::new(false));
    let mut passes = 0;
    let mut tell = |step: &Step<'_>| {
        passes = step.pass;
        flag.store(true, Ordering::Relaxed);
    };
    let watch = Watch { observer: Some(&mut tell), control: Control::on(Arc::clone(&flag)) };
    let found = allocate(&problem, &Settings::default(), None, watch).expect("a result");
    assert_eq!((found.status, passes), (Status::Interrupted, 1));
    assert!(found.x.iter().all(|x| x.is_finite()) && found.bound <= found.objective.max(found.bound));
    // Before there are prices there is nothing to return: what users give at none has nothing to do with the rows.
    let late = || Watch { observer: None, control: Control::unlimited().within(0.0) };
    let error = allocate(&problem, &Settings::default(), None, late()).expect_err("nothing was found");
    assert!(
        matches!(error, Error::Equipoise(equipoise::Error::StoppedEarly { by: "time-limit" })),
        "{error}"
    );
    let error =
        allocate(&quadratic(50_000, 7, 0.4), &Settings::default(), None, late()).expect_err("nothing");
    assert!(
        matches!(error, Error::Equipoise(equipoise::Error::StoppedEarly { by: "time-limit" })),
        "{error}"
    );
}
