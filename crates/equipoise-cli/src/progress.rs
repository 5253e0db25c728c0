//! The progress bar: how far the gap (or KKT residual) has fallen towards its tolerance, on a terminal only.
//!
//! The bar is logarithmic: every digit of accuracy fills the same share of it.

use std::time::{Duration, Instant};

use equipoise::{Certificate, Progress, Settings};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Steps of the bar.
const STEPS: u64 = 1000;
/// How often the bar moves although nothing was reported.
const TICK: Duration = Duration::from_millis(100);

/// A bar on stderr; invisible when stderr is no terminal.
#[derive(Debug)]
pub(crate) struct Bar {
    line: ProgressBar,
    settings: Settings,
    started: Instant,
    /// Digits to gain between the first checkpoint and the tolerance.
    digits: Option<f64>,
    measure: String,
}

impl Bar {
    pub(crate) fn new(settings: &Settings) -> Self {
        let line = ProgressBar::with_draw_target(Some(STEPS), ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{spinner} [{bar:25}] {elapsed} {wide_msg}") {
            line.set_style(style.progress_chars("=> "));
        }
        line.enable_steady_tick(TICK);
        Self {
            line,
            settings: settings.clone(),
            started: Instant::now(),
            digits: None,
            measure: "starting".into(),
        }
    }

    pub(crate) fn checkpoint(&mut self, progress: &Progress) {
        let (name, found, allowed) = measure(&progress.certificate, self.settings.tolerance);
        self.measure = format!("{name} {found:.1e}, wanted {allowed:.1e}");
        let left = (found / allowed).log10().max(0.0);
        let all = *self.digits.get_or_insert(left);
        if left.is_finite() && all > 0.0 {
            let done = ((1.0 - left / all).clamp(0.0, 1.0) * STEPS as f64) as u64;
            self.line.set_position(done.max(self.line.position()));
        }
        self.heartbeat(progress.update, progress.epoch);
    }

    pub(crate) fn heartbeat(&mut self, update: u64, epoch: f64) {
        let left = self.seconds_left(update, epoch);
        let left = left.map_or_else(String::new, |seconds| format!(", at most {seconds:.0} s left"));
        self.line.set_message(format!("{}, epoch {epoch:.0}{left}", self.measure));
    }

    /// Removes the bar.
    pub(crate) fn clear(&self) {
        self.line.finish_and_clear();
    }

    /// Until the first limit binds, at the pace so far.
    fn seconds_left(&self, update: u64, epoch: f64) -> Option<f64> {
        let elapsed = self.started.elapsed().as_secs_f64();
        let at_pace = |done: f64, most: f64| (done > 0.0).then(|| elapsed * (most / done - 1.0));
        let by_time = self.settings.time_limit.map(|most| most - elapsed);
        let by_epochs = self.settings.max_epochs.and_then(|most| at_pace(epoch, most));
        let by_updates = self.settings.max_updates.and_then(|most| at_pace(update as f64, most as f64));
        [by_time, by_epochs, by_updates].into_iter().flatten().reduce(f64::min).map(|left| left.max(0.0))
    }
}

/// What the tolerance is on: its name, its value, and what is allowed.
pub(crate) fn measure(certificate: &Certificate, tolerance: f64) -> (&'static str, f64, f64) {
    match certificate.duality_gap {
        Some(gap) => ("duality gap", gap, tolerance * (1.0 + certificate.objective.abs())),
        None => ("KKT residual", certificate.kkt_residual, tolerance),
    }
}
