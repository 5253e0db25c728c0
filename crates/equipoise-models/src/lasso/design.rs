//! The columns of a regression: those of X, then a column of ones where there is an intercept.
//!
//! ```text
//! z = X beta + beta_0 1        column p of the design is 1
//! ```
//!
//! - Given: X by column, whether there is an intercept, a team of threads.
//! - Returns: inner products, sums of columns, norms rounded up; passes over many columns by the team.
//! - Must not know: losses, penalties, constraints.

use equipoise::enclosure::above;
use equipoise::matrix::{axpy, dot};
use equipoise::{Control, Matrix, Pass, Team};

/// Work from which on a pass is shared by the team, in numbers.
const SHARED: usize = 1 << 18;

/// The columns of X and the intercept's.
#[derive(Debug)]
pub(super) struct Design<'a> {
    x: &'a Matrix<'a>,
    has_intercept: bool,
    /// At least the Euclidean norm of each column.
    norms: Vec<f64>,
    team: Team,
}

impl<'a> Design<'a> {
    pub(super) fn new(
        x: &'a Matrix<'a>,
        has_intercept: bool,
        threads: usize,
        control: &Control,
    ) -> Pass<Self> {
        let (rows, columns) = (x.rows(), x.columns());
        let team = Team::for_work(threads, rows.saturating_mul(columns));
        let mut design = Self { x, has_intercept, norms: Vec::new(), team };
        let squares = |j: usize| match x {
            Matrix::Dense(dense) => dot(dense.column(j), dense.column(j)),
            Matrix::Sparse(sparse) => sparse.column(j).map(|(_, value)| value * value).sum(),
        };
        let rounded = 1.0 + (rows + 8) as f64 * f64::EPSILON;
        let mut norms = design.map_columns(columns, |j| above((squares(j) * rounded).sqrt()), control)?;
        if has_intercept {
            norms.push(above((rows as f64).sqrt()));
        }
        design.norms = norms;
        Ok(design)
    }

    /// How many rows there are.
    pub(super) fn rows(&self) -> usize {
        self.x.rows()
    }

    /// How many columns there are, the intercept's included.
    pub(super) fn columns(&self) -> usize {
        self.x.columns() + usize::from(self.has_intercept)
    }

    /// The column of the intercept.
    pub(super) fn intercept(&self) -> Option<usize> {
        self.has_intercept.then(|| self.x.columns())
    }

    /// At least the norm of a column.
    pub(super) fn norm(&self, j: usize) -> f64 {
        self.norms[j]
    }

    /// `x_j'v`.
    pub(super) fn dot(&self, j: usize, v: &[f64]) -> f64 {
        if j < self.x.columns() { self.x.column_dot(j, v) } else { v.iter().sum() }
    }

    /// At least the error of [`dot`](Self::dot) with a vector of at most this norm.
    pub(super) fn dot_error(&self, j: usize, norm: f64) -> f64 {
        above((self.rows() + 2) as f64 * f64::EPSILON * self.norms[j] * norm)
    }

    /// `v += t x_j`.
    pub(super) fn add(&self, j: usize, t: f64, v: &mut [f64]) {
        if j < self.x.columns() {
            self.x.add_column(j, t, v);
        } else {
            v.iter_mut().for_each(|v| *v += t);
        }
    }

    /// `v += t |x_j|`.
    pub(super) fn add_magnitude(&self, j: usize, t: f64, v: &mut [f64]) {
        if j >= self.x.columns() {
            return v.iter_mut().for_each(|v| *v += t);
        }
        match self.x {
            Matrix::Dense(dense) => v.iter_mut().zip(dense.column(j)).for_each(|(v, x)| *v += t * x.abs()),
            Matrix::Sparse(sparse) => sparse.column(j).for_each(|(i, x)| v[i] += t * x.abs()),
        }
    }

    /// `out = weight * x_j`, row by row.
    pub(super) fn weighted_column(&self, j: usize, weights: Option<&[f64]>, out: &mut [f64]) {
        out.fill(0.0);
        self.add(j, 1.0, out);
        if let Some(weights) = weights {
            out.iter_mut().zip(weights).for_each(|(out, weight)| *out *= weight);
        }
    }

    /// `of(j)` for the columns in a list, by the team.
    pub(super) fn map_list(
        &self,
        list: &[usize],
        of: impl Fn(usize) -> f64 + Sync,
        control: &Control,
    ) -> Pass<Vec<f64>> {
        self.map_columns(list.len(), |k| of(list[k]), control)
    }

    fn map_columns(
        &self,
        count: usize,
        of: impl Fn(usize) -> f64 + Sync,
        control: &Control,
    ) -> Pass<Vec<f64>> {
        let each = self.rows();
        let run = |range: std::ops::Range<usize>| -> Pass<Vec<f64>> {
            let (first, mut out) = (range.start, Vec::with_capacity(range.len()));
            control.in_parts(range.len(), each, |part| out.extend(part.map(|k| of(first + k))))?;
            Ok(out)
        };
        if count.saturating_mul(each) < SHARED {
            return run(0..count);
        }
        let parts: Pass<Vec<Vec<f64>>> = self.team.map(self.team.parts(count), run).into_iter().collect();
        Ok(parts?.concat())
    }
}

/// At least the Euclidean norm of a vector.
pub(super) fn norm_above(v: &[f64]) -> f64 {
    above((dot(v, v) * (1.0 + (v.len() + 8) as f64 * f64::EPSILON)).sqrt())
}

/// At least the distance of two vectors.
pub(super) fn distance_above(a: &[f64], b: &[f64], room: &mut Vec<f64>) -> f64 {
    room.clear();
    room.extend_from_slice(a);
    axpy(-1.0, b, room);
    // Each difference is off by at most u times itself; the axpy may fuse, which is no worse.
    above(norm_above(room) * (1.0 + 2.0 * f64::EPSILON))
}
