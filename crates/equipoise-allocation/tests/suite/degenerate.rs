//! Prices that are intervals, jumps that are shared, users without limits.

use std::sync::Arc;

use equipoise::enclosure::Enclosure;
use equipoise::{Control, Status};
use equipoise_allocation::{
    Column, Cost, Costs, Piecewise, Polynomial, Problem, Row, Settings, Users, Watch, allocate,
    allocate_many, sensitivity,
};

use crate::agreement::solved;

fn users(costs: Costs, lower: Vec<f64>, upper: Vec<f64>) -> Users {
    let count = lower.len();
    Users {
        count,
        costs,
        lower: lower.into(),
        upper: upper.into(),
        coefficients: vec![1.0.into()],
        places: None,
    }
}

fn linear(c1: &[f64], upper: &[f64], demand: f64) -> Problem {
    let group = users(Costs::linear(c1.to_vec()), vec![0.0; c1.len()], upper.to_vec());
    Problem::new(vec![group], vec![Row::equal("demand", demand)]).expect("sound")
}

#[test]
fn a_demand_between_two_steps_has_an_interval_of_prices() {
    let found = solved(&linear(&[10.0, 20.0, 30.0], &[1.0, 1.0, 1.0], 2.0));
    assert_eq!(found.x, [1.0, 1.0, 0.0]);
    assert_eq!((found.price_low[0], found.price_high[0], found.prices[0]), (20.0, 30.0, 25.0));
    // Limits that sum up to the demand only up to rounding.
    let found = solved(&linear(&[10.0, 20.0, 30.0, 40.0], &[0.1, 0.2, 0.3, 1.0], 0.6));
    assert_eq!((found.price_low[0], found.price_high[0]), (30.0, 40.0));
    assert!(found.infeasibility < 1e-15);
    // Nobody can give more, or less.
    let all = solved(&linear(&[10.0, 20.0], &[1.0, 1.0], 2.0));
    assert_eq!((all.price_low[0], all.price_high[0], all.prices[0]), (20.0, f64::INFINITY, 20.0));
    let none = solved(&linear(&[10.0, 20.0], &[1.0, 1.0], 0.0));
    assert_eq!((none.price_low[0], none.price_high[0], none.prices[0]), (f64::NEG_INFINITY, 10.0, 10.0));
}

#[test]
fn a_jump_is_shared_and_its_price_is_exact() {
    let problem = linear(&[10.0, 20.0, 20.0, 30.0], &[1.0, 1.0, 3.0, 1.0], 2.0);
    let found = solved(&problem);
    assert_eq!((found.prices[0], found.price_low[0], found.price_high[0]), (20.0, 20.0, 20.0));
    assert_eq!(found.x, [1.0, 0.25, 0.75, 0.0]);
    assert!((found.objective - 30.0).abs() < 1e-13 && found.relative_gap <= 1e-14, "{found:?}");
    let rates = sensitivity(&problem, &found).expect("one row");
    assert_eq!(rates[0], [0.0, 0.5, 0.5, 0.0]);
}

#[test]
fn users_without_limits_take_what_is_left() {
    let found = solved(&linear(&[10.0, 20.0], &[3.0, f64::INFINITY], 10.0));
    assert_eq!((found.x, found.prices[0]), (vec![3.0, 7.0], 20.0));
    // Both ways: what one buys the other sells, at one price.
    let group = users(Costs::linear(vec![5.0, 5.0]), vec![f64::NEG_INFINITY, 0.0], vec![0.0, f64::INFINITY]);
    let found = solved(&Problem::new(vec![group], vec![Row::equal("balance", 4.0)]).expect("sound"));
    assert_eq!((found.x[0] + found.x[1], found.prices[0]), (4.0, 5.0));
    // At different prices there is no least cost.
    let group = users(Costs::linear(vec![7.0, 5.0]), vec![f64::NEG_INFINITY, 0.0], vec![0.0, f64::INFINITY]);
    let problem = Problem::new(vec![group], vec![Row::equal("balance", 4.0)]).expect("sound");
    let error =
        allocate(&problem, &Settings::default(), None, Watch::default()).expect_err("refused").to_string();
    assert!(
        error.contains("no lower bound") && error.contains("user 1") && error.contains("user 2"),
        "{error}"
    );
    // Quadratic costs on all numbers.
    let group = users(
        Costs::quadratic(vec![1.0, 3.0], vec![-2.0, 6.0], 0.0),
        vec![f64::NEG_INFINITY; 2],
        vec![f64::INFINITY; 2],
    );
    let found = solved(&Problem::new(vec![group], vec![Row::equal("sum", 8.0)]).expect("sound"));
    assert!((found.x[0] - 7.0).abs() < 1e-12 && (found.prices[0] - 12.0).abs() < 1e-12, "{found:?}");
}

