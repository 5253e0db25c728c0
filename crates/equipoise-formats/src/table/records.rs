//! Small tables of words and numbers: who belongs where, who has which limit.
//!
//! - Given: a file with a header. Returns: its lines as fields, found by the names of their columns.
//! - Must not know: what they mean.

use std::path::Path;

use equipoise::Control;

use super::cells::{fields, is_missing, separator};
use super::names::{check_distinct, open_quote};
use crate::suggest::nearest;
use crate::{Error, Result};

/// The lines of a file, by the names of its columns.
#[derive(Debug, Clone, PartialEq)]
pub struct Records {
    path: Box<Path>,
    names: Vec<String>,
    lines: Vec<(usize, Vec<String>)>,
}

/// One line.
#[derive(Debug, Clone, Copy)]
pub struct Record<'a> {
    of: &'a Records,
    /// Its number in the file, from 1.
    pub line: usize,
    fields: &'a [String],
}

/// Reads such a file, packed or not.
pub fn read_records(path: impl AsRef<Path>, control: &Control) -> Result<Records> {
    let path = path.as_ref();
    let bytes = super::unpacked(path, control)?;
    let text = crate::numbers::text(&bytes, path)?;
    let mut lines = Vec::new();
    let mut sign = None;
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let sign = *sign.get_or_insert_with(|| separator(line.as_bytes()));
        let fields = fields(line, sign).ok_or_else(|| open_quote(path, index + 1))?;
        lines.push((index + 1, fields));
    }
    if lines.is_empty() {
        let (found, expected) = ("no lines".into(), "a header and at least one line".into());
        return Err(Error::TableShape { path: path.into(), found, expected });
    }
    let names = lines.remove(0).1;
    check_distinct(&names, path)?;
    let expected = names.len();
    if let Some((line, fields)) = lines.iter().find(|(_, fields)| fields.len() != expected) {
        return Err(Error::RaggedRow { path: path.into(), line: *line, found: fields.len(), expected });
    }
    Ok(Records { path: path.into(), names, lines })
}

impl Records {
    /// The place of a column; an error where there is none.
    pub fn find(&self, name: &str) -> Result<usize> {
        self.position(name).ok_or_else(|| {
            let known: Vec<&str> = self.names.iter().map(String::as_str).collect();
            Error::UnknownColumn {
                path: self.path.clone(),
                found: name.into(),
                suggestion: nearest(name, &known).map(Into::into),
                known: super::listed(&known),
            }
        })
    }

    /// The place of a column, where there is one; capitals do not matter.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|own| own.eq_ignore_ascii_case(name))
    }

    /// The names of the columns.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Its lines, in their order.
    pub fn iter(&self) -> impl Iterator<Item = Record<'_>> {
        self.lines.iter().map(|(line, fields)| Record { of: self, line: *line, fields })
    }
}

impl<'a> Record<'a> {
    /// A field, as it is.
    pub fn text(&self, column: usize) -> &'a str {
        &self.fields[column]
    }

    /// A field as a number; none where it is empty or says that there is none.
    pub fn number(&self, column: usize) -> Result<Option<f64>> {
        let word = self.text(column);
        if is_missing(word) {
            return Ok(None);
        }
        match word.parse::<f64>() {
            Ok(value) if !value.is_nan() => Ok(Some(value)),
            _ => Err(Error::BadCell {
                path: self.of.path.clone(),
                line: self.line,
                row: self.line - 1,
                column: self.of.names[column].clone(),
                found: crate::numbers::quoted(word),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &str, text: &str) -> Result<Records> {
        let path = std::env::temp_dir().join(format!("equipoise-records-{}-{name}", std::process::id()));
        std::fs::write(&path, text).expect("written");
        let records = read_records(&path, &Control::unlimited());
        std::fs::remove_file(&path).expect("removed");
        records
    }

    #[test]
    fn fields_are_found_by_name_and_numbers_read() {
        let records = read("good", "Asset;min;max\nA;0.1;\n\n\"B;C\";na;inf\n").expect("read");
        let (asset, min, max) = (records.find("asset"), records.find("min"), records.find("max"));
        let (asset, min, max) = (asset.expect("there"), min.expect("there"), max.expect("there"));
        let all: Vec<(usize, &str, Option<f64>, Option<f64>)> = records
            .iter()
            .map(|record| {
                let number = |column| record.number(column).expect("a number or none");
                (record.line, record.text(asset), number(min), number(max))
            })
            .collect();
        assert_eq!(all, [(2, "A", Some(0.1), None), (4, "B;C", None, Some(f64::INFINITY))]);
        assert!(records.find("minn").is_err_and(|error| error.to_string().contains("did you mean `min`?")));
    }

    #[test]
    fn what_is_no_table_is_refused() {
        assert!(
            read("ragged", "a,b\n1\n")
                .is_err_and(|error| error.to_string().contains("line 2: found 1 fields"))
        );
        assert!(read("empty", "\n").is_err());
        assert!(read("twice", "a,a\n1,2\n").is_err());
        let records = read("word", "a,b\nx,much\n").expect("read");
        let refused = records.iter().next().expect("a line").number(1);
        assert!(refused.is_err_and(
            |error| error.to_string().contains("`b`: found ") && error.to_string().contains("much")
        ));
    }
}
