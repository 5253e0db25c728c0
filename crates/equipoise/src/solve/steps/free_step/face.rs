//! The face of x: which coordinates may move, which way, and how far until h changes its form.

use crate::certificate::{Residuals, estimate_multipliers};
use crate::problem::Problem;
use crate::separable::{Bounds, Nonsmooth, SeparableTerm};
use crate::smooth::SmoothTerm;
use crate::state::State;

/// Violations below this share of the largest stay where they are for now.
const SHARE_RELEASED: f64 = 1e-3;

/// How a coordinate may move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Held,
    Both,
    Up,
    Down,
}

/// The coordinates that may move and the smooth stretch that each lies on.
#[derive(Debug)]
pub(super) struct Face<'a, F, H> {
    problem: &'a Problem<F, H>,
    ways: Vec<Way>,
    /// grad f + grad h on the coordinates that may move, 0 elsewhere.
    pub(super) slope: Vec<f64>,
}

impl<'a, F: SmoothTerm, H: SeparableTerm> Face<'a, F, H> {
    /// The face at x; `None` when h has no pieces or nothing can move.
    pub(super) fn at(problem: &'a Problem<F, H>, state: &State, stop: &dyn Fn() -> bool) -> Option<Self> {
        let (f, x) = (problem.smooth(), &state.x);
        let mut slope = vec![0.0; x.len()];
        f.gradient(x, &state.product, &mut slope);
        let mut ways = vec![Way::Held; x.len()];
        match problem.separable() {
            Nonsmooth::Coordinates(h) if h.is_zero() => ways.fill(Way::Both),
            Nonsmooth::Coordinates(h) => open_coordinates(problem, h, x, &mut slope, &mut ways, stop)?,
            Nonsmooth::Groups(h) => {
                for i in 0..problem.blocks().len() {
                    let size = problem.blocks().coordinates(i).map(|c| x[c] * x[c]).sum::<f64>().sqrt();
                    for c in problem.blocks().coordinates(i) {
                        if size > 0.0 {
                            ways[c] = Way::Both;
                            slope[c] += h.weight(i) * x[c] / size;
                        } else {
                            slope[c] = 0.0;
                        }
                    }
                }
            }
        }
        ways.iter().any(|way| *way != Way::Held).then_some(Self { problem, ways, slope })
    }

    /// The term where it bounds or bends coordinates; `None` for no term and for group norms.
    fn term(&self) -> Option<&'a H> {
        match self.problem.separable() {
            Nonsmooth::Coordinates(h) if !h.is_zero() => Some(h),
            _ => None,
        }
    }

    /// Curvature of h along coordinate c.
    #[inline]
    pub(super) fn bend(&self, c: usize) -> f64 {
        self.term().and_then(|h| h.piece(c)).map_or(0.0, |piece| piece.l2)
    }

    /// The ends of the smooth stretch that coordinate c at x lies on.
    #[inline]
    fn ends(&self, h: &H, c: usize, x: f64) -> (f64, f64) {
        let Some(piece) = h.piece(c) else { return (x, x) };
        // Beyond a kink at 0 the penalty has another slope: the stretch ends there.
        let kinked = piece.l1 > 0.0;
        let positive = x > 0.0 || (x == 0.0 && self.ways[c] == Way::Up);
        let lower = if kinked && positive { piece.lower.max(0.0) } else { piece.lower };
        let upper = if kinked && !positive { piece.upper.min(0.0) } else { piece.upper };
        (lower, upper)
    }

    /// Whether coordinate c may move.
    #[inline]
    pub(super) fn is_free(&self, c: usize) -> bool {
        self.ways[c] != Way::Held
    }

    /// Holds coordinates that d sends the wrong way; true when there were any.
    pub(super) fn hold_wrong_ways(&mut self, d: &[f64]) -> bool {
        let mut any = false;
        for (c, way) in self.ways.iter_mut().enumerate() {
            if (*way == Way::Up && d[c] < 0.0) || (*way == Way::Down && d[c] > 0.0) {
                *way = Way::Held;
                self.slope[c] = 0.0;
                any = true;
            }
        }
        any
    }

    /// The end of the stretch that coordinate c moves towards.
    #[inline]
    fn end(&self, h: &H, c: usize, x: f64, d: f64) -> f64 {
        let (lower, upper) = self.ends(h, c, x);
        if d > 0.0 { upper } else { lower }
    }

    /// The largest t for which x + t d stays on the face.
    pub(super) fn reach(&self, x: &[f64], d: &[f64]) -> f64 {
        let Some(h) = self.term() else { return f64::INFINITY };
        let moving = (0..x.len()).filter(|&c| d[c] != 0.0);
        moving.map(|c| ((self.end(h, c, x[c], d[c]) - x[c]) / d[c]).max(0.0)).fold(f64::INFINITY, f64::min)
    }

    /// Keeps z within the face and assigns the ends that are met at `t`.
    pub(super) fn snap(&self, x: &[f64], d: &[f64], z: &mut [f64], t: f64) {
        let Some(h) = self.term() else { return };
        for c in (0..x.len()).filter(|&c| d[c] != 0.0) {
            let end = self.end(h, c, x[c], d[c]);
            let met = t.is_finite() && (end - x[c]) / d[c] <= t * (1.0 + 1e-12);
            let beyond = if d[c] > 0.0 { z[c] > end } else { z[c] < end };
            if met || beyond {
                z[c] = end;
            }
        }
    }

    /// The face as bounds; `None` where it has none.
    pub(super) fn bounds(&self, x: &[f64]) -> Option<Bounds> {
        let h = self.term()?;
        let held = |c: usize| (x[c], x[c]);
        let ends = |c: usize| if self.is_free(c) { self.ends(h, c, x[c]) } else { held(c) };
        let lower: Vec<f64> = (0..x.len()).map(|c| ends(c).0).collect();
        let upper: Vec<f64> = (0..x.len()).map(|c| ends(c).1).collect();
        Bounds::new(lower, upper).ok()
    }
}

/// Opens the coordinates at which h is smooth, and those that a violated condition sends away from a kink or bound.
fn open_coordinates<F: SmoothTerm, H: SeparableTerm>(
    problem: &Problem<F, H>,
    h: &H,
    x: &[f64],
    slope: &mut [f64],
    ways: &mut [Way],
    stop: &dyn Fn() -> bool,
) -> Option<()> {
    let residuals = Residuals::new(problem, x);
    let lambda = estimate_multipliers(&residuals, slope, stop);
    let coupling = problem.independent_coupling();
    let pull = |c: usize, g: f64| -(g + coupling.column_dot(c, &lambda));
    let mut largest: f64 = 0.0;
    residuals.for_each(|c| pull(c, slope[c]), |_, r| largest = largest.max(r.abs()));
    for c in 0..x.len() {
        let (lo, hi) = h.piece(c)?.subdifferential(x[c]);
        let s = pull(c, slope[c]);
        let (way, gradient) = if lo == hi {
            (Way::Both, lo)
        } else if s - hi > SHARE_RELEASED * largest {
            (Way::Up, hi)
        } else if lo - s > SHARE_RELEASED * largest {
            (Way::Down, lo)
        } else {
            (Way::Held, 0.0)
        };
        ways[c] = way;
        slope[c] = if way == Way::Held { 0.0 } else { slope[c] + gradient };
    }
    Some(())
}
