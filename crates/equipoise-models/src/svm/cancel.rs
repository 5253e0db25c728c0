//! Multipliers whose `w = X'alpha` is as near to 0 as f64 allow.
//!
//! Two kinds of fits ask for them: a one-class model whose optimum is 0, and a fit whose costs are so large that
//! `|w|^2` is what its dual loses (see `steep`). In the first the dual is `-1/2 |X'alpha|^2`, and nothing but the
//! distance of `X'alpha` from 0 keeps it from the primal, which is 0 exactly. Pair steps come near only slowly;
//! conjugate gradients solve
//!
//! ```text
//! minimise over z   | X'(alpha + R z) |^2 + s^2 (sum (alpha + R z) - b)^2      R = diag(room of alpha_i to its bounds)
//! ```
//!
//! with b = nu N for a one-class model, else 0 (without a bias there is no sum), and `alpha + R z`, clipped to its
//! bounds, is as good a dual point as any: the proof asks nobody where it comes from.

use super::Kind;
use super::charge::times;
use super::dual::Task;
use equipoise::matrix::{axpy, dot};
use equipoise::{Control, Pass};

/// Conjugate gradient steps, and how often they begin anew to make up for rounding.
const STEPS: usize = 60;
const ROUNDS: usize = 3;
/// Share of `|w|^2` at which a round is done.
const DONE: f64 = 1e-24;

impl Task<'_> {
    /// Multipliers near these with a smaller w.
    pub(super) fn cancelled(&self, alpha: &[f64], control: &Control) -> Pass<Vec<f64>> {
        let mut alpha = alpha.to_vec();
        let room = |alpha: &[f64], i: usize| {
            let (low, high) = self.bounds(i);
            (alpha[i] - low).min(high - alpha[i]).max(0.0)
        };
        let columns = self.rows.columns();
        let squares = self.of_rows(control, |i| self.rows.squared_norm(i))?;
        let size = (self.team.total_of(squares.iter().sum()) / self.samples.max(1) as f64).sqrt();
        let scale = if self.has_bias { size } else { 0.0 };
        let wanted = match self.kind {
            Kind::OneClass => times(self.exact_total(control)?, self.nu),
            _ => 0.0.into(),
        };
        // Of numbers that every row has.
        let squared = |numbers: &[f64]| self.team.total_of(dot(numbers, numbers));
        for _ in 0..ROUNDS {
            let rooms: Vec<f64> = (0..alpha.len()).map(|i| room(&alpha, i)).collect();
            let forward = |x: &(dyn Fn(usize) -> f64 + Sync)| {
                self.total_vector(columns + 1, control, |i, total| {
                    let t = x(i);
                    if t != 0.0 {
                        self.rows.add(i, t, &mut total[..columns]);
                        total[columns] += scale * t;
                    }
                })
            };
            let backward = |r: &[f64]| {
                let one = |i: usize| rooms[i] * (self.rows.dot(i, &r[..columns]) + scale * r[columns]);
                self.of_rows(control, one)
            };
            // What is left of -w, and of what the sum misses.
            let mut left = forward(&|i| -alpha[i])?;
            let sum = self.enclosed_sum(control, |i| Some(alpha[i].into()))?;
            left[columns] = scale * (wanted - sum).centre();
            let begin = dot(&left, &left);
            let mut z = vec![0.0; alpha.len()];
            let mut gradient = backward(&left)?;
            let mut direction = gradient.clone();
            let mut size = squared(&gradient);
            for _ in 0..STEPS {
                let image = forward(&|i| rooms[i] * direction[i])?;
                let step = size / dot(&image, &image);
                if !step.is_finite() || dot(&left, &left) <= DONE * begin {
                    break;
                }
                axpy(step, &direction, &mut z);
                axpy(-step, &image, &mut left);
                gradient = backward(&left)?;
                let next = squared(&gradient);
                direction.iter_mut().zip(&gradient).for_each(|(d, g)| *d = g + next / size * *d);
                size = next;
            }
            for i in 0..alpha.len() {
                let (low, high) = self.bounds(i);
                alpha[i] = (alpha[i] + rooms[i] * z[i]).clamp(low, high);
            }
        }
        Ok(alpha)
    }
}
