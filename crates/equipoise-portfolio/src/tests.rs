//! Portfolios against an independent solver, bounds against exact arithmetic, limits, warm starts, threads, frontiers.

mod edges;
mod oracle;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use dashu::rational::RBig;
use equipoise::{Control, Status};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::{
    Constraints, Covariance, Error, Group, Multipliers, Portfolio, Returns, Settings, Shrinkage, Turnover,
    Watch, frontier, largest_return, solve, verify,
};

fn normal(draw: &mut Xoshiro256PlusPlus) -> f64 {
    let (a, b): (f64, f64) = (draw.random(), draw.random());
    (-2.0 * (1.0 - a).ln()).sqrt() * (std::f64::consts::TAU * b).cos()
}

/// A market, and what each asset does besides.
pub(crate) fn random_returns(assets: usize, days: usize, seed: u64) -> Returns {
    let mut draw = Xoshiro256PlusPlus::seed_from_u64(seed);
    let market: Vec<f64> = (0..days).map(|_| 0.01 * normal(&mut draw)).collect();
    let mut values = Vec::with_capacity(assets * days);
    for _ in 0..assets {
        let beta = 0.4 + 1.2 * draw.random::<f64>();
        let own = 0.005 + 0.02 * draw.random::<f64>();
        let drift = 0.001 * normal(&mut draw);
        values.extend(market.iter().map(|market| beta * market + drift + own * normal(&mut draw)));
    }
    let names = (0..assets).map(|j| format!("A{j}")).collect();
    Returns::new(names, days, values).expect("returns")
}

fn covariance(returns: &Returns, shrinkage: Shrinkage) -> Covariance {
    Covariance::new(returns, shrinkage, 1, &Control::unlimited()).expect("a covariance")
}

fn found(returns: &Returns, covariance: &Covariance, constraints: &Constraints) -> Portfolio {
    let settings = Settings { gap: 1e-8, ..Settings::default() };
    solve(returns, covariance, constraints, &settings, None, Watch::default()).expect("a portfolio")
}

/// One random set of limits of a kind.
fn limits(kind: usize, returns: &Returns, draw: &mut Xoshiro256PlusPlus) -> Constraints {
    let n = returns.assets();
    let mut own = if kind.is_multiple_of(2) { Constraints::long_only(n) } else { Constraints::long_short(n) };
    let (low, high) =
        returns.mean().iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), m| (a.min(*m), b.max(*m)));
    if kind.is_multiple_of(3) {
        own.target_return = Some(low + (0.3 + 0.5 * draw.random::<f64>()) * (high - low));
    }
    if kind % 4 >= 2 {
        let most = 3.0 / n as f64 + 0.3 * draw.random::<f64>();
        own.upper = vec![most; n];
        if kind % 2 == 1 {
            own.lower = vec![-most; n];
        }
    }
    if kind % 5 >= 3 {
        let third = n / 3;
        for (k, (lower, upper)) in [(0.2, 0.4), (0.3, 0.3), (f64::NEG_INFINITY, 0.35)].into_iter().enumerate()
        {
            let members = (k * third..(k + 1) * third).collect();
            own.groups.push(Group { name: format!("sector {k}"), members, lower, upper });
        }
    }
    if kind % 7 >= 4 {
        let share = 1.0 / n as f64;
        let current: Vec<f64> = (0..n).map(|j| if j % 3 == 0 { 0.0 } else { 1.5 * share }).collect();
        let price = if kind % 7 == 5 { 0.0 } else { 1e-5 * draw.random::<f64>() };
        let limit = if kind % 7 == 4 { f64::INFINITY } else { 0.4 + 0.5 * draw.random::<f64>() };
        own.turnover = Some(Turnover { current, price, limit });
    }
    own
}

