//! A table of kinds: which kinds a table of a problem file may have, with which keys.
//!
//! Given a table of the file; returns a [`Term`] with every key read as its kind says, or an error that names the key. A
//! kind is one entry of one table ([`smooth`](super::smooth), [`separable`](super::separable),
//! [`coupling`](super::coupling)); reading and writing follow from it. Must not know any kind.

use toml::Value;

use super::keys::{Keys, Place};
use super::samples::Read;
use super::term::{Entry, Term, Words};
use crate::Result;

/// A key of a kind.
#[derive(Debug, Clone, Copy)]
pub(super) struct Key {
    pub(super) name: &'static str,
    pub(super) takes: Takes,
    pub(super) is_needed: bool,
}

/// What the value of a key is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Takes {
    /// A number.
    Number,
    /// A count.
    Count,
    /// One number for all, or a list.
    Values,
    /// A number, or a list of one.
    One,
    /// A list; a number stands for a list of one.
    Each,
    /// A list.
    List,
    /// A matrix.
    Matrix,
    /// A matrix whose rows may stay in their file, and may bring the targets.
    Samples,
    /// A list, which the file of [`Takes::Samples`] may have brought.
    Targets,
    /// Terms of the same table.
    Terms,
}

/// A key that must be there.
pub(super) const fn need(name: &'static str, takes: Takes) -> Key {
    Key { name, takes, is_needed: true }
}

/// A key that may be there.
pub(super) const fn may(name: &'static str, takes: Takes) -> Key {
    Key { name, takes, is_needed: false }
}

/// A kind as it is read.
pub(super) trait Kind {
    /// Its name.
    fn name(&self) -> &'static str;
    /// Its keys, in the order in which they are named, read and written.
    fn keys(&self) -> Vec<Key>;
    /// Two keys of which exactly one must be there.
    fn one_of(&self) -> Option<[&'static str; 2]> {
        None
    }
}

/// A kind that makes one thing of its words.
pub(super) struct Plain<T> {
    name: &'static str,
    keys: &'static [Key],
    make: fn(&mut Words<'_, 'static>) -> Result<T>,
}

/// A kind by its name, its keys and what it makes of their values.
pub(super) const fn kind<T>(
    name: &'static str,
    keys: &'static [Key],
    make: fn(&mut Words<'_, 'static>) -> Result<T>,
) -> Plain<T> {
    Plain { name, keys, make }
}

impl<T> Kind for Plain<T> {
    fn name(&self) -> &'static str {
        self.name
    }
    fn keys(&self) -> Vec<Key> {
        self.keys.to_vec()
    }
}

/// What the kind of a term makes of its words; `place` stands in messages.
pub(super) fn build<T>(term: Term<'static>, place: &Place, kinds: &[Plain<T>]) -> Result<T> {
    build_by(term, place, kinds, |kind, words| (kind.make)(words))
}

/// The same for kinds that are made in several ways.
pub(super) fn build_by<'a, K: Kind, T>(
    term: Term<'a>,
    place: &Place,
    kinds: &[K],
    make: impl FnOnce(&K, &mut Words<'_, 'a>) -> Result<T>,
) -> Result<T> {
    let kind = find(kinds, term.kind()).ok_or_else(|| place.unknown_kind(term.kind(), &names(kinds)))?;
    let mut words = Words::new(place, term);
    let made = make(kind, &mut words)?;
    match words.unused() {
        Some(key) => {
            let known: Vec<&str> = kind.keys().iter().map(|key| key.name).collect();
            Err(place.unknown_key(key, &[&["kind"], &known[..]].concat()))
        }
        None => Ok(made),
    }
}

/// The kind of a name.
fn find<'k, K: Kind>(kinds: &'k [K], name: &str) -> Option<&'k K> {
    kinds.iter().find(|kind| kind.name() == name)
}

/// All names, for messages.
fn names<K: Kind>(kinds: &[K]) -> Vec<&'static str> {
    kinds.iter().map(Kind::name).collect()
}