#[test]
fn one_sided_rows_have_no_price_unless_they_bind() {
    let at = |row: Row| {
        let group =
            users(Costs::quadratic(vec![1.0, 1.0], vec![-2.0, -4.0], 0.0), vec![0.0; 2], vec![9.0; 2]);
        solved(&Problem::new(vec![group], vec![row]).expect("sound"))
    };
    let idle = at(Row::at_least("need", 2.0));
    assert_eq!((idle.x, idle.prices[0]), (vec![1.0, 2.0], 0.0));
    let binding = at(Row::at_least("need", 5.0));
    assert!((binding.prices[0] - 2.0).abs() < 1e-12 && (binding.x[1] - 3.0).abs() < 1e-12, "{binding:?}");
    let most = at(Row::at_most("room", 1.0));
    assert!((most.prices[0] + 2.0).abs() < 1e-12 && (most.x[1] - 1.0).abs() < 1e-12, "{most:?}");
    // Just met: any price from 0 on that nobody answers.
    let group = users(Costs::linear(vec![-1.0, 3.0]), vec![0.0; 2], vec![2.0; 2]);
    let edge = solved(&Problem::new(vec![group], vec![Row::at_least("need", 2.0)]).expect("sound"));
    assert_eq!((edge.price_low[0], edge.price_high[0], edge.x), (0.0, 3.0, vec![2.0, 0.0]));
}

#[test]
fn straight_pieces_have_prices_at_their_kinks() {
    let cost = Piecewise::new(&[(0.0, 0.0), (2.0, 2.0), (4.0, 8.0)]).expect("convex");
    let group = users(Costs::Own(vec![Arc::new(cost.clone()), Arc::new(cost)]), vec![0.0; 2], vec![4.0; 2]);
    let problem = Problem::new(vec![group], vec![Row::equal("demand", 4.0)]).expect("sound");
    let found = solved(&problem);
    assert_eq!((found.x, found.price_low[0], found.price_high[0]), (vec![2.0, 2.0], 1.0, 3.0));
    let list = allocate_many(
        &problem,
        0,
        &[1.0, 4.0, 5.0, 8.0],
        &Settings::default(),
        None,
        true,
        &Control::unlimited(),
    )
    .expect("within reach");
    let prices: Vec<(f64, f64)> = list.iter().map(|one| (one.price_low[0], one.price_high[0])).collect();
    assert_eq!(prices, [(1.0, 1.0), (1.0, 3.0), (3.0, 3.0), (3.0, f64::INFINITY)]);
    assert!(list.iter().all(|one| one.status == Status::Converged));
}

/// `x^4`, and `max(x, 0)^2` as a cost of one's own.
#[test]
fn polynomials_and_costs_of_ones_own() {
    #[derive(Debug)]
    struct OneSided;
    impl Cost for OneSided {
        fn value(&self, x: f64) -> f64 {
            x.max(0.0).powi(2)
        }
        fn slopes(&self, x: f64) -> (f64, f64) {
            (2.0 * x.max(0.0), 2.0 * x.max(0.0))
        }
        fn curvature(&self, x: f64) -> f64 {
            if x > 0.0 { 2.0 } else { 0.0 }
        }
        fn enclose_value(&self, x: f64) -> Enclosure {
            Enclosure::from(x.max(0.0)).square()
        }
        fn enclose_slopes(&self, x: f64) -> (Enclosure, Enclosure) {
            let slope = Enclosure::product(2.0, x.max(0.0));
            (slope, slope)
        }
    }
    #[derive(Debug)]
    struct Unproven;
    impl Cost for Unproven {
        fn value(&self, x: f64) -> f64 {
            x * x
        }
        fn slopes(&self, x: f64) -> (f64, f64) {
            (2.0 * x, 2.0 * x)
        }
    }
    let quartic = Polynomial::new(vec![0.0, 0.0, 0.0, 0.0, 1.0], -2.0, 2.0).expect("convex");
    let group = users(Costs::Own(vec![Arc::new(quartic), Arc::new(OneSided)]), vec![-2.0; 2], vec![2.0; 2]);
    let found = solved(&Problem::new(vec![group], vec![Row::equal("sum", 1.5)]).expect("sound"));
    // 4 x^3 = 2 y, x + y = 1.5.
    assert!((4.0 * found.x[0].powi(3) - 2.0 * found.x[1]).abs() < 1e-9, "{found:?}");
    let group = users(Costs::Own(vec![Arc::new(Unproven), Arc::new(Unproven)]), vec![0.0; 2], vec![2.0; 2]);
    let problem = Problem::new(vec![group], vec![Row::equal("sum", 1.0)]).expect("sound");
    let found = allocate(&problem, &Settings::default(), None, Watch::default()).expect("a result");
    assert_eq!((found.status, found.bound), (Status::Stalled, f64::NEG_INFINITY));
    assert!((found.x[0] - 0.5).abs() < 1e-9, "{found:?}");
    for (coefficients, words) in
        [(vec![0.0, 0.0, 1.0, -1.0], "its second derivative is"), (vec![0.0, 0.0, -1.0, 1.0], "at 0")]
    {
        let error = Polynomial::new(coefficients, 0.0, 5.0).expect_err("refused");
        assert!(error.contains(words), "{error}");
    }
}

