//! Runs of the part `slopes`: a cell each, a row each in `slopes.csv`.

use std::path::Path;

use anyhow::Result;
use equipoise_experiments::Cell;

use crate::csv::cell;
use crate::runs::{Measured, Runs};

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

/// The runs of a folder.
#[derive(Debug)]
pub(in super::super) struct Record(Runs);

impl Record {
    /// Opens a folder for more runs.
    pub(in super::super) fn open(folder: &Path, commit: Option<&str>) -> Result<Self> {
        Runs::open(folder, commit, "slopes.csv", HEADER).map(Self)
    }

    /// Makes a run of so many updates and records it, unless it is recorded.
    pub(in super::super) fn run(
        &mut self,
        problem: &str,
        method: &'static str,
        (seed, updates): (u64, u64),
        measure: impl FnOnce() -> Result<Row>,
    ) -> Result<()> {
        let cell = Cell::new("slopes", seed, 1).with("problem", problem).with("method", method);
        let measured = || {
            let row = measure()?;
            Ok(Measured { row: row.line(), seconds: 0.0, reached: true })
        };
        self.0.run(&cell.with("updates", &updates), measured).map(drop)
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
