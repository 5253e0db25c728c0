//! Inner loops over one or two short vectors, written so that they compile to vector code without bounds checks. Loops
//! over many columns are in `wide.rs`.

const LANES: usize = 8;

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

/// `a'b`.
#[inline]
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    let mut lanes = [0.0; LANES];
    for (a, b) in a.iter().zip(b) {
        for l in 0..LANES {
            lanes[l] += a[l] * b[l];
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    let [a, b, c, d, e, f, g, h] = lanes;
    ((a + e) + (b + f)) + ((c + g) + (d + h)) + rest
}

/// `out += t a`.
#[inline]
pub(super) fn axpy(t: f64, a: &[f64], out: &mut [f64]) {
    for (out, a) in out.iter_mut().zip(a) {
        *out += t * a;
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
