//! `equipoise constrained`: results and their check, files, what is refused.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::{Finished, equipoise, numbers, scratch, text, write};

/// Three donors, a target that is the mean of the first two.
const UNITS: &str = "a,b,c,y\n1,2,0,1.5\n2,1,1,1.5\n3,2,0,2.5\n4,1,3,2.5\n";

fn fit(test: &str, options: &[&str]) -> Finished {
    let path = write(&scratch(test), "units.csv", UNITS);
    equipoise(&[&["constrained", "fit", &path], options].concat())
}

fn is_near(found: &Value, expected: f64) -> bool {
    found.as_f64().is_some_and(|found| (found - expected).abs() < 1e-9)
}

#[test]
fn a_result_has_its_fields_and_verifies() {
    let folder = scratch("constrained_fields");
    let (data, out) = (write(&folder, "units.csv", UNITS), text(&folder.join("fit.json")));
    let (plot, history) = (text(&folder.join("fit.svg")), text(&folder.join("history.csv")));
    let problem = ["--target", "y", "--simplex"];
    let files = ["--json", "--out", &out, "--plot", &plot, "--history", &history];
    let found = equipoise(&[&["constrained", "fit", &data][..], &problem, &files].concat()).expect(0);
    let json = found.json();
    assert_eq!(json["status"], "converged");
    assert_eq!(json["names"], serde_json::json!(["a", "b", "c"]));
    assert!(is_near(&json["x"][0], 0.5) && is_near(&json["x"][1], 0.5) && json["x"][2] == 0.0, "{json}");
    assert_eq!(json["multipliers"].as_array().map(Vec::len), Some(1));
    let (objective, bound) = (json["objective"].as_f64(), json["bound"].as_f64());
    assert!(bound <= objective && json["relative_gap"].as_f64() <= Some(1e-6), "{json}");
    assert!(json["seconds_load"].is_f64() && json["seconds_solve"].is_f64());
    assert_eq!(fs::read_to_string(&out).expect("written"), found.stdout);
    assert!(
        fs::read_to_string(&history)
            .expect("written")
            .starts_with("round,columns,seconds,objective,bound,relative_gap\n1,3,")
    );
    assert!(fs::read_to_string(&plot).expect("drawn").contains("Weights for y"));
    let verify = |file: &str| {
        equipoise(&[&["constrained", "verify", file, &data][..], &problem, &["--json"]].concat())
    };
    assert_eq!(verify(&out).expect(0).json()["met"], true);
    let worse = write(&folder, "worse.json", "{\"x\": [0.25, 0.25, 0.5]}");
    assert_eq!(verify(&worse).expect(1).json()["met"], false);
    let outside = write(&folder, "outside.json", "{\"x\": [1.5, -0.5, 0]}");
    verify(&outside).expect(2).complains(&["weight 2: found -0.5, expected a number within its bounds"]);
    let warm = equipoise(
        &[&["constrained", "fit", &data][..], &problem, &["--json", "--warm-start", &worse]].concat(),
    );
    assert!(is_near(&warm.expect(0).json()["x"][0], 0.5));
}

#[test]
fn bounds_sums_rows_and_weights_are_read() {
    let found = fit("constrained_box", &["--target", "y", "--lower", "0", "--upper", "0.4", "--json"])
        .expect(0)
        .json();
    assert!(numbers(&found["x"]).iter().all(|w| (0.0..=0.4).contains(w)), "{found}");
    let found = fit("constrained_sum", &["--target", "y", "--sum", "2", "--json"]).expect(0).json();
    assert!((numbers(&found["x"]).iter().sum::<f64>() - 2.0).abs() < 1e-12, "{found}");
    let rows = write(&scratch("constrained_rows_file"), "rows.csv", "c,a,rhs\n1,1,0.75\n");
    let found = fit("constrained_rows", &["--target", "y", "--equality", &rows, "--json"]).expect(0).json();
    let x = numbers(&found["x"]);
    assert!((x[0] + x[2] - 0.75).abs() < 1e-9, "{found}");
    let plain = write(&scratch("constrained_plain_file"), "rows.csv", "1,1,1,1\n");
    let found = fit(
        "constrained_plain",
        &["--target", "y", "--equality", &plain, "--lower", "0", "--gap", "1e-12", "--json"],
    )
    .expect(0)
    .json();
    assert!((numbers(&found["x"])[0] - 0.5).abs() < 1e-5, "{found}");
    let weights = write(&scratch("constrained_weights_file"), "weights.csv", "1\n1\n0\n0\n");
    let found = fit(
        "constrained_weights",
        &["--target", "y", "--simplex", "--weights", &weights, "--gap", "1e-10", "--json"],
    )
    .expect(0);
    assert!(found.json()["objective"].as_f64() <= Some(1e-9));
    let found = fit("constrained_words", &["--target", "y", "--simplex", "--ridge", "0.5"]).expect(0);
    assert!(
        found.stdout.starts_with("converged\n  objective") && found.stdout.contains("3 of 3 are not 0"),
        "{}",
        found.stdout
    );
}

