//! Benchmarks that `equipoise-lab` measures: builds it for processors with AVX2 and has it measure part after part,
//! then report. Nothing is measured here.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::check::{root, run as run_command};

/// Vectors of four numbers, which every processor of the last ten years has.
const FLAGS: &str = "-C target-cpu=x86-64-v3";

/// A benchmark: `bench-NAME` and `report-NAME` of the lab.
#[derive(Debug)]
pub(super) struct Benchmark {
    pub(super) name: &'static str,
    pub(super) usage: &'static str,
    /// In the order in which they are measured.
    pub(super) parts: &'static [&'static str],
    /// Options with a value that the lab has too.
    pub(super) passed: &'static [&'static str],
    /// Whether it reads data that are not generated.
    pub(super) needs_data: bool,
}

/// What was asked for on the command line.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Options {
    pub(super) record: Option<PathBuf>,
    pub(super) data: Option<PathBuf>,
    pub(super) quick: bool,
    /// Options that the lab has too, as they were given.
    pub(super) passed: Vec<String>,
    pub(super) parts: Vec<String>,
}

impl Benchmark {
    pub(super) fn parse(&self, arguments: &[String]) -> Result<Options> {
        let usage = self.usage;
        let parts = self.parts.iter().map(|part| (*part).to_owned()).collect();
        let mut options = Options { parts, ..Options::default() };
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            if word == "--quick" {
                options.quick = true;
                continue;
            }
            let name = word.as_str();
            let passed = self.passed.contains(&name);
            let known =
                passed || matches!(name, "--record" | "--parts") || (name == "--data" && self.needs_data);
            if !known {
                bail!("unknown option `{word}`; {usage}");
            }
            let value = words.next().with_context(|| format!("{word} needs a value; {usage}"))?;
            match name {
                _ if passed => options.passed.extend([word.clone(), value.clone()]),
                "--record" => options.record = Some(root().join(value)),
                "--data" => options.data = Some(root().join(value)),
                _ => options.parts = value.split(',').map(str::to_owned).collect(),
            }
        }
        if let Some(unknown) = options.parts.iter().find(|part| !self.parts.contains(&part.as_str())) {
            bail!("unknown part `{unknown}`; known: {}", self.parts.join(", "));
        }
        Ok(options)
    }

    /// Measures what the options ask for, and reports.
    pub(super) fn run(&self, options: Options) -> Result<()> {
        let target = std::env::var_os("CARGO_TARGET_DIR")
            .map_or_else(|| root().join("target"), |given| root().join(given));
        let folder = target.join("bench");
        // Beside the usual builds: other flags would have them made again each time.
        let build = folder.join("lab").display().to_string();
        let flags: &[(&str, &str)] = if cfg!(target_arch = "x86_64") { &[("RUSTFLAGS", FLAGS)] } else { &[] };
        run_command("cargo", &["build", "--release", "-p", "equipoise-lab", "--target-dir", &build], flags)?;
        let lab = format!("{build}/release/equipoise-lab{}", std::env::consts::EXE_SUFFIX);

        // A record that was asked for grows; the one beside the build starts afresh, so that nothing is mixed.
        let record = match options.record {
            Some(record) => record,
            None => afresh(folder.join(self.name).join("record"))?,
        };
        let record = record.display().to_string();
        let mut common = options.passed;
        common.extend(["--out".into(), record.clone(), "--commit".into(), commit()]);
        if options.quick {
            common.push("--quick".into());
        }
        if let Some(data) = &options.data {
            common.extend(["--data".into(), data.display().to_string()]);
        }
        let (bench, report) = (format!("bench-{}", self.name), format!("report-{}", self.name));
        for part in &options.parts {
            let mut words = vec![bench.as_str(), "--part", part];
            words.extend(common.iter().map(String::as_str));
            run_command(&lab, &words, &[])?;
        }
        run_command(&lab, &[&report, &record], &[])?;
        println!("summary: {record}/summary.md");
        Ok(())
    }
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
pub(super) fn parse(benchmark: &Benchmark, line: &str) -> Result<Options> {
    benchmark.parse(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
}
