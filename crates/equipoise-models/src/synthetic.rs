//! The paper's synthetic problem (section 5.1):
//!
//! ```text
//! minimise  C sum_i ||x_i - (i mod 10) 1||^2   subject to   sum_i A_i x_i = 0,      i = 1..N
//! ```
//!
//! with `x_i` of `block` entries, `rows` equations whose coefficients are drawn from U[0, 1], and C such that the
//! objective at x = 0 is 1000. Deterministic in the seed.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use equipoise::coupling::Coupling;
use equipoise::matrix::DenseMatrix;
use equipoise::problem::{BlockChoice, Problem, ProblemBuilder};
use equipoise::separable::Zero;
use equipoise::smooth::Distance;
use equipoise::{Control, Error, Result};

/// The objective at x = 0.
const OBJECTIVE_AT_ZERO: f64 = 1000.0;

/// The most bytes that the coefficients may take.
const MOST_BYTES: usize = 1 << 36;

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
    /// The unconstrained minimiser: i mod 10 in every entry of block i, i from 1.
    pub fn target(&self) -> Vec<f64> {
        (1..=self.nodes).flat_map(|i| std::iter::repeat_n((i % 10) as f64, self.block)).collect()
    }

    /// f: the weighted squared distance to the targets.
    pub fn smooth(&self) -> Result<Distance> {
        self.check_size()?;
        let target = self.target();
        let at_zero: f64 = target.iter().map(|t| t * t).sum();
        Distance::new(target, if at_zero > 0.0 { OBJECTIVE_AT_ZERO / at_zero } else { 1.0 })
    }

    /// A x = 0 with coefficients from U[0, 1], drawn coordinate after coordinate.
    pub fn coupling(&self) -> Result<Coupling> {
        self.coupling_within(&Control::unlimited())
    }

    /// The same under a control; [`Error::StoppedEarly`] where it ended the drawing.
    pub fn coupling_within(&self, control: &Control) -> Result<Coupling> {
        let n = self.check_size()?;
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(self.seed);
        let mut values = Vec::with_capacity(n * self.rows);
        control.in_parts(n * self.rows, 1, |part| {
            // 53 random bits make a number of [0, 1).
            values.extend(part.map(|_| (rng.next_u64() >> 11) as f64 * (-53f64).exp2()));
        })?;
        Coupling::rows_of(DenseMatrix::from_columns(self.rows, n, values)?, vec![0.0; self.rows])
    }

    /// The problem, ready for a graph and other choices.
    pub fn problem(&self) -> Result<ProblemBuilder<Distance, Zero>> {
        Ok(Problem::builder(self.smooth()?).coupling(self.coupling()?).blocks(BlockChoice::Size(self.block)))
    }

    /// The number of variables, once the problem is neither empty nor out of all proportion.
    fn check_size(&self) -> Result<usize> {
        let n = self.nodes.saturating_mul(self.block);
        let needed = n.saturating_mul(self.rows.max(1)).saturating_mul(size_of::<f64>());
        if n == 0 {
            Err(Error::EmptyProblem)
        } else if needed > MOST_BYTES {
            let what = format!("the {} x {n} coefficients of the synthetic problem", self.rows);
            Err(Error::TooMuchMemory { what, needed, allowed: MOST_BYTES })
        } else {
            Ok(n)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_problem_of_the_paper() {
        let paper = Synthetic { nodes: 1000, block: 50, rows: 10, seed: 1 };
        let problem = Problem::builder(paper.smooth().expect("valid")).build().expect("valid");
        let mut x = vec![0.0; 50_000];
        assert!((problem.objective(&x).expect("in memory") - 1000.0).abs() < 1e-9);
        // Block 1 has target 1: moving one of its coordinates there saves C = 1000 / (50 * 28500) = 7.0175e-4.
        x[0] = 1.0;
        assert!((1000.0 - problem.objective(&x).expect("in memory") - 7.0175e-4).abs() < 1e-8);
        let target = paper.target();
        assert_eq!((target[0], target[49], target[50], target[9 * 50]), (1.0, 1.0, 2.0, 0.0));
        assert_eq!(paper.coupling().expect("valid").rows(), 10);
    }

    #[test]
    fn the_seed_decides_the_coefficients() {
        let make = |seed| Synthetic { nodes: 3, block: 2, rows: 2, seed }.coupling().expect("valid");
        assert_eq!(make(5), make(5));
        assert_ne!(make(5), make(6));
    }

    #[test]
    fn a_control_ends_the_drawing() {
        let flag = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(true));
        let large = Synthetic { nodes: 1000, block: 100, rows: 10, seed: 0 };
        assert_eq!(large.coupling_within(&Control::on(flag)), Err(Error::StoppedEarly { by: "interrupted" }));
    }

    #[test]
    fn empty_and_impossible_sizes_are_refused() {
        let refused = |nodes, block, rows| Synthetic { nodes, block, rows, seed: 0 }.problem().is_err();
        assert!(refused(0, 5, 1) && refused(5, 0, 1));
        assert!(refused(usize::MAX, 2, 1) && refused(1 << 30, 1 << 10, 10));
        assert!(!refused(3, 1, 0));
    }
}