#[test]
fn many_targets_are_a_list() {
    let folder = scratch("constrained_many");
    let data = write(&folder, "x.csv", "1,2,0\n2,1,1\n3,2,0\n4,1,3\n");
    let targets = write(&folder, "y.csv", "1.5,1,0\n1.5,2,1\n2.5,3,0\n2.5,4,3\n");
    let problem = ["--simplex", "--json", "--threads", "2"];
    let found =
        equipoise(&[&["constrained", "fit", &data, "--target", &targets][..], &problem].concat()).expect(0);
    let json = found.json();
    assert_eq!(
        (json["points"].as_array().map(Vec::len), json["x"].as_array().map(Vec::len)),
        (Some(3), Some(3))
    );
    assert!(is_near(&json["x"][1][0], 1.0) && is_near(&json["points"][2]["x"][2], 1.0), "{json}");
    let out = write(&folder, "many.json", &found.stdout);
    let again = ["constrained", "verify", &out, &data, "--targets", &targets, "--simplex"];
    assert!(equipoise(&again).expect(0).stdout.starts_with("met\n  targets        3\n"));
}

#[test]
fn a_history_of_many_targets_names_them() {
    let folder = scratch("constrained_many_history");
    let data = write(&folder, "x.csv", "1,2,0\n2,1,1\n3,2,0\n4,1,3\n");
    let targets = write(&folder, "y.csv", "\"west, old\",east\n1.5,1\n1.5,2\n2.5,3\n2.5,5\n");
    let rows = write(&folder, "rows.csv", "1,1,1,1\n");
    let history = text(&folder.join("history.csv"));
    // What all share one Gram matrix for, and what goes through the solver, one by one.
    for region in [&["--simplex"][..], &["--equality", &rows, "--lower", "0"]] {
        let problem = ["--targets", &targets, "--json", "--history", &history];
        let json =
            equipoise(&[&["constrained", "fit", &data][..], &problem, region].concat()).expect(0).json();
        let all = fs::read_to_string(&history).expect("written");
        let mut lines = all.lines();
        assert_eq!(lines.next(), Some("target,round,columns,seconds,objective,bound,relative_gap"));
        let lines: Vec<&str> = lines.collect();
        for (k, name) in ["\"west, old\",", "east,"].into_iter().enumerate() {
            let own: Vec<&str> = lines.iter().filter_map(|line| line.strip_prefix(name)).collect();
            let last: Vec<f64> =
                own.last().expect("a row").split(',').map(|cell| cell.parse().unwrap_or(f64::NAN)).collect();
            let point = &json["points"][k];
            assert!(is_near(&point["objective"], last[3]), "{region:?} {point} {own:?}");
            assert!(last[4] <= last[3] + 1e-9 && last[5] <= 1e-6, "{own:?}");
        }
        assert_eq!(lines.iter().filter(|line| line.starts_with(['"', 'e'])).count(), lines.len());
    }
}

#[test]
fn what_cannot_be_is_refused_and_nothing_is_written() {
    for (name, options, words) in [
        ("target", &["--target", "yy", "--simplex"][..], &["no column `yy`", "did you mean `y`?"][..]),
        (
            "crossed",
            &["--target", "y", "--lower", "1", "--upper", "0"],
            &["column 1: its lower bound 1 is above its upper bound 0"],
        ),
        ("reach", &["--target", "y", "--simplex", "--upper", "0.2"], &["sum to 1", "0 at least and 0.6"]),
        (
            "ridge",
            &["--target", "y", "--simplex", "--ridge", "-1"],
            &["ridge: found -1, expected a finite number of at least 0"],
        ),
        ("gap", &["--target", "y", "--simplex", "--gap", "0"], &["gap: found 0"]),
        ("limit", &["--target", "y", "--simplex", "--time-limit", "-1"], &["--time-limit: found -1"]),
    ] {
        let out = text(&scratch(&format!("constrained_refused_{name}_out")).join("fit.json"));
        let options = [options, &["--out", &out]].concat();
        fit(&format!("constrained_refused_{name}"), &options).expect(2).complains(words);
        assert!(!Path::new(&out).exists(), "{name}");
    }
    let folder = scratch("constrained_rows_refused");
    let run = |name: &str, content: &str, option: &str| {
        let data = write(&folder, "units.csv", UNITS);
        let file = write(&folder, name, content);
        equipoise(&["constrained", "fit", &data, "--target", "y", option, &file]).expect(2)
    };
    run("many.csv", "1,0,0,1\n0,1,0,1\n0,0,1,1\n1,1,1,3\n", "--equality")
        .complains(&["4 equality rows for 3 columns", "no more rows than columns"]);
    run("contrary.csv", "1,1,1,1\n2,2,2,3\n", "--equality").complains(&["row"]);
    run("name.csv", "a,d,rhs\n1,1,1\n", "--equality").complains(&["no column `d` in the data"]);
    run("short.csv", "1,1,1\n", "--equality").complains(&["found 3 numbers a row, expected 4"]);
    run("bounds.csv", "0\n0\n", "--lower")
        .complains(&["--lower", "found 2 numbers, expected 3, one a column"]);
    let bad = |content: &str| {
        let data = write(&folder, "bad.csv", content);
        equipoise(&["constrained", "fit", &data, "--target", "y", "--simplex"]).expect(2)
    };
    bad("a,b,y\n1,2,3\n4,,6\n").complains(&["row 2, column `b`: missing value"]);
    bad("a,b,y\n1,2,3\n4,five,6\n")
        .complains(&["row 2, column `b`: found \"five\", expected a finite number"]);
    let data = write(&folder, "units.csv", UNITS);
    equipoise(&["constrained", "fit", &data, "--target", "y", "--simplex", "--out", &data])
        .expect(2)
        .complains(&["it is the input"]);
}

