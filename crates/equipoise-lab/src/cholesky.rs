//! Small dense systems with a symmetric positive definite matrix.

use anyhow::{Result, ensure};

/// Cholesky: the lower triangle L of `L L'` in place of a symmetric matrix, row after row.
pub(crate) fn factor(matrix: &mut [f64], m: usize) -> Result<()> {
    for i in 0..m {
        for j in 0..=i {
            let dot: f64 = (0..j).map(|k| matrix[i * m + k] * matrix[j * m + k]).sum();
            let rest = matrix[i * m + j] - dot;
            if i == j {
                ensure!(rest > 0.0, "row {i} of the matrix depends on those before it");
                matrix[i * m + i] = rest.sqrt();
            } else {
                matrix[i * m + j] = rest / matrix[j * m + j];
            }
        }
    }
    Ok(())
}

/// `L L' y = b`, in place.
pub(crate) fn solve(lower: &[f64], b: &mut [f64]) {
    let m = b.len();
    for i in 0..m {
        let dot: f64 = (0..i).map(|k| lower[i * m + k] * b[k]).sum();
        b[i] = (b[i] - dot) / lower[i * m + i];
    }
    for i in (0..m).rev() {
        let dot: f64 = (i + 1..m).map(|k| lower[k * m + i] * b[k]).sum();
        b[i] = (b[i] - dot) / lower[i * m + i];
    }
}
