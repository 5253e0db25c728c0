//! How much work a round has left, who may still take of it, and where threads wait for each other.

use super::primitive::{AtomicBool, AtomicU64, Ordering, spin_loop, yield_now};

/// Spins of a wait before the processor is offered to others; none for the model checker, to which a spin is a branch.
const MOST_SPINS: u32 = if cfg!(all(test, loom)) { 0 } else { 2000 };

/// Work to be claimed by threads, until it is used up or stopped.
#[derive(Debug)]
pub struct Quota {
    total: u64,
    claimed: AtomicU64,
    stopped: AtomicBool,
}

impl Quota {
    /// With this much to do.
    pub fn new(total: u64) -> Self {
        Self { total, claimed: AtomicU64::new(0), stopped: AtomicBool::new(false) }
    }

    /// Claims up to `wanted`; returns how much, 0 when nothing is left or the work was stopped.
    pub fn claim(&self, wanted: u64) -> u64 {
        if self.is_stopped() {
            return 0;
        }
        let mut claimed = self.claimed.load(Ordering::Relaxed);
        loop {
            let amount = wanted.min(self.total - claimed);
            if amount == 0 {
                return 0;
            }
            let next = claimed + amount;
            match self.claimed.compare_exchange_weak(claimed, next, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return amount,
                Err(other) => claimed = other,
            }
        }
    }

    /// How much was claimed so far.
    pub fn claimed(&self) -> u64 {
        self.claimed.load(Ordering::Relaxed)
    }

    /// Ends the work; what was claimed may still be finished.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    /// Whether it was ended.
    #[inline]
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }
}

/// Where a fixed number of threads wait until all have come; unlike the standard one it can be closed, so that nobody
/// waits for a thread that died.
///
/// All that a thread did before it came is seen by all after they leave.
#[derive(Debug)]
pub struct Gate {
    threads: u64,
    arrived: AtomicU64,
    generation: AtomicU64,
    closed: AtomicBool,
}

impl Gate {
    /// For this many threads.
    pub fn new(threads: usize) -> Self {
        Self {
            threads: threads as u64,
            arrived: AtomicU64::new(0),
            generation: AtomicU64::new(0),
            closed: AtomicBool::new(false),
        }
    }

    /// Waits until all threads have come; false when the gate was closed.
    pub fn pass(&self) -> bool {
        let generation = self.generation.load(Ordering::Acquire);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.threads {
            self.arrived.store(0, Ordering::Relaxed);
            self.generation.fetch_add(1, Ordering::Release);
            return !self.is_closed();
        }
        let mut spins = 0;
        while self.generation.load(Ordering::Acquire) == generation {
            if self.is_closed() {
                return false;
            }
            spins += 1;
            if spins > MOST_SPINS {
                yield_now();
            } else {
                spin_loop();
            }
        }
        !self.is_closed()
    }

    /// Lets everybody who waits, now or later, go away.
    pub fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
    }

    fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Relaxed)
    }
}
