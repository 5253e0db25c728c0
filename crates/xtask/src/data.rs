//! The tests that read the public data sets: ignored by `cargo test`, in modules named `public_data`.
//!
//! Run where the folder `EQUIPOISE_DATA` is at hand; where it is not, each is named as skipped.

use std::process::Command;

use anyhow::{Context, Result, anyhow, bail};

use crate::check::{Skipped, TESTS, cargo, root};

/// What the paths of these tests contain; other ignored tests (`stress`) are left alone.
const MODULE: &str = "public_data::";

pub(crate) fn run() -> Result<()> {
    let names = names()?;
    if names.is_empty() {
        bail!("no test of public data was found: are there no modules named public_data any more?");
    }
    if std::env::var_os("EQUIPOISE_DATA").is_some() {
        return cargo(&[&TESTS[..], &["--", "--ignored", MODULE]].concat());
    }
    println!("skipped, because EQUIPOISE_DATA (the folder of the public data sets) is not set:");
    names.iter().for_each(|name| println!("    {name}"));
    Err(anyhow!(Skipped(format!("{} tests of public data: EQUIPOISE_DATA is not set", names.len()))))
}

/// Their paths. The tests are compiled by now.
fn names() -> Result<Vec<String>> {
    let arguments = [&TESTS[..], &["--quiet", "--", "--ignored", "--list", MODULE]].concat();
    let output = Command::new("cargo").args(&arguments).current_dir(root()).output();
    let output = output.context("cannot start cargo")?;
    if !output.status.success() {
        bail!("`cargo {}` failed: {}", arguments.join(" "), String::from_utf8_lossy(&output.stderr).trim());
    }
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect())
}
