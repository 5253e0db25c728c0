//! `cargo xtask documents`: every command that README.md and docs/ show is run, and what it prints and draws is what they show.
//!
//! Each page runs in a copy of the files that the repository ships for it, its commands in their order, pages side by side. With
//! `--write` pages and pictures that say something else are renewed. What a page may hold is in `page.rs`, what counts as the same
//! in `compare.rs`. Must not know what the commands are about.

mod compare;
mod page;
mod shell;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

use crate::check::{cargo, root, target_folder};
use compare::{DRAWN, PRINTED, first_difference, is_line};
use page::Page;

/// What pages may rely on: files that are in the repository.
const SHIPPED: [&str; 2] = ["docs/data", "examples"];
/// How a fresh clone runs the program: here it is the one that was built for the tests.
const FROM_SOURCE: &str = "cargo run --release -- ";

/// Commands that all pages have together, at least: fewer, and they are no longer found.
const FEWEST: usize = 60;
/// How long a command may take, on a machine with much else to do.
const LONGEST: Duration = Duration::from_secs(120);

pub(crate) fn test() -> Result<()> {
    run(false, &[])
}

/// Runs the pages named, or all; `write` renews what is not as shown.
pub(crate) fn run(write: bool, only: &[&str]) -> Result<()> {
    // As the lab and the examples are built.
    cargo(&["build", "--workspace", "--lib", "--bins", "--examples"])?;
    let mut names = vec!["README.md".to_owned()];
    for entry in fs::read_dir(root().join("docs")).context("cannot list docs")? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if Path::new(&name).extension().is_some_and(|extension| extension == "md") {
            names.push(format!("docs/{name}"));
        }
    }
    names.sort();
    if !only.is_empty() {
        for name in only {
            ensure!(names.iter().any(|known| known == name), "no page `{name}`; known: {}", names.join(", "));
        }
        names.retain(|name| only.contains(&name.as_str()));
    }
    let workers = std::thread::available_parallelism().map_or(2, usize::from).clamp(2, 8);
    let (queue, outcomes) = (Mutex::new(names.into_iter()), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(name) = queue.lock().ok().and_then(|mut queue| queue.next()) {
                    let outcome = Walk::start(&name, write).and_then(Walk::finish);
                    if let Ok(mut outcomes) = outcomes.lock() {
                        outcomes.push((name, outcome));
                    }
                }
            });
        }
    });
    let mut outcomes = outcomes.into_inner().unwrap_or_default();
    outcomes.sort_by(|a, b| a.0.cmp(&b.0));
    report(outcomes, if only.is_empty() { FEWEST } else { 1 })
}

/// Says what became of the pages, which have `fewest` commands or more.
fn report(outcomes: Vec<(String, Result<Done>)>, fewest: usize) -> Result<()> {
    let (mut commands, mut failures) = (0, Vec::new());
    for (name, outcome) in outcomes {
        match outcome.with_context(|| name.clone()) {
            Ok(done) => {
                commands += done.commands;
                if done.commands > 0 {
                    println!("    {name}: {} commands, {:.1} s", done.commands, done.seconds);
                }
                done.left_out.iter().for_each(|(line, why)| println!("    {name}:{line}: not run: {why}"));
                failures.extend(done.failures.iter().map(|failure| format!("{name}:{failure}")));
            }
            Err(error) => failures.push(format!("{error:#}")),
        }
    }
    if failures.is_empty() {
        ensure!(commands >= fewest, "only {commands} commands were found, where {fewest} are expected");
        println!("    {commands} commands do what the pages show");
        return Ok(());
    }
    bail!(
        "{} places are not as shown:\n\n{}\n\n`cargo xtask documents --write` renews outputs and pictures",
        failures.len(),
        failures.join("\n\n")
    )
}

/// What became of a page.
struct Done {
    commands: usize,
    seconds: f64,
    left_out: Vec<(usize, String)>,
    failures: Vec<String>,
}

/// A page on its way.
struct Walk {
    file: PathBuf,
    text: String,
    page: Page,
    /// Where its commands run.
    folder: PathBuf,
    write: bool,
    failures: Vec<String>,
    /// Lines from, lines to, what belongs there.
    renewed: Vec<(usize, usize, Vec<String>)>,
}

impl Walk {
    fn start(name: &str, write: bool) -> Result<Self> {
        let file = root().join(name);
        let text = fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
        let page = page::read(&text)?;
        let scratch = target_folder().join("documents").join(name.replace('/', "-"));
        if scratch.exists() {
            fs::remove_dir_all(&scratch).with_context(|| format!("cannot remove {}", scratch.display()))?;
        }
        if !page.commands.is_empty() {
            for shipped in SHIPPED {
                copy(&root().join(shipped), &scratch.join(shipped))?;
            }
        }
        let own = Path::new(name).parent().map(|folder| folder.to_string_lossy().into_owned());
        let folder = scratch.join(page.folder.clone().or(own).unwrap_or_default());
        Ok(Self { file, text, page, folder, write, failures: Vec::new(), renewed: Vec::new() })
    }

