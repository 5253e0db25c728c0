//! Several rows, coordinate-separable h: semismooth Newton on the dual.
//!
//! ```text
//! z_k(lambda) = prox_{h/D}(x_k - (g_k + a_k'lambda)/D_k),   phi = A (z - x) - shift,   J = sum_k p_k a_k a_k'
//! ```
//!
//! | symbol | meaning |
//! |---|---|
//! | `a_k` | column k of A |
//! | `p_k` | derivative of the prox over `D_k`: 0 at a bound or kink, `1/(D_k + l2)` elsewhere |
//!
//! Given a first lambda, returns z and lambda. Values at a bound or a kink are exactly there, and `A (z - x) = shift`
//! holds to rounding. O(p m^2) a Newton iteration, O(p) + O(m^2) memory.
//! Must not know: random numbers, threads, which pair.

use super::dual::{self, Dual, Height, NO_STEP, Outcome, Size, Workspace};
use super::one_row::{stretch, within};
use super::{Columns, Model, Rows};
use crate::separable::SeparableTerm;

struct Separable<'a, C: ?Sized, H: ?Sized> {
    model: &'a Model<'a>,
    rows: Rows<'a, C>,
    h: &'a H,
    space: &'a mut dual::CoordinateSpace,
    z: &'a mut [f64],
    stop: &'a dyn Fn() -> bool,
}

/// The new values, into `z`; `lambda` holds the first guess and then the multipliers.
/// Given up (z = x) soon after `stop` says so: for models so large that a solve takes long.
pub(crate) fn solve<C: Columns + ?Sized, H: SeparableTerm + ?Sized>(
    model: &Model<'_>,
    rows: Rows<'_, C>,
    h: &H,
    lambda: &mut [f64],
    workspace: &mut Workspace,
    z: &mut [f64],
    stop: &dyn Fn() -> bool,
) -> Outcome {
    let pair_step = rows.shift.iter().all(|s| *s == 0.0);
    let space = &mut workspace.coordinates;
    space.slopes.resize(model.len(), 0.0);
    space.rounding.resize(model.len(), 0.0);
    let mut separable = Separable { model, rows, h, space, z, stop };
    dual::solve(&mut separable, lambda, pair_step, &mut workspace.rows, stop)
}

/// Numbers that are added up between two looks at the wish to stop.
const NUMBERS_PER_LOOK: usize = 1 << 20;

/// Whether a sum of outer products over m rows is to be left as it is, asked before column k is added. Whoever solves
/// asks the same again before anything is made of the sum.
#[inline]
pub(super) fn gives_up(k: usize, m: usize, stop: &dyn Fn() -> bool) -> bool {
    let columns = (NUMBERS_PER_LOOK / (m * m).max(1)).max(1);
    k > 0 && k.is_multiple_of(columns) && stop()
}

/// Norms of the rows of A, the size of each column in units of them, and `gram += A diag(weight) A'`.
pub(super) fn measure_rows<C: Columns + ?Sized>(
    columns: &C,
    weight: impl Fn(usize) -> f64,
    space: &mut dual::CoordinateSpace,
    norms: &mut [f64],
    gram: &mut [f64],
    stop: &dyn Fn() -> bool,
) {
    let (column, sizes) = (&mut space.column, &mut space.sizes);
    norms.fill(0.0);
    column.resize(columns.rows(), 0.0);
    for k in 0..columns.len() {
        if gives_up(k, columns.rows(), stop) {
            break;
        }
        columns.add_outer(k, weight(k), gram);
        column.fill(0.0);
        columns.add(k, 1.0, column);
        column.iter().zip(norms.iter_mut()).for_each(|(a, n)| *n += a * a);
    }
    for n in norms.iter_mut() {
        *n = n.sqrt();
    }
    sizes.clear();
    sizes.extend((0..columns.len()).map(|k| {
        column.fill(0.0);
        columns.add(k, 1.0, column);
        let relative = column.iter().zip(norms.iter()).map(|(a, n)| if *n > 0.0 { a / n } else { 0.0 });
        relative.map(|r| r * r).sum::<f64>().sqrt()
    }));
    space.norms.clear();
    space.norms.extend_from_slice(norms);
}

impl<C: Columns + ?Sized, H: SeparableTerm + ?Sized> Separable<'_, C, H> {
    /// The largest derivative that the prox of coordinate k has, over D.
    fn weight(model: &Model<'_>, h: &H, k: usize) -> f64 {
        1.0 / (model.metric[k] + h.piece(model.coordinates[k]).map_or(0.0, |piece| piece.l2))
    }
}

