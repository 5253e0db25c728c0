//! Can the pairs of the graph reach the optimum? Decided before the first iteration.
//!
//! Pairs (i, j) exchange vectors v of `range(A_i)` and `range(A_j)` alike: block i takes v, block j gives it. The
//! method reaches every feasible point (h = 0) exactly when these exchanges span all (`v_1..v_b`), `v_i` in `range(A_i)`,
//! with sum zero. If every `A_i` has full row rank a connected graph suffices; with one row, the blocks that touch it
//! must be connected among themselves; otherwise the rank is computed.
//! Reference: the paper, section 3.1 (its necessary condition is too strong; see docs), and Necoara and Takac on
//! sketch descent.

use faer::{Mat, Side};

use super::Blocks;
use super::blocks::pivot_ratio;
use crate::control::{Control, Pass};
use crate::coupling::{Coupling, Shape};
use crate::error::{Error, Result};
use crate::graph::Graph;
use crate::matrix::{axpy, dot};

/// Smallest pivot ratio of `A_i A_i'` that counts as full row rank.
const FULL_RANK: f64 = 1e-12;
/// Size up to which the rank is computed; beyond it the run is its own test (it cannot end `Converged` wrongly).
const LARGEST_RANK_TEST: usize = 1200;

/// Refuses a graph whose pairs cannot reach every feasible point.
pub(super) fn check(graph: &Graph, blocks: &Blocks, coupling: &Coupling, control: &Control) -> Result<()> {
    let m = coupling.rows();
    if blocks.len() == 1 {
        return Ok(());
    }
    check_every_block_drawn(graph, blocks, coupling)?;
    if m == 0 {
        return Ok(());
    }
    if m == 1 {
        return check_one_row(graph, blocks, coupling);
    }
    let whole = match coupling.shape() {
        Shape::BlockSum => blocks.are_uniform(m),
        _ => all_full_rank(blocks, coupling, control)?,
    };
    if whole { graph.check_connected() } else { check_rank(graph, blocks, coupling, control) }
}

fn check_one_row(graph: &Graph, blocks: &Blocks, coupling: &Coupling) -> Result<()> {
    if let Shape::Row(weights) = coupling.shape()
        && weights.len().is_none()
    {
        return graph.check_connected();
    }
    let touches = |i: usize| blocks.coordinates(i).any(|c| coupling.column_dot(c, &[1.0]) != 0.0);
    graph.check_connected_among(touches)
}

/// A block that is in no pair never moves.
fn check_every_block_drawn(graph: &Graph, blocks: &Blocks, coupling: &Coupling) -> Result<()> {
    if graph.is_clique() {
        return Ok(());
    }
    let mut drawn = vec![false; blocks.len()];
    graph.edges().for_each(|(i, j)| (drawn[i], drawn[j]) = (true, true));
    // Blocks that a row touches are found, with better evidence, by the tests of connection.
    let untouched = |i: usize| {
        let column_is_zero = |c: usize| (0..coupling.rows()).all(|r| coupling.entry(r, c) == 0.0);
        coupling.rows() == 0 || blocks.coordinates(i).all(column_is_zero)
    };
    let idle: Vec<usize> = (0..blocks.len()).filter(|&i| !drawn[i] && untouched(i)).collect();
    if idle.is_empty() {
        return Ok(());
    }
    let needed = blocks.dimension() - coupling.rows();
    let lost: usize = idle.iter().map(|&i| blocks.size(i)).sum();
    let nodes = idle.into_iter().take(10).collect();
    Err(Error::GraphCannotMove { nodes, spanned: needed - lost, needed })
}

fn block_gram(blocks: &Blocks, coupling: &Coupling, i: usize) -> Vec<f64> {
    let m = coupling.rows();
    let mut gram = vec![0.0; m * m];
    coupling.add_outers(blocks.coordinates(i), &mut gram);
    gram
}

