//! `equipoise lasso`: fits by name, paths, cross-validation, stability, what is refused.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::{equipoise as run, scratch, text, write};

/// A table with a header: two informative columns out of five, a covariate, a target.
fn table(folder: &Path) -> PathBuf {
    let file = folder.join("data.csv");
    let mut text = String::from("a,b,c,d,e,age,y\n");
    let mut seed = 9_u64;
    let mut draw = || {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 40) as f64 / (1_u64 << 24) as f64 * 2.0 - 1.0
    };
    for _ in 0..40 {
        let x: Vec<f64> = (0..5).map(|_| (2.0 * draw()).exp()).collect();
        let age = 40.0 + 20.0 * draw();
        let y = 3.0 + x[0].ln() - x[1].ln() + 0.1 * age + 0.1 * draw();
        let cells: Vec<String> = x.iter().chain([&age, &y]).map(f64::to_string).collect();
        text += &(cells.join(",") + "\n");
    }
    fs::write(&file, text).expect("writable");
    file
}

fn words<'a>(file: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let common = ["--target", "y", "--covariates", "age", "--zero-sum", "--log"];
    let mut all = vec!["lasso", more[0], file];
    all.extend(common);
    all.extend(&more[1..]);
    all
}

#[test]
fn a_fit_is_reported_by_name_written_and_verified() {
    let folder = scratch("lasso-fit");
    let file = table(&folder);
    let (file, out) = (file.to_str().expect("text"), folder.join("fit.json"));
    let out = out.to_str().expect("text");
    let done = run(&words(file, &["fit", "--lambda-ratio", "0.02", "--json", "--out", out])).expect(0);
    let json = done.json();
    assert_eq!(json["status"], "converged");
    let of = |name: &str| json["coefficients"][name].as_f64().expect("a number");
    assert!((of("a") - 1.0).abs() < 0.1 && (of("b") + 1.0).abs() < 0.1 && (of("age") - 0.1).abs() < 0.01);
    let sum: f64 = ["a", "b", "c", "d", "e"].into_iter().map(of).sum();
    assert!(sum.abs() < 1e-12, "{sum}");
    for name in [
        "objective",
        "bound",
        "relative_gap",
        "lambda",
        "lambda_max",
        "intercept",
        "seconds_load",
        "seconds_solve",
    ] {
        assert!(json[name].is_number(), "{name}");
    }
    assert!(json["bound"].as_f64() <= json["objective"].as_f64());
    assert_eq!(fs::read_to_string(out).expect("written"), done.stdout);
    run(&["lasso", "verify", out, file, "--target", "y", "--covariates", "age", "--zero-sum", "--log"])
        .expect(0);
    // Another coefficient, another constraint: not met.
    let spoilt = fs::read_to_string(out).expect("written").replacen("\"a\":", "\"a\":1", 1);
    let other = folder.join("spoilt.json");
    fs::write(&other, spoilt).expect("writable");
    let other = other.to_str().expect("text");
    run(&["lasso", "verify", other, file, "--target", "y", "--covariates", "age", "--zero-sum", "--log"])
        .expect(1);
    // From there it is one certificate.
    let again =
        run(&words(file, &["fit", "--lambda-ratio", "0.02", "--json", "--warm-start", out])).expect(0).json();
    let (one, two) =
        (json["objective"].as_f64().expect("a number"), again["objective"].as_f64().expect("a number"));
    assert!((one - two).abs() <= 1e-9 * one);
}

#[test]
fn a_path_falls_from_lambda_max_and_folds_choose_from_it() {
    let folder = scratch("lasso-path");
    let file = table(&folder);
    let file = file.to_str().expect("text");
    let plot = folder.join("path.svg");
    let plot = plot.to_str().expect("text");
    let history = folder.join("path.csv");
    let history = history.to_str().expect("text");
    let json = run(&words(
        file,
        &["path", "--points", "20", "--lambda-ratio", "0.01", "--json", "--plot", plot, "--history", history],
    ))
    .expect(0)
    .json();
    let points = json["points"].as_array().expect("a list");
    assert_eq!(points.len(), 20);
    assert_eq!(points[0]["lambda"], json["lambda_max"]);
    assert!(points.iter().all(|point| point["status"] == "converged"));
    assert_eq!(fs::read_to_string(history).expect("written").lines().count(), 21);
    let picture = fs::read_to_string(plot).expect("drawn");
    assert!(picture.contains("Coefficients") && picture.contains("age"));
    let cv = run(&words(file, &["cv", "--folds", "5", "--points", "20", "--json", "--threads", "2"]))
        .expect(0)
        .json();
    assert!(cv["one_se"]["lambda"].as_f64() >= cv["best"]["lambda"].as_f64());
    assert!(cv["points"][0]["error"].as_f64() > cv["best"]["error"].as_f64());
    let halves = run(&words(file, &["stability", "--lambda-ratio", "0.1", "--pairs", "10", "--json"]))
        .expect(0)
        .json();
    let selected = halves["selected"].as_array().expect("a list");
    assert!(
        selected.iter().any(|name| name == "a") && selected.iter().any(|name| name == "b"),
        "{selected:?}"
    );
}

