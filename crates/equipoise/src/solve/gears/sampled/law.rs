//! Which sample comes next.
//!
//! - Given: the share of the curvature that each sample has, where it is known.
//! - Returns: draws, each with one over its probability: what an unbiased estimate has to multiply by.
//! - Must not know: what a sample is.
//!
//! Samples that bend f far more than others are drawn more often: half of the draws follow the curvature, half are
//! uniform, so that no probability is below half of the uniform one.

use rand_xoshiro::Xoshiro256PlusPlus;

use crate::graph::{AliasTable, below};

/// Largest share over mean share from which on uniform draws cost more than they save.
const UNEVEN: f64 = 3.0;

/// How samples are drawn.
#[derive(Debug)]
pub(super) enum Law {
    /// Each with the same probability.
    Uniform {
        /// One over it: the number of all samples.
        inverse: f64,
    },
    /// Some more often than others.
    Weighted {
        table: AliasTable,
        /// One over the probability of each.
        inverse: Vec<f64>,
    },
}

impl Law {
    /// Uniform over all samples.
    pub(super) fn uniform(samples: usize) -> Self {
        Self::Uniform { inverse: samples as f64 }
    }

    /// By the share of each sample, where the shares differ much.
    pub(super) fn by_shares(shares: &[f64]) -> Self {
        let (count, total): (f64, f64) = (shares.len() as f64, shares.iter().sum());
        let most = shares.iter().copied().fold(0.0, f64::max);
        // An alias counts in 32 bits.
        if most * count <= UNEVEN * total || u32::try_from(shares.len()).is_err() || !total.is_finite() {
            return Self::uniform(shares.len());
        }
        let law: Vec<f64> = shares.iter().map(|share| 0.5 / count + 0.5 * share / total).collect();
        let inverse = law.iter().map(|p| 1.0 / p).collect();
        Self::Weighted { table: AliasTable::new(&law), inverse }
    }

    /// A sample of the `rows` at hand.
    #[inline]
    pub(super) fn draw(&self, rng: &mut Xoshiro256PlusPlus, rows: usize) -> usize {
        match self {
            Self::Uniform { .. } => below(rng, rows),
            Self::Weighted { table, .. } => table.draw(rng),
        }
    }

    /// One over the probability of sample l.
    #[inline]
    pub(super) fn inverse(&self, l: usize) -> f64 {
        match self {
            Self::Uniform { inverse } => *inverse,
            Self::Weighted { inverse, .. } => inverse[l],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_xoshiro::rand_core::SeedableRng;

    #[test]
    fn even_shares_are_drawn_uniformly_and_uneven_ones_by_their_law() {
        assert!(matches!(Law::by_shares(&[1.0, 2.0, 1.5]), Law::Uniform { .. }));
        let law = Law::by_shares(&[0.0, 1.0, 0.0, 7.0, 0.0, 0.0, 0.0, 0.0]);
        let total: f64 = (0..8).map(|l| 1.0 / law.inverse(l)).sum();
        assert!((total - 1.0).abs() < 1e-14 && (1.0 / law.inverse(3) - 0.5).abs() < 1e-14);
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(4);
        let hits = (0..10_000).filter(|_| law.draw(&mut rng, 8) == 3).count();
        assert!((4800..5200).contains(&hits), "{hits}");
    }
}
