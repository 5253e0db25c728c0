//! `minimise 1/2 ||A x - b||^2` over bounds, by an active-set method: feasible, or a proof that nothing is.
//!
//! At the minimum with residual `r = b - A x` not zero, r itself separates: `r'A x < r'b` for every x within the
//! bounds. Only a handful of variables are free at a time (at most m more than needed), so one step costs
//! `O(n m)`. It decides the cases in which the dual method finds no interior.

use crate::coupling::{ALLOWED_SHARE, Coupling};
use crate::matrix::{PseudoInverse, max_abs};
use crate::separable::SeparableTerm;

/// What the bounds allow.
pub(super) enum Outcome {
    /// A point within the bounds with A x = b.
    Feasible(Vec<f64>),
    /// A vector y with y'Ax < y'b for all x within the bounds.
    Infeasible(Vec<f64>),
}

pub(super) fn bounded_least_squares<T: SeparableTerm>(
    coupling: &Coupling,
    domain: &T,
    mut x: Vec<f64>,
) -> Outcome {
    let (n, m) = (x.len(), coupling.rows());
    let scale = row_scales(coupling, n);
    let mut free: Vec<usize> = Vec::new();
    let mut best = (f64::INFINITY, x.clone());
    let mut residual = vec![0.0; m];
    for _ in 0..20 * (n + m) {
        scaled_residual(coupling, &scale, &x, &mut residual);
        let size = max_abs(&residual);
        if size < best.0 {
            best = (size, x.clone());
        }
        let weighted: Vec<f64> = residual.iter().zip(&scale).map(|(r, s)| r * s).collect();
        let pull = |c: usize| coupling.column_dot(c, &weighted);
        let movable = |c: usize, w: f64| {
            let (lower, upper) = domain.domain(c);
            (w > 0.0 && x[c] < upper) || (w < 0.0 && x[c] > lower)
        };
        let tolerance = 1e-14 * (1.0 + size);
        let entering = (0..n)
            .filter(|c| !free.contains(c))
            .map(|c| (c, pull(c)))
            .filter(|&(c, w)| w.abs() > tolerance && movable(c, w))
            .max_by(|p, q| p.1.abs().total_cmp(&q.1.abs()));
        let Some((entering, _)) = entering else { break };
        free.push(entering);
        settle(coupling, domain, &scale, &mut x, &mut free);
    }
    let x = best.1;
    if coupling.miss(&x).relative <= 0.5 * ALLOWED_SHARE {
        return Outcome::Feasible(x);
    }
    scaled_residual(coupling, &scale, &x, &mut residual);
    Outcome::Infeasible(residual.iter().zip(&scale).map(|(r, s)| r * s).collect())
}

/// Moves the free variables to their least-squares values, dropping those that meet a bound on the way.
fn settle<T: SeparableTerm>(
    coupling: &Coupling,
    domain: &T,
    scale: &[f64],
    x: &mut [f64],
    free: &mut Vec<usize>,
) {
    let m = scale.len();
    let mut residual = vec![0.0; m];
    while !free.is_empty() {
        let mut gram = vec![0.0; m * m];
        coupling.add_outers(free.iter().copied(), &mut gram);
        for c in 0..m {
            for r in c..m {
                gram[c * m + r] *= scale[c] * scale[r];
            }
        }
        scaled_residual(coupling, scale, x, &mut residual);
        let mut y = vec![0.0; m];
        PseudoInverse::new(&gram, m).apply(&residual, &mut y);
        y.iter_mut().zip(scale).for_each(|(y, s)| *y *= s);
        let step: Vec<f64> = free.iter().map(|&c| coupling.column_dot(c, &y)).collect();
        let mut t = 1.0;
        let mut blocking = None;
        for (k, &c) in free.iter().enumerate() {
            let (lower, upper) = domain.domain(c);
            let bound = if step[k] > 0.0 { upper } else { lower };
            let room = if step[k] == 0.0 { f64::INFINITY } else { (bound - x[c]) / step[k] };
            if room < t {
                (t, blocking) = (room.max(0.0), Some((k, bound)));
            }
        }
        free.iter().zip(&step).for_each(|(&c, step)| x[c] += t * step);
        let Some((k, bound)) = blocking else { return };
        x[free.swap_remove(k)] = bound;
    }
}

fn row_scales(coupling: &Coupling, n: usize) -> Vec<f64> {
    coupling.row_norms(n).iter().map(|norm| 1.0 / norm.max(f64::MIN_POSITIVE)).collect()
}

/// `scale (b - A x)`.
fn scaled_residual(coupling: &Coupling, scale: &[f64], x: &[f64], out: &mut [f64]) {
    coupling.residual(x, out);
    out.iter_mut().zip(scale).for_each(|(r, s)| *r *= -s);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Matrix;
    use crate::separable::Bounds;

    fn rows(rhs: Vec<f64>) -> Coupling {
        let matrix = Matrix::from_rows(&[[1.0, 1.0, 1.0], [1.0, -1.0, 0.0]]).expect("2 x 3");
        Coupling::rows_of(matrix, rhs).expect("valid")
    }

    #[test]
    fn a_corner_is_found_exactly() {
        let unit = Bounds::new(0.0, 1.0).expect("valid");
        let Outcome::Feasible(x) = bounded_least_squares(&rows(vec![3.0, 0.0]), &unit, vec![0.0; 3]) else {
            panic!("the corner (1, 1, 1) is feasible")
        };
        assert!(x.iter().all(|x| (x - 1.0).abs() < 1e-12), "{x:?}");
    }

    #[test]
    fn a_witness_separates() {
        let unit = Bounds::new(0.0, 1.0).expect("valid");
        let coupling = rows(vec![3.5, 0.0]);
        let Outcome::Infeasible(y) = bounded_least_squares(&coupling, &unit, vec![0.0; 3]) else {
            panic!("at most 3 can be reached")
        };
        let reach: f64 = (0..3).map(|c| coupling.column_dot(c, &y).max(0.0)).sum();
        assert!(reach < y[0] * 3.5 - 1e-9);
    }
}
