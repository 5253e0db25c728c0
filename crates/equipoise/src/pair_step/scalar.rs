//! Two scalars on one row, in closed form.
//!
//! ```text
//! minimise  g'(z - x) + 1/2 (z - x)' [D_0 H; H D_1] (z - x) + h_0(z_0) + h_1(z_1)   s.t.  a'(z - x) = 0
//! ```
//!
//! | symbol | meaning |
//! |---|---|
//! | t | place on the line `z = x + t (a_1, -a_0)`, the only feasible directions |
//! | slope | derivative of the smooth part in t at 0: `a_1 (g_0 + e_0 x_0) - a_0 (g_1 + e_1 x_1)` |
//! | eta | curvature in t: `a_1^2 (D_0 + e_0) + a_0^2 (D_1 + e_1) - 2 a_0 a_1 H` |
//! | e, gamma | weights `l2` and `l1` of the pieces |
//!
//! The derivative in t rises with slope eta and jumps by `2 gamma_0 |a_1|` where `z_0 = 0` and by `2 gamma_1 |a_0|`
//! where `z_1 = 0`. So it has one zero on each of the three stretches between the jumps, and the minimiser is the
//! largest of them after each was cut off at the end of its stretch. Then the bounds cut t.
//!
//! Given numbers, returns new values; a value at a bound or at a kink is assigned, the other follows from the row.
//! Must not know: random numbers, threads, which pair.

use crate::separable::Piece;

/// Curvature of the model on two scalars: the diagonal, and the mixed derivative where it is known (else 0).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PairCurvature {
    /// `D_0` and `D_1`, at least 0.
    pub(crate) d: [f64; 2],
    /// The mixed derivative H; 0 when the model has none.
    pub(crate) cross: f64,
}

/// The model falls without end along the row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unbounded;

/// Curvature that cancelled to below this share of its parts is rounding, and counts as none.
const CANCELLED: f64 = 4.0 * f64::EPSILON;

/// The prox step of one scalar that no row binds: the minimiser of `g (z - x) + d/2 (z - x)^2 + h(z)`, d > 0.
#[inline]
pub(crate) fn single(x: f64, g: f64, d: f64, h: Piece) -> f64 {
    h.prox(x - g / d, d)
}

/// The new values of two scalars on the row a.
///
/// Without curvature along the row the step goes to the end of the feasible stretch; where there is none,
/// it is [`Unbounded`]. With `a = (0, 0)` the scalars are free: each takes its own prox step, with doubled metric
/// when they are coupled by a cross curvature.
#[inline]
pub(crate) fn two_scalars(
    x: [f64; 2],
    g: [f64; 2],
    a: [f64; 2],
    curvature: PairCurvature,
    h: [Piece; 2],
) -> Result<[f64; 2], Unbounded> {
    let bounds_only = h[0].l1 == 0.0 && h[1].l1 == 0.0 && h[0].l2 == 0.0 && h[1].l2 == 0.0;
    if !bounds_only {
        return with_penalties(x, g, a, curvature, h);
    }
    if a[0] == a[1]
        && a[0] != 0.0
        && let Some(eta) = balanced_curvature(curvature)
    {
        let bounds = [(h[0].lower, h[0].upper), (h[1].lower, h[1].upper)];
        return Ok(balanced_scalars(x, (g[1] - g[0]) / eta, bounds));
    }
    let eta = line_curvature(a, curvature, [0.0, 0.0]);
    let slope = a[1] * g[0] - a[0] * g[1];
    if eta > 0.0 {
        let t = -slope / eta;
        return Ok(cut([x[0] + a[1] * t, x[1] - a[0] * t], x, a, h));
    }
    without_curvature(x, g, a, curvature, h, step_to_zero(slope, eta))
}

/// The curvature along `(1, -1)`; `None` where there is none but for rounding.
#[inline]
pub(crate) fn balanced_curvature(curvature: PairCurvature) -> Option<f64> {
    let own = curvature.d[0] + curvature.d[1];
    let eta = own - 2.0 * curvature.cross;
    (eta > CANCELLED * own).then_some(eta)
}

