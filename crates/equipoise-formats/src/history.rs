//! The history of a run as CSV: `equipoise solve --history FILE.csv`, and that of a model: `equipoise svm train --history`.
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

/// The first line of the history of a model, whose words are its own.
pub const FIT_HISTORY_HEADER: &str = "update,epoch,seconds,label,primal,dual,gap,relative_gap,infeasibility";

/// One observation of the fit of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct FitRow {
    /// Pair updates so far.
    pub update: u64,
    /// Passes over the data so far.
    pub epoch: f64,
    /// Seconds since the start of this fit.
    pub seconds: f64,
    /// The label that is fitted against the others; `None` where there are none.
    pub label: Option<f64>,
    /// The objective of the model.
    pub primal: f64,
    /// What no model gets below.
    pub dual: f64,
    /// Their difference.
    pub gap: f64,
    /// The same, relative to the dual.
    pub relative_gap: f64,
    /// By how much the multipliers miss their sum.
    pub infeasibility: f64,
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
        Self::under(HISTORY_HEADER, path.as_ref())
    }

    /// The same for the fits of a model.
    pub fn create_for_fits(path: impl AsRef<Path>) -> Result<Self> {
        Self::under(FIT_HISTORY_HEADER, path.as_ref())
    }

    fn under(header: &str, path: &Path) -> Result<Self> {
        let path = path.to_path_buf();
        let create = || {
            let mut out = BufWriter::new(File::create(&path)?);
            writeln!(out, "{header}")?;
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

    /// Appends one row of a fit.
    pub fn write_fit(&mut self, row: &FitRow) -> Result<()> {
        let FitRow { update, epoch, seconds, primal, dual, gap, relative_gap, infeasibility, .. } = row;
        let label = row.label.map_or_else(String::new, |label| label.to_string());
        writeln!(
            self.out,
            "{update},{epoch:?},{seconds:?},{label},{primal:?},{dual:?},{gap:?},{relative_gap:?},{infeasibility:?}"
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
