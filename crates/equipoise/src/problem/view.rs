//! A problem as seen by whoever asks for little at a time of much: certificates, steps over all blocks.
//!
//! [`Problem`](super::Problem) is generic, so that pairs and sweeps are compiled for their terms. What is not asked for
//! single entries in inner loops sees the same problem through a [`View`], and is compiled once.
//!
//! - Given: a problem.
//! - Returns: its parts, the terms as trait objects.
//! - Must not know: who asks.

use crate::control::{Control, Pass};
use crate::coupling::{Coupling, RowUnits};
use crate::separable::{GroupL2, Nonsmooth, SeparableTerm};
use crate::smooth::SmoothTerm;

use super::Blocks;

/// h, seen without its type.
pub type NonsmoothView<'a> = Nonsmooth<&'a dyn SeparableTerm, &'a GroupL2>;

/// A problem without the types of its terms.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    pub(super) smooth: &'a dyn SmoothTerm,
    pub(super) separable: NonsmoothView<'a>,
    pub(super) coupling: &'a Coupling,
    pub(super) independent: &'a Coupling,
    pub(super) kept_rows: &'a [usize],
    pub(super) units: &'a RowUnits,
    pub(super) blocks: &'a Blocks,
}

impl<'a> View<'a> {
    /// The number n of variables.
    pub fn dimension(self) -> usize {
        self.smooth.dimension()
    }

    /// f.
    pub fn smooth(self) -> &'a dyn SmoothTerm {
        self.smooth
    }

    /// h.
    pub fn separable(self) -> NonsmoothView<'a> {
        self.separable
    }

    /// A x = b as it was given.
    pub fn coupling(self) -> &'a Coupling {
        self.coupling
    }

    /// The blocks of x.
    pub fn blocks(self) -> &'a Blocks {
        self.blocks
    }

    /// Whether the objective is known never to fall for ever: f has a least value and h is bounded, or everything has bounds.
    /// What looks like a fall without end is rounding then.
    pub(crate) fn has_floor(self) -> bool {
        let n = self.dimension();
        let (is_non_negative, is_boxed) = match self.separable {
            Nonsmooth::Coordinates(h) => {
                let is_bounded = |(lower, upper): (f64, f64)| lower.is_finite() && upper.is_finite();
                (h.is_non_negative(n), (0..n).all(|c| is_bounded(h.domain(c))))
            }
            Nonsmooth::Groups(_) => (true, false),
        };
        is_boxed || (is_non_negative && self.smooth.least_value().is_finite())
    }

    /// The coupling by independent rows.
    pub(crate) fn independent_coupling(self) -> &'a Coupling {
        self.independent
    }

    /// h(x).
    pub fn separable_value(self, x: &[f64]) -> f64 {
        self.separable.value(self.blocks, x)
    }

    /// f(x) + h(x), with the product of x.
    pub(crate) fn value(self, x: &[f64], product: &[f64]) -> f64 {
        self.smooth.value(x, product) + self.separable_value(x)
    }

    /// f(x) + h(x), from raw data.
    pub fn objective(self, x: &[f64], control: &Control) -> Pass<f64> {
        let mut product = vec![0.0; self.smooth.product_len()];
        self.smooth.fill_product(x, &mut product, control)?;
        Ok(self.value(x, &product))
    }

    /// Multipliers of all rows given, from those of the independent ones.
    pub(crate) fn expand_multipliers(self, lambda: &[f64]) -> Vec<f64> {
        let mut all = vec![0.0; self.coupling.rows()];
        for (k, (&row, &own)) in self.kept_rows.iter().zip(lambda).enumerate() {
            all[row] = self.units.multiplier_given(k, own);
        }
        all
    }
}
