//! Which runs a part consists of: code, delay, thread count, how often.

use anyhow::{Result, ensure};
use equipoise::Locking;

/// The paper's artificial delay, in microseconds, spent twice in every update.
const DELAY: u64 = 20;
/// Runs of the one-thread code.
const BASELINE_RUNS: usize = 2;
/// Runs at the largest thread count, which the report is about.
const MOST_RUNS: usize = 5;
/// Runs with both blocks locked at the largest thread count.
const LOCKED_RUNS: usize = 3;
/// The largest thread count unless told otherwise: a machine of 16 cores with one left to the system.
const MOST_THREADS: usize = 15;

/// The name of the baseline in the column `locking`.
pub(super) const ONE_THREAD: &str = "one-thread";

/// What runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Code {
    /// The best code for one thread.
    OneThread,
    /// The solver for several threads, at a level of locking.
    Solver(Locking),
}

impl Code {
    /// The name in the column `locking`.
    pub(super) fn name(self) -> &'static str {
        let Self::Solver(locking) = self else { return ONE_THREAD };
        locking.name()
    }
}

/// Runs that differ only in their seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Case {
    pub(super) code: Code,
    pub(super) delay_us: u64,
    pub(super) threads: usize,
    pub(super) repeats: usize,
}

/// What of a plan is asked for.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Selection<'a> {
    pub(super) quick: bool,
    /// In place of a plan's own thread counts.
    pub(super) threads: Option<&'a [usize]>,
    /// In place of a plan's own numbers of runs.
    pub(super) repeats: Option<usize>,
    /// The delays to keep.
    pub(super) delays: Option<&'a [u64]>,
    /// The names of the codes to keep.
    pub(super) codes: Option<&'a [String]>,
}

impl Selection<'_> {
    /// Refuses names that no code has.
    pub(super) fn check(&self) -> Result<()> {
        let known = |name: &str| name == ONE_THREAD || name.parse::<Locking>().is_ok();
        let unknown = self.codes.unwrap_or(&[]).iter().find(|name| !known(name));
        ensure!(unknown.is_none(), "{unknown:?} is none of one-thread, double, single, none");
        Ok(())
    }

    /// The paper's problem in full size; `star` adds what only a hub makes interesting.
    pub(super) fn full(&self, star: bool) -> Vec<Case> {
        let counts = self.counts(&[4, 8, MOST_THREADS]);
        let most = counts.last().copied().unwrap_or(1);
        let mut cases = Vec::new();
        for delay in [0, DELAY] {
            cases.push(one_thread(delay));
            cases.extend(solver(Locking::None, delay, &counts, MOST_RUNS));
            if star {
                cases.extend(solver(Locking::Double, delay, &[most], LOCKED_RUNS));
            }
        }
        if star && !self.quick && self.threads.is_none() {
            cases.extend(solver(Locking::None, 0, &[2, 3, 6, 12], 1));
        }
        self.keep(cases)
    }

    /// Every thread count at every level of locking.
    pub(super) fn sweep(&self) -> Vec<Case> {
        let counts = self.counts(&every_count());
        let mut cases = vec![one_thread(DELAY)];
        for locking in [Locking::None, Locking::Single, Locking::Double] {
            cases.extend(solver(locking, DELAY, &counts, 1));
        }
        self.keep(cases)
    }

    /// Random pairs of a support vector machine.
    pub(super) fn pairs(&self) -> Vec<Case> {
        let mut cases = vec![one_thread(0)];
        cases.extend(solver(Locking::None, 0, &self.counts(&every_count()), MOST_RUNS));
        cases.extend(solver(Locking::Double, 0, &self.counts(&[1, 4, 8, MOST_THREADS]), 1));
        self.keep(cases)
    }

    /// Violating pairs, one thread included; a fit of milliseconds is run at every count, and often.
    pub(super) fn violating(&self, short: bool) -> Vec<Case> {
        let usual = if short { every_count() } else { vec![1, 2, 4, 8, MOST_THREADS] };
        let mut counts = self.counts(&usual);
        if !counts.contains(&1) {
            counts.insert(0, 1);
        }
        let mut cases = solver(Locking::None, 0, &counts, MOST_RUNS);
        for case in &mut cases {
            if short {
                case.repeats = MOST_RUNS;
            } else if case.threads == 1 {
                case.repeats = BASELINE_RUNS;
            }
        }
        self.keep(cases)
    }

    /// The thread counts of the bare loop.
    pub(super) fn bare(&self) -> Vec<usize> {
        let most = self.counts(&[MOST_THREADS]).into_iter().max().unwrap_or(1);
        if most == 1 { vec![1] } else { vec![1, most] }
    }

    /// Ascending, each once.
    fn counts(&self, usual: &[usize]) -> Vec<usize> {
        let given = self.threads.unwrap_or(if self.quick { &[1, 2] } else { usual });
        let mut counts = given.to_vec();
        counts.sort_unstable();
        counts.dedup();
        counts
    }

    fn keep(&self, mut cases: Vec<Case>) -> Vec<Case> {
        cases.retain(|case| {
            self.delays.is_none_or(|delays| delays.contains(&case.delay_us))
                && self.codes.is_none_or(|codes| codes.iter().any(|name| name == case.code.name()))
        });
        let repeats = self.repeats.or(self.quick.then_some(1));
        if let Some(repeats) = repeats {
            cases.iter_mut().for_each(|case| case.repeats = repeats);
        }
        cases
    }
}

