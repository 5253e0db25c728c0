//! The face of x: which coordinates may move, which way, and how far until h changes its form.

use crate::certificate::{NUMBERS_OF_H, Residuals, estimate_multipliers};
use crate::control::{Control, Pass};
use crate::problem::View;
use crate::separable::{Bounds, ClosedForm, Nonsmooth, SeparableTerm};
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
pub(super) struct Face<'a> {
    /// h where it bounds or bends coordinates; `None` for no term and for group norms.
    pieces: Option<ClosedForm<'a, dyn SeparableTerm + 'a>>,
    ways: Vec<Way>,
    /// grad f + grad h on the coordinates that may move, 0 elsewhere.
    pub(super) slope: Vec<f64>,
}

impl<'a> Face<'a> {
    /// The face at x; `None` when h has no pieces or nothing can move.
    pub(super) fn at(view: View<'a>, state: &State, control: &Control) -> Pass<Option<Self>> {
        let x = &state.x;
        let mut slope = vec![0.0; x.len()];
        view.smooth().gradient(x, &state.product, &mut slope, control)?;
        let mut face = Self { pieces: None, ways: vec![Way::Held; x.len()], slope };
        match view.separable() {
            Nonsmooth::Coordinates(h) if h.is_zero() => face.ways.fill(Way::Both),
            Nonsmooth::Coordinates(h) => {
                let Some(pieces) = ClosedForm::of(h, x.len()) else { return Ok(None) };
                face.pieces = Some(pieces);
                face.open(view, pieces, x, control)?;
            }
            Nonsmooth::Groups(h) => {
                for i in 0..view.blocks().len() {
                    let size = view.blocks().coordinates(i).map(|c| x[c] * x[c]).sum::<f64>().sqrt();
                    for c in view.blocks().coordinates(i) {
                        if size > 0.0 {
                            face.ways[c] = Way::Both;
                            face.slope[c] += h.weight(i) * x[c] / size;
                        } else {
                            face.slope[c] = 0.0;
                        }
                    }
                }
            }
        }
        Ok(face.ways.iter().any(|way| *way != Way::Held).then_some(face))
    }

    /// Opens the coordinates at which h is smooth, and those that a violated condition sends away from a kink or bound.
    fn open(
        &mut self,
        view: View<'_>,
        pieces: ClosedForm<'_, dyn SeparableTerm + '_>,
        x: &[f64],
        control: &Control,
    ) -> Pass {
        let (residuals, coupling) = (Residuals::new(view, x), view.independent_coupling());
        let multipliers = estimate_multipliers(&residuals, &self.slope, control);
        multipliers.outcome?;
        let lambda = multipliers.lambda;
        let each = NUMBERS_OF_H + coupling.numbers_per_column();
        let pull = |c: usize, g: f64| -(g + coupling.column_dot(c, &lambda));
        let mut largest: f64 = 0.0;
        residuals.for_each(
            each,
            control,
            |c| pull(c, self.slope[c]),
            |_, r| largest = largest.max(r.abs()),
        )?;
        let (slope, ways) = (&mut self.slope, &mut self.ways);
        control.in_parts(x.len(), each, |part| {
            for c in part {
                let (lo, hi) = pieces.piece(c).subdifferential(x[c]);
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
        })
    }

    /// Curvature of h along every coordinate; empty where there is none.
    pub(super) fn bends(&self) -> Vec<f64> {
        self.pieces.map_or_else(Vec::new, |h| (0..self.ways.len()).map(|c| h.piece(c).l2).collect())
    }

    /// The ends of the smooth stretch that coordinate c at x lies on.
    #[inline]
    fn ends(&self, h: ClosedForm<'_, dyn SeparableTerm + '_>, c: usize, x: f64) -> (f64, f64) {
        let piece = h.piece(c);
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
    fn end(&self, h: ClosedForm<'_, dyn SeparableTerm + '_>, c: usize, x: f64, d: f64) -> f64 {
        let (lower, upper) = self.ends(h, c, x);
        if d > 0.0 { upper } else { lower }
    }

    /// The largest t for which x + t d stays on the face.
    pub(super) fn reach(&self, x: &[f64], d: &[f64]) -> f64 {
        let Some(h) = self.pieces else { return f64::INFINITY };
        let moving = (0..x.len()).filter(|&c| d[c] != 0.0);
        moving.map(|c| ((self.end(h, c, x[c], d[c]) - x[c]) / d[c]).max(0.0)).fold(f64::INFINITY, f64::min)
    }

    /// Keeps z within the face and assigns the ends that are met at `t`.
    pub(super) fn snap(&self, x: &[f64], d: &[f64], z: &mut [f64], t: f64) {
        let Some(h) = self.pieces else { return };
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
        let h = self.pieces?;
        let held = |c: usize| (x[c], x[c]);
        let ends = |c: usize| if self.is_free(c) { self.ends(h, c, x[c]) } else { held(c) };
        let lower: Vec<f64> = (0..x.len()).map(|c| ends(c).0).collect();
        let upper: Vec<f64> = (0..x.len()).map(|c| ends(c).1).collect();
        Bounds::new(lower, upper).ok()
    }
}
