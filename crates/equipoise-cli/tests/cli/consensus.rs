//! `equipoise consensus`: results and their check, what is refused.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::{Finished, equipoise, fed, gzip, numbers, scratch, text, write};

/// Four shards of a small classification, as tables.
fn shards(folder: &Path) -> Vec<String> {
    let rows = [
        "a,b,y\n1,2,1\n0.5,-1,0\n2,1,1\n-1,0.25,0\n",
        "a,b,y\n1.5,0,1\n-0.5,-1,0\n0.25,1,1\n",
        "a,b,y\n-1,-2,0\n-0.5,1,1\n1,-0.5,0\n1,1,1\n",
        "a,b,y\n0.75,0.5,1\n-2,-1,0\n0.5,0.5,0\n",
    ];
    rows.iter().enumerate().map(|(k, rows)| write(folder, &format!("{k}.csv"), rows)).collect()
}

fn run(shards: &[String], options: &[&str]) -> Finished {
    let files: Vec<&str> = shards.iter().map(String::as_str).collect();
    equipoise(&[&["consensus"][..], &files, options].concat())
}

#[test]
fn a_result_has_its_fields_and_verifies() {
    let folder = scratch("consensus_fields");
    let files = shards(&folder);
    let (out, plot, history) =
        (text(&folder.join("fit.json")), text(&folder.join("fit.svg")), text(&folder.join("history.csv")));
    let problem = ["--loss", "logistic", "--ridge", "0.5", "--gap", "1e-8"];
    let to = ["--graph", "ring", "--json", "--out", &out, "--plot", &plot, "--history", &history];
    let found = run(&files, &[&problem[..], &to].concat()).expect(0);
    let json = found.json();
    assert_eq!((&json["status"], &json["method"]), (&"converged".into(), &"tree".into()));
    assert_eq!(json["names"], serde_json::json!(["a", "b"]));
    assert_eq!((json["nodes"].as_u64(), json["edges"].as_u64()), (Some(4), Some(4)));
    assert_eq!(json["sum_of_multipliers"], 0);
    assert!(
        json["bound"].as_f64() <= json["objective"].as_f64() && json["relative_gap"].as_f64() <= Some(1e-8)
    );
    assert!(json["seconds_load"].is_f64() && json["seconds_solve"].is_f64() && json["disagreement"].is_f64());
    let sum = |field: &str| -> u64 {
        let edges = json["per_edge"].as_array().expect("a list");
        edges.iter().map(|edge| edge[field].as_u64().expect("a count")).sum()
    };
    assert_eq!(json["messages"].as_u64(), Some(sum("messages")));
    assert_eq!(json["bytes"].as_u64(), Some(sum("bytes")));
    assert_eq!(fs::read_to_string(&out).expect("written"), found.stdout);
    let lines = fs::read_to_string(&history).expect("written");
    assert!(
        lines.starts_with("messages,bytes,seconds,objective,bound,relative_gap,disagreement\n"),
        "{lines}"
    );
    assert!(fs::read_to_string(&plot).expect("drawn").contains("Disagreement"));
    // The same problem by pairs, in turn and in threads, and with the word `fit`.
    for options in [&["--method", "pairs"][..], &["--asynchronous"], &["--method", "pairs", "--greedy"]] {
        let other = run(&files, &[&problem[..], options, &["--json"]].concat()).expect(0).json();
        assert_eq!(other["method"], "pairs");
        let near = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-3;
        assert!(numbers(&other["x"]).iter().zip(&numbers(&json["x"])).all(near), "{other}");
    }
    let words: Vec<&str> = files.iter().map(String::as_str).collect();
    equipoise(&[&["consensus", "fit"][..], &words, &problem, &["--start", &out]].concat()).expect(0);
    let verify =
        |file: &str| equipoise(&[&["consensus", "verify", file][..], &words, &problem, &["--json"]].concat());
    assert_eq!(verify(&out).expect(0).json()["met"], true);
    let worse = write(&folder, "worse.json", "{\"x\": [0.25, 0.25]}");
    assert_eq!(verify(&worse).expect(1).json()["met"], false);
    let short = write(&folder, "short.json", "{\"x\": [0.25]}");
    verify(&short).expect(2).complains(&["found 1 numbers in x, expected 2"]);
}

