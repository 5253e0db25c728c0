//! Interrupts, time limits, bad input.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use equipoise::Control;
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
