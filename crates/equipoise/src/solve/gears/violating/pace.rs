//! How fast the gap falls from sweep to sweep: whether it seems small enough, and whether second-order steps would be quicker.
//!
//! Left to do, in passes over the data: `log(gap / wanted) / log(1 / rate)` sweeps, each over the active share of the
//! coordinates. Second-order steps cost, whatever the gap,
//!
//! ```text
//! STEPS ( (m r^2 / 2 + d^3 / 48) / (n r) + 2 )        r = entries a column, d = products, m = min(free, 24 d) columns in a matrix
//! STEPS ( 30 free / n + 2 )                           by conjugate gradients, where d is above 3000
//! ```
//!
//! A sweep adds up the gap of those who are active, while they move. What a verdict finds is more by some factor, which the next
//! claim has to make up for. Where everyone has come back what was known of the active ones no longer tells a rate.
//!
//! Counts decide, no clock: one seed gives one run.

use crate::archive::Archive;
use crate::error::Result;
use crate::problem::Problem;
use crate::separable::SeparableTerm;
use crate::smooth::SmoothTerm;
use crate::solve::steps::proximal_newton::LARGEST;

/// Newton steps that a second-order method takes, about.
const STEPS: f64 = 8.0;
/// Passes that a step may take where sweeps are left out.
const MOST_PASSES_A_STEP: f64 = 12.0;
/// Steps of conjugate gradients for the direction of one, about, where its system is not formed.
const CONJUGATE_STEPS: f64 = 15.0;
/// Passes of sweeps that are left where conjugate gradients on a face are tried, and passes before that: the face has to settle.
const PASSES_OF_FACES: f64 = 60.0;
const PASSES_BEFORE_FACES: f64 = 10.0;
/// What a multiplication costs inside the product of two dense matrices, where in a sweep it costs 1.
const FAST: f64 = 0.125;
/// Gaps that are kept. The rate is taken over this many sweeps at least, and over this many passes, as short sweeps are noisy:
/// where they are that short second-order steps have to seem quicker for some passes, too.
const MEMORY: usize = 64;
const SWEEPS_OF_RATE: usize = 3;
const PASSES_OF_RATE: f64 = 1.0;
const SHORT: f64 = 0.5;
const PASSES_OF_DOUBT: f64 = 0.25;
/// Rounds that raised the objective, after which single coordinates are left.
const PATIENCE: u32 = 2;
/// What is asked of the next gap where a verdict confirmed the last, and yet it could not be proven.
const STRICTER: f64 = 0.6;
/// The same where a verdict found more: a little less than what would have been confirmed, in shares of the last, and at least.
const MARGIN: f64 = 0.95;
const LEAST_ENOUGH: f64 = 0.05;

/// What sweeps did lately.
#[derive(Debug)]
pub(super) struct Pace {
    /// What Newton steps cost, where there are any; else faces are tried.
    newton: Option<NewtonCost>,
    /// How much dearer than reckoned second-order steps have been.
    dearer: f64,
    /// Coordinates off their bounds and kinks in the last sweep.
    free: f64,
    /// Passes before one is thought of, and those made since the last.
    fewest: f64,
    passes: f64,
    /// The last gaps, in shares of what is wanted; the last one first.
    gaps: [f64; MEMORY],
    share: f64,
    /// The share of the wanted gap that is small enough.
    enough: f64,
    /// The one that was said to be small enough, until a verdict answers; else 0.
    claimed: f64,
    /// Sweeps in a row after which second-order steps seemed quicker.
    slow: u32,
    undone: u32,
}

impl Pace {
    const NEW: Self = Self {
        newton: None,
        dearer: 1.0,
        free: f64::INFINITY,
        fewest: 0.0,
        passes: 0.0,
        gaps: [f64::INFINITY; MEMORY],
        share: 1.0,
        enough: 1.0,
        claimed: 0.0,
        slow: 0,
        undone: 0,
    };

