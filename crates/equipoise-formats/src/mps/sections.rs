//! The sections of a file, line by line.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use equipoise::Control;

use super::fields::{Layout, number};
use super::program::{Program, ProgramRow};
use crate::numbers::quoted;
use crate::{Error, Result};

/// From this size on a bound or a range is infinite.
const INFINITE: f64 = 1e20;
/// Lines between two looks at the wish to stop.
const LINES: usize = 1 << 14;

/// What the lines that follow hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Section {
    Start,
    Sense,
    Rows,
    Columns,
    Rhs,
    Ranges,
    Bounds,
    /// Q; whether an entry stands for its mirror image, too.
    Quadratic {
        mirrored: bool,
    },
}

/// What a row of the file is.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Equal,
    AtMost,
    AtLeast,
}

/// A name of `ROWS`.
#[derive(Debug, Clone, Copy)]
enum Named {
    Objective,
    /// An `N` row that is not the objective.
    Free,
    Row(usize),
}

/// What was read so far.
struct Reader<'a> {
    layout: Layout,
    path: &'a Path,
    line: usize,
    section: Section,
    rows: HashMap<&'a str, Named>,
    columns: HashMap<&'a str, usize>,
    kinds: Vec<Kind>,
    rhs: Vec<f64>,
    ranges: Vec<Option<f64>>,
    /// Entries of c, and those of rows by column: each is given once.
    has_cost: Vec<bool>,
    in_column: HashSet<usize>,
    /// Which variables have a lower bound of the file's.
    has_lower: Vec<bool>,
    quadratic: HashSet<(usize, usize)>,
    has_objective: bool,
    program: Program,
}

/// The program of a text.
pub(super) fn parse(text: &str, layout: Layout, path: &Path, control: &Control) -> Result<Program> {
    let mut reader = Reader {
        layout,
        path,
        line: 0,
        section: Section::Start,
        rows: HashMap::new(),
        columns: HashMap::new(),
        kinds: Vec::new(),
        rhs: Vec::new(),
        ranges: Vec::new(),
        has_cost: Vec::new(),
        in_column: HashSet::new(),
        has_lower: Vec::new(),
        quadratic: HashSet::new(),
        has_objective: false,
        program: Program::default(),
    };
    for (at, line) in text.lines().enumerate() {
        if at % LINES == 0 {
            control.check().map_err(|halt| Error::from(halt).while_reading(path))?;
        }
        reader.line = at + 1;
        if line.starts_with('*') || line.trim().is_empty() {
            continue;
        }
        if line.starts_with(|first: char| !first.is_whitespace()) {
            if reader.header(line)? {
                return reader.finish();
            }
        } else {
            reader.data(line)?;
        }
    }
    reader.line += 1;
    Err(reader.malformed("the end of the file", "ENDATA"))
}

impl<'a> Reader<'a> {
    fn malformed(&self, found: impl Into<String>, expected: impl Into<String>) -> Error {
        Error::Malformed {
            path: self.path.into(),
            line: self.line,
            found: found.into(),
            expected: expected.into(),
        }
    }

    fn unsupported(&self, found: &str, allowed: &'static str) -> Error {
        let found = format!("line {}: {found}", self.line);
        Error::Unsupported { path: self.path.into(), found, allowed }
    }

    /// A line that begins a section; whether it is the last one.
    fn header(&mut self, line: &'a str) -> Result<bool> {
        let mut words = line.split_whitespace();
        let word = words.next().unwrap_or_default();
        self.section = match word.to_ascii_uppercase().as_str() {
            "NAME" => {
                self.program.name = words.next().unwrap_or_default().into();
                Section::Start
            }
            "OBJSENSE" => {
                words.next().map_or(Ok(()), |sense| self.sense(sense))?;
                Section::Sense
            }
            "ROWS" => Section::Rows,
            "COLUMNS" => Section::Columns,
            "RHS" => Section::Rhs,
            "RANGES" => Section::Ranges,
            "BOUNDS" => Section::Bounds,
            "QUADOBJ" | "QSECTION" => Section::Quadratic { mirrored: true },
            "QMATRIX" => Section::Quadratic { mirrored: false },
            "ENDATA" => return Ok(true),
            "SOS" | "SOS1" | "SOS2" | "QCMATRIX" | "CSECTION" | "INDICATORS" | "GENCONS" | "LAZYCONS" => {
                return Err(self.unsupported(
                    &format!("section {word}"),
                    "linear rows, bounds and a quadratic objective",
                ));
            }
            _ => {
                let known = "a section: NAME, OBJSENSE, ROWS, COLUMNS, RHS, RANGES, BOUNDS, QUADOBJ, QSECTION, QMATRIX or ENDATA";
                return Err(self.malformed(quoted(word), known));
            }
        };
        Ok(false)
    }

