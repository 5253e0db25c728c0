//! The checks of the shared memory that need it compiled their way: every schedule (loom), every undefined step
//! (Miri), every data race (`ThreadSanitizer`), and very many moves.
//!
//! All run the crate `equipoise-shared-check`, which holds that module and nothing else. Each compiles into a folder
//! of its own, so that the flags of one do not undo the work of another. Miri and `ThreadSanitizer` need a nightly
//! toolchain: the one that `EQUIPOISE_NIGHTLY` names, else `nightly`. Where it is missing they are skipped, aloud.

use std::process::Command;

use anyhow::{Result, anyhow};

use crate::check::{Skipped, Step, run, target_folder};

const CRATE: &str = "equipoise-shared-check";
/// The one target that is tested under `ThreadSanitizer`; its standard library is compiled with it.
const TSAN_TARGET: &str = "x86_64-unknown-linux-gnu";

/// Those that are part of every check.
pub(crate) const STEPS: [Step; 3] = [("loom", loom), ("miri", miri), ("tsan", tsan)];

/// All orders in which threads can meet, up to a bound.
pub(crate) fn loom() -> Result<()> {
    let folder = folder("loom");
    // Most of the time goes into compiling: optimised, but not across crates.
    let environment = [("RUSTFLAGS", "--cfg loom"), ("CARGO_PROFILE_RELEASE_LTO", "off")];
    run("cargo", &["test", "--release", "-p", CRATE, "--target-dir", &folder], &environment)
}

/// The tests, made small, in an interpreter that knows the memory model, under several schedules.
pub(crate) fn miri() -> Result<()> {
    let toolchain = nightly(&["miri", "rust-src"])?;
    let arguments =
        ["run", &toolchain, "cargo", "miri", "test", "-p", CRATE, "--target-dir", &folder("miri")];
    run("rustup", &arguments, &[("MIRIFLAGS", "-Zmiri-many-seeds=0..4")])
}

/// The tests with every access to memory recorded, those of the standard library included.
pub(crate) fn tsan() -> Result<()> {
    if !cfg!(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu")) {
        return Err(skipped(format!("this is not {TSAN_TARGET}")));
    }
    let toolchain = nightly(&["rust-src"])?;
    let folder = folder("tsan");
    let mut arguments = vec!["run", &toolchain, "cargo", "test", "-p", CRATE, "--target-dir", &folder];
    arguments.extend(["-Zbuild-std", "--target", TSAN_TARGET]);
    // Most of the time goes into compiling the standard library.
    arguments.extend(["--config", "profile.dev.debug = 'line-tables-only'"]);
    arguments.extend(["--config", "profile.dev.package.'*'.opt-level = 1"]);
    run("rustup", &arguments, &[("RUSTFLAGS", "-Zsanitizer=thread")])
}

/// The tests of 10^8 moves.
pub(crate) fn stress() -> Result<()> {
    run("cargo", &["test", "--release", "-p", CRATE, "--", "--ignored"], &[])
}

/// A folder for what is compiled with flags of its own.
fn folder(name: &str) -> String {
    target_folder().join(name).display().to_string()
}

/// The name of the nightly toolchain, with these components.
fn nightly(components: &[&str]) -> Result<String> {
    let toolchain = std::env::var("EQUIPOISE_NIGHTLY").unwrap_or_else(|_| "nightly".to_owned());
    if rustup(&["run", &toolchain, "rustc", "--version"]).is_none() {
        let advice = format!("`rustup toolchain install {toolchain}`, or name another by EQUIPOISE_NIGHTLY");
        return Err(skipped(format!("no toolchain `{toolchain}` ({advice})")));
    }
    let installed =
        rustup(&["component", "list", "--installed", "--toolchain", &toolchain]).unwrap_or_default();
    for component in components {
        let present = installed.lines().any(|line| line.starts_with(component));
        let add = ["component", "add", component, "--toolchain", &toolchain];
        if !present && run("rustup", &add, &[]).is_err() {
            return Err(skipped(format!(
                "toolchain `{toolchain}` has no {component}, and none could be added"
            )));
        }
    }
    Ok(toolchain)
}

/// What rustup answers; nothing where it fails or is missing.
fn rustup(arguments: &[&str]) -> Option<String> {
    let output =
        Command::new("rustup").args(arguments).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn skipped(why: String) -> anyhow::Error {
    anyhow!(Skipped(why))
}