/// The cases in rounds, so that a slow minute of the machine does not fall on one case alone, and a run that is
/// cut short has every case once. Repeats count from 1.
pub(super) fn rounds(cases: &[Case]) -> impl Iterator<Item = (Case, usize)> {
    let most = cases.iter().map(|case| case.repeats).max().unwrap_or(0);
    (1..=most).flat_map(move |repeat| {
        cases.iter().filter(move |case| repeat <= case.repeats).map(move |case| (*case, repeat))
    })
}

fn every_count() -> Vec<usize> {
    (1..=MOST_THREADS).collect()
}

fn one_thread(delay_us: u64) -> Case {
    Case { code: Code::OneThread, delay_us, threads: 1, repeats: BASELINE_RUNS }
}

/// One run at every count, `most_runs` at the largest.
fn solver(locking: Locking, delay_us: u64, counts: &[usize], most_runs: usize) -> Vec<Case> {
    let most = counts.iter().copied().max().unwrap_or(0);
    let case = |&threads: &usize| {
        let repeats = if threads == most { most_runs } else { 1 };
        Case { code: Code::Solver(locking), delay_us, threads, repeats }
    };
    counts.iter().map(case).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_count_is_repeated() {
        let cases = Selection::default().full(false);
        let runs: Vec<_> = cases.iter().map(|case| (case.code.name(), case.threads, case.repeats)).collect();
        let once = [("one-thread", 1, 2), ("none", 4, 1), ("none", 8, 1), ("none", 15, 5)];
        assert_eq!(runs, [once, once].concat());
        assert_eq!(rounds(&cases).count(), 18);
    }

    #[test]
    fn a_selection_keeps_what_is_asked_for() {
        let codes = ["double".to_owned()];
        let selection = Selection {
            threads: Some(&[3, 7]),
            delays: Some(&[20]),
            codes: Some(&codes),
            repeats: Some(4),
            ..Selection::default()
        };
        let double =
            |threads| Case { code: Code::Solver(Locking::Double), delay_us: 20, threads, repeats: 4 };
        assert_eq!(selection.full(true), [double(7)]);
        assert_eq!(selection.sweep(), [double(3), double(7)]);
        assert!(selection.pairs().is_empty());
        let unknown = ["triple".to_owned()];
        assert!(Selection { codes: Some(&unknown), ..Selection::default() }.check().is_err());
    }

    #[test]
    fn one_thread_is_always_there_to_compare_with() {
        let selection = Selection { threads: Some(&[7]), ..Selection::default() };
        let counts: Vec<_> = selection.violating(false).iter().map(|case| case.threads).collect();
        assert_eq!(counts, [1, 7]);
        assert_eq!(selection.bare(), [1, 7]);
    }
}
