//! What must be refused, with its evidence.

use equipoise_allocation::{
    Column, Costs, Error, Piecewise, Polynomial, Problem, Row, Settings, Users, Watch, allocate,
};

fn group(costs: Costs, lower: &[f64], upper: &[f64]) -> Users {
    Users {
        count: lower.len(),
        costs,
        lower: Column::Many(lower.to_vec()),
        upper: Column::Many(upper.to_vec()),
        coefficients: vec![1.0.into()],
        places: None,
    }
}

fn refused(users: Users, row: Row, words: &[&str]) -> Error {
    let error = Problem::new(vec![users], vec![row]).expect_err("refused");
    for word in words {
        assert!(error.to_string().contains(word), "`{word}` is not in: {error}");
    }
    error
}

#[test]
fn rows_out_of_reach_say_what_is_missing_and_who_is_at_a_limit() {
    let users = || group(Costs::linear(vec![1.0, 2.0]), &[1.0, 2.0], &[10.0, 30.0]);
    let words = [
        "row `demand` asks for 45",
        "3 at least and 40 at most",
        "5 are missing",
        "user 2 is at its upper limit 30",
    ];
    let error = refused(users(), Row::equal("demand", 45.0), &words);
    assert!(matches!(error, Error::OutOfReach { missing, .. } if missing == 5.0));
    refused(users(), Row::equal("demand", 2.0), &["1 are too much", "user 2 is at its lower limit 2"]);
    refused(users(), Row::at_least("need", 41.0), &["1 are missing"]);
    refused(users(), Row::at_most("room", 1.0), &["2 are too much"]);
    assert!(Problem::new(vec![users()], vec![Row::at_most("room", 99.0)]).is_ok());
    refused(
        users(),
        Row::equal("demand", f64::NAN),
        &["right-hand side of row `demand`", "NaN", "a finite number"],
    );
}

#[test]
fn rows_that_contradict_each_other_are_named() {
    let mut users = group(Costs::quadratic(vec![1.0; 3], 0.0, 0.0), &[0.0; 3], &[10.0; 3]);
    users.coefficients.push(Column::Many(vec![-1.0; 3]));
    // All give 20 together, and keep back 15 of their 30.
    let rows = vec![Row::equal("demand", 20.0), Row::at_least("reserve", 15.0 - 30.0)];
    let problem = Problem::new(vec![users.clone()], rows).expect("each can be met");
    let error = allocate(&problem, &Settings::default(), None, Watch::default()).expect_err("refused");
    assert!(matches!(error, Error::Contradiction { .. }), "{error}");
    assert!(error.to_string().contains("`demand`") && error.to_string().contains("`reserve`"), "{error}");
    users.costs = Costs::linear(vec![1.0, 2.0, 3.0]);
    let rows = vec![Row::equal("demand", 20.0), Row::at_least("reserve", 15.0 - 30.0)];
    let problem = Problem::new(vec![users], rows).expect("each can be met");
    let error = allocate(&problem, &Settings::default(), None, Watch::default()).expect_err("refused");
    assert!(matches!(error, Error::Contradiction { .. }), "{error}");
}