    /// For a problem, and the threads that would share Newton steps where there are any.
    pub(super) fn new<F: SmoothTerm, H: SeparableTerm>(
        problem: &Problem<F, H>,
        newton: Option<usize>,
    ) -> Self {
        let newton = newton.and_then(|threads| NewtonCost::of(problem, threads));
        let fewest = if newton.is_some() { 0.0 } else { PASSES_BEFORE_FACES };
        Self { newton, fewest, free: problem.dimension() as f64, ..Self::NEW }
    }

    /// Shows an archive what decisions to come depend on.
    pub(super) fn carry(&mut self, archive: &mut Archive<'_>) -> Result<()> {
        archive.number(&mut self.dearer)?;
        archive.number(&mut self.free)?;
        archive.number(&mut self.passes)?;
        archive.numbers(&mut self.gaps)?;
        archive.number(&mut self.share)?;
        archive.number(&mut self.enough)?;
        archive.number(&mut self.claimed)?;
        archive.small(&mut self.slow)?;
        archive.small(&mut self.undone)
    }

    /// Takes note of a sweep: its gap, the one wanted, the share of the coordinates that are active, how many are free.
    pub(super) fn note(&mut self, gap: f64, wanted: f64, share: f64, free: usize) {
        self.free = free as f64;
        self.gaps.rotate_right(1);
        self.gaps[0] = gap / wanted;
        self.share = share;
        self.passes += share;
    }

    /// Passes that a second-order method would take.
    fn budget(&self) -> f64 {
        self.dearer * self.newton.as_ref().map_or(PASSES_OF_FACES, |newton| newton.passes(self.free))
    }

    /// Whether one second-order step takes no more than some passes.
    pub(super) fn is_step_cheap(&self) -> bool {
        self.newton.is_some() && self.budget() <= STEPS * MOST_PASSES_A_STEP
    }

    /// All coordinates came back: gaps of some of them say nothing of those of all.
    pub(super) fn all_came_back(&mut self) {
        self.gaps = [f64::INFINITY; MEMORY];
    }

    /// A second-order step moved x, and did it more cheaply than sweeps, or did not: then it is called less readily.
    pub(super) fn compared(&mut self, was_cheaper: bool) {
        if !was_cheaper {
            self.dearer *= 2.0;
        }
        self.passes = 0.0;
        self.gaps = [f64::INFINITY; MEMORY];
    }

    /// A verdict found so many times the gap that is wanted.
    pub(super) fn answered(&mut self, found: f64) {
        if self.claimed > 0.0 && found > 1.0 {
            self.enough = self.claimed * (MARGIN / found).max(LEAST_ENOUGH);
        }
        self.claimed = 0.0;
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
            self.claimed = now;
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
    pub(super) fn is_slow(&mut self) -> bool {
        let known = self.gaps.iter().filter(|gap| **gap < f64::INFINITY).count();
        let seems = known >= SWEEPS_OF_RATE && self.passes >= self.fewest && self.left() > self.budget();
        self.slow = if seems { self.slow + 1 } else { 0 };
        seems && (self.share > SHORT || f64::from(self.slow) * self.share > PASSES_OF_DOUBT)
    }
}

/// What Newton steps cost on a problem, in passes over its data.
#[derive(Debug)]
struct NewtonCost {
    /// Multiplications for a column of the matrix, for its factor, and for a pass. Without a matrix: for the column in all steps of
    /// conjugate gradients.
    column: f64,
    factor: f64,
    pass: f64,
    /// Most columns in a matrix, or in those steps.
    most: f64,
    threads: f64,
}

impl NewtonCost {
    fn of<F: SmoothTerm, H: SeparableTerm>(problem: &Problem<F, H>, threads: usize) -> Option<Self> {
        let factored = problem.smooth().factored()?;
        let (n, d) = (problem.dimension() as f64, factored.rank() as f64 + 1.0);
        let pass = (factored.stored() as f64).max(n);
        let r = pass / n;
        // Columns without gaps are multiplied as matrices.
        let multiplication = if r >= d - 1.0 { FAST } else { 1.0 };
        if d > LARGEST as f64 {
            // Nothing is formed: every step of conjugate gradients reads the free columns twice.
            let column = 2.0 * CONJUGATE_STEPS * r;
            return Some(Self { column, factor: 0.0, pass, most: n, threads: threads as f64 });
        }
        Some(Self {
            column: r * r / 2.0 * multiplication,
            factor: d * d * d / 6.0 * FAST,
            pass,
            most: n.min(24.0 * d),
            threads: threads as f64,
        })
    }

