//! Pairs in waves: within a wave no two pairs share a block, so threads may take them in any order.
//!
//! The first thread draws a batch of pairs as one thread would. A pair goes into the first wave after those of all
//! earlier pairs with which it shares a block; so every block sees its pairs in the order in which they were drawn,
//! and for f without a product the result is that of one thread, bit for bit. With a product every thread has its
//! own replica, and they are added up in the order of the threads after every batch: one seed and one number of
//! threads give one result.

use std::sync::{PoisonError, RwLock};

use crate::error::Result;
use crate::selection::SampledEdges;
use crate::state::shared::{Gate, Quota};

/// Waves of one batch, and the gate between them.
#[derive(Debug)]
pub(super) struct Waves {
    gate: Gate,
    threads: usize,
    batch: u64,
    products: bool,
    schedule: RwLock<Schedule>,
}

#[derive(Debug, Default)]
struct Schedule {
    /// Pairs with their waves, in order of the waves.
    pairs: Vec<(u32, usize, usize)>,
    /// Where each wave begins, and the end.
    starts: Vec<usize>,
    /// For every block that was drawn: the wave after its last pair.
    free_from: Vec<u32>,
}

impl Waves {
    /// For so many threads, a batch of so many pairs at a time; `products` where f keeps one.
    pub(super) fn new(threads: usize, batch: u64, products: bool) -> Self {
        Self { gate: Gate::new(threads), threads, batch, products, schedule: RwLock::default() }
    }

    /// Waits for the others; false when a thread failed.
    pub(super) fn meet(&self) -> bool {
        self.gate.pass()
    }

    /// Lets everybody give up.
    pub(super) fn close(&self) {
        self.gate.close();
    }

    /// Whether replicas of a product are to be brought together.
    pub(super) fn have_products(&self) -> bool {
        self.products
    }

    /// Draws the next batch; only for the first thread, while the others wait.
    pub(super) fn draw(&self, edges: &mut SampledEdges, quota: &Quota) {
        let mut schedule = self.schedule.write().unwrap_or_else(PoisonError::into_inner);
        schedule.fill((0..quota.claim(self.batch)).map(|_| edges.draw()));
    }

    /// How many waves the batch has; `None` when there is no more work.
    pub(super) fn count(&self) -> Option<usize> {
        let schedule = self.schedule.read().unwrap_or_else(PoisonError::into_inner);
        (!schedule.pairs.is_empty()).then(|| schedule.starts.len() - 1)
    }

    /// The pairs of a wave that are a thread's.
    pub(super) fn try_for_each_of(
        &self,
        thread: usize,
        wave: usize,
        mut update: impl FnMut(usize, usize) -> Result<()>,
    ) -> Result<()> {
        let schedule = self.schedule.read().unwrap_or_else(PoisonError::into_inner);
        let wave = &schedule.pairs[schedule.starts[wave]..schedule.starts[wave + 1]];
        wave.iter().skip(thread).step_by(self.threads).try_for_each(|&(_, i, j)| update(i, j))
    }
}

impl Schedule {
    fn fill(&mut self, pairs: impl Iterator<Item = (usize, usize)>) {
        for &(_, i, j) in &self.pairs {
            (self.free_from[i], self.free_from[j]) = (0, 0);
        }
        self.pairs.clear();
        for (i, j) in pairs {
            if self.free_from.len() <= i.max(j) {
                self.free_from.resize(i.max(j) + 1, 0);
            }
            let wave = self.free_from[i].max(self.free_from[j]);
            (self.free_from[i], self.free_from[j]) = (wave + 1, wave + 1);
            self.pairs.push((wave, i, j));
        }
        self.pairs.sort_by_key(|&(wave, _, _)| wave);
        self.starts.clear();
        for (k, &(wave, _, _)) in self.pairs.iter().enumerate() {
            if self.starts.len() <= wave as usize {
                self.starts.push(k);
            }
        }
        self.starts.push(self.pairs.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_of_a_wave_are_disjoint_and_blocks_keep_their_order() {
        let drawn = [(0, 1), (2, 3), (1, 2), (4, 5), (0, 5), (6, 7), (1, 0)];
        let mut schedule = Schedule::default();
        schedule.fill([(3, 1), (1, 2)].into_iter());
        schedule.fill(drawn.into_iter());
        assert_eq!(schedule.starts, [0, 4, 6, 7]);
        let waves: Vec<u32> = schedule.pairs.iter().map(|pair| pair.0).collect();
        assert_eq!(waves, [0, 0, 0, 0, 1, 1, 2]);
        for wave in schedule.starts.windows(2) {
            let mut blocks: Vec<usize> =
                schedule.pairs[wave[0]..wave[1]].iter().flat_map(|&(_, i, j)| [i, j]).collect();
            blocks.sort_unstable();
            assert!(blocks.windows(2).all(|w| w[0] != w[1]));
        }
        for block in 0..8 {
            let touches = |&(i, j): &(usize, usize)| i == block || j == block;
            let before: Vec<_> = drawn.iter().copied().filter(touches).collect();
            let after: Vec<_> = schedule.pairs.iter().map(|&(_, i, j)| (i, j)).filter(touches).collect();
            assert_eq!(before, after);
        }
    }
}
