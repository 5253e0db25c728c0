//! One piece for every component of a graph: what is left where lambda is so large that no difference remains.
//!
//! ```text
//! b = mean of y over the component        D'z = y - b , |z| <= lambda      (X = I, or some samples not observed)
//! ```
//!
//! Along a tree that spans the component z is unique: the edge above a node carries the sum of `y - b` over everything below
//! it, which is at most half of `sum |y - b|`. So whenever lambda times the smallest weight of an edge is at least that, b is
//! the optimum and z proves it, however large lambda is; larger ones change nothing, and no method has to work with them.
//! On a graph that is a tree there is no other z, and the largest of `|z|` is `lambda_max`.
//!
//! - Given: observations and D, whose rows are differences of two coefficients. Returns: b, z and theta.
//! - Must not know: methods, certificates; numbers here are plain.

use equipoise::{Control, Pass, matrix};

use super::design::Design;
use super::interior::{Found, shrunk};
use super::penalty::Differences;
use super::proof::{Dual, Task};

/// The smallest lambda that leaves one piece of every component, where the graph has no cycle and X does not mix coefficients.
pub(super) fn lambda_max(
    y: &[f64],
    design: Design<'_>,
    d: &Differences,
    control: &Control,
) -> Pass<Option<f64>> {
    // A forest has at least one row less than columns.
    if d.rows() >= d.columns() {
        return Ok(None);
    }
    let (number, count) = d.all_components(control)?;
    if d.rows() + count != d.columns() {
        return Ok(None);
    }
    let of_means = |b: Vec<f64>| Some(matrix::max_abs(&along_trees(d, left(y, design, &b)?)));
    Ok(means(y, design, &number, count).and_then(of_means))
}

/// The optimum, where lambda is seen to leave a single piece of every component; `None` where it is not, or X is a matrix.
pub(super) fn solve(task: &Task<'_>, control: &Control) -> Pass<Option<Found>> {
    if !task.is_graph || task.d.rows() == 0 || matches!(task.design, Design::Matrix(_)) {
        return Ok(None);
    }
    // A look at one component, as if it were the only one, settles most cases: what is far from one number is in pieces.
    let mean = task.y.iter().sum::<f64>() / task.y.len() as f64;
    let largest = task.y.iter().fold(0.0_f64, |most, y| most.max((y - mean).abs()));
    let mut weights = (f64::INFINITY, 0.0_f64);
    task.d.for_each(|_, _, values| {
        let weight = values[1].abs();
        weights = (weights.0.min(weight), weights.1.max(weight));
    });
    control.check()?;
    let (number, count) = task.d.all_components(control)?;
    let most = task.d.most_entries().1 as f64;
    if count == 1 && task.lambda * weights.1 * most < largest * (1.0 - 1e-9) {
        return Ok(None);
    }
    control.check()?;
    Ok(in_pieces(task, &number, count, weights.0))
}

/// One piece for every component, where lambda is seen to leave that. `least` is the smallest weight of an edge.
fn in_pieces(task: &Task<'_>, number: &[usize], count: usize, least: f64) -> Option<Found> {
    let mut b = means(task.y, task.design, number, count)?;
    let left = left(task.y, task.design, &b)?;
    let mut sizes = vec![0.0; count];
    left.iter().zip(number).for_each(|(left, k)| sizes[*k] += left.abs());
    let needed = 0.5 * sizes.into_iter().fold(0.0, f64::max);
    // A little more, against rounding of the sums.
    let is_enough = task.lambda * least >= needed * (1.0 + 1e-9);
    if !is_enough {
        return None;
    }
    let z = along_trees(task.d, left);
    let theta = match task.design {
        Design::Observed { indices, .. } => indices.iter().zip(task.y).map(|(at, y)| y - b[*at]).collect(),
        _ => Vec::new(),
    };
    if task.sparse > 0.0 {
        if task.design != Design::Identity {
            return None;
        }
        b.iter_mut().for_each(|b| *b = shrunk(*b, task.sparse));
    }
    Some(Found { b, dual: Dual { z, theta }, rounds: 0, halt: None })
}

/// The mean of the observations of every component, in the place of each of its coefficients.
fn means(y: &[f64], design: Design<'_>, number: &[usize], count: usize) -> Option<Vec<f64>> {
    let (mut sums, mut sizes) = (vec![0.0; count], vec![0.0; count]);
    let mut add = |at: usize, y: f64| {
        sums[number[at]] += y;
        sizes[number[at]] += 1.0;
    };
    match design {
        Design::Identity => y.iter().enumerate().for_each(|(at, y)| add(at, *y)),
        Design::Observed { indices, .. } => indices.iter().zip(y).for_each(|(at, y)| add(*at, *y)),
        Design::Matrix(_) => return None,
    }
    let means: Vec<f64> = sums.iter().zip(&sizes).map(|(sum, size)| sum / size).collect();
    means.iter().all(|mean| mean.is_finite()).then(|| number.iter().map(|k| means[*k]).collect())
}

