//! The history of a run as CSV: `equipoise solve --history FILE.csv`, and that of a model: `equipoise svm train --history`.
//!
//! Given rows as they happen; writes one line each under a fixed header, so that columns that
//! later versions append disturb nobody. A duality gap or a predicted bound that does not exist is an empty field.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::whole_file::{Growing, check_writable};
use crate::{Error, Result, numeral};

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
///
/// The file appears, in place of whatever was there, with its header and first row; until then an older one stays.
#[derive(Debug)]
pub struct HistoryWriter {
    path: PathBuf,
    /// Rows that are not handed on yet, below the header where the file is not there yet.
    rows: String,
    file: Option<Growing>,
    /// All rows, for whoever puts the run aside.
    all: Option<Arc<Mutex<String>>>,
}

impl HistoryWriter {
    /// Makes sure that the file can be written; nothing is changed yet.
    pub fn create(path: impl AsRef<Path>) -> Result<Self> {
        Self::under(HISTORY_HEADER, path.as_ref())
    }

    /// The same for the fits of a model.
    pub fn create_for_fits(path: impl AsRef<Path>) -> Result<Self> {
        Self::under(FIT_HISTORY_HEADER, path.as_ref())
    }

    /// The same under a header of the caller's, whose rows come by [`write_cells`](Self::write_cells).
    pub fn create_under(header: &str, path: impl AsRef<Path>) -> Result<Self> {
        Self::under(header, path.as_ref())
    }

    /// Appends one row of numbers; what is not finite is an empty field.
    pub fn write_cells(&mut self, cells: &[f64]) {
        let words: Vec<String> =
            cells.iter().map(|cell| if cell.is_finite() { numeral(*cell) } else { String::new() }).collect();
        self.rows += &words.join(",");
        self.rows.push('\n');
    }

    /// The same behind a name, in quotes where it needs them.
    pub fn write_named_cells(&mut self, name: &str, cells: &[f64]) {
        if name.contains([',', '"', '\n', '\r']) {
            self.rows.extend(["\"", &name.replace('"', "\"\""), "\","]);
        } else {
            self.rows += name;
            self.rows.push(',');
        }
        self.write_cells(cells);
    }

    fn under(header: &str, path: &Path) -> Result<Self> {
        let path = path.to_path_buf();
        check_writable(&path)?;
        Ok(Self { path, rows: format!("{header}\n"), file: None, all: None })
    }

    /// Goes on with the rows of an earlier part of the run, header included; nothing where there are none.
    pub fn go_on_with(&mut self, rows: &str) {
        if !rows.is_empty() {
            rows.clone_into(&mut self.rows);
        }
    }

    /// The whole text so far, which grows with every row. To be asked for before the first.
    pub fn kept(&mut self) -> Arc<Mutex<String>> {
        let so_far = || Arc::new(Mutex::new(self.rows.clone()));
        Arc::clone(self.all.get_or_insert_with(so_far))
    }

    fn add(&mut self, line: &str) {
        self.rows.push_str(line);
        if let Some(all) = &self.all {
            all.lock().unwrap_or_else(PoisonError::into_inner).push_str(line);
        }
    }

    /// Appends one row.
    pub fn write(&mut self, row: &HistoryRow) {
        let HistoryRow { update, epoch, seconds, objective, infeasibility, kkt_residual, .. } = row;
        let or_empty = |value: Option<f64>| value.map_or_else(String::new, |value| format!("{value:?}"));
        let (gap, bound) = (or_empty(row.duality_gap), or_empty(row.predicted_bound));
        self.add(&format!(
            "{update},{epoch:?},{seconds:?},{objective:?},{infeasibility:?},{kkt_residual:?},{gap},{bound}\n"
        ));
    }

    /// Appends one row of a fit.
    pub fn write_fit(&mut self, row: &FitRow) {
        let FitRow { update, epoch, seconds, primal, dual, gap, relative_gap, infeasibility, .. } = row;
        let label = row.label.map_or_else(String::new, numeral);
        self.add(&format!(
            "{update},{epoch:?},{seconds:?},{label},{primal:?},{dual:?},{gap:?},{relative_gap:?},{infeasibility:?}\n"
        ));
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