    fn sense(&mut self, word: &str) -> Result<()> {
        self.program.is_maximised = match word.to_ascii_uppercase().as_str() {
            "MIN" | "MINIMIZE" | "MINIMISE" => false,
            "MAX" | "MAXIMIZE" | "MAXIMISE" => true,
            _ => return Err(self.malformed(quoted(word), "MIN or MAX")),
        };
        Ok(())
    }

    fn data(&mut self, line: &'a str) -> Result<()> {
        let fields = self.layout.fields(line);
        match self.section {
            Section::Start => Err(self.malformed(quoted(line.trim()), "a section")),
            Section::Sense => fields.first().map_or(Ok(()), |word| self.sense(word)),
            Section::Rows => self.row(&fields),
            Section::Columns => self.column(&fields),
            Section::Rhs => self.pairs(&fields, |reader, row, value| {
                match row {
                    Named::Objective => reader.program.constant = -value,
                    Named::Free => {}
                    Named::Row(row) => reader.rhs[row] = value,
                }
                Ok(())
            }),
            Section::Ranges => self.pairs(&fields, |reader, row, value| {
                if let Named::Row(row) = row {
                    reader.ranges[row] = Some(value);
                }
                Ok(())
            }),
            Section::Bounds => self.bound(&fields),
            Section::Quadratic { mirrored } => self.square(&fields, mirrored),
        }
    }