/// `y - b` in the place of every coefficient; 0 where nothing is observed.
fn left(y: &[f64], design: Design<'_>, b: &[f64]) -> Option<Vec<f64>> {
    match design {
        Design::Identity => Some(y.iter().zip(b).map(|(y, b)| y - b).collect()),
        Design::Observed { indices, .. } => {
            let mut all = vec![0.0; b.len()];
            indices.iter().zip(y).for_each(|(at, y)| all[*at] = y - b[*at]);
            Some(all)
        }
        Design::Matrix(_) => None,
    }
}

/// z of `D'z = v` on trees that span the components, from their leaves up; 0 on every other edge.
fn along_trees(d: &Differences, mut v: Vec<f64>) -> Vec<f64> {
    let n = d.columns();
    let mut edges = Vec::with_capacity(d.rows());
    d.for_each(|_, columns, values| edges.push((columns[0], columns[1], values[1])));
    let mut starts = vec![0_usize; n + 1];
    edges.iter().for_each(|(u, w, _)| [u, w].into_iter().for_each(|c| starts[c + 1] += 1));
    (0..n).for_each(|c| starts[c + 1] += starts[c]);
    let (mut at, mut next) = (vec![0_usize; 2 * edges.len()], starts.clone());
    for (r, (u, w, _)) in edges.iter().enumerate() {
        for c in [*u, *w] {
            at[next[c]] = r;
            next[c] += 1;
        }
    }
    // By breadth, so that trees are shallow and their sums short.
    let (mut above, mut order) = (vec![usize::MAX; n], Vec::with_capacity(n));
    let mut is_seen = vec![false; n];
    for root in 0..n {
        if is_seen[root] {
            continue;
        }
        is_seen[root] = true;
        order.push(root);
        let mut done = order.len() - 1;
        while done < order.len() {
            let c = order[done];
            done += 1;
            for r in &at[starts[c]..starts[c + 1]] {
                let (u, w, _) = edges[*r];
                let other = if u == c { w } else { u };
                if !is_seen[other] {
                    (is_seen[other], above[other]) = (true, *r);
                    order.push(other);
                }
            }
        }
    }
    let mut z = vec![0.0; edges.len()];
    for c in order.into_iter().rev() {
        let r = above[c];
        if r == usize::MAX {
            continue;
        }
        let (u, w, weight) = edges[r];
        // Row r of D has -weight at u and weight at w.
        let (other, sign) = if w == c { (u, 1.0) } else { (w, -1.0) };
        z[r] = sign * v[c] / weight;
        v[other] += v[c];
    }
    z
}

#[cfg(test)]
mod tests {
    use super::super::penalty::{Edge, Penalty};
    use super::*;

    #[test]
    fn multipliers_along_a_tree_by_hand() {
        let edges = vec![
            Edge { from: 1, to: 0, weight: 2.0 },
            Edge { from: 1, to: 2, weight: 1.0 },
            Edge { from: 3, to: 4, weight: 4.0 },
        ];
        let d = Penalty::Graph(edges).differences(5).expect("it works");
        let y = [5.0, 0.0, 1.0, 3.0, 7.0];
        let (number, count) = d.all_components(&Control::unlimited()).expect("nothing ends it");
        let b = means(&y, Design::Identity, &number, count).expect("it works");
        assert_eq!(b, [2.0, 2.0, 2.0, 5.0, 5.0]);
        let z = along_trees(&d, left(&y, Design::Identity, &b).expect("it works"));
        assert_eq!(z, [1.5, -1.0, 0.5]);
        assert_eq!(lambda_max(&y, Design::Identity, &d, &Control::unlimited()), Ok(Some(1.5)));
        let mut back = vec![0.0; 5];
        d.add_transposed(1.0, &z, &mut back);
        assert_eq!(back, [3.0, -2.0, -1.0, -2.0, 2.0]);
    }

    #[test]
    fn only_a_lambda_that_is_large_enough_leaves_one_piece() {
        let d = Penalty::Grid { rows: 2, columns: 2 }.differences(4).expect("it works");
        let y = [4.0, 0.0, 0.0, 0.0];
        let task = |lambda| Task {
            y: &y,
            design: Design::Identity,
            d: &d,
            order: None,
            is_graph: true,
            lambda,
            sparse: 0.0,
        };
        // lambda_max is 1.5; half of the sum of sizes, 3, is what is seen without a search.
        let solve = |lambda| solve(&task(lambda), &Control::unlimited()).expect("nothing ends it");
        assert!(solve(2.9).is_none() && solve(1.0).is_none());
        for lambda in [3.1, 1e12, 1e300] {
            let found = solve(lambda).expect("it works");
            assert_eq!(found.b, [1.0; 4]);
            assert!(found.dual.z.iter().all(|z| z.abs() <= 3.0), "{found:?}");
        }
    }
}
