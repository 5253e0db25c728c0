//! What the benchmarks against peers share: a virtual environment that has the packages of a `requirements.txt`.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::check::{root, run as run_command};

/// A virtual environment with the peers; returns its Python. A peer that cannot be had is named, and left out.
pub(super) fn install(requirements: &Path, folder: &Path) -> Result<PathBuf> {
    let python = folder.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    let list = std::fs::read_to_string(requirements)
        .with_context(|| format!("cannot read {}", requirements.display()))?;
    let stamp = folder.join("installed.txt");
    if std::fs::read_to_string(&stamp).is_ok_and(|installed| installed == list) {
        return Ok(python);
    }
    let folder = folder.display().to_string();
    run_command("python3", &["-m", "venv", &folder], &[]).context(
        "the peers need Python 3.11 or later with its modules venv and pip (Debian: python3-venv)",
    )?;
    let mut complete = true;
    for package in list.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", package];
        if let Err(error) = run_command(&python.display().to_string(), &pip, &[]) {
            println!("!! {package} cannot be installed, the benchmark goes on without it: {error:#}");
            complete = false;
        }
    }
    if complete {
        std::fs::write(&stamp, &list)?;
    }
    Ok(python)
}

/// What a program prints, or "unknown".
pub(super) fn output_of(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).current_dir(root()).output();
    output
        .map_or_else(|_| "unknown".into(), |output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
