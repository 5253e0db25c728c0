//! Tests of the pair steps: literal vectors, properties on random data, degenerate input.

mod by_hand;
mod degenerate;
mod dense_columns;
mod factors;
mod properties;
mod vectors;

use super::{Columns, Model, Rows};
use crate::separable::{Piece, PieceTerm, SeparableTerm};
use dense_columns::{DenseColumns, factor};

/// Where all data is 0 there is nothing to be relative to; the data is never between this and 1e-9.
pub(super) const NOTHING: f64 = 1e-12;

/// A piece for every coordinate.
#[derive(Debug, Clone)]
pub(super) struct Pieces(pub(super) Vec<Piece>);

impl PieceTerm for Pieces {
    fn dimension(&self) -> Option<usize> {
        Some(self.0.len())
    }
    fn piece(&self, c: usize) -> Piece {
        self.0[c]
    }
}

/// The same term without its closed form.
#[derive(Debug, Clone)]
pub(super) struct Hidden(pub(super) Pieces);

impl SeparableTerm for Hidden {
    fn value(&self, c: usize, z: f64) -> f64 {
        self.0.value(c, z)
    }
    fn domain(&self, c: usize) -> (f64, f64) {
        self.0.domain(c)
    }
    fn prox(&self, c: usize, v: f64, d: f64) -> f64 {
        self.0.prox(c, v, d)
    }
    fn subdifferential(&self, c: usize, z: f64) -> (f64, f64) {
        self.0.subdifferential(c, z)
    }
}

/// A whole subproblem with its own memory.
#[derive(Debug, Clone)]
pub(super) struct Case {
    pub(super) rows: usize,
    pub(super) a: Vec<f64>,
    pub(super) x: Vec<f64>,
    pub(super) g: Vec<f64>,
    pub(super) d: Vec<f64>,
    pub(super) h: Pieces,
    pub(super) coordinates: Vec<usize>,
}

impl Case {
    pub(super) fn new(a: &[&[f64]], x: &[f64], g: &[f64], d: &[f64], h: Vec<Piece>) -> Self {
        let columns = (0..x.len()).flat_map(|k| a.iter().map(move |row| row[k])).collect();
        Self {
            rows: a.len(),
            a: columns,
            x: x.into(),
            g: g.into(),
            d: d.into(),
            h: Pieces(h),
            coordinates: (0..x.len()).collect(),
        }
    }

