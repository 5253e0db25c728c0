//! Names of columns from a file of their own.
//!
//! Given: a file with one name a line, one line of names, or lines of several fields. Returns: the names. Must not know:
//! what is named.

use std::collections::HashMap;
use std::path::Path;

use equipoise::Control;

use super::cells::{fields, separator};
use crate::{Error, Result};

/// Reads names. Of lines with several fields the last one counts whose entries all differ (a taxonomy ends with what is
/// closest), the first if there is none.
pub(super) fn read(path: &Path, control: &Control) -> Result<Vec<String>> {
    let bytes = super::unpacked(path, control)?;
    let text = crate::numbers::text(&bytes, path)?;
    let mut lines = Vec::new();
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        lines.push(fields(line, separator(line.as_bytes())).ok_or_else(|| open_quote(path, index + 1))?);
    }
    if lines.is_empty() {
        let (found, expected) = ("no names".into(), "at least one".into());
        return Err(Error::TableShape { path: path.into(), found, expected });
    }
    if lines.len() == 1 {
        return Ok(lines.remove(0));
    }
    let width = lines.iter().map(Vec::len).min().unwrap_or(1);
    let differ = |field: &usize| {
        let mut seen: Vec<&str> = lines.iter().map(|line| line[*field].as_str()).collect();
        seen.sort_unstable();
        !seen[0].is_empty() && seen.windows(2).all(|pair| pair[0] != pair[1])
    };
    let field = (0..width).rev().find(differ).unwrap_or(0);
    Ok(lines.into_iter().map(|mut line| line.swap_remove(field)).collect())
}

/// Refuses two columns of one name.
pub(super) fn check_distinct(names: &[String], path: &Path) -> Result<()> {
    let mut seen = HashMap::with_capacity(names.len());
    for (place, name) in names.iter().enumerate() {
        if let Some(first) = seen.insert(name.as_str(), place) {
            return Err(Error::TableShape {
                path: path.into(),
                found: format!("the name `{name}` for columns {} and {}", first + 1, place + 1),
                expected: "names that differ".into(),
            });
        }
    }
    Ok(())
}

/// The error of a quote that does not end on its line.
pub(super) fn open_quote(path: &Path, line: usize) -> Error {
    let (found, expected) = ("a quote that does not end".into(), "quotes in pairs on one line".into());
    Error::Malformed { path: path.into(), line, found, expected }
}
