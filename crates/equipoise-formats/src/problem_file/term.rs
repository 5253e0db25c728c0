//! A term of a problem in words: its kind, and a value for each of its keys.
//!
//! Given by a table of a problem file, by `generate`, or by whoever has the words from elsewhere (keywords of another
//! language); the tables of kinds ([`smooth`](super::smooth), [`separable`](super::separable),
//! [`coupling`](super::coupling)) say which kinds and keys there are, and what they make of them. Must not know any kind.

use equipoise::Matrix;
use equipoise::separable::Values;

use super::keys::{Place, WHOLE};
use crate::{Error, Result, RowStream};

/// A term in words.
///
/// ```
/// use equipoise_formats::problem_file::Term;
/// let h = Term::new("l1").with("weight", 0.5);
/// assert_eq!((h.kind(), h.get("weight").is_some(), h.get("lower").is_some()), ("l1", true, false));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Term<'a> {
    kind: String,
    entries: Vec<(String, Entry<'a>)>,
}

/// The value of a key.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Entry<'a> {
    /// A number.
    Number(f64),
    /// A count.
    Count(u64),
    /// A list of numbers.
    List(Vec<f64>),
    /// A matrix; perhaps somebody else's.
    Matrix(Matrix<'a>),
    /// The rows of a matrix that stays in its file.
    Rows(RowStream),
    /// Other terms.
    Terms(Vec<Term<'a>>),
}

impl<'a> Term<'a> {
    /// A term of this kind, no key given yet.
    pub fn new(kind: impl Into<String>) -> Self {
        Self { kind: kind.into(), entries: Vec::new() }
    }

    /// The same with one more key.
    #[must_use]
    pub fn with(mut self, key: impl Into<String>, entry: impl Into<Entry<'a>>) -> Self {
        self.entries.push((key.into(), entry.into()));
        self
    }

    /// The kind.
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&Entry<'a>> {
        self.entries.iter().find(|(name, _)| name == key).map(|(_, entry)| entry)
    }

    /// The same with a copy of whatever is somebody else's.
    #[must_use]
    pub fn into_owned(self) -> Term<'static> {
        let owned = |(key, entry): (String, Entry<'a>)| (key, entry.into_owned());
        Term { kind: self.kind, entries: self.entries.into_iter().map(owned).collect() }
    }

    /// Every key with its value.
    pub fn entries(&self) -> impl Iterator<Item = (&str, &Entry<'a>)> {
        self.entries.iter().map(|(key, entry)| (key.as_str(), entry))
    }
}

impl From<f64> for Entry<'_> {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<u64> for Entry<'_> {
    fn from(count: u64) -> Self {
        Self::Count(count)
    }
}

impl From<usize> for Entry<'_> {
    fn from(count: usize) -> Self {
        Self::Count(count as u64)
    }
}

impl From<Vec<f64>> for Entry<'_> {
    fn from(list: Vec<f64>) -> Self {
        Self::List(list)
    }
}

impl From<Values> for Entry<'_> {
    fn from(values: Values) -> Self {
        match values {
            Values::Uniform(number) => Self::Number(number),
            Values::Each(list) => Self::List(list),
        }
    }
}

impl<'a> From<Matrix<'a>> for Entry<'a> {
    fn from(matrix: Matrix<'a>) -> Self {
        Self::Matrix(matrix)
    }
}

impl From<RowStream> for Entry<'_> {
    fn from(rows: RowStream) -> Self {
        Self::Rows(rows)
    }
}

impl<'a> From<Vec<Term<'a>>> for Entry<'a> {
    fn from(terms: Vec<Term<'a>>) -> Self {
        Self::Terms(terms)
    }
}

/// The rows of a loss.
#[derive(Debug)]
pub(super) enum Samples<'a> {
    Loaded(Matrix<'a>),
    Unloaded(RowStream),
}

/// The keys of a term that nobody has used yet, in the hands of its kind.
#[derive(Debug)]
pub(super) struct Words<'p, 'a> {
    place: &'p Place,
    entries: Vec<(String, Entry<'a>)>,
}

impl<'p, 'a> Words<'p, 'a> {
    pub(super) fn new(place: &'p Place, term: Term<'a>) -> Self {
        Self { place, entries: term.entries }
    }

    pub(super) fn place(&self) -> &'p Place {
        self.place
    }

    /// A key that the kind did not ask for.
    pub(super) fn unused(&self) -> Option<&str> {
        self.entries.first().map(|(key, _)| key.as_str())
    }

