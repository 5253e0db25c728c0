//! A team of threads for passes over many coordinates.
//!
//! A pass is cut into consecutive parts whose number depends on the length and on the size of the team alone; results
//! come back in the order of the parts. Sums are therefore the same in every run with the same number of threads,
//! whoever worked on which part. A team of one has one part and works on the caller's thread.
//!
//! A team may be one of several, each on a rank with coordinates of its own ([`Team::across`]). Then sums are over the parts of all
//! ranks, in their order, and every rank has them; what a pass fills or maps stays where it is.
//!
//! Knows nothing of what is computed. A panic in a part ends the pass with that panic, on the caller's thread.

use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::Arc;

use rayon::ThreadPool;
use rayon::prelude::*;

use crate::collective::Collective;
use crate::control::{Control, Halt};
use crate::error::{Error, Result};

/// Numbers that a pass must read for every thread that takes part: with fewer, waking it costs more than it saves.
const WORK_PER_THREAD: usize = 400_000;
/// Length of a pass, at a few operations an item, below which the caller's thread works on all parts itself.
pub(crate) const SHORT: usize = 10_000;
/// Parts a thread: a thread that is held up leaves some of its parts to the others.
const PARTS_PER_THREAD: usize = 4;

/// Threads that work on the parts of a pass.
///
/// ```
/// use equipoise::Team;
/// let team = Team::of(4);
/// let mut squares = vec![0.0; 100_000];
/// team.fill(&mut squares, |first, part| {
///     part.iter_mut().enumerate().for_each(|(k, square)| *square = ((first + k) as f64).powi(2));
/// });
/// assert_eq!(team.sum(squares.len(), |part| squares[part].iter().sum()), 333_328_333_350_000.0);
/// ```
#[derive(Debug)]
pub struct Team {
    /// None where one thread is enough, or there is only one.
    pool: Option<ThreadPool>,
    /// Threads for which passes are cut into parts. No more work than there are processors, but that changes no sum.
    threads: usize,
    /// The other ranks, where there are any.
    world: Option<Arc<dyn Collective>>,
}

impl Team {
    /// So many threads.
    pub fn of(threads: usize) -> Self {
        // Counting processors takes the system longer than small fits take.
        let processors = || std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let pool = match if threads > 1 { threads.min(processors()) } else { 1 } {
            0 | 1 => None,
            // Where the system gives no threads the caller's does the work.
            several => rayon::ThreadPoolBuilder::new().num_threads(several).build().ok(),
        };
        Self { pool, threads: threads.max(1), world: None }
    }

    /// At most so many threads, and no more than passes that read so many numbers keep busy.
    pub fn for_work(threads: usize, numbers: usize) -> Self {
        Self::of(threads.min(numbers / WORK_PER_THREAD).max(1))
    }

    /// The same as one of the teams of a world; a world of one rank changes nothing.
    #[must_use]
    pub fn across(self, world: Option<Arc<dyn Collective>>) -> Self {
        Self { world: world.filter(|world| world.ranks() > 1), ..self }
    }

    /// Whether other ranks have coordinates of the same problem.
    pub fn is_spread(&self) -> bool {
        self.world.is_some()
    }

    /// Threads for which passes are cut into parts.
    pub fn threads(&self) -> usize {
        self.threads
    }

    pub(crate) fn is_alone(&self) -> bool {
        self.threads == 1
    }

    /// Does a job that makes many passes; they then begin without waiting for the team.
    pub(crate) fn inside<R: Send>(&self, job: impl FnOnce() -> R + Send) -> R {
        match &self.pool {
            None => job(),
            Some(pool) => pool.install(job),
        }
    }

    /// The length of every part but the last, for a pass of length n.
    pub(crate) fn part_size(&self, n: usize) -> usize {
        let parts = if self.is_alone() { 1 } else { PARTS_PER_THREAD * self.threads };
        n.div_ceil(parts).max(1)
    }

