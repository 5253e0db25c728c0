//! Runs of `bench threads`: a cell each, a row each in `threads.csv`.

use std::fmt::Write;
use std::path::Path;

use anyhow::Result;
use equipoise_experiments::Cell;

use crate::csv::cell;
use crate::runs::{Measured, Runs};

/// The columns of the file.
const HEADER: &str = "part,problem,topology,locking,delay_us,threads,repeat,seconds,preparation_seconds,updates,\
                      updates_per_second,objective,target,reached,infeasibility,status";

/// What is run: everything that its result depends on.
#[derive(Debug, Clone)]
pub(super) struct Key {
    pub(super) part: &'static str,
    pub(super) problem: String,
    pub(super) topology: &'static str,
    pub(super) locking: &'static str,
    pub(super) delay_us: u64,
    pub(super) threads: usize,
    /// Also the seed.
    pub(super) repeat: usize,
}

/// What a run gave.
#[derive(Debug, Clone)]
pub(super) struct Row {
    /// All of the run, preparation included.
    pub(super) seconds: f64,
    /// Of these: before the first update.
    pub(super) preparation_seconds: f64,
    pub(super) updates: u64,
    /// From raw data, after the run.
    pub(super) objective: f64,
    pub(super) target: f64,
    pub(super) reached: bool,
    pub(super) infeasibility: f64,
    /// How the run ended; where the target was not reached, why.
    pub(super) status: String,
}

impl Key {
    /// The cell of this run, given up after so many seconds.
    fn cell(&self, limit: f64) -> Cell {
        Cell::new("threads", self.repeat as u64, 1)
            .with("part", self.part)
            .with("problem", &self.problem)
            .with("topology", self.topology)
            .with("locking", self.locking)
            .with("delay", &self.delay_us)
            .with("threads", &self.threads)
            .with("limit", &limit)
    }

    fn line(&self, row: &Row) -> String {
        let mut line = String::new();
        for name in [self.part, &self.problem, self.topology, self.locking] {
            let _ = write!(line, "{},", cell(name));
        }
        let _ = write!(line, "{},{},{},", self.delay_us, self.threads, self.repeat);
        let _ = write!(line, "{:.6},{:.6},{},", row.seconds, row.preparation_seconds, row.updates);
        let _ = write!(line, "{:.1},{},{},{},", row.rate(), row.objective, row.target, row.reached);
        let _ = write!(line, "{:.3e},{}", row.infeasibility, cell(&row.status));
        line
    }
}

impl Row {
    /// Updates a second once everything is prepared.
    fn rate(&self) -> f64 {
        self.updates as f64 / (self.seconds - self.preparation_seconds).max(1e-9)
    }
}

/// The runs of a folder.
#[derive(Debug)]
pub(super) struct Record {
    runs: Runs,
    limit: f64,
}

impl Record {
    /// Opens a folder for more runs, each given up after so many seconds.
    pub(super) fn open(folder: &Path, commit: Option<&str>, limit: f64) -> Result<Self> {
        Ok(Self { runs: Runs::open(folder, commit, "threads.csv", HEADER)?, limit })
    }

    /// Makes a run and records it, unless it is recorded.
    pub(super) fn run(&mut self, key: &Key, measure: impl FnOnce() -> Result<Row>) -> Result<()> {
        let measured = || {
            let row = measure()?;
            Ok(Measured { row: key.line(&row), seconds: row.seconds, reached: row.reached })
        };
        self.runs.run(&key.cell(self.limit), measured).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_a_cell_for_every_column() {
        let key = Key {
            part: "sweep",
            problem: "N=2, block=3".into(),
            topology: "tree+ring",
            locking: "none",
            delay_us: 20,
            threads: 3,
            repeat: 1,
        };
        let row = Row {
            seconds: 2.5,
            preparation_seconds: 0.5,
            updates: 100,
            objective: -1.5,
            target: -1.25,
            reached: true,
            infeasibility: 1e-12,
            status: "target-reached".into(),
        };
        let line = key.line(&row);
        assert_eq!(line.split(',').count(), HEADER.split(',').count(), "{line}");
        assert_eq!(line.split(',').nth(10), Some("50.0"));
    }
}