fn all_full_rank(blocks: &Blocks, coupling: &Coupling, control: &Control) -> Pass<bool> {
    let norms = coupling.row_norms_within(blocks.dimension(), control)?;
    for i in 0..blocks.len() {
        control.check()?;
        let tall = blocks.size(i) >= norms.len();
        if !(tall && pivot_ratio(&block_gram(blocks, coupling, i), &norms) > FULL_RANK) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// An orthonormal basis of the range of `A_i`, rows scaled to unit length.
fn range_basis(gram: &[f64], norms: &[f64]) -> Vec<Vec<f64>> {
    let m = norms.len();
    let scaled = Mat::from_fn(m, m, |r, c| gram[c.min(r) * m + r.max(c)] / (norms[r] * norms[c]));
    eigenvectors_above(&scaled, 1e-11)
}

/// Unit eigenvectors whose eigenvalue is above `share` of the largest.
fn eigenvectors_above(matrix: &Mat<f64>, share: f64) -> Vec<Vec<f64>> {
    let order = matrix.nrows();
    let Ok(eigen) = matrix.self_adjoint_eigen(Side::Lower) else { return Vec::new() };
    let values = eigen.S().column_vector();
    let largest = (0..order).map(|k| values[k]).fold(0.0, f64::max);
    let kept = (0..order).filter(|&k| values[k] > share * largest && values[k] > 0.0);
    kept.map(|k| (0..order).map(|r| eigen.U()[(r, k)]).collect()).collect()
}

fn check_rank(graph: &Graph, blocks: &Blocks, coupling: &Coupling, control: &Control) -> Result<()> {
    let norms = coupling.row_norms_within(blocks.dimension(), control)?;
    let m = norms.len();
    if blocks.len().saturating_mul(m) > 100 * LARGEST_RANK_TEST {
        return Ok(());
    }
    let mut bases = Vec::with_capacity(blocks.len());
    for i in 0..blocks.len() {
        control.check()?;
        bases.push(range_basis(&block_gram(blocks, coupling, i), &norms));
    }
    let mut starts = vec![0];
    bases.iter().for_each(|basis| starts.push(starts[starts.len() - 1] + basis.len()));
    let total = starts[blocks.len()];
    let needed = total.saturating_sub(m);
    if total > LARGEST_RANK_TEST {
        return Ok(());
    }
    let mut span: Vec<Vec<f64>> = Vec::new();
    for (i, j) in pairs_with_ranges(graph, &bases) {
        if span.len() >= needed {
            return Ok(());
        }
        control.check()?;
        for exchange in common_directions(&bases[i], &bases[j]) {
            let mut vector = vec![0.0; total];
            bases[i].iter().enumerate().for_each(|(k, b)| vector[starts[i] + k] = dot(b, &exchange));
            bases[j].iter().enumerate().for_each(|(k, b)| vector[starts[j] + k] = -dot(b, &exchange));
            if orthogonalise(&mut vector, &span) {
                span.push(vector);
            }
        }
    }
    if span.len() >= needed {
        return Ok(());
    }
    let nodes = unreached_nodes(&bases, &starts, &span, m, control)?;
    let rest = blocks.dimension() - total;
    Err(Error::GraphCannotMove { nodes, spanned: rest + span.len(), needed: rest + needed })
}

/// The edges between blocks that a row touches; of a clique, without walking through all the others.
fn pairs_with_ranges(graph: &Graph, bases: &[Vec<Vec<f64>>]) -> Box<dyn Iterator<Item = (usize, usize)>> {
    let touched: Vec<usize> = (0..bases.len()).filter(|&i| !bases[i].is_empty()).collect();
    if graph.is_clique() {
        let count = touched.len();
        return Box::new((0..count).flat_map(move |a| {
            let touched = touched.clone();
            (a + 1..count).map(move |b| (touched[a], touched[b]))
        }));
    }
    let edges: Vec<_> =
        graph.edges().filter(|&(i, j)| !bases[i].is_empty() && !bases[j].is_empty()).collect();
    Box::new(edges.into_iter())
}

/// A basis of the directions that lie in both ranges.
fn common_directions(first: &[Vec<f64>], second: &[Vec<f64>]) -> Vec<Vec<f64>> {
    if first.is_empty() || second.is_empty() {
        return Vec::new();
    }
    // Singular values 1 of first' second belong to common directions.
    let overlap = |a: &[f64], b: &[f64]| second.iter().map(|v| dot(a, v) * dot(b, v)).sum::<f64>();
    let matrix = Mat::from_fn(first.len(), first.len(), |r, c| overlap(&first[r], &first[c]));
    let Ok(eigen) = matrix.self_adjoint_eigen(Side::Lower) else { return Vec::new() };
    let values = eigen.S().column_vector();
    let common = (0..first.len()).filter(|&k| values[k] > 1.0 - 1e-9);
    let combine = |k: usize| {
        let mut direction = vec![0.0; first[0].len()];
        first.iter().enumerate().for_each(|(r, basis)| axpy(eigen.U()[(r, k)], basis, &mut direction));
        direction
    };
    common.map(combine).collect()
}

/// Makes a vector orthonormal to others; false when nothing of it is left.
fn orthogonalise(vector: &mut [f64], others: &[Vec<f64>]) -> bool {
    let size = dot(vector, vector).sqrt();
    for _ in 0..2 {
        for other in others {
            let along = dot(other, vector);
            axpy(-along, other, vector);
        }
    }
    let left = dot(vector, vector).sqrt();
    vector.iter_mut().for_each(|v| *v /= left.max(f64::MIN_POSITIVE));
    left > 1e-9 * size && left > 0.0
}

/// Blocks on which a feasible direction lives that no exchange makes (at most ten).
fn unreached_nodes(
    bases: &[Vec<Vec<f64>>],
    starts: &[usize],
    span: &[Vec<f64>],
    m: usize,
    control: &Control,
) -> Pass<Vec<usize>> {
    let total = starts[bases.len()];
    // The constraint sum_i v_i = 0 in these coordinates: m vectors to be orthogonal to.
    let mut against: Vec<Vec<f64>> = Vec::new();
    for row in 0..m {
        control.check()?;
        let mut vector: Vec<f64> = bases.iter().flat_map(|basis| basis.iter().map(|b| b[row])).collect();
        if orthogonalise(&mut vector, &against) {
            against.push(vector);
        }
    }
    for candidate in 0..total {
        control.check()?;
        let mut vector = vec![0.0; total];
        vector[candidate] = 1.0;
        if !orthogonalise(&mut vector, &against) || !orthogonalise(&mut vector, span) {
            continue;
        }
        let size = |i: usize| vector[starts[i]..starts[i + 1]].iter().map(|v| v.abs()).fold(0.0, f64::max);
        let nodes: Vec<usize> = (0..bases.len()).filter(|&i| size(i) > 1e-8).take(10).collect();
        if !nodes.is_empty() {
            return Ok(nodes);
        }
    }
    Ok(Vec::new())
}
