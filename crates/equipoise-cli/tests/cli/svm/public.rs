//! Public data sets, as they are published. Needs the folder `EQUIPOISE_DATA`; without it the tests say what they skip.

use std::path::Path;

use super::{number, svm};
use crate::{scratch, text};

/// A file of the folder, if there is one.
fn public(file: &str) -> Option<String> {
    let Some(folder) = std::env::var_os("EQUIPOISE_DATA") else {
        println!("skipped: {file}, because EQUIPOISE_DATA is not set");
        return None;
    };
    let path = Path::new(&folder).join(file);
    if !path.exists() {
        println!("skipped: {file}, which is not in EQUIPOISE_DATA");
        return None;
    }
    Some(text(&path))
}

/// The optimum is known to lie between these: the largest dual and the smallest primal objective of earlier runs.
fn agrees(file: &str, options: &[&str], least: f64, most: f64) {
    let Some(data) = public(file) else { return };
    let json = svm(&[&["train", &data, "--json", "--quiet"], options].concat()).expect(0).json();
    let (primal, dual) = (number(&json, "primal"), number(&json, "dual"));
    assert!(primal >= least && dual <= most, "{file}: {dual} to {primal}, known: {least} to {most}");
    assert!(primal - dual <= 1e-4 * dual.abs(), "{json}");
}

#[test]
fn objectives_agree_with_libsvm() {
    // The primal objective of LIBSVM's model (tolerance 1e-8), and the dual one found here at a gap of 1e-8.
    agrees("classification/heart_scale", &["--cost", "10"], 901.2843, 901.2849);
    agrees("classification/a7a", &["--cost", "1"], 5699.17, 5699.33);
}

#[test]
fn a7a_is_learnt_and_predicted() {
    let (Some(data), Some(test)) = (public("classification/a7a"), public("classification/a7a.t")) else {
        return;
    };
    let model = text(&scratch("svm-a7a").join("m.json"));
    let json = svm(&["train", &data, "--json", "--model", &model]).expect(0).json();
    assert_eq!((number(&json, "rows"), number(&json, "columns")), (16100.0, 122.0));
    let seen = svm(&["predict", &test, "--model", &model, "--json"]).expect(0).json();
    assert_eq!(number(&seen, "rows"), 16461.0);
    assert!((number(&seen, "accuracy") - 0.848).abs() < 0.002, "{seen}");
}
