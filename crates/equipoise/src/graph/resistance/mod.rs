//! Effective resistances `r_e = (e_i - e_j)' K^+ (e_i - e_j)` of the edges of a graph, `K = sum_e w_e (e_i - e_j)(e_i - e_j)'`.
//!
//! - Given: nodes, edges that connect them, positive weights. Returns: `r_e` for every edge, exact but for rounding.
//! - Must not know: probabilities, curvature, why somebody asks.
//!
//! | graph | how |
//! |---|---|
//! | tree | `r_e = 1 / w_e` |
//! | at most 4 edges a node, or more than 2000 nodes | elimination with little fill (`star_mesh.rs`) |
//! | otherwise, up to 2000 nodes | dense Cholesky (`dense.rs`) |
//!
//! Reference: Klein and Randic 1993.

mod dense;
mod star_mesh;

use crate::control::{Control, Pass};

/// The resistance of every edge of a connected graph; `None` where that would take a dense matrix of more than 2000 nodes,
/// or weights are so far apart that rounding makes K singular.
///
/// ```
/// use equipoise::{Control, graph::resistances};
/// // A triangle of unit weights: each edge beside a path of two.
/// let found = resistances(3, &[(0, 1), (0, 2), (1, 2)], &[1.0; 3], &Control::unlimited())?;
/// assert!(found.is_some_and(|found| found.iter().all(|r| (r - 2.0 / 3.0).abs() < 1e-12)));
/// # Ok::<(), equipoise::Halt>(())
/// ```
pub fn resistances(
    nodes: usize,
    edges: &[(u32, u32)],
    weights: &[f64],
    control: &Control,
) -> Pass<Option<Vec<f64>>> {
    control.check()?;
    if edges.len() + 1 == nodes {
        return Ok(Some(weights.iter().map(|w| 1.0 / w).collect()));
    }
    // Weights up to 1, so that nothing overflows or vanishes.
    let scale = weights.iter().copied().fold(0.0, f64::max);
    let relative: Vec<f64> = weights.iter().map(|w| w / scale).collect();
    let sparse = edges.len() <= 4 * nodes || nodes > dense::MOST_NODES;
    let mut found = if sparse { star_mesh::resistances(nodes, edges, &relative, control)? } else { None };
    if found.is_none() && nodes <= dense::MOST_NODES {
        found = dense::resistances(nodes, edges, &relative, control)?;
    }
    if let Some(values) = &mut found {
        values.iter_mut().for_each(|value| *value /= scale);
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A ring of n nodes with a few chords, weights of many sizes.
    fn chords(n: u32) -> (Vec<(u32, u32)>, Vec<f64>) {
        let ring = (0..n).map(|i| (i.min((i + 1) % n), i.max((i + 1) % n)));
        let edges: Vec<_> = ring.chain((0..n / 3).map(|i| (i, i + n / 2))).collect();
        let weights = (0..edges.len()).map(|e| [0.01, 0.1, 1.0, 10.0, 100.0][e % 5]).collect();
        (edges, weights)
    }

    #[test]
    fn both_ways_agree_and_obey_foster() {
        for n in [6, 13, 40] {
            let (edges, weights) = chords(n);
            let (control, nodes) = (Control::unlimited(), n as usize);
            let sparse = star_mesh::resistances(nodes, &edges, &weights, &control)
                .expect("not halted")
                .expect("small");
            let full = dense::resistances(nodes, &edges, &weights, &control)
                .expect("not halted")
                .expect("connected");
            let found = resistances(nodes, &edges, &weights, &control).expect("not halted").expect("small");
            for ((a, b), c) in sparse.iter().zip(&full).zip(&found) {
                assert!((a / b - 1.0).abs() < 1e-10 && (a / c - 1.0).abs() < 1e-10, "{a} {b} {c}");
            }
            let sum: f64 = found.iter().zip(&weights).map(|(r, w)| r * w).sum();
            assert!((sum / f64::from(n - 1) - 1.0).abs() < 1e-11, "{sum}");
        }
    }

    #[test]
    fn who_wants_it_stopped_is_answered() {
        let (edges, weights) = chords(40);
        let late = Control::unlimited().within(0.0);
        assert!(resistances(40, &edges, &weights, &late).is_err());
        assert!(star_mesh::resistances(40, &edges, &weights, &late).is_err());
        assert!(dense::resistances(40, &edges, &weights, &late).is_err());
    }
}