#[test]
fn a_table_may_be_turned_over_with_names_and_target_apart() {
    let folder = scratch("lasso-transpose");
    let counts = folder.join("counts.csv");
    fs::write(&counts, "1,5,0,9,2,7\n8,2,4,1,6,3\n3,3,9,2,2,8\n").expect("writable");
    let names = folder.join("names.csv");
    fs::write(&names, "OTU_1, Bacteria, A\nOTU_2, Bacteria, B\nOTU_3, Bacteria, C\n").expect("writable");
    let target = folder.join("bmi.csv");
    fs::write(&target, "21\n24\n19\n30\n22\n27\n").expect("writable");
    let [counts, names, target] = [counts, names, target].map(|path| path.display().to_string());
    let args = [
        "lasso",
        "fit",
        &counts,
        "--target",
        &target,
        "--transpose",
        "--names",
        &names,
        "--zero-sum",
        "--log",
    ];
    let all = |more: &[&'static str]| args.iter().copied().chain(more.iter().copied()).collect::<Vec<&str>>();
    run(&all(&["--lambda", "1"])).expect(2).complains(&[
        "row 3",
        "column A",
        "0 has no logarithm",
        "--pseudo-count",
    ]);
    let json = run(&all(&["--lambda", "1", "--pseudo-count", "0.5", "--json"])).expect(0).json();
    let names: Vec<&String> = json["coefficients"].as_object().expect("an object").keys().collect();
    assert_eq!(names, ["A", "B", "C"]);
}

#[test]
fn what_cannot_be_fitted_is_refused_in_words() {
    let folder = scratch("lasso-refused");
    let data = table(&folder);
    let data = data.to_str().expect("text");
    let bad = |args: &[&str], words: &[&str]| drop(run(args).expect(2).complains(words));
    for lambda in ["0", "-1", "nan"] {
        bad(&["lasso", "fit", data, "--target", "y", "--lambda", lambda], &["--lambda is", "positive"]);
    }
    bad(&["lasso", "fit", data, "--target", "yy", "--lambda", "1"], &["yy", "did you mean"]);
    bad(&["lasso", "fit", data, "--target", "y", "--lambda", "1", "--delta", "2"], &["--delta", "huber"]);
    bad(
        &["lasso", "fit", data, "--target", "y", "--lambda", "1", "--loss", "logistic"],
        &["two different values"],
    );
    bad(&["lasso", "fit", data, "--target", "y", "--lambda", "1", "--out", data], &["is the input"]);
    let write = |name: &str, text: &str| {
        let file = folder.join(name);
        fs::write(&file, text).expect("writable");
        file.display().to_string()
    };
    let gap = write("gap.csv", "a,b,y\n1,2,3\n4,,6\n7,8,9\n");
    bad(&["lasso", "fit", &gap, "--target", "y", "--lambda", "1"], &["b", "missing"]);
    let word = write("word.csv", "a,b,y\n1,2,3\n4,five,6\n7,8,9\n");
    bad(&["lasso", "fit", &word, "--target", "y", "--lambda", "1"], &["five", "b"]);
    let constant = write("constant.csv", "a,b,y\n1,2,3\n4,2,6\n7,2,9\n");
    bad(&["lasso", "fit", &constant, "--target", "y", "--lambda", "1"], &["column b", "intercept"]);
    bad(
        &["lasso", "fit", &constant, "--target", "y", "--lambda", "1", "--no-intercept", "--standardise"],
        &["column b", "standardised"],
    );
    let rows = write("rows.csv", "a,b\n1,0\n0,1\n1,1\n");
    let small = write("small.csv", "a,b,y\n1,2,3\n4,1,6\n7,2,8\n");
    bad(
        &["lasso", "fit", &small, "--target", "y", "--lambda", "1", "--constraints", &rows],
        &["2 independent constraints"],
    );
    // Every file that is read is kept, whatever it is typed as.
    let apart = write("apart.csv", "3\n6\n8\n");
    let table = write("table.csv", "a,b,c\n1,2,0\n4,1,1\n7,2,0\n");
    for input in [
        ["--target", &apart, "--drop", "c"],
        ["--target", "c", "--covariates", &apart],
        ["--target", "c", "--weights", &apart],
    ] {
        for command in ["fit", "stability"] {
            let args = [&["lasso", command, &table, "--lambda", "1", "--out", &apart], &input[..]].concat();
            bad(&args, &["cannot write", "is the input"]);
        }
    }
    let args = ["lasso", "path", &small, "--target", "y", "--constraints", &rows, "--plot", &rows];
    bad(&args, &["cannot write", "is the input"]);
    assert_eq!(fs::read_to_string(&apart).expect("there"), "3\n6\n8\n");
    let unknown = write("unknown.csv", "a,z\n1,1\n");
    bad(
        &["lasso", "fit", &small, "--target", "y", "--lambda", "1", "--constraints", &unknown],
        &["z is no column"],
    );
}

#[test]
fn an_unconverged_fit_leaves_a_better_one_alone() {
    let folder = scratch("lasso-partial");
    let file = table(&folder);
    let (file, out) = (file.to_str().expect("text"), folder.join("fit.json"));
    let out = out.to_str().expect("text");
    run(&words(file, &["fit", "--lambda-ratio", "0.02", "--out", out])).expect(0);
    let before = fs::read_to_string(out).expect("written");
    run(&words(file, &["fit", "--lambda-ratio", "0.02", "--gap", "1e-300", "--out", out]))
        .expect(1)
        .complains(&["kept"]);
    assert_eq!(fs::read_to_string(out).expect("there"), before);
    run(&words(file, &["fit", "--lambda-ratio", "0.02", "--time-limit", "1e-9", "--out", out])).expect(2);
    assert_eq!(fs::read_to_string(out).expect("there"), before);
}

/// Optima found by Clarabel 0.11 to a gap of 1e-11, with the intercept.
mod public_data {
    use super::*;
    use crate::text;

    fn check(args: &[&str], objective: f64, intercept: f64) {
        let json = run(args).expect(0).json();
        let found = json["objective"].as_f64().expect("a number");
        assert!((found / objective - 1.0).abs() < 1e-9, "{args:?}: {found} for {objective}");
        let found = json["intercept"].as_f64().expect("a number");
        assert!((found - intercept).abs() < 1e-5, "{args:?}: {found} for {intercept}");
    }

    #[test]
    #[ignore = "needs EQUIPOISE_DATA, the public data sets"]
    fn counts_of_genera_explain_the_body_mass_index_as_for_clarabel() {
        let folder = PathBuf::from(std::env::var_os("EQUIPOISE_DATA").expect("EQUIPOISE_DATA"))
            .join("compositional/combo");
        let target = text(&folder.join("BMI.csv"));
        for (file, lambda, objective, intercept) in [
            ("filtered_data/GeneraFilteredCounts.csv", "20", 884.7812992577781, 27.50967921),
            ("filtered_data/GeneraFilteredCounts.csv", "60", 1121.2182532380962, 27.27772362),
            ("complete_data/GeneraCounts.csv", "20", 875.8592775389144, 27.94953247),
            ("complete_data/GeneraCounts.csv", "60", 1121.2182532383445, 27.27772362),
        ] {
            let file = text(&folder.join(file));
            let words = ["--transpose", "--zero-sum", "--log", "--pseudo-count", "0.5", "--json"];
            let args =
                [&["lasso", "fit", &file, "--target", &target, "--lambda", lambda], &words[..]].concat();
            check(&args, objective, intercept);
        }
    }

    /// Plain lasso with an intercept; optima by Clarabel.
    #[test]
    #[ignore = "needs EQUIPOISE_DATA, the public data sets"]
    fn prices_of_houses_and_the_load_of_a_computer_are_explained_as_for_clarabel() {
        let data = PathBuf::from(std::env::var_os("EQUIPOISE_DATA").expect("EQUIPOISE_DATA"));
        let folder = scratch("lasso-regression");
        for (name, columns, lambda, objective) in
            [("housing", 13, "500", 8541.21596793559), ("cpusmall", 12, "1e6", 541865.3675926109)]
        {
            let mut table = String::new();
            for line in fs::read_to_string(data.join("regression").join(name)).expect("readable").lines() {
                let mut words = line.split_whitespace();
                let target = words.next().expect("a target");
                let mut cells = vec!["0"; columns];
                for (index, value) in words.filter_map(|word| word.split_once(':')) {
                    cells[index.parse::<usize>().expect("an index") - 1] = value;
                }
                cells.push(target);
                table += &(cells.join(",") + "\n");
            }
            let file = folder.join(format!("{name}.csv"));
            fs::write(&file, table).expect("writable");
            let (file, target) = (text(&file), (columns + 1).to_string());
            let args = ["lasso", "fit", &file, "--target", &target, "--lambda", lambda, "--json"];
            let json = run(&args).expect(0).json();
            let found = json["objective"].as_f64().expect("a number");
            assert!((found / objective - 1.0).abs() < 1e-9, "{name}: {found} for {objective}");
        }
    }
}

#[test]
fn other_rows_are_predicted_as_the_fit_was_made() {
    let folder = scratch("lasso_predict");
    let parts = |k: usize| [(k % 5) as f64, (k * k % 7 + 1) as f64, (k % 3 + 1) as f64];
    let log = |value: f64| if value == 0.0 { 0.5_f64.ln() } else { value.ln() };
    let row = |k: usize| {
        let [a, b, c] = parts(k);
        let age = (k % 4) as f64;
        format!("{a},{b},{c},{age},{}", 2.0 * log(a) - 2.0 * log(b) + 0.5 * age + 0.1 * (k % 2) as f64)
    };
    let rows: Vec<String> = (0..40).map(row).collect();
    let data = write(&folder, "data.csv", &format!("a,b,c,age,y\n{}\n", rows.join("\n")));
    let [fit, out] = ["fit.json", "out.txt"].map(|name| text(&folder.join(name)));
    let asked = ["--target", "y", "--covariates", "age", "--zero-sum", "--log", "--pseudo-count", "0.5"];
    run(&[&["lasso", "fit", &data, "--lambda-ratio", "0.001", "--out", &fit][..], &asked].concat()).expect(0);
    let found = run(&["lasso", "predict", &fit, &data, "--out", &out, "--json"]).expect(0).json();
    assert_eq!(found["rows"], 40);
    assert!(found["r2"].as_f64() > Some(0.99) && found["mae"].as_f64() < Some(0.1), "{found}");
    let stored: Value = serde_json::from_str(&fs::read_to_string(&fit).expect("a fit")).expect("JSON");
    let of = |name: &str| stored["coefficients"][name].as_f64().expect("a coefficient");
    let predictions = fs::read_to_string(&out).expect("predictions");
    for (k, line) in predictions.lines().enumerate() {
        let [a, b, c] = parts(k).map(log);
        let by_hand = stored["intercept"].as_f64().expect("an intercept")
            + of("a") * a
            + of("b") * b
            + of("c") * c
            + of("age") * (k % 4) as f64;
        assert!(
            (line.parse::<f64>().expect("a number") - by_hand).abs() < 1e-12,
            "row {k}: {line}, {by_hand}"
        );
    }
    // Without the target there is no score; without a column that counts there is no prediction.
    let bare = write(&folder, "bare.csv", "b,a,c,age\n1,2,1,0\n");
    let said = run(&["lasso", "predict", &fit, &bare]).expect(0).stdout;
    assert_eq!(said, "1 rows predicted\nnot scored: the table has no column `y`\n");
    let fewer = write(&folder, "fewer.csv", "b,c,age\n1,1,0\n");
    run(&["lasso", "predict", &fit, &fewer]).expect(2).complains(&["fewer.csv: no column `a`"]);
    let below = write(&folder, "below.csv", "b,a,c,age\n1,-2,1,0\n");
    run(&["lasso", "predict", &fit, &below]).expect(2).complains(&["row 1, column a", "found -2"]);
    let other = write(&folder, "other.json", "{\"lambda\": 1, \"coefficients\": {\"a\": 1}}");
    run(&["lasso", "predict", &other, &data]).expect(2).complains(&["other.json", "no `model`"]);
}

#[test]
fn probabilities_of_the_larger_target_are_predicted() {
    let folder = scratch("lasso_predict_logistic");
    let row = |k: usize| {
        format!(
            "{},{},{}",
            k % 7,
            k * k % 5,
            if k % 7 + usize::from(k.is_multiple_of(4)) * 3 > 3 { 2 } else { 1 }
        )
    };
    let rows: Vec<String> = (0..60).map(row).collect();
    let data = write(&folder, "data.csv", &format!("a,b,y\n{}\n", rows.join("\n")));
    let [fit, out] = ["fit.json", "out.txt"].map(|name| text(&folder.join(name)));
    let asked = ["--target", "y", "--loss", "logistic", "--lambda-ratio", "0.05", "--out", &fit];
    run(&[&["lasso", "fit", &data][..], &asked].concat()).expect(0);
    let found = run(&["lasso", "predict", &fit, &data, "--out", &out, "--json"]).expect(0).json();
    assert!(found["accuracy"].as_f64() > Some(0.8) && found["log_loss"].as_f64() < Some(0.5), "{found}");
    let predictions = fs::read_to_string(&out).expect("predictions");
    let mean = predictions.lines().map(|line| line.parse::<f64>().expect("a number")).sum::<f64>() / 60.0;
    let events = rows.iter().filter(|row| row.ends_with('2')).count() as f64 / 60.0;
    // The intercept is not penalised: mean probability and share of events are the same.
    assert!((mean - events).abs() < 1e-3, "{mean} and {events}");
    let wrong = write(&folder, "wrong.csv", "a,b,y\n1,2,3\n");
    run(&["lasso", "predict", &fit, &wrong]).expect(2).complains(&["y, row 1: found 3, expected 1 or 2"]);
}