/// Equal coefficients and bounds only: the one takes `step` and the other gives it, as far as the bounds allow.
///
/// No branch depends on the values, since in a random order none could be predicted.
#[inline]
pub(crate) fn balanced_scalars(x: [f64; 2], step: f64, bounds: [(f64, f64); 2]) -> [f64; 2] {
    // Plain comparisons are one instruction each; `f64::max` would look for NaN as well.
    let larger = |a: f64, b: f64| if a > b { a } else { b };
    let smaller = |a: f64, b: f64| if a < b { a } else { b };
    let [(lower, upper), (low, high)] = bounds;
    let room = [lower - x[0], upper - x[0], x[1] - high, x[1] - low];
    let step = smaller(smaller(larger(larger(step, room[0]), room[2]), room[1]), room[3]);
    let mut z = [x[0] + step, x[1] - step];
    // A bound that is met is assigned: x + (upper - x) may differ from it in the last digit.
    z[0] = if step == room[0] { lower } else { z[0] };
    z[0] = if step == room[1] { upper } else { z[0] };
    z[1] = if step == room[2] { high } else { z[1] };
    z[1] = if step == room[3] { low } else { z[1] };
    z
}

/// eta, or 0 where it is nothing but rounding.
#[inline]
fn line_curvature(a: [f64; 2], curvature: PairCurvature, l2: [f64; 2]) -> f64 {
    let own = a[1] * a[1] * (curvature.d[0] + l2[0]) + a[0] * a[0] * (curvature.d[1] + l2[1]);
    let eta = own - 2.0 * a[0] * a[1] * curvature.cross;
    if eta > CANCELLED * own { eta } else { 0.0 }
}

/// The t where `slope + eta t` is zero; infinite, or 0 for a flat line, without curvature.
#[inline]
fn step_to_zero(slope: f64, eta: f64) -> f64 {
    if eta > 0.0 {
        -slope / eta
    } else if slope == 0.0 {
        0.0
    } else {
        -slope.signum() * f64::INFINITY
    }
}

/// `z` on the line moved back within the bounds; whichever bound cuts deeper is assigned.
#[inline]
fn cut(z: [f64; 2], x: [f64; 2], a: [f64; 2], h: [Piece; 2]) -> [f64; 2] {
    let inside = z[0] >= h[0].lower && z[0] <= h[0].upper && z[1] >= h[1].lower && z[1] <= h[1].upper;
    if inside { z } else { cut_at_bounds(z, x, a, h) }
}

#[inline]
fn cut_at_bounds(mut z: [f64; 2], x: [f64; 2], a: [f64; 2], h: [Piece; 2]) -> [f64; 2] {
    let first = clamp(z[0], h[0]);
    if first != z[0] {
        z = [first, if a[1] == 0.0 { z[1] } else { follow(x[1], a[0], first - x[0], a[1]) }];
    }
    let second = clamp(z[1], h[1]);
    if second != z[1] {
        let first = if a[0] == 0.0 { z[0] } else { follow(x[0], a[1], second - x[1], a[0]) };
        z = [clamp(first, h[0]), second];
    }
    z
}

/// The value that keeps the row when the other scalar, with coefficient `other`, moved by d.
#[inline]
fn follow(x: f64, other: f64, d: f64, own: f64) -> f64 {
    x - other * d / own
}

#[inline]
fn clamp(z: f64, h: Piece) -> f64 {
    z.max(h.lower).min(h.upper)
}

