//! `equipoise lab` and `equipoise report`: cells are run once, killed runs go on, pages are whole; what is refused.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::{TWO, command, equipoise, piped, scratch, text, write};

/// The records of an experiment.
fn records(folder: &Path, experiment: &str) -> usize {
    let Ok(entries) = fs::read_dir(folder.join("cells").join(experiment)) else { return 0 };
    let json = |entry: &fs::DirEntry| entry.path().extension().is_some_and(|ending| ending == "json");
    entries.flatten().filter(json).count()
}

/// A page that asks for nothing from elsewhere.
fn page(path: &Path) -> String {
    let html = fs::read_to_string(path).expect("a page");
    assert!(html.starts_with("<!doctype html>") && html.ends_with("</html>\n"));
    for forbidden in ["http://", "https://", "src="] {
        assert!(!html.contains(forbidden), "{forbidden}");
    }
    html
}

#[test]
fn theory_finds_what_theory_says_and_is_not_run_twice() {
    let folder = scratch("lab-theory");
    let out = text(&folder);
    let ran = equipoise(&["lab", "theory", "--out", &out]).expect(0);
    assert!(ran.stdout.contains("lock-free-star  not reproduced"), "{}", ran.stdout);
    let claims = fs::read_to_string(folder.join("claims.json")).expect("claims");
    let claims: Value = serde_json::from_str(&claims).expect("JSON");
    let verdict = |name: &str| {
        let all = claims.as_array().expect("a list").iter();
        all.clone()
            .find(|claim| claim["name"] == name)
            .map(|claim| claim["verdict"].clone())
            .expect("the claim")
    };
    assert_eq!(verdict("theorems"), "reproduced");
    assert_eq!(verdict("accelerated"), "beyond");
    assert_eq!(verdict("async-step"), "beyond");
    let html = page(&folder.join("index.html"));
    assert!(html.contains("equipoise lab theory --scale quick") && html.contains("Late reads"));
    let figures = fs::read_dir(folder.join("figures")).expect("figures").flatten().map(|file| file.path());
    let (painted, drawn): (Vec<_>, Vec<_>) =
        figures.partition(|file| file.extension().is_some_and(|found| found == "png"));
    assert!(painted.len() >= 5 && painted.len() == drawn.len(), "{painted:?} {drawn:?}");
    assert!(painted.iter().all(|file| fs::read(file).is_ok_and(|bytes| bytes.starts_with(b"\x89PNG"))));
    let first = fs::read(folder.join("index.html")).expect("a page");
    let again = equipoise(&["lab", "theory", "--out", &out]).expect(0);
    assert!(again.stdout.contains("\n0 cells run now, 24 found in records"), "{}", again.stdout);
    assert!(fs::read(folder.join("index.html")).expect("a page") == first, "from the records alone");
    // A record is something that can be shown.
    let cell = folder.join("cells/theory/kind-steps_seed-1.json");
    let shown = text(&folder.join("cell.html"));
    equipoise(&["report", &text(&cell), "--out", &shown]).expect(0);
    assert!(page(Path::new(&shown)).contains("Experiment <code>theory</code>"));
    // Down a pipe it has no file of rows beside it.
    let record = fs::read_to_string(&cell).expect("a record");
    let shown = piped(&["report", "-", "--out", "-"], &record).expect(0).stdout;
    assert!(
        shown.contains("Experiment <code>theory</code>")
            && shown.contains("which standard input does not name")
    );
}

