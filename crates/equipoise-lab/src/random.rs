//! Random numbers, the same on every machine for one seed.

use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A stream of uniform and normal numbers.
#[derive(Debug)]
pub(crate) struct Stream {
    random: Xoshiro256PlusPlus,
    spare: Option<f64>,
}

impl Stream {
    pub(crate) fn new(seed: u64) -> Self {
        Self { random: Xoshiro256PlusPlus::seed_from_u64(seed), spare: None }
    }

    /// Uniform in [0, 1), 53 bits.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// One standard normal number (Box and Muller, the second of each two kept for the next call).
    pub(crate) fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        // In (0, 1], so that the logarithm is finite.
        let uniform = 1.0 - self.unit();
        let radius = (-2.0 * uniform.ln()).sqrt();
        let (sine, cosine) = (std::f64::consts::TAU * self.unit()).sin_cos();
        self.spare = Some(radius * sine);
        radius * cosine
    }

    /// So many standard normal numbers.
    pub(crate) fn normals(&mut self, count: usize) -> Vec<f64> {
        (0..count).map(|_| self.normal()).collect()
    }

    /// The numbers below `end` in random order (Fisher and Yates).
    pub(crate) fn permutation(&mut self, end: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..end).collect();
        for last in (1..end).rev() {
            order.swap(last, self.random.random_range(0..=last));
        }
        order
    }

    /// Distinct numbers below `end` in rising order, every subset of that size equally likely.
    pub(crate) fn distinct(&mut self, count: usize, end: usize) -> Vec<usize> {
        let mut chosen = Vec::with_capacity(count);
        while chosen.len() < count {
            let one = self.random.random_range(0..end);
            if let Err(place) = chosen.binary_search(&one) {
                chosen.insert(place, one);
            }
        }
        chosen
    }
}
