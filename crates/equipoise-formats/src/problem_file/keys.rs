//! One table of a problem file, emptied key by key, with good words when a key is wrong.
//!
//! [`Keys::only`] comes first, so that a misspelt key is reported as such and not as missing.

use std::path::Path;

use equipoise::Named;
use toml::{Table, Value};

use super::Origin;
use crate::suggest::nearest;
use crate::{Error, Result};

/// A table of a file, as messages name it.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) path: Box<Path>,
    pub(super) table: String,
}

impl Place {
    pub(super) fn new(path: &Path, table: impl Into<String>) -> Self {
        Self { path: path.into(), table: table.into() }
    }

    /// The table of an element of a list in this one.
    pub(super) fn inner(&self, key: &str, index: usize) -> Self {
        Self::new(&self.path, format!("{}.{key}[{index}]", self.table))
    }

    /// The error of a kind that is none of `known`.
    pub(super) fn unknown_kind(&self, found: &str, known: &[&str]) -> Error {
        Error::UnknownKind {
            path: self.path.clone(),
            table: self.table.clone(),
            found: found.into(),
            suggestion: nearest(found, known).map(String::from),
            known: known.iter().copied().map(String::from).collect(),
        }
    }

    pub(super) fn unknown_key(&self, key: &str, known: &[&str]) -> Error {
        Error::UnknownKey {
            path: self.path.clone(),
            table: self.table.clone(),
            key: key.into(),
            suggestion: nearest(key, known).map(String::from),
            known: known.iter().copied().map(String::from).collect(),
        }
    }

    pub(super) fn missing(&self, key: &str) -> Error {
        Error::MissingKey { path: self.path.clone(), table: self.table.clone(), key: key.into() }
    }

    pub(super) fn conflict(&self, first: &str, second: &str) -> Error {
        Error::ConflictingKeys {
            path: self.path.clone(),
            table: self.table.clone(),
            first: first.into(),
            second: second.into(),
        }
    }

    pub(super) fn wrong(&self, key: &str, found: impl Into<String>, expected: &str) -> Error {
        Error::WrongType {
            path: self.path.clone(),
            table: self.table.clone(),
            key: key.into(),
            found: found.into(),
            expected: expected.into(),
        }
    }
}

/// The keys of one table that nobody has read yet.
#[derive(Debug)]
pub(super) struct Keys<'a> {
    pub(super) origin: &'a Origin<'a>,
    pub(super) place: Place,
    entries: Table,
    /// Whether this sort of table has a kind, for messages.
    has_kind: bool,
}

impl<'a> Keys<'a> {
    pub(super) fn new(origin: &'a Origin<'a>, table: impl Into<String>, entries: Table) -> Self {
        Self { origin, place: Place::new(origin.path, table), entries, has_kind: false }
    }

    /// Takes the kind, or `default` where the table says none.
    pub(super) fn kind(&mut self, default: Option<&str>) -> Result<String> {
        self.has_kind = true;
        let misspelt = |key: &&String| nearest(key, &["kind"]).is_some();
        if let (false, Some(key)) = (self.has("kind"), self.entries.keys().find(misspelt)) {
            return Err(self.unknown_key(key, &[]));
        }
        match (self.text("kind")?, default) {
            (Some(kind), _) => Ok(kind),
            (None, Some(kind)) => Ok(kind.into()),
            (None, None) => Err(self.place.missing("kind")),
        }
    }

    /// Refuses every key but these. `kind` was taken before.
    pub(super) fn only(&self, known: &[&str]) -> Result<()> {
        match self.entries.keys().find(|key| !known.contains(&key.as_str())) {
            None => Ok(()),
            Some(key) => Err(self.unknown_key(key, known)),
        }
    }

    fn unknown_key(&self, key: &str, known: &[&str]) -> Error {
        let kind = if self.has_kind { &["kind"][..] } else { &[] };
        self.place.unknown_key(key, &[kind, known].concat())
    }

    /// Renames `time_limit` to `time-limit` and the like.
    pub(super) fn dash_underscores(&mut self) -> Result<()> {
        for (key, value) in std::mem::take(&mut self.entries) {
            let dashed = key.replace('_', "-");
            if self.entries.insert(dashed.clone(), value).is_some() {
                return Err(self.place.conflict(&dashed, &dashed.replace('-', "_")));
            }
        }
        Ok(())
    }

    /// Whether the key is there and not yet taken.
    pub(super) fn has(&self, key: &str) -> bool {
        self.entries.contains_key(key)
    }

    pub(super) fn take(&mut self, key: &str) -> Option<Value> {
        self.entries.remove(key)
    }

    /// Returns a value that was taken to be looked at.
    pub(super) fn put_back(&mut self, key: &str, value: Value) {
        self.entries.insert(key.into(), value);
    }

    /// Reads a key that must be there.
    pub(super) fn need<T>(
        &mut self,
        key: &str,
        read: impl FnOnce(&mut Self, &str) -> Result<Option<T>>,
    ) -> Result<T> {
        read(self, key)?.ok_or_else(|| self.place.missing(key))
    }

