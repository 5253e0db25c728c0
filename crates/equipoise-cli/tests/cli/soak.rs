//! Promises about files under random seeds, for as long as there is time: `cargo xtask soak`.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use equipoise_testkit::soak::soak;
use serde_json::Value;

use crate::checkpoint::survives_kills;
use crate::{scratch, text, write};

/// Variables of the problem: its solution takes a while to write.
const N: usize = 20_000;

/// The command; a soak may bring a copy of its own, which does not change under it.
pub(crate) fn command(args: &[&str]) -> Command {
    let program = std::env::var("EQUIPOISE_SOAK_COMMAND");
    let mut command = Command::new(program.as_deref().unwrap_or(env!("CARGO_BIN_EXE_equipoise")));
    command.args(args);
    command
}

/// Random numbers by splitmix64.
pub(crate) struct Draw(pub(crate) u64);

impl Draw {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Between 0 and 1.
    pub(crate) fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Runs a command and kills it after so many seconds, without a warning; whether it had ended before.
pub(crate) fn killed_after(mut command: Command, seconds: f64) -> bool {
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the command starts");
    sleep(Duration::from_secs_f64(seconds));
    let ended = child.try_wait().expect("a child").is_some();
    let _ = child.kill();
    child.wait().expect("it ends");
    ended
}

/// A solve that writes much, and a training.
struct Writers {
    problem: String,
    rows: String,
    out: String,
    model: String,
}

impl Writers {
    fn new(folder: &Path) -> Self {
        let target: Vec<String> = (0..N).map(|k| format!("{}", (k * 7919 % 1009) as f64 / 3.0)).collect();
        write(folder, "target.csv", &target.join("\n"));
        let problem = "[smooth]\nkind = \"distance\"\ntarget = \"target.csv\"\nweight = 0.5\n\n\
                       [coupling]\nkind = \"sum\"\nrhs = 1\n\n[solve]\ntolerance = 1e-3\n";
        let row = |k: u32| {
            let entries: Vec<String> =
                (1..60).map(|c| format!("{c}:{}", f64::from((k * c * 31 + c * c) % 97) / 97.0)).collect();
            format!("{} {}", k % 3, entries.join(" "))
        };
        let rows: Vec<String> = (0..150).map(row).collect();
        Self {
            problem: write(folder, "problem.toml", problem),
            rows: write(folder, "rows.svm", &rows.join("\n")),
            out: text(&folder.join("x.json")),
            model: text(&folder.join("model.json")),
        }
    }

    fn solve(&self, seed: &str) -> Command {
        command(&["solve", &self.problem, "--quiet", "--seed", seed, "--out", &self.out])
    }

    fn train(&self, cost: &str) -> Command {
        command(&[
            "svm",
            "train",
            &self.rows,
            "--quiet",
            "--cost",
            cost,
            "--gap",
            "1e-2",
            "--model",
            &self.model,
        ])
    }
}

/// The JSON object of a file, whole.
#[track_caller]
fn whole(path: &str) -> Value {
    let text = fs::read_to_string(path).expect("the file is there");
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path} is not whole: {error}"))
}

/// Kills a solve and a training at a random moment, over files that are there: each is the old one or the new one.
pub(crate) fn files_survive(folder: &Path, seed: u64, rounds: u32) -> u64 {
    let (writers, mut draw) = (Writers::new(folder), Draw(seed));
    let timed = |mut command: Command| {
        let begun = Instant::now();
        assert!(command.status().expect("the command starts").success());
        begun.elapsed().as_secs_f64()
    };
    let (of_solve, of_train) = (timed(writers.solve("1")), timed(writers.train("1")));
    let (mut last_seed, mut last_cost) = (1, 1.0);
    for round in 2..rounds + 2 {
        let (next_seed, next_cost) = (u64::from(round), f64::from(round));
        killed_after(writers.solve(&next_seed.to_string()), 1.2 * of_solve * draw.share());
        let found = whole(&writers.out);
        let length = found["x"].as_array().map_or(0, Vec::len);
        let of = found["seed"].as_u64().expect("a seed");
        assert!(length == N && (of == last_seed || of == next_seed), "{of} with {length} numbers");
        last_seed = of;
        killed_after(writers.train(&next_cost.to_string()), 1.2 * of_train * draw.share());
        let found = whole(&writers.model);
        let of = found["cost"].as_f64().expect("a cost");
        assert!(of == last_cost || of == next_cost, "a cost of {of}");
        last_cost = of;
    }
    2 * u64::from(rounds)
}

#[test]
#[ignore = "soak: `cargo xtask soak`"]
fn files() {
    soak("files", |seed| files_survive(&scratch(&format!("soak-files-{}", seed % 4)), seed, 20));
}

#[test]
#[ignore = "soak: `cargo xtask soak`"]
fn checkpoints() {
    soak("checkpoints", |seed| {
        survives_kills(&scratch(&format!("soak-checkpoints-{}", seed % 4)), &command, seed)
    });
}
