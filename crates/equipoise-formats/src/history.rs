//! The history of a run as CSV: `equipoise solve --history FILE.csv`.
//!
//! Given rows as they happen; writes one line each under a fixed header, so that columns that
//! later versions append disturb nobody. A duality gap or a predicted bound that does not exist is an empty field.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use crate::whole_file::{Growing, check_writable};
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
///
/// The file appears, in place of whatever was there, with its header and first row; until then an older one stays.
#[derive(Debug)]
pub struct HistoryWriter {
    path: PathBuf,
    /// Rows that are not handed on yet, below the header where the file is not there yet.
    rows: String,
    file: Option<Growing>,
}

impl HistoryWriter {
    /// Makes sure that the file can be written; nothing is changed yet.
    pub fn create(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref().to_path_buf();
        check_writable(&path)?;
        Ok(Self { path, rows: format!("{HISTORY_HEADER}\n"), file: None })
    }

    /// Appends one row.
    pub fn write(&mut self, row: &HistoryRow) {
        let HistoryRow { update, epoch, seconds, objective, infeasibility, kkt_residual, .. } = row;
        let or_empty = |value: Option<f64>| value.map_or_else(String::new, |value| format!("{value:?}"));
        let (gap, bound) = (or_empty(row.duality_gap), or_empty(row.predicted_bound));
        // Writing to a text does not fail.
        let _ = writeln!(
            self.rows,
            "{update},{epoch:?},{seconds:?},{objective:?},{infeasibility:?},{kkt_residual:?},{gap},{bound}"
        );
    }

    /// Hands every row so far to the operating system.
    pub fn flush(&mut self) -> Result<()> {
        let handed_on = match &mut self.file {
            Some(file) => file.add(&self.rows),
            None => Growing::begin(&self.path, &self.rows).map(|file| self.file = Some(file)),
        };
        handed_on.map_err(|reason| Error::writing(&self.path, &reason))?;
        self.rows.clear();
        Ok(())
    }

    /// Makes sure that everything is handed on. Dropping the writer would lose rows and errors.
    pub fn finish(mut self) -> Result<()> {
        self.flush()
    }
}

/// Writes a whole history at once.
pub fn write_history(path: impl AsRef<Path>, rows: &[HistoryRow]) -> Result<()> {
    let mut writer = HistoryWriter::create(path)?;
    rows.iter().for_each(|row| writer.write(row));
    writer.finish()
}
