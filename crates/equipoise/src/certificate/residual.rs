//! The distance of `s = -(grad f + A'lambda)` from the subdifferential of h at x.
//!
//! For a sum over coordinates the subdifferential is an interval a coordinate; for group norms a ball
//! or a point a block. `r = s - projection of s`; x is optimal for lambda exactly when r = 0.

use crate::coupling::{Coupling, Outers};
use crate::matrix::dot;
use crate::problem::Problem;
use crate::separable::{Nonsmooth, SeparableTerm, norm};
use crate::smooth::SmoothTerm;

/// The optimality conditions of a problem at a fixed x.
#[derive(Debug)]
pub(crate) struct Residuals<'a, F, H> {
    pub(crate) problem: &'a Problem<F, H>,
    pub(crate) x: &'a [f64],
}

impl<'a, F: SmoothTerm, H: SeparableTerm> Residuals<'a, F, H> {
    pub(crate) fn new(problem: &'a Problem<F, H>, x: &'a [f64]) -> Self {
        Self { problem, x }
    }

    pub(crate) fn coupling(&self) -> &'a Coupling {
        self.problem.independent_coupling()
    }

    /// Calls `visit(c, r_c)` for every coordinate whose residual is not zero.
    pub(crate) fn for_each(&self, s: impl Fn(usize) -> f64, mut visit: impl FnMut(usize, f64)) {
        match self.problem.separable() {
            Nonsmooth::Coordinates(h) => {
                for c in 0..self.x.len() {
                    let (lo, hi) = h.subdifferential(c, self.x[c]);
                    let s = s(c);
                    // Not `clamp`: an empty interval (x outside the domain) must not panic.
                    let r = s - s.max(lo).min(hi);
                    if r != 0.0 {
                        visit(c, r);
                    }
                }
            }
            Nonsmooth::Groups(_) => self.for_each_group(s, |i, group| {
                for (c, &r) in self.problem.blocks().coordinates(i).zip(&group.residual) {
                    if r != 0.0 {
                        visit(c, r);
                    }
                }
            }),
        }
    }

    /// Calls `visit(i, group)` for every block of a group norm.
    fn for_each_group(&self, s: impl Fn(usize) -> f64, mut visit: impl FnMut(usize, &GroupAt)) {
        let Nonsmooth::Groups(h) = self.problem.separable() else { return };
        let blocks = self.problem.blocks();
        let mut group = GroupAt::default();
        for i in 0..blocks.len() {
            group.x.clear();
            group.s.clear();
            group.x.extend(blocks.coordinates(i).map(|c| self.x[c]));
            group.s.extend(blocks.coordinates(i).map(&s));
            group.residual.resize(group.s.len(), 0.0);
            h.subdifferential_residual(i, &group.x, &group.s, &mut group.residual);
            group.weight = h.weight(i);
            visit(i, &group);
        }
    }

    /// `1/2 sum r^2` as a function of lambda: adds A r to `descent` (minus the gradient) and the second derivative
    /// to the lower triangle of `hessian`; returns the value.
    pub(super) fn accumulate(
        &self,
        s: impl Fn(usize) -> f64,
        descent: &mut [f64],
        hessian: &mut [f64],
    ) -> f64 {
        let coupling = self.coupling();
        let mut value = 0.0;
        if let Nonsmooth::Coordinates(_) = self.problem.separable() {
            let mut outers = Outers::new(coupling, hessian);
            self.for_each(s, |c, r| {
                value += 0.5 * r * r;
                coupling.add_column(c, r, descent);
                outers.add(c, 1.0);
            });
            outers.finish();
            return value;
        }
        let m = descent.len();
        let mut pull = vec![0.0; m];
        self.for_each_group(s, |i, group| {
            value += 0.5 * dot(&group.residual, &group.residual);
            // r = s - fixed where x is not zero; r = (1 - weight/|s|)_+ s where it is.
            let size = norm(&group.s);
            let (along, across) = match (norm(&group.x) > 0.0, size > group.weight) {
                (true, _) => (1.0, 0.0),
                (false, true) => (1.0 - group.weight / size, group.weight / (size * size * size)),
                (false, false) => (0.0, 0.0),
            };
            pull.fill(0.0);
            for (k, c) in self.problem.blocks().coordinates(i).enumerate() {
                coupling.add_column(c, group.residual[k], descent);
                coupling.add_outer(c, along, hessian);
                coupling.add_column(c, group.s[k], &mut pull);
            }
            for column in 0..m {
                for row in column..m {
                    hessian[column * m + row] += across * pull[column] * pull[row];
                }
            }
        });
        value
    }

    /// The largest residual over the coordinates.
    pub(crate) fn largest(&self, s: &[f64]) -> f64 {
        let mut most: f64 = 0.0;
        let mut broken = false;
        self.for_each(
            |c| s[c],
            |_, r| {
                most = most.max(r.abs());
                broken |= r.is_nan();
            },
        );
        if broken { f64::NAN } else { most }
    }

    /// Calls `visit(c, slope)` for every coordinate whose subdifferential is one point: `s_c` must equal it.
    pub(super) fn for_each_pinned(&self, mut visit: impl FnMut(usize, f64)) {
        match self.problem.separable() {
            Nonsmooth::Coordinates(h) => {
                for c in 0..self.x.len() {
                    let (lo, hi) = h.subdifferential(c, self.x[c]);
                    if lo == hi {
                        visit(c, lo);
                    }
                }
            }
            Nonsmooth::Groups(_) => self.for_each_group(
                |_| 0.0,
                |i, group| {
                    let size = norm(&group.x);
                    for (k, c) in self.problem.blocks().coordinates(i).enumerate() {
                        if size > 0.0 {
                            visit(c, group.weight * group.x[k] / size);
                        }
                    }
                },
            ),
        }
    }
}

/// One block of a group norm: x, s and the residual on it.
#[derive(Debug, Default)]
struct GroupAt {
    x: Vec<f64>,
    s: Vec<f64>,
    residual: Vec<f64>,
    weight: f64,
}
