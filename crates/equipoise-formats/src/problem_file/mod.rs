//! `PROBLEM.toml`: a problem `minimise f(x) + h(x) subject to A x = b` as a user writes it.
//!
//! Given TOML text; returns a [`ProblemFile`] with every array and file loaded, and from it, by
//! [`ProblemFile::build`], the library's problem. Only `[smooth]` is required. Must not know what makes a
//! problem valid: lengths, signs and finiteness are checked by the library.
//!
//! | table | says | keys |
//! |---|---|---|
//! | `[smooth]` | f | `kind`, and those of the kind: [`smooth`] |
//! | `[separable]` | h | `kind`, and those of the kind: [`separable`] |
//! | `[coupling]` | A and b | `kind`, and those of the kind: [`coupling`] |
//! | `[blocks]` | how x falls into blocks | `size`, `boundaries`, or `auto = true` (default) |
//! | `[graph]` | which pairs of blocks move | `topology` (default `clique`) or `edges`; `probabilities` |
//! | `[solve]` | limits and choices | `tolerance`, `time-limit`, `max-epochs`, `max-updates`, `method`, `seed`, |
//! | | | `memory-budget`, `threads`, `locking`, `delay-us`, `step-rule`, `deterministic`, |
//! | | | `schedule`, `batch`, `step-size` |
//!
//! A vector is an inline array or the name of a file, a matrix an inline array of rows or the name
//! of a file; names are relative to the TOML file. Numbers of `[separable]` are one for all
//! coordinates or a list. Infinity is `inf`, or `"inf"` for those who came from JSON. `weights` of
//! a loss are one number per row of its matrix, and optional.
//!
//! The matrix of a loss may also be a LIBSVM file (`.svm`, `.libsvm`), column c feature c + 1; its labels
//! stand for `target` where that is missing. A caller may leave matrices beyond a size in their files:
//! [`ProblemFile::read_within`].
//!
//! `edges` has one row `i,j` per edge, nodes counted from 0; a third column holds the edge's
//! weight and stands for `probabilities`. `probabilities` is `"uniform"` (default), `"lipschitz"`
//! (proportional to the Lipschitz constants), `"equalised"` (equal effective resistances), or a
//! list of weights, one per edge. The keys of
//! `[solve]` are the command line's flags; underscores do for dashes.

use std::path::{Path, PathBuf};

use equipoise::{BlockChoice, Control};
use toml::{Table, Value};

use crate::numbers::{read_bytes, text};
use crate::suggest::nearest;
use crate::{Error, Result, mps};

mod arrays;
mod build;
pub mod coupling;
mod keys;
mod kinds;
mod output;
mod samples;
pub mod separable;
pub mod smooth;
mod solve;
mod structure;
mod term;
mod write;

pub use build::{AnyProblem, Building, Pairs};
pub use keys::{BYTES, parse_bytes};
pub use solve::SolveSpec;
pub use structure::GraphSpec;
pub use term::{Entry, Term};
pub use write::write_problem;

use keys::{Keys, describe};

/// A problem in words, with all its arrays loaded.
#[derive(Debug, Clone, PartialEq)]
pub struct ProblemFile<'a> {
    /// f.
    pub smooth: Term<'a>,
    /// h.
    pub separable: Term<'static>,
    /// A and b.
    pub coupling: Term<'static>,
    /// How x falls into blocks; boundaries may leave out the ends 0 and n.
    pub blocks: BlockChoice,
    /// Which pairs of blocks move together, and how often.
    pub graph: GraphSpec,
    /// Limits and choices for the solver.
    pub solve: SolveSpec,
    /// What the first coordinates of x are called, where the file says so.
    pub names: Vec<String>,
    /// Whether the problem minimises the negative of what its file maximises.
    pub is_negated: bool,
}

/// All tables of a problem file.
const TABLES: [&str; 6] = ["smooth", "separable", "coupling", "blocks", "graph", "solve"];
/// Those of them that are no term.
const TABLES_BESIDE_TERMS: [&str; 3] = ["blocks", "graph", "solve"];

