//! Chunks over threads: cut in order, parsed in any order, appended in order.
//!
//! Each worker takes the next chunk of the text under a lock, parses it alone, waits until the chunks
//! before it are appended, and appends it. So a text gives the same rows and the same first fault
//! whatever the number of threads, and no more chunks are in memory than there are workers.

use std::panic::resume_unwind;
use std::path::Path;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use super::chunk::Chunk;
use super::columns::Columns;
use super::rows::Rows;
use super::source::{Interruption, LONGEST_LINE, Source};
use crate::{Error, Result};

/// What all chunks of a text add up to.
pub(super) struct Collected {
    pub(super) rows: Rows,
    /// Entries left out because their feature has no column, and the smallest such feature.
    pub(super) dropped: usize,
    pub(super) smallest_dropped: u32,
    lines: usize,
    /// The number of the chunk whose turn it is.
    turn: usize,
    failure: Option<Error>,
    /// A worker gave up without taking its turn.
    abandoned: bool,
}

struct Shared<'a> {
    source: Mutex<Source<'a>>,
    collected: Mutex<Collected>,
    appended: Condvar,
    columns: Option<&'a Columns>,
    text_bytes: Option<u64>,
    path: &'a Path,
    explain: &'a (dyn Fn(&std::io::Error) -> Error + Sync),
}

/// Reads all chunks; with `columns` given, only entries that have one are kept.
///
/// `text_bytes` is the length of the text, where it is known beforehand; `explain` turns a refusal of the input into an error.
pub(super) fn collect<'a>(
    source: Source<'a>,
    threads: usize,
    columns: Option<&'a Columns>,
    text_bytes: Option<u64>,
    path: &'a Path,
    explain: &'a (dyn Fn(&std::io::Error) -> Error + Sync),
) -> Result<Collected> {
    let collected = Collected {
        rows: Rows::new(),
        dropped: 0,
        smallest_dropped: u32::MAX,
        lines: 0,
        turn: 0,
        failure: None,
        abandoned: false,
    };
    let (source, collected) = (Mutex::new(source), Mutex::new(collected));
    let shared = Shared { source, collected, appended: Condvar::new(), columns, text_bytes, path, explain };
    thread::scope(|scope| {
        let helpers: Vec<_> = (1..threads).map(|_| scope.spawn(|| shared.work())).collect();
        shared.work();
        // The scope would wait for their work; joined, the threads are gone as well.
        for helper in helpers {
            helper.join().unwrap_or_else(|panic| resume_unwind(panic));
        }
    });
    let mut collected = shared.collected.into_inner().unwrap_or_else(PoisonError::into_inner);
    match collected.failure.take() {
        Some(failure) => Err(failure),
        None => Ok(collected),
    }
}

impl Shared<'_> {
    fn work(&self) {
        let _watch = Watch(self);
        let (mut buffer, mut chunk) = (Vec::new(), Chunk::new());
        loop {
            let next = lock(&self.source).next(&mut buffer);
            let Some((number, end)) = next else { return };
            let times_longer =
                end.as_ref().ok().zip(self.text_bytes).map(|(&end, all)| 1.02 * all as f64 / end as f64);
            let outcome = end.map(|end| chunk.fill(&buffer, end));
            let mut dropped = 0;
            let mut smallest = u32::MAX;
            if let (Some(columns), Ok(Ok(()))) = (self.columns, &outcome) {
                let drop = |index: u32| {
                    dropped += 1;
                    smallest = smallest.min(index + 1);
                };
                chunk.select(|index| columns.get(index), drop);
            }

            let mut all = lock(&self.collected);
            while all.turn != number && all.failure.is_none() && !all.abandoned {
                all = self.appended.wait(all).unwrap_or_else(PoisonError::into_inner);
            }
            if all.failure.is_some() || all.abandoned {
                return;
            }
            match outcome {
                Ok(Ok(())) => {
                    if let (0, Some(times)) = (number, times_longer) {
                        all.rows.expect(&chunk, times);
                    }
                    all.rows.append(&chunk);
                    all.lines += chunk.lines;
                    all.dropped += dropped;
                    all.smallest_dropped = all.smallest_dropped.min(smallest);
                }
                Ok(Err(fault)) => all.failure = Some(fault.in_file(&buffer, all.lines, self.path)),
                Err(Interruption::Io(error)) => all.failure = Some((self.explain)(&error)),
                Err(Interruption::EndlessLine) => {
                    let (path, line) = (self.path.into(), all.lines + 1);
                    all.failure = Some(Error::LineTooLong { path, line, allowed: LONGEST_LINE });
                }
            }
            all.turn += 1;
            let failed = all.failure.is_some();
            drop(all);
            self.appended.notify_all();
            if failed {
                return;
            }
        }
    }
}

/// Wakes the other workers should this one panic: its turn will never come to an end.
struct Watch<'a, 'b>(&'a Shared<'b>);

impl Drop for Watch<'_, '_> {
    fn drop(&mut self) {
        if thread::panicking() {
            lock(&self.0.collected).abandoned = true;
            self.0.appended.notify_all();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
