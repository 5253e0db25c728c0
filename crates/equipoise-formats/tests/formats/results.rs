//! Solution files and histories.

use std::fs;

use equipoise::smooth::Distance;
use equipoise::{Candidate, Certificate, Control, Method, Problem, Status};
use equipoise_formats::history::{HistoryRow, HistoryWriter, write_history};
use equipoise_formats::{Error, SolutionFile, read_solution, write_iterate, write_solution};

use super::{assert_good_words, file, scratch};

/// One with numbers that are told apart.
fn certificate() -> Certificate {
    let f = Distance::new(vec![0.0], 1.0).expect("finite");
    let problem = Problem::builder(f).build().expect("valid");
    let mut certificate = equipoise::certificate::check(&problem, &[0.0]).expect("one number");
    (certificate.objective, certificate.smooth, certificate.separable) = (0.1 + 0.2, 0.25, 0.05);
    (certificate.infeasibility, certificate.relative_infeasibility) = (0.0, 0.0);
    (certificate.kkt_residual, certificate.lower_bound, certificate.duality_gap) = (1e-9, None, None);
    (certificate.multipliers, certificate.is_partial) = (vec![-1.5], false);
    (certificate.holds_within, certificate.is_proven) = (None, true);
    certificate
}

fn solution() -> SolutionFile {
    SolutionFile {
        status: Status::Converged,
        certificate: certificate(),
        updates: 12,
        epochs: 3.0,
        seconds: 0.5,
        threads: 4,
        seed: u64::MAX,
        method: Method::Pairs,
        reason: "as asked".into(),
        candidates: Vec::new(),
        x: vec![1.0 / 3.0, -0.0, 5e-324, 1.797_693_134_862_315_7e308],
        variables: Vec::new(),
    }
}

#[test]
fn an_iterate_alone_reads_back_and_claims_nothing() {
    let path = scratch("iterate").join("x.json");
    write_iterate(&path, "bad-sample", &[1.0 / 3.0, -0.0]).expect("finite");
    let stored = read_solution(&path, &Control::unlimited()).expect("readable");
    assert_eq!((stored.x, stored.status.as_deref()), (vec![1.0 / 3.0, -0.0], Some("bad-sample")));
    assert_eq!((stored.objective, stored.kkt_residual, stored.duality_gap), (None, None, None));
    let error = write_iterate(&path, "bad-sample", &[0.0, f64::NAN]).expect_err("no JSON");
    assert!(error.to_string().contains("`x[1]`"), "{error}");
}

#[test]
fn fields_are_exactly_these_in_this_order() {
    let mut short = solution();
    (short.certificate.objective, short.x) = (0.5, vec![1.0, 2.5]);
    let expected = concat!(
        r#"{"status":"converged","objective":0.5,"smooth":0.25,"separable":0.05,"infeasibility":0.0,"#,
        r#""relative_infeasibility":0.0,"kkt_residual":1e-9,"lower_bound":null,"duality_gap":null,"#,
        r#""holds_within":null,"is_proven":true,"is_partial":false,"multipliers":[-1.5],"updates":12,"epochs":3.0,"#,
        r#""seconds":0.5,"threads":4,"seed":18446744073709551615,"method":"pairs","reason":"as asked","#,
        r#""x":[1.0,2.5]}"#
    );
    assert_eq!(short.to_json().as_deref(), Ok(expected));
    short.candidates = vec![Candidate::new("last", 0.75), Candidate::new("average", 0.5)];
    let longer = expected.replace(r#""x""#, r#""candidates":{"last":0.75,"average":0.5},"x""#);
    assert_eq!(short.to_json(), Ok(longer));
    short.candidates[1].objective = f64::NAN;
    let error = short.to_json().expect_err("no number");
    assert!(error.to_string().contains("candidates.average"), "{error}");
}

#[test]
fn the_iterate_comes_back_bit_for_bit() {
    let path = scratch("solution-write").join("s.json");
    let mut written = solution();
    // Numbers with many digits, where a parser that rounds carelessly would differ in the last bit.
    written.x.extend((1..2000).map(|k| f64::from(k).sqrt() * 1e-7 / 3.0));
    write_solution(&path, &written).expect("written");
    let back = read_solution(&path, &Control::unlimited()).expect("valid");
    let bits = |x: &[f64]| x.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&back.x), bits(&written.x));
    assert_eq!(back.status.as_deref(), Some("converged"));
    assert_eq!((back.objective, back.duality_gap, back.seed), (Some(0.1 + 0.2), None, Some(u64::MAX)));
}

