//! What analysts have and textbooks do not: cash, the same asset twice, fewer days than assets, budgets in cents, prices of
//! turnover beyond all measure. Every point is compared with Clarabel, or with the same problem in another unit.

use super::*;

/// The returns of some assets, with more columns.
fn with_columns(returns: &Returns, more: &[Vec<f64>]) -> Returns {
    let days = returns.days();
    let mut values: Vec<f64> = Vec::new();
    for j in 0..returns.assets() {
        let mean = returns.mean()[j];
        values.extend(returns.centred().column(j).iter().map(|c| c + mean));
    }
    more.iter().for_each(|column| values.extend(column));
    let names = (0..returns.assets() + more.len()).map(|j| format!("A{j}")).collect();
    Returns::new(names, days, values).expect("returns")
}

/// Weights that are held, of a sum of about 1.
fn held(assets: usize, seed: u64) -> Vec<f64> {
    let mut draw = Xoshiro256PlusPlus::seed_from_u64(seed);
    let raw: Vec<f64> = (0..assets).map(|_| draw.random::<f64>()).collect();
    let sum: f64 = raw.iter().sum();
    raw.iter().map(|w| w / sum).collect()
}

/// No point is better by more than the oracle's own doubt, nor, where it converged, worse than what the gap allows; how many
/// points did not converge.
fn follows_the_oracle(returns: &Returns, own: &Constraints, what: &str) -> usize {
    let covariance = covariance(returns, Shrinkage::Fixed(0.0));
    let settings = Settings::default();
    let found =
        frontier(returns, &covariance, own, &settings, 12, None, Watch::default()).expect("a frontier");
    assert_eq!(found.points.len(), 12, "{what}");
    for (k, point) in found.points.iter().enumerate() {
        let (gap, miss) = (point.relative_gap, point.infeasibility);
        let converged = point.status == Status::Converged;
        assert!(!converged || miss <= 1e-9 && gap <= 1e-6, "{what}, point {k}");
        // At the ends little is feasible, and the oracle's own tolerance is worth more than the gap.
        if !(1..11).contains(&k) {
            continue;
        }
        let limits = Constraints { target_return: point.target_return, ..own.clone() };
        let Some((_, objective)) = oracle::solve(returns, &covariance, &limits) else {
            panic!("{what}, point {k}: the oracle finds nothing")
        };
        let room = 1e-5 * objective.abs() + 1e-8 * covariance.mean_variance();
        let is_near = !converged || (point.objective - objective).abs() <= room;
        assert!(
            is_near && point.bound <= objective + room,
            "{what}, point {k}: {} to {}, expected {objective}",
            point.bound,
            point.objective
        );
    }
    found.points.iter().filter(|point| point.status != Status::Converged).count()
}

#[test]
fn cash_duplicates_and_few_days() {
    // With fewer days than assets and a limit on the turnover some vertices are too degenerate: they stall, and say so.
    let mut stalled = 0;
    for seed in 0..6 {
        let returns = random_returns(10, 250, 500 + seed);
        let cash = with_columns(&returns, &[vec![1e-4; 250]]);
        let nothing = with_columns(&returns, &[vec![0.0; 250]]);
        let column = |j: usize| {
            let mean = returns.mean()[j];
            returns.centred().column(j).iter().map(|c| c + mean).collect::<Vec<f64>>()
        };
        let twice = with_columns(&returns, &[column(0), column(3), column(3)]);
        let wide = random_returns(60, 30, 600 + seed);
        for (what, returns) in
            [("cash", &cash), ("a column of zeros", &nothing), ("duplicates", &twice), ("few days", &wide)]
        {
            let n = returns.assets();
            let plain = Constraints::long_only(n);
            assert_eq!(
                follows_the_oracle(returns, &plain, &format!("{what}, seed {seed}")),
                0,
                "{what}, seed {seed}"
            );
            for (price, limit) in [(0.0, 0.3), (0.0, 2.0), (1e-4, 0.3)] {
                let turnover = Some(Turnover { current: held(n, seed), price, limit });
                let own = Constraints { turnover, ..plain.clone() };
                let what = format!("{what}, turnover {price} {limit}, seed {seed}");
                let here = follows_the_oracle(returns, &own, &what);
                println!("{what}: {here} of 12 points stalled");
                stalled += here;
            }
        }
    }
    assert!(stalled <= 4, "{stalled} of 864 points stalled");
}