#[test]
fn one_file_is_dealt_to_nodes_and_libsvm_text_is_widened() {
    let folder = scratch("consensus_deal");
    let one = write(&folder, "one", "+1 1:1 2:0.5\n-1 1:-1\n+1 2:2\n-1 1:-0.5 2:-1\n");
    let other = write(&folder, "other", "+1 3:1\n-1 1:0.25 3:-2\n");
    let files = [one.clone(), other];
    let json = run(&files, &["--loss", "hinge", "--bias", "--gap", "1e-5", "--json"]).expect(0).json();
    assert_eq!((json["columns"].as_u64(), json["x"].as_array().map(Vec::len)), (Some(4), Some(4)));
    assert_eq!(json["names"], Value::Null);
    let json = run(&files[..1], &["--shards", "4", "--loss", "ridge", "--json"]).expect(0).json();
    assert_eq!((json["nodes"].as_u64(), json["rows"].as_u64()), (Some(4), Some(4)));
    run(&files[..1], &["--shards", "5", "--loss", "ridge"]).expect(2).complains(&["5 shards of 4 rows"]);
    run(&files, &["--shards", "2", "--loss", "ridge"]).expect(2).complains(&["found 2 files, expected one"]);
}

#[test]
fn bad_input_is_refused_in_words() {
    let folder = scratch("consensus_refused");
    let mut files = shards(&folder);
    let logistic = ["--loss", "logistic"];
    let parts = write(&folder, "parts.csv", "0,1\n2,3\n");
    run(&files, &[&logistic[..], &["--edges", &parts]].concat())
        .expect(2)
        .complains(&["no path joins node 0 to node 2"]);
    let far = write(&folder, "far.csv", "0,1\n2,9\n");
    run(&files, &[&logistic[..], &["--edges", &far]].concat())
        .expect(2)
        .complains(&["row 2: found 9, expected a node from 0 to 3"]);
    run(&files, &[&logistic[..], &["--graph", "torus"]].concat()).expect(2).complains(&["unknown topology"]);
    run(&files, &[&logistic[..], &["--asynchronous", "--method", "tree"]].concat())
        .expect(2)
        .complains(&["transfers along a tree wait for each other"]);
    run(&files, &["--loss", "lasso"]).expect(2).complains(&["--l1 is missing"]);
    run(&files, &[&logistic[..], &["--cost", "2"]].concat())
        .expect(2)
        .complains(&["--cost: not for loss logistic"]);
    run(&files, &["--loss", "lasso", "--l1", "1", "--method", "tree"])
        .expect(2)
        .complains(&["method tree is for ridge, logistic and hinge; found lasso"]);
    files.push(write(&folder, "wide.csv", "a,b,c,y\n1,2,3,1\n"));
    run(&files, &logistic).expect(2).complains(&["wide.csv: found 3 columns beside the target, expected 2"]);
    files.pop();
    files.push(write(&folder, "third.csv", "a,b,y\n1,2,7\n"));
    run(&files, &logistic).expect(2).complains(&["exactly two values over all shards; found 3: 0, 1, 7"]);
    files.pop();
    files.push(write(&folder, "none.csv", "a,b,y\n"));
    run(&files, &logistic).expect(2).complains(&["none.csv"]);
    files.pop();
    let out = files[1].clone();
    run(&files, &[&logistic[..], &["--out", &out]].concat()).expect(2).complains(&["it is the input"]);
    equipoise(&["consensus"]).expect(2).complains(&["SHARD"]);
    equipoise(&["consensus", &files[0]]).expect(2).complains(&["--loss"]);
}

#[test]
fn limits_end_a_run_with_what_it_has() {
    let folder = scratch("consensus_limits");
    let files = shards(&folder);
    let options = ["--loss", "hinge", "--gap", "1e-13", "--max-messages", "30", "--json"];
    let found = run(&files, &options).expect(1);
    assert_eq!(found.json()["status"], "iteration-limit");
    found.complains(&["not converged", "raise --max-messages"]);
    run(&files, &["--loss", "hinge", "--time-limit", "0"]).expect(2).complains(&["--time-limit: found 0"]);
}

#[test]
fn tables_may_be_packed_or_come_down_a_pipe() {
    let folder = scratch("consensus_packed");
    let files = shards(&folder);
    let options = ["--shards", "2", "--loss", "ridge", "--target", "y", "--json"];
    let x = |ran: Finished| numbers(&ran.expect(0).json()["x"]);
    let expected = x(run(&files[..1], &options));
    let packed = folder.join("0.csv.gz");
    fs::write(&packed, gzip(&fs::read(&files[0]).expect("a table"))).expect("writable");
    assert_eq!(x(run(&[text(&packed)], &options)), expected);
    let piped = [&["consensus", "-"][..], &options].concat();
    for file in [Path::new(&files[0]), packed.as_path()] {
        assert_eq!(x(fed(&piped, file)), expected);
    }
}