    /// The parts of a pass of length n; one, and empty, where there is nothing to pass over.
    pub fn parts(&self, n: usize) -> impl Iterator<Item = Range<usize>> + use<> {
        let size = self.part_size(n);
        (0..n.div_ceil(size).max(1)).map(move |k| k * size..((k + 1) * size).min(n))
    }

    /// Works on every item; results in the order of the items.
    pub fn map<I: Send, R: Send>(
        &self,
        items: impl Iterator<Item = I>,
        work: impl Fn(I) -> R + Sync,
    ) -> Vec<R> {
        self.map_if(true, items, work)
    }

    /// The same, and by one thread alone where it is not worth waking the others; that changes no result.
    pub(crate) fn map_if<I: Send, R: Send>(
        &self,
        worth_while: bool,
        items: impl Iterator<Item = I>,
        work: impl Fn(I) -> R + Sync,
    ) -> Vec<R> {
        match &self.pool {
            Some(pool) if worth_while => {
                let items: Vec<I> = items.collect();
                pool.install(|| items.into_par_iter().with_max_len(1).map(&work).collect())
            }
            _ => items.map(work).collect(),
        }
    }

    /// The sum over the parts of a pass of length n.
    pub fn sum(&self, n: usize, of_part: impl Fn(Range<usize>) -> f64 + Sync) -> f64 {
        let own = if self.is_alone() {
            of_part(0..n)
        } else {
            self.map_if(n >= SHORT, self.parts(n), of_part).into_iter().sum()
        };
        self.total_of(own)
    }

    /// Adds to `total` what the parts of a pass of length n add to a vector like it.
    pub fn add(&self, n: usize, total: &mut [f64], add_part: impl Fn(Range<usize>, &mut [f64]) + Sync) {
        if !self.is_spread() {
            return self.add_here(n, total, add_part);
        }
        let mut own = vec![0.0; total.len()];
        self.add_here(n, &mut own, add_part);
        self.total(&mut own);
        crate::matrix::axpy(1.0, &own, total);
    }

    /// The same on this rank alone.
    pub(crate) fn add_here(
        &self,
        n: usize,
        total: &mut [f64],
        add_part: impl Fn(Range<usize>, &mut [f64]) + Sync,
    ) {
        if self.is_alone() {
            return add_part(0..n, total);
        }
        let length = total.len();
        let shares = self.map_if(n >= SHORT, self.parts(n), |range| {
            let mut share = vec![0.0; length];
            add_part(range, &mut share);
            share
        });
        shares.iter().for_each(|share| crate::matrix::axpy(1.0, share, total));
    }

    /// Fills `out` part by part.
    pub fn fill<T: Send>(&self, out: &mut [T], fill_part: impl Fn(usize, &mut [T]) + Sync) {
        if self.is_alone() {
            return fill_part(0, out);
        }
        let size = self.part_size(out.len());
        self.map_if(out.len() >= SHORT, out.chunks_mut(size).enumerate(), |(k, part)| {
            fill_part(k * size, part);
        });
    }
}

/// What ranks have in common. Without other ranks every number stays as it is, and nothing is done. Where ranks cannot go on
/// together numbers are of no use any more, and [`Team::check`] says why.
impl Team {
    /// Numbers become their sums over all ranks, in the order of the ranks.
    pub fn total(&self, numbers: &mut [f64]) {
        if let Some(world) = &self.world {
            // The world keeps its fault.
            let _ = world.sum(numbers);
        }
    }

    /// The sum of a number of every rank.
    pub fn total_of(&self, number: f64) -> f64 {
        let mut sum = [number];
        self.total(&mut sum);
        sum[0]
    }

    /// The sum of a count of every rank.
    pub fn count(&self, count: usize) -> usize {
        if self.is_spread() { self.total_of(count as f64) as usize } else { count }
    }

    /// The largest of a number of every rank.
    pub fn largest(&self, number: f64) -> f64 {
        self.world.as_ref().map_or(number, |world| world.largest(number).unwrap_or(number))
    }