#[test]
fn random_portfolios_agree_with_the_oracle() {
    let (mut solved, mut refused) = (0, 0);
    for seed in 0..140 {
        let mut draw = Xoshiro256PlusPlus::seed_from_u64(1000 + seed);
        let assets = 3 * draw.random_range(2..14);
        let days = draw.random_range(10..80).max(if seed % 3 == 0 { assets + 5 } else { 10 });
        let returns = random_returns(assets, days, seed);
        let shrinkage = match seed % 4 {
            0 => Shrinkage::Auto,
            1 => Shrinkage::Fixed(0.2),
            _ => Shrinkage::Fixed(0.0),
        };
        let covariance = covariance(&returns, shrinkage);
        let limits = limits(seed as usize, &returns, &mut draw);
        let expected = oracle::solve(&returns, &covariance, &limits);
        let settings = Settings { gap: 1e-8, ..Settings::default() };
        let found = solve(&returns, &covariance, &limits, &settings, None, Watch::default());
        match (found, expected) {
            (Ok(found), Some((weights, objective))) => {
                let mean = covariance.mean_variance();
                let (gap, bound) = (found.relative_gap, found.bound);
                assert_eq!(
                    found.status,
                    Status::Converged,
                    "seed {seed}: {assets} x {days}, {gap}, {} to {bound}, expected {objective}, mean {mean}",
                    found.objective
                );
                assert!(found.infeasibility <= 1e-9, "seed {seed}: {}", found.infeasibility);
                assert!(
                    found.objective <= objective + 1e-8 * mean,
                    "seed {seed}: {} {objective}",
                    found.objective
                );
                assert!(found.bound >= objective - 1e-7 * mean, "seed {seed}: {} {objective}", found.bound);
                if covariance.ridge > 0.0 {
                    let far =
                        found.weights.iter().zip(&weights).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                    assert!(far < 1e-4, "seed {seed}: weights differ by {far}");
                }
                solved += 1;
            }
            (
                Err(Error::Contradiction { .. } | Error::ReturnOutOfReach { .. } | Error::Budget { .. }),
                None,
            ) => refused += 1,
            (found, expected) => panic!("seed {seed}: found {found:?}, expected {expected:?}"),
        }
    }
    assert!(solved > 100 && refused > 0, "{solved} {refused}");
}

#[test]
fn many_assets_agree_with_the_oracle_and_no_thread_changes_a_bit() {
    let returns = random_returns(450, 60, 3);
    for (shrinkage, target) in [(Shrinkage::Auto, None), (Shrinkage::Fixed(0.0), Some(0.001))] {
        let covariance = covariance(&returns, shrinkage);
        let mut limits = Constraints::long_only(450);
        limits.target_return = target;
        limits.upper = vec![0.2; 450];
        let (_, objective) = oracle::solve(&returns, &covariance, &limits).expect("solved");
        let one = found(&returns, &covariance, &limits);
        assert_eq!(one.status, Status::Converged);
        assert!((one.objective - objective).abs() <= 1e-6 * objective, "{} {objective}", one.objective);
        let settings = Settings { gap: 1e-8, threads: 2 };
        let two =
            solve(&returns, &covariance, &limits, &settings, None, Watch::default()).expect("a portfolio");
        assert_eq!(one.weights, two.weights);
    }
}

fn exact(value: f64) -> RBig {
    RBig::try_from(value).expect("finite")
}

/// The objective in rational arithmetic.
fn exact_objective(returns: &Returns, covariance: &Covariance, limits: &Constraints, w: &[RBig]) -> RBig {
    let mut sum = RBig::ZERO;
    for t in 0..returns.days() {
        let day = w
            .iter()
            .enumerate()
            .fold(RBig::ZERO, |day, (j, w)| day + exact(returns.centred().column(j)[t]) * w);
        sum += day.clone() * day;
    }
    sum *= (RBig::ONE - exact(covariance.shrinkage)) / RBig::from(returns.days() - 1);
    sum += exact(covariance.ridge) * w.iter().fold(RBig::ZERO, |sum, w| sum + w.clone() * w.clone());
    if let Some(turnover) = &limits.turnover {
        for (w, c) in w.iter().zip(&turnover.current) {
            let moved = w.clone() - exact(*c);
            sum += exact(turnover.price) * if moved < RBig::ZERO { -moved } else { moved };
        }
    }
    sum
}

