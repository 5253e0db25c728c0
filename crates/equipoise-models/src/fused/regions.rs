//! Regions of a graph with X = I: neighbours that are nearly equal become equal, at the best common value.
//!
//! With the pieces k and the order of neighbouring pieces fixed, the objective is a quadratic a piece, least at
//!
//! ```text
//! b_k = (sum of y over k  -  lambda sum over edges that leave k of w sign(b_k - b_other)) / size of k
//! ```
//!
//! A few thresholds are tried; the result of the best is kept if it has a lower objective than what there was.
//! So an iterate that is near the optimum becomes one with exact regions, and often the optimum.
//!
//! Must not know: multipliers, certificates.

use equipoise::{Control, Pass};

use super::interior::objective;
use super::proof::Task;

/// Thresholds, relative to the spread of b.
const THRESHOLDS: [f64; 9] = [1.0, 0.1, 1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 1e-5, 1e-7];

/// Where to begin when nothing is known: in the middle.
pub(super) const MIDDLE: usize = 4;

/// Fuses, where that lowers the objective. The threshold given is tried first, then coarser ones as long as they are better, else
/// finer ones. Returns the best: where to begin next time, when b is nearer to the optimum.
pub(super) fn fuse(task: &Task<'_>, b: &mut Vec<f64>, begin: usize, control: &Control) -> Pass<usize> {
    let spread = b.iter().fold(f64::NEG_INFINITY, |most, b| most.max(*b))
        - b.iter().fold(f64::INFINITY, |least, b| least.min(*b));
    if !(spread > 0.0 && spread.is_finite()) {
        return Ok(begin);
    }
    let (before, from) = (objective(task, b), b.clone());
    let (mut least, mut best) = (before, begin);
    // Whether the result at this threshold is better than all so far; then it is taken.
    let mut is_better = |k: usize| -> Pass<bool> {
        control.check()?;
        let fused = fused(task, &from, THRESHOLDS[k] * spread);
        let value = objective(task, &fused);
        let is_better = value < least;
        if is_better {
            (least, *b, best) = (value, fused, k);
        }
        Ok(is_better)
    };
    let mut is_found = is_better(begin)?;
    let mut coarser = begin;
    while coarser > 0 && is_better(coarser - 1)? {
        coarser -= 1;
    }
    if coarser == begin {
        for k in begin + 1..THRESHOLDS.len() {
            let found = is_better(k)?;
            if is_found && !found {
                // Finer ones leave more apart.
                break;
            }
            is_found |= found;
        }
    }
    Ok(best)
}

fn fused(task: &Task<'_>, b: &[f64], threshold: f64) -> Vec<f64> {
    let mut is_tie = vec![false; task.d.rows()];
    task.d.for_each(|r, columns, _| {
        if let &[u, v] = columns {
            is_tie[r] = (b[u] - b[v]).abs() <= threshold;
        }
    });
    let (number, count) = task.d.components(|r| is_tie[r]);
    let (mut sums, mut means, mut sizes) = (vec![0.0; count], vec![0.0; count], vec![0.0; count]);
    for (c, k) in number.iter().enumerate() {
        sums[*k] += task.y[c];
        means[*k] += b[c];
        sizes[*k] += 1.0;
    }
    means.iter_mut().zip(&sizes).for_each(|(mean, size)| *mean /= size);
    task.d.for_each(|_, columns, values| {
        if let &[u, v] = columns {
            let (k, l) = (number[u], number[v]);
            if k != l && means[k] != means[l] {
                let (high, low) = if means[k] > means[l] { (k, l) } else { (l, k) };
                let push = task.lambda * values[1].abs();
                sums[high] -= push;
                sums[low] += push;
            }
        }
    });
    number.iter().map(|k| sums[*k] / sizes[*k]).collect()
}