    /// Whether something holds on some rank.
    pub fn any(&self, holds: bool) -> bool {
        if self.is_spread() { self.largest(f64::from(u8::from(holds))) > 0.0 } else { holds }
    }

    /// Numbers become those of the first rank, where work was done for all.
    pub(crate) fn lead(&self, numbers: &mut [f64]) {
        if let Some(world) = &self.world {
            let _ = world.lead(numbers);
        }
    }

    /// Whether this rank does the work that one does for all.
    pub(crate) fn leads(&self) -> bool {
        self.world.as_ref().is_none_or(|world| world.rank() == 0)
    }

    /// The numbers of every rank, in the order of the ranks; of this one where it is alone.
    pub fn lists(&self, own: &[f64]) -> Vec<Vec<f64>> {
        let lists = self.world.as_ref().and_then(|world| world.lists(own).ok());
        lists.unwrap_or_else(|| vec![own.to_vec()])
    }

    /// The number of this rank and how many there are.
    pub fn place(&self) -> (usize, usize) {
        self.world.as_ref().map_or((0, 1), |world| (world.rank(), world.ranks()))
    }

    /// Why the work should end, if it should: on ranks all are told the same.
    pub fn halted(&self, control: &Control) -> Option<Halt> {
        match &self.world {
            None => control.halted(),
            // A fault ends the work as well, and is told by `check`.
            Some(world) => world.halted(control).unwrap_or(Some(Halt::Interrupted)),
        }
    }

    /// The control of passes: on ranks none of them may end alone.
    pub fn patient(&self, control: &Control) -> Control {
        if self.is_spread() { Control::unlimited() } else { control.clone() }
    }

    /// Numbers that all ranks should have: where they differ the next call tells.
    pub(crate) fn witness(&self, numbers: &[f64]) {
        if let Some(world) = &self.world {
            world.ledger().witness(numbers);
        }
    }

    /// An error where ranks cannot go on together.
    pub fn check(&self) -> Result<()> {
        let fault = self.world.as_ref().and_then(|world| world.ledger().fault());
        fault.map_or(Ok(()), |fault: &Error| Err(fault.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cover_every_length_once() {
        for threads in [1, 2, 3, 8] {
            let team = Team::of(threads);
            for n in [0, 1, 2, 7, 31, 32, 33, 1000] {
                let parts: Vec<_> = team.parts(n).collect();
                assert_eq!((parts[0].start, parts[parts.len() - 1].end), (0, n));
                assert!(parts.windows(2).all(|pair| pair[0].end == pair[1].start));
                assert_eq!(team.sum(n, |range| range.len() as f64), n as f64);
                let mut out = vec![0; n];
                team.fill(&mut out, |first, part| {
                    part.iter_mut().enumerate().for_each(|(k, out)| *out = first + k);
                });
                assert!(out.iter().enumerate().all(|(k, out)| *out == k));
            }
        }
    }

    #[test]
    fn sums_do_not_depend_on_who_works() {
        let team = Team::of(4);
        let one = || team.sum(3 * SHORT, |range| range.map(|k| 1.0 / (1.0 + k as f64)).sum());
        let first = one();
        assert!((0..50).all(|_| one() == first));
        let mut total = [1.0; 3];
        team.add(100, &mut total, |range, share| share[1] += range.len() as f64);
        assert_eq!(total, [1.0, 101.0, 1.0]);
    }

    #[test]
    fn small_work_is_left_to_one_thread() {
        assert!(Team::for_work(8, WORK_PER_THREAD).is_alone());
        assert_eq!(Team::for_work(8, 3 * WORK_PER_THREAD).threads(), 3);
        assert_eq!(Team::for_work(2, 30 * WORK_PER_THREAD).threads(), 2);
    }

    #[test]
    fn a_panic_in_a_part_reaches_the_caller() {
        let team = Team::of(3);
        let pass = || team.sum(SHORT, |range| if range.contains(&50) { panic!("part") } else { 1.0 });
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(pass)).is_err());
        assert_eq!(team.sum(10, |range| range.len() as f64), 10.0);
    }
}