#[test]
fn a_better_result_stays() {
    let folder = scratch("constrained_stays");
    let data = write(&folder, "units.csv", UNITS);
    let kept = "{\"status\":\"converged\",\"relative_gap\":1e-9,\"x\":[0.5,0.5,0]}\n";
    let out = write(&folder, "fit.json", kept);
    // Equality rows so far from the box that only a limit ends it would be slow; a limit of a moment ends any.
    let ended = equipoise(&[
        "constrained",
        "fit",
        &data,
        "--target",
        "y",
        "--simplex",
        "--out",
        &out,
        "--time-limit",
        "1e-9",
    ]);
    assert!(matches!(ended.status, Some(1 | 2)), "{ended:?}");
    assert_eq!(fs::read_to_string(&out).expect("still there"), kept);
}

mod public_data {
    use super::*;

    fn public(file: &str) -> String {
        let folder = std::env::var_os("EQUIPOISE_DATA");
        let folder = folder.expect("EQUIPOISE_DATA is not set: it names the folder of the public data sets");
        fs::read_to_string(Path::new(&folder).join(file)).expect("a data set")
    }

    /// LIBSVM text as a table, the label first.
    fn table(file: &str, columns: usize) -> String {
        let text = public(file);
        let head: Vec<String> = (1..=columns).map(|k| format!("f{k}")).collect();
        let mut out = format!("y,{}\n", head.join(","));
        for line in text.lines() {
            let mut words = line.split_whitespace();
            let label = words.next().expect("a label");
            let mut row = vec!["0".to_owned(); columns];
            for word in words {
                let (place, value) = word.split_once(':').expect("a feature");
                row[place.parse::<usize>().expect("a number") - 1] = value.into();
            }
            out += label;
            out += ",";
            out += &row.join(",");
            out += "\n";
        }
        out
    }

    #[test]
    #[ignore = "needs EQUIPOISE_DATA, the public data sets"]
    fn housing_and_cpusmall_are_fitted_and_verified() {
        for (file, columns) in [("regression/housing", 13), ("regression/cpusmall", 12)] {
            let folder = scratch(&format!("constrained_{columns}"));
            let (data, out) =
                (write(&folder, "data.csv", &table(file, columns)), text(&folder.join("fit.json")));
            for problem in [&["--simplex"][..], &["--lower", "0"], &["--lower", "0", "--upper", "0.1"]] {
                let words =
                    [&["constrained", "fit", &data, "--target", "y", "--out", &out, "--json"], problem]
                        .concat();
                assert_eq!(equipoise(&words).expect(0).json()["status"], "converged");
                let words = [&["constrained", "verify", &out, &data, "--target", "y"], problem].concat();
                equipoise(&words).expect(0);
            }
        }
    }
}

#[test]
fn numbers_whose_squares_overflow_are_said_to() {
    let folder = scratch("constrained_overflow");
    let rows: Vec<String> =
        (0..9).map(|k| format!("{}e300,{}e300,{}e300", k % 4 + 1, k % 3 - 1, k % 5 - 2)).collect();
    let data = write(&folder, "data.csv", &format!("a,b,y\n{}\n", rows.join("\n")));
    let ran = equipoise(&["constrained", "fit", &data, "--target", "y", "--simplex", "--json"])
        .expect(1)
        .complains(&["relative gap not known", "beyond the largest of double precision", "divide the data"]);
    assert!(ran.json()["relative_gap"].is_null(), "{}", ran.stdout);
    let ran = equipoise(&["constrained", "fit", &data, "--target", "y", "--simplex"]).expect(1);
    assert!(ran.stdout.contains("relative gap   not known"), "{}", ran.stdout);
}
