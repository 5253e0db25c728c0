//! One run of an experiment: its name, its settings, its seed; and what it left.
//!
//! - Given: words. Returns: the name of a file, and a value that goes to JSON and back.
//! - Must not know: what is run.

use std::collections::BTreeMap;
use std::fmt::{Display, Write};

use serde::{Deserialize, Serialize};

/// What is to be run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cell {
    /// `topologies`, `concurrency` and so on.
    pub experiment: String,
    /// Names and values; their order does not matter.
    pub settings: BTreeMap<String, String>,
    /// Of all random draws.
    pub seed: u64,
    /// About how long it takes beside others.
    #[serde(skip)]
    pub weight: u64,
}

impl Cell {
    /// A cell without settings.
    pub fn new(experiment: &str, seed: u64, weight: u64) -> Self {
        Self { experiment: experiment.to_owned(), settings: BTreeMap::new(), seed, weight }
    }

    /// With one more setting.
    #[must_use]
    pub fn with<T: Display + ?Sized>(mut self, name: &str, value: &T) -> Self {
        self.settings.insert(name.to_owned(), value.to_string());
        self
    }

    /// A setting; empty where it has none of that name.
    pub fn get(&self, name: &str) -> &str {
        self.settings.get(name).map_or("", String::as_str)
    }

    /// A setting as a number; 0 where it is none.
    pub fn number(&self, name: &str) -> f64 {
        self.get(name).parse().unwrap_or(0.0)
    }

    /// The name of its files, without folder and ending.
    pub fn file(&self) -> String {
        let mut out = String::new();
        for (name, value) in &self.settings {
            let value = value.replace('+', "-").replace([' ', '/', ':'], "_");
            let _ = write!(out, "{name}-{value}_");
        }
        format!("{out}seed-{}", self.seed)
    }
}

/// What a run left: named numbers, named words, and rows under columns.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Numbers by name; those that are not finite are left out.
    pub values: BTreeMap<String, f64>,
    /// Words by name.
    pub words: BTreeMap<String, String>,
    /// Names of the columns of the CSV file.
    pub columns: Vec<String>,
    /// Its rows.
    #[serde(skip)]
    pub rows: Vec<Vec<f64>>,
}

impl Outcome {
    /// Rows under these columns, none yet.
    pub fn under(columns: &[&str]) -> Self {
        Self { columns: columns.iter().map(|&name| name.to_owned()).collect(), ..Self::default() }
    }

    /// With a number.
    #[must_use]
    pub fn value(mut self, name: &str, value: f64) -> Self {
        if value.is_finite() {
            self.values.insert(name.to_owned(), value);
        }
        self
    }

    /// With words.
    #[must_use]
    pub fn word(mut self, name: &str, value: impl Into<String>) -> Self {
        self.words.insert(name.to_owned(), value.into());
        self
    }

    /// A number by name; not a number where there is none.
    pub fn get(&self, name: &str) -> f64 {
        self.values.get(name).copied().unwrap_or(f64::NAN)
    }

    /// The points of two columns.
    pub fn points(&self, x: &str, y: &str) -> Vec<(f64, f64)> {
        let place = |name: &str| self.columns.iter().position(|column| column == name);
        let (Some(x), Some(y)) = (place(x), place(y)) else { return Vec::new() };
        self.rows.iter().map(|row| (row[x], row[y])).collect()
    }
}

/// A cell that was run, with where and by what.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// What was run.
    pub cell: Cell,
    /// What it left.
    pub outcome: Outcome,
    /// On which machine.
    pub machine: String,
    /// By which version.
    pub version: String,
    /// Seconds that the cell took, preparations included.
    pub seconds: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_in_any_order_are_one_cell_with_one_file() {
        let one = Cell::new("topologies", 3, 1).with("graph", "star+ring").with("delay", &20);
        let other = Cell::new("topologies", 3, 1).with("delay", "20").with("graph", "star+ring");
        assert_eq!(one, other);
        assert_eq!(one.file(), "delay-20_graph-star-ring_seed-3");
        assert_eq!((one.number("delay"), one.get("none")), (20.0, ""));
    }

    #[test]
    fn what_is_not_finite_is_not_kept() {
        let outcome = Outcome::under(&["k", "gap"]).value("good", 1.0).value("bad", f64::NAN);
        assert_eq!(outcome.values.len(), 1);
        assert!(outcome.get("bad").is_nan() && outcome.points("k", "other").is_empty());
    }
}
