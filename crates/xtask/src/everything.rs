//! `cargo xtask test`: all checks, in the order in which a mistake is found soonest.
//!
//! The models of the shared memory compile little, each into a folder of its own. They run beside the rest, in a process
//! of their own whose words are held back until it has ended, so that two cores have something to do while the compiler
//! is in the part of its work that takes only one.

use std::fs::File;
use std::path::PathBuf;
use std::process::{Child, Command};
use std::time::Instant;

use anyhow::{Context, Result, bail};

use crate::check::{self, Step, step, target_folder, this_program};
use crate::{api, data, documents, lab, mpi, python, site};

const STEPS: [Step; 14] = [
    ("format", check::format),
    ("lengths", check::lengths),
    ("lint", check::lint),
    ("unit", check::unit),
    ("public data", data::run),
    ("docs", check::docs),
    ("examples", check::examples),
    ("documents", documents::test),
    ("lab", lab::test),
    ("python", python::test),
    ("mpi", mpi::test),
    ("site", site::test),
    ("api", api::compare),
    ("package", check::package),
];

pub(crate) fn run() -> Result<()> {
    let start = Instant::now();
    let beside = Beside::start()?;
    let mut skipped = Vec::new();
    let outcome: Result<()> = STEPS.into_iter().try_for_each(|(name, check)| {
        if !step(name, check)? {
            skipped.push(name.to_owned());
        }
        Ok(())
    });
    if let Err(error) = &outcome {
        eprintln!("error: {error:#}\n(waiting for what runs beside)");
    }
    let others = beside.finish();
    outcome?;
    skipped.extend(others?);
    let except =
        if skipped.is_empty() { String::new() } else { format!("; skipped: {}", skipped.join(", ")) };
    println!("== all checks passed in {:.0} s{except}", start.elapsed().as_secs_f64());
    Ok(())
}

/// `cargo xtask memory`, with its words in a file.
struct Beside {
    child: Child,
    words: PathBuf,
}

impl Beside {
    fn start() -> Result<Self> {
        let words = target_folder().join("memory.log");
        let file = File::create(&words).with_context(|| format!("cannot write {}", words.display()))?;
        println!("== loom, miri and tsan run beside the rest; what they say comes at the end");
        let mut command = Command::new(this_program()?);
        command.arg("memory").stdout(file.try_clone()?).stderr(file);
        let child = command.spawn().context("cannot start the checks of the shared memory")?;
        Ok(Self { child, words })
    }

    /// Waits for the end and repeats what was said; returns the names of those that were skipped.
    fn finish(mut self) -> Result<Vec<String>> {
        let status = self.child.wait()?;
        let said = std::fs::read_to_string(&self.words)?;
        print!("{said}");
        if !status.success() {
            bail!("the checks of the shared memory failed");
        }
        let skipped =
            said.lines().filter_map(|line| Some(line.strip_prefix("== ")?.split_once(": skipped")?.0));
        Ok(skipped.map(str::to_owned).collect())
    }
}
