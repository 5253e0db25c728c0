//! The paper's synthetic problem (UAI 2015, section 7), made in memory:
//!
//! ```text
//! minimise  C sum_i ||x_i - (i mod 10) 1||^2   subject to   A x = 0        i = 1..N as in the paper
//! ```
//!
//! N blocks of equal size, `rows` coupling rows with coefficients uniform in [0, 1), drawn coordinate after
//! coordinate from one seeded generator, and C such that the objective at x = 0 is 1000.

use anyhow::{Context, bail};
use equipoise::smooth::Distance;
use equipoise::{Coupling, DenseMatrix, Error};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// The objective at x = 0.
const OBJECTIVE_AT_ZERO: f64 = 1000.0;
/// The most bytes that the coefficients may take.
const MOST_BYTES: usize = 1 << 36;

/// The four numbers that say which problem it is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Synthetic {
    pub(crate) nodes: usize,
    pub(crate) block: usize,
    pub(crate) rows: usize,
    pub(crate) seed: u64,
}

impl Synthetic {
    /// f and the coupling.
    pub(crate) fn make(self) -> anyhow::Result<(Distance, Coupling)> {
        let n = self.check_size()?;
        let target = self.target();
        let square: f64 = target.iter().map(|t| t * t).sum();
        let smooth = Distance::new(target, OBJECTIVE_AT_ZERO / square)?;
        if self.rows == 0 {
            return Ok((smooth, Coupling::none()));
        }
        let mut source = Xoshiro256PlusPlus::seed_from_u64(self.seed);
        let coefficients = (0..n * self.rows).map(|_| unit(&mut source)).collect();
        let matrix = DenseMatrix::from_columns(self.rows, n, coefficients)?;
        Ok((smooth, Coupling::rows_of(matrix, vec![0.0; self.rows])?))
    }

    /// The unconstrained minimiser: i mod 10 in every coordinate of block i, i from 1.
    pub(crate) fn target(self) -> Vec<f64> {
        (1..=self.nodes).flat_map(|i| std::iter::repeat_n((i % 10) as f64, self.block)).collect()
    }

    /// The number of variables, once the problem is neither empty nor out of all proportion.
    fn check_size(self) -> anyhow::Result<usize> {
        let n = self.nodes.checked_mul(self.block).context("nodes times block is too large")?;
        if n == 0 {
            bail!(Error::EmptyProblem);
        }
        let needed = n.saturating_mul(self.rows.max(1)).saturating_mul(size_of::<f64>());
        if needed > MOST_BYTES {
            let what = format!("{} x {n} coefficients", self.rows);
            bail!(Error::TooMuchMemory { what, needed, allowed: MOST_BYTES });
        }
        Ok(n)
    }
}

/// A number uniform in [0, 1): 53 random bits.
pub(crate) fn unit(source: &mut Xoshiro256PlusPlus) -> f64 {
    (source.next_u64() >> 11) as f64 * (-53f64).exp2()
}

#[cfg(test)]
mod tests {
    use equipoise::Problem;

    use super::*;

    #[test]
    fn it_is_the_problem_of_the_paper() {
        let problem = Synthetic { nodes: 1000, block: 50, rows: 10, seed: 1 };
        let (smooth, coupling) = problem.make().expect("valid");
        assert_eq!(coupling.rows(), 10);
        let built = Problem::builder(smooth).build().expect("valid");
        let mut x = vec![0.0; 50_000];
        assert!((built.objective(&x) - 1000.0).abs() < 1e-9);
        // Block 1 has target 1: moving one of its coordinates there saves C, by hand 1000 / (50 * 28500).
        x[0] = 1.0;
        assert!((1000.0 - built.objective(&x) - 7.0175e-4).abs() < 1e-8);
        let target = problem.target();
        assert_eq!((target[0], target[49], target[50], target[9 * 50]), (1.0, 1.0, 2.0, 0.0));
    }

    #[test]
    fn the_seed_decides_the_coefficients() {
        let make = |seed| Synthetic { nodes: 3, block: 2, rows: 2, seed }.make().expect("valid").1;
        assert_eq!(make(5), make(5));
        assert_ne!(make(5), make(6));
    }

    #[test]
    fn empty_and_impossible_sizes_are_refused() {
        let refused = |nodes, block, rows| Synthetic { nodes, block, rows, seed: 0 }.make().is_err();
        assert!(refused(0, 5, 1) && refused(5, 0, 1));
        assert!(refused(usize::MAX, 2, 1) && refused(1 << 30, 1 << 10, 10));
        assert!(!refused(3, 1, 0));
    }
}
