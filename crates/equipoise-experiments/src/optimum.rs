//! The optimum of the paper's synthetic problem, by least squares.
//!
//! Notation: t is the unconstrained minimiser, `A x = 0` the coupling. The optimum is the projection of t,
//! `x* = t - A'(A A')^-1 A t`.

use anyhow::{Context, Result};
use equipoise::Coupling;
use equipoise_models::Synthetic;

/// The point of `A x = 0` nearest to the targets.
pub fn synthetic_optimum(problem: &Synthetic, coupling: &Coupling) -> Result<Vec<f64>> {
    let (mut x, m) = (problem.target(), coupling.rows());
    let mut gram = vec![0.0; m * m];
    let mut column = vec![0.0; m];
    for c in 0..x.len() {
        column.fill(0.0);
        coupling.add_column(c, 1.0, &mut column);
        for (row, &value) in column.iter().enumerate() {
            let sums = &mut gram[row * m..=row * m + row];
            sums.iter_mut().zip(&column).for_each(|(sum, other)| *sum += value * other);
        }
    }
    factor(&mut gram, m).context("the rows of the coupling depend on each other")?;
    // The second pass takes out what rounding left in the first.
    for _ in 0..2 {
        let mut lambda = vec![0.0; m];
        coupling.residual(&x, &mut lambda);
        solve(&gram, &mut lambda);
        for (c, x) in x.iter_mut().enumerate() {
            *x -= coupling.column_dot(c, &lambda);
        }
    }
    Ok(x)
}

/// The Cholesky factor of a positive definite matrix, in its lower half; `None` where it is not definite.
pub(crate) fn factor(a: &mut [f64], m: usize) -> Option<()> {
    for c in 0..m {
        for r in c..m {
            let sum: f64 = (0..c).map(|k| a[r * m + k] * a[c * m + k]).sum();
            let value = a[r * m + c] - sum;
            if r > c {
                a[r * m + c] = value / a[c * m + c];
            } else if value > 0.0 {
                a[c * m + c] = value.sqrt();
            } else {
                return None;
            }
        }
    }
    Some(())
}

/// Solves with such a factor, in place.
pub(crate) fn solve(l: &[f64], b: &mut [f64]) {
    let m = b.len();
    for r in 0..m {
        let sum: f64 = (0..r).map(|k| l[r * m + k] * b[k]).sum();
        b[r] = (b[r] - sum) / l[r * m + r];
    }
    for r in (0..m).rev() {
        let sum: f64 = (r + 1..m).map(|k| l[k * m + r] * b[k]).sum();
        b[r] = (b[r] - sum) / l[r * m + r];
    }
}

#[cfg(test)]
mod tests {
    use equipoise::{Settings, Status};

    use super::*;

    #[test]
    fn the_solver_finds_the_same_optimum() {
        let synthetic = Synthetic { nodes: 12, block: 4, rows: 3, seed: 1 };
        let problem = synthetic.problem().expect("valid").build().expect("valid");
        let x = synthetic_optimum(&synthetic, problem.coupling()).expect("independent rows");
        assert!(problem.coupling().infeasibility(&x) < 1e-10);
        let settings = Settings { tolerance: 1e-11, ..Settings::default() };
        let solution = equipoise::solve(&problem, &settings).expect("a run");
        assert_eq!(solution.status, Status::Converged);
        let (ours, theirs) = (problem.objective(&x).expect("in memory"), solution.certificate.objective);
        assert!((ours - theirs).abs() < 1e-8 * theirs, "{ours} {theirs}");
    }
}
