//! Projected, preconditioned conjugate gradients on a face.

use super::FreeStep;
use super::face::Face;
use crate::control::{Control, Pass};
use crate::coupling::{Coupling, Outers};
use crate::matrix::dot;
use crate::pair_step::Factor;
use crate::separable::Nonsmooth;
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
pub(super) fn conjugate_gradients(
    step: &FreeStep<'_>,
    state: &State,
    face: &Face<'_>,
    left: &mut usize,
) -> Pass<Option<Direction>> {
    let (f, n) = (step.view.smooth(), state.x.len());
    let bends = face.bends();
    let diagonal: Vec<f64> = (0..n).map(|c| step.metric.diagonal(f, c)).collect();
    let projector = Projector::new(step, face, &diagonal, &bends)?;
    let mut d = vec![0.0; n];
    let mut r = face.slope.clone();
    // Holds the projected slope, then the image of the direction, by turns.
    let mut image = vec![0.0; n];
    projector.apply(&mut r, &mut image, step.control)?;
    let mut fit = dot(&r, &image);
    let start = fit;
    let unprojected: f64 = (0..n)
        .filter(|&c| face.is_free(c))
        .map(|c| face.slope[c] * face.slope[c] * projector.inverse[c])
        .sum();
    if fit.is_nan() || fit <= NOTHING_LEFT * unprojected {
        return Ok(None);
    }
    let mut p: Vec<f64> = image.iter().map(|v| -v).collect();
    let mut moved = false;
    while *left > 0 && fit > FALL * start {
        step.control.check()?;
        *left -= 1;
        if !f.hessian_product(&state.x, &state.product, &p, &mut image, step.control)? {
            return Ok(None);
        }
        add_separable_curvature(step, state, &bends, &p, &mut image);
        let bend = dot(&p, &image);
        let scale: f64 = (0..n).map(|c| p[c] * p[c] * diagonal[c]).sum();
        if bend.is_nan() || bend <= FLAT * scale {
            // A flat direction that truly falls leads to the end of the face; one that does so by rounding to nowhere.
            let falls = dot(&face.slope, &p);
            if falls < 0.0 && fit > TRULY_FALLS * unprojected {
                return Ok(Some(Direction { d: p, ray: true, falls }));
            }
            break;
        }
        let t = fit / bend;
        for c in 0..n {
            d[c] += t * p[c];
            r[c] = if face.is_free(c) { r[c] + t * image[c] } else { 0.0 };
        }
        moved = true;
        projector.apply(&mut r, &mut image, step.control)?;
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
    Ok(moved.then_some(Direction { d, ray: false, falls }))
}

/// `image += (curvature of h) p`.
fn add_separable_curvature(step: &FreeStep<'_>, state: &State, bends: &[f64], p: &[f64], image: &mut [f64]) {
    let h = match step.view.separable() {
        Nonsmooth::Coordinates(_) => {
            return image.iter_mut().zip(bends).zip(p).for_each(|((image, bend), p)| *image += bend * p);
        }
        Nonsmooth::Groups(h) => h,
    };
    let blocks = step.view.blocks();
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
struct Projector<'a> {
    coupling: &'a Coupling,
    face: &'a Face<'a>,
    /// `D^-1`.
    inverse: Vec<f64>,
    factor: Option<Factor>,
}

impl<'a> Projector<'a> {
    fn new(step: &FreeStep<'a>, face: &'a Face<'a>, diagonal: &[f64], bends: &[f64]) -> Pass<Self> {
        let coupling = step.view.independent_coupling();
        let inverse = if bends.is_empty() {
            diagonal.iter().map(|d| 1.0 / d).collect()
        } else {
            diagonal.iter().zip(bends).map(|(d, bend)| 1.0 / (d + bend)).collect()
        };
        let mut projector = Self { coupling, face, inverse, factor: None };
        let m = coupling.rows();
        if m > 0 {
            let mut gram = vec![0.0; m * m];
            let mut outers = Outers::new(coupling, &mut gram);
            let each = coupling.numbers_per_column();
            step.control.in_parts(face.slope.len(), each * each, |part| {
                part.filter(|&c| face.is_free(c)).for_each(|c| outers.add(c, projector.inverse[c]));
            })?;
            outers.finish();
            projector.factor = Some(Factor::from_gram(m, &gram));
        }
        Ok(projector)
    }

    /// Takes the part of r that the rows carry out of it (which keeps later steps accurate), then `v = D^-1 r`.
    fn apply(&self, r: &mut [f64], v: &mut [f64], control: &Control) -> Pass {
        let each = self.coupling.numbers_per_column();
        if let Some(factor) = &self.factor {
            for _ in 0..2 {
                let mut y = vec![0.0; self.coupling.rows()];
                control.in_parts(r.len(), each, |part| {
                    for c in part.filter(|&c| self.face.is_free(c)) {
                        self.coupling.add_column(c, r[c] * self.inverse[c], &mut y);
                    }
                })?;
                factor.solve(&mut y);
                control.in_parts(r.len(), each, |part| {
                    for c in part.filter(|&c| self.face.is_free(c)) {
                        r[c] -= self.coupling.column_dot(c, &y);
                    }
                })?;
            }
        }
        for c in 0..r.len() {
            v[c] = if self.face.is_free(c) { r[c] * self.inverse[c] } else { 0.0 };
        }
        Ok(())
    }
}
