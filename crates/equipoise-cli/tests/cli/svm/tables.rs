//! Tables with names, scaling, probabilities, scores, stdin and stdout, the best model of several.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::{Finished, equipoise, numbers, piped, scratch, text, write};

fn data(name: &str) -> String {
    text(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/data").join(name))
}

/// Trains on the flowers with these options; the model file, read.
fn train(test: &str, options: &[&str]) -> (String, Value) {
    let model = text(&scratch(test).join("model.json"));
    let fixed = ["svm", "train", &data("flowers.csv"), "--target", "species", "--model", &model];
    equipoise(&[&fixed, options].concat()).expect(0);
    let stored = serde_json::from_str(&fs::read_to_string(&model).expect("a model")).expect("JSON");
    (model, stored)
}

fn predict(model: &str, rows: &str, options: &[&str]) -> Finished {
    equipoise(&[&["svm", "predict", rows, "--model", model], options].concat())
}

#[test]
fn a_table_is_learnt_by_name_and_scaled_rows_are_verified() {
    for scale in ["standard", "min-max"] {
        let (model, stored) = train(&format!("table-{scale}"), &["--scale", scale, "--gap", "1e-6"]);
        assert_eq!(stored["version"], 2);
        assert_eq!(stored["feature_names"], serde_json::json!(["stem_cm", "petal_mm", "leaf_mm2", "hairs"]));
        assert_eq!(stored["label_names"], serde_json::json!(["alpine", "meadow"]));
        assert_eq!((&stored["target"], &stored["scaling"]["kind"]), (&"species".into(), &scale.into()));
        let checked = equipoise(&["svm", "verify", &model, &data("flowers.csv"), "--gap", "1e-6"]).expect(0);
        assert!(checked.stdout.starts_with("met: "), "{}", checked.stdout);
    }
}

#[test]
fn the_scaling_is_part_of_what_predicts() {
    // By hand: scaled rows, trained on plainly, predict the same as raw rows under --scale.
    let (model, stored) = train("scaled-once", &["--scale", "standard", "--gap", "1e-9"]);
    let (shift, factor) = (numbers(&stored["scaling"]["shift"]), numbers(&stored["scaling"]["factor"]));
    let folder = scratch("scaled-by-hand");
    let scaled = |name: &str| {
        let raw = fs::read_to_string(data(name)).expect("the data");
        let mut lines = raw.lines();
        let mut out = lines.next().expect("a header").to_owned() + "\n";
        for line in lines {
            let cells: Vec<&str> = line.split(',').collect();
            let value = |j: usize| (cells[j].parse::<f64>().expect("a number") - shift[j]) * factor[j];
            let row: Vec<String> = (0..4).map(|j| value(j).to_string()).collect();
            out.extend([row.join(","), ",".into(), cells[4].into(), "\n".into()]);
        }
        write(&folder, name, &out)
    };
    let (rows, new) = (scaled("flowers.csv"), scaled("flowers-new.csv"));
    let plain = text(&folder.join("plain.json"));
    equipoise(&["svm", "train", &rows, "--target", "species", "--gap", "1e-9", "--model", &plain]).expect(0);
    let out = |model: &str, rows: &str| {
        let ran = predict(model, rows, &["--decision-values", "--out", "-", "--quiet"]).expect(0);
        let of = |line: &str| line.split(',').nth(1).expect("a value").parse::<f64>().expect("a number");
        ran.stdout.lines().skip(1).map(of).collect::<Vec<_>>()
    };
    for (a, b) in out(&model, &data("flowers-new.csv")).iter().zip(out(&plain, &new)) {
        assert!((a - b).abs() < 1e-3 * (1.0 + a.abs()), "{a} and {b}");
    }
    // LIBLINEAR's text has the scaling in its weights, and predicts the same rows alike.
    let folded = text(&folder.join("folded.txt"));
    let fixed =
        ["svm", "train", &data("flowers.csv"), "--target", "species", "--scale", "standard", "--gap", "1e-9"];
    equipoise(&[&fixed[..], &["--model", &folded, "--format", "liblinear"]].concat())
        .expect(0)
        .complains(&["LIBLINEAR's text has no place for names"]);
    let measured = ["--drop", "species"];
    let ran = predict(
        &folded,
        &data("flowers-new.csv"),
        &[&measured[..], &["--decision-values", "--out", "-"]].concat(),
    );
    let first: f64 = ran
        .expect(0)
        .stdout
        .lines()
        .nth(1)
        .and_then(|line| line.split(',').nth(1))
        .expect("a value")
        .parse()
        .expect("a number");
    assert!((first - out(&model, &data("flowers-new.csv"))[0]).abs() < 1e-6, "{first}");
}

#[test]
fn probabilities_are_written_and_scored() {
    let (model, stored) = train("probable", &["--scale", "standard", "--probabilities"]);
    assert_eq!(stored["sigmoids"].as_array().expect("a list").len(), 1);
    let out = text(&scratch("probable-out").join("p.csv"));
    let ran = predict(&model, &data("flowers-new.csv"), &["--probabilities", "--out", &out, "--json"])
        .expect(0)
        .json();
    assert!(ran["accuracy"].as_f64().expect("a share") > 0.8, "{ran}");
    assert!(
        ran["auc"].as_f64().expect("an area") > 0.85 && ran["log_loss"].as_f64().expect("a loss") < 0.5,
        "{ran}"
    );
    assert_eq!(ran["classes"][0]["label"], "alpine");
    let written = fs::read_to_string(&out).expect("a file");
    let mut lines = written.lines();
    assert_eq!(lines.next(), Some("prediction,probability_alpine,probability_meadow"));
    for line in lines {
        let cells: Vec<&str> = line.split(',').collect();
        let of = |k: usize| cells[k].parse::<f64>().expect("a number");
        assert!((of(1) + of(2) - 1.0).abs() < 1e-12 && ["alpine", "meadow"].contains(&cells[0]), "{line}");
    }
    let (plain, _) = train("improbable", &[]);
    predict(&plain, &data("flowers.csv"), &["--probabilities", "--out", "-"])
        .expect(2)
        .complains(&["no probabilities", "svm train --probabilities"]);
    equipoise(&[
        "svm",
        "train",
        &data("flowers.csv"),
        "--target",
        "hairs",
        "--drop",
        "species",
        "--kind",
        "svr",
        "--probabilities",
    ])
    .expect(2)
    .complains(&["--probabilities", "svr"]);
}

#[test]
fn steps_that_only_rise_are_probabilities_too() {
    let (model, stored) = train("steps", &["--scale", "standard", "--probabilities=isotonic"]);
    assert!(stored["sigmoids"].is_null());
    let knots: Vec<Vec<f64>> = stored["isotonic"][0].as_array().expect("knots").iter().map(numbers).collect();
    assert!(
        knots.len() > 2 && knots.windows(2).all(|pair| pair[0][0] < pair[1][0] && pair[0][1] <= pair[1][1])
    );
    let ran =
        predict(&model, &data("flowers-new.csv"), &["--decision-values", "--probabilities", "--out", "-"]);
    let ran = ran.expect(0);
    let mut rows: Vec<[f64; 2]> = ran
        .stdout
        .lines()
        .skip(1)
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            [1, 3].map(|k| cells[k].parse().expect("a number"))
        })
        .collect();
    rows.sort_by(|a, b| a[0].total_cmp(&b[0]));
    assert!(rows.len() == 40 && rows.windows(2).all(|pair| pair[0][1] <= pair[1][1]), "{rows:?}");
    assert!(rows.iter().all(|row| row[1] > 0.0 && row[1] < 1.0), "nothing is certain");
    let scored = predict(&model, &data("flowers-new.csv"), &["--json"]).expect(0).json();
    assert!(scored["log_loss"].as_f64().expect("a loss") < 0.5, "{scored}");
    let table = data("flowers.csv");
    let fixed = ["svm", "train", &table, "--target", "species"];
    equipoise(&[&fixed[..], &["--probabilities=steps"]].concat()).expect(2).complains(&["platt", "isotonic"]);
    equipoise(&[&fixed[..], &["--probabilities", "isotonic"]].concat())
        .expect(2)
        .complains(&["--probabilities=isotonic"]);
}

