//! One size for rows, columns and cost.
//!
//! ```text
//! x = D x^ ,   A^ = R A D ,   H^ = k D H D ,   q^ = k D q ,   y = R y^ / k
//! ```
//!
//! Rows and columns of the matrix `[H A'; A 0]` are divided by the roots of their largest entries, a few times over, and the
//! cost by its own size. All factors are powers of two, so that scaling rounds nothing.

use super::Program;
use crate::matrix::max_abs;

/// Times that rows and columns are divided.
const ROUNDS: usize = 12;
/// The least and the largest factor.
const LEAST: f64 = 1e-18;
const MOST: f64 = 1e18;

/// The factors.
#[derive(Debug)]
pub(super) struct Scaling {
    pub(super) columns: Vec<f64>,
    pub(super) rows: Vec<f64>,
    pub(super) cost: f64,
}

impl Scaling {
    pub(super) fn of(program: &Program<'_>) -> Self {
        let (n, m) = (program.linear.len(), program.coupling.rows());
        let mut bend = vec![0.0; n];
        program.bends.iter().for_each(|part| part.add_diagonal(&mut bend));
        bend.iter_mut().zip(&program.pieces).for_each(|(bend, piece)| *bend += piece.l2);
        let (mut columns, mut rows) = (vec![1.0_f64; n], vec![1.0_f64; m]);
        // Roughly: what H says counts as much as what A says.
        let mut cost = root_of(max_abs(&bend)).recip().powi(2);
        for _ in 0..ROUNDS {
            let (mut of_columns, mut of_rows) = (vec![0.0_f64; n], vec![0.0_f64; m]);
            for c in 0..n {
                let mut largest = cost * columns[c] * columns[c] * bend[c];
                program.coupling.for_each_in_column(c, |r, a| {
                    let size = (rows[r] * a * columns[c]).abs();
                    of_rows[r] = of_rows[r].max(size);
                    largest = largest.max(size);
                });
                of_columns[c] = largest;
            }
            columns
                .iter_mut()
                .zip(&of_columns)
                .for_each(|(d, size)| *d = (*d / root_of(*size)).clamp(LEAST, MOST));
            rows.iter_mut().zip(&of_rows).for_each(|(r, size)| *r = (*r / root_of(*size)).clamp(LEAST, MOST));
            let bends = (0..n).map(|c| columns[c] * columns[c] * bend[c]);
            let mean = bends.sum::<f64>() / n as f64;
            let slopes = (0..n).map(|c| (columns[c] * program.linear[c]).abs()).fold(0.0, f64::max);
            let size = mean.max(slopes);
            cost = if size > 0.0 { size.recip().clamp(LEAST, MOST) } else { 1.0 };
        }
        columns.iter_mut().for_each(|d| *d = power_of_two(*d));
        rows.iter_mut().for_each(|r| *r = power_of_two(*r));
        Self { columns, rows, cost: power_of_two(cost) }
    }

    /// x in the user's units.
    pub(super) fn x(&self, scaled: &[f64]) -> Vec<f64> {
        scaled.iter().zip(&self.columns).map(|(x, d)| x * d).collect()
    }

    /// Multipliers in the user's units.
    pub(super) fn lambda(&self, scaled: &[f64]) -> Vec<f64> {
        scaled.iter().zip(&self.rows).map(|(y, r)| y * r / self.cost).collect()
    }
}

fn root_of(size: f64) -> f64 {
    if size > 0.0 { size.sqrt() } else { 1.0 }
}

/// The power of two below.
pub(super) fn power_of_two(value: f64) -> f64 {
    value.log2().floor().exp2()
}
