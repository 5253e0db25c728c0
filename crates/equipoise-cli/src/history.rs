//! `--history FILE.csv`: a row at every checkpoint, on disk before the run goes on.
//!
//! Rows are flushed one by one, so that whatever ends the run, the rows so far are there, and whole. An older file stays until
//! there is a first row.

use std::path::Path;

use anyhow::Result;
use equipoise::Progress;
use equipoise_formats::history::{HistoryRow, HistoryWriter};

use crate::predict::Forecast;

/// Where the rows go.
#[derive(Debug)]
pub(crate) struct History {
    writer: HistoryWriter,
    forecast: Option<Forecast>,
    failure: Option<equipoise_formats::Error>,
}

impl History {
    /// Makes sure that the file can be written; it appears with its first row.
    pub(crate) fn create(path: &Path) -> Result<Self> {
        let writer = HistoryWriter::create(path)?;
        Ok(Self { writer, forecast: None, failure: None })
    }

    /// Adds what theory promises.
    pub(crate) fn predict(&mut self, forecast: Option<Forecast>) {
        self.forecast = forecast;
    }

    /// Appends a checkpoint. After a failure nothing more is written; [`Self::finish`] tells.
    pub(crate) fn add(&mut self, progress: &Progress) {
        let (verdict, certificate) = (&progress.verdict, progress.certificate.as_ref());
        let predicted_bound = self.forecast.as_mut().and_then(|forecast| forecast.at(progress));
        let row = HistoryRow {
            update: progress.update,
            epoch: progress.epoch,
            seconds: progress.seconds,
            objective: verdict.objective,
            infeasibility: verdict.infeasibility,
            kkt_residual: certificate.map_or(verdict.measure, |certificate| certificate.kkt_residual),
            duality_gap: verdict.gap,
            predicted_bound,
        };
        if self.failure.is_none() {
            self.writer.write(&row);
            self.failure = self.writer.flush().err();
        }
    }

    /// Whether everything was written.
    pub(crate) fn finish(self) -> Result<()> {
        self.failure.map_or(Ok(()), |failure| Err(failure.into()))
    }
}