#[test]
fn a_killed_run_goes_on() {
    let folder = scratch("lab-killed");
    let args = ["lab", "methods", "--seeds", "1", "--out", &text(&folder)];
    let mut child = command(&args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("starts");
    let begun = Instant::now();
    while records(&folder, "methods") < 2 && begun.elapsed() < Duration::from_secs(120) {
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().expect("killed");
    child.wait().expect("ended");
    assert!(!folder.join("index.html").exists(), "nothing is shown before all is there");
    let before = records(&folder, "methods");
    assert!(before >= 2, "{before}");
    let ran = equipoise(&args).expect(0);
    let words = format!("{} cells run now, {before} found in records", 10 - before);
    assert!(ran.stdout.contains(&words), "{}", ran.stdout);
    page(&folder.join("index.html"));
}

#[test]
fn what_cannot_be_done_is_said_and_leaves_nothing() {
    equipoise(&["lab", "theory", "--out", "/proc/nowhere"]).expect(2).complains(&["/proc/nowhere", "--out"]);
    let folder = scratch("lab-refused");
    let out = text(&folder.join("out"));
    let empty = text(&folder);
    equipoise(&["lab", "svm", "--data", &empty, "--out", &out]).expect(2).complains(&["a7a", "--data"]);
    let spelt = ["--threads", "1,auto", "--seeds", "1e0"];
    equipoise(&[&["lab", "svm", "--data", &empty, "--out", &out], &spelt[..]].concat())
        .expect(2)
        .complains(&["a7a", "--data"]);
    assert!(!folder.join("out").exists());
    equipoise(&["lab", "theory", "--threads", "0", "--out", &out]).expect(2).complains(&["--threads"]);
    equipoise(&["lab", "nothing"]).expect(2);
}

#[test]
fn histories_stand_side_by_side() {
    let folder = scratch("report-histories");
    let problem = write(&folder, "problem.toml", TWO);
    for method in ["pairs", "auto"] {
        let history = text(&folder.join(format!("{method}.csv")));
        let plot = text(&folder.join(format!("{method}.svg")));
        equipoise(&["solve", &problem, "--method", method, "--history", &history, "--plot", &plot]).expect(0);
        let svg = fs::read_to_string(&plot).expect("a plot");
        assert!(svg.starts_with("<svg") && svg.contains("Objective"));
    }
    let [pairs, auto, out] = ["pairs.csv", "auto.csv", "both.html"].map(|name| text(&folder.join(name)));
    equipoise(&["report", &pairs, &auto, "--out", &out]).expect(0);
    let html = page(Path::new(&out));
    for piece in ["Runs side by side", "pairs</button>", "auto</button>", "Gap over time"] {
        assert!(html.contains(piece), "{piece}");
    }
    equipoise(&["report", &pairs, "--out", &pairs]).expect(2).complains(&["it is the input"]);
    equipoise(&["report", &problem, "--out", &out]).expect(2).complains(&["neither a history"]);
    equipoise(&["report", "nowhere.csv", "--out", &out]).expect(2).complains(&["nowhere.csv"]);
}

/// Every command that writes a history.
#[test]
fn histories_of_all_commands_are_shown() {
    let folder = scratch("report-models");
    let rows: Vec<String> = (0..24)
        .map(|k| {
            let [a, b] = [f64::from(k % 5), f64::from(k * k % 7)];
            format!("{a},{b},{}", 2.0 * a - b + f64::from(k % 3))
        })
        .collect();
    let table = write(&folder, "table.csv", &format!("a,b,y\n{}\n", rows.join("\n")));
    let plants = write(
        &folder,
        "plants.csv",
        "name,cost,lower,upper,c2,c1\nu,quadratic,0,9,0.5,1\nv,quadratic,0,9,0.2,2\n",
    );
    let prices = (0..30).map(|k| format!("{},{},{}", 50 + k * k % 7, 40 + k % 5, 30 + k * 3 % 11));
    let prices = write(&folder, "prices.csv", &format!("p,q,r\n{}\n", prices.collect::<Vec<_>>().join("\n")));
    for (name, command, shown) in [
        (
            "svm",
            format!("svm train {table} --target y --kind svr"),
            &["Gap over epochs", "Objective over time"][..],
        ),
        ("constrained", format!("constrained fit {table} --target y --simplex"), &["Gap over rounds"]),
        (
            "consensus",
            format!("consensus {table} --shards 2 --loss ridge --target y"),
            &["Gap over messages"],
        ),
        ("fused", format!("fused fit {table} --column y --choose bic"), &["lambda ", "Gap over time"]),
        ("allocate", format!("allocate {plants} --demand 10"), &["Residual over time"]),
        ("portfolio", format!("portfolio {prices} --frontier 3"), &["point 1</button>", "Gap over time"]),
        (
            "lasso-fit",
            format!("lasso fit {table} --target y --lambda-ratio 0.3"),
            &["<h2>Path: lasso-fit</h2>", "nonzeros"],
        ),
        (
            "lasso-path",
            format!("lasso path {table} --target y"),
            &["Coefficients that are not 0", "Gap along the path"],
        ),
        ("lasso-cv", format!("lasso cv {table} --target y --folds 3"), &["Coefficients that are not 0"]),
    ] {
        let history = text(&folder.join(format!("{name}.csv")));
        let words: Vec<&str> = command.split(' ').chain(["--history", &history]).collect();
        let ran = equipoise(&words);
        assert!(ran.status < Some(2), "{name}: {}", ran.stderr);
        let out = text(&folder.join(format!("{name}.html")));
        equipoise(&["report", &history, "--out", &out]).expect(0);
        let html = page(Path::new(&out));
        for piece in shown {
            assert!(html.contains(piece), "{name}: no {piece:?}");
        }
    }
}

#[test]
fn reports_go_through_pipes() {
    let history = "pass,seconds,infeasibility,price_1\n1,0.1,2,3\n2,0.2,1,4\n";
    let shown = piped(&["report", "-", "--out", "-"], history).expect(0);
    assert!(shown.stdout.starts_with("<!doctype html>") && shown.stdout.contains("Report on -"));
    let walked = "lambda,objective,bound,relative_gap,nonzeros\n2,5,5,1e-9,0\n1,4,4,1e-9,1\n";
    let shown = piped(&["report", "-", "--out", "-"], walked).expect(0);
    assert!(shown.stdout.contains("Gap along the path"));
    piped(&["report", "-", "--out", "-"], "x,y\n1,2\n")
        .expect(2)
        .complains(&["standard input", "neither a history"]);
    let broken = "pass,seconds,infeasibility\n1,0.1\n";
    piped(&["report", "-", "--out", "-"], broken).expect(2).complains(&["standard input", "line 2", "1,0.1"]);
}

#[test]
fn paths_of_machines_are_plotted_and_reported() {
    let folder = scratch("report-svm");
    let row =
        |k: usize| format!("{} 1:{} 2:{}", if k.is_multiple_of(2) { "+1" } else { "-1" }, k % 7, (k * 3) % 5);
    let rows = (0..40).map(row).collect::<Vec<_>>().join("\n") + "\n";
    let data = write(&folder, "data", &rows);
    let [train, path, cv] = ["train.svg", "path.svg", "cv.svg"].map(|name| text(&folder.join(name)));
    equipoise(&["svm", "train", &data, "--plot", &train]).expect(0);
    let walked =
        equipoise(&["svm", "path", &data, "--costs", "0.1,1,10", "--json", "--plot", &path]).expect(0);
    equipoise(&["svm", "cv", &data, "--folds", "2", "--costs", "0.1,1", "--plot", &cv]).expect(0);
    for plot in [&train, &path, &cv] {
        assert!(fs::read_to_string(plot).expect("a plot").starts_with("<svg"), "{plot}");
    }
    let json = write(&folder, "path.json", &walked.stdout);
    let out = text(&folder.join("path.html"));
    equipoise(&["report", &json, "--out", &out]).expect(0);
    assert!(page(Path::new(&out)).contains("support vectors against the cost"));
}

#[test]
fn signals_in_pieces_and_frontiers_are_reported_with_what_is_in_them() {
    let folder = scratch("report-pieces");
    let signal: Vec<String> =
        (0..40).map(|k| (f64::from(k % 7) + if k > 20 { 5.0 } else { 0.0 }).to_string()).collect();
    let signal = write(&folder, "signal.csv", &(signal.join("\n") + "\n"));
    let walked = equipoise(&["fused", "path", &signal, "--steps", "9", "--json"]).expect(0);
    let path = write(&folder, "pieces.json", &walked.stdout);
    let out = text(&folder.join("pieces.html"));
    equipoise(&["report", &path, "--out", &out]).expect(0);
    let html = page(Path::new(&out));
    for piece in ["In pieces, at lambda", "What the choice goes by", "Pieces along the path"] {
        assert!(html.contains(piece), "no {piece:?}");
    }
    let prices = (0..30).map(|k| format!("{},{},{}", 50 + k * k % 7, 40 + k % 5, 30 + k * 3 % 11));
    let prices = write(&folder, "prices.csv", &format!("p,q,r\n{}\n", prices.collect::<Vec<_>>().join("\n")));
    let found = equipoise(&["portfolio", &prices, "--frontier", "3", "--json"]).expect(0).stdout;
    let value: Value = serde_json::from_str(&found).expect("JSON");
    let points = value["points"].as_array().expect("points").iter();
    let weights = points.flat_map(|point| point["weights"].as_object().expect("by name").values());
    let weight = weights.filter_map(Value::as_f64).find(|weight| (0.01..0.99).contains(weight));
    let weight = weight.expect("some weight is not 0").to_string();
    let path = write(&folder, "frontier.json", &found);
    let out = text(&folder.join("frontier.html"));
    equipoise(&["report", &path, "--out", &out]).expect(0);
    let html = page(Path::new(&out));
    assert!(html.contains("Weights along the frontier") && html.contains(">target return</th>"));
    // Pages have six digits.
    assert!(html.contains(&weight[..6]), "the weight {weight} is drawn");
}

#[test]
fn packed_histories_are_reported() {
    let folder = scratch("report-packed");
    let history = "pass,seconds,infeasibility\n1,0.1,2\n2,0.2,1\n";
    let packed = folder.join("history.csv.gz");
    fs::write(&packed, crate::gzip(history.as_bytes())).expect("writable");
    let out = text(&folder.join("page.html"));
    equipoise(&["report", &text(&packed), "--out", &out]).expect(0);
    assert!(page(Path::new(&out)).contains("history</button>"));
}
