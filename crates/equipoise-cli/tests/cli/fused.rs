//! `equipoise fused`: fits, paths, checks and plots, on data small enough to know the answer.

mod public_data;

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::{Finished, equipoise, numbers, scratch, text, write};

/// The chain of four whose optimum is known: (1, 3/2, 3/2, 4), objective 17/4.
const FOUR: &str = "level\n0\n2\n1\n5\n";

fn fused(args: &[&str]) -> Finished {
    equipoise(&[&["fused"], args].concat())
}

#[track_caller]
fn number(json: &Value, field: &str) -> f64 {
    json[field].as_f64().unwrap_or_else(|| panic!("no number {field} in {json}"))
}

/// Steps with noise, one number a line.
fn steps(folder: &Path, name: &str, n: u32) -> String {
    let value = |i: u32| {
        let level = [0.0, 3.0, 1.0][(3 * i / n).min(2) as usize];
        format!("{}\n", level + f64::from(i * 7919 % 101) / 101.0 - 0.5)
    };
    write(folder, name, &(0..n).map(value).collect::<String>())
}

#[test]
fn a_fit_says_what_the_contract_names() {
    let folder = scratch("fused-fit");
    let (data, out) = (write(&folder, "four.csv", FOUR), text(&folder.join("fit.json")));
    let json = fused(&["fit", &data, "--lambda", "1", "--json", "--out", &out]).expect(0).json();
    assert_eq!(json["status"], "converged");
    assert_eq!(numbers(&json["x"]), [1.0, 1.5, 1.5, 4.0]);
    assert_eq!((json["segments"].as_u64(), json["method"].as_str()), (Some(3), Some("chain")));
    assert!(number(&json, "objective") >= 4.25 && number(&json, "bound") <= 4.25);
    assert!(number(&json, "relative_gap") < 1e-12);
    assert_eq!((number(&json, "lambda"), number(&json, "lambda_max")), (1.0, 3.0));
    assert!(number(&json, "seconds_load") >= 0.0 && number(&json, "seconds_solve") >= 0.0);
    let written: Value =
        serde_json::from_str(&fs::read_to_string(&out).expect("it works")).expect("it works");
    assert_eq!(written, json);
    let checked = fused(&["verify", &out, &data, "--json"]).expect(0).json();
    assert_eq!(checked["met"], true);
    let told = fused(&["fit", &data, "--lambda", "1"]).expect(0);
    assert!(told.stdout.contains("segments") && told.stdout.contains("level"), "{}", told.stdout);
    let half = fused(&["fit", &data, "--lambda-ratio", "0.5", "--json"]).expect(0).json();
    assert_eq!(number(&half, "lambda"), 1.5);
}

#[test]
fn a_result_that_was_changed_is_found_out() {
    let folder = scratch("fused-verify");
    let (data, out) = (write(&folder, "four.csv", FOUR), text(&folder.join("fit.json")));
    fused(&["fit", &data, "--lambda", "1", "--out", &out, "--quiet"]).expect(0);
    let changed = fs::read_to_string(&out).expect("it works").replace("1.5", "1.625");
    fs::write(&out, changed).expect("it works");
    let checked = fused(&["verify", &out, &data, "--json"]).expect(1).json();
    assert_eq!(checked["met"], false);
    let short = write(&folder, "short.csv", "0\n2\n1\n");
    fused(&["verify", &out, &short]).expect(2).complains(&["found 4", "expected 3"]);
}

#[test]
fn every_penalty_is_fitted_and_checked() {
    let folder = scratch("fused-penalties");
    let data = steps(&folder, "y.csv", 24);
    let edges = (0..23).map(|k| format!("{k},{}\n", k + 1)).collect::<Vec<_>>().concat();
    let edges = write(&folder, "edges.csv", &format!("from,to\n{edges}"));
    let d = (1..24).map(|r| format!("{r} {r} -1\n{r} {} 1\n", r + 1)).collect::<Vec<_>>().concat();
    let d = write(&folder, "d.mtx", &format!("%%MatrixMarket matrix coordinate real general\n23 24 46\n{d}"));
    let x: String = (0..30)
        .map(|r| {
            (0..24).map(|c| format!("{}", (r * 7 + c * 5) % 11 - 5)).collect::<Vec<_>>().join(",") + "\n"
        })
        .collect();
    let x = write(&folder, "x.csv", &x);
    let many = steps(&folder, "many.csv", 30);
    let cases: Vec<(&str, Vec<&str>)> = vec![
        (&data, vec!["--penalty", "chain"]),
        (&data, vec!["--penalty", "chain", "--sparse", "0.2"]),
        (&data, vec!["--trend", "1"]),
        (&data, vec!["--penalty", "trend2"]),
        (&data, vec!["--penalty", "graph", "--edges", &edges]),
        (&data, vec!["--d", &d]),
        (&many, vec!["--design", &x]),
        (&many, vec!["--design", &x, "--penalty", "trend1"]),
    ];
    let mut objectives = Vec::new();
    for (k, (data, options)) in cases.into_iter().enumerate() {
        let out = text(&folder.join(format!("{k}.json")));
        let fit = [&["fit", data, "--lambda", "0.7", "--json", "--out", &out], options.as_slice()].concat();
        let json = fused(&fit).expect(0).json();
        objectives.push(number(&json, "objective"));
        fused(&[&["verify", &out, data], options.as_slice()].concat()).expect(0);
    }
    // The chain, as a graph and as a matrix.
    assert!(
        (objectives[4] / objectives[0] - 1.0).abs() < 2e-6
            && (objectives[5] / objectives[0] - 1.0).abs() < 2e-6
    );
}

