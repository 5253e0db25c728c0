//! Tables in text: what the first lines say, then numbers as fast as they can be read.
//!
//! Given: a file. Returns: its numbers row after row, and the names it has. Must not know: what the columns mean.

use std::collections::HashSet;
use std::path::Path;

use equipoise::Control;

use super::cells::{fields, is_missing, number, separator};
use super::names::open_quote;
use super::{Header, Missing, Raw, RowNames, TableOptions};
use crate::libsvm::{PADDING, decimal};
use crate::{Error, Result};

/// Numbers between two looks at the wish to stop.
const LOOK: usize = 1 << 16;

/// What the first lines say about all others.
struct Layout<'a> {
    path: &'a Path,
    separator: u8,
    /// The names of all columns of the file that hold numbers or are dropped.
    names: Option<Vec<String>>,
    has_row_names: bool,
    /// Fields of a line.
    fields: usize,
    /// Of every field, whether it is a number to be kept.
    kept: Vec<bool>,
    /// Fields of words, in the order of the file.
    worded: Vec<usize>,
    keep_missing: bool,
    infinite: bool,
}

/// A line that is not blank, and its number from 1.
struct Line {
    number: usize,
    start: usize,
    end: usize,
}

/// Reads a text; `path` is for messages.
pub(super) fn read(mut text: Vec<u8>, path: &Path, options: &TableOptions, control: &Control) -> Result<Raw> {
    crate::numbers::text(&text, path)?;
    let length = text.len();
    text.resize(length + PADDING, b'\n');
    let mut lines = Lines { text: &text[..length], at: 0, number: 0 };
    let no_numbers = || Error::NoNumbers { path: path.into() };
    let first = lines.next().ok_or_else(no_numbers)?;
    let (layout, is_header) = Layout::of(path, &lines, &first, options)?;
    let columns = layout.kept.iter().filter(|kept| **kept).count();
    if columns == 0 && layout.worded.is_empty() {
        return Err(no_numbers());
    }
    let mut raw = Raw {
        row_names: layout.has_row_names.then(Vec::new),
        rows: 0,
        columns,
        values: Vec::new(),
        names: None,
        words: layout.words(),
    };
    let mut looked = 0;
    let mut line = if is_header { lines.next() } else { Some(first) };
    while let Some(at) = line {
        let read = raw.values.len() + raw.rows;
        if read >= looked + LOOK {
            control.check()?;
            looked = read;
        }
        layout.row(&text, &at, &mut raw)?;
        raw.rows += 1;
        line = lines.next();
    }
    if raw.rows == 0 {
        return Err(no_numbers());
    }
    raw.names = layout.names.map(|names| {
        let skipped = usize::from(layout.has_row_names);
        names
            .into_iter()
            .zip(&layout.kept[skipped..])
            .filter(|(_, kept)| **kept)
            .map(|(name, _)| name)
            .collect()
    });
    Ok(raw)
}

/// The lines of a text that are not blank.
struct Lines<'a> {
    text: &'a [u8],
    at: usize,
    number: usize,
}

impl Lines<'_> {
    fn next(&mut self) -> Option<Line> {
        while self.at < self.text.len() {
            let start = self.at;
            let length = self.text[start..].iter().position(|&byte| byte == b'\n');
            let end = length.map_or(self.text.len(), |length| start + length);
            (self.at, self.number) = (end + 1, self.number + 1);
            if !self.text[start..end].trim_ascii().is_empty() {
                return Some(Line { number: self.number, start, end });
            }
        }
        None
    }

    /// The words of a line.
    fn words(&self, line: &Line, separator: u8, path: &Path) -> Result<Vec<String>> {
        let text = std::str::from_utf8(&self.text[line.start..line.end]).expect("all of it is text");
        fields(text, separator).ok_or_else(|| open_quote(path, line.number))
    }
}

impl<'a> Layout<'a> {
    /// What the first line and the one below it say; and whether the first is a header.
    fn of(path: &'a Path, lines: &Lines<'_>, first: &Line, options: &TableOptions) -> Result<(Self, bool)> {
        let separator = separator(&lines.text[first.start..first.end]);
        let head = lines.words(first, separator, path)?;
        let mut below = Lines { text: lines.text, at: lines.at, number: lines.number };
        let next = match below.next() {
            Some(line) => Some(lines.words(&line, separator, path)?),
            None => None,
        };
        let is_number = |field: &String| number(field).is_some();
        let is_text = |field: &String| !is_number(field);
        let is_header = match options.header {
            Header::Yes => true,
            Header::No => false,
            Header::Auto => !(head.iter().all(is_number) && head.iter().any(|field| !is_missing(field))),
        };
        let sample = if is_header { next.as_ref() } else { Some(&head) };
        let fields = sample.map_or(head.len(), Vec::len);
        let is_short = is_header && fields == head.len() + 1;
        let begins_with_text = sample.is_some_and(|fields| is_text(&fields[0]));
        let has_row_names = match options.row_names {
            RowNames::Yes => true,
            RowNames::No => false,
            RowNames::IfText => begins_with_text,
            RowNames::Auto => {
                let unnamed = is_short || is_header && head[0].is_empty();
                begins_with_text && (unnamed || options.transpose)
            }
        };
        let named = fields - usize::from(has_row_names);
        let names = is_header.then(|| if is_short || !has_row_names { head } else { head[1..].to_vec() });
        if let Some(names) = &names
            && names.len() != named
        {
            let (line, found) = (first.number, names.len());
            return Err(Error::RaggedRow {
                path: path.into(),
                line: line + 1,
                found: named,
                expected: found,
            });
        }
        let mut kept = vec![true; fields];
        if has_row_names {
            kept[0] = false;
        }
        for name in &options.drop {
            let numbered = || (1..=named).map(|number| number.to_string()).collect();
            let known: Vec<String> = names.clone().unwrap_or_else(numbered);
            let Some(place) = known.iter().position(|own| own == name) else {
                let known: Vec<&str> = known.iter().map(String::as_str).collect();
                return Err(Error::UnknownColumn {
                    path: path.into(),
                    found: name.clone(),
                    suggestion: crate::suggest::nearest(name, &known).map(Into::into),
                    known: super::listed(&known),
                });
            };
            kept[place + usize::from(has_row_names)] = false;
        }
        if let (Some(keep), Some(names)) = (&options.keep, &names) {
            let keep: HashSet<&String> = keep.iter().collect();
            for (place, _) in names.iter().enumerate().filter(|(_, name)| !keep.contains(name)) {
                kept[place + usize::from(has_row_names)] = false;
            }
        }
        let is_worded = |name: &&String| options.words.contains(name);
        let mut worded = Vec::new();
        for (place, _) in names.iter().flatten().enumerate().filter(|(_, name)| is_worded(name)) {
            let field = place + usize::from(has_row_names);
            if std::mem::take(&mut kept[field]) {
                worded.push(field);
            }
        }
        let (keep_missing, infinite) = (options.missing == Missing::Keep, options.infinite);
        let layout =
            Self { path, separator, names, has_row_names, fields, kept, worded, keep_missing, infinite };
        Ok((layout, is_header))
    }

