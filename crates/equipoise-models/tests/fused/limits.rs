//! Interrupts, time limits, bad input.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use equipoise::{Control, Status};
use equipoise_models::fused::{Error, FitSettings, Method, Penalty};

use crate::judge::{Case, Draw, Seen};

fn chain(y: Vec<f64>) -> Case {
    Case { n: y.len(), y, seen: Seen::All, penalty: Penalty::Chain, lambda: 1.0, sparse: 0.0 }
}

fn refused(case: &Case, settings: &FitSettings) -> String {
    case.fit(settings, &Control::unlimited()).expect_err("refused").to_string()
}

#[test]
fn bad_choices_are_refused_in_words() {
    let good = chain(vec![1.0, 2.0, 4.0]);
    let plain = FitSettings::default();
    for lambda in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let found = refused(&Case { lambda, ..good.clone() }, &plain);
        assert!(found.contains("lambda is") && found.contains("above 0"), "{found}");
    }
    assert!(refused(&Case { sparse: -1.0, ..good.clone() }, &plain).contains("sparse is -1"));
    assert!(refused(&good, &FitSettings { gap: 0.0, ..plain.clone() }).contains("gap is 0"));
    let holed = refused(&chain(vec![1.0, f64::NAN, 2.0]), &plain);
    assert!(holed.contains("row 1") && holed.contains("NaN"), "{holed}");
    assert!(refused(&chain(Vec::new()), &plain).contains("no variables"));
    let trend = Case { penalty: Penalty::Trend1, ..good.clone() };
    let by_chain = FitSettings { method: Method::Chain, ..plain.clone() };
    assert!(refused(&trend, &by_chain).contains("penalty chain"), "{}", refused(&trend, &by_chain));
    let long = Case { seen: Seen::Rows(vec![vec![1.0, 0.0, 2.0]]), ..good };
    assert!(refused(&long, &plain).contains("expected 1"), "{}", refused(&long, &plain));
}

#[test]
fn a_part_of_a_graph_that_nobody_sees_is_an_error() {
    let penalty = Penalty::Graph(vec![]);
    let case = Case { y: vec![1.0], n: 2, seen: Seen::Some(vec![0]), penalty, lambda: 1.0, sparse: 0.0 };
    let found = case.fit(&FitSettings::default(), &Control::unlimited()).expect_err("refused");
    assert_eq!(found, Error::Undetermined { coefficient: 1 });
}

#[test]
fn a_raised_flag_ends_every_method() {
    let mut draw = Draw::new(3);
    for penalty in [Penalty::Chain, Penalty::Trend1, Penalty::Grid { rows: 10, columns: 30 }] {
        let y = draw.signal(300);
        let case = Case { y, n: 300, seen: Seen::All, penalty, lambda: 1.0, sparse: 0.0 };
        let flag = Arc::new(AtomicBool::new(true));
        match case.fit(&FitSettings::default(), &Control::on(flag)) {
            Err(Error::Equipoise(error)) => assert_eq!(error, equipoise::Halt::Interrupted.into()),
            Err(error) => panic!("{error}"),
            Ok(found) => {
                assert_eq!(found.status, equipoise::Status::Interrupted);
                case.judge(&found);
            }
        }
        let found = case.fit(&FitSettings::default(), &Control::unlimited().within(0.0));
        assert!(found.is_err() || found.is_ok_and(|found| found.status == equipoise::Status::TimeLimit));
    }
}

/// Signals of zeros, and designs that see nothing: the objective is known to the bit, whatever coefficients may be.
/// Who drops the result of a fit does not wait for its proof.
#[test]
fn a_fit_that_nobody_waits_for_proves_nothing() {
    let mut draw = Draw::new(4);
    let trends = [Penalty::Trend1, Penalty::Grid { rows: 10, columns: 30 }];
    for (penalty, method) in trends.into_iter().zip([Method::Interior, Method::Lines]) {
        let y = draw.signal(300);
        let case = Case { y, n: 300, seen: Seen::All, penalty, lambda: 1.0, sparse: 0.0 };
        let raised = || Arc::new(AtomicBool::new(true));
        let settings = FitSettings { method, ..FitSettings::default() };
        let ended = Control::on(raised());
        if let Ok(found) = case.fit(&settings, &ended.forsaken_by(raised())) {
            assert_eq!((found.status, found.x.len()), (Status::Interrupted, 300), "{method}");
            assert_eq!((found.objective, found.bound), (f64::INFINITY, 0.0), "{method}");
        } else {
            assert_eq!(method, Method::Interior, "it has not begun");
        }
    }
}

