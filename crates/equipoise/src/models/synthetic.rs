//! The paper's synthetic problem (section 5.1):
//!
//! ```text
//! minimise  C sum_i ||x_i - (i mod 10) 1||^2   subject to   sum_i A_i x_i = 0,      i = 1..N
//! ```
//!
//! with x_i of `block` entries, `rows` equations whose coefficients are drawn from U[0, 1], and C such that the
//! objective at x = 0 is 1000. Deterministic in the seed.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use crate::coupling::Coupling;
use crate::error::{Error, Result};
use crate::matrix::DenseMatrix;
use crate::problem::{BlockChoice, Problem, ProblemBuilder};
use crate::separable::Zero;
use crate::smooth::Distance;

/// The objective at x = 0.
const OBJECTIVE_AT_ZERO: f64 = 1000.0;

/// The parameters of the paper's synthetic problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Synthetic {
    /// N, the number of blocks.
    pub nodes: usize,
    /// The size of every block.
    pub block: usize,
    /// m, the number of coupling rows.
    pub rows: usize,
    /// The seed of the coefficients.
    pub seed: u64,
}

impl Synthetic {
    /// f: the weighted squared distance to the targets.
    pub fn smooth(&self) -> Result<Distance> {
        let target: Vec<f64> =
            (0..self.dimension()?).map(|c| ((c / self.block + 1) % 10) as f64).collect();
        let at_zero: f64 = target.iter().map(|t| t * t).sum();
        Distance::new(target, if at_zero > 0.0 { OBJECTIVE_AT_ZERO / at_zero } else { 1.0 })
    }

    /// A x = 0 with coefficients from U[0, 1].
    pub fn coupling(&self) -> Result<Coupling> {
        let n = self.dimension()?;
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(self.seed);
        // 53 random bits make a number of [0, 1).
        let uniform = |rng: &mut Xoshiro256PlusPlus| (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        let values = (0..n * self.rows).map(|_| uniform(&mut rng)).collect();
        Coupling::rows_of(DenseMatrix::from_columns(self.rows, n, values)?, vec![0.0; self.rows])
    }

    /// The problem, ready for a graph and other choices.
    pub fn problem(&self) -> Result<ProblemBuilder<Distance, Zero>> {
        Ok(Problem::builder(self.smooth()?).coupling(self.coupling()?).blocks(BlockChoice::Size(self.block)))
    }

    fn dimension(&self) -> Result<usize> {
        let entries = self.nodes.checked_mul(self.block).and_then(|n| n.checked_mul(self.rows.max(1)));
        match entries {
            Some(0) => Err(Error::EmptyProblem),
            Some(entries) if entries <= isize::MAX as usize / 64 => Ok(self.nodes * self.block),
            _ => Err(Error::TooMuchMemory {
                what: "the synthetic problem".into(),
                needed: usize::MAX,
                allowed: isize::MAX as usize / 8,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::smooth::SmoothTerm;

    #[test]
    fn the_constant_is_the_papers() {
        let synthetic = Synthetic { nodes: 1000, block: 50, rows: 1, seed: 1 };
        let f = synthetic.smooth().expect("valid");
        // C = 1000 / sum_i 50 (i mod 10)^2 = 7.0175e-4, curvature 2 C.
        assert!((f.curvature(0) / 2.0 - 7.0175e-4).abs() < 1e-8);
        assert!((f.value(&vec![0.0; 50_000], &[]) - 1000.0).abs() < 1e-9);
    }
}
