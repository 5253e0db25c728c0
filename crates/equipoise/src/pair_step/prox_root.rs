//! The root of `phi(lambda) = a'(z(lambda) - x) - shift` to machine precision, where
//! `z(lambda) = prox_{h/D}(x - (g + a lambda)/D)`, for any h that has a prox.
//!
//! phi is continuous and nonincreasing. Newton steps (from the slope of the prox), doubled when they stay on
//! one side, kept inside a bracket, which is halved when they are slow. When lambda has no digits left and phi is
//! not yet zero, z is interpolated between the two ends of the bracket: both have all coordinates on the same
//! side of every kink but for rounding, so the row is met exactly and the multiplier is exact to rounding.

use super::kernels::Sum;
use super::one_row::Row;
use super::{Model, one_row};
use crate::separable::SeparableTerm;

const EVALUATIONS: usize = 300;

/// phi at one lambda.
#[derive(Debug, Clone, Copy)]
struct Evaluation {
    lambda: f64,
    phi: f64,
    /// -phi'.
    rate: f64,
    /// An upper bound of -phi' anywhere.
    steepest: f64,
    /// Euclidean size of the terms of phi: its rounding level, divided by eps.
    size: f64,
}

fn evaluate<H: SeparableTerm + ?Sized>(
    model: &Model<'_>,
    row: Row<'_>,
    h: &H,
    lambda: f64,
    z: &mut [f64],
) -> Evaluation {
    let mut phi = Sum::default();
    let (mut rate, mut steepest, mut size) = (0.0, 0.0, 0.0);
    for (k, (z, &a)) in z.iter_mut().zip(row.coefficients).enumerate() {
        let (c, d, x) = (model.coordinates[k], model.metric[k], model.x[k]);
        let v = model.target(k, a * lambda);
        *z = h.prox(c, v, d);
        if a != 0.0 {
            phi.add(a * (*z - x));
            steepest += a * a / d;
            let slope = h.prox_slope(c, v, d);
            rate += a * a / d * slope;
            // A value at a bound or kink is exact; one in between is rounded.
            size += a * a * ((*z - x).powi(2) + if slope > 0.0 { *z * *z } else { 0.0 });
        }
    }
    phi.add(-row.shift);
    Evaluation { lambda, phi: phi.value(), rate, steepest, size: size.sqrt() + row.shift.abs() }
}

/// What is known of the root: it lies between two evaluated points, once both are there.
#[derive(Debug, Default)]
struct Bracket {
    low: Option<Evaluation>,
    high: Option<Evaluation>,
    /// Steps in a row that stayed on one side.
    same_side: i32,
    /// Steps since the bracket was last halved.
    slow: u32,
    width: f64,
}

impl Bracket {
    fn insert(&mut self, e: Evaluation) {
        let side = if e.phi > 0.0 { &mut self.low } else { &mut self.high };
        *side = Some(e);
        let signed = if e.phi > 0.0 { 1 } else { -1 };
        self.same_side =
            if self.same_side * signed > 0 { self.same_side.saturating_add(signed) } else { signed };
        if let (Some(low), Some(high)) = (self.low, self.high) {
            let width = high.lambda - low.lambda;
            if self.width == 0.0 || width < 0.5 * self.width {
                (self.width, self.slow) = (width, 0);
            } else {
                self.slow += 1;
            }
        }
    }

    /// Where to look next after `e`; `None` when no number is left between the ends.
    fn next(&self, e: Evaluation) -> Option<f64> {
        let repeats = self.same_side.abs().min(60) - 1;
        let newton = e.phi / if e.rate > 0.0 { e.rate } else { e.steepest };
        let least = 2.0 * f64::EPSILON * e.lambda.abs() + f64::MIN_POSITIVE;
        let (Some(low), Some(high)) = (self.low, self.high) else {
            // Only one side is known: longer and longer steps.
            let stretch = if e.rate > 0.0 { 2.0_f64 } else { 16.0 }.powi(repeats);
            let step = (newton.abs() * stretch).max(least * 16.0_f64.powi(repeats));
            let next = e.lambda + step.copysign(e.phi);
            return next.is_finite().then_some(next);
        };
        let middle = 0.5 * (low.lambda + high.lambda);
        if high.lambda - low.lambda <= 4.0 * f64::EPSILON * low.lambda.abs().max(high.lambda.abs())
            || !(low.lambda < middle && middle < high.lambda)
        {
            return None;
        }
        let next = e.lambda + (newton.abs() * 2.0_f64.powi(repeats.min(8))).max(least).copysign(e.phi);
        let good = e.rate > 0.0 && self.slow < 4 && low.lambda < next && next < high.lambda;
        Some(if good { next } else { middle })
    }
}

/// The values z at the root nearest to a guess, and its lambda; at the last point looked at where there is none.
/// Also returns how often phi was evaluated.
pub(super) fn polish<H: SeparableTerm + ?Sized>(
    model: &Model<'_>,
    row: Row<'_>,
    h: &H,
    guess: f64,
    other: &mut Vec<f64>,
    z: &mut [f64],
) -> (f64, usize) {
    let mut bracket = Bracket::default();
    let mut e = evaluate(model, row, h, if guess.is_finite() { guess } else { 0.0 }, z);
    let (mut evaluations, mut largest) = (1, 0.0_f64);
    while evaluations < EVALUATIONS {
        // Where everything is 0 at the root the size of phi vanishes with it.
        largest = largest.max(f64::EPSILON * e.size);
        if e.phi.abs() <= f64::EPSILON * e.size.max(largest) || e.steepest == 0.0 {
            return (e.lambda, evaluations);
        }
        bracket.insert(e);
        let Some(next) = bracket.next(e) else { break };
        e = evaluate(model, row, h, next, z);
        evaluations += 1;
    }
    let (Some(low), Some(high)) = (bracket.low, bracket.high) else {
        return (e.lambda, evaluations);
    };
    other.resize(z.len(), 0.0);
    evaluate(model, row, h, low.lambda, z);
    evaluate(model, row, h, high.lambda, other);
    let share = low.phi / (low.phi - high.phi);
    for ((z, other), &c) in z.iter_mut().zip(other.iter()).zip(model.coordinates) {
        *z = one_row::within(*z + share * (*other - *z), h.domain(c));
    }
    (low.lambda + share * (high.lambda - low.lambda), evaluations + 2)
}
