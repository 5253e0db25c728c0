//! Passes over the columns: `X w - y`, `X'theta`, norms, and the Gram matrix of some columns.
//!
//! Every sum is made in an order that does not depend on the threads. Must not know: what the numbers are for.

use std::borrow::Cow;
use std::ops::Range;

use equipoise::enclosure::{self, Enclosure, Sum};
use equipoise::matrix::{axpy, dot};
use equipoise::{Control, DenseMatrix, Pass, Team};
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};

/// Columns that one thread takes at a time.
const COLUMNS: usize = 16;
/// Rows that one thread takes at a time.
const ROWS: usize = 2048;
/// Columns of a tile of the Gram matrix.
const TILE: usize = 64;

/// `x_j'theta` for all columns.
pub(super) fn transposed(
    matrix: &DenseMatrix,
    theta: &[f64],
    team: &Team,
    control: &Control,
) -> Pass<Vec<f64>> {
    by_column(matrix, team, control, |column| dot(column, theta))
}

/// The same with their errors.
pub(super) fn enclosed_transposed(
    matrix: &DenseMatrix,
    theta: &[f64],
    team: &Team,
    control: &Control,
) -> Pass<Vec<Enclosure>> {
    by_column(matrix, team, control, |column| enclosure::dot(column, theta))
}

/// The squared norm of every column.
pub(super) fn squared_norms(matrix: &DenseMatrix, team: &Team, control: &Control) -> Pass<Vec<f64>> {
    by_column(matrix, team, control, |column| dot(column, column))
}

fn by_column<T: Send>(
    matrix: &DenseMatrix,
    team: &Team,
    control: &Control,
    of: impl Fn(&[f64]) -> T + Sync,
) -> Pass<Vec<T>> {
    let columns = matrix.columns();
    let parts = (0..columns.div_ceil(COLUMNS)).map(|k| k * COLUMNS..((k + 1) * COLUMNS).min(columns));
    let done = team
        .map(parts, |part| control.check().map(|()| part.map(|j| of(matrix.column(j))).collect::<Vec<T>>()));
    let mut all = Vec::with_capacity(columns);
    for part in done {
        all.extend(part?);
    }
    Ok(all)
}

/// `X w - y`; columns of weight 0 are not read.
pub(super) fn residual(
    matrix: &DenseMatrix,
    w: &[f64],
    y: &[f64],
    team: &Team,
    control: &Control,
) -> Pass<Vec<f64>> {
    by_rows(w, y, team, control, |part, used| {
        let mut r: Vec<f64> = y[part.clone()].iter().map(|y| -y).collect();
        used.iter().for_each(|&j| axpy(w[j], &matrix.column(j)[part.clone()], &mut r));
        r
    })
}

/// The same with the error of every row.
pub(super) fn enclosed_residual(
    matrix: &DenseMatrix,
    w: &[f64],
    y: &[f64],
    team: &Team,
    control: &Control,
) -> Pass<Vec<Enclosure>> {
    by_rows(w, y, team, control, |part, used| {
        let mut sums = vec![Sum::default(); part.len()];
        sums.iter_mut().zip(&y[part.clone()]).for_each(|(sum, y)| sum.add(-y));
        for &j in used {
            let column = &matrix.column(j)[part.clone()];
            sums.iter_mut().zip(column).for_each(|(sum, x)| sum.add_product(w[j], *x));
        }
        sums.iter().map(Sum::value).collect()
    })
}

fn by_rows<T: Send>(
    w: &[f64],
    y: &[f64],
    team: &Team,
    control: &Control,
    of: impl Fn(Range<usize>, &[usize]) -> Vec<T> + Sync,
) -> Pass<Vec<T>> {
    let used: Vec<usize> = (0..w.len()).filter(|&j| w[j] != 0.0).collect();
    let rows = y.len();
    let parts = (0..rows.div_ceil(ROWS)).map(|k| k * ROWS..((k + 1) * ROWS).min(rows));
    let done = team.map(parts, |part| control.check().map(|()| of(part, &used)));
    let mut all = Vec::with_capacity(rows);
    for part in done {
        all.extend(part?);
    }
    Ok(all)
}

/// Some columns side by side, scaled by the roots of the sample weights, and their Gram matrix. Where they are all columns as they are,
/// they are those of the matrix itself.
pub(super) struct Gram<'a> {
    rows: usize,
    columns: Cow<'a, [f64]>,
    /// Columns taken so far.
    pub(super) size: usize,
    /// Numbers from one column of the Gram matrix to the next.
    pub(super) stride: usize,
    pub(super) entries: Vec<f64>,
}

impl<'a> Gram<'a> {
    pub(super) fn new(rows: usize) -> Self {
        Self { rows, columns: Cow::default(), size: 0, stride: 0, entries: Vec::new() }
    }

    /// A column that was taken, scaled.
    pub(super) fn column(&self, k: usize) -> &[f64] {
        &self.columns[k * self.rows..(k + 1) * self.rows]
    }

    /// Takes more columns.
    pub(super) fn append(
        &mut self,
        matrix: &'a DenseMatrix<'_>,
        roots: Option<&[f64]>,
        which: &[usize],
        team: &Team,
        control: &Control,
    ) -> Pass {
        let (old, rows) = (self.size, self.rows);
        if old == 0 && roots.is_none() && which.iter().copied().eq(0..matrix.columns()) {
            self.columns = matrix.values().into();
        } else if !which.is_empty() {
            let columns = self.columns.to_mut();
            for column in which.iter().map(|&j| matrix.column(j)) {
                match roots {
                    None => columns.extend_from_slice(column),
                    Some(roots) => columns.extend(column.iter().zip(roots).map(|(x, root)| x * root)),
                }
            }
        }
        self.size += which.len();
        self.grow();
        let all = MatRef::from_column_major_slice(&self.columns, rows, self.size);
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
        let stride = self.size.max(2 * self.stride);
        let mut entries = vec![0.0; stride * stride];
        for (old, new) in self.entries.chunks(self.stride.max(1)).zip(entries.chunks_mut(stride)) {
            new[..old.len()].copy_from_slice(old);
        }
        (self.stride, self.entries) = (stride, entries);
    }
}
