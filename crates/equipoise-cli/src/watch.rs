//! Who watches a run: the progress bar and the history, either of them absent if not wanted.

use std::path::Path;
use std::sync::{Arc, Mutex};

use anyhow::Result;
use equipoise::{Observer, Progress, Settings};
use equipoise_models::svm::TrainSettings;

use crate::history::History;
use crate::picture::{self, Seen};
use crate::plot::write_picture;
use crate::predict::Forecast;
use crate::progress::{Bar, Fits};

/// The observer of a run.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    bar: Option<Bar>,
    history: Option<History>,
    /// The label of the fit that is told of, where these are the fits of a model.
    fit: Option<f64>,
    /// What a plot needs, where one is wanted.
    seen: Option<Vec<Seen>>,
}

impl Watch {
    /// Creates the history file, if one is wanted; an unwritable one is an error.
    pub(crate) fn new(history: Option<&Path>) -> Result<Self> {
        Ok(Self { history: history.map(History::create).transpose()?, ..Self::default() })
    }

    /// Goes on with the rows of a run that was put aside; all rows together, for whoever puts this one aside.
    pub(crate) fn goes_on_with(&mut self, rows: &str) -> Option<Arc<Mutex<String>>> {
        self.history.as_mut().map(|history| history.goes_on_with(rows))
    }

    /// The same for the fits of a model.
    pub(crate) fn for_fits(history: Option<&Path>) -> Result<Self> {
        Ok(Self { history: history.map(History::create_for_fits).transpose()?, ..Self::default() })
    }

    /// Keeps what a plot needs, where one is wanted.
    pub(crate) fn keeps(&mut self, plot: Option<&Path>) {
        self.seen = plot.map(|_| Vec::new());
    }

    /// With what a plot needs kept.
    pub(crate) fn keeping() -> Self {
        Self { seen: Some(Vec::new()), ..Self::default() }
    }

    /// What was kept.
    pub(crate) fn into_seen(self) -> Vec<Seen> {
        self.seen.unwrap_or_default()
    }

    /// Draws what was kept.
    pub(crate) fn draw(&self, plot: Option<&Path>) -> Result<()> {
        match (plot, &self.seen) {
            (Some(path), Some(seen)) => write_picture(path, &picture::of_run(seen)),
            _ => Ok(()),
        }
    }

    /// Adds what theory promises to the history, if there is one; `forecast` is not asked otherwise.
    pub(crate) fn predict(&mut self, forecast: impl FnOnce() -> Option<Forecast>) {
        if let Some(history) = &mut self.history {
            history.predict(forecast());
        }
    }

    /// Adds the bar; to be called right before the run.
    pub(crate) fn show_bar(&mut self, settings: &Settings) {
        self.bar = Some(Bar::new(settings));
    }

    /// Adds a bar over several fits, each to a relative gap.
    pub(crate) fn show_fits(&mut self, settings: &TrainSettings, fits: Fits) {
        let TrainSettings { gap, max_epochs, time_limit, .. } = *settings;
        let settings = Settings { tolerance: gap, max_epochs, time_limit, ..Settings::default() };
        self.bar = Some(Bar::of_fits(&settings, fits));
    }

    /// Takes the bar away, so that the screen is free for the report.
    pub(crate) fn hide_bar(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.clear();
        }
    }

    /// Whether the history was written in full.
    pub(crate) fn finish(self) -> Result<()> {
        self.history.map_or(Ok(()), History::finish)
    }
}

impl Observer for Watch {
    fn of_fit(&mut self, label: f64) {
        self.fit = Some(label);
    }

    fn checkpoint(&mut self, progress: &Progress) {
        if let Some(bar) = &mut self.bar {
            bar.checkpoint(progress);
        }
        if let Some(seen) = &mut self.seen {
            seen.push(Seen::new(self.fit, progress));
        }
        if let Some(history) = &mut self.history {
            match self.fit {
                Some(label) => history.add_fit(label, progress),
                None => history.add(progress),
            }
        }
    }

    fn heartbeat(&mut self, update: u64, epoch: f64) {
        if let Some(bar) = &mut self.bar {
            bar.heartbeat(update, epoch);
        }
    }
}
