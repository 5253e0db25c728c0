//! `PROBLEM.toml`: a problem `minimise f(x) + h(x) subject to A x = b` as a user writes it.
//!
//! Given TOML text; returns a [`ProblemFile`] with every array and file loaded. Only `[smooth]` is
//! required. Must not know what makes a problem valid: lengths, signs and finiteness are checked
//! by whoever builds the problem. Losses are sums, not means.
//!
//! | table | `kind` | keys |
//! |---|---|---|
//! | `[smooth]` | `quadratic` | `matrix` Q or `factor` M (Q = M'M), `linear` c: 1/2 x'Qx + c'x |
//! | | `least-squares` | `matrix`, `target`, `weights`: 1/2 ‖Mx − y‖² |
//! | | `logistic` | `matrix`, `target` ±1, `weights`: Σ log(1 + exp(−y Mx)) |
//! | | `squared-hinge` | `matrix`, `target` ±1, `weights`: Σ max(0, 1 − y Mx)² |
//! | | `huber` | `matrix`, `target`, `weights`, `delta` |
//! | | `distance` | `target`, `weight` (default 1): Σ w ‖x − t‖² |
//! | | `linear` | `linear` c: c'x |
//! | | `synthetic` | `nodes`, `block`, `rows`, `seed`: the paper's problem, coupling included |
//! | | `sum` | `terms`, an array of tables like this one |
//! | `[separable]` | `zero` (default) | |
//! | | `box` | `lower`, `upper`; a missing side is infinite |
//! | | `non-negative` | |
//! | | `l1` | `weight` |
//! | | `elastic-net` | `l1`, `l2`: l1 ‖x‖₁ + 1/2 l2 ‖x‖² |
//! | | `l1-box` | `weight`, `lower`, `upper` |
//! | | `group-l2` | `weight` |
//! | `[coupling]` | `none` (default) | |
//! | | `sum` | `rhs`: a number, or a list of p for blocks of size p |
//! | | `row` | `weights`, `rhs` |
//! | | `rows` | `matrix`, `rhs` |
//! | `[blocks]` | | `size`, `boundaries`, or `auto = true` (default) |
//! | `[graph]` | | `topology` (default `clique`) or `edges`; `probabilities` |
//! | `[solve]` | | `tolerance`, `time-limit`, `max-epochs`, `max-updates`, `method`, `seed`, `memory-budget`, |
//! | | | `threads`, `locking`, `delay-us`, `step-rule`, `deterministic`, `schedule`, `batch`, |
//! | | | `step-size` |
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

use std::fs;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

use crate::numbers::text;
use crate::{Error, Result};

mod arrays;
mod coupling;
mod keys;
mod output;
mod samples;
mod separable;
mod smooth;
mod spec;
mod structure;
mod write;

pub use keys::{BYTES, parse_bytes};
pub use spec::{
    BlocksSpec, CouplingSpec, GraphSpec, LossSpec, NumberOrList, ProbabilitiesSpec, ProblemFile,
    SeparableSpec, SmoothSpec, SolveSpec,
};
pub use write::write_problem;

use keys::{Keys, describe, nearest};

/// All tables of a problem file.
const TABLES: [&str; 6] = ["smooth", "separable", "coupling", "blocks", "graph", "solve"];

/// Where a problem file lies, for messages and for the files it names.
#[derive(Debug)]
struct Origin {
    path: Box<Path>,
    folder: PathBuf,
    /// Bytes that the matrix of a loss may take; `None`: any number.
    most_bytes: Option<u64>,
}

impl ProblemFile {
    /// Reads a problem file and every file that it names.
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        Self::read_within(path, |_| None)
    }

    /// The same, but a loss whose matrix would take more bytes than `most_bytes` of `[solve]` allows stays in its file,
    /// as [`SmoothSpec::Streamed`]; `None` allows any number.
    pub fn read_within(
        path: impl AsRef<Path>,
        most_bytes: impl FnOnce(&SolveSpec) -> Option<u64>,
    ) -> Result<Self> {
        let path = path.as_ref();
        let bytes = fs::read(path).map_err(|reason| Error::reading(path, &reason))?;
        Self::from_text(text(&bytes, path)?, path, most_bytes)
    }

    /// Reads a problem from text; `path` stands in messages, and its folder holds the files named.
    pub fn from_toml_str(text: &str, path: impl AsRef<Path>) -> Result<Self> {
        Self::from_text(text, path.as_ref(), |_| None)
    }

    fn from_text(
        text: &str,
        path: &Path,
        most_bytes: impl FnOnce(&SolveSpec) -> Option<u64>,
    ) -> Result<Self> {
        let folder = path.parent().map(Path::to_path_buf).unwrap_or_default();
        let mut origin = Origin { path: path.into(), folder, most_bytes: None };
        let mut document: Table = text.parse().map_err(|error| syntax_error(path, text, &error))?;
        check_tables(&document, path)?;
        let solve = take_table(&origin, &mut document, "solve")?;
        let solve = solve.map(structure::read_solve).transpose();
        origin.most_bytes =
            solve.as_ref().ok().and_then(|solve| most_bytes(&solve.clone().unwrap_or_default()));
        let mut take = |table: &str| take_table(&origin, &mut document, table);
        let smooth = take("smooth")?;
        let smooth =
            smooth.ok_or_else(|| Error::MissingTable { path: path.into(), table: "smooth".into() })?;
        Ok(Self {
            smooth: smooth::read(smooth)?,
            separable: take("separable")?.map(separable::read).transpose()?.unwrap_or_default(),
            coupling: take("coupling")?.map(coupling::read).transpose()?.unwrap_or_default(),
            blocks: take("blocks")?.map(structure::read_blocks).transpose()?.unwrap_or_default(),
            graph: take("graph")?.map(structure::read_graph).transpose()?.unwrap_or_default(),
            // Judged last, as it stands last.
            solve: solve?.unwrap_or_default(),
        })
    }
}

fn take_table<'a>(origin: &'a Origin, document: &mut Table, name: &str) -> Result<Option<Keys<'a>>> {
    match document.remove(name) {
        None => Ok(None),
        Some(Value::Table(entries)) => Ok(Some(Keys::new(origin, name, entries))),
        Some(other) => Err(Error::WrongType {
            path: origin.path.clone(),
            table: "top level".into(),
            key: name.into(),
            found: describe(&other),
            expected: format!("a table [{name}]"),
        }),
    }
}

/// Refuses what stands at the top level and is none of the tables.
fn check_tables(document: &Table, path: &Path) -> Result<()> {
    let Some((name, value)) = document.iter().find(|(name, _)| !TABLES.contains(&name.as_str())) else {
        return Ok(());
    };
    let (path, found, known) = (path.into(), name.clone(), TABLES.map(String::from).to_vec());
    let suggestion = nearest(name, &TABLES);
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
