//! Group norms `h(z) = sum_b weight_b ||z_b||` with any number of rows: semismooth Newton on the dual.
//!
//! ```text
//! v_b = x_b - (g_b + A_b'lambda)/D_b,   z_b = (1 - weight_b/(D_b ||v_b||))_+ v_b,
//! J = sum_b A_b (alpha_b I + beta_b v_b v_b') A_b' / D_b
//! ```
//!
//! | symbol | meaning |
//! |---|---|
//! | b | a group: a block of the problem, at a range of the local coordinates |
//! | `D_b` | its metric, the same for all its coordinates (the entry of its first one is taken) |
//! | alpha, beta | derivative of the prox of the norm, see [`GroupL2::prox_slope`] |
//!
//! Given two blocks in a pair step, or all of them in a full step; returns z and lambda. A group whose `v_b` is within
//! `weight/D` of 0 is exactly 0. Must not know: random numbers, threads, which pair.

use std::ops::Range;

use super::dual::{self, Dual, Height, Outcome, Size, Workspace};
use super::newton::{measure_rows, residual_of, stay};
use super::{Columns, Model, Rows};
use crate::separable::{GroupL2, norm};

/// One block of the problem and where its coordinates are in the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Group {
    /// The block, for the weight of its norm.
    pub(crate) block: usize,
    /// Its local coordinates.
    pub(crate) range: Range<usize>,
}

/// The norms on the groups of the model; the ranges cover it without overlap.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Groups<'a> {
    /// The weights.
    pub(crate) term: &'a GroupL2,
    /// The groups.
    pub(crate) list: &'a [Group],
}

struct Grouped<'a, C: ?Sized> {
    model: &'a Model<'a>,
    rows: Rows<'a, C>,
    h: Groups<'a>,
    space: &'a mut dual::CoordinateSpace,
    z: &'a mut [f64],
    stop: &'a dyn Fn() -> bool,
}

/// The new values without rows: every group takes its own prox step.
pub(crate) fn solve_free(model: &Model<'_>, h: Groups<'_>, z: &mut [f64], workspace: &mut Workspace) {
    let v = &mut workspace.coordinates.slopes;
    v.clear();
    v.extend((0..model.len()).map(|k| model.target(k, 0.0)));
    for group in h.list.iter().filter(|group| !group.range.is_empty()) {
        let (range, d) = (group.range.clone(), model.metric[group.range.start]);
        h.term.prox(group.block, &v[range.clone()], d, &mut z[range]);
    }
}

/// The new values, into `z`; `lambda` holds the first guess and then the multipliers. No row is allowed too.
/// Given up (z = x) soon after `stop` says so: for models so large that a solve takes long.
pub(crate) fn solve<C: Columns + ?Sized>(
    model: &Model<'_>,
    rows: Rows<'_, C>,
    h: Groups<'_>,
    lambda: &mut [f64],
    workspace: &mut Workspace,
    z: &mut [f64],
    stop: &dyn Fn() -> bool,
) -> Outcome {
    let pair_step = rows.shift.iter().all(|s| *s == 0.0);
    let space = &mut workspace.coordinates;
    space.slopes.resize(model.len(), 0.0);
    space.rounding.resize(model.len(), 0.0);
    space.groups.clear();
    space.groups.resize(h.list.len(), (0.0, 0.0));
    let mut grouped = Grouped { model, rows, h, space, z, stop };
    dual::solve(&mut grouped, lambda, pair_step, &mut workspace.rows, stop)
}

impl<C: Columns + ?Sized> Grouped<'_, C> {
    /// `D_b` of the group at that place in the list; `None` when it has no coordinate.
    fn metric(&self, place: usize) -> Option<f64> {
        let range = &self.h.list[place].range;
        (!range.is_empty()).then(|| self.model.metric[range.start])
    }
}

