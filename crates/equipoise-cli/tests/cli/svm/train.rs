//! Results, JSON, limits, seeds, weights, histories.

use std::fs;
use std::io::Write;
use std::process::Stdio;

use serde_json::Value;

use super::{LINE, corners, number, overlapping, sloped, svm};
use crate::{Finished, command, numbers, scratch, text, write};

/// The fields of the contract, in its order.
const FIELDS: [&str; 14] = [
    "status",
    "primal",
    "dual",
    "relative_gap",
    "bias",
    "infeasibility",
    "support",
    "bounded_support",
    "updates",
    "epochs",
    "seconds_load",
    "seconds_solve",
    "peak_memory",
    "threads",
];

#[test]
fn four_points_on_a_line_have_the_model_that_paper_gives() {
    let folder = scratch("svm-line");
    let (data, model) = (write(&folder, "line", LINE), text(&folder.join("m.json")));
    let ran = svm(&["train", &data, "--gap", "1e-9", "--model", &model, "--json"]).expect(0);
    let json = ran.json();
    assert_eq!((json["status"].as_str(), ran.stderr.as_str()), (Some("converged"), ""));
    assert!((number(&json, "primal") - 0.5).abs() < 1e-6 && (number(&json, "dual") - 0.5).abs() < 1e-6);
    assert!(number(&json, "relative_gap") <= 1e-9 && number(&json, "bias").abs() < 1e-6);
    assert_eq!((json["support"].as_u64(), json["bounded_support"].as_u64()), (Some(2), Some(0)));
    let stored: Value = serde_json::from_str(&fs::read_to_string(&model).expect("written")).expect("JSON");
    assert_eq!((&stored["format"], &stored["version"]), (&"equipoise-svm".into(), &1.into()));
    assert_eq!((&stored["kind"], numbers(&stored["labels"])), (&"svc".into(), vec![-1.0, 1.0]));
    assert!((numbers(&stored["weights"][0])[0] - 1.0).abs() < 1e-6, "{stored}");
    assert_eq!(numbers(&stored["bias"])[0], number(&json, "bias"));
    let seen = svm(&["predict", &data, "--model", &model, "--json"]).expect(0).json();
    assert_eq!((number(&seen, "accuracy"), seen["rows"].as_u64()), (1.0, Some(4)));
}

#[test]
fn json_holds_the_fields_of_the_contract_in_order() {
    let data = overlapping(&scratch("svm-json"), "data", 60);
    let ran = svm(&["train", &data, "--json"]).expect(0);
    let places: Vec<_> = FIELDS.iter().map(|field| ran.stdout.find(&format!("\"{field}\":"))).collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{places:?} {}", ran.stdout);
    let json = ran.json();
    assert!(number(&json, "relative_gap") <= 1e-4);
    let gap = (number(&json, "primal") - number(&json, "dual")) / number(&json, "dual");
    assert!((gap - number(&json, "relative_gap")).abs() < 1e-12);
    assert_eq!((json["rows"].as_u64(), json["columns"].as_u64()), (Some(60), Some(3)));
    assert!(json.get("classes").is_none());
    if cfg!(target_os = "linux") {
        assert!(number(&json, "peak_memory") > 1e5, "{json}");
    }
}

#[test]
fn several_labels_give_one_model_each() {
    let folder = scratch("svm-corners");
    let (data, model) = (corners(&folder, "data"), text(&folder.join("m.json")));
    let json = svm(&["train", &data, "--json", "--model", &model]).expect(0).json();
    assert!(json["bias"].is_null());
    let classes = json["classes"].as_array().expect("a list");
    let labels: Vec<f64> = classes.iter().map(|class| number(class, "label")).collect();
    assert_eq!(labels, [1.0, 4.0, 7.0]);
    for (total, worst) in [("primal", false), ("dual", false), ("relative_gap", true)] {
        let each = classes.iter().map(|class| number(class, total));
        let expected = if worst { each.fold(0.0, f64::max) } else { each.sum() };
        assert!((number(&json, total) - expected).abs() <= 1e-12 * expected, "{total}");
    }
    assert!(classes.iter().all(|class| class["bias"].is_number()));
    let seen = svm(&["predict", &data, "--model", &model, "--json"]).expect(0).json();
    assert!((number(&seen, "accuracy") - 0.9).abs() < 0.05, "{seen}");
    let apart = svm(&["train", &data, "--json", "--threads", "2"]).expect(0).json();
    assert_eq!(apart["classes"], json["classes"], "threads change nothing");
}

