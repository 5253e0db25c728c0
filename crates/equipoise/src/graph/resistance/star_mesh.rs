//! Effective resistances of all edges, exactly, by eliminating nodes (star to mesh) and going back.
//!
//! A node v with neighbours N, weights `w_j`, `W = sum_j w_j` and shares `s_j = w_j / W` is replaced by edges of weight
//! `w_i w_j / W` among N: resistances among the others do not change. On the way back
//!
//! ```text
//! r(v, k) = 1/W + sum_j s_j r(j, k) - sum_{i<j} s_i s_j r(i, j)       for every k in N
//! ```
//!
//! needs only resistances among N, all of which are known by then. This is sparse Cholesky with the selected inverse
//! (Takahashi), written for Laplacians: weights are added, never subtracted.
//!
//! - Given: nodes, edges, positive weights. Returns: `r_e` for every edge; `None` if elimination would fill in too much.
//! - Must not know: probabilities, curvature.
//!
//! Reference: Takahashi, Fagan and Chen 1973; nodes of least degree first (Tinney and Walker 1967).

use std::collections::{BTreeMap, BTreeSet};

use crate::control::{Control, Pass};

/// Operations (sum of squared degrees at elimination) that are still worth it: a few tenths of a second.
const MOST_OPERATIONS: usize = 4_000_000;

/// A node as it was when it was eliminated.
struct Star {
    node: u32,
    /// Neighbours, with their weights; on the way back the weights are replaced by resistances.
    arms: Vec<(u32, f64)>,
}

/// The resistance of every edge, for a connected graph.
pub(super) fn resistances(
    nodes: usize,
    edges: &[(u32, u32)],
    weights: &[f64],
    control: &Control,
) -> Pass<Option<Vec<f64>>> {
    let Some(mut stars) = eliminate(nodes, edges, weights, control)? else { return Ok(None) };
    let mut place = vec![0; nodes];
    for (p, star) in stars.iter().enumerate() {
        place[star.node as usize] = p;
    }
    for p in (0..stars.len()).rev() {
        look(control, p)?;
        let found = resistances_of(&stars, &place, p);
        stars[p].arms.iter_mut().zip(found).for_each(|(arm, r)| arm.1 = r);
    }
    Ok(Some(edges.iter().map(|&(i, j)| between(&stars, &place, i, j)).collect()))
}

/// Eliminates all nodes, those with the fewest neighbours first.
fn eliminate(
    nodes: usize,
    edges: &[(u32, u32)],
    weights: &[f64],
    control: &Control,
) -> Pass<Option<Vec<Star>>> {
    let mut arms: Vec<BTreeMap<u32, f64>> = vec![BTreeMap::new(); nodes];
    for (&(i, j), &weight) in edges.iter().zip(weights) {
        arms[i as usize].insert(j, weight);
        arms[j as usize].insert(i, weight);
    }
    let mut queue: BTreeSet<(usize, u32)> = (0..nodes).map(|v| (arms[v].len(), v as u32)).collect();
    let mut stars = Vec::with_capacity(nodes);
    let mut operations = 0;
    while let Some((degree, node)) = queue.pop_first() {
        look(control, stars.len())?;
        operations += degree * degree;
        if operations > MOST_OPERATIONS {
            return Ok(None);
        }
        let star: Vec<(u32, f64)> = std::mem::take(&mut arms[node as usize]).into_iter().collect();
        let total: f64 = star.iter().map(|arm| arm.1).sum();
        for &(i, weight) in &star {
            let of_i = &mut arms[i as usize];
            queue.remove(&(of_i.len(), i));
            of_i.remove(&node);
            for &(j, other) in star.iter().filter(|arm| arm.0 != i) {
                *of_i.entry(j).or_insert(0.0) += weight * (other / total);
            }
            queue.insert((of_i.len(), i));
        }
        stars.push(Star { node, arms: star });
    }
    Ok(Some(stars))
}

/// Whether to go on, asked at every 64th node.
fn look(control: &Control, node: usize) -> Pass {
    if node.is_multiple_of(64) { control.check() } else { Ok(()) }
}

/// The resistances from the node of star p to its neighbours; those of all later stars are known.
fn resistances_of(stars: &[Star], place: &[usize], p: usize) -> Vec<f64> {
    let arms = &stars[p].arms;
    let total: f64 = arms.iter().map(|arm| arm.1).sum();
    let mut found = vec![1.0 / total; arms.len()];
    let mut spread = 0.0;
    for (a, &(i, weight)) in arms.iter().enumerate() {
        for (b, &(j, other)) in arms.iter().enumerate().take(a) {
            let r = between(stars, place, i, j);
            found[a] += other / total * r;
            found[b] += weight / total * r;
            spread += (weight / total) * (other / total) * r;
        }
    }
    for r in &mut found {
        *r -= spread;
    }
    found
}

/// The resistance between two nodes that are neighbours when the first of them is eliminated.
fn between(stars: &[Star], place: &[usize], i: u32, j: u32) -> f64 {
    let (first, second) = if place[i as usize] < place[j as usize] { (i, j) } else { (j, i) };
    let arms = &stars[place[first as usize]].arms;
    // Elimination makes all neighbours of a star neighbours of each other.
    let at =
        arms.binary_search_by_key(&second, |arm| arm.0).expect("elimination joins the neighbours of a node");
    arms[at].1
}