    /// The columns of words, still empty.
    fn words(&self) -> Vec<(String, Vec<String>)> {
        let name = |field: &usize| {
            let place = field - usize::from(self.has_row_names);
            self.names.as_ref().map_or_else(String::new, |names| names[place].clone())
        };
        self.worded.iter().map(|field| (name(field), Vec::new())).collect()
    }

    /// Appends the numbers of one line.
    fn row(&self, text: &[u8], line: &Line, raw: &mut Raw) -> Result<()> {
        if !self.worded.is_empty() || text[line.start..line.end].contains(&b'"') {
            return self.row_of_words(text, line, raw);
        }
        let (mut at, mut field) = (line.start, 0);
        if let Some(names) = &mut raw.row_names {
            let rest = &text[line.start..line.end];
            let length = rest.iter().position(|&byte| byte == self.separator).unwrap_or(rest.len());
            let name = std::str::from_utf8(&rest[..length]).expect("all of it is text").trim();
            names.push(name.to_owned());
            if length == rest.len() {
                return self.check_width(line, 1);
            }
            (at, field) = (line.start + length + 1, 1);
        }
        loop {
            while matches!(text[at], b' ' | b'\t') && text[at] != self.separator {
                at += 1;
            }
            let start = at;
            let quick = decimal(text, at).and_then(|(value, behind)| {
                let end =
                    behind + text[behind..].iter().take_while(|&&byte| matches!(byte, b' ' | b'\r')).count();
                (end == line.end || text[end] == self.separator).then_some((value, end.min(line.end)))
            });
            if let Some((value, end)) = quick {
                if field < self.fields && self.kept[field] {
                    raw.values.push(value);
                }
                at = end;
            } else {
                let rest = &text[start.min(line.end)..line.end];
                let length = rest.iter().position(|&byte| byte == self.separator).unwrap_or(rest.len());
                let word = std::str::from_utf8(&rest[..length]).expect("all of it is text").trim();
                if field < self.fields && self.kept[field] {
                    raw.values.push(self.cell(word, line, raw.rows, field)?);
                }
                at = start + length;
            }
            field += 1;
            if at >= line.end {
                break;
            }
            at += 1;
        }
        self.check_width(line, field)
    }

    /// The same for a line with quotes, or with the name of its row.
    fn row_of_words(&self, text: &[u8], line: &Line, raw: &mut Raw) -> Result<()> {
        let words = std::str::from_utf8(&text[line.start..line.end]).expect("all of it is text");
        let mut words = fields(words, self.separator).ok_or_else(|| open_quote(self.path, line.number))?;
        self.check_width(line, words.len())?;
        for (field, word) in words.iter().enumerate().filter(|(field, _)| self.kept[*field]) {
            raw.values.push(self.cell(word, line, raw.rows, field)?);
        }
        for ((_, column), &field) in raw.words.iter_mut().zip(&self.worded) {
            column.push(std::mem::take(&mut words[field]));
        }
        if let Some(names) = &mut raw.row_names {
            names.push(words.swap_remove(0));
        }
        Ok(())
    }

    fn check_width(&self, line: &Line, found: usize) -> Result<()> {
        if found == self.fields {
            return Ok(());
        }
        Err(Error::RaggedRow { path: self.path.into(), line: line.number, found, expected: self.fields })
    }

    /// The number in a cell.
    fn cell(&self, word: &str, line: &Line, row: usize, field: usize) -> Result<f64> {
        let value = number(word);
        match value {
            Some(value) if value.is_finite() => return Ok(value),
            Some(value) if if value.is_nan() { self.keep_missing } else { self.infinite } => {
                return Ok(value);
            }
            _ => {}
        }
        let place = field - usize::from(self.has_row_names);
        let column =
            self.names.as_ref().map_or_else(|| (place + 1).to_string(), |names| names[place].clone());
        let (path, line, row) = (self.path.into(), line.number, row + 1);
        let found = crate::numbers::quoted(word);
        Err(if value.is_some_and(f64::is_nan) {
            Error::MissingCell { path, line, row, column, found }
        } else {
            Error::BadCell { path, line, row, column, found }
        })
    }
}
