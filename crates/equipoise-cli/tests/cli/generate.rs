//! `equipoise generate`: every kind, solved and verified.

use std::fs;

use crate::{Finished, equipoise, scratch, text};

const KINDS: [&[&str]; 10] = [
    &["lasso", "--size", "60"],
    &["lasso", "--size", "80", "--samples", "40", "--density", "0.2"],
    &["least-squares", "--size", "40", "--rows", "3"],
    &["least-squares", "--size", "30", "--rows", "0", "--density", "0.5"],
    &["box-qp", "--size", "45", "--rows", "1"],
    &["box-qp", "--size", "45", "--samples", "20", "--rows", "2"],
    &["simplex", "--size", "50"],
    &["simplex", "--size", "1"],
    &["logistic", "--size", "40", "--rows", "1"],
    &["synthetic", "--nodes", "40", "--block", "5", "--rows", "2", "--topology", "tree+ring"],
];

fn generate(args: &[&str], folder: &str, seed: &str) -> Finished {
    equipoise(&[&["generate"], args, &["--seed", seed, "--out", folder]].concat())
}

#[test]
fn every_kind_goes_round() {
    for (k, kind) in KINDS.iter().enumerate() {
        let folder = scratch(&format!("generate-{k}"));
        generate(kind, &text(&folder), "3").expect(0);
        let (problem, optimum) = (text(&folder.join("problem.toml")), text(&folder.join("optimum.json")));
        let known = equipoise(&["verify", &problem, &optimum, "--tolerance", "1e-8", "--json"]).expect(0);
        assert_eq!(known.stderr, "", "{kind:?}");
        let solved = text(&folder.join("solved.json"));
        let options = ["--json", "--tolerance", "1e-7", "--out", &solved];
        let found = equipoise(&[&["solve", &problem], &options[..]].concat()).expect(0).json();
        equipoise(&["verify", &problem, &solved, "--tolerance", "1e-7"]).expect(0);
        let [known, found] =
            [&known.json(), &found].map(|json| json["objective"].as_f64().expect("a number"));
        assert!((known - found).abs() <= 1e-6 * (1.0 + known.abs()), "{kind:?}: {known} {found}");
    }
}

#[test]
fn one_seed_one_problem() {
    let folders = ["a", "b", "c"].map(|name| scratch(&format!("generate-seed-{name}")));
    for (folder, seed) in folders.iter().zip(["5", "5", "6"]) {
        generate(&["box-qp", "--size", "12"], &text(folder), seed).expect(0);
    }
    let [a, b, c] = folders.map(|folder| {
        ["problem.toml", "optimum.json"].map(|name| fs::read(folder.join(name)).expect("written"))
    });
    assert_eq!(a, b);
    assert_ne!(a, c);
}

#[test]
fn the_synthetic_problem_is_a_tiny_file() {
    let folder = scratch("generate-tiny");
    generate(&["synthetic", "--nodes", "20", "--block", "3", "--rows", "2"], &text(&folder), "9").expect(0);
    let toml = fs::read_to_string(folder.join("problem.toml")).expect("written");
    for line in ["kind = \"synthetic\"", "nodes = 20", "block = 3", "rows = 2", "seed = 9"] {
        assert!(toml.lines().any(|found| found == line), "{line}: {toml}");
    }
    assert!(toml.len() < 200, "{toml}");
}

#[test]
fn a_summary_as_json() {
    let folder = text(&scratch("generate-json"));
    let json = generate(&["simplex", "--size", "9", "--json"], &folder, "1").expect(0).json();
    assert_eq!((&json["kind"], &json["variables"]), (&"simplex".into(), &9.into()));
}

#[test]
fn sizes_that_make_no_sense_are_refused() {
    let folder = text(&scratch("generate-bad"));
    let refused = |args: &[&str], word| generate(args, &folder, "0").expect(2).complains(&["error: ", word]);
    refused(&["lasso", "--size", "0"], "no variables");
    refused(&["lasso", "--density", "0"], "density");
    refused(&["lasso", "--samples", "0"], "samples");
    refused(&["box-qp", "--size", "3", "--rows", "3"], "rows");
    refused(&["synthetic", "--topology", "cliqe"], "did you mean `clique`?");
    refused(&["laso"], "lasso");
}