/// l1 kinks and l2 weights.
#[inline]
fn with_penalties(
    x: [f64; 2],
    g: [f64; 2],
    a: [f64; 2],
    curvature: PairCurvature,
    h: [Piece; 2],
) -> Result<[f64; 2], Unbounded> {
    let eta = line_curvature(a, curvature, [h[0].l2, h[1].l2]);
    let smooth = a[1] * (g[0] + h[0].l2 * x[0]) - a[0] * (g[1] + h[1].l2 * x[1]);
    let jumps = [h[0].l1 * a[1].abs(), h[1].l1 * a[0].abs()];
    let kinks = [
        if jumps[0] > 0.0 { -x[0] / a[1] } else { f64::INFINITY },
        if jumps[1] > 0.0 { x[1] / a[0] } else { f64::INFINITY },
    ];
    let ordered = kinks[0] <= kinks[1];
    let (near, far, jump) =
        if ordered { (kinks[0], kinks[1], jumps[0]) } else { (kinks[1], kinks[0], jumps[1]) };
    // The zero of the derivative on each stretch, cut off at the kink that ends it.
    let left = step_to_zero(smooth - jumps[0] - jumps[1], eta).min(near);
    let middle = step_to_zero(smooth - jumps[0] - jumps[1] + 2.0 * jump, eta).min(far);
    let right = step_to_zero(smooth + jumps[0] + jumps[1], eta);
    // Without the kink that ends a stretch the stretches beyond it do not exist.
    let right = if far == f64::INFINITY { f64::NEG_INFINITY } else { right };
    let middle = if near == f64::INFINITY { f64::NEG_INFINITY } else { middle };
    let t = left.max(middle).max(right);
    if t.is_infinite() || (a[0] == 0.0 && a[1] == 0.0) {
        return without_curvature(x, g, a, curvature, h, t);
    }
    let z = if t == kinks[0] {
        [0.0, settle(follow(x[1], a[0], -x[0], a[1]), x[1], jumps[1])]
    } else if t == kinks[1] {
        [settle(follow(x[0], a[1], -x[1], a[0]), x[0], jumps[0]), 0.0]
    } else {
        [x[0] + a[1] * t, x[1] - a[0] * t]
    };
    Ok(cut(z, x, a, h))
}

/// Zero in place of what rounding left of it, for a scalar with a kink at zero.
#[inline]
fn settle(z: f64, x: f64, jump: f64) -> f64 {
    if jump > 0.0 && z.abs() <= CANCELLED * x.abs() { 0.0 } else { z }
}

/// The rare cases: the row binds neither scalar, or t is 0 or infinite because there is no curvature.
#[cold]
#[inline(never)]
fn without_curvature(
    x: [f64; 2],
    g: [f64; 2],
    a: [f64; 2],
    curvature: PairCurvature,
    h: [Piece; 2],
    t: f64,
) -> Result<[f64; 2], Unbounded> {
    if a[0] == 0.0 && a[1] == 0.0 {
        let double = if curvature.cross == 0.0 { 1.0 } else { 2.0 };
        let free = |c: usize| free_scalar(x[c], g[c], double * curvature.d[c], h[c]);
        return Ok([free(0)?, free(1)?]);
    }
    if t.is_finite() {
        return Ok(cut(x, x, a, h));
    }
    // Each scalar that moves runs to its bound; the one that arrives first decides.
    let end = |rate: f64, h: Piece| if rate * t > 0.0 { h.upper } else { h.lower };
    let ends = [end(a[1], h[0]), end(-a[0], h[1])];
    let room = |c: usize, rate: f64| {
        if rate == 0.0 { f64::INFINITY } else { ((ends[c] - x[c]) / rate).abs() }
    };
    let rooms = [room(0, a[1]), room(1, a[0])];
    if rooms[0].is_infinite() && rooms[1].is_infinite() {
        return Err(Unbounded);
    }
    let z = if rooms[0] <= rooms[1] {
        [ends[0], follow(x[1], a[0], ends[0] - x[0], a[1])]
    } else {
        [follow(x[0], a[1], ends[1] - x[1], a[0]), ends[1]]
    };
    Ok([clamp(z[0], h[0]), clamp(z[1], h[1])])
}

/// The minimiser of `g (z - x) + d/2 (z - x)^2 + h(z)` for d >= 0.
pub(crate) fn free_scalar(x: f64, g: f64, d: f64, h: Piece) -> Result<f64, Unbounded> {
    if d > 0.0 {
        return Ok(single(x, g, d, h));
    }
    let pull = if g.abs() > h.l1 { h.l1.copysign(g) - g } else { 0.0 };
    if h.l2 > 0.0 {
        return Ok(clamp(pull / h.l2, h));
    }
    let z = if pull > 0.0 {
        h.upper
    } else if pull < 0.0 {
        h.lower
    } else {
        clamp(if h.l1 > g.abs() { 0.0 } else { x }, h)
    };
    if z.is_infinite() { Err(Unbounded) } else { Ok(z) }
}