#[test]
fn limits_and_numbers_are_checked() {
    let demand = || Row::equal("demand", 1.0);
    let quadratic = |c2: Vec<f64>| Costs::quadratic(c2, 0.0, 0.0);
    refused(
        group(quadratic(vec![1.0, 1.0]), &[0.0, 3.0], &[1.0, 2.0]),
        demand(),
        &["user 2: its lower limit 3 is above its upper limit 2"],
    );
    refused(
        group(quadratic(vec![1.0, -1.0]), &[0.0; 2], &[1.0; 2]),
        demand(),
        &["user 2 is not convex", "x^2 is -1"],
    );
    refused(
        group(quadratic(vec![1.0, f64::NAN]), &[0.0; 2], &[1.0; 2]),
        demand(),
        &["c2 of user 2: found NaN"],
    );
    refused(
        group(quadratic(vec![1.0]), &[0.0; 2], &[1.0; 2]),
        demand(),
        &["c2: found 1 numbers, expected 2, one a user"],
    );
    refused(
        group(quadratic(vec![1.0; 2]), &[0.0, f64::NAN], &[1.0; 2]),
        demand(),
        &["lower limit of user 2: found NaN"],
    );
    let entropy = |weight: f64, reference: f64| Costs::Entropy {
        weight: weight.into(),
        reference: reference.into(),
        c1: 0.0.into(),
    };
    refused(
        group(entropy(0.0, 1.0), &[0.0; 2], &[1.0; 2]),
        demand(),
        &["weight of user 1: found 0, expected a finite number above 0"],
    );
    refused(group(entropy(1.0, -1.0), &[0.0; 2], &[1.0; 2]), demand(), &["reference of user 1: found -1"]);
    refused(
        group(entropy(1.0, 1.0), &[-3.0; 2], &[1.0, -1.0]),
        demand(),
        &["upper limit of user 2: found -1, expected a number where the cost has a value"],
    );
    let log = Costs::Log { weight: 1.0.into(), offset: Column::Many(vec![0.0, -2.0]), c1: 0.0.into() };
    refused(group(log, &[0.0; 2], &[1.0; 2]), demand(), &["upper limit of user 2: found 1"]);
    let power = |weight: f64, exponent: f64| Costs::Power {
        weight: weight.into(),
        exponent: exponent.into(),
        c1: 0.0.into(),
    };
    refused(
        group(power(1.0, 0.5), &[0.0; 2], &[1.0; 2]),
        demand(),
        &["user 1 is not convex: 1 x^0.5 does not bend upwards"],
    );
    let mut twice = group(quadratic(vec![1.0; 2]), &[0.0; 2], &[1.0; 2]);
    twice.places = Some(vec![1, 1]);
    refused(twice, demand(), &["place of user 2: found 1", "each once"]);
    let mut rows = group(quadratic(vec![1.0; 2]), &[0.0; 2], &[1.0; 2]);
    rows.coefficients.clear();
    refused(rows, demand(), &["coefficients: found 0 numbers, expected 1, one a row"]);
    let error = Problem::new(Vec::new(), vec![demand()]).expect_err("refused");
    assert_eq!(error.to_string(), "found no users, expected at least one");
    let good = || group(quadratic(vec![1.0; 2]), &[0.0; 2], &[1.0; 2]);
    assert_eq!(Problem::new(vec![good()], Vec::new()).expect_err("refused"), Error::Empty { what: "rows" });
    let problem = Problem::new(vec![good()], vec![demand()]).expect("sound");
    for (settings, start, words) in [
        (Settings { gap: 0.0, ..Settings::default() }, None, "gap: found 0"),
        (Settings { threads: 0, ..Settings::default() }, None, "threads: found 0"),
        (Settings::default(), Some(vec![1.0, 2.0]), "start: found 2 numbers, expected 1, one a row"),
        (Settings::default(), Some(vec![f64::NAN]), "price to begin with"),
    ] {
        let error = allocate(&problem, &settings, start.as_deref(), Watch::default())
            .expect_err("refused")
            .to_string();
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn pieces_that_are_not_convex_are_named_and_rounding_is_forgiven() {
    let error = Piecewise::new(&[(0.0, 0.0), (10.0, 30.0), (20.0, 50.0), (30.0, 90.0)]).expect_err("refused");
    assert!(error.contains("falls from 3 to 2 where piece 2 (10 to 20) begins"), "{error}");
    assert!(Piecewise::new(&[(0.0, 0.0)]).expect_err("refused").contains("at least two"));
    assert!(Piecewise::new(&[(0.0, 0.0), (0.0, 1.0)]).expect_err("refused").contains("point 2 at 0"));
    assert!(Piecewise::new(&[(0.0, 0.0), (1.0, f64::NAN)]).expect_err("refused").contains("point 2"));
    assert!(Piecewise::new(&[(0.0, 0.0), (10.0, 1.1), (20.0, 2.2), (30.0, 3.3)]).is_ok());
    assert!(
        Polynomial::new(vec![0.0, 1.0, 1.0, 1.0], 0.0, f64::INFINITY)
            .expect_err("refused")
            .contains("finite limits")
    );
}
