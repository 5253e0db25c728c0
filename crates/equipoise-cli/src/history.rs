//! `--history FILE.csv`: a row at every checkpoint, on disk before the run goes on.
//!
//! Rows are flushed one by one, so that whatever ends the run, the rows so far are there, and whole. An older file stays until
//! there is a first row.

use std::path::Path;
use std::sync::{Arc, Mutex};

use anyhow::Result;
use equipoise::Progress;
use equipoise_formats::history::{FitRow, HistoryRow, HistoryWriter};

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
        Ok(Self::of(HistoryWriter::create(path)?))
    }

    /// The same for the fits of a model.
    pub(crate) fn create_for_fits(path: &Path) -> Result<Self> {
        Ok(Self::of(HistoryWriter::create_for_fits(path)?))
    }

    fn of(writer: HistoryWriter) -> Self {
        Self { writer, forecast: None, failure: None }
    }

    /// Goes on with the rows of a run that was put aside; all rows together, for whoever puts this one aside.
    pub(crate) fn goes_on_with(&mut self, rows: &str) -> Arc<Mutex<String>> {
        self.writer.go_on_with(rows);
        self.writer.kept()
    }

    /// Appends a checkpoint of a fit, in the words of the model: its dual is what the solver makes as large as it can.
    pub(crate) fn add_fit(&mut self, label: f64, progress: &Progress) {
        let verdict = &progress.verdict;
        let (dual, gap) = (-verdict.objective, verdict.gap.unwrap_or(f64::NAN));
        let row = FitRow {
            update: progress.update,
            epoch: progress.epoch,
            seconds: progress.seconds,
            label: Some(label).filter(|label| !label.is_nan()),
            primal: dual + gap,
            dual,
            gap,
            relative_gap: verdict.measure,
            infeasibility: verdict.infeasibility,
        };
        if self.failure.is_none() {
            self.writer.write_fit(&row);
            self.failure = self.writer.flush().err();
        }
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