#[test]
fn several_labels_have_probabilities_that_sum_to_one() {
    let folder = scratch("three");
    let mut rows = String::from("a\tb\tkind\n");
    for i in 0..60_i32 {
        let (kind, x, y) = [("x", 3, 0), ("y", 0, 3), ("z", -3, -3)][i as usize % 3];
        let wobble = |k: i32| (i * k) % 7 - 3;
        rows.extend([format!("{}\t{}\t{kind}\n", x * 2 + wobble(3), y * 2 + wobble(5))]);
    }
    let (path, model) = (write(&folder, "three.tsv", &rows), text(&folder.join("m.json")));
    equipoise(&["svm", "train", &path, "--target", "kind", "--probabilities", "--model", &model]).expect(0);
    let ran = predict(&model, &path, &["--probabilities", "--decision-values", "--out", "-"]).expect(0);
    let mut lines = ran.stdout.lines();
    let header = "prediction,decision_x,decision_y,decision_z,probability_x,probability_y,probability_z";
    assert_eq!(lines.next(), Some(header));
    for line in lines {
        let sum: f64 = line.split(',').skip(4).map(|cell| cell.parse::<f64>().expect("a number")).sum();
        assert!((sum - 1.0).abs() < 1e-12, "{line}");
    }
    assert!(ran.stderr.contains("accuracy") && ran.stderr.contains("precision"), "{}", ran.stderr);
}

