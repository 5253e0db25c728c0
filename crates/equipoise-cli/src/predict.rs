//! What theory promises for a run: the column `predicted_bound` of the history.
//!
//! Given the problem, the settings and the start before the run, and the duality gap of the first checkpoint; returns an
//! upper bound on the expected suboptimality at every checkpoint, or nothing where no theorem applies.

use equipoise::{Method, Progress, Settings};
use equipoise_theory::{Prediction, Scheme};

use equipoise_formats::problem_file::AnyProblem;

/// The bound of one run.
#[derive(Debug)]
pub(crate) struct Forecast {
    prediction: Prediction,
    /// An upper bound on the suboptimality of the start; the gap of the first checkpoint may lower it.
    first: f64,
    /// Whether momentum begins some time after the start.
    late: bool,
}

impl Forecast {
    /// Computes the constants of the problem; to be called before the clock runs.
    pub(crate) fn new(problem: &AnyProblem, settings: &Settings, start: Option<&[f64]>) -> Option<Self> {
        let prediction = Prediction::new(problem, scheme(settings)?)?;
        let start = start.unwrap_or(problem.start());
        let first = prediction.suboptimality(problem, start).unwrap_or(f64::INFINITY);
        Some(Self { prediction, first, late: settings.method == Method::Accelerated })
    }

    /// The bound at a checkpoint.
    pub(crate) fn at(&mut self, progress: &Progress) -> Option<f64> {
        if let (0, Some(gap)) = (progress.update, progress.verdict.gap) {
            self.first = self.first.min(gap);
        }
        // Accelerated runs begin without momentum: as if it began after half of the updates so far.
        let updates = if self.late { progress.update / 2 } else { progress.update };
        self.prediction.bound(self.first, updates)
    }
}

/// The scheme of the theorems that a run follows: one thread, full steps.
fn scheme(settings: &Settings) -> Option<Scheme> {
    if settings.threads > 1 || (settings.step_size - 1.0).abs() > 0.0 {
        return None;
    }
    match settings.method {
        Method::Pairs => Some(Scheme::Pairs),
        Method::Accelerated => Some(Scheme::Accelerated),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_theorem_describes_is_predicted() {
        let with =
            |method, threads, step_size| Settings { method, threads, step_size, ..Settings::default() };
        assert_eq!(scheme(&with(Method::Pairs, 1, 1.0)), Some(Scheme::Pairs));
        assert_eq!(scheme(&with(Method::Accelerated, 1, 1.0)), Some(Scheme::Accelerated));
        assert_eq!(scheme(&with(Method::Pairs, 2, 1.0)), None);
        assert_eq!(scheme(&with(Method::Pairs, 1, 0.5)), None);
        assert_eq!(scheme(&with(Method::Auto, 1, 1.0)), None);
        assert_eq!(scheme(&with(Method::Violating, 1, 1.0)), None);
    }
}
