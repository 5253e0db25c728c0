//! Benchmarks: run, and on request record raw numbers with their set-up.

mod jobs;
mod lab;
mod methods;
mod peers;
mod svm;
mod threads;

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::check::{root, run as run_command};

fn run_named(name: &str, record: Option<&Path>) -> Result<()> {
    match name {
        "pair_step" => {
            let csv = record.map(|folder| folder.join("pair_step.csv").display().to_string());
            let mut arguments = vec!["bench", "-p", "equipoise", "--bench", "pair_step"];
            if let Some(csv) = &csv {
                arguments.extend(["--", "--csv", csv]);
            }
            run_command("cargo", &arguments, &[])
        }
        other => {
            bail!(
                "unknown benchmark `{other}`; known: pair_step, svm, lasso, allocation, shapes, threads, methods"
            )
        }
    }
}

fn run_with_setup(name: &str, folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let folder = folder.canonicalize()?;
    std::fs::write(folder.join("setup.txt"), setup())?;
    run_named(name, Some(&folder))
}

pub(crate) fn run(arguments: &[String]) -> Result<()> {
    match arguments {
        [name, rest @ ..] if name == "svm" => svm::run(rest),
        [name, rest @ ..] if ["lasso", "allocation", "shapes"].contains(&name.as_str()) => {
            jobs::run(name, rest)
        }
        [name, rest @ ..] if name == "threads" => threads::run(rest),
        [name, rest @ ..] if name == "methods" => methods::run(rest),
        [name] => run_named(name, None),
        [name, flag, folder] if flag == "--record" => run_with_setup(name, &root().join(folder)),
        _ => bail!("usage: cargo xtask bench NAME [--record FOLDER]"),
    }
}

/// What the numbers depend on: commit, compiler, processor.
pub(crate) fn setup() -> String {
    let output = |program: &str, arguments: &[&str]| {
        let output = Command::new(program).args(arguments).current_dir(root()).output();
        output.map_or_else(
            |_| "unknown".into(),
            |output| String::from_utf8_lossy(&output.stdout).trim().to_owned(),
        )
    };
    let processor = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let processor =
        processor.lines().find(|line| line.starts_with("model name")).unwrap_or("model name: unknown");
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    format!(
        "commit: {}\nrustc: {}\n{processor}\ncores: {cores}\nload before: {}\n",
        output("git", &["rev-parse", "HEAD"]),
        output("rustc", &["--version"]),
        std::fs::read_to_string("/proc/loadavg").unwrap_or_default().trim()
    )
}
