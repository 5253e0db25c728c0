//! Spinlocks for blocks, one at a time or two together, with back-off.
//!
//! Two together: the lower is taken, the higher is tried, and if that fails the lower is given back before the next
//! attempt. Nobody waits for a lock while holding another, so there is no cycle of waiting, hence no deadlock. Nor can
//! threads send each other back for ever: of those that hold a lock and try a higher one, the one with the highest
//! can fail only where somebody has all that he wants. A holder that died would be waited for in vain, so the locks
//! can be closed: whoever waits then gives up.

use super::primitive::{AtomicBool, Ordering, spin_loop, yield_now};

/// Beyond this many blocks several share a lock.
const MOST_LOCKS: usize = 1 << 16;
/// Spins of a wait double up to this number; then the processor is offered to others. The model checker wants that at
/// once: a spin is a branch to it, and leads nowhere.
const MOST_SPINS: u32 = if cfg!(all(test, loom)) { 0 } else { 256 };

/// A lock on a cache line of its own.
#[derive(Debug)]
#[repr(align(64))]
struct Lock(AtomicBool);

impl Lock {
    #[inline]
    fn try_take(&self) -> bool {
        !self.0.load(Ordering::Relaxed)
            && self.0.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }
}

/// A lock for every block.
#[derive(Debug)]
pub struct Locks {
    locks: Box<[Lock]>,
    closed: AtomicBool,
}

impl Locks {
    /// For this many blocks.
    pub fn new(blocks: usize) -> Self {
        let count = blocks.clamp(1, MOST_LOCKS);
        Self {
            locks: (0..count).map(|_| Lock(AtomicBool::new(false))).collect(),
            closed: AtomicBool::new(false),
        }
    }

    #[inline]
    fn of(&self, block: usize) -> usize {
        block % self.locks.len()
    }

    /// Takes the lock of a block if it is free.
    #[inline]
    pub fn try_lock(&self, block: usize) -> bool {
        self.locks[self.of(block)].try_take()
    }

    /// Waits for the lock of a block; false when the locks were closed.
    #[inline]
    pub fn lock(&self, block: usize) -> bool {
        self.wait_until(|| self.try_lock(block))
    }

    /// Takes the locks of two blocks (one lock where they share it) if both are free.
    #[inline]
    pub fn try_lock_pair(&self, i: usize, j: usize) -> bool {
        let (i, j) = (self.of(i), self.of(j));
        let (low, high) = (i.min(j), i.max(j));
        if !self.try_lock(low) {
            return false;
        }
        if low == high || self.try_lock(high) {
            return true;
        }
        self.unlock(low);
        false
    }

    /// Waits for the locks of two blocks; false when the locks were closed.
    #[inline]
    pub fn lock_pair(&self, i: usize, j: usize) -> bool {
        self.wait_until(|| self.try_lock_pair(i, j))
    }

    /// Frees the lock of a block; only for its holder.
    #[inline]
    pub fn unlock(&self, block: usize) {
        self.locks[self.of(block)].0.store(false, Ordering::Release);
    }

    /// Frees the locks of two blocks; only for their holder.
    #[inline]
    pub fn unlock_pair(&self, i: usize, j: usize) {
        self.unlock(i);
        if self.of(i) != self.of(j) {
            self.unlock(j);
        }
    }

    /// Lets everybody who waits, now or later, give up.
    pub fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
    }

    #[inline]
    fn wait_until(&self, mut taken: impl FnMut() -> bool) -> bool {
        let mut spins = 1;
        while !taken() {
            if self.closed.load(Ordering::Relaxed) {
                return false;
            }
            if spins > MOST_SPINS {
                yield_now();
            } else {
                (0..spins).for_each(|_| spin_loop());
                spins *= 2;
            }
        }
        true
    }
}
