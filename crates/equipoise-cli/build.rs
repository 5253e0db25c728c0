//! Which commit a release is made of, where that is known: `EQUIPOISE_COMMIT`, or the checkout around this folder.
//!
//! Builds for tests do not ask: they would be made anew with every commit.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-env-changed=EQUIPOISE_COMMIT");
    println!("cargo:rerun-if-changed=build.rs");
    let is_release = std::env::var("PROFILE").is_ok_and(|profile| profile == "release");
    let given = std::env::var("EQUIPOISE_COMMIT").ok();
    if let Some(commit) = given.or_else(|| is_release.then(of_checkout).flatten()) {
        println!("cargo:rustc-env=EQUIPOISE_COMMIT={commit}");
    }
}

/// The commit of the checkout; a package from an index has none.
fn of_checkout() -> Option<String> {
    let log = Path::new("../../.git/logs/HEAD");
    if !log.exists() {
        return None;
    }
    println!("cargo:rerun-if-changed={}", log.display());
    let output =
        Command::new("git").args(["describe", "--always", "--dirty", "--exclude=*"]).output().ok()?;
    let words = String::from_utf8(output.stdout).ok()?;
    Some(words.trim().to_owned()).filter(|words| output.status.success() && !words.is_empty())
}
