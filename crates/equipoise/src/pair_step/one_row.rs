//! Any number of coordinates on one row, any coordinate-separable h.
//!
//! ```text
//! phi(lambda) = sum_k a_k (z_k(lambda) - x_k) - shift = 0,   z_k(lambda) = prox_{h/D}(x_k - (g_k + a_k lambda)/D_k)
//! ```
//!
//! | symbol | meaning |
//! |---|---|
//! | a | the row, a coefficient a coordinate |
//! | lambda | its multiplier |
//! | phi | what is missing on the row; continuous, nonincreasing in lambda, perhaps flat |
//!
//! Given a guess of lambda, returns z and lambda. Where every `h_k` is a [`Piece`](crate::separable::Piece), phi is piecewise linear and its root
//! is found in expected linear time; else by a safeguarded Newton method through the prox. Then the rounding
//! error left on the row goes into one coordinate that is free to take it, so that `a'(z - x) = shift` holds to
//! the last digits. Must not know: random numbers, threads, which pair.

use super::kernels::Sum;
use super::ramps::{self, Ramp};
use super::{Model, prox_root};
use crate::separable::SeparableTerm;

/// Relative size of what may be missing on the row for it to count as met.
const MET: f64 = 1e-12;
/// Beyond this many coordinates the root is sought by evaluations alone: listing the pieces takes 64 bytes each.
const MOST_RAMPS: usize = 50_000;
/// Values this close to a bound or a kink (relative to themselves and to x) are at it.
const SNAP: f64 = 4.0 * f64::EPSILON;

/// One coupling row: `a'(z - x) = shift`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row<'a> {
    /// The coefficients a.
    pub(crate) coefficients: &'a [f64],
    /// What `a'(z - x)` must be; 0 in a pair step.
    pub(crate) shift: f64,
}

/// What came of one row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct OneRow {
    /// The multiplier lambda.
    pub(crate) multiplier: f64,
    /// Whether the row could be met; if not, z is as near to it as the domain allows.
    pub(crate) found: bool,
    /// `a'(z - x) - shift` as computed.
    pub(crate) residual: f64,
}

/// Memory that [`solve`] uses again and again.
#[derive(Debug, Clone, Default)]
pub(crate) struct Workspace {
    ramps: Vec<Ramp>,
    corners: Vec<f64>,
    other: Vec<f64>,
}

/// The new values, into `z`, and the multiplier of the row.
pub(crate) fn solve<H: SeparableTerm + ?Sized>(
    model: &Model<'_>,
    row: Row<'_>,
    h: &H,
    lambda0: f64,
    workspace: &mut Workspace,
    z: &mut [f64],
) -> OneRow {
    if let Some(outcome) = out_of_reach(model, row, h, z) {
        return outcome;
    }
    let guess = if collect_ramps(model, row, h, &mut workspace.ramps) {
        ramps::root(&mut workspace.ramps, &mut workspace.corners, row.shift, lambda0)
    } else {
        lambda0
    };
    let (multiplier, _) = prox_root::polish(model, row, h, guess, &mut workspace.other, z);
    snap(model, row, h, z);
    let mut missing = residual(model, row, z);
    for _ in 0..2 {
        if missing.0 != 0.0 && push(model, row, h, missing.0, z) {
            missing = residual(model, row, z);
        }
    }
    OneRow { multiplier, found: missing.0.abs() <= MET * missing.1, residual: missing.0 }
}

/// Two scalars of a term without closed form, on one row; cross curvature as in
/// [`two_scalars`](super::scalar::two_scalars). The row must bind at least one of them.
pub(crate) fn two_scalars_by_prox<H: SeparableTerm + ?Sized>(
    model: &Model<'_>,
    a: [f64; 2],
    cross: f64,
    h: &H,
    workspace: &mut Workspace,
) -> [f64; 2] {
    let d = [model.metric[0], model.metric[1]];
    let own = a[1] * a[1] * d[0] + a[0] * a[0] * d[1];
    let eta = own - 2.0 * a[0] * a[1] * cross;
    // Only the curvature along the line counts: a scaled diagonal has the same one as the full matrix.
    let scale = if own > 0.0 { (eta / own).max(1e-12) } else { 1.0 };
    let metric = [d[0] * scale, d[1] * scale];
    let row = Row { coefficients: &a, shift: 0.0 };
    let mut z = [0.0; 2];
    solve(&Model { metric: &metric, ..*model }, row, h, 0.0, workspace, &mut z);
    z
}

/// `value` moved into an interval.
#[inline]
pub(super) fn within(value: f64, (lower, upper): (f64, f64)) -> f64 {
    value.max(lower).min(upper)
}

