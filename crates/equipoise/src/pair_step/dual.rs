//! Semismooth Newton on the dual of the model, shared by [`newton`](super::newton) and [`group`](super::group).
//!
//! ```text
//! maximise over lambda   q(lambda) = min_z [ model(z) + lambda'(A (z - x) - shift) ],
//! grad q = phi(lambda) = A (z(lambda) - x) - shift,      -J in the generalised Hessian,  J = A Pi A'
//! (J + eps M) s = phi,   lambda += t s
//! ```
//!
//! | symbol | meaning |
//! |---|---|
//! | Pi | derivative of the prox over D, a number a coordinate or a matrix a group |
//! | M | J with every coordinate free; damping with it (not with I) makes the iteration the same for every basis of the rows |
//! | eps | damping, falling with phi |
//! | n | Euclidean norms of the rows; phi counts as small relative to them |
//! | t | step length at most 1, near the top of q along the step |
//!
//! Then the clean-up: what is left of phi is projected out along the coordinates where z(lambda) is smooth.
//! Dependent and zero rows are allowed. Must not know: what h is, random numbers, threads, which pair.

use super::Factor;

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
/// Rounds of the clean-up, and how many of them at the end may move coordinates off their kinks.
const CLEANUPS: usize = 6;
const LOOSE: usize = 2;
/// Residual, relative to the values, that rounding alone may leave.
const ROUNDING: f64 = 256.0 * f64::EPSILON;
/// Residual, relative to the values, below which the rows count as kept.
const KEPT: f64 = 1e-10;
/// Step, relative to `g/D`, that is nothing but rounding.
const NO_STEP: f64 = 64.0 * f64::EPSILON;

/// What came of a solve with several rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outcome {
    /// Whether the optimum was found. If not, z = x in a pair step; with a shift, z is the last point.
    pub converged: bool,
    /// Newton iterations made.
    pub iterations: usize,
    /// The largest `|A (z - x) - shift|` over the rows, each relative to its Euclidean norm.
    pub residual: f64,
}

/// How large the terms of `A (z - x)` are over coordinates that moved, in units of the rows' norms.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Size {
    /// With x in place of z - x.
    pub(super) now: f64,
    /// With z - x.
    pub(super) moved: f64,
    /// Whether a coordinate moved to a bound or a kink: then the move is no rounding, however short.
    pub(super) arrived: bool,
}

impl Size {
    fn total(self) -> f64 {
        self.now + self.moved
    }
}

/// q at one lambda, with the sizes that tell rounding from news.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Height {
    pub(super) q: f64,
    /// Sum of the sizes of the terms of q.
    pub(super) magnitude: f64,
    pub(super) size: Size,
    /// Size of `A Pi (|g| + |A'lambda|)`, in the same units: eps times this is rounding of phi.
    pub(super) noise: f64,
}

/// A dual problem: keeps z(lambda) of the last evaluation.
pub(super) trait Dual {
    /// The number of rows.
    fn rows(&self) -> usize;
    /// Norms n of the rows, and `gram += M`.
    fn measure(&mut self, norms: &mut [f64], gram: &mut [f64]);
    /// z(lambda), phi and q.
    fn evaluate(&mut self, lambda: &[f64], phi: &mut [f64]) -> Height;
    /// `gram += A Pi A'` at the last evaluation.
    fn add_jacobian(&mut self, gram: &mut [f64]);
    /// `A (z - x) - shift` for z as it is, and the size of its terms.
    fn residual(&mut self, phi: &mut [f64]) -> Size;
    /// `z -= Pi A'delta`, stopping at the ends of smooth stretches; whether it never had to stop.
    fn correct(&mut self, delta: &[f64]) -> bool;
    /// Lets every coordinate that has room take part in [`correct`](Self::correct).
    fn loosen(&mut self);
    /// Writes r such that `M lambda = r` gives multipliers under which x hardly moves; false when there is no such guess.
    fn suggest(&self, _r: &mut [f64]) -> bool {
        false
    }
    /// The objective at z minus that at x.
    fn change(&self) -> f64;
    /// z = x, for all coordinates or for those in some row.
    fn stay(&mut self, only_coupled: bool);
}

