//! `L L' = M` by a team: tile by tile from the left, each tile by one thread.
//!
//! With the first columns factored, `M = [L_11 .; L_21 S]`, the rows of `L_21 = M_21 L_11^-T` and the tiles of
//! `S -= L_21 L_21'` are independent of each other. The tiles depend on the dimension alone, so the factor has the
//! same bits whatever the size of the team.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{cholesky_in_place, cholesky_in_place_scratch};
use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve::{solve_lower_triangular_in_place, solve_upper_triangular_in_place};
use faer::{Accum, MatMut, MatRef, Par};

use crate::control::{Control, Pass};
use crate::team::Team;

/// Columns that are factored at a time.
const WIDTH: usize = 64;
/// Dimension below which one thread makes all tiles.
const WORTH_WHILE: usize = 256;
/// Rows of a tile.
const HEIGHT: usize = 128;

/// A factor and its memory.
#[derive(Debug, Default)]
pub(crate) struct Cholesky {
    dimension: usize,
    /// Column by column; what lies above the diagonal means nothing.
    lower: Vec<f64>,
}

impl Cholesky {
    /// Factors a symmetric matrix given by its lower triangle, column by column; false where it is not positive
    /// definite. Any order of the sums obeys the same rounding bounds, so proofs may rest on the answer.
    pub(crate) fn factor(
        &mut self,
        team: &Team,
        matrix: &[f64],
        dimension: usize,
        control: &Control,
    ) -> Pass<bool> {
        self.dimension = dimension;
        self.lower.resize(matrix.len(), 0.0);
        let worth_while = dimension >= WORTH_WHILE;
        team.map_if(
            worth_while,
            self.lower.chunks_mut(WIDTH * dimension).zip(matrix.chunks(WIDTH * dimension)),
            |(to, from)| {
                to.copy_from_slice(from);
            },
        );
        let mut left = MatMut::from_column_major_slice_mut(&mut self.lower, dimension, dimension);
        let mut memory =
            MemBuffer::new(cholesky_in_place_scratch::<f64>(WIDTH, Par::Seq, faer::Spec::default()));
        loop {
            control.check()?;
            let width = WIDTH.min(left.nrows());
            let (mut corner, _, mut below, rest) = left.split_at_mut(width, width);
            let stack = MemStack::new(&mut memory);
            let plain = faer::linalg::cholesky::llt::factor::LltRegularization::default();
            if cholesky_in_place(corner.as_mut(), plain, Par::Seq, stack, faer::Spec::default()).is_err() {
                return Ok(false);
            }
            if rest.nrows() == 0 {
                return Ok(true);
            }
            let corner = corner.as_ref();
            team.map_if(worth_while, strips(below.as_mut()).into_iter(), |strip| {
                solve_lower_triangular_in_place(corner, strip.transpose_mut(), Par::Seq);
            });
            let below = below.as_ref();
            let mut rest = rest;
            team.map_if(worth_while, tiles(rest.as_mut()).into_iter(), |tile| {
                let rows = below.subrows(tile.row, tile.entries.nrows());
                let columns = below.subrows(tile.column, tile.entries.ncols());
                matmul(tile.entries, Accum::Add, rows, columns.transpose(), -1.0, Par::Seq);
            });
            left = rest;
        }
    }

    /// Solves `L L' y = right` in place.
    pub(crate) fn solve(&self, right: &mut [f64]) {
        let lower = MatRef::from_column_major_slice(&self.lower, self.dimension, self.dimension);
        let mut right = MatMut::from_column_major_slice_mut(right, self.dimension, 1);
        solve_lower_triangular_in_place(lower, right.as_mut(), Par::Seq);
        solve_upper_triangular_in_place(lower.transpose(), right, Par::Seq);
    }
}

/// Groups of rows.
fn strips(matrix: MatMut<'_, f64>) -> Vec<MatMut<'_, f64>> {
    let mut strips = Vec::new();
    let mut rest = matrix;
    while rest.nrows() > 0 {
        let height = HEIGHT.min(rest.nrows());
        let (strip, after) = rest.split_at_row_mut(height);
        strips.push(strip);
        rest = after;
    }
    strips
}

/// A tile and where it begins.
struct Tile<'m> {
    row: usize,
    column: usize,
    entries: MatMut<'m, f64>,
}

/// Tiles that cover the lower triangle of a square matrix.
fn tiles(matrix: MatMut<'_, f64>) -> Vec<Tile<'_>> {
    let mut tiles = Vec::new();
    let (mut rest, mut column) = (matrix, 0);
    while rest.ncols() > 0 {
        let width = WIDTH.min(rest.ncols());
        let (stripe, after) = rest.split_at_col_mut(width);
        let mut row = column;
        for entries in strips(stripe.split_at_row_mut(column).1) {
            let height = entries.nrows();
            tiles.push(Tile { row, column, entries });
            row += height;
        }
        column += width;
        rest = after;
    }
    tiles
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `B B' + I` of numbers without a pattern.
    fn definite(n: usize) -> Vec<f64> {
        let b = |i: usize, k: usize| ((i * 37 + k * 91 + i * k) % 101) as f64 / 101.0 - 0.5;
        let entry = |i: usize, j: usize| {
            (0..9).map(|k| b(i, k) * b(j, k)).sum::<f64>() + if i == j { 1.0 } else { 0.0 }
        };
        (0..n * n).map(|k| entry(k % n, k / n)).collect()
    }

    #[test]
    fn solves_at_every_size_with_the_same_bits() {
        for n in [1, 2, 63, 64, 65, 130, 300] {
            let matrix = definite(n);
            let right: Vec<f64> = (0..n).map(|k| (k % 7) as f64 - 3.0).collect();
            let mut solutions = Vec::new();
            for threads in [1, 3] {
                let mut factor = Cholesky::default();
                assert_eq!(factor.factor(&Team::of(threads), &matrix, n, &Control::unlimited()), Ok(true));
                let mut y = right.clone();
                factor.solve(&mut y);
                for i in 0..n {
                    let image: f64 = (0..n).map(|j| matrix[j * n + i] * y[j]).sum();
                    assert!((image - right[i]).abs() < 1e-9 * n as f64);
                }
                solutions.push(y);
            }
            assert_eq!(solutions[0], solutions[1]);
        }
    }

    #[test]
    fn an_indefinite_matrix_is_refused() {
        let n = 150;
        let mut matrix = definite(n);
        matrix[140 * (n + 1)] = -1.0;
        let factor = |control: &Control| Cholesky::default().factor(&Team::of(2), &matrix, n, control);
        assert_eq!(factor(&Control::unlimited()), Ok(false));
        assert!(factor(&Control::unlimited().until(std::time::Instant::now())).is_err());
    }
}
