//! `cargo xtask quick`: the inner cycle. Format, lengths, lints and unit tests of the crates with changes.
//!
//! Changed is what differs from where the branch left `main`, committed or not. Crates that depend on what changed are left to
//! `cargo xtask test`, with their lints: a change of the library would have all of them checked anew. So are integration tests.

use std::collections::BTreeSet;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, bail};

use crate::check::{cargo, format, lengths, lint_of, root, step};

pub(crate) fn run() -> Result<()> {
    let start = Instant::now();
    let crates = changed_crates(&changed_files()?);
    step("format", format)?;
    step("lengths", lengths)?;
    if crates.is_empty() {
        println!("== no crate has changes");
        return Ok(());
    }
    println!("== changes in {}", list(&crates));
    let packages: Vec<&str> = crates.iter().flat_map(|name| ["-p", name]).collect();
    step("lint", || lint_of(&packages))?;
    cargo(&[&["test"], &packages[..], &["--lib", "--bins"]].concat()).context("step unit")?;
    println!("== quick: passed in {:.0} s", start.elapsed().as_secs_f64());
    Ok(())
}

fn list(names: &BTreeSet<String>) -> String {
    names.iter().map(String::as_str).collect::<Vec<_>>().join(", ")
}

/// What a command in the root prints.
fn output(program: &str, arguments: &[&str]) -> Result<String> {
    let output = Command::new(program).args(arguments).current_dir(root()).output();
    let output = output.with_context(|| format!("cannot start {program}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("`{program} {}` failed: {}", arguments.join(" "), said.trim());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Files that differ from where the branch left `main`, and new ones.
fn changed_files() -> Result<Vec<String>> {
    let fork = output("git", &["merge-base", "HEAD", "main"])
        .or_else(|_| output("git", &["merge-base", "HEAD", "origin/main"]))
        .unwrap_or_else(|_| "HEAD".to_owned());
    let differ = output("git", &["diff", "--name-only", fork.trim()])?;
    let new = output("git", &["ls-files", "--others", "--exclude-standard"])?;
    Ok(differ.lines().chain(new.lines()).map(str::to_owned).collect())
}

/// The crates that hold these files.
fn changed_crates(files: &[String]) -> BTreeSet<String> {
    let exists = |name: &String| root().join("crates").join(name).join("Cargo.toml").is_file();
    let names = files.iter().filter_map(|file| file.strip_prefix("crates/")?.split('/').next());
    names.map(str::to_owned).filter(exists).collect()
}

#[cfg(test)]
mod tests {
    use super::changed_crates;

    #[test]
    fn files_belong_to_crates() {
        let files = [
            "crates/xtask/src/quick.rs",
            "crates/gone/src/lib.rs",
            "README.md",
            "crates/equipoise/tests/a.rs",
        ];
        let crates = changed_crates(&files.map(str::to_owned));
        assert_eq!(crates.into_iter().collect::<Vec<_>>(), ["equipoise", "xtask"]);
    }
}
