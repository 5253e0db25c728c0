//! How fast the gap falls from sweep to sweep: whether it seems small enough, and whether second-order steps would be quicker.
//!
//! Left to do, in passes over the data: `log(gap / wanted) / log(1 / rate)` sweeps, each over the active share of the
//! coordinates. Second-order steps cost, whatever the gap,
//!
//! ```text
//! STEPS ( (m r^2 / 2 + d^3 / 48) / (n r) + 2 )        r = entries a column, d = products, m = min(n, 24 d) columns in a matrix
//! ```
//!
//! Counts decide, no clock: one seed gives one run.

use crate::error::Result;
use crate::problem::Problem;
use crate::separable::SeparableTerm;
use crate::smooth::SmoothTerm;
use crate::solve::Archive;

/// Newton steps that a second-order method takes, about.
const STEPS: f64 = 8.0;
/// Passes of sweeps that are left where conjugate gradients on a face are tried, and passes before that: the face has to settle.
const PASSES_OF_FACES: f64 = 60.0;
const PASSES_BEFORE_FACES: f64 = 10.0;
/// What a multiplication costs inside the product of two dense matrices, where in a sweep it costs 1.
const FAST: f64 = 0.125;
/// Gaps that are kept. The rate is taken over this many sweeps at least, and over this many passes: short sweeps are noisy.
const MEMORY: usize = 16;
const SWEEPS_OF_RATE: usize = 3;
const PASSES_OF_RATE: f64 = 0.5;
/// Rounds that raised the objective, after which single coordinates are left.
const PATIENCE: u32 = 2;
/// What is asked of the next gap where a verdict did not confirm the last.
const STRICTER: f64 = 0.6;

/// What sweeps did lately.
#[derive(Debug)]
pub(super) struct Pace {
    /// Passes that a second-order method would take.
    budget: f64,
    /// Passes before one is thought of, and those made since the last.
    fewest: f64,
    passes: f64,
    /// The last gaps, in shares of what is wanted; the last one first.
    gaps: [f64; MEMORY],
    share: f64,
    /// The share of the wanted gap that is small enough.
    enough: f64,
    undone: u32,
}

impl Pace {
    /// For a problem, and the threads that would share Newton steps where there are any.
    pub(super) fn new<F: SmoothTerm, H: SeparableTerm>(
        problem: &Problem<F, H>,
        newton: Option<usize>,
    ) -> Self {
        let (budget, fewest) = match newton {
            Some(threads) => (newton_passes(problem) / threads as f64, 0.0),
            None => (PASSES_OF_FACES, PASSES_BEFORE_FACES),
        };
        let gaps = [f64::INFINITY; MEMORY];
        Self { budget, fewest, passes: 0.0, gaps, share: 1.0, enough: 1.0, undone: 0 }
    }

    /// Shows an archive what decisions to come depend on.
    pub(super) fn carry(&mut self, archive: &mut Archive<'_>) -> Result<()> {
        archive.number(&mut self.budget)?;
        archive.number(&mut self.passes)?;
        archive.numbers(&mut self.gaps)?;
        archive.number(&mut self.share)?;
        archive.number(&mut self.enough)?;
        archive.small(&mut self.undone)
    }

    /// Takes note of a sweep: its gap, the one wanted, the share of the coordinates that are active.
    pub(super) fn note(&mut self, gap: f64, wanted: f64, share: f64) {
        self.gaps.rotate_right(1);
        self.gaps[0] = gap / wanted;
        self.share = share;
        self.passes += share;
    }

    /// A second-order step moved x, and did it more cheaply than sweeps, or did not: then it is called less readily.
    pub(super) fn compared(&mut self, was_cheaper: bool) {
        if !was_cheaper {
            self.budget *= 2.0;
        }
        self.passes = 0.0;
        self.gaps = [f64::INFINITY; MEMORY];
    }

    /// A round raised the objective and was taken back.
    pub(super) fn undone(&mut self) {
        self.undone += 1;
    }

