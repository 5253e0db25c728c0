//! What a rank remembers of its calls: their number, a hash of what all ranks have in common, what was sent, and the first error.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Instant;

use crate::error::{Error, Result};

/// Numbers of a list that the hash looks at: of longer ones every so many.
const WITNESSED: usize = 4096;
/// Bits of the hash that an f64 holds exactly.
const HASH_BITS: u32 = 52;

/// What travelled.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct Traffic {
    /// Calls so far.
    pub calls: u64,
    /// Bytes that this rank sent, counted as the least that its messages need: a gather goes to every other rank once.
    pub bytes_sent: u64,
    /// Seconds in which it waited for others or for what travelled.
    pub seconds: f64,
}

/// The memory of a world; every world has one.
#[derive(Debug, Default)]
pub struct Ledger {
    calls: AtomicU64,
    hash: AtomicU64,
    numbers_sent: AtomicU64,
    nanoseconds: AtomicU64,
    fault: OnceLock<Error>,
    /// Memory of long sums: to have it anew from the system takes longer than to add them up.
    room: Mutex<Vec<f64>>,
}

impl Ledger {
    /// What travelled so far.
    pub fn traffic(&self) -> Traffic {
        Traffic {
            calls: self.calls.load(Ordering::Relaxed),
            bytes_sent: 8 * self.numbers_sent.load(Ordering::Relaxed),
            seconds: self.nanoseconds.load(Ordering::Relaxed) as f64 * 1e-9,
        }
    }

    /// The error after which there was nothing more.
    pub fn fault(&self) -> Option<&Error> {
        self.fault.get()
    }

    /// Takes note of numbers that every rank should have.
    pub fn witness(&self, numbers: &[f64]) {
        let mut hash = self.hash.load(Ordering::Relaxed);
        for number in numbers.iter().step_by(numbers.len().div_ceil(WITNESSED).max(1)) {
            // One NaN is as good as another.
            let bits = if number.is_nan() { u64::MAX } else { number.to_bits() };
            hash = (hash.rotate_left(5) ^ bits).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        }
        self.hash.store(hash, Ordering::Relaxed);
    }

    /// The number of a new call, from 1, and the hash.
    pub(super) fn next_call(&self) -> (f64, f64) {
        let call = self.calls.fetch_add(1, Ordering::Relaxed) + 1;
        let hash = self.hash.load(Ordering::Relaxed) >> (u64::BITS - HASH_BITS);
        (call as f64, hash as f64)
    }

    /// Lets so many numbers travel.
    pub(super) fn counted(&self, numbers: usize, travel: impl FnOnce() -> Result<()>) -> Result<()> {
        let started = Instant::now();
        let outcome = travel();
        let taken = u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.nanoseconds.fetch_add(taken, Ordering::Relaxed);
        self.numbers_sent.fetch_add(numbers as u64, Ordering::Relaxed);
        outcome
    }

    /// Work with room for so many numbers, which are anything.
    pub(super) fn within<T>(&self, numbers: usize, work: impl FnOnce(&mut [f64]) -> T) -> T {
        let mut room = self.room.lock().unwrap_or_else(PoisonError::into_inner);
        if room.len() < numbers {
            room.resize(numbers, 0.0);
        }
        work(&mut room[..numbers])
    }

    /// Work after whose error there is nothing more.
    pub(super) fn once<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        if let Some(fault) = self.fault() {
            return Err(fault.clone());
        }
        work().inspect_err(|error| {
            let _ = self.fault.set(error.clone());
        })
    }
}
