//! Fields of JSON and columns of histories, against results.

use serde_json::Value;

use super::{Names, below, in_code, names, page, rows};
use crate::{TWO, equipoise, example, scratch, text, write};

/// The names in the first column of the table below a heading.
fn listed(page: &str, heading: &str) -> Names {
    let rows = rows(below(page, heading));
    rows.iter().flat_map(|row| in_code(&row[0])).map(str::to_owned).collect()
}

fn keys(value: &Value) -> Names {
    value.as_object().expect("an object").keys().cloned().collect()
}

fn flowers(name: &str) -> String {
    text(&std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/data").join(name))
}

#[test]
fn fields_of_solve_and_verify_and_columns_of_histories() {
    let page = page("results.md");
    let folder = scratch("pages-fields");
    let problem = write(&folder, "problem.toml", TWO);
    let [out, history] = ["x.json", "run.csv"].map(|name| text(&folder.join(name)));
    let solved = equipoise(&["solve", &problem, "--json", "--out", &out, "--history", &history]).expect(0);
    let sampled = example("zero-sum-lasso.toml");
    let sampled = equipoise(&["solve", &sampled, "--method", "stochastic", "--max-epochs", "5", "--json"]);
    let mut found = keys(&solved.json());
    assert!(!found.contains("candidates"), "with `stochastic` only");
    found.extend(keys(&sampled.json()));
    assert_eq!(listed(&page, "## The JSON of `solve`"), found);
    let stored: Value =
        serde_json::from_str(&std::fs::read_to_string(&out).expect("a result")).expect("JSON");
    assert_eq!(keys(&stored), keys(&solved.json()), "the file is what is printed");
    let words = below(&page, "## The JSON of `verify`");
    let said = names(in_code(words).into_iter().filter(|word| !word.contains(' ')));
    assert_eq!(said, keys(&equipoise(&["verify", &problem, &out, "--json"]).expect(0).json()));
    let header = std::fs::read_to_string(&history).expect("a history");
    let columns = below(&page, "## Histories").split("one row a checkpoint").next().unwrap_or_default();
    let said: Vec<&str> = in_code(columns).into_iter().filter(|word| !word.starts_with("--")).collect();
    assert_eq!(Some(said.join(",").as_str()), header.lines().next());
}

#[test]
fn fields_of_machines() {
    let page = page("svm.md");
    let folder = scratch("pages-svm");
    let [model, steps, plain, many] =
        ["m.json", "steps.json", "plain.json", "many.json"].map(|name| text(&folder.join(name)));
    let (table, fresh) = (flowers("flowers.csv"), flowers("flowers-new.csv"));
    let row = |k: u32| format!("{} {}:1 {}:1", k % 3, k % 3 + 1, k % 5 + 4);
    let three = write(&folder, "three", &((0..30).map(row).collect::<Vec<_>>().join("\n") + "\n"));
    let train = |data: &str, options: &[&str], model: &str| {
        equipoise(&[&["svm", "train", data, "--json", "--model", model], options].concat()).expect(0).json()
    };
    let named = ["--target", "species", "--scale", "standard"];
    let weighted = ["--class-weight", "alpine=2,meadow=1", "--probabilities"];
    let mut found = keys(&train(&table, &[&named[..], &weighted].concat(), &model));
    train(&table, &[&named[..], &["--probabilities=isotonic"]].concat(), &steps);
    found.extend(keys(&train(&three, &[], &many)));
    assert_eq!(listed(&page, "### The JSON of `train`"), found);
    let sparse = write(&folder, "sparse", "+1 1:1 4000000:1\n-1 2:1\n");
    train(&sparse, &[], &plain);
    let stored = |path: &str| -> Value {
        serde_json::from_str(&std::fs::read_to_string(path).expect("a model")).expect("JSON")
    };
    let fields: Names = [&model, &steps, &plain, &many].iter().flat_map(|path| keys(&stored(path))).collect();
    assert_eq!(listed(&page, "## The model file"), fields);

    let cv = equipoise(&["svm", "cv", &table, "--target", "species", "--costs", "0.1,1", "--json"])
        .expect(0)
        .json();
    assert_eq!(listed(&page, "### The JSON of `cv`"), keys(&cv));
    let others = below(&page, "### The JSON of the others");
    let paragraph = |name: &str| {
        let start = others.find(&format!("`{name}`: ")).expect(name);
        let rest = &others[start..];
        names(in_code(rest.split("\n\n").next().unwrap_or_default()))
    };
    let is_told = |name: &str, value: &Value| {
        let said = paragraph(name);
        let unsaid: Vec<String> = keys(value).into_iter().filter(|key| !said.contains(key)).collect();
        assert!(unsaid.is_empty(), "{name}: {unsaid:?}");
    };
    is_told("verify", &equipoise(&["svm", "verify", &model, &table, "--json"]).expect(0).json());
    is_told("predict", &equipoise(&["svm", "predict", &fresh, "--model", &model, "--json"]).expect(0).json());
    let path = ["svm", "path", &table, "--target", "species", "--costs", "0.1,1", "--test", &fresh, "--json"];
    let path = equipoise(&path).expect(0).json();
    is_told("path", &path);
    is_told("path", &path["path"][0]);
}
