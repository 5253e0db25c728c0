//! Passes over all columns of A, under a control.
//!
//! - Given: x, multipliers, a [`Control`].
//! - Returns: `A x - b` and how far it is off, norms of rows, `|A|'|lambda|`; or why a pass was ended before that was known.
//! - Must not know: what the numbers are for.

use super::{Coupling, Shape};
use crate::control::{Control, Pass};
use crate::matrix::max_abs;
use crate::separable::Values;

impl Coupling {
    /// About how many numbers a column holds.
    pub(crate) fn numbers_per_column(&self) -> usize {
        match &self.shape {
            Shape::Rows(matrix) => matrix.numbers_per_column(),
            _ => 1,
        }
    }

    /// `A x - b`, into `out`.
    pub(crate) fn residual_within(&self, x: &[f64], out: &mut [f64], control: &Control) -> Pass {
        if self.rows() == 0 || matches!(self.shape, Shape::Row(Values::Uniform(_))) {
            self.residual(x, out);
            return Ok(());
        }
        out.iter_mut().zip(&self.rhs).for_each(|(out, b)| *out = -b);
        control.in_parts(x.len(), self.numbers_per_column(), |part| {
            part.for_each(|c| self.add_column(c, x[c], out));
        })
    }

    /// The largest size of an entry of `A x - b`.
    pub(crate) fn infeasibility_within(&self, x: &[f64], control: &Control) -> Pass<f64> {
        let mut residual = vec![0.0; self.rows()];
        self.residual_within(x, &mut residual, control)?;
        Ok(max_abs(&residual))
    }

    /// The Euclidean norm of every row, over n columns.
    pub(crate) fn row_norms_within(&self, n: usize, control: &Control) -> Pass<Vec<f64>> {
        let Shape::Rows(matrix) = &self.shape else { return Ok(self.row_norms(n)) };
        let mut squares = vec![0.0; self.rows()];
        control.in_parts(n, matrix.numbers_per_column(), |part| {
            for c in part {
                matrix.for_each_in_column(c, |r, value| squares[r] += value * value);
            }
        })?;
        Ok(squares.iter().map(|square| square.sqrt()).collect())
    }

    /// `out += |A|'|lambda|`.
    pub(crate) fn add_magnitudes(&self, lambda: &[f64], out: &mut [f64], control: &Control) -> Pass {
        match &self.shape {
            Shape::None => {}
            Shape::Rows(matrix) => matrix.add_magnitudes(lambda, out, control)?,
            _ => out.iter_mut().enumerate().for_each(|(c, out)| *out += self.column_dot(c, lambda).abs()),
        }
        Ok(())
    }
}