#[test]
fn no_bound_is_false_in_exact_arithmetic() {
    for seed in 0..30 {
        let mut draw = Xoshiro256PlusPlus::seed_from_u64(seed);
        let (assets, days) = (3 * draw.random_range(1..5), draw.random_range(3..20));
        let returns = random_returns(assets, days, 70 + seed);
        let shrinkage = if seed % 2 == 0 { Shrinkage::Auto } else { Shrinkage::Fixed(0.0) };
        let covariance = covariance(&returns, shrinkage);
        let mut limits = Constraints::long_only(assets);
        if seed % 3 == 1 {
            limits.lower = vec![-0.5; assets];
            limits.upper = vec![1.0; assets];
        }
        if seed % 5 == 2 {
            limits.turnover = Some(Turnover {
                current: vec![1.0 / assets as f64; assets],
                price: 1e-5,
                limit: f64::INFINITY,
            });
        }
        let best = found(&returns, &covariance, &limits);
        let at: Vec<RBig> = best.weights.iter().map(|w| exact(*w)).collect();
        assert!(exact_objective(&returns, &covariance, &limits, &at) <= exact(best.objective), "seed {seed}");
        // Points that meet the budget exactly: what is missing goes where there is room.
        for _ in 0..20 {
            let mix = draw.random::<f64>() * 1e-3;
            let mut point: Vec<RBig> = at
                .iter()
                .map(|w| w.clone() * (RBig::ONE - exact(mix)) + exact(mix) / RBig::from(assets))
                .collect();
            let lack = point.iter().fold(RBig::ONE, |lack, w| lack - w.clone());
            let room = (0..assets).max_by(|&a, &b| point[a].cmp(&point[b])).expect("assets");
            point[room] += lack;
            let value = exact_objective(&returns, &covariance, &limits, &point);
            assert!(exact(best.bound) <= value, "seed {seed}: a portfolio below the bound");
            // Whatever multipliers are given, their bound holds.
            let wild = Multipliers {
                budget: best.multipliers.budget * (1.0 + 0.2 * draw.random::<f64>()),
                ..Multipliers::default()
            };
            let settings = Settings { gap: 0.5, ..Settings::default() };
            let checked = verify(
                &returns,
                &covariance,
                &limits,
                &settings,
                &best.weights,
                Some(&wild),
                &Control::unlimited(),
            );
            assert!(exact(checked.expect("checked").bound) <= value, "seed {seed}");
        }
    }
}

#[test]
fn long_and_short_without_limits_has_a_bound_up_to_a_size() {
    for (assets, days) in [(20, 3000), (8, 40), (410, 30)] {
        let returns = random_returns(assets, days, 17);
        let covariance = covariance(&returns, Shrinkage::Fixed(if assets > days { 0.3 } else { 0.0 }));
        let mut limits = Constraints::long_short(assets);
        limits.target_return = Some(0.002);
        let best = found(&returns, &covariance, &limits);
        let expected = oracle::solve(&returns, &covariance, &limits).expect("solved").1;
        assert_eq!(best.status, Status::Converged, "{assets} {}", best.relative_gap);
        assert!((best.objective / expected - 1.0).abs() < 1e-6, "{} {expected}", best.objective);
        assert_eq!(best.holds_within.is_some(), covariance.ridge == 0.0);
    }
}

#[test]
fn many_assets_long_and_short_in_boxes_agree_with_the_oracle() {
    let returns = random_returns(440, 40, 23);
    let covariance = covariance(&returns, Shrinkage::Fixed(0.2));
    let mut limits = Constraints::long_short(440);
    (limits.lower, limits.upper) = (vec![-0.004; 440], vec![0.006; 440]);
    limits.groups = vec![Group { name: "g".into(), members: (0..200).collect(), lower: 0.5, upper: 0.6 }];
    for target in [None, Some(0.0012)] {
        limits.target_return = target;
        let expected = oracle::solve(&returns, &covariance, &limits).expect("solved").1;
        let best = found(&returns, &covariance, &limits);
        assert_eq!(best.status, Status::Converged, "{}", best.relative_gap);
        assert!((best.objective / expected - 1.0).abs() < 1e-6, "{} {expected}", best.objective);
    }
}

