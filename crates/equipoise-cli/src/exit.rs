//! How a command ends: its exit status, and the one place where an error is printed.
//!
//! | status | meaning |
//! |---|---|
//! | 0 | converged, or the certificate is met; also when the reader of a pipe has gone |
//! | 1 | finished without converging, or the certificate is not met |
//! | 2 | error, usage errors included; also a time limit that came before there was a result: nothing was written |
//! | 130 | interrupted before there was a result; nothing was written |

use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;

use anyhow::Context;
use equipoise::Halt;
use equipoise_models::constrained;

use crate::interrupt::ENDED_BY_INTERRUPT;

/// What a command that did its work found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Converged, met, done.
    Met,
    /// Not converged, not met.
    NotMet,
}

impl From<bool> for Outcome {
    fn from(met: bool) -> Self {
        if met { Self::Met } else { Self::NotMet }
    }
}

/// The exit status of a command; prints its error, if it had one.
pub(crate) fn code(result: anyhow::Result<Outcome>) -> ExitCode {
    match result {
        Ok(Outcome::Met) => ExitCode::SUCCESS,
        Ok(Outcome::NotMet) => ExitCode::from(1),
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) if was_ended(&error, &Halt::Interrupted) => {
            note(format_args!("{error:#}; nothing was written"));
            ExitCode::from(ENDED_BY_INTERRUPT)
        }
        Err(error) if was_ended(&error, &Halt::TimeLimit) => {
            note(format_args!("error: {error:#}; nothing was written"));
            ExitCode::from(2)
        }
        Err(error) => {
            note(format_args!("error: {error:#}"));
            ExitCode::from(2)
        }
    }
}

/// One line on stderr; a closed stderr is nobody's problem.
pub(crate) fn note(line: impl std::fmt::Display) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// Text on stdout, whole and flushed.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
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
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|cause| cause.kind() == ErrorKind::BrokenPipe)
}