#[test]
fn nothing_to_explain_is_explained() {
    let zeros = vec![0.0; 12];
    for penalty in [Penalty::Chain, Penalty::Trend1, Penalty::Trend2, Penalty::Grid { rows: 3, columns: 4 }] {
        for (lambda, sparse) in [(0.01, 0.0), (64.0, 0.0), (1.0, 0.5)] {
            let case =
                Case { y: zeros.clone(), n: 12, seen: Seen::All, penalty: penalty.clone(), lambda, sparse };
            let found = case.fit(&FitSettings::default(), &Control::unlimited()).expect("a fit");
            if penalty == Penalty::Chain {
                assert_eq!((found.status, found.objective), (Status::Converged, 0.0), "{found:?}");
            }
            case.judge(&found);
        }
    }
    for y in [vec![0.0; 3], vec![9.04; 3], vec![91.0, 0.0, -3.0]] {
        for row in [vec![0.0; 4], vec![1.0, 2.0, -1.0, 0.5]] {
            let is_known = y.iter().all(|y| *y == 0.0) || row.iter().all(|x| *x == 0.0);
            let seen = Seen::Rows(vec![row; 3]);
            let case = Case { y: y.clone(), n: 4, seen, penalty: Penalty::Chain, lambda: 0.01, sparse: 0.0 };
            let found = case.fit(&FitSettings::default(), &Control::unlimited()).expect("a fit");
            assert!(!is_known || found.status == Status::Converged, "{found:?}");
            case.judge(&found);
        }
    }
}

/// A lambda that leaves one piece leaves exactly one, beside which no sample loses its digits.
#[test]
fn a_lambda_beyond_everything_leaves_the_mean() {
    let mut draw = Draw::new(11);
    for power in [-9, 0, 9] {
        let y: Vec<f64> = draw.signal(50).iter().map(|y| y * 10_f64.powi(power)).collect();
        for lambda in [1e3, 1e9, 1e290] {
            let lambda = lambda * 10_f64.powi(power);
            let case = Case { lambda, ..chain(y.clone()) };
            let found = case.fit(&FitSettings::default(), &Control::unlimited()).expect("a fit");
            assert_eq!((found.status, found.segments), (Status::Converged, Some(1)), "{found:?}");
            case.judge(&found);
        }
    }
}

/// A lambda beside which the misfit is huge: what differences allow says nothing of coefficients, the columns do.
#[test]
fn a_lambda_far_below_everything_is_proven_by_the_design() {
    let mut draw = Draw::new(12);
    for (size, lambda) in [(1e5, 1e-5), (1e6, 1e-3), (1.0, 1e-7), (1e-3, 1e-9), (1e6, 1.0)] {
        for wide in [1.0, 30.0] {
            let (rows, n) = (6 + draw.below(8), 2 + draw.below(4));
            let row =
                |draw: &mut Draw| (0..n).map(|c| draw.next() * if c == 0 { wide } else { 1.0 }).collect();
            let x: Vec<Vec<f64>> = (0..rows).map(|_| row(&mut draw)).collect();
            let y: Vec<f64> = (0..rows).map(|_| size * draw.next()).collect();
            let case = Case { y, n, seen: Seen::Rows(x), penalty: Penalty::Chain, lambda, sparse: 0.0 };
            let found = case.fit(&FitSettings::default(), &Control::unlimited()).expect("a fit");
            assert_eq!(found.status, Status::Converged, "{size} {lambda} {wide}: {found:?}");
            case.judge(&found);
        }
    }
}

/// Many columns, whose rounding a proof multiplies with the largest coefficients that a small lambda allows.
#[test]
fn rounding_of_many_columns_does_not_hide_an_optimum() {
    let (rows, n, mut draw) = (450, 410, Draw::new(13));
    let x: Vec<Vec<f64>> = (0..rows).map(|_| (0..n).map(|_| draw.next()).collect()).collect();
    let step = |c: usize| if c < n / 2 { 1.0 } else { -2.0 };
    let seen = |row: &Vec<f64>| row.iter().enumerate().map(|(c, x)| x * step(c)).sum::<f64>();
    let y: Vec<f64> = x.iter().map(|row| seen(row) + 3.0 * draw.next()).collect();
    let case = Case { y, n, seen: Seen::Rows(x), penalty: Penalty::Chain, lambda: 1e-4, sparse: 0.0 };
    let found = case.fit(&FitSettings::default(), &Control::unlimited()).expect("a fit");
    assert_eq!(found.status, Status::Converged, "gap {}", found.relative_gap);
    case.judge(&found);
}
