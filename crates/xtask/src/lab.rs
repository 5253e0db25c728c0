//! `cargo xtask lab`: the experiments of the paper at their quick scale, what they must find, and their page in a browser.
//!
//! Statistics are asserted, never times: what depends on the speed of a machine is left open here.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use crate::check::{Skipped, cargo, root, run, target_folder};

/// Claims, and what must become of them on any machine.
const EXPECTED: [(&str, &str); 11] = [
    ("connectivity", "reproduced"),
    ("sparse-graphs", "not reproduced"),
    ("rate", "reproduced"),
    ("feasible", "reproduced"),
    ("theorems", "reproduced"),
    ("accelerated", "beyond"),
    ("lock-free-star", "not reproduced"),
    ("async-step", "beyond"),
    ("cluster-bytes", "beyond"),
    ("cluster-pairs", "reproduced"),
    ("cluster-damping", "beyond"),
];

/// Runs everything, twice: the second time there must be nothing left to run.
pub(crate) fn test() -> Result<()> {
    // As the examples and the Python package are built: with other targets the features differ, and all is compiled anew.
    cargo(&["build", "--workspace", "--lib", "--bins", "--examples"])?;
    let out = target_folder().join("lab");
    if out.exists() {
        fs::remove_dir_all(&out).with_context(|| format!("cannot remove {}", out.display()))?;
    }
    let program = target_folder().join("debug/equipoise");
    let [program, folder] = [program.to_string_lossy(), out.to_string_lossy()];
    let arguments = ["lab", "all", "--scale", "quick", "--threads", "1,2", "--seeds", "2", "--out", &folder];
    run(&program, &arguments, &[])?;
    let again = Command::new(&*program).args(arguments).current_dir(root()).output()?;
    let said = String::from_utf8_lossy(&again.stdout);
    ensure!(
        again.status.success() && said.contains("\n0 cells run now"),
        "a second run did not find the first: {said}"
    );
    check_claims(&fs::read_to_string(out.join("claims.json"))?)?;
    let figures = |ending: &str| -> Result<usize> {
        let all = fs::read_dir(out.join("figures"))?.flatten();
        Ok(all.filter(|file| file.path().extension().is_some_and(|found| found == ending)).count())
    };
    let (drawn, painted) = (figures("svg")?, figures("png")?);
    ensure!(drawn >= 14 && painted == drawn, "{drawn} figures as SVG, {painted} as PNG");
    let pages = [
        out.join("index.html"),
        reported(&program, &out.join("pages"))?,
        raced(&program, &out.join("pages"))?,
    ];
    pages.iter().try_for_each(|page| browser(page))
}

/// A report on one of everything that `equipoise report` shows.
fn reported(program: &str, folder: &Path) -> Result<PathBuf> {
    fs::create_dir_all(folder)?;
    let data = |name: &str| root().join("docs/data").join(name).to_string_lossy().into_owned();
    let (flowers, genera, prices) = (data("flowers.csv"), data("genera.csv"), data("prices.csv"));
    let genera = [genera.as_str(), "--target", "bmi", "--zero-sum", "--log", "--pseudo-count", "0.5"];
    let signal = folder.join("signal.csv");
    let steps: Vec<String> = (0..60).map(|k| (k % 7 + 6 * (k / 20 % 2)).to_string()).collect();
    let steps = steps.join("\n") + "\n";
    fs::write(&signal, steps)?;
    let signal = signal.to_string_lossy();
    let histories: [(&str, Vec<&str>); 2] = [
        ("training", vec!["svm", "train", &flowers, "--target", "species", "--gap", "1e-9"]),
        ("lasso", [&["lasso", "path"][..], &genera].concat()),
    ];
    let lists: [(&str, Vec<&str>); 4] = [
        ("costs", vec!["svm", "cv", &flowers, "--target", "species", "--json"]),
        ("path", [&["lasso", "path", "--json"][..], &genera].concat()),
        ("pieces", vec!["fused", "path", &signal, "--json"]),
        ("frontier", vec!["portfolio", &prices, "--frontier", "9", "--json"]),
    ];
    let mut files = Vec::new();
    for (name, words) in histories {
        let file = folder.join(name).with_extension("csv").to_string_lossy().into_owned();
        run(program, &[&words[..], &["--quiet", "--history", &file]].concat(), &[])?;
        files.push(file);
    }
    for (name, words) in lists {
        let file = folder.join(name).with_extension("json");
        let made = Command::new(program).args(&words).current_dir(root()).output()?;
        ensure!(made.status.success(), "{words:?}: {}", String::from_utf8_lossy(&made.stderr));
        fs::write(&file, made.stdout)?;
        files.push(file.to_string_lossy().into_owned());
    }
    let page = folder.join("report.html");
    let named: Vec<&str> = files.iter().map(String::as_str).collect();
    run(program, &[&["report", "--quiet", "--out", &page.to_string_lossy()], &named[..]].concat(), &[])?;
    Ok(page)
}

/// The page of the demo.
fn raced(program: &str, folder: &Path) -> Result<PathBuf> {
    let page = folder.join("race.html");
    run(program, &["demo", "--out", &page.to_string_lossy()], &[])?;
    Ok(page)
}

/// Every claim has its verdict.
fn check_claims(text: &str) -> Result<()> {
    // The file is ours: a claim begins with its name, its verdict is the next line of that name.
    let after = |from: usize, key: &str| -> Option<(usize, &str)> {
        let start = from + text[from..].find(key)? + key.len();
        Some((start, &text[start..start + text[start..].find('"')?]))
    };
    for (name, verdict) in EXPECTED {
        let place =
            text.find(&format!("\"name\": \"{name}\"")).with_context(|| format!("no claim {name}"))?;
        let (_, found) = after(place, "\"verdict\": \"").with_context(|| format!("{name} has no verdict"))?;
        let numbers = after(place, "\"found\": \"").map_or("", |(_, found)| found);
        ensure!(found == verdict, "{name} is {found}, where {verdict} is expected: {numbers}");
    }
    Ok(())
}

/// Opens a page in headless Chromium.
fn browser(page: &Path) -> Result<()> {
    let has = |program: &str| {
        Command::new(program)
            .arg("--version")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|s| s.success())
    };
    let chromium = std::env::var("CHROMIUM").unwrap_or_else(|_| "chromium".into());
    if !has("node") || !has(&chromium) {
        return Err(Skipped(
            "the page was not opened: there is no node, or no chromium (apt-get install chromium)".into(),
        )
        .into());
    }
    let script = root().join("crates/equipoise-report/browser/check.mjs");
    let name = page.file_stem().unwrap_or_default();
    let shots = target_folder().join("lab/screenshots").join(name);
    let [script, page, shots] = [script.to_string_lossy(), page.to_string_lossy(), shots.to_string_lossy()];
    run("node", &[&script, &page, &shots], &[])
}
