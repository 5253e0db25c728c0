//! The state of one thread, in memory of its own.

use std::ops::Range;

use super::{Iterate, Role};
use crate::archive::Archive;
use crate::control::{Control, Pass};
use crate::error::Result;
use crate::smooth::{PairTerm, SmoothTerm};

/// x and the maintained product of f.
#[derive(Debug, Clone)]
pub(crate) struct State {
    pub(crate) x: Vec<f64>,
    pub(crate) product: Vec<f64>,
}

impl State {
    pub(crate) fn new(f: &(impl SmoothTerm + ?Sized), x: Vec<f64>, control: &Control) -> Pass<Self> {
        let mut state = Self { x, product: vec![0.0; f.product_len()] };
        state.refresh(f, control)?;
        Ok(state)
    }

    /// For an f that keeps no product.
    pub(crate) fn without_product(x: Vec<f64>) -> Self {
        Self { x, product: Vec::new() }
    }

    /// Computes the product afresh: rounding drift of many small updates ends here. Where it is cut short, x stays and
    /// the product is of no use.
    pub(crate) fn refresh(&mut self, f: &(impl SmoothTerm + ?Sized), control: &Control) -> Pass {
        f.fill_product(&self.x, &mut self.product, control)
    }
}

impl State {
    /// Shows an archive x and its product.
    pub(crate) fn carry(&mut self, archive: &mut Archive<'_>) -> Result<()> {
        archive.numbers(&mut self.x)?;
        archive.numbers(&mut self.product)
    }
}

impl Iterate for State {
    #[inline]
    fn x(&self) -> &[f64] {
        &self.x
    }

    #[inline]
    fn product(&self) -> &[f64] {
        &self.product
    }

    #[inline]
    fn set<F: PairTerm>(&mut self, f: &F, c: usize, z: f64) {
        let delta = z - self.x[c];
        self.x[c] = z;
        if f.product_len() > 0 && delta != 0.0 {
            f.add_to_product(c, delta, &mut self.product);
        }
    }

    #[inline]
    fn exchange<F: PairTerm>(
        &mut self,
        f: &F,
        _row: usize,
        c: [usize; 2],
        _a: [f64; 2],
        z: [f64; 2],
    ) -> [f64; 2] {
        let x = [self.x[c[0]], self.x[c[1]]];
        self.set(f, c[0], z[0]);
        self.set(f, c[1], z[1]);
        [z[0] - x[0], z[1] - x[1]]
    }

    #[inline]
    fn set_block<F: PairTerm>(&mut self, f: &F, _role: Role, range: Range<usize>, z: &[f64]) {
        if f.product_len() == 0 {
            self.x[range].copy_from_slice(z);
            return;
        }
        for (c, z) in range.zip(z) {
            self.set(f, c, *z);
        }
    }

    #[inline]
    fn set_gathered<F: PairTerm>(&mut self, f: &F, coordinates: &[usize], _masters: usize, z: &mut [f64]) {
        for (&c, z) in coordinates.iter().zip(z.iter_mut()) {
            let delta = *z - self.x[c];
            self.x[c] = *z;
            *z = delta;
        }
        f.add_all_to_product(coordinates, z, &mut self.product);
    }
}
