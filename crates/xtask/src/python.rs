//! `cargo xtask python`: the Python package, from its sources to its tests, in a virtual environment of its own.
//!
//! ```text
//! target/python/venv      what the tests need, installed again only when python/pyproject.toml changes
//! target/python/package   the sources beside the extension, compiled as the tests of the workspace are
//! ```
//!
//! The extension is copied, not installed: a wheel would be compiled again, with other settings. That `pip install ./python` works is
//! seen by `cargo xtask python --install`, which takes minutes and is not part of `cargo xtask test`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::check::{Skipped, cargo, root, run, target_folder};

/// Interpreters, the first that is new enough serves.
const NAMES: [&str; 6] = ["python3", "python3.14", "python3.13", "python3.12", "python3.11", "python"];
/// What the file of the extension is called in the package.
const EXTENSION: &str = if cfg!(windows) { "_native.pyd" } else { "_native.abi3.so" };

/// Tests and type stubs.
pub(crate) fn test() -> Result<()> {
    let python = environment(&["test"])?;
    let package = assemble()?;
    let path = package.display().to_string();
    let command = target_folder().join("debug/equipoise").with_extension(std::env::consts::EXE_EXTENSION);
    let command = command.display().to_string();
    let with = [
        ("PYTHONPATH", path.as_str()),
        ("PYTHONDONTWRITEBYTECODE", "1"),
        // Beside which the package has to find the same bits.
        ("EQUIPOISE_COMMAND", command.as_str()),
    ];
    let path_of = |part: &str| root().join("python").join(part).display().to_string();
    let (tests, settings) = (path_of("tests"), path_of("pyproject.toml"));
    // Examples of docstrings and of the documentation are among the tests.
    run(&python, &["-m", "pytest", "-c", &settings, "-p", "no:cacheprovider", &tests], &with)?;
    run(&python, &["-m", "mypy.stubtest", "equipoise._native"], &with)
}

/// What `pip install ./python` installs, as one wheel with every interpreter that is new enough, and all tests with each; and a source
/// distribution, into an environment that has nothing else.
pub(crate) fn install() -> Result<()> {
    let interpreter = interpreter()?;
    let folder = target_folder().join("python");
    let dist = folder.join("dist");
    let (tools, tools_python) = (folder.join("tools"), binary(&folder.join("tools")));
    make(&interpreter, &tools)?;
    pip(&tools_python, &["maturin>=1.10,<2"])?;
    let manifest = root().join("python/pyproject.toml");
    let manifest = manifest.parent().unwrap_or(Path::new(".")).display().to_string();
    if dist.exists() {
        std::fs::remove_dir_all(&dist)?;
    }
    let maturin = tools_python.with_file_name(if cfg!(windows) { "maturin.exe" } else { "maturin" });
    let (maturin, out) = (maturin.display().to_string(), dist.display().to_string());
    println!("$ {maturin} sdist --out {out}");
    let status = Command::new(&maturin).args(["sdist", "--out", &out]).current_dir(&manifest).status()?;
    if !status.success() {
        bail!("`maturin sdist` failed: {status}");
    }
    let sdist = first_of(&dist, "tar.gz").context("maturin made no source distribution")?;
    let fresh = |name: &str, interpreter: &str| -> Result<PathBuf> {
        let fresh = folder.join(format!("fresh-{name}"));
        if fresh.exists() {
            std::fs::remove_dir_all(&fresh)?;
        }
        make(interpreter, &fresh)?;
        Ok(binary(&fresh))
    };
    let tests = |python: &Path, tests: &str| {
        let path_of = |part: &str| root().join("python").join(part).display().to_string();
        let (tests, settings) = (path_of(tests), path_of("pyproject.toml"));
        let python = python.display().to_string();
        let quietly = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", &settings];
        run(&python, &[&quietly[..], &["--rootdir", &out, &tests]].concat(), &[])
    };
    let of_sdist = fresh("sdist", &interpreter)?;
    pip(&of_sdist, &[&sdist, "pytest"])?;
    tests(&of_sdist, "tests/test_native.py")?;
    // The build that `pip install ./python` makes, kept.
    let python = of_sdist.display().to_string();
    run(&python, &["-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", &out, &manifest], &[])?;
    let wheel = first_of(&dist, "whl").context("pip made no wheel")?;
    let extras = format!("{wheel}[test]");
    for (version, interpreter) in interpreters() {
        println!("== the wheel with Python {version}");
        let python = fresh(&version, &interpreter)?;
        pip(&python, &[&extras])?;
        tests(&python, "tests")?;
    }
    Ok(())
}

/// The first file of a folder with this ending.
fn first_of(folder: &Path, ending: &str) -> Option<String> {
    let paths = std::fs::read_dir(folder).ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    paths.map(|path| path.display().to_string()).find(|path| path.ends_with(ending))
}

/// Every interpreter that is new enough, one a version.
fn interpreters() -> BTreeMap<String, String> {
    let given = std::env::var("EQUIPOISE_PYTHON").ok();
    let names = NAMES.iter().map(|name| (*name).to_owned()).chain(given);
    names.filter_map(|name| Some((version(&name)?, name))).collect()
}

