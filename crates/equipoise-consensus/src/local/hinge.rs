//! `C sum_k max(0, 1 - y_k a_k.x) + sum_j q_j/2 x_j^2 - t.x`, by coordinate descent in its dual:
//!
//! ```text
//! maximise  sum_k alpha_k - 1/2 sum_j (sum_k alpha_k y_k a_kj + t_j)^2 / q_j ,   0 <= alpha_k <= C ;   x_j = (sum_k alpha_k y_k a_kj + t_j) / q_j
//! ```
//!
//! Sweeps end when the gap between both is below `error^2 min q / 2`: x is then within `error` of the solution. Reference: Hsieh,
//! Chang, Lin, Keerthi and Sundararajan, "A dual coordinate descent method for large-scale linear SVM" (2008).

use equipoise::{Control, Pass};

use super::Task;

/// alpha, kept between two solves.
#[derive(Debug, Clone)]
pub(super) struct Multipliers {
    alpha: Vec<f64>,
}

/// Most sweeps; the caller's certificate says what was reached.
const MOST_SWEEPS: usize = 20_000;
/// Sweeps between two looks at the gap.
const SWEEPS_A_LOOK: usize = 4;

impl Multipliers {
    pub(super) fn new(rows: usize) -> Self {
        Self { alpha: vec![0.0; rows] }
    }

    /// `u_k = -y_k alpha_k`.
    pub(super) fn dual(&self, targets: &[f64]) -> Vec<f64> {
        self.alpha.iter().zip(targets).map(|(alpha, y)| -y * alpha).collect()
    }

    pub(super) fn solve(&mut self, task: &Task<'_>, cost: f64, x: &mut [f64], control: &Control) -> Pass {
        let (rows, y, q) = (&task.shard.rows, &task.shard.targets, task.squares);
        let n = rows.len();
        let bends: Vec<f64> = (0..n)
            .map(|k| {
                let mut sum = 0.0;
                rows.for_each(k, |column, value| sum += value * value / q[column]);
                sum
            })
            .collect();
        let restore = |alpha: &[f64], x: &mut [f64]| {
            x.copy_from_slice(task.tilt);
            (0..n).filter(|&k| alpha[k] != 0.0).for_each(|k| rows.add(k, alpha[k] * y[k], x));
            x.iter_mut().zip(q).for_each(|(x, q)| *x /= q);
        };
        restore(&self.alpha, x);
        let mut order: Vec<usize> = (0..n).collect();
        let mut best = f64::INFINITY;
        let mut without_gain = 0;
        for sweep in 0..MOST_SWEEPS {
            control.check()?;
            if sweep % SWEEPS_A_LOOK == 0 {
                restore(&self.alpha, x);
                let (mut gap, mut size) = (0.0, 0.0);
                for k in 0..n {
                    let slack = 1.0 - y[k] * rows.dot(k, x);
                    gap += cost * slack.max(0.0) - self.alpha[k] * slack;
                    size += cost * slack.abs();
                }
                if gap <= 0.5 * task.error * task.error * task.strength || gap <= 4.0 * f64::EPSILON * size {
                    return Ok(());
                }
                without_gain = if gap < 0.99 * best { 0 } else { without_gain + 1 };
                best = best.min(gap);
                if without_gain > 50 && gap <= 1e-11 * size {
                    return Ok(());
                }
            }
            // A fixed walk that meets rows in another order in every sweep.
            order.rotate_left((sweep * 7 + 3) % n.max(1));
            if sweep % 2 == 1 {
                order.reverse();
            }
            for &k in &order {
                if bends[k] <= 0.0 {
                    self.alpha[k] = cost;
                    continue;
                }
                let slope = y[k] * rows.dot(k, x) - 1.0;
                let new = (self.alpha[k] - slope / bends[k]).clamp(0.0, cost);
                let change = new - self.alpha[k];
                if change != 0.0 {
                    self.alpha[k] = new;
                    let t = change * y[k];
                    let (indices, values) = rows.row(k);
                    for (place, &column) in indices.iter().enumerate() {
                        x[column as usize] += t * values.at(place) / q[column as usize];
                    }
                }
            }
        }
        restore(&self.alpha, x);
        Ok(())
    }
}