    /// Passes that Newton steps would take where so many coordinates are free.
    fn passes(&self, free: f64) -> f64 {
        let matrix = free.min(self.most) * self.column + self.factor;
        STEPS * (matrix / self.pass + 2.0) / self.threads
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With Newton steps that take so many passes.
    fn pace(passes: f64) -> Pace {
        let factor = passes / STEPS - 2.0;
        let newton = NewtonCost { column: 0.0, factor, pass: 1.0, most: 1.0, threads: 1.0 };
        Pace { newton: Some(newton), ..Pace::NEW }
    }

    #[test]
    fn what_is_left_follows_from_the_rate_and_from_who_is_active() {
        let mut pace = pace(10.0);
        for gap in [8e3, 4e3, 2e3, 1e3] {
            pace.note(gap, 1.0, 0.5, 0);
        }
        // Halved by every sweep over half the coordinates.
        assert!((pace.left() - 0.5 * 1e3_f64.log2()).abs() < 1e-9);
        assert!(!pace.is_slow() && !pace.seems_done());
        for gap in (0..MEMORY).map(|k| 999.0 - k as f64) {
            pace.note(gap, 1.0, 1.0, 0);
        }
        assert!(pace.is_slow());
        // A face that gained less is tried later.
        pace.compared(false);
        assert!(!pace.is_slow() && pace.budget() == 20.0);
    }

    #[test]
    fn no_rate_is_taken_from_before_everyone_came_back() {
        let mut pace = pace(10.0);
        for gap in [64.0, 32.0, 16.0, 8.0, 4.0, 2.0] {
            pace.note(gap, 1.0, 0.1, 0);
        }
        // What those who rested have come to since makes the gap of all larger; that is no sign of slowness.
        pace.all_came_back();
        pace.note(3.0, 1.0, 1.0, 0);
        assert!(!pace.is_slow());
        pace.note(2.5, 1.0, 1.0, 0);
        assert!(!pace.is_slow());
        pace.note(2.49, 1.0, 1.0, 0);
        pace.note(2.48, 1.0, 1.0, 0);
        assert!(pace.is_slow());
    }

    #[test]
    fn short_sweeps_have_to_be_slow_for_some_passes() {
        let mut pace = pace(0.5 * STEPS * 2.0);
        let after = (1..50_usize).find(|_| {
            pace.note(2.0, 1.0, 0.1, 0);
            pace.is_slow()
        });
        assert_eq!(after, Some(SWEEPS_OF_RATE + 2));
    }

    #[test]
    fn free_coordinates_make_newton_steps_dear() {
        let cost = NewtonCost { column: 10.0, factor: 0.0, pass: 100.0, most: 50.0, threads: 1.0 };
        assert_eq!(cost.passes(0.0), 2.0 * STEPS);
        assert_eq!(cost.passes(20.0), 4.0 * STEPS);
        assert_eq!(cost.passes(1e9), 7.0 * STEPS);
    }

    #[test]
    fn a_claim_makes_up_for_what_the_last_verdict_found_beyond_it() {
        let mut pace = pace(10.0);
        pace.note(1.0, 1.0, 1.0, 0);
        assert!(pace.seems_done());
        // Twice as much as is wanted was there.
        pace.answered(2.0);
        for (gap, is_enough) in [(0.95, false), (0.9, false), (0.3, true)] {
            pace.note(gap, 1.0, 1.0, 0);
            assert_eq!(pace.seems_done(), is_enough, "{gap}");
        }
    }

    #[test]
    fn a_gap_that_was_not_confirmed_has_to_be_smaller() {
        let mut pace = pace(10.0);
        pace.note(2.0, 1.0, 1.0, 0);
        assert!(!pace.seems_done());
        pace.note(1.0, 1.0, 1.0, 0);
        assert!(pace.seems_done());
        pace.note(0.9, 1.0, 1.0, 0);
        assert!(!pace.seems_done());
        pace.note(0.2, 1.0, 1.0, 0);
        assert!(pace.seems_done());
    }
}