/// Shares of one budget: proportional to exp(-c1), as everybody knows.
#[test]
fn entropy_gives_the_shares_that_everybody_knows() {
    let c1 = [0.0, 1.0, 2.0, 700.0];
    let costs = Costs::Entropy { weight: 1.0.into(), reference: 1.0.into(), c1: Column::Many(c1.to_vec()) };
    let group = users(costs, vec![0.0; 4], vec![f64::INFINITY; 4]);
    let found = solved(&Problem::new(vec![group], vec![Row::equal("sum", 1.0)]).expect("sound"));
    let total: f64 = c1.iter().map(|c| (-c).exp()).sum();
    for (x, c) in found.x.iter().zip(&c1) {
        assert!((x - (-c).exp() / total).abs() <= 1e-15, "{found:?}");
    }
}

/// The case of docs/allocate.md, and what is kept back by some of its generators.
fn valley(demand: f64, reserve: Option<(&[usize], f64)>) -> Problem {
    let keeps = |places: &[usize]| -> Column {
        let kept = |place: &usize| reserve.is_some_and(|(units, _)| units.contains(place));
        Column::Many(places.iter().map(|place| if kept(place) { -1.0 } else { 0.0 }).collect())
    };
    let (straight, gas) = ([0, 1, 2, 4], [3]);
    let (lower, upper) = ([0.0, 20.0, 50.0, 0.0, 0.0], [200.0, 150.0, 300.0, 250.0, 120.0]);
    let group = |places: &[usize], costs: Costs| {
        let of = |limits: &[f64]| places.iter().map(|place| limits[*place]).collect::<Vec<f64>>();
        let mut users = users(costs, of(&lower), of(&upper));
        users.places = Some(places.to_vec());
        if reserve.is_some() {
            users.coefficients.push(keeps(places));
        }
        users
    };
    let quadratic = Costs::quadratic(
        vec![0.0, 0.02, 0.01, 0.05],
        vec![4.0, 6.0, 18.0, 42.0],
        vec![0.0, 10.0, 120.0, 30.0],
    );
    let piecewise = Piecewise::new(&[(0.0, 0.0), (150.0, 3900.0), (250.0, 6900.0)]).expect("convex");
    let mut rows = vec![Row::equal("demand", demand)];
    if let Some((units, reserve)) = reserve {
        let capacity: f64 = units.iter().map(|place| upper[*place]).sum();
        rows.push(Row::at_least("reserve", reserve - capacity));
    }
    let groups = vec![group(&straight, quadratic), group(&gas, Costs::Own(vec![Arc::new(piecewise)]))];
    Problem::new(groups, rows).expect("sound")
}

fn is_near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-7 * (1.0 + b.abs())
}

#[test]
fn a_row_that_does_not_bind_leaves_the_interval_of_the_other() {
    for reserve in [None, Some((&[0, 1, 2, 3, 4][..], 150.0))] {
        let found = solved(&valley(800.0, reserve));
        assert!(is_near(found.price_low[0], 26.0) && is_near(found.price_high[0], 30.0), "{found:?}");
        assert!(is_near(found.prices[0], 28.0), "{found:?}");
        if reserve.is_some() {
            assert_eq!((found.prices[1], found.price_low[1], found.price_high[1]), (0.0, 0.0, 0.0));
        }
    }
}

#[test]
fn users_off_their_limits_pin_the_prices_of_several_rows() {
    // Oil sets the price of the demand; what a unit that keeps back costs less, the lake or gas on its straight piece, is that of the reserve.
    for (demand, reserve, prices) in [(700.0, 300.0, [52.0, 42.0]), (800.0, 150.0, [47.0, 21.0])] {
        let problem = valley(demand, Some((&[0, 1, 3], reserve)));
        let found = solved(&problem);
        for k in 0..2 {
            assert_eq!(
                (found.price_low[k], found.price_high[k]),
                (found.prices[k], found.prices[k]),
                "{found:?}"
            );
            let rates = sensitivity(&problem, &found).expect("smooth");
            let step = 1e-4;
            let at = |by: f64| solved(&problem.with_value(k, problem.rows()[k].value + by).expect("near"));
            let (below, above) = (at(-step), at(step));
            let slope = (above.objective - below.objective) / (2.0 * step);
            assert!((slope - found.prices[k]).abs() < 1e-2, "{slope}, {found:?}");
            for user in 0..5 {
                let rate = (above.x[user] - below.x[user]) / (2.0 * step);
                assert!((rate - rates[k][user]).abs() < 1e-2, "row {k}, user {user}: {rate}, {rates:?}");
            }
        }
        assert!(is_near(found.prices[0], prices[0]) && is_near(found.prices[1], prices[1]), "{found:?}");
    }
}
