//! Semismooth Newton on the dual, see [`dual`](super::dual) for the symbols.
//!
//! ```text
//! (J + eps M) s = phi,   lambda += t s
//! ```
//!
//! M is J with every coordinate free: damping with it instead of I makes the iteration the same for every basis of
//! the rows, so rows need no scaling and no orthogonalisation. The length t is at most 1 and near the top of q.
//! Must not know: what h is, random numbers, threads, which pair.

use super::dual::{Dual, Height, RowSpace};

const ITERATIONS: usize = 200;
/// Points that a line search may look at.
const LOOKS: usize = 60;
/// Slope of q along a step, relative to that at its start, at which the step is long enough.
const NEAR_TOP: f64 = 0.1;
/// The same beyond the top, where q may be flat for very long: no more than rounding.
const PAST_TOP: f64 = 1e-6;
/// Rounding of q relative to the sum of the sizes of its terms.
const SLACK: f64 = 1e-14;
const SETTLED: f64 = 1e-12;
/// Iterations after phi has settled.
const EXTRA: usize = 2;
const DAMPING: (f64, f64) = (1e-14, 1e-4);
const LEAST_DAMPING: f64 = 1e-16;
/// Line searches that may fail before the iteration gives up.
const FAILURES: usize = 5;
/// How the Newton iterations ended.
#[derive(Debug, Clone, Copy)]
pub(super) struct Run {
    pub(super) settled: bool,
    pub(super) iterations: usize,
}

/// Newton iterations until phi is at rounding level, and two more at most that make it smaller still.
pub(super) fn maximise<D: Dual>(
    dual: &mut D,
    lambda: &mut [f64],
    space: &mut RowSpace,
    stop: &dyn Fn() -> bool,
) -> Run {
    let mut here = dual.evaluate(lambda, &mut space.phi);
    let (mut trust, mut failures, mut iterations, mut extra) = (1.0, 0, 0, 0);
    loop {
        let missing = RowSpace::worst(&space.norms, &space.phi);
        let size = here.size.total();
        let settled = missing <= SETTLED * size + 4.0 * f64::EPSILON * here.noise;
        extra += usize::from(settled);
        let tight = missing <= f64::EPSILON * size || extra > EXTRA;
        if settled && tight || iterations == ITERATIONS || failures == FAILURES || stop() {
            return Run { settled, iterations };
        }
        iterations += 1;
        let relative = if missing < size { missing / size } else { 1.0 };
        let damping = trust * (1e-2 * relative).clamp(DAMPING.0, DAMPING.1);
        direction(dual, damping.max(LEAST_DAMPING), space);
        if let Some((next, t, ahead)) = line_search(dual, lambda, here, space) {
            here = next;
            // A full step that leaves phi much as it was means too much damping; a short one, too little.
            trust = if t == 1.0 && ahead > 0.1 {
                (trust * 1e-2).max(LEAST_DAMPING)
            } else if t < 0.1 {
                (trust * 10.0).min(1.0)
            } else {
                trust
            };
        } else {
            failures += 1;
            trust *= 1e3;
            here = dual.evaluate(lambda, &mut space.phi);
        }
    }
}

/// `(J + eps M) step = phi` over the rows that are kept.
fn direction<D: Dual>(dual: &mut D, damping: f64, space: &mut RowSpace) {
    let m = space.phi.len();
    space.gram.fill(0.0);
    dual.add_jacobian(&mut space.gram);
    for (entry, free) in space.gram.iter_mut().zip(&space.all_free) {
        *entry += damping * free;
    }
    if space.kept.contains(&0.0) {
        for (j, column) in space.gram.chunks_exact_mut(m).enumerate() {
            for (r, entry) in column.iter_mut().enumerate().skip(j) {
                let kept = space.kept[r] * space.kept[j];
                *entry = if r == j && kept == 0.0 { 1.0 } else { *entry * kept };
            }
        }
    }
    space.factor.refactor_definite(m, &space.gram);
    for ((step, phi), kept) in space.step.iter_mut().zip(&space.phi).zip(&space.kept) {
        *step = phi * kept;
    }
    space.factor.solve(&mut space.step);
}

/// Evaluates at `lambda + t step` (left in `trial`, `trial_phi`); q there and its slope along the step.
fn look<D: Dual>(dual: &mut D, lambda: &[f64], t: f64, space: &mut RowSpace) -> (Height, f64) {
    for ((trial, l), s) in space.trial.iter_mut().zip(lambda).zip(&space.step) {
        *trial = l + t * s;
    }
    let there = dual.evaluate(&space.trial, &mut space.trial_phi);
    (there, space.trial_phi.iter().zip(&space.step).map(|(phi, s)| phi * s).sum())
}

/// Moves lambda along the step by a t at most 1 where q is nearly highest; `None` when rounding hides the rise.
/// Also returns t and the slope left there, relative to that at 0.
///
/// The slope of q along the step falls with t. A full step that does not pass the top is taken as it is; else the
/// top is bracketed. A stretch where a coordinate moves may be much shorter than the step: stopping
/// at the first t that is high enough would jump over it for ever.
fn line_search<D: Dual>(
    dual: &mut D,
    lambda: &mut [f64],
    here: Height,
    space: &mut RowSpace,
) -> Option<(Height, f64, f64)> {
    let rise: f64 = space.phi.iter().zip(&space.step).map(|(phi, s)| phi * s).sum();
    if !rise.is_finite() || rise <= 0.0 {
        return None;
    }
    let (mut low, mut low_slope, mut high, mut high_slope) = (0.0, rise, 1.0, 0.0);
    let (mut t, mut looks) = (1.0, 0);
    let (there, slope) = loop {
        let (there, slope) = look(dual, lambda, t, space);
        looks += 1;
        let near_top = slope >= -PAST_TOP * rise && (t == 1.0 || slope <= NEAR_TOP * rise);
        let hidden = t == 1.0 && (there.q - here.q).abs() <= SLACK * (here.magnitude + there.magnitude);
        if near_top || hidden || (looks > LOOKS && slope >= 0.0) {
            break (there, slope);
        }
        if looks > 2 * LOOKS || slope.is_nan() {
            return None;
        }
        // Illinois: an end that stays weighs half as much.
        if slope > 0.0 {
            (low, low_slope, high_slope) = (t, slope, 0.5 * high_slope);
        } else {
            (high, high_slope, low_slope) = (t, slope, if low > 0.0 { 0.5 * low_slope } else { low_slope });
        }
        let secant = low + (high - low) * low_slope / (low_slope - high_slope);
        let middle = 0.5 * (low + high);
        t = if looks % 3 == 0 || !(low < secant && secant < high) { middle } else { secant };
        if looks == LOOKS && low > 0.0 {
            t = low;
        }
    };
    lambda.copy_from_slice(&space.trial);
    std::mem::swap(&mut space.phi, &mut space.trial_phi);
    Some((there, t, slope / rise))
}
