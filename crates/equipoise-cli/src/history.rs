//! `--history FILE.csv`: a row at every checkpoint, on disk before the run goes on.
//!
//! The file is rewritten at each row, so that whatever ends the run, the rows so far are there. Checkpoints grow
//! apart geometrically: even a long run has about a hundred.

use std::path::{Path, PathBuf};

use anyhow::Result;
use equipoise::Progress;
use equipoise_formats::history::{HistoryRow, write_history};

/// The rows so far, and where they go.
#[derive(Debug)]
pub(crate) struct History {
    path: PathBuf,
    rows: Vec<HistoryRow>,
    failure: Option<equipoise_formats::Error>,
}

impl History {
    /// Creates the file with its header.
    pub(crate) fn create(path: &Path) -> Result<Self> {
        write_history(path, &[])?;
        Ok(Self { path: path.into(), rows: Vec::new(), failure: None })
    }

    /// Appends a checkpoint. After a failure nothing more is written; [`Self::finish`] tells.
    pub(crate) fn add(&mut self, progress: &Progress) {
        let certificate = &progress.certificate;
        self.rows.push(HistoryRow {
            update: progress.update,
            epoch: progress.epoch,
            seconds: progress.seconds,
            objective: certificate.objective,
            infeasibility: certificate.infeasibility,
            kkt_residual: certificate.kkt_residual,
            duality_gap: certificate.duality_gap,
        });
        if self.failure.is_none() {
            self.failure = write_history(&self.path, &self.rows).err();
        }
    }

    /// Whether everything was written.
    pub(crate) fn finish(self) -> Result<()> {
        self.failure.map_or(Ok(()), |failure| Err(failure.into()))
    }
}
