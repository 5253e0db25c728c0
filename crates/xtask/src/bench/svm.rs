//! The SVM benchmark: builds our binaries, installs the peers beside them, and hands over to
//! `benchmarks/svm/run.py`, which measures. Nothing is measured here.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use super::peers::{install, output_of};
use crate::check::{root, run as run_command};

const USAGE: &str = "usage: cargo xtask bench svm [--record FOLDER] [--parts grid,cold,...] [--only a7a,w8a,...] \
                     [--costs 1,10] [--repeats N] [--climb | --time] [--slice SECONDS] [--quick]";

/// What was asked for on the command line.
#[derive(Debug, Default, PartialEq)]
struct Options {
    record: Option<PathBuf>,
    /// Options that `run.py` has too, as they were given.
    passed: Vec<String>,
}

impl Options {
    fn parse(arguments: &[String]) -> Result<Self> {
        let mut options = Self::default();
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            match word.as_str() {
                "--quick" | "--climb" | "--time" => options.passed.push(word.clone()),
                "--record" | "--parts" | "--only" | "--costs" | "--repeats" | "--slice" => {
                    let value = words.next().with_context(|| format!("{word} needs a value; {USAGE}"))?;
                    if word == "--record" {
                        options.record = Some(root().join(value));
                    } else {
                        options.passed.extend([word.clone(), value.clone()]);
                    }
                }
                other => bail!("unknown option `{other}`; {USAGE}"),
            }
        }
        Ok(options)
    }
}

pub(super) fn run(arguments: &[String]) -> Result<()> {
    let options = Options::parse(arguments)?;
    if std::env::var_os("EQUIPOISE_DATA").is_none() {
        println!("!! EQUIPOISE_DATA is not set: only generated sets can be measured");
    }
    let target = std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| root().join("target"), |given| root().join(given));
    let folder = target.join("bench/svm");
    std::fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let python = install(&root().join("benchmarks/svm/requirements.txt"), &folder.join("venv"))?;
    run_command("cargo", &["build", "--release", "-p", "equipoise-cli", "-p", "equipoise-lab"], &[])?;

    // A record that was asked for grows; the one beside the build starts afresh unless a slice of it is asked for.
    let sliced = options.passed.iter().any(|word| word == "--slice");
    let record = options.record.unwrap_or_else(|| folder.join("record"));
    if record.starts_with(&folder) && record.exists() && !sliced {
        std::fs::remove_dir_all(&record).with_context(|| format!("cannot remove {}", record.display()))?;
    }
    let text = |path: PathBuf| path.display().to_string();
    let executable =
        |name: &str| text(target.join("release").join(format!("{name}{}", std::env::consts::EXE_SUFFIX)));
    let mut words = vec![
        text(root().join("benchmarks/svm/run.py")),
        format!("--binary={}", executable("equipoise")),
        format!("--lab={}", executable("equipoise-lab")),
        format!("--out={}", text(record)),
        format!("--work={}", text(folder.join("work"))),
        format!("--note=commit: {}", output_of("git", &["rev-parse", "HEAD"])),
        format!("--note=rustc: {}", output_of("rustc", &["--version"])),
    ];
    words.extend(options.passed);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    run_command(&text(python), &words, &[])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Options> {
        Options::parse(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn options_are_passed_on() {
        let options = parse("--only a7a,w8a --record benchmarks/runs/x/svm --quick").expect("known options");
        assert_eq!(options.passed, ["--only", "a7a,w8a", "--quick"]);
        assert_eq!(options.record, Some(root().join("benchmarks/runs/x/svm")));
    }

    #[test]
    fn unknown_options_are_refused() {
        for line in ["--fast", "--record", "--only", "a7a"] {
            assert!(parse(line).is_err(), "{line}");
        }
    }
}
