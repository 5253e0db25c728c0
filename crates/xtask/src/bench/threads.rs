//! The benchmark of several threads: builds `equipoise-lab` for processors with AVX2 and has it measure part after
//! part. Nothing is measured here.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::check::{root, run as run_command};

const USAGE: &str = "usage: cargo xtask bench threads [--quick] [--record FOLDER] [--data FOLDER] \
                     [--threads-list 1,4,8,15] [--parts full-tree,...]";
/// In the order in which they are measured.
const PARTS: [&str; 6] = ["full-tree", "full-star", "sweep", "svm-pairs", "violating", "protocols"];
/// Vectors of four numbers, which every processor of the last ten years has.
const FLAGS: &str = "-C target-cpu=x86-64-v3";

/// What was asked for on the command line.
#[derive(Debug, Default, PartialEq)]
struct Options {
    record: Option<PathBuf>,
    data: Option<PathBuf>,
    quick: bool,
    /// Options that the lab has too, as they were given.
    passed: Vec<String>,
    parts: Vec<String>,
}

impl Options {
    fn parse(arguments: &[String]) -> Result<Self> {
        let mut options = Self { parts: PARTS.map(str::to_owned).to_vec(), ..Self::default() };
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            if word == "--quick" {
                options.quick = true;
                continue;
            }
            let known = ["--record", "--data", "--threads-list", "--parts"];
            if !known.contains(&word.as_str()) {
                bail!("unknown option `{word}`; {USAGE}");
            }
            let value = words.next().with_context(|| format!("{word} needs a value; {USAGE}"))?;
            match word.as_str() {
                "--record" => options.record = Some(root().join(value)),
                "--data" => options.data = Some(root().join(value)),
                "--parts" => options.parts = value.split(',').map(str::to_owned).collect(),
                _ => options.passed.extend([word.clone(), value.clone()]),
            }
        }
        if let Some(unknown) = options.parts.iter().find(|part| !PARTS.contains(&part.as_str())) {
            bail!("unknown part `{unknown}`; known: {}", PARTS.join(", "));
        }
        Ok(options)
    }
}

pub(super) fn run(arguments: &[String]) -> Result<()> {
    let options = Options::parse(arguments)?;
    let data = options.data.or_else(|| std::env::var_os("EQUIPOISE_DATA").map(|folder| root().join(folder)));
    let target = std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| root().join("target"), |given| root().join(given));
    let folder = target.join("bench/threads");
    // Beside the usual builds: other flags would have them made again each time.
    let build = folder.join("build").display().to_string();
    let flags: &[(&str, &str)] = if cfg!(target_arch = "x86_64") { &[("RUSTFLAGS", FLAGS)] } else { &[] };
    run_command("cargo", &["build", "--release", "-p", "equipoise-lab", "--target-dir", &build], flags)?;
    let lab = format!("{build}/release/equipoise-lab{}", std::env::consts::EXE_SUFFIX);

    // A record that was asked for grows; the one beside the build starts afresh, so that nothing is mixed.
    let record = match options.record {
        Some(record) => record,
        None => afresh(folder.join("record"))?,
    };
    let record = record.display().to_string();
    let mut common = options.passed;
    common.extend(["--out".into(), record.clone(), "--commit".into(), commit()]);
    if options.quick {
        common.push("--quick".into());
    }
    if let Some(data) = &data {
        common.extend(["--data".into(), data.display().to_string()]);
    }
    for part in &options.parts {
        if part == "svm-pairs" && data.is_none() && !options.quick {
            println!("!! no --data and no EQUIPOISE_DATA: {part} is left out");
            continue;
        }
        let mut words = vec!["bench-threads", "--part", part];
        words.extend(common.iter().map(String::as_str));
        run_command(&lab, &words, &[])?;
    }
    run_command(&lab, &["report-threads", &record], &[])?;
    println!("summary: {record}/summary.md");
    Ok(())
}

fn afresh(folder: PathBuf) -> Result<PathBuf> {
    if folder.exists() {
        std::fs::remove_dir_all(&folder).with_context(|| format!("cannot remove {}", folder.display()))?;
    }
    Ok(folder)
}

fn commit() -> String {
    let output = Command::new("git").args(["rev-parse", "HEAD"]).current_dir(root()).output();
    output
        .map_or_else(|_| "unknown".into(), |output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Options> {
        Options::parse(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn options_are_understood_or_passed_on() {
        let options =
            parse("--quick --record runs/x --threads-list 1,2 --parts sweep").expect("known options");
        assert!(options.quick);
        assert_eq!(options.record, Some(root().join("runs/x")));
        assert_eq!(options.passed, ["--threads-list", "1,2"]);
        assert_eq!(options.parts, ["sweep"]);
        assert_eq!(parse("").expect("no options").parts, PARTS);
    }

    #[test]
    fn unknown_options_are_refused() {
        for line in ["--fast", "--record", "--parts nothing", "sweep"] {
            assert!(parse(line).is_err(), "{line}");
        }
    }
}