#[test]
fn verify_meets_what_was_found_and_nothing_worse() {
    for (seed, kind) in [(1, 0), (2, 2), (3, 3), (4, 5), (5, 8), (6, 12)] {
        let mut draw = Xoshiro256PlusPlus::seed_from_u64(seed);
        let returns = random_returns(12, 40, seed);
        let covariance = covariance(&returns, Shrinkage::Auto);
        let mut limits = limits(kind, &returns, &mut draw);
        limits.target_return = None;
        let best = found(&returns, &covariance, &limits);
        let settings = Settings::default();
        let control = Control::unlimited();
        for multipliers in [Some(&best.multipliers), None] {
            let checked =
                verify(&returns, &covariance, &limits, &settings, &best.weights, multipliers, &control);
            assert_eq!(checked.expect("checked").status, Status::Converged, "kind {kind}");
        }
        // Away from the optimum along the budget.
        let mut worse = best.weights.clone();
        let from = (0..12).max_by(|&a, &b| worse[a].total_cmp(&worse[b])).expect("assets");
        let to = (0..12).find(|&j| j != from && worse[j] + 0.02 <= limits.upper[j]).expect("room");
        (worse[from], worse[to]) = (worse[from] - 0.02, worse[to] + 0.02);
        let checked =
            verify(&returns, &covariance, &limits, &settings, &worse, Some(&best.multipliers), &control);
        assert_ne!(checked.expect("checked").status, Status::Converged, "kind {kind}");
        let short: Vec<f64> = best.weights.iter().map(|w| 0.9 * w).collect();
        let checked =
            verify(&returns, &covariance, &limits, &settings, &short, None, &control).expect("checked");
        assert!(checked.status != Status::Converged && checked.infeasibility > 1e-2);
    }
}

#[test]
fn a_point_of_the_frontier_is_what_a_cold_search_finds() {
    for (assets, days, kind) in [(12, 60, 0), (12, 60, 2), (30, 20, 8), (9, 40, 1), (12, 50, 5), (420, 50, 0)]
    {
        let returns = random_returns(assets, days, 40 + kind as u64);
        let covariance = covariance(&returns, Shrinkage::Fixed(0.1));
        let mut limits = limits(kind, &returns, &mut Xoshiro256PlusPlus::seed_from_u64(kind as u64));
        limits.target_return = None;
        let settings = Settings { gap: 1e-8, ..Settings::default() };
        let all = frontier(&returns, &covariance, &limits, &settings, 9, None, Watch::default())
            .expect("a frontier");
        assert_eq!((all.status, all.points.len()), (Status::Converged, 9), "kind {kind}: {:?}", all.status);
        for pair in all.points.windows(2) {
            assert!(
                pair[1].variance >= pair[0].variance * (1.0 - 1e-12)
                    && pair[1].expected_return > pair[0].expected_return
            );
        }
        for point in &all.points {
            let own = Constraints { target_return: point.target_return, ..limits.clone() };
            let cold = found(&returns, &covariance, &own);
            assert!((cold.objective - point.objective).abs() <= 2e-8 * point.objective, "kind {kind}");
            let far = cold.weights.iter().zip(&point.weights).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(far < 1e-6, "kind {kind}: {far}");
        }
    }
}

#[test]
fn the_largest_return_is_that_of_the_best_corner() {
    let returns = random_returns(10, 30, 8);
    let covariance = covariance(&returns, Shrinkage::Auto);
    let control = Control::unlimited();
    let mut limits = Constraints::long_only(10);
    let largest =
        largest_return(&returns, &covariance, &limits, &control).expect("found").expect("there is one");
    let mut order = returns.mean().to_vec();
    order.sort_by(|a, b| b.total_cmp(a));
    assert!((largest - order[0]).abs() < 1e-12);
    limits.upper = vec![0.4; 10];
    let largest =
        largest_return(&returns, &covariance, &limits, &control).expect("found").expect("there is one");
    assert!((largest - (0.4 * order[0] + 0.4 * order[1] + 0.2 * order[2])).abs() < 1e-12);
    limits.target_return = Some(order[0]);
    let refused = solve(&returns, &covariance, &limits, &Settings::default(), None, Watch::default());
    let Err(Error::ReturnOutOfReach { largest: said, .. }) = refused else { panic!("{refused:?}") };
    assert!((said - largest).abs() < 1e-12);
    let free = Constraints::long_short(10);
    assert_eq!(largest_return(&returns, &covariance, &free, &control).expect("found"), None);
}