/// Memory that the Newton solvers use again and again.
#[derive(Debug, Clone, Default)]
pub struct Workspace {
    pub(super) rows: RowSpace,
    pub(super) coordinates: CoordinateSpace,
}

/// Lists with an entry for each row, and the m x m matrix.
#[derive(Debug, Clone, Default)]
pub(super) struct RowSpace {
    norms: Vec<f64>,
    /// 1 for rows that are independent of those before, 0 for the others.
    kept: Vec<f64>,
    /// How many are.
    rank: usize,
    phi: Vec<f64>,
    trial_phi: Vec<f64>,
    trial: Vec<f64>,
    step: Vec<f64>,
    gram: Vec<f64>,
    all_free: Vec<f64>,
    factor: Factor,
}

/// Lists with an entry for each coordinate (or group, or one more list for each row).
#[derive(Debug, Clone, Default)]
pub(super) struct CoordinateSpace {
    /// Norm of each column in units of the rows' norms.
    pub(super) sizes: Vec<f64>,
    /// Diagonal of Pi, or the prox's argument v.
    pub(super) slopes: Vec<f64>,
    /// `(alpha, beta)` of each group.
    pub(super) groups: Vec<(f64, f64)>,
    /// Norms of the rows.
    pub(super) norms: Vec<f64>,
    /// Another list with an entry for each row.
    pub(super) column: Vec<f64>,
}

impl CoordinateSpace {
    /// The Euclidean norm of lambda in units of the rows' norms: times a column's size it bounds the terms of
    /// `a_k'lambda`, however much they cancel.
    pub(super) fn size_of(&self, lambda: &[f64]) -> f64 {
        lambda.iter().zip(&self.norms).map(|(l, n)| (l * n).powi(2)).sum::<f64>().sqrt()
    }
}

impl RowSpace {
    fn grow(&mut self, m: usize) {
        let lists = [
            &mut self.norms,
            &mut self.kept,
            &mut self.phi,
            &mut self.trial_phi,
            &mut self.trial,
            &mut self.step,
        ];
        for list in lists {
            list.resize(m, 0.0);
        }
        self.gram.resize(m * m, 0.0);
        self.all_free.clear();
        self.all_free.resize(m * m, 0.0);
    }

    /// The largest entry of phi relative to its row's norm; a zero row counts as it is.
    fn worst(norms: &[f64], phi: &[f64]) -> f64 {
        let relative = phi.iter().zip(norms).map(|(phi, n)| if *n > 0.0 { phi / n } else { *phi });
        relative.fold(0.0, |worst: f64, r| if r.abs() > worst || r.is_nan() { r.abs() } else { worst })
    }
}

/// Solves the dual from `lambda`, cleans z up, and says how it went.
pub(super) fn solve<D: Dual>(
    dual: &mut D,
    lambda: &mut [f64],
    pair_step: bool,
    space: &mut RowSpace,
) -> Outcome {
    space.grow(dual.rows());
    dual.measure(&mut space.norms, &mut space.all_free);
    space.factor.refactor(dual.rows(), &space.all_free);
    space.factor.mark_kept(&mut space.kept);
    space.rank = space.factor.rank();
    if lambda.iter().any(|l| !l.is_finite()) {
        lambda.fill(0.0);
    }
    take_suggestion(dual, lambda, space);
    let warm = lambda.iter().any(|l| *l != 0.0);
    let mut run = maximise(dual, lambda, space);
    if !run.settled && warm {
        lambda.fill(0.0);
        let first = run.iterations;
        run = maximise(dual, lambda, space);
        run.iterations += first;
    }
    let (mut residual, size) = clean_up(dual, lambda, space);
    // A step no larger than the rounding of z(lambda) is no step.
    let nothing = size.moved <= NO_STEP * run.noise && !size.arrived;
    let converged = run.settled && (residual <= KEPT * size.total() || (pair_step && nothing));
    if pair_step && converged && nothing {
        dual.stay(true);
        residual = 0.0;
    }
    if pair_step && (!converged || dual.change() > 0.0) {
        dual.stay(false);
        residual = 0.0;
    }
    Outcome { converged, iterations: run.iterations, residual }
}

