//! The direction on a face: conjugate gradients that keep the rows, with the Hessian of f and the curvature of h.

use super::FreeStep;
use super::face::Face;
use crate::control::Pass;
use crate::matrix::dot;
use crate::separable::Nonsmooth;
use crate::solve::steps::projected::Projected;
use crate::state::State;

/// Fall of the preconditioned residual (squared) at which the direction is good enough.
const FALL: f64 = 1e-24;
/// A projected slope below this share (squared) of the slope itself is rounding.
const NOTHING_LEFT: f64 = 1e-26;
/// Share (squared) of the slope that a flat direction must keep to count as falling.
const TRULY_FALLS: f64 = 1e-16;
/// Curvature below this share of the diagonal's is none.
pub(crate) const FLAT: f64 = 1e-14;

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
    // Coordinates that are held take no part: one over their diagonal counts as 0.
    let inverse: Vec<f64> = (0..n)
        .map(|c| if face.is_free(c) { 1.0 / (diagonal[c] + bends.get(c).unwrap_or(&0.0)) } else { 0.0 })
        .collect();
    let minus: Vec<f64> = face.slope.iter().map(|slope| -slope).collect();
    let unprojected: f64 = minus.iter().zip(&inverse).map(|(r, d)| r * r * d).sum();
    let coupling = step.view.independent_coupling();
    let mut gradients = Projected::begin(coupling, (0..n as u32).collect(), inverse, minus, step.control)?;
    let start = gradients.fit();
    if start.is_nan() || start <= NOTHING_LEFT * unprojected {
        return Ok(None);
    }
    let (mut d, mut image) = (vec![0.0; n], vec![0.0; n]);
    let mut moved = false;
    while *left > 0 && gradients.fit() > FALL * start {
        step.control.check()?;
        *left -= 1;
        let p = gradients.p();
        if !f.hessian_product(&state.x, &state.product, p, &mut image, step.control)? {
            return Ok(None);
        }
        add_separable_curvature(step, state, &bends, p, &mut image);
        let bend = dot(p, &image);
        let scale: f64 = (0..n).map(|c| p[c] * p[c] * diagonal[c]).sum();
        if bend.is_nan() || bend <= FLAT * scale {
            // A flat direction that truly falls leads to the end of the face; one that does so by rounding to nowhere.
            let falls = dot(&face.slope, p);
            if falls < 0.0 && gradients.fit() > TRULY_FALLS * unprojected {
                return Ok(Some(Direction { d: p.to_vec(), ray: true, falls }));
            }
            break;
        }
        let t = gradients.fit() / bend;
        d.iter_mut().zip(p).for_each(|(d, p)| *d += t * p);
        gradients.step(t, &image);
        moved = true;
        gradients.turn(step.control)?;
        if gradients.fit().is_nan() || gradients.fit() <= 0.0 {
            break;
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
