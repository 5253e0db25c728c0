//! The distance of `s = -(grad f + A'lambda)` from the subdifferential of h at x.
//!
//! For a sum over coordinates the subdifferential is an interval a coordinate; for group norms a ball
//! or a point a block. `r = s - projection of s`; x is optimal for lambda exactly when r = 0.

use crate::coupling::Coupling;
use crate::problem::Problem;
use crate::separable::{Nonsmooth, SeparableTerm};
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

    /// Calls `visit(c, r_c, weight)` for every coordinate whose residual is not zero; the weight is the
    /// derivative of `r_c` in `s_c` (for a group at zero, the part along the coordinates).
    pub(crate) fn for_each(&self, s: impl Fn(usize) -> f64, mut visit: impl FnMut(usize, f64, f64)) {
        match self.problem.separable() {
            Nonsmooth::Coordinates(h) => {
                for c in 0..self.x.len() {
                    let (lo, hi) = h.subdifferential(c, self.x[c]);
                    let s = s(c);
                    // Not `clamp`: an empty interval (x outside the domain) must not panic.
                    let r = s - s.max(lo).min(hi);
                    if r != 0.0 {
                        visit(c, r, 1.0);
                    }
                }
            }
            Nonsmooth::Groups(h) => {
                let blocks = self.problem.blocks();
                let (mut x, mut part, mut r) = (Vec::new(), Vec::new(), Vec::new());
                for i in 0..blocks.len() {
                    x.clear();
                    part.clear();
                    x.extend(blocks.coordinates(i).map(|c| self.x[c]));
                    part.extend(blocks.coordinates(i).map(&s));
                    r.resize(part.len(), 0.0);
                    h.subdifferential_residual(i, &x, &part, &mut r);
                    for (k, c) in blocks.coordinates(i).enumerate() {
                        if r[k] != 0.0 {
                            visit(c, r[k], if part[k] == 0.0 { 1.0 } else { (r[k] / part[k]).clamp(0.0, 1.0) });
                        }
                    }
                }
            }
        }
    }

    /// The largest residual over the coordinates.
    pub(crate) fn largest(&self, s: &[f64]) -> f64 {
        let mut most: f64 = 0.0;
        let mut broken = false;
        self.for_each(
            |c| s[c],
            |_, r, _| {
                most = most.max(r.abs());
                broken |= r.is_nan();
            },
        );
        if broken { f64::NAN } else { most }
    }

    /// Whether the subdifferential at coordinate c is a single point, so that `s_c` must equal it.
    pub(crate) fn pinned(&self, c: usize) -> Option<f64> {
        match self.problem.separable() {
            Nonsmooth::Coordinates(h) => {
                let (lo, hi) = h.subdifferential(c, self.x[c]);
                (lo == hi).then_some(lo)
            }
            Nonsmooth::Groups(_) => None,
        }
    }
}
