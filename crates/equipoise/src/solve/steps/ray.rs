//! Whether an iterate that is far out is on its way to infinity, the objective falling for ever.
//!
//! Where the objective falls along a ray, iterates follow it, and x itself, seen from afar, becomes the ray: d is x without what
//! the bounds hold back, brought back to `A d = 0` by changes in proportion to its entries, of size 1. d is a ray if f has no curvature
//! along it at x (to the share that counts as none) and the objective falls at one rate along it from a point nearby, far beyond its own
//! size: a sum of losses that falls for long, but never below 0, is none. Where x is, rounding may be larger than what there is to see.
//!
//! Given: a point nearby and an iterate. Returns: the coordinates that lead away, if it is on a ray. Must not know: gears,
//! who asks.

use super::free_step::FLAT;
use crate::control::{Control, Pass};
use crate::matrix::{PseudoInverse, dot, max_abs};
use crate::problem::View;
use crate::separable::{ClosedForm, Nonsmooth};
use crate::solve::pairs::metric::Metric;
use crate::state::State;

/// The rate of fall, as a share of that over the stretch before, that must be kept.
const KEPT: f64 = 0.9;
/// Where the rate is measured, in sizes of the point nearby.
const STRETCH: [f64; 2] = [1e3, 1e4];
/// How often its own size the objective must have fallen, and once more.
const OFTEN: [f64; 2] = [1e6, 1e10];
/// A fall below this share of the objective is rounding.
const SURELY_FALLS: f64 = 1e-9;
/// Coordinates with less of d than this are not named.
const NAMED: f64 = 1e-6;

/// The coordinates along which the objective falls for ever, if x is on its way there.
pub(crate) fn endless(
    view: View<'_>,
    metric: &Metric,
    nearby: &[f64],
    state: &State,
    control: &Control,
) -> Pass<Option<Vec<usize>>> {
    let Some(d) = direction(view, &state.x, control)? else { return Ok(None) };
    let (f, n) = (view.smooth(), d.len());
    let mut image = vec![0.0; n];
    if !f.hessian_product(&state.x, &state.product, &d, &mut image, control)? {
        return Ok(None);
    }
    let scale: f64 = (0..n).map(|c| d[c] * d[c] * metric.diagonal(f, c)).sum();
    let bend = dot(&d, &image);
    if bend.is_nan() || bend > FLAT * scale {
        return Ok(None);
    }
    let value_at = |t: f64| -> Pass<f64> {
        let x = nearby.iter().zip(&d).map(|(x, d)| x + t * d).collect();
        let there = State::new(f, x, control)?;
        Ok(view.value(&there.x, &there.product))
    };
    let size = 1.0 + max_abs(nearby);
    let (from, to) = (STRETCH[0] * size, STRETCH[1] * size);
    let (begin, first, second) = (value_at(0.0)?, value_at(from)?, value_at(to)?);
    let rate = (first - second) / (to - from);
    let mut falls = first - second > SURELY_FALLS * second.abs();
    for often in OFTEN {
        let far = to + often * (1.0 + begin.abs() + second.abs()) / rate;
        falls = falls && second - value_at(far)? >= KEPT * rate * (far - to);
    }
    Ok(falls.then(|| (0..n).filter(|&c| d[c].abs() > NAMED).take(10).collect()))
}

/// x without what bounds hold back, within the rows, of size 1; none where those hold back nearly everything.
fn direction(view: View<'_>, x: &[f64], control: &Control) -> Pass<Option<Vec<f64>>> {
    let mut d = x.to_vec();
    if let Nonsmooth::Coordinates(h) = view.separable()
        && !h.is_zero()
    {
        let Some(pieces) = ClosedForm::of(h, x.len()) else { return Ok(None) };
        for (c, d) in d.iter_mut().enumerate() {
            let piece = pieces.piece(c);
            if (*d < 0.0 && piece.lower.is_finite()) || (*d > 0.0 && piece.upper.is_finite()) {
                *d = 0.0;
            }
        }
    }
    let coupling = view.independent_coupling();
    let (m, each) = (coupling.rows(), coupling.numbers_per_column());
    if m > 0 {
        let (mut gram, mut missed, mut y) = (vec![0.0; m * m], vec![0.0; m], vec![0.0; m]);
        control.in_parts(d.len(), each * each, |part| {
            for c in part.filter(|&c| d[c] != 0.0) {
                coupling.add_outer(c, d[c] * d[c], &mut gram);
                coupling.add_column(c, d[c], &mut missed);
            }
        })?;
        PseudoInverse::new(&gram, m).apply(&missed, &mut y);
        for (c, d) in d.iter_mut().enumerate().filter(|(_, d)| **d != 0.0) {
            let share = *d * coupling.column_dot(c, &y);
            // Nobody turns round.
            if share.is_nan() || share.abs() >= 0.5 {
                return Ok(None);
            }
            *d -= *d * share;
        }
    }
    let largest = max_abs(&d);
    d.iter_mut().for_each(|d| *d /= largest);
    Ok((largest > 0.0 && largest.is_finite()).then_some(d))
}