/// The version of an interpreter, if it is new enough.
fn version(name: &str) -> Option<String> {
    let ask = "import sys, venv; print('%d.%d' % sys.version_info[:2]); sys.exit(sys.version_info < (3, 11))";
    let asked = Command::new(name).args(["-c", ask]).output().ok()?;
    asked.status.success().then(|| String::from_utf8_lossy(&asked.stdout).trim().to_owned())
}

/// The interpreter of an environment with these extras of the package, made anew where they have changed.
pub(crate) fn environment(extras: &[&str]) -> Result<String> {
    let interpreter = interpreter()?;
    let folder = target_folder().join("python");
    let (venv, stamp) = (folder.join("venv"), folder.join("venv.stamp"));
    let wanted = wanted(extras)?;
    let python = binary(&venv);
    let lines = wanted.join("\n");
    if python.exists() && std::fs::read_to_string(&stamp).is_ok_and(|stamp| stamp == lines) {
        return Ok(python.display().to_string());
    }
    if venv.exists() {
        std::fs::remove_dir_all(&venv)?;
    }
    make(&interpreter, &venv)?;
    let wanted: Vec<&str> = wanted.iter().map(String::as_str).collect();
    if let Err(error) = pip(&python, &wanted) {
        // Without a network there is nothing to be installed from; that is no fault of the package.
        return Err(Skipped(format!(
            "THE PYTHON TESTS DID NOT RUN: their packages cannot be installed ({error})"
        ))
        .into());
    }
    std::fs::write(&stamp, lines)?;
    Ok(python.display().to_string())
}

/// What pip is asked for: the dependencies of the package and of these extras.
fn wanted(extras: &[&str]) -> Result<Vec<String>> {
    let text = std::fs::read_to_string(root().join("python/pyproject.toml"))?;
    let document: toml::Table = text.parse().context("python/pyproject.toml")?;
    let project = document
        .get("project")
        .and_then(toml::Value::as_table)
        .context("no [project] in python/pyproject.toml")?;
    let optional = project.get("optional-dependencies");
    let lists = std::iter::once(project.get("dependencies"))
        .chain(extras.iter().map(|extra| optional.and_then(|table| table.get(extra))));
    let mut all = Vec::new();
    for list in lists {
        let list = list
            .and_then(toml::Value::as_array)
            .context("a list of dependencies is missing in python/pyproject.toml")?;
        all.extend(list.iter().filter_map(|item| item.as_str().map(str::to_owned)));
    }
    Ok(all)
}

/// A Python that is new enough.
pub(crate) fn interpreter() -> Result<String> {
    let given = std::env::var("EQUIPOISE_PYTHON").ok();
    let names = given.iter().map(String::as_str).chain(NAMES);
    for name in names {
        if version(name).is_some() {
            return Ok(name.to_owned());
        }
    }
    Err(Skipped(
        "THE PYTHON TESTS DID NOT RUN: no Python from 3.11 on is here; EQUIPOISE_PYTHON may name one".into(),
    )
    .into())
}

pub(crate) fn make(interpreter: &str, venv: &Path) -> Result<()> {
    run(interpreter, &["-m", "venv", &venv.display().to_string()], &[])
}

pub(crate) fn binary(venv: &Path) -> PathBuf {
    if cfg!(windows) { venv.join("Scripts/python.exe") } else { venv.join("bin/python") }
}

pub(crate) fn pip(python: &Path, packages: &[&str]) -> Result<()> {
    let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    run(&python.display().to_string(), &[&install, packages].concat(), &[])
}

/// The package with its extension, compiled as everything else is.
pub(crate) fn assemble() -> Result<PathBuf> {
    // With the whole workspace and its examples, so that dependencies are those of the tests and not compiled again.
    cargo(&["build", "--workspace", "--lib", "--bins", "--examples"])?;
    let package = target_folder().join("python/package");
    if package.exists() {
        std::fs::remove_dir_all(&package)?;
    }
    copy(&root().join("python/equipoise"), &package.join("equipoise"))?;
    let name = if cfg!(windows) {
        "_native.dll"
    } else if cfg!(target_os = "macos") {
        "lib_native.dylib"
    } else {
        "lib_native.so"
    };
    let library = target_folder().join("debug").join(name);
    std::fs::copy(&library, package.join("equipoise").join(EXTENSION))
        .with_context(|| format!("cannot copy {}", library.display()))?;
    Ok(package)
}

/// Sources of the package: no caches, no extension of another build.
fn copy(from: &Path, to: &Path) -> Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from).with_context(|| format!("cannot list {}", from.display()))? {
        let path = entry?.path();
        let Some(name) = path.file_name() else { continue };
        if path.is_dir() {
            if name != "__pycache__" {
                copy(&path, &to.join(name))?;
            }
        } else if path
            .extension()
            .is_some_and(|ending| ending == "py" || ending == "pyi" || ending == "typed")
        {
            std::fs::copy(&path, to.join(name))?;
        }
    }
    Ok(())
}