#[test]
fn a_regression_follows_its_line() {
    let folder = scratch("svm-sloped");
    let (data, model) = (sloped(&folder, "data"), text(&folder.join("m.json")));
    let out = text(&folder.join("predictions"));
    let options = ["--kind", "svr", "--cost", "10", "--epsilon", "0.1", "--gap", "1e-6", "--model", &model];
    let json = svm(&[&["train", &data, "--json"], &options[..]].concat()).expect(0).json();
    assert!((number(&json, "bias") + 1.0).abs() < 0.2, "{json}");
    assert_eq!(json["labels"], Value::Array(Vec::new()));
    let seen = svm(&["predict", &data, "--model", &model, "--json", "--out", &out]).expect(0).json();
    assert!(number(&seen, "mse") < 0.02 && seen.get("accuracy").is_none(), "{seen}");
    let written = fs::read_to_string(&out).expect("written");
    let predictions: Vec<f64> = written.lines().map(|line| line.parse().expect("a number")).collect();
    assert_eq!(predictions.len(), 60);
    let error = |(i, found): (u32, &f64)| {
        let a = f64::from(i) / 20.0;
        (found - (3.0 * a - 1.0 + f64::from(i * 13 % 7) / 35.0 - 0.1)).powi(2)
    };
    let mse = (0..).zip(&predictions).map(error).sum::<f64>() / 60.0;
    assert!((mse - number(&seen, "mse")).abs() < 1e-12);
}

#[test]
fn the_kinds_with_nu() {
    let folder = scratch("svm-nu");
    let (data, model) = (overlapping(&folder, "data", 100), text(&folder.join("nu-svc.json")));
    let options = ["--kind", "nu-svc", "--nu", "0.7", "--json", "--model", &model];
    let json = svm(&[&["train", &data], &options[..]].concat()).expect(0).json();
    assert!(json["cost"].is_null() && number(&json, "relative_gap") <= 1e-4, "{json}");
    let seen = svm(&["predict", &data, "--model", &model, "--json"]).expect(0).json();
    assert!(number(&seen, "accuracy") > 0.8, "{seen}");
    // Far from the origin, so that there is a support to find.
    let (data, model) = (corners(&folder, "three"), text(&folder.join("one-class.json")));
    let options = ["--kind", "one-class", "--nu", "0.2", "--json", "--model", &model];
    svm(&[&["train", &data], &options[..]].concat()).expect(0);
    let out = text(&folder.join("out"));
    svm(&["predict", &data, "--model", &model, "--quiet", "--out", &out]).expect(0);
    let written = fs::read_to_string(&out).expect("written");
    let outside = written.lines().filter(|line| *line == "-1").count();
    assert!(written.lines().all(|line| line == "1" || line == "-1"));
    assert!((1..=18).contains(&outside), "at most nu n = 18 outside: {outside}");
}

#[test]
fn a_report_for_people_says_what_to_type_next() {
    let folder = scratch("svm-words");
    let (data, model) = (overlapping(&folder, "data", 60), text(&folder.join("m.json")));
    let ran = svm(&["train", &data, "--model", &model]).expect(0);
    for words in [
        "converged",
        "60 rows x 3 columns",
        "-1 (",
        "objective",
        "relative gap",
        "bias",
        "support",
        "s to load",
        "s to solve",
        &format!("next: equipoise svm predict DATA --model {model}"),
    ] {
        assert!(ran.stdout.contains(words), "{words}: {}", ran.stdout);
    }
    assert_eq!(ran.stderr, "");
    let seen = svm(&["predict", &data, "--model", &model]).expect(0);
    assert!(seen.stdout.starts_with("accuracy ") && seen.stdout.contains(" of 60 rows)"), "{}", seen.stdout);
    let quiet = svm(&["train", &data, "--model", &model, "--quiet"]).expect(0);
    assert_eq!((quiet.stdout.as_str(), quiet.stderr.as_str()), ("", ""));
}

#[test]
fn limits_bind_and_are_told_even_when_quiet() {
    let folder = scratch("svm-limits");
    let (data, model) = (overlapping(&folder, "data", 200), text(&folder.join("m.json")));
    let options = ["train", &data, "--cost", "100", "--gap", "1e-15", "--quiet", "--json"];
    let early = svm(&[&options[..], &["--time-limit", "1e-9", "--model", &model]].concat()).expect(2);
    assert!(!fs::exists(&model).expect("a folder"), "a model of nothing is not written");
    early.complains(&["time limit reached while", "nothing was written"]);
    let ran = svm(&[&options[..], &["--max-epochs", "1", "--model", &model]].concat()).expect(1);
    assert_eq!(ran.json()["status"], "iteration-limit");
    assert!(fs::exists(&model).expect("a folder"), "the model so far is written");
    ran.complains(&["not converged: ", "iteration-limit", "relative gap"]);
}