impl<C: Columns + ?Sized, H: SeparableTerm + ?Sized> Dual for Separable<'_, C, H> {
    fn rows(&self) -> usize {
        self.rows.columns.rows()
    }

    fn measure(&mut self, norms: &mut [f64], gram: &mut [f64]) {
        let (model, h) = (self.model, self.h);
        let weight = |k| Self::weight(model, h, k);
        measure_rows(self.rows.columns, weight, self.space, norms, gram, self.stop);
    }

    fn evaluate(&mut self, lambda: &[f64], phi: &mut [f64]) -> Height {
        let (model, columns) = (self.model, self.rows.columns);
        let (mut sum, mut now, mut moved, mut noise) = (Height::default(), 0.0, 0.0, 0.0);
        phi.iter_mut().zip(self.rows.shift).for_each(|(phi, shift)| *phi = -shift);
        let multipliers = self.space.size_of(lambda);
        for (k, z) in self.z.iter_mut().enumerate() {
            let (c, x, g, d) = (model.coordinates[k], model.x[k], model.gradient[k], model.metric[k]);
            let slope = columns.dot(k, lambda);
            let v = model.target(k, slope);
            *z = self.h.prox(c, v, d);
            let p = self.h.prox_slope(c, v, d) / d;
            self.space.slopes[k] = p;
            let step = *z - x;
            columns.add(k, step, phi);
            let value = self.h.value(c, *z);
            sum.q += (g + slope) * step + 0.5 * d * step * step + value;
            let size = self.space.sizes[k];
            let pull = g.abs() + size * multipliers;
            sum.magnitude += pull * step.abs() + 0.5 * d * step * step + value.abs();
            now += if step == 0.0 { 0.0 } else { (size * x).powi(2) };
            moved += (size * step).powi(2);
            noise += (size * pull * p).powi(2);
            self.space.rounding[k] = if p > 0.0 { x.abs() + pull * p } else { 0.0 };
        }
        let fixed: f64 = lambda.iter().zip(self.rows.shift).map(|(l, s)| l * s).sum();
        sum.q -= fixed;
        sum.magnitude += fixed.abs();
        sum.size = Size { now: now.sqrt(), moved: moved.sqrt(), real: false };
        sum.noise = noise.sqrt();
        sum
    }

    fn add_jacobian(&mut self, gram: &mut [f64]) {
        let m = self.rows.columns.rows();
        for (k, &p) in self.space.slopes.iter().enumerate() {
            if gives_up(k, m, self.stop) {
                return;
            }
            if p > 0.0 {
                self.rows.columns.add_outer(k, p, gram);
            }
        }
    }

    fn residual(&mut self, phi: &mut [f64]) -> Size {
        residual_of(self.model, self.rows, self.space, self.z, phi)
    }

    fn correct(&mut self, delta: &[f64]) -> bool {
        let mut straight = true;
        for (k, z) in self.z.iter_mut().enumerate() {
            let p = self.space.slopes[k];
            if p > 0.0 {
                let free = *z - p * self.rows.columns.dot(k, delta);
                *z = within(free, stretch(self.h, self.model.coordinates[k], *z));
                if *z != free {
                    self.space.slopes[k] = 0.0;
                    straight = false;
                }
            }
        }
        straight
    }

    fn loosen(&mut self) {
        for k in 0..self.model.len() {
            let (lower, upper) = self.h.domain(self.model.coordinates[k]);
            self.space.slopes[k] = if lower < upper { 1.0 / self.model.metric[k] } else { 0.0 };
        }
    }

    fn change(&self) -> f64 {
        let model = self.model;
        let one = |k: usize| {
            let (c, z, x) = (model.coordinates[k], self.z[k], model.x[k]);
            model.smooth_change(k, z - x) + (self.h.value(c, z) - self.h.value(c, x))
        };
        (0..model.len()).map(one).sum()
    }

    fn stay(&mut self, only_coupled: bool) {
        stay(self.model, self.space, only_coupled, self.z);
    }
}

/// `A (z - x) - shift`, and the size of its terms in units of the rows' norms. Columns are added up in runs, so
/// that the rounding error does not grow with their number.
pub(super) fn residual_of<C: Columns + ?Sized>(
    model: &Model<'_>,
    rows: Rows<'_, C>,
    space: &mut dual::CoordinateSpace,
    z: &[f64],
    phi: &mut [f64],
) -> Size {
    const RUN: usize = 256;
    phi.iter_mut().zip(rows.shift).for_each(|(phi, shift)| *phi = -shift);
    let (mut now, mut moved, mut real) = (0.0, 0.0, false);
    for first in (0..z.len()).step_by(RUN) {
        space.column.fill(0.0);
        for k in first..z.len().min(first + RUN) {
            let (x, step, size) = (model.x[k], z[k] - model.x[k], space.sizes[k]);
            rows.columns.add(k, step, &mut space.column);
            now += if step == 0.0 { 0.0 } else { (size * x).powi(2) };
            moved += (size * step).powi(2);
            real |= size > 0.0 && step.abs() > NO_STEP * space.rounding[k];
        }
        phi.iter_mut().zip(&space.column).for_each(|(phi, part)| *phi += part);
    }
    Size { now: now.sqrt(), moved: moved.sqrt(), real }
}

/// z = x, for all coordinates or for those in some row.
pub(super) fn stay(model: &Model<'_>, space: &dual::CoordinateSpace, only_coupled: bool, z: &mut [f64]) {
    for ((z, x), size) in z.iter_mut().zip(model.x).zip(&space.sizes) {
        if !only_coupled || *size > 0.0 {
            *z = *x;
        }
    }
}
