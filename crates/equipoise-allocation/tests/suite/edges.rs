//! Numbers at the edge of what an f64 holds, rows that nearly say the same, users without an end.

use equipoise::{Control, Status};
use equipoise_allocation::{
    Column, Costs, Piecewise, Problem, Row, Settings, Users, allocate_many, sensitivity, verify,
};

use crate::agreement::solved;

fn users(costs: Costs, upper: impl Into<Column>, coefficients: Vec<Vec<f64>>) -> Users {
    let count = coefficients[0].len();
    let coefficients = coefficients.into_iter().map(Column::from).collect();
    Users { count, costs, lower: 0.0.into(), upper: upper.into(), coefficients, places: None }
}

#[test]
fn entropy_far_from_its_reference_is_enclosed() {
    let costs = Costs::Entropy { weight: 1.0.into(), reference: 1e-200.into(), c1: 0.0.into() };
    let group = users(costs, f64::INFINITY, vec![vec![1.0]]);
    let problem = Problem::new(vec![group], vec![Row::equal("r", 1e200)]).expect("sound");
    let found = verify(&problem, &Settings::default(), &[1e200], None, &Control::unlimited())
        .expect("a result")
        .allocation;
    // 1e200 ln(1e400).
    let truth = 1e200 * (400.0 * 10_f64.ln());
    assert!(
        found.objective >= truth * (1.0 - 1e-14) && found.objective <= truth * (1.0 + 1e-12),
        "{found:?}"
    );
}

#[test]
fn prices_that_cancel_hide_no_gap() {
    let group = users(Costs::quadratic(1.0, 0.0, 0.0), 10.0, vec![vec![1.0; 2], vec![1.0; 2]]);
    let rows = vec![Row::equal("one", 2.0), Row::equal("two", 2.0)];
    let problem = Problem::new(vec![group], rows).expect("sound");
    let prices = [1e10 + 2.0, -1e10];
    let found = verify(&problem, &Settings::default(), &[1.05, 0.95], Some(&prices), &Control::unlimited())
        .expect("a result")
        .allocation;
    // The optimum is 2, the objective 2.005.
    assert_eq!(found.status, Status::Stalled);
    assert!(found.relative_gap > 1e-4, "{found:?}");
}

#[test]
fn constants_that_cancel_hide_no_gap() {
    let constants = Costs::Quadratic { c2: 0.5.into(), c1: 0.0.into(), c0: vec![1e9, -1e9].into() };
    let group = users(constants, 10.0, vec![vec![1.0; 2]]);
    let problem = Problem::new(vec![group], vec![Row::equal("sum", 2.0)]).expect("sound");
    let off = verify(&problem, &Settings::default(), &[1.05, 0.95], Some(&[1.0]), &Control::unlimited());
    assert_eq!(off.expect("a result").allocation.status, Status::Stalled);
    // And they keep nobody from the optimum.
    assert_eq!(solved(&problem).status, Status::Converged);
}

#[test]
fn points_left_out_of_a_curve_are_charged() {
    // The middle point lies 1e-12 above the line of its neighbours: rounded, so it is left out, and yet it may be where x is.
    let curve = Piecewise::new(&[(0.0, 0.0), (1.0, 1.0 + 1e-12), (2.0, 2.0)]).expect("rounding is forgiven");
    let group = users(Costs::Own(vec![std::sync::Arc::new(curve)]), 2.0, vec![vec![1.0]]);
    let problem = Problem::new(vec![group], vec![Row::equal("sum", 1.0)]).expect("sound");
    assert!(solved(&problem).objective >= 1.0 + 1e-12);
}

#[test]
fn proportional_fairness_without_upper_limits() {
    let links = || vec![vec![1.0, 1.0, 0.0], vec![0.0, 1.0, 1.0]];
    let rows = || vec![Row::at_most("r1", 1.0), Row::at_most("r2", 2.0)];
    let of = |costs: Costs| Problem::new(vec![users(costs, f64::INFINITY, links())], rows()).expect("sound");
    let log = |weight: Column| Costs::Log { weight, offset: 0.0.into(), c1: 0.0.into() };
    let found = solved(&of(log(1.0.into())));
    // 1/b = 1/(1 - b) + 1/(2 - b).
    let shared = 1.0 - 1.0 / 3_f64.sqrt();
    for (x, known) in found.x.iter().zip([1.0 - shared, shared, 2.0 - shared]) {
        assert!((x - known).abs() < 1e-6, "{found:?}");
    }
    let uneven = solved(&of(log(vec![1.0, 1e6, 1.0].into())));
    assert!((uneven.x[1] - 1.0).abs() < 1e-5, "{uneven:?}");
    // 1/x: the same with the squares of what each gets.
    let power = solved(&of(Costs::Power { weight: 1.0.into(), exponent: (-1.0).into(), c1: 0.0.into() }));
    let [a, b, c] = power.x[..] else { panic!("three users") };
    assert!((1.0 / (b * b) - 1.0 / (a * a) - 1.0 / (c * c)).abs() < 1e-4, "{power:?}");
}

#[test]
fn a_root_stays_in_its_window() {
    // Three tiers of straight costs in no order: all of the first two, none of the third.
    let count = 9216;
    for step in [1, 5, 7919, 4001] {
        let c1: Vec<f64> = (0..count)
            .map(|k| match k * step % count {
                place if place < 4623 => 10.0,
                place if place < 9072 => 10.005,
                _ => 10.5,
            })
            .collect();
        let known: f64 = c1.iter().filter(|c1| **c1 < 10.1).sum();
        let group = users(Costs::linear(c1), 1.0, vec![vec![1.0; count]]);
        let problem = Problem::new(vec![group], vec![Row::equal("demand", 9072.0)]).expect("sound");
        let found = solved(&problem);
        assert!((found.objective - known).abs() < 1e-6 && found.infeasibility < 1e-9, "{step}");
    }
}

#[test]
fn a_straight_user_without_limits_is_proven_at_a_price_nearby() {
    let group =
        users(Costs::linear(4.788_469_829_325_963_5), f64::INFINITY, vec![vec![1.642_298_353_054_837_2]]);
    let problem = Problem::new(vec![group], vec![Row::equal("r0", 51.315_754_056_902_75)]).expect("sound");
    assert!(solved(&problem).bound.is_finite());
}

#[test]
fn right_hand_sides_are_numbers_and_results_without_x_have_no_rates() {
    let group = users(Costs::quadratic(1.0, 0.0, 0.0), f64::INFINITY, vec![vec![1.0; 2]]);
    let problem = Problem::new(vec![group], vec![Row::equal("demand", 1.0)]).expect("sound");
    let many = |values: &[f64]| {
        allocate_many(&problem, 0, values, &Settings::default(), None, false, &Control::unlimited())
    };
    assert!(many(&[1.0, f64::NAN]).is_err() && many(&[f64::INFINITY]).is_err());
    let found = many(&[1.0]).expect("a result");
    assert!(found[0].x.is_empty() && sensitivity(&problem, &found[0]).is_none());
}
