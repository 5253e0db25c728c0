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
/// The same where f is only known to be convex up to rounding, which costs the square of the distance.
const NEAR: f64 = 30.0;

/// Intervals for every coordinate.
#[derive(Debug)]
pub(super) struct Reach<'a> {
    residuals: Residuals<'a>,
    level: f64,
    /// What of the level f leaves to h; infinite where nothing is known of f or h.
    left_for_h: f64,
    /// The largest size of an entry of x.
    size: f64,
    /// The proven intervals, where more than the domain and the penalty had to be asked.
    narrowed: Option<Vec<(f64, f64)>>,
}

fn is_open((lo, hi): (f64, f64)) -> bool {
    !(lo.is_finite() && hi.is_finite())
}

impl<'a> Reach<'a> {
    /// For all points whose objective is at most `level`; `thorough` asks the rows and f as well.
    pub(super) fn new(
        residuals: &Residuals<'a>,
        level: f64,
        thorough: bool,
        control: &Control,
    ) -> Pass<Self> {
        let (view, x) = (residuals.view, residuals.x);
        let (f, n) = (view.smooth(), x.len());
        let (is_non_negative, has_groups) = match view.separable() {
            Nonsmooth::Coordinates(h) => (h.is_non_negative(n), false),
            Nonsmooth::Groups(_) => (true, true),
        };
        let left_for_h =
            if is_non_negative { above((level - f.least_value()).max(0.0)) } else { f64::INFINITY };
        let mut reach = Self { residuals: *residuals, level, left_for_h, size: max_abs(x), narrowed: None };
        if has_groups || (thorough && (0..n).any(|c| is_open(reach.of_coordinate(c)))) {
            let mut within: Vec<(f64, f64)> = (0..n).map(|c| reach.of_coordinate(c)).collect();
            reach.narrow_groups(&mut within);
            if thorough {
                residuals.coupling().narrow(&mut within, control)?;
                if is_non_negative && within.iter().any(|within| is_open(*within)) {
                    f.narrow(level, &mut within, control)?;
                    residuals.coupling().narrow(&mut within, control)?;
                }
            }
            reach.narrowed = Some(within);
        }
        Ok(reach)
    }

    /// What the domain and the penalty of one coordinate prove.
    fn of_coordinate(&self, c: usize) -> (f64, f64) {
        match self.residuals.view.separable() {
            Nonsmooth::Coordinates(h) => {
                let (lower, upper) = h.domain(c);
                if !self.left_for_h.is_finite() {
                    return (lower, upper);
                }
                let (lo, hi) = h.level_set(c, self.left_for_h);
                (lower.max(lo), upper.min(hi))
            }
            Nonsmooth::Groups(_) => (f64::NEG_INFINITY, f64::INFINITY),
        }
    }

    /// What the norms of blocks prove.
    fn narrow_groups(&self, within: &mut [(f64, f64)]) {
        let Nonsmooth::Groups(h) = self.residuals.view.separable() else { return };
        let blocks = self.residuals.view.blocks();
        for i in (0..blocks.len()).filter(|&i| h.weight(i) > 0.0 && self.left_for_h.is_finite()) {
            let most = above(self.left_for_h / h.weight(i));
            blocks.coordinates(i).for_each(|c| within[c] = (-most, most));
        }
    }

    fn known(&self, c: usize) -> (f64, f64) {
        self.narrowed.as_ref().map_or_else(|| self.of_coordinate(c), |narrowed| narrowed[c])
    }

    /// What is known of coordinate c, within so many natural lengths.
    fn boxed(&self, c: usize, lengths: f64) -> (f64, f64) {
        let (x, curvature) = (self.residuals.x[c], self.residuals.view.smooth().curvature(c));
        let bend =
            if curvature > 0.0 { ((1.0 + self.level.abs()) / curvature).sqrt() } else { 1.0 + self.size };
        let ((lo, hi), most) = (self.known(c), lengths * (x.abs() + bend));
        (lo.max(-most).min(x), hi.min(most).max(x))
    }

    /// The interval of coordinate c.
    pub(super) fn within(&self, c: usize) -> (f64, f64) {
        let known = self.known(c);
        if is_open(known) { self.boxed(c, FAR) } else { known }
    }

    /// Whether the interval of coordinate c is a box that was not proven.
    pub(super) fn is_assumed(&self, c: usize) -> bool {
        is_open(self.known(c))
    }

    /// Smaller boxes for all coordinates, and the least size of one that is smaller than what is known.
    pub(super) fn nearby(&self) -> (Vec<(f64, f64)>, Option<f64>) {
        let boxes: Vec<(f64, f64)> = (0..self.residuals.x.len()).map(|c| self.boxed(c, NEAR)).collect();
        let smaller = boxes.iter().enumerate().filter(|(c, near)| **near != self.known(*c));
        let least = smaller.map(|(_, near)| near.0.abs().max(near.1.abs())).reduce(f64::min);
        (boxes, least)
    }

    /// The size of the largest z in the interval of coordinate c.
    pub(super) fn of(&self, c: usize) -> f64 {
        let (lo, hi) = self.within(c);
        lo.abs().max(hi.abs())
    }
}
