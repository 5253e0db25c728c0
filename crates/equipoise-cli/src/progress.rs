//! The progress bar: how far the gap (or KKT residual) has fallen towards its tolerance, on a terminal only.
//!
//! The bar is logarithmic: every digit of accuracy fills the same share of it. Where a run consists of several fits,
//! such as one a class, each fills the same share; a fit begins with the checkpoint before its first update.

use std::time::{Duration, Instant};

use equipoise::{Certificate, Progress, Settings, Verdict};
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
    fits: Option<Fits>,
}

/// A run of several fits, each to a gap relative to its objective.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fits {
    /// What is fitted, such as a class.
    pub(crate) what: &'static str,
    /// How many there are.
    pub(crate) count: usize,
    /// How many have begun.
    begun: usize,
}

impl Fits {
    pub(crate) fn new(what: &'static str, count: usize) -> Self {
        Self { what, count, begun: 0 }
    }

    /// "class 3 of 105, "; nothing where there is one only.
    fn words(self) -> String {
        let Self { what, count, begun } = self;
        if count > 1 { format!("{what} {begun} of {count}, ") } else { String::new() }
    }

    /// How much of the whole bar is full when this share of the latest fit is done.
    fn share(self, done: f64) -> f64 {
        (self.begun.saturating_sub(1) as f64 + done) / self.count.max(1) as f64
    }
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
            fits: None,
        }
    }

    /// A bar over several fits; the tolerance of the settings is on the relative gap.
    pub(crate) fn of_fits(settings: &Settings, fits: Fits) -> Self {
        Self { fits: Some(fits), ..Self::new(settings) }
    }

    pub(crate) fn checkpoint(&mut self, progress: &Progress) {
        let tolerance = self.settings.tolerance;
        let (found, allowed) = if let Some(fits) = &mut self.fits {
            if progress.update == 0 {
                fits.begun += 1;
                self.digits = None;
            }
            let found = relative_gap(&progress.verdict);
            self.measure = format!("{}relative gap {found:.1e} of {tolerance:.0e}", fits.words());
            (found, tolerance)
        } else {
            let (name, found, allowed) = match &progress.certificate {
                Some(certificate) => measure(certificate, tolerance),
                None => ("measure", progress.verdict.measure, tolerance),
            };
            self.measure = format!("{name} {found:.1e}, wanted {allowed:.1e}");
            (found, allowed)
        };
        let left = (found / allowed).log10().max(0.0);
        let all = *self.digits.get_or_insert(left);
        if left.is_finite() && all > 0.0 {
            let done = (1.0 - left / all).clamp(0.0, 1.0);
            let done = (self.fits.map_or(done, |fits| fits.share(done)) * STEPS as f64) as u64;
            self.line.set_position(done.max(self.line.position()));
        }
        self.heartbeat(progress.update, progress.epoch);
    }

    pub(crate) fn heartbeat(&mut self, update: u64, epoch: f64) {
        let left = self.seconds_left(update, epoch);
        // Lines of several fits are long: what matters must fit 80 columns.
        let (at_most, epoch) = match self.fits {
            Some(_) => ("", String::new()),
            None => ("at most ", format!(", epoch {epoch:.0}")),
        };
        let left = left.map_or_else(String::new, |seconds| format!(", {at_most}{seconds:.0} s left"));
        self.line.set_message(format!("{}{epoch}{left}", self.measure));
    }

    /// Removes the bar.
    pub(crate) fn clear(&self) {
        self.line.finish_and_clear();
    }

    /// Until the first limit binds, at the pace so far.
    fn seconds_left(&self, update: u64, epoch: f64) -> Option<f64> {
        let elapsed = self.started.elapsed().as_secs_f64();
        let at_pace = |done: f64, most: f64| (done > 0.0).then(|| elapsed * (most / done - 1.0));
        // Limits on epochs and updates are for one fit; with several, nobody knows how many will reach them.
        let single = self.fits.is_none_or(|fits| fits.count == 1);
        let at_pace = |done: f64, most: f64| at_pace(done, most).filter(|_| single);
        let by_time = self.settings.time_limit.map(|most| most - elapsed);
        let by_epochs = self.settings.max_epochs.and_then(|most| at_pace(epoch, most));
        let by_updates = self.settings.max_updates.and_then(|most| at_pace(update as f64, most as f64));
        [by_time, by_epochs, by_updates].into_iter().flatten().reduce(f64::min).map(|left| left.max(0.0))
    }
}

/// What the tolerance is on: its name, its value, and what is allowed.
pub(crate) fn measure(certificate: &Certificate, tolerance: f64) -> (&'static str, f64, f64) {
    let allowed = tolerance * (1.0 + certificate.objective.abs());
    match certificate.duality_gap {
        Some(gap) => ("duality gap", gap, allowed),
        None => ("KKT estimate", certificate.kkt_estimate, allowed),
    }
}

/// What the tolerance of a fit is on.
fn relative_gap(verdict: &Verdict) -> f64 {
    verdict.gap.unwrap_or(f64::INFINITY) / verdict.objective.abs().max(1e-12)
}

#[cfg(test)]
mod tests {
    use super::Fits;

    #[test]
    fn fits_are_counted_and_fill_equal_shares() {
        let third = Fits { begun: 3, ..Fits::new("class", 4) };
        assert_eq!(third.words(), "class 3 of 4, ");
        assert_eq!((third.share(0.0), third.share(1.0)), (0.5, 0.75));
        assert_eq!(Fits::new("class", 1).words(), "");
    }
}
