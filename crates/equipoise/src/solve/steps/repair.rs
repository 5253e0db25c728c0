//! Takes rounding drift out of `A x = b`.
//!
//! Every move keeps A x to rounding; over many moves the rounding adds up. The residual is spread over the
//! coordinates at which h is smooth, `x_F += A_F'(A_F A_F')^+ (b - A x)`, so that no coordinate leaves a bound or a
//! kink; a correction that would leave the domain or not help is not made.

use crate::matrix::{PseudoInverse, max_abs};
use crate::problem::Problem;
use crate::separable::{Nonsmooth, SeparableTerm};
use crate::smooth::SmoothTerm;

/// Brings `A x` back to b where it drifted; true when x changed.
pub(crate) fn repair<F: SmoothTerm, H: SeparableTerm>(problem: &Problem<F, H>, x: &mut [f64]) -> bool {
    let coupling = problem.independent_coupling();
    let m = coupling.rows();
    if m == 0 {
        return false;
    }
    let mut missing = vec![0.0; m];
    coupling.residual(x, &mut missing);
    let drift = max_abs(&missing);
    if drift == 0.0 {
        return false;
    }
    missing.iter_mut().for_each(|r| *r = -*r);
    let smooth_at = |c: usize, z: f64| match problem.separable() {
        Nonsmooth::Coordinates(h) => {
            let (lo, hi) = h.subdifferential(c, z);
            lo == hi
        }
        Nonsmooth::Groups(_) => z != 0.0,
    };
    let mut gram = vec![0.0; m * m];
    coupling.add_outers((0..x.len()).filter(|&c| smooth_at(c, x[c])), &mut gram);
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
    for c in 0..x.len() {
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
    if coupling.infeasibility(x) <= drift {
        return !moved.is_empty();
    }
    moved.iter().for_each(|&(c, old)| x[c] = old);
    false
}
