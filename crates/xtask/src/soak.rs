//! `cargo xtask soak`: the promises of the project under random seeds, for an hour, with a record.
//!
//! The promises are ignored tests (`equipoise_testkit::soak`), each told a seed and how long to try. They take turns until the
//! time is up; what they print is counted.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Instant, SystemTime};

use anyhow::{Context, Result, bail};

use crate::bench::setup;
use crate::check::{root, target_folder};

/// A test that tries one promise: its crate, its binary, its name.
const PROMISES: [[&str; 3]; 8] = [
    ["equipoise", "suite", "soak::bounds"],
    ["equipoise-models", "suite", "exact::soak"],
    ["equipoise", "suite", "soak::iterates"],
    ["equipoise", "suite", "soak::limits"],
    ["equipoise", "suite", "soak::bits"],
    ["equipoise", "suite", "soak::resumed"],
    ["equipoise-cli", "cli", "soak::files"],
    ["equipoise-cli", "cli", "soak::checkpoints"],
];
/// Seconds that a promise is tried in one turn.
const TURN: u64 = 60;
/// Minutes unless others are asked for.
const MINUTES: f64 = 60.0;

/// What was found of one promise.
#[derive(Debug, Default)]
struct Tally {
    kept: u64,
    seconds: f64,
    broken: Vec<String>,
}

/// What was asked for.
struct Options {
    minutes: f64,
    seed: u64,
    record: Option<PathBuf>,
    only: Option<String>,
}

impl Options {
    fn parse(arguments: &[String]) -> Result<Self> {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?;
        let seed = (now.as_nanos() as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 16;
        let mut options = Self { minutes: MINUTES, seed, record: None, only: None };
        for pair in arguments.chunks(2) {
            match pair {
                [name, value] if name == "--minutes" => options.minutes = value.parse()?,
                [name, value] if name == "--seed" => options.seed = value.parse()?,
                [name, value] if name == "--record" => options.record = Some(root().join(value)),
                [name, value] if name == "--only" => options.only = Some(value.clone()),
                _ => bail!(
                    "usage: cargo xtask soak [--minutes M] [--seed N] [--only bounds,files,...] [--record FOLDER]"
                ),
            }
        }
        Ok(options)
    }

    fn wants(&self, test: &str) -> bool {
        let wanted = |only: &String| only.split(',').any(|name| test.contains(name));
        self.only.as_ref().is_none_or(wanted)
    }
}

pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let options = Options::parse(arguments)?;
    let promises: Vec<[&str; 3]> = PROMISES.into_iter().filter(|[_, _, test]| options.wants(test)).collect();
    let setup = setup();
    let mut built: Vec<[&str; 2]> = Vec::new();
    // Copies, so that the sources may change meanwhile.
    let copies = target_folder().join("soak");
    std::fs::create_dir_all(&copies).with_context(|| format!("cannot make {}", copies.display()))?;
    for [package, binary, _] in &promises {
        if !built.contains(&[package, binary]) {
            build(package, binary, &copies)?;
            built.push([package, binary]);
        }
    }
    let (started, mut tallies) = (Instant::now(), BTreeMap::<String, Tally>::new());
    let mut seed = options.seed;
    println!("== soak: {} minutes from seed {seed}", options.minutes);
    for promise in promises.iter().cycle() {
        let left = 60.0 * options.minutes - started.elapsed().as_secs_f64();
        if left <= 1.0 {
            break;
        }
        turn(promise, seed, (left as u64).min(TURN), &copies, &mut tallies)?;
        // Seeds of one turn are neighbours; those of the next lie far off.
        seed = seed.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(1) >> 8;
        if let Some(folder) = &options.record {
            // Whatever happens, what was found so far is there.
            write(folder, &setup, &options, started.elapsed().as_secs_f64(), &tallies)?;
        }
    }
    let text = summary(&options, started.elapsed().as_secs_f64(), &tallies);
    print!("{text}");
    if tallies.values().all(|tally| tally.broken.is_empty()) { Ok(()) } else { bail!("promises were broken") }
}

fn name_of(package: &str, binary: &str) -> String {
    format!("{package}-{binary}")
}

