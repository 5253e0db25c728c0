//! Root-free Cholesky factor of `M = A diag(1/D) A'`, also when rows of A are dependent.
//!
//! | symbol | meaning |
//! |---|---|
//! | m | rows of A, size of M |
//! | L, P | `M = L P L'`: unit lower triangle (columns packed one after the other) and diagonal of pivots |
//!
//! Given M, [`Factor::solve`] returns a y with `M y = rhs` for every rhs in the range of M. A row that depends on
//! others is dropped (its entry of y is 0); `A'y` is the same for every solution, so no pseudo-inverse is needed.
//! Rows count as dependent when less than about `10 m eps` of a row's square is left beside the others, that is,
//! at angles below about 1e-7: forming M squares the condition, and nothing finer can be seen in it.
//!
//! The first try keeps the order of the rows. A small pivot makes the order matter, and then the factor is
//! computed again with the largest relative pivot first.

#![expect(
    clippy::inline_always,
    reason = "vector code must end up in the function for which the instructions are enabled"
)]

use pulp::{Scalar, Simd, WithSimd};

use super::{kernels, wide};

/// A pivot below this share of its diagonal entry calls for pivoting.
const SAFE_PIVOT: f64 = 1e-6;
/// A pivot below `m` times this share of its diagonal entry is rounding.
const RANK_TOLERANCE: f64 = 10.0 * f64::EPSILON;

/// The factor of M, made to be kept for an edge; see [`memory`](Self::memory).
#[derive(Debug, Clone, Default)]
pub(crate) struct Factor {
    rows: usize,
    rank: usize,
    /// L packed by columns; in place of each diagonal entry the inverse of the pivot, 0 for a dropped row.
    lower: Vec<f64>,
    /// P.
    pivots: Vec<f64>,
    /// Row of M at each place of L; empty when they are in order.
    order: Vec<u32>,
    /// What is left of the diagonal of M while pivoting; empty unless that was needed.
    left: Vec<f64>,
}

impl Factor {
    /// The factor of an m x m matrix given by its lower triangle, column-major.
    pub(crate) fn from_gram(m: usize, gram: &[f64]) -> Self {
        let mut factor = Self::default();
        factor.refactor(m, gram);
        factor
    }

    /// Replaces the factor by that of another matrix, in the same memory where it suffices.
    pub(crate) fn refactor(&mut self, m: usize, gram: &[f64]) {
        let smallest = self.in_order(m, gram);
        if smallest < SAFE_PIVOT {
            self.pivoted(gram);
        }
    }

    /// Replaces the factor by that of a matrix known to be positive definite: no search for dependent rows.
    pub(super) fn refactor_definite(&mut self, m: usize, gram: &[f64]) {
        self.in_order(m, gram);
    }

    /// Writes 1 for every row that was kept, 0 for every row that was dropped.
    pub(super) fn mark_kept(&self, kept: &mut [f64]) {
        for j in 0..self.rows {
            let row = self.order.get(j).map_or(j, |row| *row as usize);
            kept[row] = if self.lower[packed(self.rows, j)] == 0.0 { 0.0 } else { 1.0 };
        }
    }

    /// The number of rows of M.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// How many rows are independent.
    pub(crate) fn rank(&self) -> usize {
        self.rank
    }

    /// The numbers that [`solve`](Self::solve) reads.
    pub(crate) fn numbers(&self) -> &[f64] {
        &self.lower
    }

    /// Replaces `rhs` by a y with `M y = rhs`.
    #[inline]
    pub(crate) fn solve(&self, rhs: &mut [f64]) {
        if self.order.is_empty() {
            wide::widest(self.lower.len(), InOrder { factor: self, y: &mut rhs[..self.rows] });
        } else {
            self.solve_pivoted(rhs);
        }
    }

    #[inline(always)]
    fn four_columns(&self, j: usize) -> [&[f64]; 4] {
        [self.column(j), self.column(j + 1), self.column(j + 2), self.column(j + 3)]
    }

    fn solve_pivoted(&self, y: &mut [f64]) {
        let m = self.rows;
        let place = |r: usize| self.order[r] as usize;
        for j in 0..m {
            let column = self.column(j);
            let head = y[place(j)];
            for r in j + 1..m {
                y[place(r)] -= head * column[r - j];
            }
            y[place(j)] *= column[0];
        }
        for j in (0..m).rev() {
            let column = self.column(j);
            let tail: f64 = (j + 1..m).map(|r| column[r - j] * y[place(r)]).sum();
            y[place(j)] -= tail;
        }
    }

    #[inline(always)]
    fn column(&self, j: usize) -> &[f64] {
        let start = packed(self.rows, j);
        &self.lower[start..start + self.rows - j]
    }

    /// Factors rows as they come and returns the smallest pivot relative to its diagonal entry.
    fn in_order(&mut self, m: usize, gram: &[f64]) -> f64 {
        (self.rows, self.rank) = (m, 0);
        self.order.clear();
        self.lower.clear();
        self.lower.resize(packed(m, m), 0.0);
        self.pivots.clear();
        self.pivots.resize(m, 0.0);
        wide::widest(gram.len(), MakeInOrder { factor: self, gram })
    }

