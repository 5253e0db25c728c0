//! How errors of the system are made, and the pieces of messages that may be missing.

use std::io;
use std::path::Path;

use super::Error;

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

    /// Adds which key asked for the file, to the errors that can say so.
    pub(crate) fn asked_for_by(mut self, key: impl FnOnce() -> String) -> Self {
        if let Self::Io { asked_by, .. } | Self::UnknownExtension { asked_by, .. } = &mut self {
            *asked_by = Some(key());
        }
        self
    }
}

pub(super) fn asked(by: Option<&str>) -> String {
    by.map_or_else(String::new, |key| format!(" (asked for by {key})"))
}

pub(super) fn hint(suggestion: Option<&str>) -> String {
    suggestion.map_or_else(String::new, |word| format!(", did you mean `{word}`?"))
}
