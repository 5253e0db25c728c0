//! Takes rounding drift out of `A x = b`.
//!
//! Every move keeps A x to rounding; over many moves the rounding adds up. The residual is spread over the
//! coordinates at which h is smooth, `x_F += A_F'(A_F A_F')^+ (b - A x)`, so that no coordinate leaves a bound or a
//! kink; a correction that would leave the domain or not help is not made.

use crate::control::{Control, Pass};
use crate::coupling::{ALLOWED_SHARE, Outers};
use crate::matrix::{PseudoInverse, max_abs};
use crate::problem::View;
use crate::separable::Nonsmooth;

/// Share of the largest coordinate up to which another one is dust.
const DUST: f64 = 1e-13;

/// Brings `A x` back to b where it drifted; true when x changed. Where it is ended early x is as it was.
pub(crate) fn repair(view: View<'_>, x: &mut [f64], control: &Control) -> Pass<bool> {
    let coupling = view.independent_coupling();
    let m = coupling.rows();
    if m == 0 {
        return Ok(false);
    }
    let mut missing = vec![0.0; m];
    coupling.residual_within(x, &mut missing, control)?;
    let drift = max_abs(&missing);
    if drift == 0.0 {
        return Ok(false);
    }
    missing.iter_mut().for_each(|r| *r = -*r);
    let smooth_at = |c: usize, z: f64| match view.separable() {
        Nonsmooth::Coordinates(h) => {
            let (lo, hi) = h.subdifferential(c, z);
            lo == hi
        }
        Nonsmooth::Groups(_) => z != 0.0,
    };
    let mut gram = vec![0.0; m * m];
    let mut outers = Outers::new(coupling, &mut gram);
    let each = coupling.numbers_per_column();
    control.in_parts(x.len(), each * each, |part| {
        part.filter(|&c| smooth_at(c, x[c])).for_each(|c| outers.add(c, 1.0));
    })?;
    outers.finish();
    // Unit rows: the rank must not depend on their scale.
    let scale: Vec<f64> =
        (0..m).map(|r| gram[r * (m + 1)].sqrt()).map(|s| if s > 0.0 { 1.0 / s } else { 0.0 }).collect();
    for c in 0..m {
        for r in c..m {
            gram[c * m + r] *= scale[c] * scale[r];
        }
        missing[c] *= scale[c];
    }
    let mut y = vec![0.0; m];
    PseudoInverse::new(&gram, m).apply(&missing, &mut y);
    y.iter_mut().zip(&scale).for_each(|(y, scale)| *y *= scale);
    let mut moved: Vec<(usize, f64)> = Vec::new();
    let spread = control.in_parts(x.len(), each, |part| {
        for c in part {
            let step = coupling.column_dot(c, &y);
            if step == 0.0 || !smooth_at(c, x[c]) {
                continue;
            }
            let z = x[c] + step;
            if z == x[c] || !smooth_at(c, z) || z.signum() != x[c].signum() {
                continue;
            }
            moved.push((c, x[c]));
            x[c] = z;
        }
    });
    let left = spread.and_then(|()| coupling.infeasibility_within(x, control));
    if matches!(left, Ok(left) if left <= drift) {
        return Ok(sweep(view, x, control)? || !moved.is_empty());
    }
    moved.iter().for_each(|&(c, old)| x[c] = old);
    left?;
    sweep(view, x, control)
}

/// Takes dust out of x where a row asks for 0 and holds nothing else: 1e-15 that ought to be 0 is all that such a row is off
/// by, and all that it has. True when x changed.
fn sweep(view: View<'_>, x: &mut [f64], control: &Control) -> Pass<bool> {
    let coupling = view.independent_coupling();
    if coupling.rhs().iter().all(|b| *b != 0.0) {
        return Ok(false);
    }
    let before = coupling.miss_within(x, control)?.relative;
    if before <= 0.5 * ALLOWED_SHARE {
        return Ok(false);
    }
    let least = DUST * max_abs(x);
    let may_be_zero = |c: usize| match view.separable() {
        Nonsmooth::Coordinates(h) => {
            let (lower, upper) = h.domain(c);
            lower <= 0.0 && upper >= 0.0
        }
        Nonsmooth::Groups(_) => true,
    };
    let dust: Vec<(usize, f64)> = (0..x.len())
        .filter(|&c| x[c] != 0.0 && x[c].abs() <= least && may_be_zero(c))
        .map(|c| (c, x[c]))
        .collect();
    dust.iter().for_each(|&(c, _)| x[c] = 0.0);
    let after = coupling.miss_within(x, control).map(|miss| miss.relative);
    if matches!(after, Ok(after) if after < before) {
        return Ok(!dust.is_empty());
    }
    dust.iter().for_each(|&(c, old)| x[c] = old);
    after.map(|_| false)
}