#[test]
fn an_image_comes_back_as_rows_and_is_drawn_before_and_after() {
    let folder = scratch("fused-grid");
    let row = |r: usize| {
        let value = |c: usize| f64::from(u8::from(r > 3 && c > 4)) + ((r * 7 + c * 13) % 11) as f64 / 50.0;
        (0..9).map(|c| value(c).to_string()).collect::<Vec<_>>().join(",") + "\n"
    };
    let data = write(&folder, "image.csv", &(0..8).map(row).collect::<String>());
    let (out, plot) = (text(&folder.join("fit.json")), text(&folder.join("fit.svg")));
    let json = fused(&["fit", &data, "--grid", "--lambda", "0.1", "--json", "--out", &out, "--plot", &plot])
        .expect(0)
        .json();
    let rows = json["x"].as_array().expect("it works");
    assert!(rows.len() == 8 && rows.iter().all(|row| numbers(row).len() == 9));
    let drawn = fs::read_to_string(&plot).expect("it works");
    assert!(drawn.contains("data") && drawn.contains("lambda 0.1"), "{}", &drawn[..300]);
    fused(&["verify", &out, &data]).expect(0);
    let whole = fused(&["fit", &data, "--grid", "--lambda-ratio", "1.01", "--json"]).expect(0).json();
    assert_eq!(whole["segments"], 1);
}

#[test]
fn a_path_goes_down_from_one_piece_and_a_criterion_chooses() {
    let folder = scratch("fused-path");
    let data = steps(&folder, "y.csv", 120);
    let plot = text(&folder.join("path.svg"));
    let told = fused(&["path", &data, "--steps", "20"]).expect(0).stderr;
    let of_round = told.lines().next().unwrap_or_default();
    assert!(of_round.starts_with("10 of 20: lambda ") && of_round.ends_with(" segments"), "{told}");
    assert!(!told.contains("Some"), "{told}");
    let json = fused(&["path", &data, "--steps", "20", "--json", "--plot", &plot]).expect(0).json();
    let points = json["points"].as_array().expect("it works");
    assert_eq!(points.len(), 20);
    assert_eq!(points[0]["segments"], 1);
    let lambdas: Vec<f64> = points.iter().map(|point| number(point, "lambda")).collect();
    assert!(lambdas.windows(2).all(|pair| pair[1] < pair[0]));
    let best = json["best"].as_u64().expect("it works") as usize;
    let least = points.iter().map(|point| number(point, "bic")).fold(f64::INFINITY, f64::min);
    assert_eq!(number(&points[best], "bic"), least);
    // Three levels, found by the criterion.
    assert!(
        (3..=8).contains(&points[best]["segments"].as_u64().expect("it works")),
        "{}",
        points[best]["segments"]
    );
    let again = ["fit", &data, "--lambda", &number(&points[best], "lambda").to_string(), "--json"];
    assert_eq!(numbers(&fused(&again).expect(0).json()["x"]), numbers(&points[best]["x"]));
    assert!(fs::read_to_string(&plot).expect("it works").contains("Choice of lambda"));
    let chosen = fused(&["fit", &data, "--choose", "bic", "--json"]).expect(0).json();
    assert!(number(&chosen, "lambda") < number(&chosen, "lambda_max"));
}

