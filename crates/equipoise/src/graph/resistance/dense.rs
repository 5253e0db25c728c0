//! K as a dense matrix: resistances by one factorisation.
//!
//! `K^+ = (K + s 1 1'/b)^{-1} - 1 1'/(s b)`, and the part that is subtracted is the same in all entries, so that
//! `r_ij = Z_ii + Z_jj - 2 Z_ij` with Z the inverse alone.
//!
//! - Given: nodes, edges with weights. Returns: resistances. Time O(b^3), in parts short enough to be stopped.
//! - Must not know: probabilities, cliques.

use faer::linalg::solvers::Solve;
use faer::{Mat, Side};

use crate::control::{Control, Pass};

/// The largest number of nodes that is worth a dense factorisation.
pub(super) const MOST_NODES: usize = 2000;
/// Columns of the inverse that are computed at a time.
const WIDTH: usize = 128;

/// `sum_e w_e (e_i - e_j)(e_i - e_j)' + s 1 1'/b`, s the mean of the diagonal.
fn matrix(nodes: usize, edges: &[(u32, u32)], weights: &[f64]) -> Mat<f64> {
    let mut k = Mat::<f64>::zeros(nodes, nodes);
    for (&(i, j), &w) in edges.iter().zip(weights) {
        let (i, j) = (i as usize, j as usize);
        k[(i, i)] += w;
        k[(j, j)] += w;
        k[(i, j)] -= w;
        k[(j, i)] -= w;
    }
    let b = nodes as f64;
    let shift = (0..nodes).map(|i| k[(i, i)]).sum::<f64>() / b / b;
    for i in 0..nodes {
        for j in 0..nodes {
            k[(i, j)] += shift;
        }
    }
    k
}

/// The resistance of every edge; `None` if the matrix is singular but for rounding.
pub(super) fn resistances(
    nodes: usize,
    edges: &[(u32, u32)],
    weights: &[f64],
    control: &Control,
) -> Pass<Option<Vec<f64>>> {
    control.check()?;
    let Ok(factor) = matrix(nodes, edges, weights).llt(Side::Lower) else { return Ok(None) };
    let mut z = Mat::<f64>::identity(nodes, nodes);
    for first in (0..nodes).step_by(WIDTH) {
        control.check()?;
        factor.solve_in_place(z.get_mut(.., first..nodes.min(first + WIDTH)));
    }
    let between = |&(i, j): &(u32, u32)| {
        let (i, j) = (i as usize, j as usize);
        z[(i, i)] + z[(j, j)] - z[(i, j)] - z[(j, i)]
    };
    Ok(Some(edges.iter().map(between).collect()))
}
