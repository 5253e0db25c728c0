//! The direction of a Newton step by conjugate gradients, where its system is too large to be factored:
//!
//! ```text
//! H p = [W^-1 p_u; epsilon p_lambda] + sum over c in F of  S_c (Z_c.p_u + A_c.p_lambda) [Z_c; A_c]
//! ```
//!
//! A product with H reads the free columns twice and forms nothing; on ranks it is one sum of rank + m numbers. The diagonal of H
//! preconditions. Steps end early: the direction needs no more digits than the line search along it, and every iterate, begun at 0, is a
//! direction of ascent. A rank that wants to stop makes its share of a sum no number, so that nothing more has to travel: all see it at
//! the same step.
//!
//! Must not know: where the right-hand side comes from.

use std::ops::Range;

use super::newton_system::{Free, Right, sample};
use crate::control::{Control, Halt, Pass};
use crate::coupling::Coupling;
use crate::smooth::Factored;
use crate::team::Team;

/// Share of the first residual that is small enough, and steps after which it counts as such.
const ENOUGH: f64 = 0.02;
const MOST_STEPS: usize = 300;
/// Columns that are copied at a time for their squares.
const CHUNK: usize = 2048;

/// A system that is not formed.
pub(super) struct Conjugate<'s> {
    pub(super) team: &'s Team,
    pub(super) factored: &'s dyn Factored,
    pub(super) coupling: &'s Coupling,
    columns: Vec<u32>,
    scales: Vec<f64>,
    /// What H adds for every product and row besides F.
    own: Vec<f64>,
    diagonal: Vec<f64>,
}

impl<'s> Conjugate<'s> {
    /// On the free coordinates.
    pub(super) fn new(
        team: &'s Team,
        factored: &'s dyn Factored,
        coupling: &'s Coupling,
        free: &[&Free],
    ) -> Self {
        let (columns, scales) = sample(free, 1);
        let largest = team.largest(scales.iter().copied().fold(0.0, f64::max));
        let mut own: Vec<f64> = (0..factored.rank()).map(|k| 1.0 / factored.weight(k)).collect();
        for row in 0..coupling.rows() {
            let give = team.total_of(free.iter().map(|part| part.give(coupling, row)).sum());
            own.push(1e-10 * give + 1e-7 * if largest > 0.0 { largest } else { 1.0 });
        }
        let mut system = Self { team, factored, coupling, columns, scales, own, diagonal: Vec::new() };
        system.diagonal = system.whole_diagonal();
        system
    }

    /// The mean of the diagonal over the products.
    pub(super) fn stiffness(&self) -> f64 {
        let rank = self.factored.rank();
        self.diagonal[..rank].iter().sum::<f64>() / rank.max(1) as f64
    }

    /// Solves into `solution`; the steps made.
    pub(super) fn solve(&self, right: &Right, solution: &mut [f64], control: &Control) -> Pass<usize> {
        solution.fill(0.0);
        let mut residual = [&right.of_product[..], &right.of_rows].concat();
        let preconditioned = |residual: &[f64]| -> Vec<f64> {
            residual.iter().zip(&self.diagonal).map(|(r, d)| r / d).collect()
        };
        let mut direction = preconditioned(&residual);
        let mut size = product(&residual, &direction);
        let enough = ENOUGH * ENOUGH * size;
        for step in 0..MOST_STEPS {
            // All ranks have the same numbers, so that all stop here or none does.
            if size <= enough || !size.is_finite() {
                return Ok(step);
            }
            let wish = control.check();
            if !self.team.is_spread() {
                wish.clone()?;
            }
            let image = self.times(&direction, wish.is_err());
            let length = size / product(&direction, &image);
            if !length.is_finite() {
                if self.team.any(wish.is_err()) {
                    return Err(wish.err().unwrap_or(Halt::Interrupted));
                }
                return Ok(step);
            }
            add(length, &direction, solution);
            add(-length, &image, &mut residual);
            let next = preconditioned(&residual);
            let size_after = product(&residual, &next);
            let share = size_after / size;
            direction.iter_mut().zip(&next).for_each(|(d, n)| *d = n + share * *d);
            size = size_after;
        }
        Ok(MOST_STEPS)
    }

    /// `H p`; on ranks no numbers, where one of them is to stop.
    fn times(&self, p: &[f64], is_to_stop: bool) -> Vec<f64> {
        let (of_product, of_rows) = p.split_at(self.factored.rank());
        let mut answers = vec![0.0; self.columns.len()];
        self.team.fill(&mut answers, |first, answers| {
            let columns = &self.columns[first..first + answers.len()];
            self.factored.dots(columns, of_product, answers);
            for (k, answer) in answers.iter_mut().enumerate() {
                *answer += self.coupling.column_dot(columns[k] as usize, of_rows);
                *answer *= self.scales[first + k];
            }
        });
        let mut image = vec![0.0; p.len()];
        self.team.add_here(self.columns.len(), &mut image, |range, image| {
            self.add_back(range, &answers, image);
        });
        if is_to_stop {
            image.fill(f64::NAN);
        }
        self.team.total(&mut image);
        image.iter_mut().zip(p).zip(&self.own).for_each(|((image, p), own)| *image += own * p);
        image
    }

    /// Adds the columns of some answers, and their rows behind them.
    fn add_back(&self, range: Range<usize>, answers: &[f64], image: &mut [f64]) {
        let (of_product, of_rows) = image.split_at_mut(self.factored.rank());
        self.factored.add_columns(&self.columns[range.clone()], &answers[range.clone()], of_product);
        range.for_each(|k| self.coupling.add_column(self.columns[k] as usize, answers[k], of_rows));
    }

    /// The diagonal of H; without the squares of columns that cannot be copied.
    fn whole_diagonal(&self) -> Vec<f64> {
        let rank = self.factored.rank();
        let mut diagonal = vec![0.0; self.own.len()];
        self.team.add(self.columns.len(), &mut diagonal, |range, diagonal| {
            let (of_product, of_rows) = diagonal.split_at_mut(rank);
            for from in range.clone().step_by(CHUNK) {
                let some = from..range.end.min(from + CHUNK);
                let Some(rows) = self.factored.copy_columns(&self.columns[some.clone()]) else { break };
                for (k, scale) in self.scales[some].iter().enumerate() {
                    rows.for_each(k, |place, value| of_product[place] += scale * value * value);
                }
            }
            for k in range {
                for (row, diagonal) in of_rows.iter_mut().enumerate() {
                    let a = self.coupling.entry(row, self.columns[k] as usize);
                    *diagonal += self.scales[k] * a * a;
                }
            }
        });
        diagonal.iter_mut().zip(&self.own).for_each(|(diagonal, own)| *diagonal += own);
        diagonal
    }
}

/// An inner product that has the same bits on every machine.
fn product(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// `to += t x`, likewise.
fn add(t: f64, x: &[f64], to: &mut [f64]) {
    to.iter_mut().zip(x).for_each(|(to, x)| *to += t * x);
}
