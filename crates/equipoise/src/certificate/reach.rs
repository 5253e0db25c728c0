//! How far from 0 the points can be that matter: those whose objective is no larger than that of x.
//!
//! A dual point whose s misses the domain of h* on coordinate c by `miss_c` proves nothing over all z, but over an interval
//! `|z_c| <= R_c` it proves a bound that is worse by `miss_c R_c`. So the certificate asks for intervals that hold every
//! feasible z with `f(z) + h(z) <= f(x) + h(x)`; such points exist (x is one, up to its own infeasibility), and the
//! optimum is among them. Intervals come from
//!
//! 1. the domain of h;
//! 2. the penalty: `h_c(z_c)` is at most the objective less the least value of f;
//! 3. the rows: a sum whose other terms are bounded bounds the last;
//! 4. f: `f(z)` is at most the objective, and a loss of `M z` bounds `M z`.
//!
//! Each is proven. A coordinate of which none of them says anything gets a box: [`FAR`] times the size of x and of the
//! length along which f bends by the objective. What is then said holds for points in that box, and the certificate says
//! so.

use crate::certificate::residual::Residuals;
use crate::control::{Control, Pass};
use crate::enclosure::above;
use crate::matrix::max_abs;
use crate::separable::Nonsmooth;

/// The box of a coordinate of which nothing is proven, in units of its natural size.
const FAR: f64 = 1e4;

/// Intervals for every coordinate.
#[derive(Debug)]
pub(super) struct Reach {
    pub(super) within: Vec<(f64, f64)>,
    /// The coordinates whose interval is a box that was not proven.
    pub(super) assumed: Vec<bool>,
}

impl Reach {
    /// For all points whose objective is at most `level`; `thorough` asks the rows and f as well.
    pub(super) fn new(
        residuals: &Residuals<'_>,
        level: f64,
        thorough: bool,
        control: &Control,
    ) -> Pass<Self> {
        let (view, x) = (residuals.view, residuals.x);
        let f = view.smooth();
        let n = x.len();
        let mut within = vec![(f64::NEG_INFINITY, f64::INFINITY); n];
        let left_for_h = above((level - f.least_value()).max(0.0));
        match view.separable() {
            Nonsmooth::Coordinates(h) => {
                let bounded_below = left_for_h.is_finite() && h.is_non_negative(n);
                for (c, within) in within.iter_mut().enumerate() {
                    *within = h.domain(c);
                    if bounded_below {
                        let (lo, hi) = h.level_set(c, left_for_h);
                        *within = (within.0.max(lo), within.1.min(hi));
                    }
                }
            }
            Nonsmooth::Groups(h) if left_for_h.is_finite() => {
                for i in 0..view.blocks().len() {
                    let most = above(left_for_h / h.weight(i));
                    if h.weight(i) > 0.0 {
                        view.blocks().coordinates(i).for_each(|c| within[c] = (-most, most));
                    }
                }
            }
            Nonsmooth::Groups(_) => {}
        }
        let is_open = |within: &[(f64, f64)]| within.iter().any(|(lo, hi)| !(hi - lo).is_finite());
        let h_is_non_negative = match view.separable() {
            Nonsmooth::Coordinates(h) => h.is_non_negative(n),
            Nonsmooth::Groups(_) => true,
        };
        if thorough && is_open(&within) {
            residuals.coupling().narrow(&mut within, control)?;
            if h_is_non_negative && is_open(&within) {
                f.narrow(level, &mut within, control)?;
                residuals.coupling().narrow(&mut within, control)?;
            }
        }
        let size = max_abs(x);
        let mut assumed = vec![false; n];
        for (c, (lo, hi)) in within.iter_mut().enumerate() {
            if !(lo.is_finite() && hi.is_finite()) {
                assumed[c] = true;
                let curvature = f.curvature(c);
                let natural =
                    if curvature > 0.0 { ((1.0 + level.abs()) / curvature).sqrt() } else { 1.0 + size };
                let far = FAR * (size + natural);
                *lo = lo.max(-far).min(x[c]);
                *hi = hi.min(far).max(x[c]);
            }
        }
        Ok(Self { within, assumed })
    }

    /// The size of the largest z in the interval of coordinate c.
    pub(super) fn of(&self, c: usize) -> f64 {
        self.within[c].0.abs().max(self.within[c].1.abs())
    }
}