#[test]
fn columns_are_found_by_name_and_labels_are_optional() {
    let (model, _) = train("by-name", &[]);
    let folder = scratch("by-name-new");
    let turned = write(
        &folder,
        "new.csv",
        "id,hairs,leaf_mm2,stem_cm,petal_mm\nfirst,20,480,23,8\nsecond,45,300,12,12\n",
    );
    let ran = predict(&model, &turned, &["--out", "-"])
        .expect(0)
        .complains(&["not scored: the data have no labels"]);
    assert_eq!(ran.stdout, "meadow\nalpine\n");
    let input = fs::read_to_string(&turned).expect("the rows");
    assert_eq!(
        piped(&["svm", "predict", "-", "--model", &model, "--out", "-", "-q"], &input).stdout,
        "meadow\nalpine\n"
    );
    let lacking = write(&folder, "lacking.csv", "hairs,leaf_mm2,stem_cm\n20,480,23\n");
    predict(&model, &lacking, &[]).expect(2).complains(&["petal_mm", "hairs, leaf_mm2, stem_cm"]);
    let missing = write(&folder, "missing.csv", "stem_cm,petal_mm,leaf_mm2,hairs\n1,2,3,4\n1,NA,3,4\n");
    predict(&model, &missing, &[]).expect(2).complains(&["row 2", "column `petal_mm`"]);
}

#[test]
fn tables_that_are_not_understood_are_refused_in_words() {
    let folder = scratch("not-a-table");
    let csv = data("flowers.csv");
    equipoise(&["svm", "train", &csv])
        .expect(2)
        .complains(&["which column has the labels? --target NAME", "stem_cm"]);
    equipoise(&["svm", "train", &csv, "--target", "spcies"])
        .expect(2)
        .complains(&["spcies", "did you mean `species`?"]);
    equipoise(&["svm", "train", &csv, "--target", "hairs"])
        .expect(2)
        .complains(&["column `species`", "--drop species"]);
    let nowhere = text(&folder.join("nowhere.csv"));
    equipoise(&["svm", "train", &nowhere]).expect(2).complains(&["cannot read", "nowhere.csv"]);
    let (model, _) = train("other-columns", &[]);
    predict(&model, &data("genera.csv"), &[]).expect(2).complains(&["genera.csv", "stem_cm", "Bacteroides"]);
    let unnamed = write(&folder, "rows.txt", &fs::read_to_string(&csv).expect("the data"));
    equipoise(&["svm", "train", &unnamed]).expect(2).complains(&["look like a table (CSV)", "--target NAME"]);
    let headless = write(&folder, "rows2.txt", "1,2,3\n0,5,6\n");
    equipoise(&["svm", "train", &headless]).expect(2).complains(&["look like a table (CSV)"]);
    equipoise(&["svm", "train", &headless, "--target", "1", "--no-header", "-q"]).expect(0);
    let rows = write(&folder, "rows3", "1 1:2\n-1 1:1\n");
    equipoise(&["svm", "train", &rows, "--drop", "x"]).expect(2).complains(&["--drop", "LIBSVM text"]);
}

#[test]
fn placeholders_are_not_scored() {
    let folder = scratch("placeholders");
    let (rows, model) =
        (write(&folder, "rows", "1 1:2\n-1 1:1\n1 1:3\n-1 1:0.5\n"), text(&folder.join("m.json")));
    equipoise(&["svm", "train", &rows, "--model", &model]).expect(0);
    let new = write(&folder, "new", "0 1:2\n0 1:1\n");
    let ran = predict(&model, &new, &[]).expect(0);
    assert_eq!(
        ran.stdout,
        "2 rows predicted; not scored: every label is 0, which the model does not know: placeholders, by the look of it\n"
    );
    let json = predict(&model, &new, &["--json"]).expect(0).json();
    assert!(json.get("accuracy").is_none() && json["rows"] == 2 && json["not_scored"].is_string(), "{json}");
}

#[test]
fn models_and_predictions_go_through_pipes() {
    let rows = "1 1:2\n-1 1:1\n1 1:3\n-1 1:0.5\n";
    let trained = piped(&["svm", "train", "-", "--model", "-"], rows).expect(0).complains(&["converged"]);
    let stored: Value = serde_json::from_str(&trained.stdout).expect("the model, and nothing else");
    assert_eq!(stored["format"], "equipoise-svm");
    // There is no file of that name to go on with.
    assert!(!trained.stderr.contains("next:"), "{}", trained.stderr);
    piped(&["svm", "train", "-", "--model", "-", "--json"], rows).expect(2).complains(&["standard output"]);
    let folder = scratch("pipes");
    let file = write(&folder, "rows", rows);
    let ran = piped(&["svm", "predict", &file, "--model", "-", "--out", "-"], &trained.stdout).expect(0);
    assert_eq!(ran.stdout, "1\n-1\n1\n-1\n");
}