#[test]
fn missing_values_are_named_or_left_out() {
    let folder = scratch("fused-missing");
    let data =
        write(&folder, "probes.csv", "place,ratio,other\n1,0.5,NA\n2,NA,1\n3,0.7,2\n4,2.5,3\n5,2.7,4\n");
    fused(&["fit", &data, "--lambda", "0.1", "--column", "ratio"]).expect(2).complains(&[
        "probes.csv",
        "row 2",
        "column ratio",
        "--skip-missing",
    ]);
    for penalty in ["chain", "trend1"] {
        let args = [
            "fit",
            &data,
            "--lambda",
            "0.1",
            "--column",
            "ratio",
            "--skip-missing",
            "--penalty",
            penalty,
            "--json",
        ];
        let json = fused(&args).expect(0).json();
        assert_eq!((numbers(&json["x"]).len(), json["observations"].as_u64()), (5, Some(4)));
    }
    fused(&["fit", &data, "--lambda", "0.1"]).expect(2).complains(&[
        "3 columns",
        "place, ratio, other",
        "--column",
    ]);
}

#[test]
fn bad_input_is_refused_and_nothing_is_written() {
    let folder = scratch("fused-bad");
    let (data, out) = (write(&folder, "four.csv", FOUR), text(&folder.join("fit.json")));
    let refused = |options: &[&str], words: &[&str]| {
        fused(&[&["fit", &data, "--out", &out], options].concat()).expect(2).complains(words);
        assert!(!Path::new(&out).exists());
    };
    refused(&["--lambda", "0"], &["lambda is 0", "above 0"]);
    refused(&["--lambda", "-3"], &["lambda is -3"]);
    refused(&["--lambda", "1", "--sparse", "-1"], &["sparse is -1"]);
    refused(&["--lambda", "1", "--penalty", "graph"], &["--edges"]);
    refused(&["--lambda", "1", "--penalty", "chain", "--edges", &data], &["--edges", "graph"]);
    refused(&["--lambda", "1", "--penalty", "chian"], &["chain"]);
    refused(&["--lambda", "1", "--column", "levle"], &["levle", "level"]);
    refused(&[], &["--lambda"]);
    refused(&["--lambda", "1", "--method", "lines"], &["lines", "grid"]);
    let words = write(&folder, "words.csv", "level\n1\ntwo\n");
    fused(&["fit", &words, "--lambda", "1"]).expect(2).complains(&["words.csv", "two", "level"]);
    let far = write(&folder, "edges.csv", "0,9\n");
    refused(&["--lambda", "1", "--edges", &far], &["node 9", "0 to 3"]);
    fused(&["fit", &data, "--lambda", "1", "--out", &data]).expect(2).complains(&["is the input"]);
}

#[test]
fn limits_leave_a_result_and_a_better_one_stays() {
    let folder = scratch("fused-limits");
    let row = |r: usize| {
        (0..60).map(|c| format!("{}", (r * 31 + c * 17) % 23)).collect::<Vec<_>>().join(",") + "\n"
    };
    let data = write(&folder, "image.csv", &(0..60).map(row).collect::<String>());
    let out = text(&folder.join("fit.json"));
    let few = ["fit", &data, "--grid", "--lambda", "4", "--max-rounds", "2", "--gap", "1e-9", "--out", &out];
    fused(&few).expect(1).complains(&["not converged", "--max-rounds"]);
    fused(&["fit", &data, "--grid", "--lambda", "4", "--out", &out]).expect(0);
    let better = fs::read_to_string(&out).expect("it works");
    fused(&few).expect(1).complains(&["kept"]);
    assert_eq!(fs::read_to_string(&out).expect("it works"), better);
    fused(&["fit", &data, "--grid", "--lambda", "4", "--time-limit", "1e-9"])
        .expect(2)
        .complains(&["time limit"]);
}

/// The rows of a history below its header, as numbers.
fn rows(path: &str) -> Vec<Vec<f64>> {
    let all = fs::read_to_string(path).expect("written");
    let mut lines = all.lines();
    assert_eq!(lines.next(), Some("lambda,round,seconds,objective,bound,relative_gap"));
    let number = |cell: &str| if cell.is_empty() { f64::NAN } else { cell.parse().expect("a number") };
    lines.map(|line| line.split(',').map(number).collect()).collect()
}

