//! `slopes.csv`: one row a run, on disk as soon as it is known.

use std::path::Path;

use anyhow::Result;

use crate::csv::{Csv, cell};

/// The columns of the file.
pub(in super::super) const HEADER: &str =
    "problem,method,seed,updates,made,error,bound,optimum,optimum_gap,trusted,status";

/// One run.
#[derive(Debug, Clone)]
pub(in super::super) struct Row {
    pub(in super::super) problem: String,
    pub(in super::super) method: &'static str,
    /// Of the run.
    pub(in super::super) seed: u64,
    /// Updates asked for.
    pub(in super::super) updates: u64,
    /// Updates made.
    pub(in super::super) made: u64,
    /// The objective above the optimum.
    pub(in super::super) error: f64,
    /// Of its expectation, where there is one.
    pub(in super::super) bound: Option<f64>,
    pub(in super::super) optimum: f64,
    pub(in super::super) optimum_gap: f64,
    pub(in super::super) trusted: bool,
    pub(in super::super) status: String,
}

impl Row {
    fn line(&self) -> String {
        let Self { method, seed, updates, made, error, optimum, optimum_gap, trusted, .. } = self;
        let bound = self.bound.map_or(String::new(), |bound| format!("{bound:.6e}"));
        format!(
            "{},{method},{seed},{updates},{made},{error:.6e},{bound},{optimum},{optimum_gap:.3e},{trusted},{}",
            cell(&self.problem),
            cell(&self.status)
        )
    }
}

/// The open file.
#[derive(Debug)]
pub(in super::super) struct Record(Csv);

impl Record {
    /// Opens the file of a folder for more rows; makes both where they are missing.
    pub(in super::super) fn open(folder: &Path) -> Result<Self> {
        Csv::open(folder, "slopes.csv", HEADER).map(Self)
    }

    /// Appends a row.
    pub(in super::super) fn push(&mut self, row: &Row) -> Result<()> {
        self.0.push(&row.line())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_a_cell_for_every_column() {
        let row = Row {
            problem: "logistic, n=16".into(),
            method: "stochastic-paper",
            seed: 3,
            updates: 1000,
            made: 1000,
            error: 1e-3,
            bound: None,
            optimum: 0.5,
            optimum_gap: 1e-12,
            trusted: true,
            status: "iteration-limit".into(),
        };
        for bound in [None, Some(2.0)] {
            let line = Row { bound, ..row.clone() }.line();
            assert_eq!(line.split(',').count(), HEADER.split(',').count(), "{line}");
        }
    }
}
