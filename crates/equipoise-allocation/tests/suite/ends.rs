//! Rows that ask for the least or the most there is, users without upper limits, costs that are far apart, rows that are all but
//! parallel.

use equipoise::{Control, Status};
use equipoise_allocation::{
    Allocation, Costs, Error, Problem, Row, Sense, Settings, Users, Watch, allocate, verify,
};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::agreement::solved;
use crate::spec::{Kind, Spec, User};

fn allocated(spec: &Spec) -> Result<Allocation, Error> {
    allocate(&spec.problem(), &Settings::default(), None, Watch::default())
}

/// One kind of every sort of cost that has a value at 0.
fn kinds() -> Vec<Kind> {
    vec![
        Kind::Quadratic(0.7, 2.0, 0.0),
        Kind::Quadratic(0.7, -2.0, 1.0),
        Kind::Quadratic(0.0, 3.0, 0.0),
        Kind::Entropy(1.5, 0.8, 2.0),
        Kind::Power(1.2, 2.5, -1.0),
        Kind::Power(-1.2, 0.5, 1.0),
        Kind::Log(2.0, 0.3, 1.0),
        Kind::Log(2.0, 1.0, 0.0),
        Kind::Piecewise(vec![(0.0, 0.0), (1.0, 1.0), (9.0, 20.0)]),
    ]
}

fn user(kind: &Kind, lower: f64, upper: f64, a: Vec<f64>) -> User {
    User { kind: kind.clone(), lower, upper, a }
}

#[test]
fn a_demand_of_nothing_is_met_with_nothing() {
    for kind in kinds() {
        for upper in [4.0, f64::INFINITY] {
            for count in [1, 3] {
                let users = vec![user(&kind, 0.0, upper, vec![1.0]); count];
                let found = allocated(&Spec { users, rows: vec![(Sense::Equal, 0.0)] }).expect("an answer");
                assert_eq!((found.status, found.x), (Status::Converged, vec![0.0; count]), "{kind:?}");
                assert!(found.prices[0].is_finite() && found.bound.is_finite(), "{kind:?}");
                // A second row about other users.
                let mut users = vec![user(&kind, 0.0, upper, vec![1.0, 0.0]); count];
                users.extend([user(&Kind::Quadratic(1.0, 0.0, 0.0), 0.0, 9.0, vec![0.0, 1.0])]);
                let rows = vec![(Sense::Equal, 0.0), (Sense::Equal, 2.0)];
                let found = allocated(&Spec { users, rows }).expect("an answer");
                assert_eq!(found.status, Status::Converged, "{kind:?}: {found:?}");
                assert!(found.x[..count].iter().all(|x| *x == 0.0) && (found.x[count] - 2.0).abs() < 1e-12);
            }
        }
    }
}

#[test]
fn a_demand_of_all_limits_together_is_met_at_the_limits() {
    let random = &mut Xoshiro256PlusPlus::seed_from_u64(17);
    for kind in kinds() {
        for trial in 0..40 {
            let rows = 1 + trial % 3;
            let users: Vec<User> = (0..random.random_range(1..8))
                .map(|_| {
                    let lower = random.random_range(0.01..0.9);
                    let a =
                        (0..rows).map(|k| if k == 0 { 1.0 } else { random.random_range(0.1..2.0) }).collect();
                    user(&kind, lower, lower + random.random_range(0.1..5.0), a)
                })
                .collect();
            for is_upper in [false, true] {
                let given = |k: usize| -> f64 {
                    users.iter().map(|user| user.a[k] * if is_upper { user.upper } else { user.lower }).sum()
                };
                let rows = (0..rows)
                    .map(|k| match (k, is_upper) {
                        (1, true) => (Sense::AtMost, given(k) + 1.0),
                        (1, false) => (Sense::AtLeast, given(k) - 1.0),
                        _ => (Sense::Equal, given(k)),
                    })
                    .collect();
                let spec = Spec { users: users.clone(), rows };
                let found = allocated(&spec).expect("an answer");
                assert_eq!(found.status, Status::Converged, "{kind:?}, {spec:?}: {found:?}");
            }
        }
    }
}

#[test]
fn a_limit_without_a_value_is_refused() {
    for kind in [Kind::Log(1.0, 0.0, 0.0), Kind::Power(1.0, -1.0, 0.0)] {
        let users = vec![user(&kind, 0.0, 3.0, vec![1.0, 0.5]); 2];
        for rows in [vec![(Sense::Equal, 0.0)], vec![(Sense::AtMost, 3.0), (Sense::Equal, 0.0)]] {
            let mut users = users.clone();
            users.iter_mut().for_each(|user| user.a.truncate(rows.len()));
            let error = allocated(&Spec { users, rows }).expect_err("refused").to_string();
            assert!(
                error.contains("leaves user 1 at 0, where its cost has no finite value; ask for more"),
                "{error}"
            );
        }
    }
}

