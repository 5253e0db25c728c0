//! The distance of `s = -(grad f + A'lambda)` from the subdifferential of h at x.
//!
//! For a sum over coordinates the subdifferential is an interval a coordinate; for group norms a ball
//! or a point a block. `r = s - projection of s`; x is optimal for lambda exactly when r = 0.

use crate::control::{Control, Pass};
use crate::coupling::{Coupling, Outers};
use crate::matrix::dot;
use crate::problem::View;
use crate::separable::{GroupL2, Nonsmooth, norm};

/// The optimality conditions of a problem at a fixed x.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Residuals<'a> {
    pub(crate) view: View<'a>,
    pub(crate) x: &'a [f64],
    /// Every so many-th coordinate, or block of a group norm, is looked at.
    stride: usize,
}

impl<'a> Residuals<'a> {
    pub(crate) fn new(view: View<'a>, x: &'a [f64]) -> Self {
        Self { view, x, stride: 1 }
    }

    /// The same on a sample: every `stride`-th coordinate or block.
    pub(super) fn sampled(self, stride: usize) -> Self {
        Self { stride, ..self }
    }

    pub(crate) fn coupling(&self) -> &'a Coupling {
        self.view.independent_coupling()
    }

    /// Goes over `0..count` by the stride, each of about so many numbers.
    fn in_parts(&self, count: usize, each: usize, control: &Control, mut visit: impl FnMut(usize)) -> Pass {
        control.in_parts(count.div_ceil(self.stride), each, |part| {
            part.for_each(|k| visit(k * self.stride));
        })
    }

    /// Calls `visit(c, r_c)` for every coordinate whose residual is not zero; `each` is about how many numbers s and the
    /// visit of one read.
    pub(crate) fn for_each(
        &self,
        each: usize,
        control: &Control,
        s: impl Fn(usize) -> f64,
        mut visit: impl FnMut(usize, f64),
    ) -> Pass {
        match self.view.separable() {
            Nonsmooth::Coordinates(h) => self.in_parts(self.x.len(), each, control, |c| {
                let (lo, hi) = h.subdifferential(c, self.x[c]);
                let s = s(c);
                // Not `clamp`: an empty interval (x outside the domain) must not panic.
                let r = s - s.max(lo).min(hi);
                if r != 0.0 {
                    visit(c, r);
                }
            }),
            Nonsmooth::Groups(h) => self.for_each_group(h, each, control, s, |i, group| {
                for (c, &r) in self.view.blocks().coordinates(i).zip(&group.residual) {
                    if r != 0.0 {
                        visit(c, r);
                    }
                }
            }),
        }
    }

    /// Calls `visit(i, group)` for every block of a group norm.
    fn for_each_group(
        &self,
        h: &GroupL2,
        each: usize,
        control: &Control,
        s: impl Fn(usize) -> f64,
        mut visit: impl FnMut(usize, &GroupAt),
    ) -> Pass {
        let blocks = self.view.blocks();
        let mut group = GroupAt::default();
        let each = each * self.x.len().div_ceil(blocks.len().max(1));
        self.in_parts(blocks.len(), each, control, |i| {
            group.x.clear();
            group.s.clear();
            group.x.extend(blocks.coordinates(i).map(|c| self.x[c]));
            group.s.extend(blocks.coordinates(i).map(&s));
            group.residual.resize(group.s.len(), 0.0);
            h.subdifferential_residual(i, &group.x, &group.s, &mut group.residual);
            group.weight = h.weight(i);
            visit(i, &group);
        })
    }

    /// `1/2 sum r^2` as a function of lambda: adds A r to `descent` (minus the gradient) and the second derivative
    /// to the lower triangle of `hessian`; returns the value.
    pub(super) fn accumulate(
        &self,
        s: impl Fn(usize) -> f64,
        descent: &mut [f64],
        hessian: &mut [f64],
        control: &Control,
    ) -> Pass<f64> {
        let (coupling, each) = (self.coupling(), self.numbers_per_outer());
        let mut value = 0.0;
        let h = match self.view.separable() {
            Nonsmooth::Coordinates(_) => {
                let mut outers = Outers::new(coupling, hessian);
                self.for_each(each, control, s, |c, r| {
                    value += 0.5 * r * r;
                    coupling.add_column(c, r, descent);
                    outers.add(c, 1.0);
                })?;
                outers.finish();
                return Ok(value);
            }
            Nonsmooth::Groups(h) => h,
        };
        let m = descent.len();
        let mut pull = vec![0.0; m];
        self.for_each_group(h, each, control, s, |i, group| {
            value += 0.5 * dot(&group.residual, &group.residual);
            // r = s - fixed where x is not zero; r = (1 - weight/|s|)_+ s where it is.
            let size = norm(&group.s);
            let (along, across) = match (norm(&group.x) > 0.0, size > group.weight) {
                (true, _) => (1.0, 0.0),
                (false, true) => (1.0 - group.weight / size, group.weight / (size * size * size)),
                (false, false) => (0.0, 0.0),
            };
            pull.fill(0.0);
            for (k, c) in self.view.blocks().coordinates(i).enumerate() {
                coupling.add_column(c, group.residual[k], descent);
                coupling.add_outer(c, along, hessian);
                coupling.add_column(c, group.s[k], &mut pull);
            }
            for column in 0..m {
                for row in column..m {
                    hessian[column * m + row] += across * pull[column] * pull[row];
                }
            }
        })?;
        Ok(value)
    }

    /// About how many numbers the outer product of a column reads and writes.
    fn numbers_per_outer(&self) -> usize {
        let each = self.coupling().numbers_per_column();
        each + each * each / 2
    }

    /// The largest residual over the coordinates; `None` where one of them is no number.
    pub(crate) fn largest(&self, s: &[f64], control: &Control) -> Pass<Option<f64>> {
        let mut most: f64 = 0.0;
        let mut broken = false;
        self.for_each(
            NUMBERS_OF_H,
            control,
            |c| s[c],
            |_, r| {
                most = most.max(r.abs());
                broken |= r.is_nan();
            },
        )?;
        Ok((!broken).then_some(most))
    }

    /// What the largest of the residuals may be worth: each times the distance that its coordinate may still go.
    pub(super) fn worth(&self, s: &[f64], objective: f64, control: &Control) -> Pass<f64> {
        let f = self.view.smooth();
        let domain = |c: usize| match self.view.separable() {
            Nonsmooth::Coordinates(h) => h.domain(c),
            Nonsmooth::Groups(_) => (f64::NEG_INFINITY, f64::INFINITY),
        };
        let far = 1e3 * (1.0 + self.x.iter().fold(0.0, |most: f64, x| most.max(x.abs())));
        let mut most: f64 = 0.0;
        self.for_each(
            NUMBERS_OF_H,
            control,
            |c| s[c],
            |c, r| {
                let curvature = f.curvature(c);
                let bend = if curvature > 0.0 { ((1.0 + objective.abs()) / curvature).sqrt() } else { far };
                let (lower, upper) = domain(c);
                let worth = r.abs() * (self.x[c].abs() + bend).min(upper - lower);
                most = if worth.is_nan() { f64::INFINITY } else { most.max(worth) };
            },
        )?;
        Ok(most)
    }

    /// Calls `visit(c, slope)` for every coordinate whose subdifferential is one point: `s_c` must equal it.
    pub(super) fn for_each_pinned(&self, control: &Control, mut visit: impl FnMut(usize, f64)) -> Pass {
        let each = self.numbers_per_outer();
        match self.view.separable() {
            Nonsmooth::Coordinates(h) => self.in_parts(self.x.len(), each, control, |c| {
                let (lo, hi) = h.subdifferential(c, self.x[c]);
                if lo == hi {
                    visit(c, lo);
                }
            }),
            Nonsmooth::Groups(h) => self.for_each_group(
                h,
                each,
                control,
                |_| 0.0,
                |i, group| {
                    let size = norm(&group.x);
                    for (k, c) in self.view.blocks().coordinates(i).enumerate() {
                        if size > 0.0 {
                            visit(c, group.weight * group.x[k] / size);
                        }
                    }
                },
            ),
        }
    }
}

/// Numbers that a look at one coordinate of h counts for.
pub(crate) const NUMBERS_OF_H: usize = 8;

/// One block of a group norm: x, s and the residual on it.
#[derive(Debug, Default)]
struct GroupAt {
    x: Vec<f64>,
    s: Vec<f64>,
    residual: Vec<f64>,
    weight: f64,
}