#[test]
fn weights_count_rows_and_classes() {
    let folder = scratch("svm-weights");
    let once = "-1 1:-2\n-1 1:0.5\n1 1:1\n1 1:-0.3\n";
    let data = write(&folder, "once", once);
    let twice = write(&folder, "twice", &format!("{once}1 1:1\n1 1:-0.3\n"));
    let weights = write(&folder, "weights", "1\n1\n\n2\n2\n");
    let trained =
        |args: &[&str]| svm(&[&["train", "--json", "--gap", "1e-9"], args].concat()).expect(0).json();
    let expected = number(&trained(&[&twice]), "primal");
    for found in [trained(&[&data, "--weights", &weights]), trained(&[&data, "--class-weight", "1=2"])] {
        assert!((number(&found, "primal") / expected - 1.0).abs() < 1e-8, "{found}");
    }
    let both = trained(&[&data, "--class-weight", "-1=1,1=2"]);
    assert!((number(&both, "primal") / expected - 1.0).abs() < 1e-8, "{both}");
}

#[test]
fn standard_input_is_read() {
    let mut child = command(&["svm", "train", "-", "--json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    child.stdin.take().expect("piped").write_all(LINE.as_bytes()).expect("it reads");
    let ran = Finished::from(child.wait_with_output().expect("the run ends")).expect(0);
    assert_eq!(ran.json()["rows"], 4);
}

#[test]
fn a_history_has_a_row_a_checkpoint() {
    let folder = scratch("svm-history");
    let (data, history) = (overlapping(&folder, "data", 100), folder.join("run.csv"));
    svm(&["train", &data, "--quiet", "--history", &text(&history)]).expect(0);
    let rows = fs::read_to_string(&history).expect("a history");
    let header = "update,epoch,seconds,label,primal,dual,gap,relative_gap,infeasibility";
    assert!(rows.starts_with(&format!("{header}\n0,")), "{rows}");
    for row in rows.lines().skip(1) {
        let fields: Vec<f64> = row.split(',').map(|field| field.parse().expect("a number")).collect();
        let (label, primal, dual, gap) = (fields[3], fields[4], fields[5], fields[6]);
        assert!(label == 1.0 && primal >= dual && (primal - dual - gap).abs() <= 1e-9 * primal, "{row}");
    }
}

#[test]
fn a_history_of_several_labels_names_them() {
    let folder = scratch("svm-history-labels");
    let (data, history) = (corners(&folder, "data"), folder.join("run.csv"));
    for threads in ["1", "3"] {
        svm(&["train", &data, "--quiet", "--threads", threads, "--history", &text(&history)]).expect(0);
        let rows = fs::read_to_string(&history).expect("a history");
        let mut labels: Vec<&str> = rows.lines().skip(1).filter_map(|row| row.split(',').nth(3)).collect();
        labels.sort_unstable();
        labels.dedup();
        assert_eq!(labels, ["1", "4", "7"], "{rows}");
    }
}

#[test]
fn one_seed_one_result() {
    let data = overlapping(&scratch("svm-seed"), "data", 100);
    let run = |seed: &str| {
        let json = svm(&["train", &data, "--json", "--method", "pairs", "--seed", seed]).expect(0).json();
        (json["primal"].to_string(), json["updates"].to_string())
    };
    assert_eq!(run("3"), run("3"));
}

#[test]
fn notes_of_the_reader_are_passed_on_unless_quiet() {
    let folder = scratch("svm-notes");
    let data = write(&folder, "data", "1 1:1000000 2:1\n-1 1:-1000000 2:2\n");
    svm(&["train", &data, "--max-epochs", "1000"]).complains(&["note: feature 1 reaches 1e6"]);
    let quiet = svm(&["train", &data, "--max-epochs", "1000", "--quiet"]);
    assert!(!quiet.stderr.contains("note: "), "{}", quiet.stderr);
    let targets: String = (0..40).flat_map(|i| [i.to_string(), ".5 1:1\n".into()]).collect();
    let targets = write(&folder, "targets", &targets);
    svm(&["train", &targets, "--max-epochs", "1"])
        .complains(&["note: found 40 different labels", "--kind svr"]);
}
