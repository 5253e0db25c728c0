//! Tests of the command line as others rely on it: arguments in, exit status and text out.
//!
//! - `solve`: results, JSON, limits, seeds, warm starts, histories
//! - `bad_input`: everything that must be refused, with its evidence
//! - `verify`: met, not met, tampered with
//! - `fused`: signals, images and graphs in pieces
//! - `generate`: every kind, solved and verified
//! - `multicore`: threads, locking, delay, step rule, determinism
//! - `samples`: LIBSVM data, matrices that stay in their files
//! - `lasso`: fits by name, paths, cross-validation, stability
//! - `svm`: training, predicting, model files, cross-validation
//! - `portfolio`: least variance from a table of prices, frontiers
//! - `allocate`: dispatch from case files, tables of users, many demands
//! - `constrained`: least squares on a simplex, in a box, under rows
//! - `consensus`: one model over shards and graphs
//! - `ranks`: `solve` and `consensus` on ranks
//! - `graph`, `help`: the smaller commands and the texts
//! - `lab`: the paper's experiments, reports, plots of runs
//! - `checkpoint`: runs that are put aside, killed, and gone on with
//! - `ending`: Ctrl-C and broken pipes
//! - `files`: what is written, and what stays
//! - `pages`: commands, options, keys and fields are those that docs/ lists
//! - `soak`: the same under random seeds, for as long as there is time; ignored unless asked for
//!
//! The commands that README.md and docs/ show are run by `cargo xtask documents`.

mod allocate;
mod bad_input;
mod checkpoint;
mod consensus;
mod constrained;
mod ending;
mod files;
mod fused;
mod generate;
mod graph;
mod help;
mod lab;
mod lasso;
mod multicore;
mod numerals;
mod pages;
mod portfolio;
mod ranks;
mod samples;
mod soak;
mod solve;
mod svm;
mod unfinished;
mod verify;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// What a finished command left behind.
#[derive(Debug)]
struct Finished {
    status: Option<i32>,
    stdout: String,
    stderr: String,
}

impl Finished {
    /// Asserts the exit status, showing both outputs when it is another.
    #[track_caller]
    fn expect(self, status: i32) -> Self {
        assert_eq!(self.status, Some(status), "stdout: {}\nstderr: {}", self.stdout, self.stderr);
        self
    }

    /// Asserts that stderr holds all these words.
    #[track_caller]
    fn complains(self, words: &[&str]) -> Self {
        for word in words {
            assert!(self.stderr.contains(word), "no {word:?} in {:?}", self.stderr);
        }
        self
    }

    /// The one JSON object on stdout.
    #[track_caller]
    fn json(&self) -> Value {
        assert_eq!(self.stdout.matches('\n').count(), 1, "more than one line: {}", self.stdout);
        serde_json::from_str(&self.stdout).expect("stdout is JSON")
    }
}

impl From<Output> for Finished {
    fn from(output: Output) -> Self {
        Self {
            status: output.status.code(),
            stdout: String::from_utf8(output.stdout).expect("text on stdout"),
            stderr: String::from_utf8(output.stderr).expect("text on stderr"),
        }
    }
}

/// The command, not yet run.
fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_equipoise"));
    command.args(args);
    command
}

/// Runs the command to its end.
fn equipoise(args: &[&str]) -> Finished {
    command(args).output().expect("the command starts").into()
}

/// Runs with this on stdin.
fn piped(args: &[&str], input: &str) -> Finished {
    let mut child = command(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    // A command that refuses its arguments does not wait for data.
    let _ = child.stdin.take().expect("a pipe").write_all(input.as_bytes());
    child.wait_with_output().expect("it ends").into()
}

/// Writes a problem to a folder of its own and solves it.
fn solve_text(test: &str, problem: &str, options: &[&str]) -> Finished {
    let path = write(&scratch(test), "problem.toml", problem);
    equipoise(&[&["solve", &path], options].concat())
}

/// These bytes as gzip has them, not made smaller: one stored block.
fn gzip(bytes: &[u8]) -> Vec<u8> {
    let length = u16::try_from(bytes.len()).expect("a short text");
    let crc = !bytes.iter().fold(!0_u32, |crc, &byte| {
        (0..8).fold(
            crc ^ u32::from(byte),
            |crc, _| if crc & 1 == 1 { (crc >> 1) ^ 0xedb8_8320 } else { crc >> 1 },
        )
    });
    let mut out = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255, 1];
    out.extend(length.to_le_bytes().into_iter().chain((!length).to_le_bytes()));
    out.extend_from_slice(bytes);
    out.extend(crc.to_le_bytes().into_iter().chain(u32::from(length).to_le_bytes()));
    out
}

/// Runs with a file on stdin.
fn fed(args: &[&str], file: &Path) -> Finished {
    let stdin = fs::File::open(file).expect("a file");
    command(args).stdin(stdin).output().expect("the command starts").into()
}

/// An empty folder of one test.
fn scratch(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cli").join(test);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("the scratch folder can be made");
    folder
}

/// Writes a file and returns its path as an argument.
fn write(folder: &Path, name: &str, content: &str) -> String {
    let path = folder.join(name);
    fs::write(&path, content).expect("the scratch file can be written");
    text(&path)
}

fn text(path: &Path) -> String {
    path.to_str().expect("a path that is text").to_owned()
}

/// A sample problem that comes with the project.
fn example(name: &str) -> String {
    text(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/problems").join(name))
}

/// The numbers of a JSON list.
fn numbers(list: &Value) -> Vec<f64> {
    let list = list.as_array().expect("a list");
    list.iter().map(|number| number.as_f64().expect("a number")).collect()
}

/// A problem of two variables that every solver knows: the optimum is (-1/2, 3/2), objective 1/4.
const TWO: &str = "
[smooth]
kind = \"distance\"
target = [0, 2]
weight = 0.5

[coupling]
kind = \"sum\"
rhs = 1
";

/// A quadratic of a long chain: so badly conditioned that pairs alone take ages.
fn endless_problem(folder: &Path) -> String {
    let n = 3000;
    let mut chain = format!("%%MatrixMarket matrix coordinate real symmetric\n{n} {n} {}\n", 2 * n - 1);
    for row in 1..=n {
        chain.extend([format!("{row} {row} 2\n")]);
        if row < n {
            chain.extend([format!("{} {row} -1\n", row + 1)]);
        }
    }
    write(folder, "chain.mtx", &chain);
    let linear: Vec<String> = (0..n).map(|c| f64::from(c % 7).to_string()).collect();
    write(folder, "linear.csv", &linear.join("\n"));
    let problem = "
[smooth]
kind = \"quadratic\"
matrix = \"chain.mtx\"
linear = \"linear.csv\"

[coupling]
kind = \"sum\"
rhs = 1

[solve]
method = \"pairs\"
tolerance = 1e-300
";
    write(folder, "problem.toml", problem)
}