#[test]
fn the_best_of_several_costs_is_kept() {
    let folder = scratch("best");
    let model = text(&folder.join("best.json"));
    let fixed = ["svm", "cv", &data("flowers.csv"), "--target", "species", "--scale", "standard"];
    let ran = equipoise(&[&fixed[..], &["--json", "--model", &model]].concat()).expect(0).json();
    assert_eq!((ran["folds"].as_u64(), ran["costs"].as_array().map(Vec::len)), (Some(5), Some(6)));
    assert!(ran["costs"][0]["standard_error"].as_f64().is_some_and(|error| error > 0.0));
    assert!(ran["simplest_cost"].as_f64() <= ran["best_cost"].as_f64());
    let stored: Value = serde_json::from_str(&fs::read_to_string(&model).expect("a model")).expect("JSON");
    assert_eq!((&stored["cost"], &stored["converged"]), (&ran["best_cost"], &true.into()));
    predict(&model, &data("flowers-new.csv"), &["--json"]).expect(0);
    let walked = text(&folder.join("walked.json"));
    let fixed = ["svm", "path", &data("flowers.csv"), "--target", "species", "--scale", "standard"];
    let ran = equipoise(
        &[&fixed[..], &["--test", &data("flowers-new.csv"), "--json", "--model", &walked]].concat(),
    );
    let ran = ran.expect(0).json();
    let stored: Value = serde_json::from_str(&fs::read_to_string(&walked).expect("a model")).expect("JSON");
    let best = ran["path"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|step| step["accuracy"].as_f64().expect("a share"));
    let best = best.fold(0.0, f64::max);
    let scored = predict(&walked, &data("flowers-new.csv"), &["--json"]).expect(0).json();
    assert!((scored["accuracy"].as_f64().expect("a share") - best).abs() < 1e-12, "{scored} and {best}");
    assert_eq!(stored["cost"], ran["best_cost"]);
}

#[test]
fn fits_that_did_not_converge_are_marked_and_not_chosen() {
    let fixed = ["svm", "cv", &data("flowers.csv"), "--target", "species", "--scale", "standard"];
    let ended = ["--costs", "1", "--gap", "1e-300", "--max-epochs", "1"];
    let ran = equipoise(&[&fixed[..], &ended].concat()).expect(1).complains(&["not converged"]);
    assert!(ran.stdout.contains("%*") && ran.stdout.contains("did not converge"), "{}", ran.stdout);
    assert!(!ran.stdout.contains("best:"), "{}", ran.stdout);
}

#[test]
fn balanced_weights_are_kept_in_the_model() {
    let (_, stored) = train("balanced", &["--class-weight", "balanced"]);
    let weights = stored["class_weights"].as_array().expect("a list");
    let rows = fs::read_to_string(data("flowers.csv")).expect("the data");
    let count = |word: &str| rows.lines().filter(|line| line.ends_with(word)).count() as f64;
    for (pair, word) in weights.iter().zip(["alpine", "meadow"]) {
        assert!((pair[1].as_f64().expect("a weight") - 120.0 / (2.0 * count(word))).abs() < 1e-12, "{pair}");
    }
}

#[test]
fn packed_by_zstd() {
    // One frame that says "1 1:1\n-1 1:2\n" in a raw block: magic, header, size of the block, text.
    let rows = b"1 1:1\n-1 1:2\n";
    let mut packed = vec![0x28, 0xb5, 0x2f, 0xfd, 0x20, rows.len() as u8];
    let header = 1 | (rows.len() as u32) << 3;
    packed.extend_from_slice(&header.to_le_bytes()[..3]);
    packed.extend_from_slice(rows);
    let path = scratch("zstd").join("rows.zst");
    fs::write(&path, &packed).expect("written");
    let ran = equipoise(&["svm", "train", &text(&path), "--json"]).expect(0).json();
    assert_eq!(ran["rows"], 2);
    fs::write(&path, &packed[..packed.len() - 3]).expect("written");
    equipoise(&["svm", "train", &text(&path)]).expect(2).complains(&["zstd"]);
}

#[test]
fn a_file_is_named_once_where_it_lacks_a_column() {
    let (model, _) = train("fewer", &[]);
    let fewer = write(&scratch("fewer-rows"), "fewer.csv", "stem_cm,petal_mm,hairs\n10,4,3\n");
    let ran = predict(&model, &fewer, &[]).expect(2).complains(&["fewer.csv: no column `leaf_mm2`"]);
    assert_eq!(ran.stderr.matches("fewer.csv").count(), 1, "{}", ran.stderr);
}
