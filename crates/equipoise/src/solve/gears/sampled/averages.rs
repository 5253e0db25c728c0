//! The averages of all iterates and of the later half, for the price of the blocks that move.
//!
//! A block adds its value times the number of iterates that had it, when it is about to move. The sums after 1, 2,
//! 4, 8.. updates are kept, the last two of them: the difference to one of these is a sum over the later half (at
//! least; three quarters at most).
//!
//! - Given: the blocks that are about to move, and x before they do.
//! - Returns: averages, which are feasible and in the domain up to rounding, as feasible sets are convex.
//! - Must not know: why a block moves.

use crate::archive::Archive;
use crate::error::Result;
use crate::problem::Blocks;

/// Sums over iterates.
#[derive(Debug)]
pub(super) struct Averages<'a> {
    blocks: &'a Blocks,
    sums: Vec<f64>,
    /// For every block the number of iterates that are in its sums.
    counted: Vec<u64>,
    /// The sums after two powers of 2 of updates, the earlier first.
    marks: [(u64, Vec<f64>); 2],
    next_mark: u64,
}

impl<'a> Averages<'a> {
    pub(super) fn new(blocks: &'a Blocks) -> Self {
        let zeros = vec![0.0; blocks.dimension()];
        Self {
            blocks,
            counted: vec![0; blocks.len()],
            marks: [(0, zeros.clone()), (0, zeros.clone())],
            sums: zeros,
            next_mark: 1,
        }
    }

    /// Shows an archive all sums.
    pub(super) fn carry(&mut self, archive: &mut Archive<'_>) -> Result<()> {
        archive.numbers(&mut self.sums)?;
        self.counted.iter_mut().try_for_each(|count| archive.work(count))?;
        for (updates, sums) in &mut self.marks {
            archive.work(updates)?;
            archive.numbers(sums)?;
        }
        archive.work(&mut self.next_mark)
    }

    /// Whether so many updates can have led to the sums.
    pub(super) fn is_after(&self, updates: u64) -> bool {
        let of_marks = self.marks.iter().map(|(updates, _)| updates);
        self.counted.iter().chain(of_marks).all(|counted| *counted <= updates)
    }

    /// Block i is about to move; so many updates were made.
    #[inline]
    pub(super) fn touch(&mut self, i: usize, x: &[f64], updates: u64) {
        let iterates = updates - self.counted[i];
        if iterates > 0 {
            for c in self.blocks.coordinates(i) {
                self.sums[c] += iterates as f64 * x[c];
            }
            self.counted[i] = updates;
        }
    }

    /// Whether the sums are to be kept at this number of updates.
    #[inline]
    pub(super) fn is_mark(&self, updates: u64) -> bool {
        updates == self.next_mark
    }

    /// Keeps the sums as they are after so many updates, which led to x.
    pub(super) fn mark(&mut self, x: &[f64], updates: u64) {
        self.count_all(x, updates);
        self.marks.swap(0, 1);
        self.marks[1].0 = updates;
        self.marks[1].1.copy_from_slice(&self.sums);
        self.next_mark = 2 * updates;
    }

    /// Brings the sums up to date.
    pub(super) fn count_all(&mut self, x: &[f64], updates: u64) {
        (0..self.blocks.len()).for_each(|i| self.touch(i, x, updates));
    }

    /// The average of all iterates; the sums are up to date.
    pub(super) fn of_all(&self, updates: u64) -> Vec<f64> {
        self.sums.iter().map(|sum| sum / updates as f64).collect()
    }

    /// The average over the later half.
    pub(super) fn of_later_half(&self, updates: u64) -> Vec<f64> {
        let later = usize::from(2 * self.marks[1].0 <= updates);
        let (from, before) = &self.marks[later];
        let count = (updates - from) as f64;
        self.sums.iter().zip(before).map(|(sum, before)| (sum - before) / count).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::Control;
    use crate::{BlockChoice, Coupling};

    #[test]
    fn lazy_averages_are_those_of_all_iterates_and_of_the_later_half() {
        let coupling = Coupling::none();
        let blocks = Blocks::new(&BlockChoice::Size(2), 6, &coupling, &Control::unlimited()).expect("valid");
        let mut averages = Averages::new(&blocks);
        let mut x = vec![0.5; 6];
        let mut seen: Vec<Vec<f64>> = Vec::new();
        for k in 0..37_u64 {
            let (i, j) = ((k * k % 3) as usize, ((k * k + 1) % 3) as usize);
            if averages.is_mark(k) {
                averages.mark(&x, k);
            }
            averages.touch(i, &x, k);
            averages.touch(j, &x, k);
            for c in blocks.coordinates(i).chain(blocks.coordinates(j)) {
                x[c] += 0.25 * ((k as f64) * 0.7 + c as f64).sin();
            }
            seen.push(x.clone());
            let updates = k + 1;
            averages.count_all(&x, updates);
            let mean = |from: usize, c: usize| {
                seen[from..].iter().map(|x| x[c]).sum::<f64>() / (seen.len() - from) as f64
            };
            let (all, later) = (averages.of_all(updates), averages.of_later_half(updates));
            let from = if updates < 2 { 0 } else { (1_usize << (updates.ilog2())) / 2 };
            for c in 0..6 {
                assert!((all[c] - mean(0, c)).abs() < 1e-13, "{k}");
                // The mark at this very count is made before the next update.
                assert!((later[c] - mean(from, c)).abs() < 1e-13, "{k}: {} {}", later[c], mean(from, c));
            }
        }
    }
}