    fn row(&mut self, fields: &[&'a str]) -> Result<()> {
        let &[kind, name] = fields else {
            return Err(self.malformed(format!("{} fields", fields.len()), "a row: N, E, L or G and a name"));
        };
        let named = match kind.to_ascii_uppercase().as_str() {
            "N" if self.has_objective => Named::Free,
            "N" => {
                self.has_objective = true;
                Named::Objective
            }
            other => {
                self.kinds.push(match other {
                    "E" => Kind::Equal,
                    "L" => Kind::AtMost,
                    "G" => Kind::AtLeast,
                    _ => return Err(self.malformed(quoted(kind), "N, E, L or G")),
                });
                self.rhs.push(0.0);
                self.ranges.push(None);
                let name = name.to_owned();
                self.program.rows.push(ProgramRow { name, low: f64::NEG_INFINITY, high: f64::INFINITY });
                Named::Row(self.kinds.len() - 1)
            }
        };
        match self.rows.insert(name, named) {
            None => Ok(()),
            Some(_) => Err(self.malformed(format!("a second row {}", quoted(name)), "every row once")),
        }
    }

    fn column(&mut self, fields: &[&'a str]) -> Result<()> {
        if fields.get(1).is_some_and(|word| word.trim_matches('\'').eq_ignore_ascii_case("MARKER")) {
            return Err(
                self.unsupported("integer variables", "variables that take any value between their bounds")
            );
        }
        let Some((&name, pairs)) = fields.split_first() else { return Ok(()) };
        let known = self.columns.get(name).copied();
        let column = match known {
            Some(column) if column + 1 == self.program.variables.len() => column,
            Some(_) => {
                return Err(self.malformed(
                    format!("column {} again", quoted(name)),
                    "the entries of a column together",
                ));
            }
            None => {
                self.columns.insert(name, self.program.variables.len());
                self.program.variables.push(name.to_owned());
                self.program.linear.push(0.0);
                self.program.lower.push(0.0);
                self.program.upper.push(f64::INFINITY);
                self.has_cost.push(false);
                self.has_lower.push(false);
                self.in_column.clear();
                self.program.variables.len() - 1
            }
        };
        self.each_pair(pairs, |reader, row, value| {
            let is_new = match row {
                Named::Free => true,
                Named::Objective => {
                    reader.program.linear[column] = value;
                    !std::mem::replace(&mut reader.has_cost[column], true)
                }
                Named::Row(row) => {
                    reader.program.entries.push((row, column, value));
                    reader.in_column.insert(row)
                }
            };
            if is_new {
                Ok(())
            } else {
                Err(reader.malformed("a second entry of one row in this column", "every entry once"))
            }
        })
    }

    /// Rows with values, after the name of a set that may be missing.
    fn pairs(
        &mut self,
        fields: &[&'a str],
        take: impl FnMut(&mut Self, Named, f64) -> Result<()>,
    ) -> Result<()> {
        self.each_pair(&fields[fields.len() % 2..], take)
    }

    fn each_pair(
        &mut self,
        pairs: &[&'a str],
        mut take: impl FnMut(&mut Self, Named, f64) -> Result<()>,
    ) -> Result<()> {
        if pairs.is_empty() || pairs.len() % 2 == 1 {
            return Err(
                self.malformed(format!("{} fields", pairs.len() + 1), "names of rows, each with a number")
            );
        }
        for pair in pairs.chunks_exact(2) {
            let row = self.rows.get(pair[0]).copied();
            let row = row.ok_or_else(|| self.malformed(quoted(pair[0]), "the name of a row"))?;
            let value = self.finite(pair[1])?;
            take(self, row, value)?;
        }
        Ok(())
    }

    fn finite(&self, field: &str) -> Result<f64> {
        let value = number(field).filter(|value| value.is_finite());
        value.ok_or_else(|| self.malformed(quoted(field), "a finite number"))
    }

    fn bound(&mut self, fields: &[&'a str]) -> Result<()> {
        let kind = fields.first().map(|kind| kind.to_ascii_uppercase()).unwrap_or_default();
        let takes_value = match kind.as_str() {
            "LO" | "UP" | "FX" => true,
            "FR" | "MI" | "PL" => false,
            "BV" | "LI" | "UI" => {
                return Err(self
                    .unsupported("integer variables", "variables that take any value between their bounds"));
            }
            "SC" => {
                return Err(self.unsupported("semi-continuous variables", "bounds LO, UP, FX, FR, MI and PL"));
            }
            _ => return Err(self.malformed(quoted(&kind), "LO, UP, FX, FR, MI or PL")),
        };
        // The name of the set may be missing, and a number that means nothing may follow FR, MI and PL.
        let (name, value) = match (takes_value, fields) {
            (true, &[_, _, name, value] | &[_, name, value]) => (name, value),
            (false, &[_, name] | &[_, _, name, _]) => (name, "0"),
            (false, &[_, first, second]) => {
                (if self.columns.contains_key(second) { second } else { first }, "0")
            }
            _ => {
                return Err(
                    self.malformed(format!("{} fields", fields.len()), "a bound: kind, set, column, number")
                );
            }
        };
        let column = self.columns.get(name).copied();
        let column = column.ok_or_else(|| self.malformed(quoted(name), "the name of a column"))?;
        let value = number(value).ok_or_else(|| self.malformed(quoted(value), "a number"))?;
        let value = if value.abs() >= INFINITE { f64::INFINITY.copysign(value) } else { value };
        let (lower, upper) = (&mut self.program.lower[column], &mut self.program.upper[column]);
        match kind.as_str() {
            "LO" => *lower = value,
            "UP" => {
                *upper = value;
                if value < 0.0 && !self.has_lower[column] {
                    *lower = f64::NEG_INFINITY;
                }
            }
            "FX" => (*lower, *upper) = (value, value),
            "FR" => (*lower, *upper) = (f64::NEG_INFINITY, f64::INFINITY),
            "MI" => *lower = f64::NEG_INFINITY,
            _ => *upper = f64::INFINITY,
        }
        self.has_lower[column] |= kind != "UP" && kind != "PL";
        Ok(())
    }

    fn square(&mut self, fields: &[&'a str], mirrored: bool) -> Result<()> {
        let Some((first, pairs)) = fields.split_first() else { return Ok(()) };
        if pairs.is_empty() || pairs.len() % 2 == 1 {
            return Err(self.malformed(format!("{} fields", fields.len()), "two columns and a number"));
        }
        let column = |reader: &Self, name: &str| {
            reader
                .columns
                .get(name)
                .copied()
                .ok_or_else(|| reader.malformed(quoted(name), "the name of a column"))
        };
        let i = column(self, first)?;
        for pair in pairs.chunks_exact(2) {
            let (j, value) = (column(self, pair[0])?, self.finite(pair[1])?);
            let is_new =
                self.quadratic.insert((i, j)) && (!mirrored || i == j || self.quadratic.insert((j, i)));
            if !is_new {
                let expected =
                    if mirrored { "every entry once, or its mirror image" } else { "every entry once" };
                return Err(self.malformed("an entry of the objective a second time", expected));
            }
            self.program.quadratic.push((i, j, value));
            if mirrored && i != j {
                self.program.quadratic.push((j, i, value));
            }
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Program> {
        if !self.has_objective {
            return Err(self.malformed("no row N", "an objective"));
        }
        if self.program.variables.is_empty() {
            return Err(self.malformed("no columns", "at least one variable"));
        }
        let open = |value: f64| if value.abs() >= INFINITE { f64::INFINITY.copysign(value) } else { value };
        for (i, row) in self.program.rows.iter_mut().enumerate() {
            let (rhs, range) = (open(self.rhs[i]), self.ranges[i].map(open));
            (row.low, row.high) = match (self.kinds[i], range) {
                (Kind::Equal, None) => (rhs, rhs),
                (Kind::Equal, Some(range)) => (rhs + range.min(0.0), rhs + range.max(0.0)),
                (Kind::AtMost, None) => (f64::NEG_INFINITY, rhs),
                (Kind::AtMost, Some(range)) => (rhs - range.abs(), rhs),
                (Kind::AtLeast, None) => (rhs, f64::INFINITY),
                (Kind::AtLeast, Some(range)) => (rhs, rhs + range.abs()),
            };
            if row.low.is_nan()
                || row.high.is_nan()
                || row.low == f64::INFINITY
                || row.high == f64::NEG_INFINITY
            {
                let found = format!("no finite place for row {}", quoted(&row.name));
                let expected = "right-hand sides and ranges below 1e20".into();
                return Err(Error::Malformed { path: self.path.into(), line: self.line, found, expected });
            }
        }
        Ok(self.program)
    }
}
