//! The history of a run as CSV: `equipoise solve --history FILE.csv`.
//!
//! Given rows as they happen; writes one line each under a fixed header, so that columns that
//! later versions append disturb nobody. A duality gap or a predicted bound that does not exist is an empty field.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::{Error, Result};

/// The first line of every history file.
pub const HISTORY_HEADER: &str =
    "update,epoch,seconds,objective,infeasibility,kkt_residual,duality_gap,predicted_bound";

/// One observation of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct HistoryRow {
    /// Pair updates so far.
    pub update: u64,
    /// Passes over the blocks so far.
    pub epoch: f64,
    /// Seconds since the start.
    pub seconds: f64,
    /// `f(x) + h(x)`.
    pub objective: f64,
    /// `max |A x - b|`.
    pub infeasibility: f64,
    /// The scaled KKT residual.
    pub kkt_residual: f64,
    /// The absolute duality gap, where there is one.
    pub duality_gap: Option<f64>,
    /// What theory promises in the mean: an upper bound on the objective minus its optimum, where a theorem applies.
    pub predicted_bound: Option<f64>,
}

/// Writes a history row by row while a run goes on.
#[derive(Debug)]
pub struct HistoryWriter {
    path: PathBuf,
    out: BufWriter<File>,
}

impl HistoryWriter {
    /// Creates the file and writes the header.
    pub fn create(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref().to_path_buf();
        let create = || {
            let mut out = BufWriter::new(File::create(&path)?);
            writeln!(out, "{HISTORY_HEADER}")?;
            Ok(out)
        };
        let out = create().map_err(|reason| Error::writing(&path, &reason))?;
        Ok(Self { path, out })
    }

    /// Appends one row.
    pub fn write(&mut self, row: &HistoryRow) -> Result<()> {
        let HistoryRow { update, epoch, seconds, objective, infeasibility, kkt_residual, .. } = row;
        let or_empty = |value: Option<f64>| value.map_or_else(String::new, |value| format!("{value:?}"));
        let (gap, bound) = (or_empty(row.duality_gap), or_empty(row.predicted_bound));
        writeln!(
            self.out,
            "{update},{epoch:?},{seconds:?},{objective:?},{infeasibility:?},{kkt_residual:?},{gap},{bound}"
        )
        .map_err(|reason| Error::writing(&self.path, &reason))
    }

    /// Hands every row so far to the operating system.
    pub fn flush(&mut self) -> Result<()> {
        self.out.flush().map_err(|reason| Error::writing(&self.path, &reason))
    }

    /// Makes sure that everything is on disk. Dropping the writer would lose an error here.
    pub fn finish(mut self) -> Result<()> {
        self.flush()
    }
}

/// Writes a whole history at once.
pub fn write_history(path: impl AsRef<Path>, rows: &[HistoryRow]) -> Result<()> {
    let mut writer = HistoryWriter::create(path)?;
    rows.iter().try_for_each(|row| writer.write(row))?;
    writer.finish()
}