    fn finish(mut self) -> Result<Done> {
        let start = Instant::now();
        for k in 0..self.page.commands.len() {
            if !self.command(k)? {
                // What follows builds on it.
                break;
            }
        }
        if self.failures.is_empty() {
            for k in 0..self.page.pictures.len() {
                self.picture(k)?;
            }
        }
        if !self.renewed.is_empty() {
            let mut lines: Vec<String> = self.text.lines().map(str::to_owned).collect();
            for (from, to, new) in self.renewed.into_iter().rev() {
                lines.splice(from..to, new);
            }
            fs::write(&self.file, lines.join("\n") + "\n")
                .with_context(|| format!("cannot write {}", self.file.display()))?;
        }
        Ok(Done {
            commands: self.page.commands.len(),
            seconds: start.elapsed().as_secs_f64(),
            left_out: self.page.left_out,
            failures: self.failures,
        })
    }

    /// Runs a command; false when it ended otherwise than shown.
    fn command(&mut self, k: usize) -> Result<bool> {
        let command = &self.page.commands[k];
        let all: Vec<&str> = self.text.lines().collect();
        let shown: Option<Vec<&str>> = command.shown.clone().map(|lines| all[lines].to_vec());
        let (said, succeeded) = self.shell(&command.typed)?;
        let refusal = shown.iter().flatten().any(|line| line.starts_with("error:"));
        if succeeded == refusal {
            let how = if succeeded { "succeeded, where an error is shown" } else { "failed" };
            self.failures.push(format!("{}: `{}` {how}:\n{}", command.line, command.typed, said.trim_end()));
            return Ok(false);
        }
        let Some(shown) = shown else { return Ok(true) };
        let found: Vec<&str> = said.lines().map(str::trim_end).collect();
        if let Some((expected, instead)) = first_difference(&shown, &found, PRINTED) {
            let range = command.shown.clone().unwrap_or_default();
            if self.write {
                let keep = |k: usize, line: &str| {
                    shown
                        .get(k)
                        .filter(|old| shown.len() == found.len() && is_line(old, line, PRINTED))
                        .copied()
                };
                let new = found.iter().enumerate().map(|(k, line)| keep(k, line).unwrap_or(line).to_owned());
                self.renewed.push((range.start, range.end, new.collect()));
            } else {
                let mut failure = format!("{}: `{}` prints something else\n", command.line, command.typed);
                write!(failure, "  shown: {expected}\n  found: {instead}")?;
                self.failures.push(failure);
            }
        }
        Ok(true)
    }

    /// All that a command prints, and whether it succeeded.
    fn shell(&self, typed: &str) -> Result<(String, bool)> {
        let typed = typed
            .strip_prefix(FROM_SOURCE)
            .map_or_else(|| typed.to_owned(), |rest| format!("equipoise {rest}"));
        let programs = target_folder().join("debug");
        let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap_or_default());
        let mut command = Command::new("sh");
        command.args(["-c", &format!("{{ {typed}\n}} 2>&1")]).current_dir(&self.folder);
        command.env("PATH", path).env_remove("EQUIPOISE_DATA");
        shell::within(command, LONGEST, &self.folder.with_extension("said"))
    }

    /// Compares a picture of the page with the one that was drawn.
    fn picture(&mut self, k: usize) -> Result<()> {
        let (drawn, target) = &self.page.pictures[k];
        let drawn = self.folder.join(drawn);
        let new =
            fs::read_to_string(&drawn).with_context(|| format!("no command drew {}", drawn.display()))?;
        let file = self.file.with_file_name(target);
        let old = fs::read_to_string(&file).unwrap_or_default();
        let (shown, found): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
        if let Some((expected, instead)) = first_difference(&shown, &found, DRAWN) {
            if self.write {
                fs::write(&file, new).with_context(|| format!("cannot write {}", file.display()))?;
            } else {
                let start = |text: String| text.chars().take(160).collect::<String>();
                let (expected, instead) = (start(expected), start(instead));
                self.failures
                    .push(format!(" {target} is not what is drawn\n  shown: {expected}\n  found: {instead}"));
            }
        }
        Ok(())
    }
}

/// Copies a folder.
fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to).with_context(|| format!("cannot make {}", to.display()))?;
    for entry in fs::read_dir(from).with_context(|| format!("cannot list {}", from.display()))? {
        let path = entry?.path();
        let target = to.join(path.file_name().unwrap_or_default());
        if path.is_dir() {
            copy(&path, &target)?;
        } else {
            fs::copy(&path, &target).with_context(|| format!("cannot copy {}", path.display()))?;
        }
    }
    Ok(())
}
