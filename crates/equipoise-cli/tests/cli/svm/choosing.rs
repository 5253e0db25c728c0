//! `cv` and `path`: walks through costs, scores, the best cost.

use super::{number, overlapping, sloped, svm};
use crate::{numbers, scratch};

#[test]
fn a_path_gives_the_objectives_of_single_trainings() {
    let folder = scratch("svm-path");
    let data = overlapping(&folder, "data", 120);
    let args =
        ["path", &data, "--from", "0.1", "--to", "10", "--steps", "3", "--gap", "1e-7", "--test", &data];
    let json = svm(&[&args[..], &["--json"]].concat()).expect(0).json();
    assert_eq!(json["status"], "converged");
    let steps = json["path"].as_array().expect("a list");
    assert_eq!(steps.len(), 3);
    for (step, cost) in steps.iter().zip(["0.1", "1", "10"]) {
        let found = step["cost"].as_f64().expect("a number");
        assert!((found / cost.parse::<f64>().expect("a number") - 1.0).abs() < 1e-12);
        let alone = svm(&["train", &data, "--cost", cost, "--gap", "1e-7", "--json"]).expect(0).json();
        assert!((number(step, "primal") / number(&alone, "primal") - 1.0).abs() < 1e-6, "{step}");
        assert!(number(step, "relative_gap") <= 1e-7 && number(step, "accuracy") > 0.8, "{step}");
        for field in ["dual", "bias", "support", "seconds"] {
            assert!(step[field].is_number(), "{field}: {step}");
        }
    }
    let words = svm(&args).expect(0).stdout;
    assert_eq!(words.lines().count(), 4, "{words}");
    for word in ["cost", "primal", "dual", "gap", "bias", "support", "seconds", "accuracy", " %"] {
        assert!(words.contains(word), "{word}: {words}");
    }
}

#[test]
fn a_path_may_run_down_and_tests_a_regression_by_its_error() {
    let data = sloped(&scratch("svm-path-svr"), "data");
    let args = ["path", &data, "--kind", "svr", "--costs", "10,1,0.1", "--test", &data, "--json"];
    let json = svm(&args).expect(0).json();
    let mse: Vec<f64> =
        json["path"].as_array().expect("a list").iter().map(|step| number(step, "mse")).collect();
    assert!(mse.is_sorted(), "less cost, more error: {mse:?}");
}

#[test]
fn cross_validation_scores_every_cost_on_every_fold() {
    let data = overlapping(&scratch("svm-cv"), "data", 150);
    let args = ["cv", &data, "--folds", "3", "--costs", "1e-5,1", "--json"];
    let ran = svm(&args).expect(0);
    let json = ran.json();
    assert_eq!((json["status"].as_str(), json["score"].as_str()), (Some("converged"), Some("accuracy")));
    let costs = json["costs"].as_array().expect("a list");
    assert_eq!(costs.len(), 2);
    for cost in costs {
        let scores = numbers(&cost["scores"]);
        assert_eq!(scores.len(), 3);
        assert!((scores.iter().sum::<f64>() / 3.0 - number(cost, "mean")).abs() < 1e-12);
        assert!(number(cost, "relative_gap") <= 1e-4);
    }
    assert_eq!(number(&json, "best_cost"), 1.0);
    let two = svm(&[&args[..], &["--threads", "2"]].concat()).expect(0).json();
    assert_eq!(two["costs"], json["costs"], "threads change nothing");
    let other = svm(&[&args[..], &["--seed", "1"]].concat()).expect(0).json();
    assert_ne!(other["costs"], json["costs"], "another seed deals other folds");
    let words = svm(&args[..args.len() - 1]).expect(0).stdout;
    assert!(words.contains("accuracy") && words.ends_with("best: --cost 1\n"), "{words}");
}

#[test]
fn cross_validation_of_other_kinds() {
    let folder = scratch("svm-cv-kinds");
    let (two, slope) = (overlapping(&folder, "two", 100), sloped(&folder, "slope"));
    let json = svm(&["cv", &slope, "--kind", "svr", "--folds", "4", "--costs", "0.001,10", "--json"])
        .expect(0)
        .json();
    assert_eq!((json["score"].as_str(), number(&json, "best_cost")), (Some("mse"), 10.0));
    let json =
        svm(&["cv", &two, "--kind", "nu-svc", "--nu", "0.7", "--folds", "2", "--json"]).expect(0).json();
    assert!(json["best_cost"].is_null() && number(&json["costs"][0], "mean") > 0.7, "{json}");
}

#[test]
fn a_limit_before_the_first_fit_leaves_nothing() {
    let data = overlapping(&scratch("svm-cv-limit"), "data", 200);
    for command in
        [&["cv", &data, "--folds", "2", "--cost", "100"][..], &["path", &data, "--costs", "100,200"]]
    {
        let ran = svm(&[command, &["--gap", "1e-15", "--time-limit", "1e-9", "--json"]].concat()).expect(2);
        assert_eq!(ran.json()["error"]["exit_status"], 2, "{}", ran.stdout);
        ran.complains(&["time limit reached while", "nothing was written"]);
    }
}