#[test]
fn limits_that_cannot_be_met_are_named() {
    let returns = random_returns(4, 30, 8);
    let covariance = covariance(&returns, Shrinkage::Auto);
    let refused = |limits: &Constraints| {
        solve(&returns, &covariance, limits, &Settings::default(), None, Watch::default())
            .expect_err("refused")
            .to_string()
    };
    let plain = Constraints::long_only(4);
    let small = Constraints { upper: vec![0.2; 4], ..plain.clone() };
    assert_eq!(
        refused(&small),
        "the weights are to sum to 1, but within their limits they sum to 0 at least and 0.8 at most"
    );
    let mut crossed = plain.clone();
    crossed.lower[2] = 0.5;
    crossed.upper[2] = 0.4;
    assert!(refused(&crossed).contains("`A2`: its lower limit 0.5 is above its upper limit 0.4"));
    let group = |lower, upper, members| Group { name: "sector tech".into(), members, lower, upper };
    let mut grouped = Constraints { upper: vec![0.5; 4], ..plain.clone() };
    grouped.groups = vec![group(0.7, 0.9, vec![1])];
    assert!(refused(&grouped).starts_with("sector tech is to hold 0.7 to 0.9, but"), "{}", refused(&grouped));
    let mut both = plain.clone();
    both.groups = vec![group(0.0, 0.4, vec![0, 1]), group(0.0, 0.4, vec![2, 3])];
    assert!(refused(&both).starts_with("the limits contradict each other: "), "{}", refused(&both));
    let mut far = plain.clone();
    far.turnover = Some(Turnover { current: vec![0.0, 0.0, 0.0, 0.0], price: 0.0, limit: 0.5 });
    assert!(refused(&far).starts_with("the limits contradict each other: "), "{}", refused(&far));
}

#[test]
fn a_start_leads_to_the_same_place() {
    let returns = random_returns(20, 50, 12);
    let covariance = covariance(&returns, Shrinkage::Auto);
    let limits = Constraints::long_only(20);
    let cold = found(&returns, &covariance, &limits);
    for start in [vec![0.05; 20], vec![7.0; 20], cold.weights.clone()] {
        let warm =
            solve(&returns, &covariance, &limits, &Settings::default(), Some(&start), Watch::default())
                .expect("a portfolio");
        let far = cold.weights.iter().zip(&warm.weights).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(far < 1e-9 && warm.status == Status::Converged, "{far}");
    }
}

#[test]
fn an_interrupt_ends_a_search_and_leaves_the_points_so_far() {
    let returns = random_returns(15, 60, 2);
    let covariance = covariance(&returns, Shrinkage::Auto);
    let limits = Constraints::long_only(15);
    let settings = Settings::default();
    let flag = Arc::new(AtomicBool::new(true));
    let watch = Watch { observer: None, control: Control::on(flag) };
    let ended = solve(&returns, &covariance, &limits, &settings, None, watch);
    assert!(matches!(ended, Err(Error::Equipoise(_))), "{ended:?}");
    let flag = Arc::new(AtomicBool::new(false));
    let raise = Arc::clone(&flag);
    let mut tell = |round: &crate::Round| {
        if round.point == 3 {
            raise.store(true, Ordering::Relaxed);
        }
    };
    let watch = Watch { observer: Some(&mut tell), control: Control::on(flag) };
    let part = frontier(&returns, &covariance, &limits, &settings, 10, None, watch).expect("some points");
    assert_eq!((part.status, part.points.len()), (Status::Interrupted, 4));
}

#[test]
fn turnover_keeps_weights_exactly_where_they_are_held() {
    let returns = random_returns(8, 60, 4);
    let covariance = covariance(&returns, Shrinkage::Fixed(0.0));
    let mut limits = Constraints::long_only(8);
    let current = vec![0.125; 8];
    limits.turnover = Some(Turnover { current: current.clone(), price: 1.0, limit: f64::INFINITY });
    assert_eq!(found(&returns, &covariance, &limits).weights, current, "nothing is worth that price");
    limits.turnover = Some(Turnover { current, price: 0.0, limit: 0.25 });
    let near = found(&returns, &covariance, &limits);
    assert!((near.turnover - 0.25).abs() < 1e-12 && near.multipliers.turnover < 0.0, "{near:?}");
    assert!(near.weights.contains(&0.125), "some stay: {:?}", near.weights);
}

