//! Regions of a graph with X = I: neighbours that are nearly equal become equal, at the best common value.
//!
//! With the pieces k and the order of neighbouring pieces fixed, the objective is a quadratic a piece, least at
//!
//! ```text
//! b_k = (sum of y over k  -  lambda sum over edges that leave k of w sign(b_k - b_other)) / size of k
//! ```
//!
//! Thresholds from coarse to fine are tried; the result of the best is kept if it has a lower objective than what there was.
//! So an iterate that is near the optimum becomes one with exact regions, and often the optimum.
//!
//! Must not know: multipliers, certificates.

use equipoise::{Control, Pass};

use super::interior::objective;
use super::proof::Task;

/// Thresholds, relative to the spread of b.
const THRESHOLDS: [f64; 9] = [1.0, 0.1, 1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 1e-5, 1e-7];

/// Fuses, where that lowers the objective. Thresholds before the one given are left out; returns where to begin next time, when b
/// is nearer to the optimum: from the first where none of them did.
pub(super) fn fuse(task: &Task<'_>, b: &mut Vec<f64>, begin: usize, control: &Control) -> Pass<usize> {
    let spread = b.iter().fold(f64::NEG_INFINITY, |most, b| most.max(*b))
        - b.iter().fold(f64::INFINITY, |least, b| least.min(*b));
    if !(spread > 0.0 && spread.is_finite()) {
        return Ok(begin);
    }
    let (before, from) = (objective(task, b), b.clone());
    let (mut least, mut next) = (before, 0);
    for (k, threshold) in THRESHOLDS.iter().enumerate().skip(begin) {
        control.check()?;
        let fused = fused(task, &from, threshold * spread, control)?;
        let value = objective(task, &fused);
        if value < least {
            (least, *b) = (value, fused);
            next = k.saturating_sub(1);
        } else if least < before {
            // Finer ones leave more apart.
            break;
        }
    }
    Ok(next)
}

fn fused(task: &Task<'_>, b: &[f64], threshold: f64, control: &Control) -> Pass<Vec<f64>> {
    let mut is_tie = vec![false; task.d.rows()];
    task.d.for_each_within(control, |r, columns, _| {
        if let &[u, v] = columns {
            is_tie[r] = (b[u] - b[v]).abs() <= threshold;
        }
    })?;
    let (number, count) = task.d.components_within(|r| is_tie[r], control)?;
    let (mut sums, mut means, mut sizes) = (vec![0.0; count], vec![0.0; count], vec![0.0; count]);
    for (c, k) in number.iter().enumerate() {
        sums[*k] += task.y[c];
        means[*k] += b[c];
        sizes[*k] += 1.0;
    }
    means.iter_mut().zip(&sizes).for_each(|(mean, size)| *mean /= size);
    task.d.for_each_within(control, |_, columns, values| {
        if let &[u, v] = columns {
            let (k, l) = (number[u], number[v]);
            if k != l && means[k] != means[l] {
                let (high, low) = if means[k] > means[l] { (k, l) } else { (l, k) };
                let push = task.lambda * values[1].abs();
                sums[high] -= push;
                sums[low] += push;
            }
        }
    })?;
    Ok(number.iter().map(|k| sums[*k] / sizes[*k]).collect())
}
