//! Inner loops over one or two short vectors, written so that they compile to vector code without bounds checks. Loops
//! over many columns are in `wide.rs`.

pub(super) use crate::matrix::short::{axpy, dot};

/// A sum that carries its own rounding error (Neumaier).
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sum {
    sum: f64,
    lost: f64,
}

impl Sum {
    #[inline]
    pub(super) fn add(&mut self, t: f64) {
        // Knuth's error-free sum: no branch on which of the two is larger.
        let sum = self.sum + t;
        let part = sum - self.sum;
        self.lost += (self.sum - (sum - part)) + (t - part);
        self.sum = sum;
    }

    #[inline]
    pub(super) fn value(self) -> f64 {
        self.sum + self.lost
    }
}

/// `gram += t a a'`, lower triangle, column-major.
#[inline]
pub(super) fn add_outer(t: f64, a: &[f64], gram: &mut [f64]) {
    let m = a.len();
    if m == 0 {
        return;
    }
    for (j, column) in gram.chunks_exact_mut(m).enumerate() {
        axpy(t * a[j], &a[j..], &mut column[j..]);
    }
}
