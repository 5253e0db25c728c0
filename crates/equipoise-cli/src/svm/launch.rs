//! `--ranks N` of `svm train`, `cv` and `path`, `solve` and `consensus`: starts the ranks and answers with their exit status.
//!
//! ```text
//! mpirun -n N equipoise-mpi --launched ...        the words typed, without --ranks
//! ```
//!
//! `equipoise-mpi` lies beside this program or on the path. `EQUIPOISE_MPIRUN` is taken in place of `mpirun`, with options behind it.
//! The first rank says on stderr that it has begun, and nobody reads that line but this: an `mpirun` that ends before it has started
//! nothing, whatever its exit status means elsewhere.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};
use std::thread;

use anyhow::{Context, Result, bail};

use crate::exit::{self, Outcome, Told, note};
use crate::interrupt::Interrupt;

/// The program that every rank runs.
const PROGRAM: &str = "equipoise-mpi";
/// Its first word, where it is this that starts it.
pub(crate) const LAUNCHED: &str = "--launched";
/// What the first rank says then.
pub(crate) const SIGN: &str = "equipoise-mpi: the ranks have begun";

pub(crate) fn run(ranks: u32, interrupt: &Interrupt) -> Result<Outcome> {
    interrupt.control.check()?;
    let starter = std::env::var("EQUIPOISE_MPIRUN").unwrap_or_else(|_| "mpirun".into());
    let mut words = starter.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or("mpirun"));
    let typed = without_ranks(std::env::args_os().skip(1));
    let has = |option: &str| {
        let is_it = |word: &str| word.split('=').next() == Some(option);
        typed.iter().any(|word| word.to_str().is_some_and(is_it))
    };
    let (wants_json, is_put_aside) = (has("--json"), has("--checkpoint"));
    command.args(words).arg("-n").arg(ranks.to_string()).arg(program());
    command.arg(LAUNCHED).args(&typed).stderr(Stdio::piped());
    if wants_json {
        command.stdout(Stdio::piped());
    }
    // Ranks that wait must not keep those from working with whom they share a processor.
    let processors = thread::available_parallelism().map_or(1, usize::from);
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
    let said = listen(&mut child);
    let status = child.wait().context("cannot wait for the ranks")?;
    let outcome = match status.code() {
        Some(0) => Outcome::Met,
        _ if !said.have_begun => bail!("{}", never_began(&starter, status)),
        Some(1) => Outcome::NotMet,
        Some(2) => return Err(told(said, wants_json)?.into()),
        _ => {
            interrupt.control.check()?;
            let who = said.ended.map_or_else(|| "a rank".into(), |rank| format!("rank {rank}"));
            let what = if is_put_aside {
                "no result was written; type it again with --resume to go on with what is put aside"
            } else {
                "nothing was written"
            };
            bail!("{who} was ended, {}; {what}", how(status))
        }
    };
    exit::print(&String::from_utf8_lossy(&said.stdout))?;
    Ok(outcome)
}

/// What came from the ranks and from their starter.
#[derive(Debug, Default)]
struct Said {
    have_begun: bool,
    /// The rank that was lost.
    ended: Option<usize>,
    /// The last error.
    error: Option<String>,
    /// With `--json`, all of it: it is one object.
    stdout: Vec<u8>,
}

/// Passes on what is said on stderr, and keeps what is said on stdout where that is ours to print.
fn listen(child: &mut Child) -> Said {
    let reader = child.stdout.take().map(|mut stdout| {
        thread::spawn(move || {
            let mut all = Vec::new();
            // What came before a pipe broke is all there is.
            let _ = stdout.read_to_end(&mut all);
            all
        })
    });
    let mut said = child.stderr.take().map_or_else(Said::default, hear);
    if let Some(Ok(stdout)) = reader.map(thread::JoinHandle::join) {
        said.stdout = stdout;
    }
    said
}

/// Every line of stderr, whatever bytes it has.
fn hear(stderr: ChildStderr) -> Said {
    let (mut said, mut lines, mut line) = (Said::default(), BufReader::new(stderr), Vec::new());
    while lines.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
        let text = String::from_utf8_lossy(&line);
        let text = text.trim_end_matches(['\n', '\r']);
        if text.contains(SIGN) {
            said.have_begun = true;
        } else {
            said.ended = said.ended.or_else(|| rank_in(text));
            if let Some((_, error)) = text.split_once("error: ") {
                said.error = Some(error.to_owned());
            }
            note(text);
        }
        line.clear();
    }
    said
}

/// The error that ranks have said; with `--json` it is an object, theirs or one of ours.
fn told(said: Said, wants_json: bool) -> Result<Told> {
    if !wants_json {
        return Ok(Told::default());
    }
    if serde_json::from_slice::<serde_json::Value>(&said.stdout).is_ok() {
        exit::print(&String::from_utf8_lossy(&said.stdout))?;
        return Ok(Told::default());
    }
    Ok(Told { unprinted: Some(said.error.unwrap_or_else(|| Told::default().to_string())) })
}

/// Why there are no ranks.
fn never_began(starter: &str, status: ExitStatus) -> String {
    let what = format!("`{starter}` ended {} before the ranks began; nothing was done", how(status));
    let is_missing = || {
        let folders = std::env::var_os("PATH").unwrap_or_default();
        !program().is_file() && !std::env::split_paths(&folders).any(|folder| folder.join(PROGRAM).is_file())
    };
    if is_missing() {
        format!(
            "{what}: there is no `{PROGRAM}` beside this program or on the path; docs/cluster.md says how to build it"
        )
    } else {
        what
    }
}

fn how(status: ExitStatus) -> String {
    status.code().map_or_else(|| "by a signal".into(), |code| format!("with exit status {code}"))
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
