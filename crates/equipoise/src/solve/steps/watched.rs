//! A quadratic by its factor, whose passes end when they are told to.
//!
//! - Given: a [`Factored`] and a [`Control`].
//! - Returns: the same, its columns taken a few hundred thousand numbers at a time with a look in between; and whether
//!   some were left out, which makes the numbers of that pass useless.
//! - Must not know: what the passes are for.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::control::Control;
use crate::matrix::Rows;
use crate::smooth::Factored;

/// Numbers between two looks.
const NUMBERS_PER_LOOK: usize = 1 << 18;

/// A factor with somebody who may end its passes.
pub(super) struct Watched<'a> {
    factored: Box<dyn Factored + 'a>,
    control: Control,
    cut: AtomicBool,
    /// Columns between two looks.
    columns_per_look: usize,
}

impl<'a> Watched<'a> {
    /// Over so many columns.
    pub(super) fn new(factored: Box<dyn Factored + 'a>, columns: usize) -> Self {
        let each = factored.stored().div_ceil(columns.max(1)).max(1);
        let columns_per_look = (NUMBERS_PER_LOOK / each).max(1);
        Self { factored, control: Control::unlimited(), cut: AtomicBool::new(false), columns_per_look }
    }

    /// From here on this control decides, and nothing was left out.
    pub(super) fn begin(&mut self, control: &Control) {
        self.control = control.clone();
        *self.cut.get_mut() = false;
    }

    /// Whether some pass left columns out.
    pub(super) fn was_cut(&self) -> bool {
        self.cut.load(Ordering::Relaxed)
    }

    fn is_over(&self) -> bool {
        let over = self.control.halted().is_some();
        if over {
            self.cut.store(true, Ordering::Relaxed);
        }
        over
    }
}

impl Factored for Watched<'_> {
    fn rank(&self) -> usize {
        self.factored.rank()
    }
    fn stored(&self) -> usize {
        self.factored.stored()
    }
    fn weight(&self, k: usize) -> f64 {
        self.factored.weight(k)
    }
    #[inline]
    fn own_curvature(&self, c: usize) -> f64 {
        self.factored.own_curvature(c)
    }
    #[inline]
    fn own_slope(&self, c: usize) -> f64 {
        self.factored.own_slope(c)
    }
    fn column_square(&self, c: usize) -> f64 {
        self.factored.column_square(c)
    }
    fn consecutive_dots(&self, mut first: usize, u: &[f64], out: &mut [f64]) {
        for out in out.chunks_mut(self.columns_per_look) {
            if self.is_over() {
                return;
            }
            self.factored.consecutive_dots(first, u, out);
            first += out.len();
        }
    }
    fn dots(&self, columns: &[u32], u: &[f64], out: &mut [f64]) {
        let size = self.columns_per_look;
        for (columns, out) in columns.chunks(size).zip(out.chunks_mut(size)) {
            if self.is_over() {
                return;
            }
            self.factored.dots(columns, u, out);
        }
    }
    fn add_columns(&self, columns: &[u32], amounts: &[f64], out: &mut [f64]) {
        let size = self.columns_per_look;
        for (columns, amounts) in columns.chunks(size).zip(amounts.chunks(size)) {
            if self.is_over() {
                return;
            }
            self.factored.add_columns(columns, amounts, out);
        }
    }
    fn copy_columns(&self, columns: &[u32]) -> Option<Rows<'static>> {
        self.factored.copy_columns(columns)
    }
    fn add_outer(&self, columns: &[u32], scales: &[f64], first: usize, out: &mut [f64], stride: usize) {
        // Every number of a column meets the others of it.
        let each = NUMBERS_PER_LOOK / self.columns_per_look;
        let size = (self.columns_per_look / each).max(1);
        for (columns, scales) in columns.chunks(size).zip(scales.chunks(size)) {
            if self.is_over() {
                return;
            }
            self.factored.add_outer(columns, scales, first, out, stride);
        }
    }
}
