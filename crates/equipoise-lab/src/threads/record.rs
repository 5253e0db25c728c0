//! `threads.csv`: one row a run, on disk as soon as it is known.

use std::fmt::Write;
use std::path::Path;

use anyhow::Result;

use crate::csv::{Csv, cell};

/// The columns of the file.
const HEADER: &str = "part,problem,topology,locking,delay_us,threads,repeat,seconds,preparation_seconds,updates,\
                      updates_per_second,objective,target,reached,infeasibility,status";

/// One run.
#[derive(Debug, Clone)]
pub(super) struct Row {
    pub(super) part: &'static str,
    pub(super) problem: String,
    pub(super) topology: String,
    pub(super) locking: &'static str,
    pub(super) delay_us: u64,
    pub(super) threads: usize,
    pub(super) repeat: usize,
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

impl Row {
    /// Updates a second once everything is prepared.
    fn rate(&self) -> f64 {
        self.updates as f64 / (self.seconds - self.preparation_seconds).max(1e-9)
    }

    fn line(&self) -> String {
        let mut line = String::new();
        for name in [self.part, &self.problem, &self.topology, self.locking] {
            let _ = write!(line, "{},", cell(name));
        }
        let _ = write!(line, "{},{},{},", self.delay_us, self.threads, self.repeat);
        let _ = write!(line, "{:.6},{:.6},{},", self.seconds, self.preparation_seconds, self.updates);
        let _ = write!(line, "{:.1},{},{},{},", self.rate(), self.objective, self.target, self.reached);
        let _ = write!(line, "{:.3e},{}", self.infeasibility, cell(&self.status));
        line
    }
}

/// The open file.
#[derive(Debug)]
pub(super) struct Record(Csv);

impl Record {
    /// Opens the file of a folder for more rows; makes both where they are missing.
    pub(super) fn open(folder: &Path) -> Result<Self> {
        Csv::open(folder, "threads.csv", HEADER).map(Self)
    }

    /// Appends a row, so that whatever ends the program later does not lose it.
    pub(super) fn push(&mut self, row: &Row) -> Result<()> {
        self.0.push(&row.line())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_a_cell_for_every_column() {
        let row = Row {
            part: "sweep",
            problem: "N=2, block=3".into(),
            topology: "tree+ring".into(),
            locking: "none",
            delay_us: 20,
            threads: 3,
            repeat: 1,
            seconds: 2.5,
            preparation_seconds: 0.5,
            updates: 100,
            objective: -1.5,
            target: -1.25,
            reached: true,
            infeasibility: 1e-12,
            status: "target-reached".into(),
        };
        let line = row.line();
        assert_eq!(line.split(',').count(), HEADER.split(',').count(), "{line}");
        assert_eq!(line.split(',').nth(10), Some("50.0"));
    }
}
