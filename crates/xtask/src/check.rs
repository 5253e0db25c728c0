//! The checks. Each is a handful of cargo commands, run from the root of the workspace.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Instant;

use anyhow::{Context, Result, bail};

/// The crates that are published, in the order of their dependencies.
pub(crate) const PUBLISHED: [&str; 10] = [
    "equipoise",
    "equipoise-models",
    "equipoise-allocation",
    "equipoise-consensus",
    "equipoise-portfolio",
    "equipoise-theory",
    "equipoise-formats",
    "equipoise-report",
    "equipoise-experiments",
    "equipoise-cli",
];
/// Lines that a source file may have, its tests included.
const LONGEST_FILE: usize = 600;
/// Lines that the README may have.
const LONGEST_README: usize = 150;
/// Unit, integration and property tests of all crates.
pub(crate) const TESTS: [&str; 5] = ["test", "--workspace", "--lib", "--bins", "--tests"];

/// The root of the workspace.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap_or(Path::new(".")).to_path_buf()
}

/// Where cargo puts what it makes.
pub(crate) fn target_folder() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from);
    root().join(target)
}

/// The path of this program, as it was at the start: a step that builds it anew replaces its file, and from then on the
/// system answers with the path of a file that is gone.
pub(crate) fn this_program() -> Result<&'static Path> {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    if let Some(path) = PATH.get() {
        return Ok(path);
    }
    let path = std::env::current_exe().context("this program has no path")?;
    Ok(PATH.get_or_init(|| path))
}

/// Runs a command in the root; its output is the user's.
pub(crate) fn run(program: &str, arguments: &[&str], environment: &[(&str, &str)]) -> Result<()> {
    println!("$ {program} {}", arguments.join(" "));
    let status = Command::new(program)
        .args(arguments)
        .envs(environment.iter().copied())
        .current_dir(root())
        .status()
        .with_context(|| format!("cannot start {program}"))?;
    if status.success() { Ok(()) } else { bail!("`{program} {}` failed: {status}", arguments.join(" ")) }
}

pub(crate) fn cargo(arguments: &[&str]) -> Result<()> {
    run("cargo", arguments, &[])
}

/// Why this machine cannot make a check. Not a failure, nor a success: it is said aloud.
#[derive(Debug)]
pub(crate) struct Skipped(pub(crate) String);

impl std::fmt::Display for Skipped {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "skipped: {}", self.0)
    }
}

impl std::error::Error for Skipped {}

/// A name and what it checks.
pub(crate) type Step = (&'static str, fn() -> Result<()>);

/// Makes one check and says how it went; false when it was skipped.
pub(crate) fn step(name: &str, check: impl FnOnce() -> Result<()>) -> Result<bool> {
    let start = Instant::now();
    match check() {
        Ok(()) => {
            println!("== {name}: passed in {:.0} s", start.elapsed().as_secs_f64());
            Ok(true)
        }
        Err(error) if error.is::<Skipped>() => {
            println!("== {name}: {error}");
            Ok(false)
        }
        Err(error) => Err(error.context(format!("step {name}"))),
    }
}

pub(crate) fn format() -> Result<()> {
    ensure_component("rustfmt", "cargo-fmt")?;
    cargo(&["fmt", "--all", "--check"])
}

pub(crate) fn lint() -> Result<()> {
    lint_of(&["--workspace"])
}

/// Lints of what cargo's options choose.
pub(crate) fn lint_of(packages: &[&str]) -> Result<()> {
    ensure_component("clippy", "cargo-clippy")?;
    cargo(&[&["clippy"], packages, &["--all-targets", "--", "-D", "warnings"]].concat())
}

/// Installs a missing rustup component.
fn ensure_component(component: &str, program: &str) -> Result<()> {
    let present = Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success());
    if present { Ok(()) } else { run("rustup", &["component", "add", component], &[]) }
}

pub(crate) fn unit() -> Result<()> {
    // Debug assertions stay on: the test profile is optimised, not stripped of its checks.
    cargo(&TESTS)
}

pub(crate) fn docs() -> Result<()> {
    cargo(&["test", "--workspace", "--doc"])?;
    run("cargo", &["doc", "--workspace", "--no-deps"], &[("RUSTDOCFLAGS", "-D warnings")])
}

pub(crate) fn examples() -> Result<()> {
    let folder = root().join("crates/equipoise/examples");
    let mut names: Vec<String> = std::fs::read_dir(&folder)
        .with_context(|| format!("cannot list {}", folder.display()))?
        .filter_map(|entry| entry.ok()?.path().file_stem()?.to_str().map(str::to_owned))
        .collect();
    names.sort();
    if names.is_empty() {
        bail!("no examples in {}", folder.display());
    }
    // With the whole workspace, so that dependencies are those of the tests and not compiled again.
    cargo(&["build", "--workspace", "--examples"])?;
    let target = target_folder();
    let folder = target.join("debug/examples");
    names.iter().try_for_each(|name| run(&folder.join(name).display().to_string(), &[], &[]))?;
    // A model outside the workspace; the same folder, so that what both depend on is compiled once.
    let (manifest, target) = ("examples/third-party-model/Cargo.toml", target.display().to_string());
    cargo(&["test", "--quiet", "--manifest-path", manifest, "--target-dir", &target])
}

pub(crate) fn lengths() -> Result<()> {
    let mut long = Vec::new();
    measure(&root().join("crates"), &mut long)?;
    let readme = std::fs::read_to_string(root().join("README.md"))?.lines().count();
    if readme > LONGEST_README {
        bail!(
            "README.md has {readme} lines, more than {LONGEST_README}: what is beyond the first ten minutes belongs into docs/"
        );
    }
    if long.is_empty() {
        Ok(())
    } else {
        bail!("files longer than {LONGEST_FILE} lines: {}", long.join(", "))
    }
}

fn measure(folder: &Path, long: &mut Vec<String>) -> Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            measure(&path, long)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let lines = std::fs::read_to_string(&path)?.lines().count();
            if lines > LONGEST_FILE {
                long.push(format!("{} ({lines})", path.display()));
            }
        }
    }
    Ok(())
}

pub(crate) fn package() -> Result<()> {
    let mut arguments = vec!["package", "--no-verify", "--allow-dirty"];
    for name in PUBLISHED {
        arguments.extend(["-p", name]);
    }
    cargo(&arguments)
}
