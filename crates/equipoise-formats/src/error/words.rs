//! How errors of the system are made, and the pieces of messages that may be missing.

use std::io;
use std::path::Path;

use equipoise::{Halt, UnknownName};

use super::Error;
use crate::suggest;

/// What is against a problem.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Reason {
    /// What the library says.
    #[error(transparent)]
    Library(Box<equipoise::Error>),
    /// What the words themselves do not allow.
    #[error("{0}")]
    Words(&'static str),
}

impl From<equipoise::Error> for Error {
    fn from(reason: equipoise::Error) -> Self {
        Self::Library(Box::new(reason))
    }
}

impl From<Halt> for Error {
    fn from(halt: Halt) -> Self {
        Self::Halted { halt, path: None }
    }
}

impl Error {
    /// The error of a read that the system refused.
    pub(crate) fn reading(path: &Path, reason: &io::Error) -> Self {
        Self::io("read", path, reason)
    }

    /// The error of a write that the system refused.
    pub(crate) fn writing(path: &Path, reason: &io::Error) -> Self {
        Self::io("write", path, reason)
    }

    fn io(action: &'static str, path: &Path, reason: &io::Error) -> Self {
        Self::Io {
            action,
            path: path.into(),
            asked_by: None,
            kind: reason.kind(),
            reason: reason.to_string(),
        }
    }

    /// The error of a problem that its own words do not allow.
    pub(crate) fn refused(reason: &'static str) -> Self {
        Self::Refused { place: String::new(), reason: Reason::Words(reason) }
    }

    /// The error of a name in a table.
    pub(crate) fn unknown_name(path: &Path, table: &str, unknown: &UnknownName) -> Self {
        Self::UnknownName { path: path.into(), table: table.into(), words: suggest::unknown(unknown) }
    }

    /// Puts a place before what is refused: a table, or a file.
    pub(crate) fn within(self, outer: &str) -> Self {
        match self {
            Self::Library(reason) => {
                Self::Refused { place: format!("{outer}: "), reason: Reason::Library(reason) }
            }
            Self::Refused { place, reason } => Self::Refused { place: format!("{outer}: {place}"), reason },
            other => other,
        }
    }

    /// Says which file was being read when work was ended.
    pub(crate) fn while_reading(self, path: &Path) -> Self {
        match self {
            Self::Halted { halt, path: None } => Self::Halted { halt, path: Some(path.into()) },
            other => other,
        }
    }

    /// Whether somebody wanted work to stop before it was done.
    pub fn is_interrupt(&self) -> bool {
        self.ended_by(&Halt::Interrupted)
    }

    /// Whether work was ended before it was done, by somebody's wish or because time was up.
    pub fn is_halt(&self) -> bool {
        self.is_interrupt() || self.ended_by(&Halt::TimeLimit)
    }

    fn ended_by(&self, by: &Halt) -> bool {
        match self {
            Self::Halted { halt, .. } => halt == by,
            Self::Library(reason) | Self::Refused { reason: Reason::Library(reason), .. } => {
                **reason == by.clone().into()
            }
            _ => false,
        }
    }

    /// Adds which key asked for the file, to the errors that can say so.
    pub(crate) fn asked_for_by(mut self, key: impl FnOnce() -> String) -> Self {
        if let Self::Io { asked_by, .. } | Self::UnknownExtension { asked_by, .. } = &mut self {
            *asked_by = Some(key());
        }
        self
    }
}

pub(super) fn reading(path: Option<&Path>) -> String {
    path.map_or_else(String::new, |path| format!(" while {} was read", path.display()))
}

pub(super) fn asked(by: Option<&str>) -> String {
    by.map_or_else(String::new, |key| format!(" (asked for by {key})"))
}

pub(super) fn hint(suggestion: Option<&str>) -> String {
    suggestion.map_or_else(String::new, |word| format!(", did you mean `{word}`?"))
}