    /// Whether single coordinates do what they should.
    pub(super) fn is_good(&self) -> bool {
        self.undone < PATIENCE
    }

    /// Whether the gap seems small enough; the next time it has to be smaller.
    pub(super) fn seems_done(&mut self) -> bool {
        // What a sweep adds up is the gap before its moves; where it falls fast it is smaller by now.
        let rate = if self.gaps[1] < f64::INFINITY { self.gaps[0] / self.gaps[1] } else { 1.0 };
        let now = self.gaps[0] * (rate * rate).clamp(0.5, 0.9);
        let is_done = now <= self.enough;
        if is_done {
            self.enough = STRICTER * now;
        }
        is_done
    }

    /// Passes that sweeps would still take.
    pub(super) fn left(&self) -> f64 {
        let most =
            (PASSES_OF_RATE / self.share).ceil().clamp(SWEEPS_OF_RATE as f64, (MEMORY - 1) as f64) as usize;
        let Some(back) = (1..=most).rev().find(|&k| self.gaps[k] < f64::INFINITY) else { return 0.0 };
        let rate = (self.gaps[0] / self.gaps[back]).ln() / back as f64;
        let to_go = (self.gaps[0] / self.enough).ln();
        if rate >= 0.0 { f64::INFINITY } else { self.share * to_go / -rate }
    }

    /// Whether second-order steps would be quicker.
    pub(super) fn is_slow(&self) -> bool {
        let known = self.gaps.iter().filter(|gap| **gap < f64::INFINITY).count();
        known >= SWEEPS_OF_RATE && self.passes >= self.fewest && self.left() > self.budget
    }
}

/// Passes that Newton steps would take.
fn newton_passes<F: SmoothTerm, H: SeparableTerm>(problem: &Problem<F, H>) -> f64 {
    let Some(factored) = problem.smooth().factored() else { return f64::INFINITY };
    let (n, d) = (problem.dimension() as f64, factored.rank() as f64 + 1.0);
    let entries = (factored.stored() as f64).max(n);
    let r = entries / n;
    // Columns without gaps are multiplied as matrices.
    let multiplication = if r >= d - 1.0 { FAST } else { 1.0 };
    let matrix = n.min(24.0 * d) * r * r / 2.0 * multiplication + d * d * d / 6.0 * FAST;
    STEPS * (matrix / entries + 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pace(budget: f64) -> Pace {
        let gaps = [f64::INFINITY; MEMORY];
        Pace { budget, fewest: 0.0, passes: 0.0, gaps, share: 1.0, enough: 1.0, undone: 0 }
    }

    #[test]
    fn what_is_left_follows_from_the_rate_and_from_who_is_active() {
        let mut pace = pace(10.0);
        for gap in [8e3, 4e3, 2e3, 1e3] {
            pace.note(gap, 1.0, 0.5);
        }
        // Halved by every sweep over half the coordinates.
        assert!((pace.left() - 0.5 * 1e3_f64.log2()).abs() < 1e-9);
        assert!(!pace.is_slow() && !pace.seems_done());
        for gap in (0..MEMORY).map(|k| 999.0 - k as f64) {
            pace.note(gap, 1.0, 0.5);
        }
        assert!(pace.is_slow());
        // A face that gained less is tried later.
        pace.compared(false);
        assert!(!pace.is_slow() && pace.budget == 20.0);
    }

    #[test]
    fn a_gap_that_was_not_confirmed_has_to_be_smaller() {
        let mut pace = pace(10.0);
        pace.note(2.0, 1.0, 1.0);
        assert!(!pace.seems_done());
        pace.note(1.0, 1.0, 1.0);
        assert!(pace.seems_done());
        pace.note(0.9, 1.0, 1.0);
        assert!(!pace.seems_done());
        pace.note(0.2, 1.0, 1.0);
        assert!(pace.seems_done());
    }
}
