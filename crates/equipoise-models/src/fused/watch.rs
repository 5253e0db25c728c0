//! What a fit tells of its rounds while it goes on.
//!
//! Rows before the last are in plain arithmetic, as a method sees them; the last one is what is proven.
//!
//! Must not know: files, methods.

use std::time::Instant;

/// One observation of a fit.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Round {
    /// Rounds so far.
    pub round: usize,
    /// Seconds since the start.
    pub seconds: f64,
    /// The objective.
    pub objective: f64,
    /// What no coefficients get below; minus infinity where there is nothing yet.
    pub bound: f64,
    /// `(objective - bound) / max(objective, 1e-12 ||y||^2 / 2)`.
    pub relative_gap: f64,
}

/// Who is told about rounds, and who may end the fit. An ended fit has the best coefficients so far.
pub type Watch<'a> = equipoise::Watch<'a, dyn FnMut(&Round) + 'a>;

/// An observer, and when the fit began.
pub(super) struct Told<'a> {
    observer: Option<&'a mut dyn FnMut(&Round)>,
    begun: Instant,
    /// `1e-12 ||y||^2 / 2`.
    floor: f64,
}

impl<'a> Told<'a> {
    pub(super) fn new(observer: Option<&'a mut dyn FnMut(&Round)>, y: &[f64]) -> Self {
        let floor = if observer.is_some() { 0.5e-12 * y.iter().map(|y| y * y).sum::<f64>() } else { 0.0 };
        Self { observer, begun: Instant::now(), floor }
    }

    /// Whether anybody listens: only then is it worth computing what to say.
    pub(super) fn is_heard(&self) -> bool {
        self.observer.is_some()
    }

    pub(super) fn tell(&mut self, round: usize, (objective, bound): (f64, f64)) {
        let (floor, seconds) = (self.floor, self.begun.elapsed().as_secs_f64());
        if let Some(observer) = &mut self.observer {
            let gap = (objective - bound).max(0.0);
            let relative_gap = if gap == 0.0 { 0.0 } else { gap / objective.max(floor) };
            observer(&Round { round, seconds, objective, bound, relative_gap });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_relative_and_never_negative() {
        let mut rows = Vec::new();
        let mut keep = |round: &Round| rows.push(*round);
        let mut told = Told::new(Some(&mut keep), &[2.0, 0.0]);
        told.tell(1, (4.0, 3.0));
        told.tell(2, (3.0, 3.5));
        told.tell(3, (0.0, -1.0));
        let gaps: Vec<f64> = rows.iter().map(|row| row.relative_gap).collect();
        assert_eq!(gaps, [0.25, 0.0, 1.0 / 2e-12]);
        assert!(!Told::new(None, &[1.0]).is_heard());
    }
}
