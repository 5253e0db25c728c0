//! `(A'A + Q) x = A'b + t`, by a factor that is kept: of the order of x, or, where there are fewer rows, of theirs
//! (Woodbury): `x = Q^-1 v - Q^-1 A'(I + A Q^-1 A')^-1 A Q^-1 v`, `v = A'b + t`.

use equipoise::{Control, Pass};

use super::{Task, add_outer};
use crate::factor::{Cholesky, Symmetric};

/// What is kept.
#[derive(Debug, Clone)]
pub(super) enum Factor {
    Columns(Cholesky),
    Rows(Cholesky),
    /// Neither has a factor in double precision: x stays 0 in what is not the diagonal's.
    Diagonal,
}

impl Factor {
    pub(super) fn new(task: &Task<'_>, control: &Control) -> Pass<Self> {
        let rows = &task.shard.rows;
        let (n, d) = (rows.len(), rows.columns());
        if n < d {
            let mut gram = Symmetric::diagonal_of(&vec![1.0; n]);
            let mut scattered = vec![0.0; d];
            for r in 0..n {
                control.check()?;
                scattered.fill(0.0);
                rows.for_each(r, |column, value| scattered[column] = value / task.squares[column]);
                let row = gram.row_mut(r);
                (0..=r).for_each(|c| row[c] += rows.dot(c, &scattered));
            }
            return Ok(gram.factored().map_or(Self::Diagonal, Self::Rows));
        }
        let mut matrix = Symmetric::diagonal_of(task.squares);
        control.in_parts(n, d * d / 2, |part| part.for_each(|k| add_outer(rows, k, 1.0, &mut matrix)))?;
        Ok(matrix.factored().map_or(Self::Diagonal, Self::Columns))
    }

    pub(super) fn solve(&self, task: &Task<'_>) -> Vec<f64> {
        let (rows, targets) = (&task.shard.rows, &task.shard.targets);
        let mut v = task.tilt.to_vec();
        (0..rows.len()).for_each(|k| rows.add(k, targets[k], &mut v));
        let over = |v: &mut [f64]| v.iter_mut().zip(task.squares).for_each(|(v, q)| *v /= q);
        match self {
            Self::Columns(factor) => factor.solve(&v),
            Self::Rows(factor) => {
                over(&mut v);
                let products: Vec<f64> = (0..rows.len()).map(|k| rows.dot(k, &v)).collect();
                let found = factor.solve(&products);
                let mut back = vec![0.0; v.len()];
                (0..rows.len()).for_each(|k| rows.add(k, found[k], &mut back));
                over(&mut back);
                v.iter_mut().zip(&back).for_each(|(v, back)| *v -= back);
                v
            }
            Self::Diagonal => {
                over(&mut v);
                v
            }
        }
    }
}