    pub(super) fn text(&mut self, key: &str) -> Result<Option<String>> {
        match self.take(key) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(self.wrong_type(key, &other, "a text in quotes")),
        }
    }

    pub(super) fn number(&mut self, key: &str) -> Result<Option<f64>> {
        let Some(value) = self.take(key) else { return Ok(None) };
        as_number(&value).map(Some).ok_or_else(|| self.wrong_type(key, &value, "a number"))
    }

    pub(super) fn truth(&mut self, key: &str) -> Result<Option<bool>> {
        match self.take(key) {
            None => Ok(None),
            Some(Value::Boolean(truth)) => Ok(Some(truth)),
            Some(other) => Err(self.wrong_type(key, &other, "true or false")),
        }
    }

    /// A count: an integer, or a float without a fraction, such as 1e7; in quotes where it is too
    /// large for TOML's integers.
    pub(super) fn whole(&mut self, key: &str) -> Result<Option<u64>> {
        let Some(value) = self.take(key) else { return Ok(None) };
        let whole = match &value {
            Value::Integer(number) => u64::try_from(*number).ok(),
            Value::Float(number) => as_whole(*number),
            Value::String(digits) => digits.parse().ok().filter(|&whole| whole > i64::MAX as u64),
            _ => None,
        };
        whole.map(Some).ok_or_else(|| self.wrong_type(key, &value, WHOLE))
    }

    /// A number of bytes: a count, or a text such as "64 MiB".
    pub(super) fn bytes(&mut self, key: &str) -> Result<Option<u64>> {
        match self.take(key) {
            Some(Value::String(text)) => {
                let found = parse_bytes(&text).map(Some);
                found.ok_or_else(|| self.place.wrong(key, format!("the text {text:?}"), BYTES))
            }
            Some(other) => {
                self.put_back(key, other);
                self.whole(key)
            }
            None => Ok(None),
        }
    }

    /// A value by its name.
    pub(super) fn named<T: Named>(&mut self, key: &str) -> Result<Option<T>> {
        let Some(name) = self.text(key)? else { return Ok(None) };
        T::of_name(&name)
            .map(Some)
            .map_err(|unknown| Error::unknown_name(&self.place.path, &self.place.table, &unknown))
    }

    /// A count that is used as a size.
    pub(super) fn size(&mut self, key: &str) -> Result<Option<usize>> {
        Ok(self.whole(key)?.map(|whole| whole as usize))
    }

    pub(super) fn wrong_type(&self, key: &str, found: &Value, expected: &str) -> Error {
        self.place.wrong(key, describe(found), expected)
    }
}

/// What a count must be, in words.
pub(super) const WHOLE: &str = "a whole number of at least 0";

/// What a number of bytes must be, in words.
pub const BYTES: &str = "a whole number of bytes, or one with k, M, G, kB, MB, GB, KiB, MiB or GiB";

/// A number of bytes, such as `1000000`, `64MiB` or `2 G`.
///
/// ```
/// use equipoise_formats::problem_file::parse_bytes;
/// assert_eq!((parse_bytes("64 MiB"), parse_bytes("3k"), parse_bytes("7")), (Some(64 << 20), Some(3000), Some(7)));
/// assert_eq!((parse_bytes("64MB"), parse_bytes("2 GB"), parse_bytes("1e3")), (Some(64_000_000), Some(2_000_000_000), None));
/// assert_eq!((parse_bytes("64 Mb"), parse_bytes("-1"), parse_bytes("")), (None, None, None));
/// ```
pub fn parse_bytes(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "" => 1,
        "k" | "kB" | "KB" => 1000,
        "M" | "MB" => 1_000_000,
        "G" | "GB" => 1_000_000_000,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        _ => return None,
    };
    digits.trim_end().parse::<u64>().ok()?.checked_mul(unit)
}

/// A number as TOML has it, or `"inf"` and the like in quotes.
pub(super) fn as_number(value: &Value) -> Option<f64> {
    match value {
        Value::Float(number) => Some(*number),
        Value::Integer(number) => Some(*number as f64),
        Value::String(text) => match text.as_str() {
            "inf" | "+inf" => Some(f64::INFINITY),
            "-inf" => Some(f64::NEG_INFINITY),
            _ => None,
        },
        _ => None,
    }
}

/// A float without a fraction as a count.
pub(super) fn as_whole(number: f64) -> Option<u64> {
    const LARGEST_EXACT: f64 = 9_007_199_254_740_992.0;
    ((0.0..=LARGEST_EXACT).contains(&number) && number.fract() == 0.0).then_some(number as u64)
}

/// A value in a few words, for messages.
pub(super) fn describe(value: &Value) -> String {
    match value {
        Value::String(text) => format!("the text {text:?}"),
        Value::Integer(number) => format!("the number {number}"),
        Value::Float(number) => format!("the number {number:?}"),
        Value::Boolean(truth) => format!("{truth}"),
        Value::Datetime(_) => "a date".into(),
        Value::Array(items) => format!("an array of {}", items.len()),
        Value::Table(_) => "a table".into(),
    }
}
