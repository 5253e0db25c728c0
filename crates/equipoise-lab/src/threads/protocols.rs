//! Protocols of updates side by side: how many moves a second threads make when they do nothing but move.
//!
//! Two random numbers of n in [0, 1] exchange a random amount, as a pair of scalars on a row does. The protocols are
//! those of the memory that the threads of equipoise share: transfers (withdraw, deposit, give back), escrow (reserve, move, deposit) and locked
//! pairs. Afterwards the sum must be what it was and every number within its bounds.

use std::sync::Barrier;
use std::time::{Duration, Instant};

use anyhow::Result;
use equipoise_shared_check::shared::{Escrow, Locks, Move, SharedNumbers};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::Arguments;
use super::record::{Key, Record, Row};

/// A few numbers that everybody wants, and as many as a7a has rows.
const SIZES: [usize; 2] = [100, 16_100];
const PROTOCOLS: [&str; 3] = ["transfer", "escrow", "locked pair"];
const MOVES_PER_LOOK: u64 = 256;
const BOUNDS: (f64, f64) = (0.0, 1.0);
/// What rounding may make of the sum, for each number.
const ROUNDING: f64 = 1e-9;

/// What the protocols work on.
struct Memory {
    x: SharedNumbers,
    escrow: Escrow,
    locks: Locks,
}

/// Measures every protocol at every size and number of threads.
pub(super) fn run(arguments: &Arguments, record: &mut Record) -> Result<()> {
    let counts = match &arguments.threads_list {
        Some(counts) => counts.clone(),
        None if arguments.quick => vec![1, 2],
        None => vec![1, 4, 8, 15],
    };
    let time = Duration::from_secs_f64(if arguments.quick { 0.05 } else { 0.5 });
    for n in SIZES {
        for protocol in PROTOCOLS {
            for &threads in &counts {
                let key = Key {
                    part: "protocols",
                    problem: format!("{n} numbers; {protocol}"),
                    topology: "clique",
                    locking: if protocol == "locked pair" { "double" } else { "none" },
                    delay_us: 0,
                    threads,
                    repeat: 1,
                };
                record.run(&key, || Ok(moved(n, protocol, threads, time)))?;
            }
        }
    }
    Ok(())
}

/// What so many threads did with n numbers.
fn moved(n: usize, protocol: &str, threads: usize, time: Duration) -> Row {
    let start = vec![0.5; n];
    let memory = Memory {
        x: SharedNumbers::new(&start),
        escrow: Escrow::new(&start, |_| BOUNDS),
        locks: Locks::new(n),
    };
    let (moves, seconds, kept) = memory.measure(protocol, threads, time);
    let sum = kept + (0..n).map(|k| memory.x.load(k)).sum::<f64>();
    let within = (0..n).all(|k| (BOUNDS.0..=BOUNDS.1).contains(&memory.x.load(k)));
    let off = (sum - 0.5 * n as f64).abs();
    Row {
        seconds,
        preparation_seconds: 0.0,
        updates: moves,
        objective: f64::NAN,
        target: f64::NAN,
        reached: within && off <= ROUNDING * n as f64,
        infeasibility: off,
        status: "moved".into(),
    }
}

impl Memory {
    /// Moves, the seconds they took, and what the threads kept in their purses.
    fn measure(&self, protocol: &str, threads: usize, time: Duration) -> (u64, f64, f64) {
        let barrier = Barrier::new(threads);
        let one = |thread: usize| {
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(thread as u64);
            let (mut moves, mut purse, mut taken) = (0, 0.0, Vec::new());
            barrier.wait();
            let begun = Instant::now();
            while begun.elapsed() < time {
                for _ in 0..MOVES_PER_LOOK {
                    let (i, j) = (rng.random_range(0..self.x.len()), rng.random_range(0..self.x.len()));
                    let d = rng.random_range(-0.1..0.1);
                    if i != j {
                        match protocol {
                            "transfer" => purse += self.transfer(i, j, d),
                            "escrow" => self.through_escrow(i, j, d, &mut taken),
                            _ => self.locked(i, j, d),
                        }
                    }
                }
                moves += MOVES_PER_LOOK;
            }
            (moves, begun.elapsed().as_secs_f64(), purse)
        };
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..threads).map(|thread| scope.spawn(move || one(thread))).collect();
            let parts = workers.into_iter().map(|worker| worker.join().expect("a worker does not panic"));
            parts.fold((0, 0.0, 0.0), |(m, s, p): (u64, f64, f64), (moves, seconds, purse)| {
                (m + moves, s.max(seconds), p + purse)
            })
        })
    }

    /// Returns what found no room.
    fn transfer(&self, i: usize, j: usize, d: f64) -> f64 {
        let seen = self.x.load(j);
        let wanted = (seen - d).clamp(BOUNDS.0, BOUNDS.1);
        let given = -self.x.shift_within(j, seen, wanted, BOUNDS);
        let taken = self.x.add_within(i, given, BOUNDS);
        if taken == given {
            return 0.0;
        }
        given - taken - self.x.add_within(j, given - taken, BOUNDS)
    }

    fn through_escrow(&self, i: usize, j: usize, d: f64, taken: &mut Vec<f64>) {
        let (a, b) = (self.x.load(i), self.x.load(j));
        let moves = [
            Move { index: i, seen: a, new: a + d, bounds: BOUNDS },
            Move { index: j, seen: b, new: b - d, bounds: BOUNDS },
        ];
        self.escrow.make(&self.x, &moves, taken);
    }

    fn locked(&self, i: usize, j: usize, d: f64) {
        if self.locks.lock_pair(i, j) {
            let (a, b) = (self.x.load(i), self.x.load(j));
            let d = d.min(BOUNDS.1 - a).min(b - BOUNDS.0).max(BOUNDS.0 - a).max(b - BOUNDS.1);
            self.x.store(i, a + d);
            self.x.store(j, b - d);
            self.locks.unlock_pair(i, j);
        }
    }
}
