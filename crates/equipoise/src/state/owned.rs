//! The state of one thread, in memory of its own.

use std::ops::Range;

use crate::smooth::SmoothTerm;

/// x and the maintained product of f.
#[derive(Debug, Clone)]
pub(crate) struct State {
    pub(crate) x: Vec<f64>,
    pub(crate) product: Vec<f64>,
}

impl State {
    pub(crate) fn new<F: SmoothTerm>(f: &F, x: Vec<f64>) -> Self {
        let mut state = Self { x, product: vec![0.0; f.product_len()] };
        state.refresh(f);
        state
    }

    /// Computes the product afresh: rounding drift of many small updates ends here.
    pub(crate) fn refresh<F: SmoothTerm>(&mut self, f: &F) {
        f.fill_product(&self.x, &mut self.product);
    }

    /// Sets coordinate c to z.
    #[inline]
    pub(crate) fn set<F: SmoothTerm>(&mut self, f: &F, c: usize, z: f64) {
        let delta = z - self.x[c];
        self.x[c] = z;
        if f.product_len() > 0 && delta != 0.0 {
            f.add_to_product(c, delta, &mut self.product);
        }
    }

    /// Sets consecutive coordinates.
    #[inline]
    pub(crate) fn set_range<F: SmoothTerm>(&mut self, f: &F, range: Range<usize>, z: &[f64]) {
        if f.product_len() == 0 {
            self.x[range].copy_from_slice(z);
            return;
        }
        for (c, z) in range.zip(z) {
            self.set(f, c, *z);
        }
    }
}