#[test]
fn only_x_is_needed_and_more_is_tolerated() {
    let path = file("solution-start", "s.json", r#"{"x": [1, 2.5], "later": {"deep": [null]}}"#);
    let start = read_solution(path, &Control::unlimited()).expect("valid");
    assert_eq!((start.x, start.status), (vec![1.0, 2.5], None));
}

#[test]
fn bad_json_is_refused_with_its_place() {
    for (test, text, expected_line, word) in [
        ("syntax", "{\"x\": [1,\n 2,,]}", 2, "expected value"),
        ("missing", "{\"objective\": 1}\n", 1, "missing field `x`"),
        ("null", "{\n\"x\": [1, null]}", 2, "null"),
        ("cut", "{\"x\": [1, 2", 1, "EOF"),
        ("empty", "", 1, "EOF"),
        ("huge", "{\"x\": [1e999]}", 1, "out of range"),
    ] {
        let error = read_solution(file(&format!("solution-{test}"), "s.json", text), &Control::unlimited())
            .expect_err(test);
        let message = error.to_string();
        assert!(
            matches!(error, Error::Json { line, .. } if line.max(1) == expected_line),
            "{test}: {message}"
        );
        assert!(message.contains(word) && message.contains("s.json"), "{test}: {message}");
        assert_good_words(&error);
    }
    assert!(matches!(
        read_solution("no/such.json", &Control::unlimited()),
        Err(Error::Io { action: "read", .. })
    ));
}

#[test]
fn an_iterate_that_json_lacks_is_refused_by_field() {
    let mut bad = solution();
    bad.x[2] = f64::NEG_INFINITY;
    let error = bad.to_json().expect_err("not finite");
    assert!(matches!(&error, Error::NonFinite { field, .. } if field == "x[2]"), "{error}");
}

#[test]
fn claims_that_json_lacks_cost_no_iterate() {
    let mut open = solution();
    let certificate = &mut open.certificate;
    (certificate.objective, certificate.kkt_residual) = (f64::INFINITY, f64::INFINITY);
    (certificate.duality_gap, certificate.lower_bound) = (Some(f64::INFINITY), Some(f64::NEG_INFINITY));
    certificate.multipliers[0] = f64::NAN;
    let path = scratch("open-claims").join("s.json");
    write_solution(&path, &open).expect("the iterate is finite");
    let stored = read_solution(&path, &Control::unlimited()).expect("reads back");
    assert_eq!(stored.x, open.x);
    assert_eq!((stored.objective, stored.kkt_residual, stored.duality_gap), (None, None, None));
    let multipliers = stored.multipliers.expect("a list");
    assert!(multipliers[0].is_nan() && multipliers[1..] == open.certificate.multipliers[1..]);
    assert_eq!((stored.infeasibility, stored.seed), (Some(open.certificate.infeasibility), Some(open.seed)));
}

#[test]
fn histories_have_a_header_and_empty_gaps() {
    let row = |update, duality_gap, predicted_bound| HistoryRow {
        update,
        epoch: 0.5,
        seconds: 1e-7,
        objective: -1.25,
        infeasibility: 0.0,
        kkt_residual: 1e22,
        duality_gap,
        predicted_bound,
    };
    let path = scratch("history").join("h.csv");
    write_history(&path, &[row(1, None, None), row(2, Some(0.125), Some(0.5))]).expect("written");
    let expected = "update,epoch,seconds,objective,infeasibility,kkt_residual,duality_gap,predicted_bound\n\
                    1,0.5,1e-7,-1.25,0.0,1e22,,\n\
                    2,0.5,1e-7,-1.25,0.0,1e22,0.125,0.5\n";
    assert_eq!(fs::read_to_string(&path).expect("there"), expected);
    // A new one takes its place with the first row, and grows by whole rows.
    let mut writer = HistoryWriter::create(&path).expect("writable");
    writer.write(&row(7, None, None));
    assert_eq!(fs::read_to_string(&path).expect("there"), expected);
    for rows in 1..3 {
        writer.flush().expect("written");
        let text = fs::read_to_string(&path).expect("there");
        assert!(text.starts_with("update,") && text.ends_with(",,\n") && text.lines().count() == 1 + rows);
        writer.write(&row(8, None, None));
    }
}

#[test]
fn unwritable_places_are_named() {
    let error = HistoryWriter::create("no/such/folder/h.csv").expect_err("no folder");
    assert!(matches!(error, Error::Io { action: "write", .. }), "{error}");
    assert!(error.to_string().starts_with("cannot write no/such/folder/h.csv: "));
    assert!(write_solution("no/such/folder/s.json", &solution()).is_err());
}