#[test]
fn entropies_may_be_far_apart() {
    for (far, count) in [(300.0, 2), (600.0, 2), (-600.0, 2), (600.0, 3), (650.0, 5), (-690.0, 4)] {
        for rows in 1..=2 {
            let users: Vec<User> = (0..count)
                .map(|k| {
                    let c1 = far * f64::from(k) / f64::from(count - 1);
                    let a = [1.0, if k % 2 == 0 { 1.0 } else { 0.5 }];
                    user(&Kind::Entropy(1.0, 1.0, c1), 0.0, f64::INFINITY, a[..rows].to_vec())
                })
                .collect();
            let asked = [(Sense::Equal, 1.0), (Sense::AtMost, 0.9)];
            let found = allocated(&Spec { users, rows: asked[..rows].to_vec() }).expect("an answer");
            assert_eq!(found.status, Status::Converged, "{far} of {count}, {rows} rows: {found:?}");
        }
    }
}

#[test]
fn straight_users_without_upper_limits_are_proven_under_two_rows() {
    let random = &mut Xoshiro256PlusPlus::seed_from_u64(23);
    for trial in 0..100 {
        let rows = 2 + trial % 3;
        let count = random.random_range(rows + 1..12);
        let users: Vec<User> = (0..count)
            .map(|_| {
                let a = (0..rows).map(|_| random.random_range(0.1..2.0)).collect();
                user(&Kind::Quadratic(0.0, random.random_range(0.5..9.0), 0.0), 0.0, f64::INFINITY, a)
            })
            .collect();
        let point: Vec<f64> = (0..count).map(|_| random.random_range(0.1..5.0)).collect();
        let given = |k: usize| users.iter().zip(&point).map(|(user, x)| user.a[k] * x).sum::<f64>();
        let rows = (0..rows).map(|k| (Sense::Equal, given(k))).collect();
        let found = allocated(&Spec { users, rows }).expect("an answer");
        assert!(found.status == Status::Converged && found.bound.is_finite(), "{trial}: {found:?}");
    }
}

#[test]
fn prices_of_rows_that_are_missed_are_charged() {
    // The same row three times, 1e-9 apart: no point meets all of them, and large prices cancel.
    let users = Users {
        count: 2,
        costs: Costs::quadratic(1.0, 0.0, 0.0),
        lower: 0.0.into(),
        upper: 10.0.into(),
        coefficients: vec![1.0.into(), 1.0.into(), 1.0.into()],
        places: None,
    };
    let rows = vec![Row::equal("a", 2.0), Row::equal("b", 2.0 + 1e-9), Row::equal("c", 2.0 - 1e-9)];
    let problem = Problem::new(vec![users], rows).expect("sound");
    let prices = [2.0 - 2e7, 1e7, 1e7];
    let found = verify(&problem, &Settings::default(), &[1.0, 1.0], Some(&prices), &Control::unlimited());
    let found = found.expect("a result");
    // 2e7 1e-9 of 2.
    assert_eq!(found.are_prices_met, Some(false), "{found:?}");
    let small =
        verify(&problem, &Settings::default(), &[1.0, 1.0], Some(&[2.0, 0.0, 0.0]), &Control::unlimited());
    assert_eq!(small.expect("a result").are_prices_met, Some(true));
}

#[test]
fn rows_that_are_all_but_parallel_are_never_met_falsely() {
    let random = &mut Xoshiro256PlusPlus::seed_from_u64(29);
    let mut converged = 0;
    for _ in 0..200 {
        let mut number = |low: f64, high: f64| random.random_range(low..high);
        let off = 1e-10 * number(0.5, 2.0);
        let point = [number(0.5, 3.0), number(0.5, 3.0)];
        let rows = [[1.0, 1.0], [1.0, 1.0 + off]];
        let given = |a: &[f64; 2]| a[0] * point[0] + a[1] * point[1];
        let users: Vec<User> = (0..2)
            .map(|k| {
                let kind = Kind::Quadratic(number(0.5, 2.0), number(-1.0, 1.0), 0.0);
                user(&kind, 0.0, 10.0, vec![rows[0][k], rows[1][k]])
            })
            .collect();
        let asked = rows.iter().map(|a| (Sense::Equal, given(a))).collect();
        let spec = Spec { users: users.clone(), rows: asked };
        let Ok(found) = allocated(&spec) else { continue };
        // The only point that meets both rows; their right-hand sides are rounded, which moves it by up to 1e-5.
        let known: f64 = users.iter().zip(point).map(|(user, x)| user.cost(x)).sum();
        if found.status == Status::Converged {
            converged += 1;
            assert!((found.objective - known).abs() < 1e-4 * known.abs().max(1.0), "{known}: {found:?}");
        }
    }
    println!("{converged} of 200 converged");
}

#[test]
fn a_window_is_left_alone_where_everybody_is_at_a_limit() {
    let count = 10_000;
    let users = Users {
        count,
        costs: Costs::quadratic(1.0, (0..count).map(|k| k as f64).collect::<Vec<f64>>(), 0.0),
        lower: 0.0.into(),
        upper: 2.0.into(),
        coefficients: vec![1.0.into()],
        places: None,
    };
    for (demand, x) in [(0.0, 0.0), (20_000.0, 2.0)] {
        let problem = Problem::new(vec![users.clone()], vec![Row::equal("demand", demand)]).expect("sound");
        assert!(solved(&problem).x.iter().all(|own| *own == x));
    }
}