#[test]
fn multipliers_are_derivatives() {
    let returns = random_returns(9, 60, 6);
    let covariance = covariance(&returns, Shrinkage::Fixed(0.1));
    let mut limits = Constraints::long_only(9);
    limits.upper = vec![0.5; 9];
    limits.groups = vec![Group { name: "g".into(), members: vec![0, 1, 2], lower: 0.0, upper: 0.1 }];
    let plain = found(&returns, &covariance, &limits);
    limits.target_return = Some(plain.expected_return + 2e-4);
    let here = found(&returns, &covariance, &limits);
    let step = 1e-6;
    let slope = |change: &dyn Fn(&mut Constraints, f64)| {
        let at = |by: f64| {
            let mut moved = limits.clone();
            change(&mut moved, by);
            found(&returns, &covariance, &moved).objective
        };
        (at(step) - at(-step)) / (2.0 * step)
    };
    let near = |a: f64, b: f64| (a - b).abs() <= 1e-5 * (a.abs() + b.abs()) + 1e-9;
    assert!(near(here.multipliers.budget, slope(&|limits, by| limits.budget += by)));
    let of_return =
        slope(&|limits, by| limits.target_return = limits.target_return.map(|target| target + by * 1e-3))
            * 1e3;
    assert!(here.multipliers.target_return > 0.0 && near(here.multipliers.target_return, of_return));
    assert!(near(here.multipliers.groups[0], slope(&|limits, by| limits.groups[0].upper += by)));
}

#[test]
fn a_covariance_of_other_returns_is_refused() {
    let returns = random_returns(5, 30, 8);
    let limits = Constraints::long_only(5);
    let control = Control::unlimited();
    let refused = |other: &Returns| {
        let settings = Settings::default();
        let covariance = covariance(other, Shrinkage::Auto);
        let checked = verify(&returns, &covariance, &limits, &settings, &[0.2; 5], None, &control);
        checked.expect_err("refused").to_string()
    };
    assert_eq!(refused(&random_returns(4, 30, 8)), "assets of the covariance: found 4, expected 5");
    assert_eq!(refused(&random_returns(5, 31, 8)), "days of the covariance: found 31, expected 30");
    assert!(refused(&random_returns(5, 30, 9)).contains("made of other returns: those of `A0` differ"));
    let fewer = covariance(&random_returns(4, 30, 8), Shrinkage::Auto);
    let solved = solve(&returns, &fewer, &limits, &Settings::default(), None, Watch::default());
    assert!(matches!(solved, Err(Error::Length { found: 4, expected: 5, .. })));
}

#[test]
fn a_group_that_names_an_asset_twice_is_refused() {
    let returns = random_returns(4, 30, 8);
    let mut limits = Constraints::long_only(4);
    limits.groups =
        vec![Group { name: "sector tech".into(), members: vec![2, 0, 2], lower: 0.0, upper: 0.5 }];
    let own = covariance(&returns, Shrinkage::Auto);
    let refused = solve(&returns, &own, &limits, &Settings::default(), None, Watch::default());
    assert_eq!(
        refused.expect_err("refused"),
        Error::TwiceInGroup { group: "sector tech".into(), asset: "A2".into() }
    );
}

/// The last point of such a frontier is one asset alone: both rows are tight on one free weight.
#[test]
fn vertices_where_more_is_tight_than_free_have_multipliers() {
    let mut stalled = Vec::new();
    for seed in 0..60 {
        let returns = random_returns(3, 40, seed);
        let own = covariance(&returns, Shrinkage::Auto);
        let turnover = Turnover { current: vec![0.0; 3], price: 1.0, limit: f64::INFINITY };
        let limits = Constraints { turnover: Some(turnover), ..Constraints::long_short(3) };
        let found = frontier(&returns, &own, &limits, &Settings::default(), 5, None, Watch::default());
        let points = found.expect("a frontier").points.into_iter();
        let those = points.filter(|point| point.status != Status::Converged);
        stalled.extend(those.map(|point| (seed, point.relative_gap, point.weights)));
    }
    assert!(stalled.is_empty(), "{stalled:?}");
}
