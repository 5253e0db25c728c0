//! A problem in words, from Python's dictionaries: the words of a problem file, and nothing else.
//!
//! ```text
//! {"smooth": {"kind": "least-squares", "matrix": M, "target": y}, "separable": {"kind": "l1", "weight": 0.1}, ...}
//! ```
//!
//! Terms become [`Term`]s, the tables `blocks`, `graph` and `solve` become TOML's; what they mean, which keys there are and
//! what is said of wrong ones is the business of `equipoise_formats::problem_file`. Beyond the words there is one kind: terms that
//! are Python functions ([`Function`]), alone or within a `sum`.

use std::sync::Arc;

use equipoise::Control;
use equipoise::smooth::{SmoothTerm, Sum};
use equipoise_formats::problem_file::{Entry, ProblemFile, Term};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use toml::Value;

use crate::data::{Held, Table, is_matrix};
use crate::errors::{Answered, Fault, refused};
use crate::functions::Function;
use crate::options::{numbers, sort_of};
use crate::running::Ending;

/// The kind of a term that is Python functions.
const FUNCTION: &str = "function";

/// A term as Python gave it.
pub(crate) struct HeldTerm<'py> {
    kind: String,
    entries: Vec<(String, Word<'py>)>,
    function: Option<Function>,
}

enum Word<'py> {
    Ready(Entry<'static>),
    Matrix(Held<'py>),
    Terms(Vec<HeldTerm<'py>>),
}

impl<'py> HeldTerm<'py> {
    /// Reads a dictionary; `place` stands in messages.
    pub(crate) fn of(place: &str, value: &Bound<'py, PyAny>, ending: &Arc<Ending>) -> PyResult<Self> {
        let dict = value.cast::<PyDict>();
        let dict =
            dict.map_err(|_| refused(format!("{place} is {}; expected a dictionary", sort_of(value))))?;
        let kind = dict.get_item("kind")?.ok_or_else(|| refused(format!("{place}: no \"kind\"")))?;
        let kind: String = kind.extract().map_err(|_| refused(format!("{place}: the kind is no text")))?;
        if kind == FUNCTION {
            let function = Some(Function::of(dict, ending)?);
            return Ok(Self { kind, entries: Vec::new(), function });
        }
        let mut entries = Vec::new();
        for (key, value) in dict.iter() {
            let key: String = key.extract().map_err(|_| refused(format!("{place}: a key is no text")))?;
            if key == "kind" || value.is_none() {
                continue;
            }
            let word = Word::of(&format!("{place}.{key}"), &value, ending)?;
            entries.push((key, word));
        }
        Ok(Self { kind, entries, function: None })
    }

    /// Whether functions are among it.
    pub(crate) fn has_functions(&self) -> bool {
        let inner = |(_, word): &(String, Word<'py>)| match word {
            Word::Terms(terms) => terms.iter().any(Self::has_functions),
            _ => false,
        };
        self.function.is_some() || self.entries.iter().any(inner)
    }

    /// What may go to another thread.
    pub(crate) fn view(&self) -> PyResult<TermView<'_>> {
        let mut entries = Vec::new();
        for (key, word) in &self.entries {
            let part = match word {
                Word::Ready(entry) => Part::Ready(entry),
                Word::Matrix(held) => Part::Matrix(held.table()?),
                Word::Terms(terms) => Part::Terms(terms.iter().map(Self::view).collect::<PyResult<_>>()?),
            };
            entries.push((key.as_str(), part));
        }
        Ok(TermView { kind: &self.kind, entries, function: self.function.as_ref() })
    }
}

impl<'py> Word<'py> {
    fn of(place: &str, value: &Bound<'py, PyAny>, ending: &Arc<Ending>) -> PyResult<Self> {
        if is_matrix(value) {
            return Held::of(place, value).map(Self::Matrix);
        }
        if value.is_instance_of::<PyInt>()
            && let Ok(count) = value.extract::<u64>()
        {
            return Ok(Self::Ready(Entry::Count(count)));
        }
        if let Ok(number) = value.extract::<f64>() {
            return Ok(Self::Ready(Entry::Number(number)));
        }
        if let Ok(list) = value.cast::<PyList>()
            && list.iter().next().is_some_and(|first| first.is_instance_of::<PyDict>())
        {
            let term = |(k, value)| HeldTerm::of(&format!("{place}[{k}]"), &value, ending);
            return list.iter().enumerate().map(term).collect::<PyResult<_>>().map(Self::Terms);
        }
        numbers(place, value).map(|list| Self::Ready(Entry::List(list)))
    }
}

/// A term as the worker sees it.
pub(crate) struct TermView<'a> {
    kind: &'a str,
    entries: Vec<(&'a str, Part<'a>)>,
    function: Option<&'a Function>,
}