/// The ends of the domain, with the row as far as it goes, when the shift is beyond.
fn out_of_reach<H: SeparableTerm + ?Sized>(
    model: &Model<'_>,
    row: Row<'_>,
    h: &H,
    z: &mut [f64],
) -> Option<OneRow> {
    if row.shift == 0.0 {
        return None;
    }
    let up = row.shift > 0.0;
    let (mut reach, mut size) = (Sum::default(), row.shift.abs());
    for (k, &a) in row.coefficients.iter().enumerate().filter(|(_, a)| **a != 0.0) {
        let (lower, upper) = h.domain(model.coordinates[k]);
        let end = if (a > 0.0) == up { upper } else { lower };
        if end.is_infinite() {
            return None;
        }
        reach.add(a * (end - model.x[k]));
        size += (a * end).abs() + (a * model.x[k]).abs();
    }
    let residual = reach.value() - row.shift;
    if (if up { residual } else { -residual }) >= -MET * size {
        return None;
    }
    for (k, (z, &a)) in z.iter_mut().zip(row.coefficients).enumerate() {
        let c = model.coordinates[k];
        let (lower, upper) = h.domain(c);
        *z = if a == 0.0 {
            h.prox(c, model.target(k, 0.0), model.metric[k])
        } else if (a > 0.0) == up {
            upper
        } else {
            lower
        };
    }
    let multiplier = if up { f64::NEG_INFINITY } else { f64::INFINITY };
    Some(OneRow { multiplier, found: false, residual })
}

/// The ramps of all coordinates, when every one has a closed form.
fn collect_ramps<H: SeparableTerm + ?Sized>(
    model: &Model<'_>,
    row: Row<'_>,
    h: &H,
    ramps: &mut Vec<Ramp>,
) -> bool {
    ramps.clear();
    if row.coefficients.len() > MOST_RAMPS {
        return false;
    }
    for (k, &a) in row.coefficients.iter().enumerate() {
        let Some(piece) = h.piece(model.coordinates[k]) else {
            return false;
        };
        ramps::push_ramps(ramps, [model.x[k], model.gradient[k], model.metric[k], a], piece);
    }
    true
}

/// `a'(z - x) - shift`, and the sum of the sizes of its terms.
fn residual(model: &Model<'_>, row: Row<'_>, z: &[f64]) -> (f64, f64) {
    let (mut sum, mut size) = (Sum::default(), row.shift.abs());
    for ((z, x), a) in z.iter().zip(model.x).zip(row.coefficients) {
        sum.add(a * (z - x));
        size += a.abs() * (z.abs() + x.abs());
    }
    sum.add(-row.shift);
    (sum.value(), size)
}

/// The stretch around z on which h is smooth, as far as its closed form or its domain tells.
#[inline]
pub(super) fn stretch<H: SeparableTerm + ?Sized>(h: &H, c: usize, z: f64) -> (f64, f64) {
    match h.piece(c) {
        Some(p) if p.l1 > 0.0 && z > 0.0 => (p.lower.max(0.0), p.upper),
        Some(p) if p.l1 > 0.0 && z < 0.0 => (p.lower, p.upper.min(0.0)),
        Some(p) => (p.lower, p.upper),
        None => h.domain(c),
    }
}

/// Assigns the end of the stretch to values that miss it by rounding.
fn snap<H: SeparableTerm + ?Sized>(model: &Model<'_>, row: Row<'_>, h: &H, z: &mut [f64]) {
    for (k, z) in z.iter_mut().enumerate().filter(|(k, _)| row.coefficients[*k] != 0.0) {
        let (lower, upper) = stretch(h, model.coordinates[k], *z);
        for end in [lower, upper] {
            if end.is_finite() && (*z - end).abs() <= SNAP * (model.x[k].abs() + end.abs()) {
                *z = end;
            }
        }
    }
}

/// Moves the coordinate that gives way most easily (the largest `a^2/D`) among those where h is smooth; whether
/// there was one.
fn push<H: SeparableTerm + ?Sized>(
    model: &Model<'_>,
    row: Row<'_>,
    h: &H,
    missing: f64,
    z: &mut [f64],
) -> bool {
    let mut best = None;
    let mut largest = 0.0;
    for (k, &a) in row.coefficients.iter().enumerate() {
        let c = model.coordinates[k];
        let ease = a * a / (model.metric[k] + h.piece(c).map_or(0.0, |piece| piece.l2));
        if ease > largest {
            let (lo, hi) = h.subdifferential(c, z[k]);
            if lo == hi {
                (best, largest) = (Some(k), ease);
            }
        }
    }
    let Some(k) = best else { return false };
    z[k] = within(z[k] - missing / row.coefficients[k], stretch(h, model.coordinates[k], z[k]));
    true
}
