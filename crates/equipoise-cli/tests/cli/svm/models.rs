//! Model files: predictions, both formats, warm starts.

use std::fs;

use super::{LINE, corners, number, overlapping, svm};
use crate::{scratch, text, write};

/// Trains on data and returns the model's path.
fn trained(data: &str, model: &std::path::Path, options: &[&str]) -> String {
    let model = text(model);
    svm(&[&["train", data, "--quiet", "--model", &model], options].concat()).expect(0);
    model
}

#[test]
fn predictions_are_written_as_labels_stand_in_the_data() {
    let folder = scratch("svm-labels");
    let data = write(&folder, "data", "0.5 1:1\n-2 1:-1\n+3 2:1\n0.5 1:1.1\n-2 1:-1.2\n3 2:1.5\n");
    let model = trained(&data, &folder.join("m.json"), &["--cost", "100"]);
    let out = text(&folder.join("out"));
    let seen = svm(&["predict", &data, "--model", &model, "--out", &out]).expect(0);
    assert!(seen.stdout.starts_with("accuracy 100.00 % (6 of 6 rows)\nmacro F1 1.0000\n"), "{}", seen.stdout);
    assert_eq!(fs::read_to_string(&out).expect("written"), "0.5\n-2\n3\n0.5\n-2\n3\n");
}

#[test]
fn labels_that_the_model_does_not_know_count_as_wrong() {
    let folder = scratch("svm-unknown");
    let data = write(&folder, "line", LINE);
    let model = trained(&data, &folder.join("m.json"), &[]);
    let other = write(&folder, "other", "1 1:1\n7 1:1\n-1 1:-1 40:5\n8 2:1\n");
    let ran = svm(&["predict", &other, "--model", &model, "--json"]).expect(0);
    assert_eq!((number(&ran.json(), "accuracy"), number(&ran.json(), "rows")), (0.5, 4.0));
    ran.complains(&["note: left out 2 entries"]);
    let quiet = svm(&["predict", &other, "--model", &model, "--quiet"]).expect(0);
    assert_eq!((quiet.stdout.as_str(), quiet.stderr.as_str()), ("", ""));
}

#[test]
fn both_formats_predict_the_same() {
    let folder = scratch("svm-formats");
    for (name, data) in [("two", overlapping(&folder, "two", 80)), ("three", corners(&folder, "three"))] {
        let own = trained(&data, &folder.join(format!("{name}.json")), &[]);
        let other = trained(&data, &folder.join(format!("{name}.txt")), &["--format", "liblinear"]);
        let predictions = |model: &str| {
            let out = text(&folder.join("out"));
            svm(&["predict", &data, "--model", model, "--out", &out]).expect(0);
            fs::read_to_string(&out).expect("written")
        };
        assert_eq!(predictions(&own), predictions(&other), "{name}");
        assert!(fs::read_to_string(&other).expect("text").starts_with("solver_type L2R_L1LOSS_SVC_DUAL\n"));
    }
}

#[test]
fn a_warm_start_of_either_format_begins_at_its_model() {
    let folder = scratch("svm-warm");
    let data = overlapping(&folder, "data", 200);
    let options = ["--cost", "10", "--gap", "1e-7"];
    let epochs = |more: &[&str]| {
        let json = svm(&[&["train", &data, "--json"], &options[..], more].concat()).expect(0).json();
        number(&json, "epochs")
    };
    let cold = epochs(&[]);
    for format in ["equipoise", "liblinear"] {
        let model = trained(&data, &folder.join(format), &[&options[..], &["--format", format]].concat());
        let warm = epochs(&["--warm-start", &model]);
        assert!(warm <= cold, "{format}: {warm} epochs, {cold} without");
    }
}

#[test]
fn a_warm_start_may_know_other_features() {
    let folder = scratch("svm-warm-features");
    let data = overlapping(&folder, "data", 100);
    let other = write(&folder, "other", "-1 1:1 5:1\n1 3:1 9:2 12:1\n1 12:1\n-1 5:2\n");
    let model = trained(&other, &folder.join("m.json"), &[]);
    svm(&["train", &data, "--warm-start", &model, "--quiet"]).expect(0);
}

#[test]
fn warm_starts_of_another_kind_or_other_labels_are_refused() {
    let folder = scratch("svm-warm-wrong");
    let data = overlapping(&folder, "data", 60);
    let model = trained(&data, &folder.join("m.json"), &[]);
    let wrong = svm(&["train", &data, "--kind", "one-class", "--warm-start", &model]).expect(2);
    wrong.complains(&["m.json", "found kind svc, expected one-class"]);
    let three = corners(&folder, "three");
    let wrong = svm(&["train", &three, "--warm-start", &model]).expect(2);
    wrong.complains(&["m.json", "labels [-1.0, 1.0]", "[1.0, 4.0, 7.0]"]);
}

#[test]
fn features_far_apart_cost_no_memory() {
    let folder = scratch("svm-far");
    let data = write(&folder, "data", "1 1:1 4294967295:1\n-1 3:1\n1 1:2\n-1 3:2 4294967290:1\n");
    let model = trained(&data, &folder.join("m.json"), &["--cost", "10"]);
    assert!(fs::metadata(&model).expect("written").len() < 1000);
    let seen = svm(&["predict", &data, "--model", &model, "--json"]).expect(0).json();
    assert_eq!(number(&seen, "accuracy"), 1.0);
    let text = text(&folder.join("m.txt"));
    let refused = svm(&["train", &data, "--model", &text, "--format", "liblinear"]).expect(2);
    refused.complains(&["feature 4294967295", "LIBLINEAR"]);
}

#[test]
fn a_walk_through_every_model_file_that_is_none() {
    let folder = scratch("svm-no-model");
    let data = write(&folder, "line", LINE);
    for (content, words) in [
        ("", "m: line 1"),
        ("{\"x\": [1]}", "`format`: found nothing"),
        ("solver_type MCSVM_CS\n", "MCSVM_CS"),
        ("svm_type c_svc\n", "m: line 1"),
    ] {
        let model = write(&folder, "m", content);
        svm(&["predict", &data, "--model", &model]).expect(2).complains(&["error: ", words]);
    }
    let nowhere = text(&folder.join("nowhere"));
    svm(&["predict", &data, "--model", &nowhere]).expect(2).complains(&["cannot read", "nowhere"]);
}
