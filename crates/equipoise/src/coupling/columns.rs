//! The columns of a coupling as the pair steps read them: some coordinates, in some order.

use super::Coupling;
use crate::pair_step::Columns;

/// Columns of a coupling, by the coordinates they belong to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CouplingColumns<'a> {
    coupling: &'a Coupling,
    coordinates: &'a [usize],
}

impl<'a> CouplingColumns<'a> {
    /// The columns of these coordinates, in this order.
    pub(crate) fn new(coupling: &'a Coupling, coordinates: &'a [usize]) -> Self {
        Self { coupling, coordinates }
    }
}

impl Columns for CouplingColumns<'_> {
    #[inline]
    fn rows(&self) -> usize {
        self.coupling.rows()
    }
    #[inline]
    fn len(&self) -> usize {
        self.coordinates.len()
    }
    #[inline]
    fn dot(&self, k: usize, y: &[f64]) -> f64 {
        self.coupling.column_dot(self.coordinates[k], y)
    }
    #[inline]
    fn add(&self, k: usize, t: f64, out: &mut [f64]) {
        self.coupling.add_column(self.coordinates[k], t, out);
    }
    #[inline]
    fn add_outer(&self, k: usize, t: f64, gram: &mut [f64]) {
        self.coupling.add_outer(self.coordinates[k], t, gram);
    }
}