/// Builds the tests of a crate, and the command where it has one, and puts copies of them aside.
fn build(package: &str, binary: &str, copies: &Path) -> Result<()> {
    println!("$ cargo test -p {package} --test {binary} --no-run");
    let output = Command::new("cargo")
        .args(["test", "-p", package, "--test", binary, "--no-run", "--message-format", "json"])
        .current_dir(root())
        .stderr(Stdio::inherit())
        .output()
        .context("cannot start cargo")?;
    if !output.status.success() {
        bail!("the tests of {package} do not build: {}", output.status);
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let made = |line: &str| {
        let path = line.split_once("\"executable\":\"")?.1;
        Some(PathBuf::from(path.split_once('"')?.0))
    };
    for path in text.lines().filter_map(made) {
        let is_command = path.file_name().is_some_and(|name| name == "equipoise");
        let name = if is_command { "equipoise".to_owned() } else { name_of(package, binary) };
        std::fs::copy(&path, copies.join(name)).with_context(|| format!("cannot copy {}", path.display()))?;
    }
    Ok(())
}

/// One promise, from a seed on.
fn turn(
    &[package, binary, test]: &[&str; 3],
    seed: u64,
    seconds: u64,
    copies: &Path,
    tallies: &mut BTreeMap<String, Tally>,
) -> Result<()> {
    let begun = Instant::now();
    let output = Command::new(copies.join(name_of(package, binary)))
        .args(["--ignored", "--exact", test, "--nocapture", "--test-threads", "1"])
        .env("EQUIPOISE_SOAK_COMMAND", copies.join("equipoise"))
        .env("EQUIPOISE_SOAK_SEED", seed.to_string())
        .env("EQUIPOISE_SOAK_SECONDS", seconds.to_string())
        .env("RUST_BACKTRACE", "0")
        .current_dir(root())
        .stderr(Stdio::null())
        .output()
        .context("cannot start a test")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let mut said = false;
    // The first line of a test stands behind its name.
    let behind = |line| str::split_once(line, "... soak ").map(|(_, rest)| rest);
    for line in text.lines().filter_map(|line| line.strip_prefix("soak ").or_else(|| behind(line))) {
        let mut words = line.splitn(3, ' ');
        let (Some(name), Some(verdict), Some(rest)) = (words.next(), words.next(), words.next()) else {
            continue;
        };
        let tally = tallies.entry(name.to_owned()).or_default();
        match verdict {
            "kept" => {
                tally.kept += rest.parse::<u64>().unwrap_or(0);
                tally.seconds += begun.elapsed().as_secs_f64();
                said = true;
            }
            _ => tally.broken.push(rest.to_owned()),
        }
    }
    if !said {
        let what = format!("{seed} the test ended without a word: {}", output.status);
        tallies.entry(test.to_owned()).or_default().broken.push(what);
    }
    println!("{package} {test}: {:.0} s", begun.elapsed().as_secs_f64());
    Ok(())
}

fn summary(options: &Options, seconds: f64, tallies: &BTreeMap<String, Tally>) -> String {
    let mut text = format!("# Soak\n\n{:.1} minutes from seed {}.\n\n", seconds / 60.0, options.seed);
    text += "| promise | kept | broken | seconds |\n|---|---|---|---|\n";
    for (name, tally) in tallies {
        let _ = writeln!(text, "| {name} | {} | {} | {:.0} |", tally.kept, tally.broken.len(), tally.seconds);
    }
    for (name, tally) in tallies.iter().filter(|(_, tally)| !tally.broken.is_empty()) {
        let _ = writeln!(text, "\n## {name}: seed and what went wrong\n");
        tally.broken.iter().for_each(|line| {
            let _ = writeln!(text, "- {line}");
        });
    }
    text
}

fn write(
    folder: &Path,
    setup: &str,
    options: &Options,
    seconds: f64,
    tallies: &BTreeMap<String, Tally>,
) -> Result<()> {
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    std::fs::write(folder.join("setup.txt"), setup)?;
    std::fs::write(folder.join("summary.md"), summary(options, seconds, tallies))?;
    let mut csv = String::from("promise,kept,broken,seconds\n");
    for (name, tally) in tallies {
        let _ = writeln!(csv, "{name},{},{},{:.1}", tally.kept, tally.broken.len(), tally.seconds);
    }
    Ok(std::fs::write(folder.join("soak.csv"), csv)?)
}
