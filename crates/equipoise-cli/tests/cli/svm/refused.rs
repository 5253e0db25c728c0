//! Everything that must be refused: exit status 2, one line on stderr, with the evidence.

use super::{LINE, corners, sloped, svm};
use crate::{scratch, text, write};

#[track_caller]
fn refused(args: &[&str], words: &[&str]) {
    let ran = svm(args).expect(2).complains(&["error: "]).complains(words);
    assert_eq!((ran.stdout.as_str(), ran.stderr.lines().count()), ("", 1), "{}", ran.stderr);
}

#[test]
fn data_of_one_class() {
    let folder = scratch("svm-one-label");
    let data = write(&folder, "data", "1 1:1\n1 2:1\n1 3:1\n");
    refused(&["train", &data], &[&data, "all 3 labels are 1", "one-class"]);
    refused(&["cv", &data, "--folds", "2"], &["labels", "one-class"]);
}

#[test]
fn labels_and_class_weights_that_do_not_fit() {
    let folder = scratch("svm-wrong-labels");
    let (line, three) = (write(&folder, "line", LINE), corners(&folder, "three"));
    refused(&["train", &line, "--class-weight", "2=3"], &["class-weight", "label 2", "-1", "1"]);
    refused(&["train", &line, "--class-weight", "1:3"], &["--class-weight", "1:3", "LABEL=WEIGHT"]);
    refused(&["train", &line, "--class-weight", "1=-3"], &["class-weight", "-3"]);
    refused(&["train", &three, "--kind", "nu-svc"], &["nu-svc", "3"]);
    refused(&["train", &line, "--kind", "nu-svc", "--nu", "1.5"], &["nu", "1.5"]);
    let skewed = write(&folder, "skewed", &format!("{}1 1:3\n", "-1 1:1\n-1 1:2\n".repeat(10)));
    refused(&["train", &skewed, "--kind", "nu-svc", "--nu", "0.9"], &["nu"]);
    let fractions = write(&folder, "fractions", "0.5 1:1\n1 1:2\n");
    let model = text(&folder.join("m"));
    let args = ["train", &fractions, "--model", &model, "--format", "liblinear"];
    refused(&args, &[&model, "labels[0]", "0.5", "integer", "--format equipoise"]);
    assert!(!folder.join("m").exists());
}

#[test]
fn options_of_another_kind() {
    let folder = scratch("svm-wrong-kind");
    let (line, slope) = (write(&folder, "line", LINE), sloped(&folder, "slope"));
    refused(&["train", &slope, "--kind", "svr", "--loss", "squared-hinge"], &["--loss", "--kind svr"]);
    refused(&["train", &line, "--kind", "nu-svc", "--no-bias"], &["--no-bias", "nu-svc", "has a bias"]);
    refused(&["train", &line, "--nu", "0.5"], &["--nu does not apply to --kind svc", "--cost"]);
    refused(&["train", &line, "--epsilon", "0.5"], &["--epsilon does not apply to --kind svc"]);
    refused(&["train", &line, "--kind", "one-class", "--cost", "2"], &["--cost", "one-class", "--nu"]);
    refused(&["path", &line, "--kind", "nu-svc"], &["--kind nu-svc"]);
    refused(&["cv", &line, "--folds", "2", "--kind", "nu-svc", "--costs", "1"], &["costs", "nu-svc"]);
    refused(&["path", &line, "--costs", "1,2", "--cost", "3"], &["--cost", "exclude"]);
    refused(&["path", &line, "--from", "0", "--to", "1", "--steps", "3"], &["--from is 0"]);
    refused(&["path", "-", "--costs", "1", "--test", "-"], &["standard input"]);
}

#[test]
fn settings_outside_their_range() {
    let data = write(&scratch("svm-settings"), "line", LINE);
    for (option, value) in [
        ("--cost", "0"),
        ("--cost", "-1"),
        ("--cost", "nan"),
        ("--gap", "0"),
        ("--gap", "-1e-4"),
        ("--threads", "0"),
        ("--threads", "5000"),
        ("--delay-us", "1000001"),
        ("--time-limit", "0"),
        ("--time-limit", "-1"),
        ("--max-epochs", "0"),
    ] {
        refused(&["train", &data, option, value], &["setting", &option[2..]]);
    }
    refused(&["path", &data, "--costs", "1,-1"], &["cost", "-1"]);
    refused(&["cv", &data, "--folds", "1", "--costs", "1"], &["folds is 1"]);
    refused(&["cv", &data, "--folds", "5", "--costs", "1"], &["folds is 5", "number of rows"]);
}

#[test]
fn data_that_cannot_be_read() {
    let folder = scratch("svm-bad-data");
    let nowhere = text(&folder.join("nowhere"));
    refused(&["train", &nowhere], &["cannot read", "nowhere"]);
    let data = write(&folder, "data", "1 1:1\n1 1:x\n");
    refused(&["train", &data], &["data: line 2, column"]);
    refused(&["train", &write(&folder, "empty", "\n")], &["found no rows"]);
    let (line, weights) = (write(&folder, "line", LINE), write(&folder, "weights", "1\n2\n"));
    refused(&["train", &line, "--weights", &weights], &["found 2 weights, expected 4"]);
    let weights = write(&folder, "weights", "1\n-2\n1\n1\n");
    refused(&["train", &line, "--weights", &weights], &["weights: line 2", "\"-2\"", "at least 0"]);
}

#[test]
fn outputs_that_cannot_be_written_are_refused_before_the_run() {
    let folder = scratch("svm-unwritable");
    let (data, nowhere) = (write(&folder, "line", LINE), text(&folder.join("no-such-folder/x")));
    for option in ["--model", "--history"] {
        refused(&["train", &data, option, &nowhere], &["cannot write", &nowhere]);
    }
    let model = text(&folder.join("m.json"));
    svm(&["train", &data, "--model", &model, "--quiet"]).expect(0);
    refused(&["predict", &data, "--model", &model, "--out", &nowhere], &["cannot write", &nowhere]);
}

#[test]
fn usage_errors() {
    svm(&[]).expect(2);
    svm(&["train"]).expect(2).complains(&["DATA"]);
    svm(&["trane", "x"]).expect(2).complains(&["train"]);
    svm(&["predict", "x"]).expect(2).complains(&["--model"]);
    svm(&["cv", "x", "--folds", "few"]).expect(2).complains(&["--folds"]);
    svm(&["train", "x", "--kind", "svm"]).expect(2).complains(&["svc"]);
    svm(&["train", "x", "--locking", "sinlge"]).expect(2).complains(&["single"]);
    svm(&["path", "x", "--step-rule", "block"]).expect(2).complains(&["blocks"]);
    svm(&["train", "x", "--format", "liblinear"]).expect(2).complains(&["--model"]);
    svm(&["path", "x", "--from", "1"]).expect(2).complains(&["--to", "--steps"]);
}
