//! `1/2 ||A x - b||^2 + sum_j q_j/2 x_j^2 + g |x_j| - t_j x_j`, by coordinate descent on the coordinates that are not 0, and
//! on all of them once those are at rest.
//!
//! With r = b - A x kept in step, a coordinate moves to `soft(a_j.r + ||a_j||^2 x_j + t_j, g) / (||a_j||^2 + q_j)`. The size of
//! `(||a_j||^2 + q_j) * change`, over all j, bounds what is missing from optimality at the place where each was made; sweeps end
//! when it is below `error * min q` over a sweep of all.

use equipoise::matrix::Rows;
use equipoise::{Control, Pass};

use super::Task;

/// A by columns.
#[derive(Debug, Clone)]
pub(super) struct Columns {
    starts: Vec<usize>,
    rows: Vec<u32>,
    values: Vec<f64>,
    squares: Vec<f64>,
}

/// Most sweeps; the caller's certificate says what was reached.
const MOST_SWEEPS: usize = 100_000;

impl Columns {
    pub(super) fn new(rows: &Rows<'_>) -> Self {
        let d = rows.columns();
        let mut starts = vec![0; d + 1];
        for k in 0..rows.len() {
            rows.for_each(k, |column, _| starts[column + 1] += 1);
        }
        (0..d).for_each(|j| starts[j + 1] += starts[j]);
        let mut next = starts.clone();
        let (mut numbers, mut values) = (vec![0; rows.entries()], vec![0.0; rows.entries()]);
        for k in 0..rows.len() {
            rows.for_each(k, |column, value| {
                numbers[next[column]] = k as u32;
                values[next[column]] = value;
                next[column] += 1;
            });
        }
        let squares = (0..d).map(|j| values[starts[j]..starts[j + 1]].iter().map(|v| v * v).sum()).collect();
        Self { starts, rows: numbers, values, squares }
    }

    fn column(&self, j: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let part = self.starts[j]..self.starts[j + 1];
        self.rows[part.clone()].iter().zip(&self.values[part]).map(|(k, value)| (*k as usize, *value))
    }

    pub(super) fn solve(&self, task: &Task<'_>, l1: f64, x: &mut [f64], control: &Control) -> Pass {
        let (rows, targets) = (&task.shard.rows, &task.shard.targets);
        let mut r: Vec<f64> = (0..rows.len()).map(|k| targets[k] - rows.dot(k, x)).collect();
        let allowed = task.error * task.strength;
        // What rounding leaves of a change that is 0.
        let size: f64 = targets.iter().map(|b| b * b).sum::<f64>().sqrt();
        let floor = (0..x.len())
            .map(|j| f64::EPSILON * (size * self.squares[j].sqrt() + task.tilt[j].abs() + l1))
            .fold(0.0, f64::max);
        let all: Vec<usize> = (0..x.len()).collect();
        let mut sweeps = 0;
        while sweeps < MOST_SWEEPS {
            control.check()?;
            sweeps += 1;
            let missing = self.sweep(&all, task, l1, x, &mut r);
            if missing <= allowed.max(floor) {
                return Ok(());
            }
            let active: Vec<usize> = all.iter().copied().filter(|&j| x[j] != 0.0).collect();
            let mut before = missing;
            while sweeps < MOST_SWEEPS {
                control.check()?;
                sweeps += 1;
                let now = self.sweep(&active, task, l1, x, &mut r);
                if now <= (0.5 * allowed).max(floor) || now > 0.999 * before && now <= 4.0 * floor {
                    break;
                }
                before = now;
            }
        }
        Ok(())
    }

    /// Moves these coordinates once each; returns the norm of what each was missing.
    fn sweep(&self, which: &[usize], task: &Task<'_>, l1: f64, x: &mut [f64], r: &mut [f64]) -> f64 {
        let mut missing = 0.0;
        for &j in which {
            let bend = self.squares[j] + task.squares[j];
            let product: f64 = self.column(j).map(|(k, value)| value * r[k]).sum();
            let pull = product + self.squares[j] * x[j] + task.tilt[j];
            let new = (pull - pull.clamp(-l1, l1)) / bend;
            let change = new - x[j];
            if change != 0.0 {
                x[j] = new;
                self.column(j).for_each(|(k, value)| r[k] -= change * value);
                missing += bend * bend * change * change;
            }
        }
        missing.sqrt()
    }
}
