//! How a command ends: its exit status, and the one place where an error is printed.
//!
//! | status | meaning |
//! |---|---|
//! | 0 | converged, or the certificate is met; also when the reader of a pipe has gone |
//! | 1 | finished without converging, or the certificate is not met |
//! | 2 | error, usage errors included; also a time limit that came before there was a result: nothing was written |
//! | 130 | interrupted before there was a result; nothing was written |
//!
//! With `--json`, status 2 comes with one object on stdout, `{"error": {"message": ..., "exit_status": 2}}`; the line on
//! stderr is the same with and without it.

use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, bail};
use clap::error::ContextKind;
use equipoise::Halt;
use equipoise_formats::with_short_numerals;
use equipoise_models::constrained;

use crate::interrupt::ENDED_BY_INTERRUPT;

/// The exit status of errors.
const ERROR: u8 = 2;

/// What a command that did its work found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Converged, met, done.
    Met,
    /// Not converged, not met.
    NotMet,
}

/// An error of which somebody else has said on stderr what there is to say.
#[derive(Debug, Default)]
pub(crate) struct Told {
    /// What the object of `--json` has still to say.
    pub(crate) unprinted: Option<String>,
}

impl std::fmt::Display for Told {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("the ranks ended with an error")
    }
}

impl std::error::Error for Told {}

impl From<bool> for Outcome {
    fn from(met: bool) -> Self {
        if met { Self::Met } else { Self::NotMet }
    }
}

/// The exit status of a command; prints its error, if it had one.
pub(crate) fn code(result: anyhow::Result<Outcome>, wants_json: bool) -> ExitCode {
    match result {
        Ok(Outcome::Met) => ExitCode::SUCCESS,
        Ok(Outcome::NotMet) => ExitCode::from(1),
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) if error.is::<Told>() => {
            if let Some(Told { unprinted: Some(message) }) = error.downcast_ref() {
                print_error(message);
            }
            ExitCode::from(ERROR)
        }
        Err(error) if error.is::<equipoise_experiments::Ended>() => {
            note(format_args!("{error:#}"));
            ExitCode::from(ENDED_BY_INTERRUPT)
        }
        Err(error) if was_ended(&error, &Halt::Interrupted) => {
            note(format_args!("{error:#}; nothing was written"));
            ExitCode::from(ENDED_BY_INTERRUPT)
        }
        Err(error) if was_ended(&error, &Halt::TimeLimit) => {
            refused(&format!("{error:#}; nothing was written"), wants_json)
        }
        Err(error) => refused(&format!("{error:#}"), wants_json),
    }
}

/// The same of a rank that leaves the words to the first.
pub(crate) fn quiet_code(result: &anyhow::Result<Outcome>) -> ExitCode {
    match result {
        Ok(Outcome::Met) => ExitCode::SUCCESS,
        Ok(Outcome::NotMet) => ExitCode::from(1),
        Err(error) if was_ended(error, &Halt::Interrupted) => ExitCode::from(ENDED_BY_INTERRUPT),
        Err(_) => ExitCode::from(ERROR),
    }
}

/// The exit status of arguments that were not understood; says why, and what was perhaps meant.
pub(crate) fn misunderstood(mut error: clap::Error, hints: &[String], wants_json: bool) -> ExitCode {
    if !hints.is_empty() {
        // Nobody who types another program's spelling means a file of that name.
        error.remove(ContextKind::Suggested);
    }
    let _ = error.print();
    hints.iter().for_each(note);
    if wants_json {
        let said = in_one_line(&error.to_string());
        let words: Vec<&str> = std::iter::once(&said).chain(hints).map(String::as_str).collect();
        print_error(&words.join("; "));
    }
    ExitCode::from(ERROR)
}

/// What the parser says before it comes to usage, with the names that it lists on lines of their own.
fn in_one_line(text: &str) -> String {
    let text = text.strip_prefix("error: ").unwrap_or(text);
    let lines: Vec<&str> = text.lines().take_while(|line| !line.trim().is_empty()).map(str::trim).collect();
    let Some((first, names)) = lines.split_first() else { return String::new() };
    if names.is_empty() { (*first).to_owned() } else { format!("{first} {}", names.join(", ")) }
}

/// Says an error; it is the one object of `--json`, too.
fn refused(message: &str, wants_json: bool) -> ExitCode {
    note(format_args!("error: {message}"));
    if wants_json {
        print_error(message);
    }
    ExitCode::from(ERROR)
}

