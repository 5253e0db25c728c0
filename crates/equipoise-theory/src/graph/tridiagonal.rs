//! The largest eigenvalue of a symmetric tridiagonal matrix T, and its eigenvector.
//!
//! - Given: the diagonal `d_0..d_{k-1}` and the off-diagonal `e_0..e_{k-2}`, positive (so Lanczos makes it).
//! - Returns: the eigenvalue to rounding, by bisection on Sturm pivots; the unit eigenvector by inverse iteration.
//! - Must not know: where T comes from.
//!
//! Just above the largest eigenvalue T - s I is negative definite: elimination without pivoting is stable there. The
//! eigenvector is positive in every entry (Perron and Frobenius), so that a start with ones always meets it.

/// The smallest s, to rounding, for which every Sturm pivot of T - s I is negative.
pub(super) fn largest_eigenvalue(diagonal: &[f64], off: &[f64]) -> f64 {
    let reach = |i: usize| {
        let before = if i == 0 { 0.0 } else { off[i - 1] };
        before.abs() + off.get(i).map_or(0.0, |e| e.abs())
    };
    let mut low = diagonal.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut high = (0..diagonal.len()).map(|i| diagonal[i] + reach(i)).fold(low, f64::max);
    high += f64::EPSILON * high.abs();
    while high - low > 2.0 * f64::EPSILON * high.abs().max(low.abs()) {
        let middle = low + 0.5 * (high - low);
        if middle <= low || middle >= high {
            break;
        }
        if all_below(diagonal, off, middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    high
}

/// Whether every eigenvalue is below `shift`.
fn all_below(diagonal: &[f64], off: &[f64], shift: f64) -> bool {
    let mut pivot = diagonal[0] - shift;
    for i in 1..diagonal.len() {
        if pivot >= 0.0 {
            return false;
        }
        pivot = diagonal[i] - shift - off[i - 1] * off[i - 1] / pivot;
    }
    pivot < 0.0
}

/// The unit eigenvector that belongs to the largest eigenvalue.
pub(super) fn leading_vector(diagonal: &[f64], off: &[f64], largest: f64) -> Vec<f64> {
    let size = diagonal.len();
    let shift = largest + 4.0 * f64::EPSILON * largest.abs();
    // Pivots of s I - T, kept positive against rounding.
    let smallest = f64::EPSILON * largest.abs().max(f64::MIN_POSITIVE);
    let mut pivots = vec![0.0; size];
    for i in 0..size {
        let carried = if i == 0 { 0.0 } else { off[i - 1] * off[i - 1] / pivots[i - 1] };
        pivots[i] = (shift - diagonal[i] - carried).max(smallest);
    }
    let mut vector = vec![1.0 / (size as f64).sqrt(); size];
    for _ in 0..3 {
        for i in 1..size {
            vector[i] += off[i - 1] / pivots[i - 1] * vector[i - 1];
        }
        vector[size - 1] /= pivots[size - 1];
        for i in (0..size - 1).rev() {
            vector[i] = (vector[i] + off[i] * vector[i + 1]) / pivots[i];
        }
        let largest_entry = vector.iter().copied().fold(0.0, f64::max);
        for v in &mut vector {
            *v /= largest_entry;
        }
        let norm = vector.iter().map(|v| v * v).sum::<f64>().sqrt();
        for v in &mut vector {
            *v /= norm;
        }
    }
    vector
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_by_one() {
        assert!((largest_eigenvalue(&[3.0], &[]) - 3.0).abs() < 1e-15);
        assert_eq!(leading_vector(&[3.0], &[], 3.0), [1.0]);
    }

    #[test]
    fn the_second_difference_matrix() {
        // 2 on the diagonal, 1 beside it: 2 + 2 cos(pi / (k + 1)), eigenvector sin(pi (i + 1) / (k + 1)).
        for size in [2, 5, 100, 1000] {
            let (diagonal, off) = (vec![2.0; size], vec![1.0; size - 1]);
            let angle = std::f64::consts::PI / (size as f64 + 1.0);
            let value = largest_eigenvalue(&diagonal, &off);
            assert!((value - 2.0 - 2.0 * angle.cos()).abs() < 4e-15, "{size}");
            let vector = leading_vector(&diagonal, &off, value);
            let scale = (2.0 / (size as f64 + 1.0)).sqrt();
            for (i, found) in vector.iter().enumerate() {
                let expected = scale * (angle * (i as f64 + 1.0)).sin();
                assert!((found - expected).abs() < 1e-7, "{size} {i}: {found} {expected}");
            }
        }
    }

    #[test]
    fn negative_and_graded() {
        let value = largest_eigenvalue(&[-5.0, -7.0], &[1.0]);
        assert!((value + 6.0 - 2f64.sqrt()).abs() < 1e-14);
        let value = largest_eigenvalue(&[1.0, 1e-8, 1e-16], &[1e-9, 1e-17]);
        assert!((value - 1.0).abs() < 1e-15);
    }
}