/// Reads a term from its table.
pub(super) fn read<K: Kind>(mut keys: Keys<'_>, kinds: &[K], default: Option<&str>) -> Result<Term<'static>> {
    let name = keys.kind(default)?;
    let kind = find(kinds, &name).ok_or_else(|| keys.place.unknown_kind(&name, &names(kinds)))?;
    let known = kind.keys();
    keys.only(&known.iter().map(|key| key.name).collect::<Vec<_>>())?;
    if let Some([one, other]) = kind.one_of() {
        match (keys.has(one), keys.has(other)) {
            (true, true) => return Err(keys.place.conflict(one, other)),
            (false, false) => return Err(keys.place.missing(&format!("{one} or {other}"))),
            _ => {}
        }
    }
    let (mut term, mut brought) = (Term::new(name), Brought::Nothing);
    for key in known {
        let entry = match key.takes {
            Takes::Samples => read_samples(&mut keys, key.name, &mut brought)?,
            Takes::Targets => match (keys.vector(key.name)?, &mut brought) {
                (Some(list), _) => Some(Entry::List(list)),
                (None, Brought::Labels(labels)) => Some(Entry::List(std::mem::take(labels))),
                (None, Brought::LabelledRows) => continue,
                (None, Brought::Nothing) => None,
            },
            Takes::Terms => Some(Entry::Terms(read_terms(&mut keys, key.name, kinds)?)),
            plain => read_plain(&mut keys, key.name, plain)?,
        };
        match entry {
            Some(entry) => term = term.with(key.name, entry),
            None if key.is_needed => return Err(keys.place.missing(key.name)),
            None => {}
        }
    }
    Ok(term)
}

fn read_plain(keys: &mut Keys<'_>, key: &str, takes: Takes) -> Result<Option<Entry<'static>>> {
    Ok(match takes {
        Takes::Number => keys.number(key)?.map(Entry::Number),
        Takes::Count => keys.whole(key)?.map(Entry::Count),
        Takes::List => keys.vector(key)?.map(Entry::List),
        Takes::Matrix => keys.matrix(key)?.map(Entry::Matrix),
        Takes::Values => keys.values(key)?.map(Entry::from),
        Takes::Each => keys.values(key)?.map(|values| Entry::List(values.as_slice().to_vec())),
        _ => match keys.values(key)?.map(Entry::from) {
            Some(Entry::List(list)) => match list[..] {
                [number] => Some(Entry::Number(number)),
                _ => return Err(keys.place.wrong(key, format!("a list of {}", list.len()), "a number")),
            },
            number => number,
        },
    })
}

/// What the file of a matrix brought beside it.
enum Brought {
    Nothing,
    Labels(Vec<f64>),
    /// They will come with the rows.
    LabelledRows,
}

fn read_samples(keys: &mut Keys<'_>, key: &str, brought: &mut Brought) -> Result<Option<Entry<'static>>> {
    Ok(match keys.samples(key)? {
        None => None,
        Some(Read::Loaded(matrix, labels)) => {
            *brought = labels.map_or(Brought::Nothing, Brought::Labels);
            Some(Entry::Matrix(matrix))
        }
        Some(Read::Unloaded(rows)) => {
            if rows.is_labelled() {
                *brought = Brought::LabelledRows;
            }
            Some(Entry::Rows(rows))
        }
    })
}

fn read_terms<K: Kind>(keys: &mut Keys<'_>, key: &str, kinds: &[K]) -> Result<Vec<Term<'static>>> {
    const TERMS: &str = "an array of at least one table";
    let items = match keys.take(key) {
        None => return Err(keys.place.missing(key)),
        Some(Value::Array(items)) if !items.is_empty() => items,
        Some(other) => return Err(keys.wrong_type(key, &other, TERMS)),
    };
    let term = |(index, item)| match item {
        Value::Table(entries) => {
            let table = format!("{}.{key}[{index}]", keys.place.table);
            read(Keys::new(keys.origin, table, entries), kinds, None)
        }
        other => Err(keys.wrong_type(&format!("{key}[{index}]"), &other, "a table with a kind")),
    };
    items.into_iter().enumerate().map(term).collect()
}