fn print_error(message: &str) {
    IS_TAKEN.store(false, Ordering::Relaxed);
    let message = with_short_numerals(message);
    let object = serde_json::json!({ "error": { "message": message, "exit_status": ERROR } });
    // Where stdout is gone nobody is there to read it.
    let _ = print(&format!("{object}\n"));
}

/// One line on stderr; a closed stderr is nobody's problem.
pub(crate) fn note(line: impl std::fmt::Display) {
    let _ = writeln!(io::stderr(), "{}", with_short_numerals(&line.to_string()));
}

/// Whether `--json` was typed, and whether an output is `-` and has stdout for itself.
static WANTS_JSON: AtomicBool = AtomicBool::new(false);
static IS_TAKEN: AtomicBool = AtomicBool::new(false);

/// At the beginning of a command: stdout is free.
pub(crate) fn begin(wants_json: bool) {
    WANTS_JSON.store(wants_json, Ordering::Relaxed);
    IS_TAKEN.store(false, Ordering::Relaxed);
}

/// Gives stdout to a file named `-`; words for people go to stderr from now on.
pub(crate) fn take_stdout() -> anyhow::Result<()> {
    if WANTS_JSON.load(Ordering::Relaxed) {
        bail!("--json and an output that is `-` both want standard output; name a file for one");
    }
    if IS_TAKEN.swap(true, Ordering::Relaxed) {
        bail!("two outputs are `-`, and there is one standard output; name a file for the other");
    }
    Ok(())
}

/// Text on stdout, whole and flushed; on stderr where stdout is taken.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    let text = if WANTS_JSON.load(Ordering::Relaxed) { text.into() } else { with_short_numerals(text) };
    if IS_TAKEN.load(Ordering::Relaxed) {
        let _ = io::stderr().write_all(text.as_bytes());
        return Ok(());
    }
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).context("cannot write to stdout")
}

/// Says what was going on when work was ended; other errors stay as they are.
pub(crate) fn while_at<T>(what: &'static str, result: anyhow::Result<T>) -> anyhow::Result<T> {
    let ended =
        |error: &anyhow::Error| [Halt::Interrupted, Halt::TimeLimit].iter().any(|by| was_ended(error, by));
    result.map_err(|error| if ended(&error) { error.context(format!("while {what}")) } else { error })
}

fn was_ended(error: &anyhow::Error, by: &Halt) -> bool {
    let of_library = equipoise::Error::from(by.clone());
    let of_formats = |error: &equipoise_formats::Error| {
        error.is_halt() && (*by == Halt::Interrupted) == error.is_interrupt()
    };
    let of_model = |cause: &(dyn std::error::Error + 'static)| {
        use equipoise_models::{fused, lasso, svm};
        let inner = cause
            .downcast_ref()
            .and_then(|error| if let svm::Error::Equipoise(inner) = error { Some(inner) } else { None })
            .or(cause.downcast_ref().and_then(|error| {
                if let lasso::Error::Equipoise(inner) = error { Some(inner) } else { None }
            }))
            .or(cause.downcast_ref().and_then(|error| {
                if let fused::Error::Equipoise(inner) = error { Some(inner) } else { None }
            }))
            .or(cause.downcast_ref().and_then(|error| {
                if let constrained::Error::Equipoise(inner) = error { Some(inner) } else { None }
            }))
            .or(cause.downcast_ref().and_then(|error| {
                if let equipoise_consensus::Error::Equipoise(inner) = error { Some(inner) } else { None }
            }))
            .or(cause.downcast_ref().and_then(|error| {
                if let equipoise_portfolio::Error::Equipoise(inner) = error { Some(inner) } else { None }
            }))
            .or(cause.downcast_ref().and_then(|error| {
                if let equipoise_allocation::Error::Equipoise(inner) = error { Some(inner) } else { None }
            }));
        inner == Some(&of_library)
    };
    error.chain().any(|cause| {
        cause.downcast_ref::<equipoise_formats::Error>().is_some_and(of_formats)
            || cause.downcast_ref::<equipoise::Error>() == Some(&of_library)
            || cause.downcast_ref::<Halt>() == Some(by)
            || of_model(cause)
    })
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| {
            let of_system = cause.downcast_ref().map(io::Error::kind);
            of_system.or_else(|| match cause.downcast_ref()? {
                // A history or a solution that goes down the pipe.
                equipoise_formats::Error::Io { path, kind, .. } if path.as_os_str() == "-" => Some(*kind),
                _ => None,
            })
        })
        .any(|kind| kind == ErrorKind::BrokenPipe)
}
