//! Inner loops over contiguous numbers, written so that the compiler vectorises them.

/// The number of independent sums that hide the latency of an addition.
const LANES: usize = 8;

/// The inner product of two slices of one length.
#[inline]
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let length = a.len().min(b.len());
    let (a, b) = (&a[..length], &b[..length]);
    let mut sums = [0.0; LANES];
    let (a_chunks, b_chunks) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let tail: f64 = a_chunks.remainder().iter().zip(b_chunks.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in a_chunks.zip(b_chunks) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    let [s0, s1, s2, s3, s4, s5, s6, s7] = sums;
    ((s0 + s4) + (s1 + s5)) + ((s2 + s6) + (s3 + s7)) + tail
}

/// `y += t * x`.
#[inline]
pub(crate) fn axpy(t: f64, x: &[f64], y: &mut [f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += t * x;
    }
}

/// The largest size of an entry; 0 for none.
#[inline]
pub(crate) fn max_abs(v: &[f64]) -> f64 {
    v.iter().fold(0.0, |most: f64, a| most.max(a.abs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dot_and_axpy_agree_with_plain_loops_at_every_length() {
        for length in 0..40 {
            let a: Vec<f64> = (0..length).map(|k| f64::from(k) - 3.5).collect();
            let b: Vec<f64> = (0..length).map(|k| 0.5 * f64::from(k * k) - 1.0).collect();
            let plain: f64 = a.iter().zip(&b).map(|(a, b)| a * b).sum();
            assert!((dot(&a, &b) - plain).abs() <= 1e-12 * (1.0 + plain.abs()));
            let mut y = b.clone();
            axpy(2.0, &a, &mut y);
            assert!(y.iter().zip(&a).zip(&b).all(|((y, a), b)| *y == 2.0 * a + b));
        }
    }
}
