//! The public interface of the published crates, kept in `api/CRATE.txt` and compared with the code.
//!
//! rustdoc writes JSON, the crate `xtask-api` makes text of it. JSON is not a stable output of rustdoc yet: rustdoc, and
//! only it, is started through this program with `RUSTC_BOOTSTRAP` set, so that nothing else is compiled anew.
//! Where rustdoc's JSON is of a version that is not understood, the check is skipped, aloud.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, anyhow, bail};

use crate::check::{PUBLISHED, Skipped, root, run, target_folder, this_program};

/// Set where this program is started in rustdoc's place.
const AS_RUSTDOC: &str = "XTASK_AS_RUSTDOC";
/// The exit status of `xtask-api` for JSON of another version.
const OTHER_FORMAT: i32 = 3;

/// Compares with what is kept.
pub(crate) fn compare() -> Result<()> {
    let mut different = Vec::new();
    for (name, now) in interfaces()? {
        let path = kept(name);
        let before =
            std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let lines = difference(&before, &now);
        if !lines.is_empty() {
            println!("{name}: the public interface is not that of {}:\n{}", path.display(), lines.join("\n"));
            different.push(name);
        }
    }
    if different.is_empty() {
        return Ok(());
    }
    bail!(
        "the public interface changed ({}); if it is meant, `cargo xtask api --write`",
        different.join(", ")
    )
}

/// Writes down what there is now.
pub(crate) fn write() -> Result<()> {
    for (name, now) in interfaces()? {
        let path = kept(name);
        std::fs::create_dir_all(path.parent().context("a folder")?)?;
        std::fs::write(&path, &now).with_context(|| format!("cannot write {}", path.display()))?;
        println!("{}: {} items", path.display(), now.lines().count());
    }
    Ok(())
}

fn kept(name: &str) -> PathBuf {
    root().join("api").join(format!("{name}.txt"))
}

/// What went and what came, as a reader would mark it.
fn difference(before: &str, now: &str) -> Vec<String> {
    let (old, new): (BTreeSet<&str>, BTreeSet<&str>) = (before.lines().collect(), now.lines().collect());
    let mut all: Vec<(&str, char)> = old.difference(&new).map(|line| (*line, '-')).collect();
    all.extend(new.difference(&old).map(|line| (*line, '+')));
    all.sort_by_key(|(line, sign)| (name_of(line), *sign == '+'));
    all.into_iter().map(|(line, sign)| format!("{sign} {line}")).collect()
}

/// What a line is about, so that an item that changed stands beside what it was: the path before `(`, `<` or `:`.
fn name_of(line: &str) -> &str {
    let line = line.split_once("equipoise").map_or(line, |(_, rest)| rest);
    line.split(['(', '<', ' ']).next().unwrap_or(line)
}

/// The published crates with their interfaces as text.
fn interfaces() -> Result<Vec<(&'static str, String)>> {
    let environment = [
        ("RUSTDOC", this_program()?.display().to_string()),
        ("RUSTDOCFLAGS", "-Zunstable-options --output-format json".to_owned()),
        (AS_RUSTDOC, std::env::var("RUSTDOC").unwrap_or_else(|_| "rustdoc".to_owned())),
    ];
    let environment = environment.each_ref().map(|(name, value)| (*name, value.as_str()));
    // With the whole workspace, so that dependencies are those of the other checks and not compiled again.
    run("cargo", &["doc", "--workspace", "--no-deps", "--lib"], &environment)?;
    run("cargo", &["build", "--workspace", "--bin", "xtask-api"], &[])?;
    PUBLISHED.iter().map(|name| Ok((*name, render(name)?))).collect()
}

/// The interface of one crate, from its JSON.
fn render(name: &str) -> Result<String> {
    let json = target_folder().join("doc").join(format!("{}.json", name.replace('-', "_")));
    let output = Command::new(target_folder().join("debug/xtask-api")).arg(&json).output();
    let output = output.context("cannot start xtask-api")?;
    let said = String::from_utf8_lossy(&output.stderr);
    match output.status.code() {
        Some(0) => String::from_utf8(output.stdout).context("an interface that is not UTF-8"),
        Some(OTHER_FORMAT) => Err(anyhow!(Skipped(said.trim().to_owned()))),
        _ => bail!("xtask-api failed on {}: {}", Path::display(&json), said.trim()),
    }
}

/// Where this program stands in for rustdoc: rustdoc's exit status.
pub(crate) fn as_rustdoc() -> Option<ExitCode> {
    let rustdoc: OsString = std::env::var_os(AS_RUSTDOC)?;
    let mut command = Command::new(rustdoc);
    command.args(std::env::args_os().skip(1)).env("RUSTC_BOOTSTRAP", "1").env_remove(AS_RUSTDOC);
    Some(if command.status().is_ok_and(|status| status.success()) {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

#[cfg(test)]
mod tests {
    use super::difference;

    #[test]
    fn a_difference_shows_what_went_beside_what_came() {
        let before = "pub fn equipoise::a(f64)\npub fn equipoise::b()\npub struct equipoise::S";
        let now = "pub fn equipoise::a(f32)\npub struct equipoise::S\npub struct equipoise::T";
        let expected = [
            "+ pub struct equipoise::T",
            "- pub fn equipoise::a(f64)",
            "+ pub fn equipoise::a(f32)",
            "- pub fn equipoise::b()",
        ];
        assert_eq!(difference(before, now), expected);
        assert!(difference(now, now).is_empty());
    }
}