impl<C: Columns + ?Sized> Dual for Grouped<'_, C> {
    fn rows(&self) -> usize {
        self.rows.columns.rows()
    }

    fn measure(&mut self, norms: &mut [f64], gram: &mut [f64]) {
        let metric = self.model.metric;
        measure_rows(self.rows.columns, |k| 1.0 / metric[k], self.space, norms, gram, self.stop);
    }

    fn evaluate(&mut self, lambda: &[f64], phi: &mut [f64]) -> Height {
        let (model, columns) = (self.model, self.rows.columns);
        let (mut sum, mut now, mut moved, mut noise) = (Height::default(), 0.0, 0.0, 0.0);
        phi.iter_mut().zip(self.rows.shift).for_each(|(phi, shift)| *phi = -shift);
        let multipliers = self.space.size_of(lambda);
        for (place, group) in self.h.list.iter().enumerate() {
            let Some(d) = self.metric(place) else {
                continue;
            };
            let range = group.range.clone();
            for k in range.clone() {
                self.space.slopes[k] = model.target(k, columns.dot(k, lambda));
            }
            let v = &self.space.slopes[range.clone()];
            self.h.term.prox(group.block, v, d, &mut self.z[range.clone()]);
            let (alpha, beta) = self.h.term.prox_slope(group.block, v, d);
            self.space.groups[place] = (alpha / d, beta / d);
            let rounding = if alpha > 0.0 { norm(v) } else { 0.0 };
            self.space.rounding[range.clone()].fill(rounding);
            let value = self.h.term.value(group.block, &self.z[range.clone()]);
            sum.q += value;
            sum.magnitude += value;
            for k in range {
                let (x, g, size) = (model.x[k], model.gradient[k], self.space.sizes[k]);
                let step = self.z[k] - x;
                let slope = columns.dot(k, lambda);
                let pull = g.abs() + size * multipliers;
                columns.add(k, step, phi);
                sum.q += (g + slope) * step + 0.5 * d * step * step;
                sum.magnitude += pull * step.abs() + 0.5 * d * step * step;
                now += if step == 0.0 { 0.0 } else { (size * x).powi(2) };
                moved += (size * step).powi(2);
                noise += if alpha > 0.0 { (size * pull / d).powi(2) } else { 0.0 };
            }
        }
        let fixed: f64 = lambda.iter().zip(self.rows.shift).map(|(l, s)| l * s).sum();
        sum.q -= fixed;
        sum.magnitude += fixed.abs();
        sum.size = Size { now: now.sqrt(), moved: moved.sqrt(), real: false };
        sum.noise = noise.sqrt();
        sum
    }

    fn add_jacobian(&mut self, gram: &mut [f64]) {
        for (place, group) in self.h.list.iter().enumerate() {
            let (alpha, beta) = self.space.groups[place];
            if alpha <= 0.0 {
                continue;
            }
            self.space.column.fill(0.0);
            for k in group.range.clone() {
                self.rows.columns.add_outer(k, alpha, gram);
                self.rows.columns.add(k, self.space.slopes[k], &mut self.space.column);
            }
            super::kernels::add_outer(beta, &self.space.column, gram);
        }
    }

    fn residual(&mut self, phi: &mut [f64]) -> Size {
        residual_of(self.model, self.rows, self.space, self.z, phi)
    }

    fn correct(&mut self, delta: &[f64]) -> bool {
        for (place, group) in self.h.list.iter().enumerate() {
            let (alpha, beta) = self.space.groups[place];
            if alpha <= 0.0 {
                continue;
            }
            let columns = self.rows.columns;
            let along: f64 = group.range.clone().map(|k| self.space.slopes[k] * columns.dot(k, delta)).sum();
            for k in group.range.clone() {
                self.z[k] -= alpha * columns.dot(k, delta) + beta * along * self.space.slopes[k];
            }
        }
        true
    }

    fn loosen(&mut self) {
        for place in 0..self.h.list.len() {
            if let Some(d) = self.metric(place) {
                self.space.groups[place] = (1.0 / d, 0.0);
            }
        }
    }

    /// Least squares for `g + A'lambda + weight x/||x|| = 0`. Where the rows hardly let a group move and its weight is
    /// large beside D ||x||, the multipliers lie on a thin shell that Newton would follow in small steps.
    fn suggest(&self, r: &mut [f64]) -> bool {
        r.fill(0.0);
        for (place, group) in self.h.list.iter().enumerate() {
            let Some(d) = self.metric(place) else {
                continue;
            };
            let x = &self.model.x[group.range.clone()];
            let size = norm(x);
            let weight = if size > 0.0 { self.h.term.weight(group.block) / size } else { 0.0 };
            for k in group.range.clone() {
                let pull = self.model.gradient[k] + weight * self.model.x[k];
                self.rows.columns.add(k, -pull / d, r);
            }
        }
        true
    }

    fn change(&self) -> f64 {
        let norms = self.h.list.iter().map(|group| {
            let value = |x: &[f64]| self.h.term.value(group.block, &x[group.range.clone()]);
            value(self.z) - value(self.model.x)
        });
        let smooth = (0..self.model.len()).map(|k| self.model.smooth_change(k, self.z[k] - self.model.x[k]));
        norms.sum::<f64>() + smooth.sum::<f64>()
    }

    fn stay(&mut self, only_coupled: bool) {
        stay(self.model, self.space, only_coupled, self.z);
    }
}