/// A budget of 1e12, or of 1e-12, is that of 1 in another unit: to the bit, where the unit is a power of two.
#[test]
fn budgets_of_any_size() {
    let returns = random_returns(12, 200, 40);
    let covariance = covariance(&returns, Shrinkage::Fixed(0.0));
    let at = |own: &Constraints| {
        frontier(&returns, &covariance, own, &Settings::default(), 6, None, Watch::default()).expect("points")
    };
    for short in [false, true] {
        let one = if short { Constraints::long_short(12) } else { Constraints::long_only(12) };
        let one = Constraints { upper: vec![0.4; 12], ..one };
        let unit = at(&one);
        for power in [-300, -40, 40, 300] {
            let unit_size = 2_f64.powi(power);
            let scaled = |list: &[f64]| list.iter().map(|value| value * unit_size).collect::<Vec<f64>>();
            let own = Constraints {
                budget: unit_size,
                lower: scaled(&one.lower),
                upper: scaled(&one.upper),
                ..one.clone()
            };
            let found = at(&own);
            assert_eq!((found.status, found.points.len()), (Status::Converged, 6), "2^{power}");
            for (a, b) in found.points.iter().zip(&unit.points) {
                assert_eq!(a.weights, scaled(&b.weights), "2^{power}");
                assert_eq!(a.objective, b.objective * unit_size * unit_size, "2^{power}");
                assert_eq!(a.bound, b.bound * unit_size * unit_size, "2^{power}");
                assert_eq!(a.multipliers.budget, b.multipliers.budget * unit_size, "2^{power}");
            }
        }
        for budget in [1e12, 3e-7, 1e99] {
            let own = Constraints { budget, upper: vec![0.4 * budget; 12], ..one.clone() };
            let found = at(&own);
            assert_eq!((found.status, found.points.len()), (Status::Converged, 6), "{budget}");
        }
    }
    for budget in [1e101, -1e300, 1e-200] {
        let own = Constraints { budget, ..Constraints::long_short(12) };
        let refused = solve(&returns, &covariance, &own, &Settings::default(), None, Watch::default());
        assert!(matches!(refused, Err(Error::BadSetting { name: "budget", .. })), "{budget}");
    }
}

/// Where weights may stay, a price beyond all measure keeps them; where they may not, as little is moved as can be.
#[test]
fn turnover_at_any_price() {
    let returns = random_returns(10, 250, 41);
    let covariance = covariance(&returns, Shrinkage::Fixed(0.0));
    let current: Vec<f64> = (0..10).map(|j| if j < 4 { 0.25 } else { 0.0 }).collect();
    for price in [1.0, 1e4, 1e10, 1e100] {
        let turnover = Some(Turnover { current: current.clone(), price, limit: f64::INFINITY });
        let own = Constraints { turnover, ..Constraints::long_only(10) };
        let stays = solve(&returns, &covariance, &own, &Settings::default(), None, Watch::default())
            .expect("weights");
        assert_eq!((stays.status, &stays.weights), (Status::Converged, &current), "{price}");
        assert!(stays.relative_gap < 1e-9, "{price}: {}", stays.relative_gap);
        let more = Constraints { budget: 1.5, ..own.clone() };
        let moves = solve(&returns, &covariance, &more, &Settings::default(), None, Watch::default())
            .expect("weights");
        assert_eq!(moves.status, Status::Converged, "{price}");
        assert!((moves.turnover - 0.5).abs() < 1e-9, "{price}: {}", moves.turnover);
        if price > 1e10 {
            continue;
        }
        let curve = frontier(&returns, &covariance, &own, &Settings::default(), 8, None, Watch::default())
            .expect("points");
        assert_eq!((curve.status, curve.points.len()), (Status::Converged, 8), "{price}");
    }
    let turnover = Some(Turnover { current, price: 1e101, limit: f64::INFINITY });
    let own = Constraints { turnover, ..Constraints::long_only(10) };
    let refused = solve(&returns, &covariance, &own, &Settings::default(), None, Watch::default());
    assert!(matches!(refused, Err(Error::BadSetting { name: "turnover penalty", .. })));
}

