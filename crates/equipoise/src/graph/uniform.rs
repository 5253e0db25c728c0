//! Uniform draws from 64 random bits, by multiply and shift (Lemire 2019, without the rejection).
//!
//! A u64 `r` times n, as 128 bits: the upper half is uniform below n (relative bias at most n / 2^64), the lower half
//! is what is left of `r`, still uniform to about 64 - log2(n) bits.
//!
//! - Given: a generator, a bound. Returns: numbers below it.
//! - Must not know: graphs.

use rand::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;

/// Up to here one u64 makes a pair: the relative bias stays below n^2 / 2^64 = 2^-20 at the very end and is 5e-8 at
/// a million nodes.
const ONE_DRAW_LIMIT: usize = 1 << 22;

/// Splits `bits` into a number below `bound` and the bits that are left.
#[inline]
pub(super) fn split(bits: u64, bound: usize) -> (usize, u64) {
    let product = u128::from(bits) * bound as u128;
    ((product >> 64) as usize, product as u64)
}

/// A number below `bound`.
#[inline]
pub(crate) fn below(rng: &mut Xoshiro256PlusPlus, bound: usize) -> usize {
    split(rng.next_u64(), bound).0
}

/// A number below `nodes` other than `taken`.
#[inline]
pub(super) fn other_than(taken: usize, rng: &mut Xoshiro256PlusPlus, nodes: usize) -> usize {
    step_over(taken, below(rng, nodes - 1))
}

/// Two different numbers below `nodes`, every ordered pair equally likely.
#[inline]
pub(super) fn two_different(rng: &mut Xoshiro256PlusPlus, nodes: usize) -> (usize, usize) {
    let (i, rest) = split(rng.next_u64(), nodes);
    let rest = if nodes <= ONE_DRAW_LIMIT { rest } else { rng.next_u64() };
    (i, step_over(i, split(rest, nodes - 1).0))
}

/// A number in (0, 1].
pub(super) fn unit(rng: &mut Xoshiro256PlusPlus) -> f64 {
    ((rng.next_u64() >> 11) + 1) as f64 * (1.0 / (1u64 << 53) as f64)
}

/// Maps 0..n-1 onto 0..n without `taken`.
#[inline]
fn step_over(taken: usize, j: usize) -> usize {
    j + usize::from(j >= taken)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    #[test]
    fn extremes() {
        assert_eq!(split(0, 7), (0, 0));
        assert_eq!(split(u64::MAX, 7).0, 6);
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        for _ in 0..1000 {
            assert_eq!(below(&mut rng, 1), 0);
            let u = unit(&mut rng);
            assert!(u > 0.0 && u <= 1.0);
        }
    }

    #[test]
    fn every_ordered_pair_is_equally_likely() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(2);
        let (nodes, draws) = (5, 400_000);
        let mut count = vec![0.0f64; nodes * nodes];
        for _ in 0..draws {
            let (i, j) = two_different(&mut rng, nodes);
            count[i * nodes + j] += 1.0;
        }
        let expected = f64::from(draws) / 20.0;
        for (cell, &found) in count.iter().enumerate() {
            let target = if cell / nodes == cell % nodes { 0.0 } else { expected };
            assert!((found - target).abs() < 5.0 * expected.sqrt(), "{cell}: {found}");
            assert!(target > 0.0 || found == 0.0);
        }
    }

    #[test]
    fn large_bounds_use_two_draws_and_stay_in_range() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
        let nodes = u32::MAX as usize;
        let mut sum = 0.0;
        for _ in 0..10_000 {
            let (i, j) = two_different(&mut rng, nodes);
            assert!(i != j && i < nodes && j < nodes);
            sum += j as f64 / nodes as f64;
        }
        assert!((sum / 10_000.0 - 0.5).abs() < 0.02);
    }
}
