//! Runs of `bench methods`: a cell each, a row each in `methods.csv`.

use std::fmt::Write;
use std::path::Path;

use anyhow::Result;
use equipoise_experiments::Cell;

use crate::csv::cell;
use crate::runs::{Measured, Runs};

/// The columns of the file.
pub(super) const HEADER: &str = "part,problem,graph,seed,method,repeat,seconds,preparation_seconds,updates,start_objective,optimum,\
     optimum_gap,trusted,target,objective,reached,infeasibility,time_limit,ran,status";

/// One run.
#[derive(Debug, Clone)]
pub(super) struct Row {
    pub(super) part: &'static str,
    pub(super) problem: String,
    pub(super) graph: &'static str,
    /// Of the problem.
    pub(super) seed: u64,
    pub(super) method: &'static str,
    pub(super) repeat: usize,
    /// All of the run, preparation included, until the target was reached.
    pub(super) seconds: f64,
    pub(super) preparation_seconds: f64,
    pub(super) updates: u64,
    pub(super) start_objective: f64,
    /// The lowest objective known.
    pub(super) optimum: f64,
    /// What is proven of it; infinite where nothing is.
    pub(super) optimum_gap: f64,
    /// Whether it is small enough to measure accuracies by.
    pub(super) trusted: bool,
    pub(super) target: f64,
    /// From raw data, after the run.
    pub(super) objective: f64,
    pub(super) reached: bool,
    pub(super) infeasibility: f64,
    pub(super) time_limit: f64,
    /// The method that ran, where `auto` had the choice.
    pub(super) ran: &'static str,
    /// How the run ended; where the target was not reached, why.
    pub(super) status: String,
}

impl Row {
    fn line(&self) -> String {
        let mut line = String::new();
        let _ = write!(line, "{},{},{},", self.part, cell(&self.problem), self.graph);
        let _ = write!(line, "{},{},{},", self.seed, self.method, self.repeat);
        let _ = write!(line, "{:.6},{:.6},{},", self.seconds, self.preparation_seconds, self.updates);
        let _ = write!(line, "{},{},{:.3e},", self.start_objective, self.optimum, self.optimum_gap);
        let _ = write!(line, "{},{},{},{},", self.trusted, self.target, self.objective, self.reached);
        let _ = write!(
            line,
            "{:.3e},{:.3},{},{}",
            self.infeasibility,
            self.time_limit,
            self.ran,
            cell(&self.status)
        );
        line
    }
}

/// What is run: everything that its result depends on.
#[derive(Debug, Clone)]
pub(super) struct Key<'a> {
    pub(super) part: &'static str,
    pub(super) problem: &'a str,
    pub(super) graph: &'static str,
    /// Of the problem.
    pub(super) seed: u64,
    pub(super) method: &'static str,
    /// Also the seed of the run.
    pub(super) repeat: usize,
    /// Seconds that were asked for; nothing where they follow from other runs.
    pub(super) time_limit: Option<f64>,
}

impl Key<'_> {
    fn cell(&self) -> Cell {
        let limit = self.time_limit.map_or_else(|| "of others".into(), |seconds| seconds.to_string());
        Cell::new("methods-bench", self.repeat as u64, 1)
            .with("part", self.part)
            .with("problem", self.problem)
            .with("graph", self.graph)
            .with("instance", &self.seed)
            .with("method", self.method)
            .with("limit", &limit)
    }
}

/// The runs of a folder.
#[derive(Debug)]
pub(super) struct Record(Runs);

impl Record {
    /// Opens a folder for more runs.
    pub(super) fn open(folder: &Path, commit: Option<&str>) -> Result<Self> {
        Runs::open(folder, commit, "methods.csv", HEADER).map(Self)
    }

    /// Makes a run and records it, unless it is recorded.
    pub(super) fn run(&mut self, key: &Key<'_>, measure: impl FnOnce() -> Result<Row>) -> Result<Measured> {
        self.0.run(&key.cell(), || {
            let row = measure()?;
            Ok(Measured { row: row.line(), seconds: row.seconds, reached: row.reached })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_a_cell_for_every_column() {
        let row = Row {
            part: "accelerated",
            problem: "diagonal, n=1000".into(),
            graph: "ring",
            seed: 1,
            method: "pairs",
            repeat: 2,
            seconds: 2.5,
            preparation_seconds: 0.5,
            updates: 100,
            start_objective: 4.0,
            optimum: -1.5,
            optimum_gap: f64::INFINITY,
            trusted: false,
            target: -1.25,
            objective: -1.3,
            reached: true,
            infeasibility: 1e-12,
            time_limit: 60.0,
            ran: "pairs",
            status: "target-reached".into(),
        };
        let line = row.line();
        assert_eq!(line.split(',').count(), HEADER.split(',').count(), "{line}");
        assert_eq!(line.split(',').nth(11), Some("inf"));
    }
}
