//! Data in files that stay there: LIBSVM text, memory budgets, faults.

use std::fs::{self, read_to_string};
use std::path::Path;

use crate::{equipoise, scratch, text, write};

/// A budget smaller than the data.
const BY_SAMPLES: &str = "[solve]\nmethod = \"svrg\"\nmemory-budget = \"0.1k\"\n";

/// Rows that are not regular.
fn csv(rows: usize) -> String {
    let row = |r: usize| format!("{},{},{}\n", r % 5, (r * r) % 7, 1.5 - (r % 3) as f64);
    (0..rows).map(row).collect()
}

/// A problem in a folder, loaded, and once more with its data left in the file.
fn both(folder: &Path, smooth: &str) -> (String, String) {
    let problem = format!("{smooth}\n[coupling]\nkind = \"sum\"\nrhs = 1\n");
    let by_samples = BY_SAMPLES.replace("\"0.1k\"", "100");
    (write(folder, "p.toml", &problem), write(folder, "s.toml", &format!("{problem}{by_samples}")))
}

/// The optimum of the loaded problem is met by the one that reads its file, with the same numbers.
fn agree(folder: &Path, smooth: &str) {
    let (loaded, streamed) = both(folder, smooth);
    let out = text(&folder.join("x.json"));
    equipoise(&["solve", &loaded, "--out", &out, "--quiet"]).expect(0);
    let [a, b] =
        [loaded, streamed].map(|path| equipoise(&["verify", &path, &out, "--json"]).expect(0).json());
    for field in ["objective", "duality_gap", "kkt_residual"] {
        let [a, b] = [&a, &b].map(|json| json[field].as_f64().expect("a number"));
        assert!((a - b).abs() <= 1e-9 * (1.0 + a.abs()), "{field}: {a} and {b}");
    }
}

#[test]
fn a_matrix_beyond_the_budget_is_certified_from_its_file() {
    let folder = scratch("samples-csv");
    write(&folder, "m.csv", &csv(40));
    let target: Vec<String> = (0..40).map(|r| format!("{}", r % 4 - 1)).collect();
    let smooth =
        format!("kind = \"huber\"\ndelta = 0.5\nmatrix = \"m.csv\"\ntarget = [{}]", target.join(", "));
    agree(&folder, &format!("[smooth]\n{smooth}\n"));
    let ridge = "[[smooth.terms]]\nkind = \"distance\"\ntarget = [0, 0, 0]\n";
    agree(&folder, &format!("[smooth]\nkind = \"sum\"\n[[smooth.terms]]\n{smooth}\n{ridge}"));
}

#[test]
fn auto_with_a_budget_reads_the_file_row_by_row() {
    let folder = scratch("samples-auto");
    write(&folder, "m.csv", &csv(60));
    write(&folder, "y.csv", &"0\n1\n2\n3\n".repeat(15));
    let smooth = "[smooth]\nkind = \"least-squares\"\nmatrix = \"m.csv\"\ntarget = \"y.csv\"\n";
    let (loaded, _) = both(&folder, smooth);
    let best = equipoise(&["solve", &loaded, "--json"]).expect(0).json();
    assert_eq!(best["reason"].as_str().map(|reason| reason.contains("disk")), Some(false), "{best}");
    let out = text(&folder.join("auto.json"));
    let found =
        equipoise(&["solve", &loaded, "--json", "--memory-budget", "200", "--out", &out]).expect(0).json();
    assert_eq!((&found["status"], &found["method"]), (&"converged".into(), &"svrg".into()));
    assert_eq!(found["reason"], "the samples are read from disk, in order");
    let [a, b] = [&best, &found].map(|json| json["objective"].as_f64().expect("a number"));
    assert!((a - b).abs() <= 2e-6 * (1.0 + a.abs()), "{a} and {b}");
    // What was found by rows of the file is certified from the whole matrix, and the other way round.
    equipoise(&["verify", &loaded, &out]).expect(0);
    let budget = write(
        &folder,
        "budget.toml",
        &format!("{smooth}\n[coupling]\nkind = \"sum\"\nrhs = 1\n[solve]\nmemory-budget = 200\n"),
    );
    assert_eq!(equipoise(&["solve", &budget, "--json"]).expect(0).json()["method"], "svrg");
    equipoise(&["verify", &budget, &out]).expect(0);
    // A budget that the matrix fits into changes nothing.
    let roomy = equipoise(&["solve", &loaded, "--json", "--memory-budget", "1M"]).expect(0).json();
    assert_eq!(roomy["reason"], best["reason"]);
}

#[test]
fn labels_of_a_libsvm_file_are_the_target() {
    let folder = scratch("samples-svm");
    let row = |r: usize| {
        format!("{} {}:{} 4:0.5\n", if r.is_multiple_of(3) { -1 } else { 1 }, 1 + r % 3, r % 5 + 1)
    };
    write(&folder, "m.svm", &(0..60).map(row).collect::<String>());
    let ridge = "[[smooth.terms]]\nkind = \"distance\"\ntarget = [0, 0, 0, 0]\nweight = 0.1\n";
    let loss = "[smooth]\nkind = \"sum\"\n[[smooth.terms]]\nkind = \"logistic\"\nmatrix = \"m.svm\"\n";
    agree(&folder, &format!("{loss}{ridge}"));
}

#[test]
fn a_fault_in_the_file_names_its_row() {
    let folder = scratch("samples-fault");
    write(&folder, "m.csv", &csv(20));
    let smooth = "[smooth]\nkind = \"least-squares\"\nmatrix = \"m.csv\"\ntarget = \"y.csv\"\n";
    write(&folder, "y.csv", &"1\n".repeat(20));
    let (_, streamed) = both(&folder, smooth);
    let x = write(&folder, "x.json", "{\"x\": [1, 0, 0]}");
    equipoise(&["verify", &streamed, &x]).expect(1);
    let damaged = read_to_string(folder.join("m.csv")).expect("readable").replacen("1,1,0.5", "1,nan,0.5", 1);
    fs::write(folder.join("m.csv"), damaged).expect("writable");
    let refused = equipoise(&["verify", &streamed, &x]).expect(2);
    refused.complains(&["s.toml: [smooth]: sample 1: ", "m.csv: row 1, column 1 is NaN"]);
    equipoise(&["solve", &streamed]).expect(2).complains(&["sample 1: "]);
    write(&folder, "y.csv", "1\n2\n");
    equipoise(&["solve", &streamed]).expect(2).complains(&["target: found 2 entries, expected 20"]);
}

#[test]
fn budgets_are_bytes_with_or_without_a_unit() {
    let folder = scratch("samples-budget");
    let (problem, _) = both(&folder, "[smooth]\nkind = \"distance\"\ntarget = [1, 2]\n");
    for budget in ["4096", "1k", "1M", "1G", "1KiB", "64MiB", "1 GiB"] {
        equipoise(&["solve", &problem, "--memory-budget", budget, "--quiet"]).expect(0);
    }
    for budget in ["-1", "1.5M", "64Mb", "much"] {
        let refused = equipoise(&["solve", &problem, &format!("--memory-budget={budget}")]).expect(2);
        refused.complains(&["a whole number of bytes"]);
    }
    let wrong = write(&folder, "w.toml", &format!("[smooth]\nkind = \"linear\"\nlinear = [1]\n{BY_SAMPLES}"));
    equipoise(&["solve", &wrong])
        .expect(2)
        .complains(&["`memory-budget` in [solve]", "a whole number of bytes"]);
}
