//! Random numbers for planting: one seed, one sequence.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// A number uniform in [0, 1): 53 random bits.
fn unit(source: &mut Xoshiro256PlusPlus) -> f64 {
    (source.next_u64() >> 11) as f64 * (-53f64).exp2()
}

/// A seeded stream of numbers.
#[derive(Debug)]
pub(super) struct Source(Xoshiro256PlusPlus);

impl Source {
    pub(super) fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// Uniform between two numbers.
    pub(super) fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * unit(&mut self.0)
    }

    /// Standard normal (Box-Muller).
    pub(super) fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - unit(&mut self.0)).ln()).sqrt();
        radius * (std::f64::consts::TAU * unit(&mut self.0)).cos()
    }

    /// A list of standard normal numbers.
    pub(super) fn normals(&mut self, count: usize) -> Vec<f64> {
        (0..count).map(|_| self.normal()).collect()
    }

    /// -1 or +1.
    pub(super) fn sign(&mut self) -> f64 {
        if self.0.next_u64() >> 63 == 0 { 1.0 } else { -1.0 }
    }

    /// `count` different numbers below `all`, rising.
    pub(super) fn choose(&mut self, count: usize, all: usize) -> Vec<usize> {
        // Floyd's method: as many draws as numbers, however many there are to choose from.
        let mut chosen = std::collections::BTreeSet::new();
        for last in all - count.min(all)..all {
            let drawn = (self.0.next_u64() % (last as u64 + 1)) as usize;
            chosen.insert(if chosen.contains(&drawn) { last } else { drawn });
        }
        chosen.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Source;

    #[test]
    fn chosen_numbers_are_different_rising_and_below_the_limit() {
        let mut source = Source::new(3);
        for (count, all) in [(0, 5), (1, 1), (3, 7), (7, 7), (9, 7)] {
            let chosen = source.choose(count, all);
            assert_eq!(chosen.len(), count.min(all));
            assert!(chosen.windows(2).all(|pair| pair[0] < pair[1]));
            assert!(chosen.iter().all(|&number| number < all));
        }
    }
}