enum Part<'a> {
    Ready(&'a Entry<'static>),
    Matrix(Table<'a>),
    Terms(Vec<TermView<'a>>),
}

impl TermView<'_> {
    /// The library's words, with matrices borrowed where they can be.
    pub(crate) fn words(&self, control: &Control) -> Answered<Term<'_>> {
        let mut term = Term::new(self.kind);
        for (key, part) in &self.entries {
            let entry = match part {
                Part::Ready(entry) => (*entry).clone(),
                Part::Matrix(view) => Entry::Matrix(view.matrix(control)?),
                Part::Terms(terms) => {
                    Entry::Terms(terms.iter().map(|term| term.words(control)).collect::<Answered<_>>()?)
                }
            };
            term = term.with(*key, entry);
        }
        Ok(term)
    }

    /// f, for terms with functions among them.
    pub(crate) fn smooth(&self, control: &Control) -> Answered<Box<dyn SmoothTerm + '_>> {
        if let Some(function) = self.function {
            return Ok(Box::new(function.clone().measured()?));
        }
        if let [("terms", Part::Terms(terms))] = &self.entries[..]
            && self.kind == "sum"
        {
            let terms = terms.iter().map(|term| term.smooth(control)).collect::<Answered<_>>()?;
            return Ok(Box::new(Sum::new(terms)?));
        }
        Ok(self.words(control)?.into_smooth(control)?)
    }
}

/// The tables that are no terms, with the words of a problem file.
pub(crate) fn with_tables(file: ProblemFile<'_>, tables: toml::Table) -> Answered<ProblemFile<'_>> {
    file.with_tables(tables, crate::solve::NAME).map_err(Fault::from)
}

/// A Python value as TOML's.
pub(crate) fn toml_value(place: &str, value: &Bound<'_, PyAny>) -> PyResult<Value> {
    if value.is_instance_of::<PyBool>() {
        return Ok(Value::Boolean(value.extract()?));
    }
    if value.is_instance_of::<PyInt>() {
        let number = value.extract().map_err(|_| refused(format!("{place} is {value}; it is too large")))?;
        return Ok(Value::Integer(number));
    }
    if value.is_instance_of::<PyFloat>() {
        return Ok(Value::Float(value.extract()?));
    }
    if value.is_instance_of::<PyString>() {
        return Ok(Value::String(value.extract()?));
    }
    if let Ok(dict) = value.cast::<PyDict>() {
        return toml_table(place, dict).map(Value::Table);
    }
    if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() || value.hasattr("tolist")? {
        let plain = if value.hasattr("tolist")? { value.call_method0("tolist")? } else { value.clone() };
        // A scalar of NumPy has the same method.
        if !(plain.is_instance_of::<PyList>() || plain.is_instance_of::<PyTuple>()) {
            return toml_value(place, &plain);
        }
        let items = plain.try_iter()?.enumerate();
        let items = items.map(|(k, item)| toml_value(&format!("{place}[{k}]"), &item?));
        return items.collect::<PyResult<_>>().map(Value::Array);
    }
    Err(refused(format!("{place} is {}; expected a number, a text, a truth value or a list", sort_of(value))))
}

/// A dictionary as TOML's table; keys without a value are left out.
pub(crate) fn toml_table(place: &str, dict: &Bound<'_, PyDict>) -> PyResult<toml::Table> {
    let mut table = toml::Table::new();
    for (key, value) in dict.iter().filter(|(_, value)| !value.is_none()) {
        let key: String = key.extract().map_err(|_| refused(format!("{place}: a key is no text")))?;
        let value = toml_value(&format!("{place}.{key}"), &value)?;
        table.insert(key, value);
    }
    Ok(table)
}
