//! Projected, preconditioned conjugate gradients on a face.

use super::FreeStep;
use super::face::Face;
use crate::coupling::Outers;
use crate::matrix::dot;
use crate::pair_step::Factor;
use crate::separable::{Nonsmooth, SeparableTerm};
use crate::smooth::SmoothTerm;
use crate::state::State;

/// Fall of the preconditioned residual (squared) at which the direction is good enough.
const FALL: f64 = 1e-24;
/// A projected slope below this share (squared) of the slope itself is rounding.
const NOTHING_LEFT: f64 = 1e-26;
/// Share (squared) of the slope that a flat direction must keep to count as falling.
const TRULY_FALLS: f64 = 1e-16;
/// Curvature below this share of the diagonal's is none.
const FLAT: f64 = 1e-14;

/// A direction of descent within the face and ker A.
#[derive(Debug)]
pub(super) struct Direction {
    pub(super) d: Vec<f64>,
    /// Whether f has no curvature along d, so that there is no natural step length.
    pub(super) ray: bool,
    /// The slope of the objective along d.
    pub(super) falls: f64,
}

/// The minimiser of the quadratic model on the face, or the first flat direction met.
pub(super) fn conjugate_gradients<F: SmoothTerm, H: SeparableTerm>(
    step: &FreeStep<'_, F, H>,
    state: &State,
    face: &Face<'_, F, H>,
    left: &mut usize,
) -> Option<Direction> {
    let (f, n) = (step.problem.smooth(), state.x.len());
    let projector = Projector::new(step, face);
    let mut d = vec![0.0; n];
    let mut r = face.slope.clone();
    // Holds the projected slope, then the image of the direction, by turns.
    let mut image = vec![0.0; n];
    projector.apply(&mut r, &mut image);
    let mut fit = dot(&r, &image);
    let start = fit;
    let unprojected: f64 = (0..n)
        .filter(|&c| face.is_free(c))
        .map(|c| face.slope[c] * face.slope[c] * projector.inverse(c))
        .sum();
    if fit.is_nan() || fit <= NOTHING_LEFT * unprojected {
        return None;
    }
    let mut p: Vec<f64> = image.iter().map(|v| -v).collect();
    let mut moved = false;
    while *left > 0 && fit > FALL * start && step.budget.stop().is_none() {
        *left -= 1;
        if !f.hessian_product(&state.x, &state.product, &p, &mut image) {
            return None;
        }
        add_separable_curvature(step, state, face, &p, &mut image);
        let bend = dot(&p, &image);
        let scale: f64 = (0..n).map(|c| p[c] * p[c] * step.metric.diagonal(f, c)).sum();
        if bend.is_nan() || bend <= FLAT * scale {
            // A flat direction that truly falls leads to the end of the face; one that does so by rounding to nowhere.
            let falls = dot(&face.slope, &p);
            if falls < 0.0 && fit > TRULY_FALLS * unprojected {
                return Some(Direction { d: p, ray: true, falls });
            }
            break;
        }
        let t = fit / bend;
        for c in 0..n {
            d[c] += t * p[c];
            r[c] = if face.is_free(c) { r[c] + t * image[c] } else { 0.0 };
        }
        moved = true;
        projector.apply(&mut r, &mut image);
        let next = dot(&r, &image);
        if next.is_nan() || next <= 0.0 {
            break;
        }
        let ratio = next / fit;
        fit = next;
        for c in 0..n {
            p[c] = ratio * p[c] - image[c];
        }
    }
    let falls = dot(&face.slope, &d);
    moved.then_some(Direction { d, ray: false, falls })
}

/// `image += (curvature of h) p`.
fn add_separable_curvature<F: SmoothTerm, H: SeparableTerm>(
    step: &FreeStep<'_, F, H>,
    state: &State,
    face: &Face<'_, F, H>,
    p: &[f64],
    image: &mut [f64],
) {
    let h = match step.problem.separable() {
        Nonsmooth::Coordinates(h) => {
            if !h.is_zero() {
                (0..p.len()).for_each(|c| image[c] += face.bend(c) * p[c]);
            }
            return;
        }
        Nonsmooth::Groups(h) => h,
    };
    let blocks = step.problem.blocks();
    for i in 0..blocks.len() {
        let size = blocks.coordinates(i).map(|c| state.x[c] * state.x[c]).sum::<f64>().sqrt();
        if size == 0.0 {
            continue;
        }
        let along: f64 = blocks.coordinates(i).map(|c| state.x[c] * p[c]).sum::<f64>() / (size * size);
        for c in blocks.coordinates(i) {
            image[c] += h.weight(i) / size * (p[c] - along * state.x[c]);
        }
    }
}

/// `v = D^-1 (r - A'y)` on the face with `A v = 0`, D the diagonal of the curvature.
struct Projector<'a, 'b, F, H> {
    step: &'a FreeStep<'b, F, H>,
    face: &'a Face<'a, F, H>,
    factor: Option<Factor>,
}

impl<'a, 'b, F: SmoothTerm, H: SeparableTerm> Projector<'a, 'b, F, H> {
    fn new(step: &'a FreeStep<'b, F, H>, face: &'a Face<'a, F, H>) -> Self {
        let mut projector = Self { step, face, factor: None };
        let coupling = step.problem.independent_coupling();
        let m = coupling.rows();
        if m > 0 {
            let mut gram = vec![0.0; m * m];
            let mut outers = Outers::new(coupling, &mut gram);
            for c in (0..face.slope.len()).filter(|&c| face.is_free(c)) {
                outers.add(c, projector.inverse(c));
            }
            outers.finish();
            projector.factor = Some(Factor::from_gram(m, &gram));
        }
        projector
    }

    #[inline]
    fn inverse(&self, c: usize) -> f64 {
        1.0 / (self.step.metric.diagonal(self.step.problem.smooth(), c) + self.face.bend(c))
    }

    /// Takes the part of r that the rows carry out of it (which keeps later steps accurate), then `v = D^-1 r`.
    fn apply(&self, r: &mut [f64], v: &mut [f64]) {
        let coupling = self.step.problem.independent_coupling();
        let rounds = if self.factor.is_some() { 2 } else { 0 };
        for _ in 0..rounds {
            let mut y = vec![0.0; coupling.rows()];
            for c in (0..r.len()).filter(|&c| self.face.is_free(c)) {
                coupling.add_column(c, r[c] * self.inverse(c), &mut y);
            }
            if let Some(factor) = &self.factor {
                factor.solve(&mut y);
            }
            for c in (0..r.len()).filter(|&c| self.face.is_free(c)) {
                r[c] -= coupling.column_dot(c, &y);
            }
        }
        for c in 0..r.len() {
            v[c] = if self.face.is_free(c) { r[c] * self.inverse(c) } else { 0.0 };
        }
    }
}
