//! Runs of a benchmark as cells of `equipoise-experiments`: each is recorded whole with machine, version, settings and seed, and is not run
//! again where it is recorded already; their rows together are a CSV file, which reports are made from.
//!
//! ```text
//! FOLDER/cells/BENCHMARK/NAME.json     a run; FOLDER/BENCHMARK.csv     a row a run, in the order in which they were made
//! ```
//!
//! Given: what is to be run, and how. Returns: what was measured. Must not know: what it means.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context, Result};
use equipoise_experiments::{Cell, Outcome, Store};

use crate::csv::Csv;

/// The word under which a record keeps its row.
const ROW: &str = "row";

/// The runs of one benchmark in a folder.
#[derive(Debug)]
pub(crate) struct Runs {
    store: Store,
    csv: Csv,
    /// What the CSV file has.
    lines: BTreeSet<String>,
}

/// What was measured.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Measured {
    /// The row of the CSV file.
    pub(crate) row: String,
    /// Numbers that are asked for before all is done.
    pub(crate) seconds: f64,
    pub(crate) reached: bool,
}

impl Runs {
    /// Opens a folder for more runs, of a program made of this commit.
    pub(crate) fn open(folder: &Path, commit: Option<&str>, csv: &'static str, header: &str) -> Result<Self> {
        let store = Store::open(folder, commit)?;
        let file = Csv::open(folder, csv, header)?;
        let path = folder.join(csv);
        let text =
            std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        Ok(Self { store, csv: file, lines: text.lines().map(str::to_owned).collect() })
    }

    /// What a cell measured earlier, or measures now. A row that a run did not come to write is written now.
    pub(crate) fn run(
        &mut self,
        cell: &Cell,
        measure: impl FnOnce() -> Result<Measured>,
    ) -> Result<Measured> {
        let record = self.store.found_or(cell, || {
            let Measured { row, seconds, reached } = measure()?;
            let outcome = Outcome::default().value("seconds", seconds);
            Ok(outcome.value("reached", f64::from(u8::from(reached))).word(ROW, row))
        })?;
        let outcome = record.outcome;
        let row = outcome.words.get(ROW).context("a record without its row")?.clone();
        if self.lines.insert(row.clone()) {
            self.csv.push(&row)?;
        }
        Ok(Measured { row, seconds: outcome.get("seconds"), reached: outcome.get("reached") == 1.0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_made_once_and_its_row_written_once() {
        let folder = std::env::temp_dir().join(format!("equipoise-lab-runs-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        let open = || Runs::open(&folder, Some("a1b2"), "runs.csv", "what,seconds").expect("writable");
        let cell = |what: &str| Cell::new("runs", 1, 1).with("what", what);
        let measured = |row: &str| Measured { row: row.to_owned(), seconds: 0.5, reached: true };
        let text = || std::fs::read_to_string(folder.join("runs.csv")).expect("a table");
        let found = open().run(&cell("a"), || Ok(measured("a,0.5"))).expect("run");
        assert_eq!(found, measured("a,0.5"));
        // Typed again: what is recorded is found, what failed is run, and nothing is twice in the table.
        let mut runs = open();
        let again = runs.run(&cell("a"), || anyhow::bail!("not again")).expect("found");
        assert_eq!(again, measured("a,0.5"));
        assert!(runs.run(&cell("b"), || anyhow::bail!("no")).is_err());
        runs.run(&cell("b"), || Ok(measured("b,0.5"))).expect("run");
        assert_eq!(text(), "what,seconds\na,0.5\nb,0.5\n");
        // Killed between record and row; by another program.
        std::fs::write(folder.join("runs.csv"), "what,seconds\na,0.5\n").expect("written");
        open().run(&cell("b"), || anyhow::bail!("not again")).expect("found");
        assert_eq!(text(), "what,seconds\na,0.5\nb,0.5\n");
        let mut other = Runs::open(&folder, Some("c3d4"), "runs.csv", "what,seconds").expect("writable");
        assert!(other.run(&cell("a"), || anyhow::bail!("run again")).is_err());
        std::fs::remove_dir_all(&folder).expect("there");
    }
}
