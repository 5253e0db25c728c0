//! Passes over the centred returns: `C w`, `C'theta`, norms, and the Gram matrix of some assets.
//!
//! Every sum is made in an order that does not depend on the threads. Must not know: what the numbers are for.

use equipoise::matrix::{axpy, dot};
use equipoise::{Control, DenseMatrix, Pass, Team};
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};

/// Columns that one thread takes at a time.
const COLUMNS: usize = 64;
/// Columns of a tile of the Gram matrix.
const TILE: usize = 64;

/// `c_j'theta` for all assets.
pub(crate) fn transposed(
    matrix: &DenseMatrix,
    theta: &[f64],
    team: &Team,
    control: &Control,
) -> Pass<Vec<f64>> {
    by_column(matrix, team, control, |column| dot(column, theta))
}

/// The squared norm of every column.
pub(crate) fn squared_norms(matrix: &DenseMatrix, team: &Team, control: &Control) -> Pass<Vec<f64>> {
    by_column(matrix, team, control, |column| dot(column, column))
}

fn by_column(
    matrix: &DenseMatrix,
    team: &Team,
    control: &Control,
    of: impl Fn(&[f64]) -> f64 + Sync,
) -> Pass<Vec<f64>> {
    let columns = matrix.columns();
    let parts = (0..columns.div_ceil(COLUMNS)).map(|k| k * COLUMNS..((k + 1) * COLUMNS).min(columns));
    let done = team.map(parts, |part| {
        control.check().map(|()| part.map(|j| of(matrix.column(j))).collect::<Vec<f64>>())
    });
    let mut all = Vec::with_capacity(columns);
    for part in done {
        all.extend(part?);
    }
    Ok(all)
}

/// `C w`; assets of weight 0 are not read.
pub(crate) fn product(matrix: &DenseMatrix, w: &[f64], control: &Control) -> Pass<Vec<f64>> {
    let mut all = vec![0.0; matrix.rows()];
    for (visited, (j, w)) in w.iter().enumerate().filter(|(_, w)| **w != 0.0).enumerate() {
        if visited % COLUMNS == 0 {
            control.check()?;
        }
        axpy(*w, matrix.column(j), &mut all);
    }
    Ok(all)
}

/// Some columns side by side, and their Gram matrix.
#[derive(Debug)]
pub(crate) struct Gram {
    rows: usize,
    /// Side by side; none where it is all of the matrix.
    columns: Vec<f64>,
    /// Columns taken so far.
    pub(crate) size: usize,
    /// Numbers from one column of the Gram matrix to the next.
    pub(crate) stride: usize,
    pub(crate) entries: Vec<f64>,
}

impl Gram {
    pub(crate) fn new(rows: usize) -> Self {
        Self { rows, columns: Vec::new(), size: 0, stride: 0, entries: Vec::new() }
    }

    /// A column of the Gram matrix.
    pub(crate) fn column(&self, k: usize) -> &[f64] {
        &self.entries[k * self.stride..k * self.stride + self.size]
    }

    /// Takes more columns.
    pub(crate) fn append(
        &mut self,
        matrix: &DenseMatrix,
        which: &[usize],
        team: &Team,
        control: &Control,
    ) -> Pass {
        let (old, rows) = (self.size, self.rows);
        let is_all =
            old == 0 && which.len() == matrix.columns() && which.iter().enumerate().all(|(k, j)| k == *j);
        if !is_all {
            which.iter().for_each(|&j| self.columns.extend_from_slice(matrix.column(j)));
        }
        self.size += which.len();
        self.grow();
        let columns = if is_all { matrix.values() } else { &self.columns };
        let all = MatRef::from_column_major_slice(columns, rows, self.size);
        let starts =
            |from: usize, to: usize| (from..to).step_by(TILE).map(move |at| (at, (to - at).min(TILE)));
        // Below the diagonal: tiles of new columns against all columns up to themselves.
        let tiles: Vec<_> = starts(old, self.size)
            .flat_map(|new| {
                let others = starts(0, old).chain(starts(old, self.size));
                others.filter(move |other| other.0 <= new.0).map(move |other| (new, other))
            })
            .collect();
        let done = team.map(tiles.iter().copied(), |((at, width), (other, across))| {
            control.check().map(|()| {
                let mut tile = vec![0.0; width * across];
                let out = MatMut::from_column_major_slice_mut(&mut tile, width, across);
                let (new, rest) = (all.subcols(at, width), all.subcols(other, across));
                matmul(out, Accum::Replace, new.transpose(), rest, 1.0, Par::Seq);
                tile
            })
        });
        for (((at, width), (other, across)), tile) in tiles.into_iter().zip(done) {
            let tile = tile?;
            for column in 0..across {
                for row in 0..width {
                    let (a, b, value) = (at + row, other + column, tile[column * width + row]);
                    self.entries[b * self.stride + a] = value;
                    self.entries[a * self.stride + b] = value;
                }
            }
        }
        Ok(())
    }

    /// Room for so many columns.
    fn grow(&mut self) {
        if self.size <= self.stride {
            return;
        }
        let stride = if self.stride == 0 { self.size } else { self.size.max(2 * self.stride) };
        let mut entries = vec![0.0; stride * stride];
        for (old, new) in self.entries.chunks(self.stride.max(1)).zip(entries.chunks_mut(stride)) {
            new[..old.len()].copy_from_slice(old);
        }
        (self.stride, self.entries) = (stride, entries);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::tests::random_returns;

    /// The only weight is in a place that is no multiple of anything.
    #[test]
    fn a_product_of_few_weights_asks_whether_to_end() {
        let returns = random_returns(3, 10, 1);
        let control = Control::on(Arc::new(AtomicBool::new(true)));
        assert!(product(returns.centred(), &[0.0, 1.0, 0.0], &control).is_err());
    }
}
