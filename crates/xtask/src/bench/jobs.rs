//! The benchmarks that are lists of jobs against peers (`lasso`, `allocation`, `shapes`): builds our binary, installs the peers
//! beside it, and hands over to `benchmarks/NAME/run.py`, which measures. Nothing is measured here.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use super::peers::{install, output_of};
use crate::check::{root, run as run_command};

const USAGE: &str = "usage: cargo xtask bench lasso|allocation|shapes [--record FOLDER] [--jobs grid,...] [--peers osqp,...] \
                     [--data FOLDER] [--rounds N] [--collection FOLDER [--most N]] [--limit SECONDS] [--quick] [--peers-only]";

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
                "--quick" | "--peers-only" => options.passed.push(word.clone()),
                "--record" | "--jobs" | "--peers" | "--rounds" | "--data" | "--collection" | "--most"
                | "--limit" => {
                    let value = words.next().with_context(|| format!("{word} needs a value; {USAGE}"))?;
                    match word.as_str() {
                        "--record" => options.record = Some(root().join(value)),
                        "--data" | "--collection" => {
                            let folder = root().join(value).display().to_string();
                            options.passed.extend([word.clone(), folder]);
                        }
                        _ => options.passed.extend([word.clone(), value.clone()]),
                    }
                }
                other => bail!("unknown option `{other}`; {USAGE}"),
            }
        }
        Ok(options)
    }

    fn wants_ours(&self) -> bool {
        !self.passed.iter().any(|word| word == "--peers-only")
    }
}

/// Runs the benchmark in `benchmarks/NAME`.
pub(super) fn run(name: &str, arguments: &[String]) -> Result<()> {
    let options = Options::parse(arguments)?;
    let target = std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| root().join("target"), |given| root().join(given));
    let folder = target.join("bench").join(name);
    let scripts = root().join("benchmarks").join(name);
    std::fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let python = install(&scripts.join("requirements.txt"), &folder.join("venv"))?;
    if options.wants_ours() {
        run_command("cargo", &["build", "--release", "-p", "equipoise-cli"], &[])?;
    }

    let record = options.record.unwrap_or_else(|| folder.join("record"));
    let text = |path: PathBuf| path.display().to_string();
    let executable = format!("equipoise{}", std::env::consts::EXE_SUFFIX);
    let mut words = vec![
        text(scripts.join("run.py")),
        format!("--binary={}", text(target.join("release").join(executable))),
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
        let options =
            parse("--jobs grid,trend --record benchmarks/runs/x/lasso --quick").expect("known options");
        assert_eq!(options.passed, ["--jobs", "grid,trend", "--quick"]);
        assert_eq!(options.record, Some(root().join("benchmarks/runs/x/lasso")));
        assert!(options.wants_ours());
        assert!(!parse("--peers-only").expect("a known option").wants_ours());
        let options = parse("--data sets").expect("a known option");
        assert_eq!(options.passed, ["--data".to_owned(), root().join("sets").display().to_string()]);
    }

    #[test]
    fn unknown_options_are_refused() {
        for line in ["--fast", "--record", "--data", "grid"] {
            assert!(parse(line).is_err(), "{line}");
        }
    }
}
