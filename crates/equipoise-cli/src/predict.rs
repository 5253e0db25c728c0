//! What theory promises for a run: the column `predicted_bound` of the history, and how many updates pairs of a sparse graph
//! need where nothing else may move.
//!
//! Given the problem, the settings and the start before the run, and the duality gap of the first checkpoint; returns an
//! upper bound on the expected suboptimality at every checkpoint, or nothing where no theorem applies.

use equipoise::separable::{Nonsmooth, SeparableTerm};
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

/// What to expect, in a line, where the user wants pairs of a graph that leaves pairs out; nothing elsewhere, and where the
/// constants would take long.
pub(crate) fn expected(problem: &AnyProblem, settings: &Settings, start: Option<&[f64]>) -> Option<String> {
    let scheme = scheme(settings)?;
    if problem.graph().is_clique() || problem.blocks().len() < 3 {
        return None;
    }
    let is_smooth = matches!(problem.separable(), Nonsmooth::Coordinates(h) if h.is_zero());
    if !is_smooth {
        return Some(
            "note: no theorem says how many updates pairs of this graph take with bounds or penalties: they may stand still before the \
             optimum, and then a step over all blocks helps; --method auto takes such steps from the beginning"
                .into(),
        );
    }
    let prediction = Prediction::new(problem, scheme)?;
    let start = start.unwrap_or(problem.start());
    let first = prediction.suboptimality(problem, start)?;
    let wanted = settings.tolerance * (1.0 + problem.objective(start).ok()?.abs());
    let updates = prediction.updates_to(first, wanted)?;
    let epochs = 2.0 * updates as f64 / problem.blocks().len() as f64;
    Some(format!(
        "note: pairs of this graph are expected to be within {wanted:.1e} of the optimum after {updates} updates ({epochs:.0} epochs), or \
         earlier; --method auto also takes steps over all blocks"
    ))
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
