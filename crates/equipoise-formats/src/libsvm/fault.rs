//! What is wrong at one place of the text, before the line number is known.
//!
//! A chunk does not know how many lines stand before it, so a fault carries a position in its chunk.
//! Line and column follow when the chunks before it have been counted.

use std::path::Path;

use crate::Error;

/// A place that the format does not allow.
#[derive(Debug)]
pub(super) struct Fault {
    /// Position within the chunk.
    pub(super) at: usize,
    /// What stands there.
    pub(super) found: String,
    /// What the format asks for.
    pub(super) allowed: &'static str,
    /// What to do about it.
    pub(super) advice: &'static str,
}

impl Fault {
    /// The error of a fault in `text`, a chunk that begins after `lines` whole lines.
    pub(super) fn in_file(self, text: &[u8], lines: usize, path: &Path) -> Error {
        let before = &text[..self.at];
        let line_start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        Error::BadRow {
            path: path.into(),
            line: lines + before.split(|&byte| byte == b'\n').count(),
            column: self.at - line_start + 1,
            found: self.found,
            allowed: self.allowed,
            advice: self.advice,
        }
    }
}
