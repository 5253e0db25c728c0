//! `--ranks N` of `svm train` and `cv`, `solve` and `consensus`: starts the ranks and answers with their exit status.
//!
//! ```text
//! mpirun -n N equipoise-mpi ...        the words typed, without --ranks
//! ```
//!
//! `equipoise-mpi` lies beside this program or on the path. `EQUIPOISE_MPIRUN` is taken in place of `mpirun`, with options behind it.

use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::exit::{Outcome, Told, note};
use crate::interrupt::Interrupt;

/// The program that every rank runs.
const PROGRAM: &str = "equipoise-mpi";

pub(crate) fn run(ranks: u32, interrupt: &Interrupt) -> Result<Outcome> {
    interrupt.control.check()?;
    let starter = std::env::var("EQUIPOISE_MPIRUN").unwrap_or_else(|_| "mpirun".into());
    let mut words = starter.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or("mpirun"));
    command.args(words).arg("-n").arg(ranks.to_string()).arg(program());
    command.args(without_ranks(std::env::args_os().skip(1))).stderr(Stdio::piped());
    // Ranks that wait must not keep those from working with whom they share a processor.
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    if ranks as usize > processors {
        for name in ["OMPI_MCA_rmaps_base_oversubscribe", "OMPI_MCA_mpi_yield_when_idle"] {
            command.env(name, "1");
        }
        command.env("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe");
    }
    let mut child = command.spawn().with_context(|| {
        format!(
            "cannot start `{starter}`, which starts the ranks; docs/cluster.md says how to install an MPI"
        )
    })?;
    let mut ended = None;
    if let Some(stderr) = child.stderr.take() {
        for line in BufReader::new(stderr).lines().map_while(Result::ok) {
            ended = ended.or_else(|| rank_in(&line));
            note(line);
        }
    }
    let status = child.wait().context("cannot wait for the ranks")?;
    match status.code() {
        Some(0) => Ok(Outcome::Met),
        Some(1) => Ok(Outcome::NotMet),
        Some(2) => Err(Told.into()),
        code => {
            let how = code.map_or_else(|| "by a signal".into(), |code| format!("with exit status {code}"));
            let who = ended.map_or_else(|| "a rank".into(), |rank| format!("rank {rank}"));
            bail!("{who} was ended, {how}; nothing was written")
        }
    }
}

/// The words typed, without `--ranks N`.
fn without_ranks(typed: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let (mut words, mut skips) = (Vec::new(), false);
    for word in typed {
        let is_number = std::mem::take(&mut skips);
        skips = !is_number && word == "--ranks";
        let is_both = word.to_str().is_some_and(|word| word.starts_with("--ranks="));
        if !(skips || is_number || is_both) {
            words.push(word);
        }
    }
    words
}

/// Beside this program, else wherever the path leads.
fn program() -> PathBuf {
    let beside = std::env::current_exe().ok().map(|own| own.with_file_name(PROGRAM));
    beside.filter(|path| path.is_file()).unwrap_or_else(|| PROGRAM.into())
}

/// The rank that a word of `mpirun` says was lost.
fn rank_in(line: &str) -> Option<usize> {
    let (_, after) = line.split_once("process rank ")?;
    after.split(|sign: char| !sign.is_ascii_digit()).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_taken_out_of_the_words() {
        let without = |typed: &[&str]| {
            let words = without_ranks(typed.iter().map(|word| OsString::from(*word)));
            words.iter().map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>()
        };
        assert_eq!(
            without(&["svm", "train", "a", "--ranks", "4", "--json"]),
            ["svm", "train", "a", "--json"]
        );
        assert_eq!(without(&["svm", "train", "--ranks=4", "a"]), ["svm", "train", "a"]);
        assert_eq!(without(&["svm", "train", "a", "--ranks", "4"]), ["svm", "train", "a"]);
    }

    #[test]
    fn the_rank_that_was_lost_is_found() {
        let line = "mpirun noticed that process rank 2 with PID 0 on node a exited on signal 9 (Killed).";
        assert_eq!(rank_in(line), Some(2));
        assert_eq!(rank_in("another line"), None);
    }
}
