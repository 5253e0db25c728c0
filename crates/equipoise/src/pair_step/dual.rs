//! The dual of the model, as [`newton`](super::newton) and [`group`](super::group) solve it.
//!
//! ```text
//! maximise over lambda   q(lambda) = min_z [ model(z) + lambda'(A (z - x) - shift) ],
//! grad q = phi(lambda) = A (z(lambda) - x) - shift,      -J in the generalised Hessian,  J = A Pi A'
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
use super::ascent::maximise;

/// Rounds of the clean-up, and how many of them at the end may move coordinates off their kinks.
const CLEANUPS: usize = 6;
const LOOSE: usize = 2;
/// Residual, relative to the values, that rounding alone may leave.
const ROUNDING: f64 = 256.0 * f64::EPSILON;
/// Residual, relative to the values, below which the rows count as kept.
const KEPT: f64 = 1e-10;
/// Step, relative to `x` and `(|g| + |A'lambda|)/D`, that is nothing but rounding.
pub(super) const NO_STEP: f64 = 64.0 * f64::EPSILON;

/// What came of a solve with several rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Outcome {
    /// Whether the optimum was found. If not, z = x in a pair step; with a shift, z is the last point.
    pub(crate) converged: bool,
    /// Newton iterations made.
    pub(crate) iterations: usize,
    /// The largest `|A (z - x) - shift|` over the rows, each relative to its Euclidean norm.
    pub(crate) residual: f64,
}

/// How large the terms of `A (z - x)` are over coordinates that moved, in units of the rows' norms.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Size {
    /// With x in place of z - x.
    pub(super) now: f64,
    /// With z - x.
    pub(super) moved: f64,
    /// Whether a coordinate moved by more than the rounding of its z(lambda).
    pub(super) real: bool,
}

impl Size {
    pub(super) fn total(self) -> f64 {
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
pub(crate) struct Workspace {
    pub(super) rows: RowSpace,
    pub(super) coordinates: CoordinateSpace,
}

/// Lists with an entry for each row, and the m x m matrix.
#[derive(Debug, Clone, Default)]
pub(super) struct RowSpace {
    pub(super) norms: Vec<f64>,
    /// 1 for rows that are independent of those before, 0 for the others.
    pub(super) kept: Vec<f64>,
    /// How many are.
    rank: usize,
    pub(super) phi: Vec<f64>,
    pub(super) trial_phi: Vec<f64>,
    pub(super) trial: Vec<f64>,
    pub(super) step: Vec<f64>,
    pub(super) gram: Vec<f64>,
    pub(super) all_free: Vec<f64>,
    pub(super) factor: Factor,
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
    /// What the rounding of each z(lambda) is relative to at the last evaluation; 0 for a value at a kink.
    pub(super) rounding: Vec<f64>,
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
    pub(super) fn worst(norms: &[f64], phi: &[f64]) -> f64 {
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
    stop: &dyn Fn() -> bool,
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
    let mut run = maximise(dual, lambda, space, stop);
    if !run.settled && warm && !stop() {
        lambda.fill(0.0);
        let first = run.iterations;
        run = maximise(dual, lambda, space, stop);
        run.iterations += first;
    }
    if stop() {
        dual.stay(false);
        return Outcome { converged: false, iterations: run.iterations, residual: 0.0 };
    }
    let (mut residual, size) = clean_up(dual, lambda, space);
    // A step no larger than the rounding of z(lambda) is no step.
    let converged = run.settled && (residual <= KEPT * size.total() || (pair_step && !size.real));
    if pair_step && converged && !size.real {
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

/// Takes the rest of phi out of z; returns the largest relative residual and the size to compare it with.
fn clean_up<D: Dual>(dual: &mut D, lambda: &mut [f64], space: &mut RowSpace) -> (f64, Size) {
    let mut size = dual.residual(&mut space.phi);
    let mut missing = RowSpace::worst(&space.norms, &space.phi);
    for round in 0..CLEANUPS {
        // The last rounds are for a residual that the smooth coordinates cannot take.
        let loose = round >= CLEANUPS - LOOSE;
        if missing <= f64::EPSILON * size.total()
            || (loose && (missing <= ROUNDING * size.total() || !size.real))
        {
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