    /// Factors with the largest relative pivot first; what is left at the end is dropped.
    fn pivoted(&mut self, gram: &[f64]) {
        let m = self.rows;
        let entry = |r: usize, c: usize| gram[r.min(c) * m + r.max(c)];
        self.rank = 0;
        self.order.extend(0..m as u32);
        self.left.clear();
        self.left.extend((0..m).map(|r| entry(r, r)));
        for j in 0..m {
            let share = |r: usize| {
                let row = self.order[r] as usize;
                if entry(row, row) > 0.0 { self.left[row] / entry(row, row) } else { 0.0 }
            };
            let best = (j..m).fold(j, |best, r| if share(r) > share(best) { r } else { best });
            let keep = share(best) > RANK_TOLERANCE * m as f64;
            self.order.swap(j, best);
            let (done, rest) = self.lower.split_at_mut(packed(m, j));
            for k in 0..j {
                done.swap(packed(m, k) + j - k, packed(m, k) + best - k);
            }
            let column = &mut rest[..m - j];
            for (r, value) in column.iter_mut().enumerate() {
                *value = entry(self.order[j + r] as usize, self.order[j] as usize);
            }
            subtract_earlier(Scalar::new(), m, &self.pivots[..j], done, column);
            let pivot = finish_column(column, keep);
            self.pivots[j] = pivot;
            self.rank += usize::from(pivot > 0.0);
            for (row, l) in self.order[j + 1..].iter().zip(&column[1..]) {
                self.left[*row as usize] -= pivot * l * l;
            }
        }
    }
}

/// The factor of rows in order, column by column; memory is there.
struct MakeInOrder<'a> {
    factor: &'a mut Factor,
    gram: &'a [f64],
}

impl WithSimd for MakeInOrder<'_> {
    /// The smallest pivot relative to its diagonal entry.
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f64 {
        let Factor { rows: m, rank, lower, pivots, .. } = self.factor;
        let m = *m;
        let mut smallest = f64::INFINITY;
        for j in 0..m {
            let (done, rest) = lower.split_at_mut(packed(m, j));
            let column = &mut rest[..m - j];
            column.copy_from_slice(&self.gram[j * m + j..(j + 1) * m]);
            let diagonal = column[0];
            subtract_earlier(simd, m, &pivots[..j], done, column);
            let share = if diagonal > 0.0 { column[0] / diagonal } else { 0.0 };
            smallest = smallest.min(share);
            pivots[j] = finish_column(column, share > 0.0);
            *rank += usize::from(pivots[j] > 0.0);
        }
        smallest
    }
}

/// The solve with rows in order, four columns at a time: their triangle first, then what is below it.
struct InOrder<'a> {
    factor: &'a Factor,
    y: &'a mut [f64],
}

impl WithSimd for InOrder<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { factor, y } = self;
        let m = y.len();
        let whole = m - m % 4;
        for j in (0..whole).step_by(4) {
            let [a, b, c, d] = factor.four_columns(j);
            let (head, tail) = y[j..].split_at_mut(4);
            head[1] -= head[0] * a[1];
            head[2] -= head[0] * a[2] + head[1] * b[1];
            head[3] -= (head[0] * a[3] + head[1] * b[2]) + head[2] * c[1];
            let sent = [head[0], head[1], head[2], head[3]];
            wide::add_four(simd, sent.map(|t| -t), [&a[4..], &b[3..], &c[2..], &d[1..]], tail);
            (head[0], head[1], head[2], head[3]) =
                (sent[0] * a[0], sent[1] * b[0], sent[2] * c[0], sent[3] * d[0]);
        }
        for j in whole..m {
            let column = factor.column(j);
            let (head, tail) = y[j..].split_at_mut(1);
            kernels::axpy(-head[0], &column[1..], tail);
            head[0] *= column[0];
        }
        for j in (whole..m).rev() {
            y[j] -= kernels::dot(&factor.column(j)[1..], &y[j + 1..]);
        }
        for j in (0..whole).step_by(4).rev() {
            let [a, b, c, d] = factor.four_columns(j);
            let (head, tail) = y[j..].split_at_mut(4);
            let below = wide::dot_four(simd, [&a[4..], &b[3..], &c[2..], &d[1..]], tail);
            head[3] -= below[3];
            head[2] -= below[2] + c[1] * head[3];
            head[1] -= (below[1] + b[1] * head[2]) + b[2] * head[3];
            head[0] -= ((below[0] + a[1] * head[1]) + a[2] * head[2]) + a[3] * head[3];
        }
    }
}

/// Where column j of a packed lower triangle begins.
#[inline]
fn packed(m: usize, j: usize) -> usize {
    j * m - (j * j.saturating_sub(1)) / 2
}

/// `column -= sum over earlier columns k of L_jk P_k L_k`, four of them at a time.
#[inline(always)]
fn subtract_earlier<S: Simd>(simd: S, m: usize, pivots: &[f64], done: &[f64], column: &mut [f64]) {
    let j = pivots.len();
    let below = |k: usize| &done[packed(m, k) + j - k..packed(m, k) + m - k];
    let mut k = 0;
    while k + 4 <= j {
        let columns = [below(k), below(k + 1), below(k + 2), below(k + 3)];
        let heads = std::array::from_fn(|l| -pivots[k + l] * columns[l][0]);
        wide::add_four(simd, heads, columns, column);
        k += 4;
    }
    for k in k..j {
        let a = below(k);
        kernels::axpy(-pivots[k] * a[0], a, column);
    }
}

/// Divides by the pivot, or clears the column of a dropped row; returns the pivot, 0 when it was dropped.
fn finish_column(column: &mut [f64], keep: bool) -> f64 {
    let pivot = column[0];
    let inverse = 1.0 / pivot;
    if !keep || pivot.is_nan() || pivot <= 0.0 || inverse.is_infinite() {
        column.fill(0.0);
        return 0.0;
    }
    for l in &mut column[1..] {
        *l *= inverse;
    }
    column[0] = inverse;
    pivot
}
