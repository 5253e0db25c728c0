//! What bounds on `z = M x` prove of x.
//!
//! - Given: M; for every row an interval of `z_k`; for every column an interval that is already known of `x_c`.
//! - Returns: intervals for the columns F of which nothing was known.
//! - Must not know: losses, where the intervals come from.
//!
//! Rows are scaled so that `|G x_F| <= 1` with G the scaled columns F. With any matrix X, `x = X G x - (X G - I) x`. For
//! `r_c = sum_k |X_ck|` and `e = max_c sum_j |X G - I|_cj r_j / r_c < 1` it follows that
//!
//! ```text
//! |x_c| <= r_c / (1 - e) .
//! ```
//!
//! X is a left inverse of G found in floating point; the inequality holds whatever X is, and `X G - I` is enclosed.

use faer::linalg::solvers::Solve;
use faer::{Mat, Side};

use crate::control::{Control, Pass};
use crate::enclosure::{self, Enclosure, above};
use crate::matrix::Matrix;

/// Numbers that may be multiplied for this.
const MOST_WORK: usize = 40_000_000;

/// Narrows the intervals of columns of which nothing is known, where M and the intervals of `M x` allow it.
pub(super) fn narrow(
    matrix: &Matrix,
    levels: &[(f64, f64)],
    within: &mut [(f64, f64)],
    control: &Control,
) -> Pass {
    let is_open = |&(lo, hi): &(f64, f64)| !(lo.is_finite() && hi.is_finite());
    let open: Vec<usize> = (0..within.len()).filter(|&c| is_open(&within[c])).collect();
    if open.is_empty() || open.len() > levels.len() || open.len() * open.len() * levels.len() > MOST_WORK {
        return Ok(());
    }
    // How large z_k - sum over known columns can be.
    let mut sizes: Vec<f64> = levels.iter().map(|(lo, hi)| lo.abs().max(hi.abs())).collect();
    control.in_parts(within.len(), matrix.numbers_per_column(), |part| {
        for c in part.filter(|&c| !is_open(&within[c])) {
            let most = within[c].0.abs().max(within[c].1.abs());
            matrix.for_each_in_column(c, |k, value| sizes[k] = above(sizes[k] + above(value.abs() * most)));
        }
    })?;
    let rows: Vec<usize> = (0..sizes.len()).filter(|&k| sizes[k].is_finite() && sizes[k] > 0.0).collect();
    if rows.len() < open.len() {
        return Ok(());
    }
    let (count, order) = (rows.len(), open.len());
    // Entries are rounded by the division: the sizes are taken larger by more than that.
    let entry = |k: usize, j: usize| matrix.entry(rows[k], open[j]) / sizes[rows[k]];
    let scaled = Mat::from_fn(count, order, entry);
    // A quotient that underflows is not known to the last place.
    let is_lost = |k: usize, j: usize| {
        scaled[(k, j)].abs() < f64::MIN_POSITIVE && matrix.entry(rows[k], open[j]) != 0.0
    };
    if (0..order).any(|j| (0..count).any(|k| is_lost(k, j))) {
        return Ok(());
    }
    let gram = scaled.transpose() * &scaled;
    let Ok(factor) = gram.llt(Side::Lower) else { return Ok(()) };
    control.check()?;
    let left = factor.solve(scaled.transpose().to_owned());
    let columns: Vec<Vec<f64>> = (0..order).map(|j| (0..count).map(|k| scaled[(k, j)]).collect()).collect();
    let rows_of_left: Vec<Vec<f64>> =
        (0..order).map(|c| (0..count).map(|k| left[(c, k)]).collect()).collect();
    // The division of the entries: |exact - scaled| <= u |scaled|, so that |scaled x| <= 1 + u |scaled| |x|; both sides are
    // covered by the error of `X G` below, which is taken with twice that doubt.
    let reach: Vec<f64> = rows_of_left
        .iter()
        .map(|row| {
            above(row.iter().map(|x| x.abs()).sum::<f64>() * (1.0 + 2.0 * count as f64 * f64::EPSILON))
        })
        .collect();
    let mut worst: f64 = 0.0;
    for c in 0..order {
        control.check()?;
        let mut sum = 0.0;
        for j in 0..order {
            let found = enclosure::dot(&rows_of_left[c], &columns[j]);
            let miss = (found - Enclosure::from(f64::from(c == j))).magnitude();
            let division: f64 =
                rows_of_left[c].iter().zip(&columns[j]).map(|(x, g)| (x * g).abs()).sum::<f64>();
            sum += above(miss + above(2.0 * f64::EPSILON * division)) * reach[j];
        }
        let share = above(sum * (1.0 + 2.0 * order as f64 * f64::EPSILON) / reach[c]);
        worst = if share.is_nan() { f64::INFINITY } else { worst.max(share) };
    }
    if worst < 0.5 {
        for (j, &c) in open.iter().enumerate() {
            let most = above(reach[j] / (1.0 - worst));
            if most.is_finite() {
                within[c] = (within[c].0.max(-most), within[c].1.min(most));
            }
        }
    }
    Ok(())
}
