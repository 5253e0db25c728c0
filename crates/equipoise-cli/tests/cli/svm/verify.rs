//! `svm verify`: models of either format, as they are and spoilt; what is missing is named.

use std::fs;

use super::{corners, number, overlapping, sloped, svm};
use crate::{scratch, text, write};

#[test]
fn a_model_that_was_just_trained_is_met_and_one_that_was_changed_is_not() {
    let folder = scratch("svm-verify");
    let data = overlapping(&folder, "data", 120);
    for (kind, options) in [
        ("svc", &["--cost", "3", "--class-weight", "1=2.5"][..]),
        ("svc", &["--loss", "squared-hinge", "--cost", "0.1"]),
        ("nu-svc", &["--nu", "0.8"]),
        ("one-class", &["--nu", "0.3"]),
    ] {
        let model = text(&folder.join("m.json"));
        let train = ["train", &data, "--quiet", "--model", &model, "--kind", kind, "--gap", "1e-6"];
        svm(&[&train[..], options].concat()).expect(0);
        let json = svm(&["verify", &model, &data, "--json"]).expect(0).json();
        assert_eq!(json["met"], true, "{kind}: {json}");
        assert!(number(&json, "primal") >= number(&json, "dual"), "{kind}: {json}");
        assert!(number(&json, "relative_gap") <= 1e-4, "{kind}: {json}");
        assert_eq!(json["classes"].as_array().map(Vec::len), Some(1));
        let words = svm(&["verify", &model, &data]).expect(0).stdout;
        assert!(words.starts_with("met: ") && words.contains("at least"), "{words}");
        // Another bias is not as good.
        let written = fs::read_to_string(&model).expect("a model");
        let (head, tail) = written.split_once("\"bias\":[").expect("a bias");
        let spoilt = write(
            &folder,
            "spoilt.json",
            &format!("{head}\"bias\":[9e1{}", &tail[tail.find(']').expect("an end")..]),
        );
        let words = svm(&["verify", &spoilt, &data]).expect(1).stdout;
        assert!(words.starts_with("not met: the relative gap is"), "{words}");
    }
}

#[test]
fn models_without_a_bias() {
    let folder = scratch("svm-no-bias");
    let (data, model) = (overlapping(&folder, "data", 120), text(&folder.join("m.json")));
    let with = svm(&["train", &data, "--json"]).expect(0).json();
    let json = svm(&["train", &data, "--no-bias", "--json", "--model", &model]).expect(0).json();
    assert!(number(&json, "primal") > number(&with, "primal"), "{json}");
    assert_eq!(svm(&["verify", &model, &data, "--no-bias", "--json"]).expect(0).json()["met"], true);
    // Against the problem with a bias it is not the best.
    assert_eq!(svm(&["verify", &model, &data, "--json"]).expect(1).json()["met"], false);
    svm(&["train", &data, "--quiet", "--model", &model]).expect(0);
    let said = svm(&["verify", &model, &data, "--no-bias"]).expect(2).stderr;
    assert!(said.contains("bias of the model") && said.contains("no bias"), "{said}");
}

#[test]
fn regressions_and_several_labels() {
    let folder = scratch("svm-verify-kinds");
    let model = text(&folder.join("m.json"));
    let data = sloped(&folder, "sloped");
    svm(&[
        "train",
        &data,
        "--quiet",
        "--kind",
        "svr",
        "--epsilon",
        "0.05",
        "--gap",
        "1e-5",
        "--model",
        &model,
    ])
    .expect(0);
    svm(&["verify", &model, &data]).expect(0);
    let data = corners(&folder, "corners");
    svm(&["train", &data, "--quiet", "--gap", "1e-5", "--model", &model]).expect(0);
    let json = svm(&["verify", &model, &data, "--json"]).expect(0).json();
    let classes = json["classes"].as_array().expect("classes");
    assert_eq!(classes.len(), 3);
    assert!(
        classes.iter().all(|class| class["met"] == true && number(class, "primal") >= number(class, "dual"))
    );
    let words = svm(&["verify", &model, &data]).expect(0).stdout;
    assert!(words.contains("label 4"), "{words}");
}

/// LIBLINEAR's own text, with its bias behind the features; the file does not say the cost.
#[test]
fn a_model_of_liblinear_wants_to_know_its_cost() {
    let folder = scratch("svm-verify-liblinear");
    let data = write(&folder, "line", "-1 1:-2\n-1 1:-1\n1 1:1\n1 1:2\n");
    // The first label is the positive one for LIBLINEAR; w = 1, b = 0.
    let head = "solver_type L2R_L1LOSS_SVC_DUAL\nnr_class 2\nlabel -1 1\nnr_feature 1\nbias 1\nw\n";
    let model = write(&folder, "liblinear", &format!("{head}-1 \n0 \n"));
    svm(&["verify", &model, &data]).expect(2).complains(&["--cost is missing", "liblinear"]);
    let json = svm(&["verify", &model, &data, "--cost", "1", "--json"]).expect(0).json();
    assert!((number(&json, "primal") - 0.5).abs() < 1e-12 && json["met"] == true, "{json}");
    // A weight of a feature that the data lack is part of w'w.
    let head = head.replace("nr_feature 1", "nr_feature 2");
    let model = write(&folder, "wider", &format!("{head}-1 \n3 \n0 \n"));
    let json = svm(&["verify", &model, &data, "--cost", "1", "--json"]).expect(1).json();
    assert!((number(&json, "primal") - 5.0).abs() < 1e-12, "{json}");
    let other = write(&folder, "other", "3 1:-2\n4 1:2\n");
    svm(&["verify", &model, &other, "--cost", "1"]).expect(2).complains(&["labels"]);
    svm(&["verify", &model, &data, "--cost", "1", "--kind", "svr"]).expect(2).complains(&["--kind svr"]);
}