/// Where a problem file lies, for messages and for the files it names; and how they are read.
#[derive(Debug)]
struct Origin<'a> {
    path: &'a Path,
    folder: PathBuf,
    /// Bytes that the matrix of a loss may take; `None`: any number.
    most_bytes: Option<u64>,
    control: Control,
}

/// How the files that a problem names are read, once its `[solve]` is known.
#[derive(Debug, Clone, Default)]
pub struct Loading {
    /// Bytes that the matrix of a loss may take before it stays in its file; `None`: any number.
    pub most_bytes: Option<u64>,
    /// Ends the reading early.
    pub control: Control,
}

impl<'a> ProblemFile<'a> {
    /// A problem of f alone; everything else takes its default.
    pub fn new(smooth: Term<'a>) -> Self {
        Self {
            smooth,
            separable: Term::new(separable::DEFAULT),
            coupling: Term::new(coupling::DEFAULT),
            blocks: BlockChoice::default(),
            graph: GraphSpec::default(),
            solve: SolveSpec::default(),
            names: Vec::new(),
            is_negated: false,
        }
    }

    /// The same with its `[blocks]`, `[graph]` and `[solve]` from tables that the caller has from elsewhere; `path` stands in
    /// messages, and its folder holds the files that they name.
    pub fn with_tables(mut self, mut tables: Table, path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let folder = path.parent().map(Path::to_path_buf).unwrap_or_default();
        let origin = Origin { path, folder, most_bytes: None, control: Control::unlimited() };
        check_tables(&tables, path, &TABLES_BESIDE_TERMS)?;
        if let Some(keys) = take_table(&origin, &mut tables, "blocks")? {
            self.blocks = structure::read_blocks(keys)?;
        }
        if let Some(keys) = take_table(&origin, &mut tables, "graph")? {
            self.graph = structure::read_graph(keys)?;
        }
        if let Some(keys) = take_table(&origin, &mut tables, "solve")? {
            self.solve = solve::read(keys)?;
        }
        Ok(self)
    }
}