/// A price that is 1e14 times what variance is worth, for weights that sum to 1 up to rounding, where variance has directions
/// without any: every point of the frontier is a linear program in all but name.
#[test]
fn a_dear_turnover_of_what_is_held_unevenly() {
    let mut stalled = 0;
    for seed in 0..8 {
        let days = [3, 40][seed as usize % 2];
        let returns = random_returns(12, days, 700 + seed);
        let covariance = covariance(&returns, Shrinkage::Fixed(0.0));
        let turnover = Some(Turnover { current: held(12, seed), price: 1e10, limit: f64::INFINITY });
        let own = Constraints { turnover, ..Constraints::long_only(12) };
        let found = frontier(&returns, &covariance, &own, &Settings::default(), 6, None, Watch::default())
            .expect("points");
        let gaps: Vec<f64> = found.points.iter().map(|point| point.relative_gap).collect();
        println!("seed {seed}: {gaps:?}");
        // Rows hold up to rounding, and what that is worth is between both.
        let room = |point: &Portfolio| 1e-9 * point.objective + 1e10 * 1e-14;
        assert!(found.points.iter().all(|point| point.bound <= point.objective + room(point)), "{seed}");
        stalled += found.points.iter().filter(|point| point.status != Status::Converged).count();
    }
    assert_eq!(stalled, 0);
}

/// Nothing may move: what is held is the answer, although its sum is 1 only up to rounding.
#[test]
fn no_turnover_at_all() {
    for seed in 0..5 {
        let returns = random_returns(11, 250, 42 + seed);
        let covariance = covariance(&returns, Shrinkage::Fixed(0.0));
        let current = held(11, seed);
        let turnover = Some(Turnover { current: current.clone(), price: 0.0, limit: 0.0 });
        let own = Constraints { turnover, ..Constraints::long_only(11) };
        let found = solve(&returns, &covariance, &own, &Settings::default(), None, Watch::default())
            .expect("weights");
        let off = found.weights.iter().zip(&current).map(|(w, c)| (w - c).abs()).fold(0.0, f64::max);
        assert_eq!(found.status, Status::Converged, "{seed}: gap {}", found.relative_gap);
        assert!(off < 1e-12, "{seed}: {off}");
    }
}

/// Returns in whole cents, as many days as assets, the best of which earns nothing: the covariance is singular, and the last target
/// is a rounding error.
#[test]
fn multipliers_keep_their_digits_where_the_covariance_is_singular() {
    let days = [
        [-0.04, -0.01, -0.03, -0.01, 0.0],
        [0.01, 0.02, 0.0, -0.01, 0.0],
        [-0.01, 0.0, 0.02, -0.01, -0.01],
        [0.0, -0.02, -0.01, 0.03, -0.03],
        [0.04, 0.01, 0.01, -0.05, 0.0],
    ];
    let values = (0..5).flat_map(|j| days.iter().map(move |day| day[j])).collect();
    let returns = Returns::new((0..5).map(|j| format!("A{j}")).collect(), 5, values).expect("returns");
    assert_eq!(follows_the_oracle(&returns, &Constraints::long_only(5), "cents"), 0);
}