/// Starts from the multipliers that the problem suggests where q is higher there.
fn take_suggestion<D: Dual>(dual: &mut D, lambda: &mut [f64], space: &mut RowSpace) {
    if dual.suggest(&mut space.trial) {
        space.factor.solve(&mut space.trial);
        let given = dual.evaluate(lambda, &mut space.phi);
        let suggested = dual.evaluate(&space.trial, &mut space.phi);
        if suggested.q > given.q {
            lambda.copy_from_slice(&space.trial);
        }
    }
}

/// How the Newton iterations ended.
#[derive(Debug, Clone, Copy)]
struct Run {
    settled: bool,
    iterations: usize,
    /// [`Height::noise`] at the end.
    noise: f64,
}

/// Newton iterations until phi is at rounding level, and two more at most that make it smaller still.
fn maximise<D: Dual>(dual: &mut D, lambda: &mut [f64], space: &mut RowSpace) -> Run {
    let mut here = dual.evaluate(lambda, &mut space.phi);
    let (mut trust, mut failures, mut iterations, mut extra) = (1.0, 0, 0, 0);
    loop {
        let missing = RowSpace::worst(&space.norms, &space.phi);
        let size = here.size.total();
        let settled = missing <= SETTLED * size + 4.0 * f64::EPSILON * here.noise;
        extra += usize::from(settled);
        let tight = missing <= f64::EPSILON * size || extra > EXTRA;
        if settled && tight || iterations == ITERATIONS || failures == FAILURES {
            return Run { settled, iterations, noise: here.noise };
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

/// Takes the rest of phi out of z; returns the largest relative residual and the size to compare it with.
fn clean_up<D: Dual>(dual: &mut D, lambda: &mut [f64], space: &mut RowSpace) -> (f64, Size) {
    let mut size = dual.residual(&mut space.phi);
    let mut missing = RowSpace::worst(&space.norms, &space.phi);
    for round in 0..CLEANUPS {
        // The last rounds are for a residual that the smooth coordinates cannot take.
        let loose = round >= CLEANUPS - LOOSE;
        if missing <= f64::EPSILON * size.total() || (loose && missing <= ROUNDING * size.total()) {
            break;
        }
        if loose {
            dual.loosen();
        }
        let sure = project(dual, space);
        let before = missing;
        size = dual.residual(&mut space.phi);
        missing = RowSpace::worst(&space.norms, &space.phi);
        if sure && !loose && missing < before {
            lambda.iter_mut().zip(&space.step).for_each(|(l, s)| *l += s);
        }
        if missing > 0.5 * before && missing <= ROUNDING * size.total() {
            break;
        }
    }
    (missing, size)
}

/// `z -= Pi A' J^+ phi`, cut off where h is not smooth. Whether the multipliers may follow: nothing was cut off, and
/// the step `J^+ phi` is the only one (else it would trouble the coordinates at kinks).
fn project<D: Dual>(dual: &mut D, space: &mut RowSpace) -> bool {
    space.gram.fill(0.0);
    dual.add_jacobian(&mut space.gram);
    space.factor.refactor(space.phi.len(), &space.gram);
    space.step.copy_from_slice(&space.phi);
    space.factor.solve(&mut space.step);
    let straight = dual.correct(&space.step);
    straight && space.factor.rank() == space.rank
}