impl ProblemFile<'static> {
    /// Reads a problem file and every file that it names; a linear or quadratic program ([`mps`]) is one, too.
    pub fn read(path: impl AsRef<Path>, control: &Control) -> Result<Self> {
        Self::read_within(path, control, |_| Loading { most_bytes: None, control: control.clone() })
    }

    /// The same, but `[solve]` may say how everything else is read: a loss whose matrix would take more bytes than
    /// [`Loading::most_bytes`] stays in its file, as [`Entry::Rows`], and another control may end it. The one given here is
    /// for the problem file itself.
    pub fn read_within(
        path: impl AsRef<Path>,
        control: &Control,
        loading: impl FnOnce(&SolveSpec) -> Loading,
    ) -> Result<Self> {
        let path = path.as_ref();
        if mps::is_program(path) {
            let control = loading(&SolveSpec::default()).control;
            return mps::read_program(path, &control)?.into_problem();
        }
        let bytes = read_bytes(path, control)?;
        Self::from_text(text(&bytes, path)?, path, loading)
    }

    /// The files that a problem file names, relative to it or not, as far as they exist; nothing of a text that is no TOML.
    pub fn named_files(path: impl AsRef<Path>, control: &Control) -> Result<Vec<PathBuf>> {
        let path = path.as_ref();
        if mps::is_program(path) {
            return Ok(Vec::new());
        }
        let bytes = read_bytes(path, control)?;
        Ok(Self::named_in(text(&bytes, path)?, path))
    }

    /// The same of a text that is at hand; the folder of `path` is where it names them from.
    pub fn named_in(text: &str, path: impl AsRef<Path>) -> Vec<PathBuf> {
        fn collect(value: &Value, folder: &Path, found: &mut Vec<PathBuf>) {
            match value {
                Value::String(name) => found.extend(Some(folder.join(name)).filter(|path| path.is_file())),
                Value::Array(list) => list.iter().for_each(|value| collect(value, folder, found)),
                Value::Table(table) => table.values().for_each(|value| collect(value, folder, found)),
                _ => {}
            }
        }
        let mut found = Vec::new();
        if let Ok(table) = text.parse::<Table>() {
            let folder = path.as_ref().parent().unwrap_or(Path::new(""));
            collect(&Value::Table(table), folder, &mut found);
        }
        found
    }

    /// Reads a problem from text; `path` stands in messages, and its folder holds the files named.
    pub fn from_toml_str(text: &str, path: impl AsRef<Path>) -> Result<Self> {
        Self::from_text(text, path.as_ref(), |_| Loading::default())
    }

    /// The same under a control and with a choice of what is loaded, as [`ProblemFile::read_within`]. The text may be that of a
    /// program: where there is no file name, it says so itself.
    pub fn from_text(text: &str, path: &Path, loading: impl FnOnce(&SolveSpec) -> Loading) -> Result<Self> {
        if mps::is_program_text(text) {
            let control = loading(&SolveSpec::default()).control;
            return mps::parse_program(text, path, &control)?.into_problem();
        }
        let folder = path.parent().map(Path::to_path_buf).unwrap_or_default();
        let mut origin = Origin { path, folder, most_bytes: None, control: Control::unlimited() };
        let mut document: Table = text.parse().map_err(|error| syntax_error(path, text, &error))?;
        check_tables(&document, path, &TABLES)?;
        let solve = take_table(&origin, &mut document, "solve")?;
        let solve = solve.map(solve::read).transpose();
        if let Ok(solve) = &solve {
            Loading { most_bytes: origin.most_bytes, control: origin.control } =
                loading(&solve.clone().unwrap_or_default());
        }
        let mut take = |table: &str| take_table(&origin, &mut document, table);
        let smooth = take("smooth")?;
        let smooth =
            smooth.ok_or_else(|| Error::MissingTable { path: path.into(), table: "smooth".into() })?;
        let mut file = Self::new(smooth::read(smooth)?);
        if let Some(keys) = take("separable")? {
            file.separable = separable::read(keys)?;
        }
        if let Some(keys) = take("coupling")? {
            file.coupling = coupling::read(keys)?;
        }
        if let Some(keys) = take("blocks")? {
            file.blocks = structure::read_blocks(keys)?;
        }
        if let Some(keys) = take("graph")? {
            file.graph = structure::read_graph(keys)?;
        }
        // Judged last, as it stands last.
        file.solve = solve?.unwrap_or_default();
        Ok(file)
    }
}

fn take_table<'a>(origin: &'a Origin<'a>, document: &mut Table, name: &str) -> Result<Option<Keys<'a>>> {
    match document.remove(name) {
        None => Ok(None),
        Some(Value::Table(entries)) => Ok(Some(Keys::new(origin, name, entries))),
        Some(other) => Err(Error::WrongType {
            path: origin.path.into(),
            table: "top level".into(),
            key: name.into(),
            found: describe(&other),
            expected: format!("a table [{name}]"),
        }),
    }
}

/// Refuses what stands at the top level and is none of the tables.
fn check_tables(document: &Table, path: &Path, tables: &[&str]) -> Result<()> {
    let Some((name, value)) = document.iter().find(|(name, _)| !tables.contains(&name.as_str())) else {
        return Ok(());
    };
    let known = tables.iter().copied().map(String::from).collect();
    let (path, found) = (path.into(), name.clone());
    let suggestion = nearest(name, tables).map(String::from);
    Err(if value.is_table() || value.is_array() {
        Error::UnknownTable { path, found, suggestion, known }
    } else {
        Error::UnknownKey { path, table: "top level".into(), key: found, suggestion, known }
    })
}

fn syntax_error(path: &Path, text: &str, error: &toml::de::Error) -> Error {
    let place = error.span().map_or(0, |span| span.start);
    let before = text.get(..place).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    Error::TomlSyntax {
        path: path.into(),
        line: before.matches('\n').count() + 1,
        column: before[line_start..].chars().count() + 1,
        message: error.message().replace('\n', ", "),
    }
}