    pub(super) fn model(&self) -> Model<'_> {
        Model { coordinates: &self.coordinates, x: &self.x, gradient: &self.g, metric: &self.d }
    }

    fn columns(&self) -> DenseColumns<'_> {
        DenseColumns::new(self.rows, &self.a)
    }

    pub(super) fn newton(&self, lambda: &mut [f64], z: &mut [f64]) -> super::dual::Outcome {
        let shift = vec![0.0; self.rows];
        let rows = Rows { columns: &self.columns(), shift: &shift };
        super::newton::solve(
            &self.model(),
            rows,
            &self.h,
            lambda,
            &mut super::DualWorkspace::default(),
            z,
            &|| false,
        )
    }

    pub(super) fn one_row<H: SeparableTerm>(
        &self,
        h: &H,
        guess: f64,
        z: &mut [f64],
    ) -> super::one_row::OneRow {
        let row = super::one_row::Row { coefficients: &self.a, shift: 0.0 };
        super::one_row::solve(&self.model(), row, h, guess, &mut super::one_row::Workspace::default(), z)
    }

    /// The model at z.
    pub(super) fn objective(&self, z: &[f64]) -> f64 {
        (0..z.len()).map(|k| self.model().smooth_change(k, z[k] - self.x[k]) + self.h.value(k, z[k])).sum()
    }

    /// How far coordinate k moves, over eps, if it has to make up for the rounding on a row.
    pub(super) fn burden(&self, z: &[f64], k: usize) -> f64 {
        let row = |r: usize| {
            let terms =
                (0..z.len()).map(|j| self.a[j * self.rows + r].abs() * (z[j].abs() + self.x[j].abs()));
            let a = self.a[k * self.rows + r].abs();
            if a > 0.0 { terms.sum::<f64>() / a } else { 0.0 }
        };
        (0..self.rows).map(row).fold(z[k].abs() + self.x[k].abs(), f64::max)
    }

    /// `||a_k|| ||lambda||` with every row divided by its norm.
    pub(super) fn size_of_pull(&self, k: usize, lambda: &[f64]) -> f64 {
        let entry = |r: usize, j: usize| self.a[j * self.rows + r];
        let norm = |r: usize| (0..self.x.len()).map(|j| entry(r, j).powi(2)).sum::<f64>().sqrt();
        let column = |r: usize| {
            if norm(r) > 0.0 { (entry(r, k) / norm(r)).powi(2) } else { 0.0 }
        };
        let squares = (0..self.rows).map(|r| (norm(r) * lambda[r]).powi(2));
        ((0..self.rows).map(column).sum::<f64>() * squares.sum::<f64>()).sqrt()
    }

    /// Sizes of the terms of the objective at z and x: what rounding is relative to.
    pub(super) fn magnitude(&self, z: &[f64]) -> f64 {
        let one = |k: usize| {
            let step = z[k] - self.x[k];
            // z carries a rounding error of its own.
            1e-3 * (self.g[k].abs() + self.d[k] * step.abs()) * self.burden(z, k)
                + (self.g[k] * step).abs()
                + 0.5 * self.d[k] * step * step
                + self.h.value(k, z[k]).abs()
                + self.h.value(k, self.x[k]).abs()
        };
        NOTHING + (0..z.len()).map(one).sum::<f64>()
    }

    /// The largest `|A (z - x) - shift|`, a row, relative to the sizes of its terms (and a thousandth of what they
    /// would be with the largest value everywhere).
    pub(super) fn infeasibility(&self, z: &[f64], shift: &[f64]) -> f64 {
        let largest = 1e-3 * z.iter().chain(&self.x).fold(0.0_f64, |l, v| l.max(v.abs()));
        let row = |r: usize| {
            let terms = (0..z.len()).map(|k| self.a[k * self.rows + r] * (z[k] - self.x[k]));
            let size = (0..z.len())
                .map(|k| self.a[k * self.rows + r].abs() * (z[k].abs() + self.x[k].abs() + largest));
            let total = size.sum::<f64>() + shift[r].abs();
            if total > 0.0 { (terms.sum::<f64>() - shift[r]).abs() / total } else { 0.0 }
        };
        (0..self.rows).map(row).fold(0.0, f64::max)
    }

    /// The largest distance of `-(g + A'lambda + D (z - x))` from the subdifferential, relative to its terms.
    pub(super) fn stationarity(&self, z: &[f64], lambda: &[f64]) -> f64 {
        let one = |k: usize| {
            let pull = self.columns().dot(k, lambda);
            let size = self.size_of_pull(k, lambda);
            let step = self.d[k] * (z[k] - self.x[k]);
            let s = -(self.g[k] + pull + step);
            let (lo, hi) = self.h.subdifferential(k, z[k]);
            let piece = self.h.0[k];
            let largest = self.burden(z, k);
            let total = self.g[k].abs()
                + size
                + (self.d[k] + piece.l2) * largest
                + (self.d[k] + piece.l2) * (z[k].abs() + self.x[k].abs())
                + piece.l1;
            (lo - s).max(s - hi).max(0.0) / total.max(NOTHING)
        };
        (0..z.len()).map(one).fold(0.0, f64::max)
    }
}

pub(super) fn assert_close(found: &[f64], expected: &[f64]) {
    for (f, e) in found.iter().zip(expected) {
        assert!((f - e).abs() <= 1e-12, "found {found:?}, expected {expected:?}");
    }
}

pub(super) fn bounds(lower: f64, upper: f64) -> Piece {
    Piece { lower, upper, ..Piece::FREE }
}

pub(super) fn l1(weight: f64) -> Piece {
    Piece { l1: weight, ..Piece::FREE }
}