#[test]
fn a_history_has_every_method_and_ends_with_what_is_proven() {
    let folder = scratch("fused-history");
    let (data, history) = (steps(&folder, "y.csv", 30), text(&folder.join("history.csv")));
    let pixels: String = (0..8)
        .map(|r| {
            let row: Vec<String> = (0..8).map(|c| f64::from(r * r * 7 + c * 11 % 13).to_string()).collect();
            row.join(",") + "\n"
        })
        .collect();
    let image = write(&folder, "image.csv", &pixels);
    let design: String = (0..30)
        .map(|r| {
            let row: Vec<String> = (0..12).map(|c| f64::from((r * 7 + c * c * 3) % 17).to_string()).collect();
            row.join(",") + "\n"
        })
        .collect();
    let design = write(&folder, "x.csv", &design);
    let cases: [&[&str]; 6] = [
        &[&data, "--lambda", "0.7"],
        &[&image, "--grid", "--lambda", "3"],
        &[&data, "--trend", "1", "--lambda", "0.7"],
        &[&data, "--design", &design, "--lambda", "2"],
        &[&data, "--trend", "1", "--sparse", "0.1", "--lambda", "0.7"],
        &[&data, "--choose", "bic"],
    ];
    for case in cases {
        let json = fused(&[&["fit"], case, &["--json", "--history", &history]].concat()).expect(0).json();
        let rows = rows(&history);
        let last = rows.last().expect("a row");
        if case.contains(&"--choose") {
            assert_eq!(rows.len(), 50, "a row for every lambda");
            assert!(rows.iter().any(|row| row[0] == number(&json, "lambda")));
            continue;
        }
        let proven = [&json["lambda"], &json["rounds"], &json["objective"], &json["bound"]];
        let proven: Vec<f64> = proven.iter().map(|field| field.as_f64().expect("a number")).collect();
        assert_eq!([last[0], last[1], last[3], last[4]], proven[..], "{case:?}");
        assert!(case.len() == 3 || rows.len() > 2, "{case:?}: {rows:?}");
        for row in &rows {
            // What plain arithmetic sees is near what is proven: no objective is below the bound, no bound above the objective.
            let slack = 1e-9 * last[3];
            assert!(
                row[3] >= last[4] - slack && (row[4].is_nan() || row[4] <= last[3] + slack),
                "{case:?}: {row:?}"
            );
            assert!(row[2] >= 0.0 && row[5] >= 0.0 || row[4].is_nan(), "{case:?}: {row:?}");
        }
    }
}

#[test]
fn one_piece_is_seen_at_once_however_large_lambda_is() {
    let folder = scratch("fused-one-piece");
    let image = write(&folder, "image.csv", "1,2,3\n4,5,0\n7,1,4\n");
    let holes = write(&folder, "holes.csv", "1,2,NA\n4,5,0\nNA,1,4\n");
    let column = write(&folder, "column.csv", "1\n2\n3\n4\n5\n0\n7\n1\n4\n");
    let ring = (0..9).map(|k| format!("{k},{},2\n", (k + 1) % 9)).collect::<Vec<_>>().concat();
    let ring = write(&folder, "ring.csv", &ring);
    let star = (1..9).map(|k| format!("0,{k},1\n")).collect::<Vec<_>>().concat();
    let star = write(&folder, "star.csv", &star);
    let fit = |case: &[&str], lambda: &str| {
        fused(&[&["fit"], case, &["--lambda", lambda, "--json"]].concat()).expect(0).json()
    };
    let mean = 3.0;
    for lambda in ["40", "1e12", "1e300"] {
        for case in [&[image.as_str(), "--grid"][..], &[&column, "--penalty", "graph", "--edges", &ring]] {
            let json = fit(case, lambda);
            let x: Vec<f64> = match &json["x"][0] {
                Value::Array(_) => json["x"].as_array().into_iter().flatten().flat_map(numbers).collect(),
                _ => numbers(&json["x"]),
            };
            assert_eq!(x, [mean; 9], "{case:?} at {lambda}");
            assert_eq!((json["rounds"].as_u64(), json["segments"].as_u64()), (Some(0), Some(1)));
            assert!(number(&json, "relative_gap") < 1e-12 && json["lambda_max"].is_null());
        }
        let json = fit(&[&holes, "--grid", "--skip-missing"], lambda);
        assert_eq!(json["segments"], 1);
        let sparse = fit(&[&image, "--grid", "--sparse", "1"], lambda);
        assert_eq!(numbers(&sparse["x"][0]), [2.0; 3]);
    }
    for lambda in ["1e12", "1e300"] {
        let json = fit(&[&column], lambda);
        assert_eq!(numbers(&json["x"]), [mean; 9]);
        assert!(number(&json, "relative_gap") < 1e-12, "{json}");
        let sparse = fit(&[&column, "--sparse", "1"], lambda);
        assert_eq!(numbers(&sparse["x"]), [2.0; 9]);
    }
    // On a tree the smallest such lambda is known: node 6 has 7, 4 above the mean.
    let json = fit(&[&column, "--penalty", "graph", "--edges", &star], "1");
    assert_eq!(number(&json, "lambda_max"), 4.0);
}