    fn take(&mut self, key: &str) -> Option<Entry<'a>> {
        let at = self.entries.iter().position(|(name, _)| name == key)?;
        Some(self.entries.remove(at).1)
    }

    fn need<T>(&mut self, key: &str, read: impl FnOnce(&mut Self, &str) -> Result<Option<T>>) -> Result<T> {
        read(self, key)?.ok_or_else(|| self.place.missing(key))
    }

    fn wrong(&self, key: &str, found: &Entry, expected: &str) -> Error {
        self.place.wrong(key, found.in_words(), expected)
    }

    /// A number.
    pub(super) fn number(&mut self, key: &str) -> Result<f64> {
        self.need(key, |words, key| match words.take(key) {
            None => Ok(None),
            Some(Entry::Number(number)) => Ok(Some(number)),
            Some(Entry::Count(count)) => Ok(Some(count as f64)),
            Some(other) => Err(words.wrong(key, &other, "a number")),
        })
    }

    /// A count.
    pub(super) fn count(&mut self, key: &str) -> Result<u64> {
        self.need(key, |words, key| match words.take(key) {
            None => Ok(None),
            Some(Entry::Count(count)) => Ok(Some(count)),
            Some(other) => Err(words.wrong(key, &other, WHOLE)),
        })
    }

    /// A count that is used as a size.
    pub(super) fn size(&mut self, key: &str) -> Result<usize> {
        Ok(usize::try_from(self.count(key)?).unwrap_or(usize::MAX))
    }

    /// One number for all, or one for each.
    pub(super) fn values(&mut self, key: &str) -> Result<Values> {
        self.need(key, Self::given_values)
    }

    /// The same, or `default` where none is given.
    pub(super) fn values_or(&mut self, key: &str, default: f64) -> Result<Values> {
        Ok(self.given_values(key)?.unwrap_or(Values::Uniform(default)))
    }

    fn given_values(&mut self, key: &str) -> Result<Option<Values>> {
        match self.take(key) {
            None => Ok(None),
            Some(Entry::Number(number)) => Ok(Some(Values::Uniform(number))),
            Some(Entry::Count(count)) => Ok(Some(Values::Uniform(count as f64))),
            Some(Entry::List(list)) => Ok(Some(Values::Each(list))),
            Some(other) => Err(self.wrong(key, &other, "a number or a list of numbers")),
        }
    }

    /// A list of numbers.
    pub(super) fn list(&mut self, key: &str) -> Result<Vec<f64>> {
        self.need(key, Self::given_list)
    }

    /// A list of numbers, where one is given.
    pub(super) fn given_list(&mut self, key: &str) -> Result<Option<Vec<f64>>> {
        match self.take(key) {
            None => Ok(None),
            Some(Entry::List(list)) => Ok(Some(list)),
            Some(other) => Err(self.wrong(key, &other, "a list of numbers")),
        }
    }

    /// A matrix.
    pub(super) fn matrix(&mut self, key: &str) -> Result<Matrix<'a>> {
        self.need(key, Self::given_matrix)
    }

    /// A matrix, where one is given.
    pub(super) fn given_matrix(&mut self, key: &str) -> Result<Option<Matrix<'a>>> {
        match self.take(key) {
            None => Ok(None),
            Some(Entry::Matrix(matrix)) => Ok(Some(matrix)),
            Some(other) => Err(self.wrong(key, &other, "a matrix")),
        }
    }

    /// The rows of a loss, in memory or in their file.
    pub(super) fn samples(&mut self, key: &str) -> Result<Samples<'a>> {
        self.need(key, |words, key| match words.take(key) {
            None => Ok(None),
            Some(Entry::Matrix(matrix)) => Ok(Some(Samples::Loaded(matrix))),
            Some(Entry::Rows(rows)) => Ok(Some(Samples::Unloaded(rows))),
            Some(other) => Err(words.wrong(key, &other, "a matrix")),
        })
    }

    /// Other terms.
    pub(super) fn terms(&mut self, key: &str) -> Result<Vec<Term<'a>>> {
        self.need(key, |words, key| match words.take(key) {
            None => Ok(None),
            Some(Entry::Terms(terms)) => Ok(Some(terms)),
            Some(other) => Err(words.wrong(key, &other, "a list of terms")),
        })
    }
}

impl Entry<'_> {
    fn into_owned(self) -> Entry<'static> {
        match self {
            Self::Number(number) => Entry::Number(number),
            Self::Count(count) => Entry::Count(count),
            Self::List(list) => Entry::List(list),
            Self::Matrix(matrix) => Entry::Matrix(matrix.into_owned()),
            Self::Rows(rows) => Entry::Rows(rows),
            Self::Terms(terms) => Entry::Terms(terms.into_iter().map(Term::into_owned).collect()),
        }
    }

    fn in_words(&self) -> String {
        match self {
            Self::Number(number) => format!("the number {number:?}"),
            Self::Count(count) => format!("the number {count}"),
            Self::List(list) => format!("a list of {}", list.len()),
            Self::Matrix(matrix) => format!("a {} x {} matrix", matrix.rows(), matrix.columns()),
            Self::Rows(rows) => format!("the rows of {}", rows.path().display()),
            Self::Terms(terms) => format!("a list of {} terms", terms.len()),
        }
    }
}
