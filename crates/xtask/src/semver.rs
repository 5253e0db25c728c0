//! Whether the version number says what changed: cargo-semver-checks on the published libraries.

use std::process::Command;

use anyhow::{Result, bail};

use crate::check::{PUBLISHED, cargo, root};

pub(crate) fn run(revision: Option<&str>) -> Result<()> {
    let answer = |program: &str, arguments: &[&str]| {
        let output = Command::new(program).args(arguments).current_dir(root()).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    if answer("cargo", &["semver-checks", "--version"]).is_none() {
        bail!("cargo-semver-checks is missing: `cargo install cargo-semver-checks --locked`");
    }
    let tag = || answer("git", &["describe", "--tags", "--abbrev=0"]);
    let revision = revision.map(str::to_owned).or_else(tag).unwrap_or_else(|| "main".to_owned());
    let mut arguments = vec!["semver-checks", "--baseline-rev", &revision];
    PUBLISHED.iter().for_each(|name| arguments.extend(["-p", name]));
    cargo(&arguments)
}
