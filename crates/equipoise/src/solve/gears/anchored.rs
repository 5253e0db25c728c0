//! f with a proximal term: `f(x) + 1/2 sum_c kappa_c (x_c - y_c)^2`, a stand-in for f in pair updates.
//!
//! Its product is that of f. The call through `dyn` keeps the pair updates from being compiled once more for every f.

use crate::control::{Control, Pass};
use crate::smooth::{PairTerm, Reads, SmoothTerm};

/// f, drawn towards an anchor y.
#[derive(Debug)]
pub(crate) struct Anchored<'a> {
    pub(crate) inner: &'a dyn SmoothTerm,
    pub(crate) anchor: Vec<f64>,
    /// `kappa_c`.
    pub(crate) strength: Vec<f64>,
}

impl PairTerm for Anchored<'_> {
    fn dimension(&self) -> usize {
        self.inner.dimension()
    }
    #[inline]
    fn partial(&self, c: usize, x: &[f64], product: &[f64]) -> f64 {
        self.inner.partial(c, x, product) + self.strength[c] * (x[c] - self.anchor[c])
    }
    #[inline]
    fn curvature(&self, c: usize) -> f64 {
        self.inner.curvature(c) + self.strength[c]
    }
    #[inline]
    fn own_curvature(&self, c: usize) -> f64 {
        self.inner.own_curvature(c) + self.strength[c]
    }
    #[inline]
    fn interaction(&self, i: usize, j: usize) -> Option<f64> {
        self.inner.interaction(i, j)
    }
    fn is_decomposable(&self) -> bool {
        self.inner.is_decomposable()
    }
    fn reads(&self, c: usize) -> Reads<'_> {
        self.inner.reads(c)
    }
    #[inline]
    fn product_len(&self) -> usize {
        self.inner.product_len()
    }
    #[inline]
    fn add_to_product(&self, c: usize, delta: f64, product: &mut [f64]) {
        self.inner.add_to_product(c, delta, product);
    }
}

impl SmoothTerm for Anchored<'_> {
    fn value(&self, x: &[f64], product: &[f64]) -> f64 {
        let pulls = x.iter().zip(&self.anchor).zip(&self.strength);
        self.inner.value(x, product) + pulls.map(|((x, y), k)| 0.5 * k * (x - y) * (x - y)).sum::<f64>()
    }
    fn fill_product(&self, x: &[f64], product: &mut [f64], control: &Control) -> Pass {
        self.inner.fill_product(x, product, control)
    }
}
