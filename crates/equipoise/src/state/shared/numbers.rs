//! Numbers that several threads read and change at once, each number by itself.
//!
//! Every change is one compare-exchange on the 64 bits of a number, so none is lost and none is torn. A change that
//! fails did so because another thread's succeeded: lock-free. Loads and changes are relaxed; who needs an order
//! between two numbers (escrow) asks for it by [`SharedNumbers::take`] and [`SharedNumbers::give`].

use super::primitive::{AtomicU64, Ordering};

/// A vector of numbers shared by threads.
#[derive(Debug)]
pub struct SharedNumbers {
    cells: Box<[AtomicU64]>,
}

impl SharedNumbers {
    /// With these values.
    pub fn new(values: &[f64]) -> Self {
        Self { cells: values.iter().map(|value| AtomicU64::new(value.to_bits())).collect() }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// Number k as it is now.
    #[inline]
    pub fn load(&self, k: usize) -> f64 {
        f64::from_bits(self.cells[k].load(Ordering::Relaxed))
    }

    /// Sets number k whatever it was: only for whoever may change it alone.
    #[inline]
    pub fn store(&self, k: usize, value: f64) {
        self.cells[k].store(value.to_bits(), Ordering::Relaxed);
    }

    /// Sets all of them: only while nobody else changes any.
    pub fn store_all(&self, values: &[f64]) {
        self.cells
            .iter()
            .zip(values)
            .for_each(|(cell, value)| cell.store(value.to_bits(), Ordering::Relaxed));
    }

    /// Copies numbers `start..start + out.len()` into `out`, each as it is at its own moment.
    #[inline]
    pub fn copy_to(&self, start: usize, out: &mut [f64]) {
        let cells = &self.cells[start..start + out.len()];
        out.iter_mut().zip(cells).for_each(|(out, cell)| *out = f64::from_bits(cell.load(Ordering::Relaxed)));
    }

    /// `new` in place of `seen`, unless it is no longer `seen`, bit for bit.
    #[inline]
    pub fn replace(&self, k: usize, seen: f64, new: f64) -> bool {
        let (seen, new) = (seen.to_bits(), new.to_bits());
        self.cells[k].compare_exchange(seen, new, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// Adds t to number k.
    #[inline]
    pub fn add(&self, k: usize, t: f64) {
        self.change(k, Ordering::Relaxed, |now| now + t);
    }

    /// From `seen` to `new`; where another thread was faster, the same difference from where it is now.
    #[inline]
    pub fn shift(&self, k: usize, seen: f64, new: f64) {
        if !self.replace(k, seen, new) {
            self.add(k, new - seen);
        }
    }

    /// The same without leaving the bounds; returns by how much the number changed.
    #[inline]
    pub fn shift_within(&self, k: usize, seen: f64, new: f64, bounds: (f64, f64)) -> f64 {
        if self.replace(k, seen, new) { new - seen } else { self.add_within(k, new - seen, bounds) }
    }

    /// Adds t, or as much of it as the bounds leave room for; returns how much.
    #[inline]
    pub fn add_within(&self, k: usize, t: f64, (lower, upper): (f64, f64)) -> f64 {
        let (before, after) = self.change(k, Ordering::Relaxed, |now| (now + t).max(lower).min(upper));
        after - before
    }

    /// Takes up to `wanted` out of a store that never falls below 0; sees everything that was done before what it
    /// takes was given.
    #[inline]
    pub fn take(&self, k: usize, wanted: f64) -> f64 {
        let mut taken = 0.0;
        self.change(k, Ordering::AcqRel, |now| {
            taken = wanted.min(now).max(0.0);
            now - taken
        });
        taken
    }

    /// Gives to a store; whoever takes it sees everything done before.
    #[inline]
    pub fn give(&self, k: usize, t: f64) {
        self.change(k, Ordering::AcqRel, |now| now + t);
    }

    /// Replaces number k by a function of it, in one atomic step; returns it before and after.
    #[inline]
    fn change(&self, k: usize, success: Ordering, mut next: impl FnMut(f64) -> f64) -> (f64, f64) {
        let failure = if success == Ordering::Relaxed { Ordering::Relaxed } else { Ordering::Acquire };
        let cell = &self.cells[k];
        let mut now = cell.load(failure);
        loop {
            let before = f64::from_bits(now);
            let after = next(before);
            if after.to_bits() == now {
                return (before, before);
            }
            match cell.compare_exchange_weak(now, after.to_bits(), success, failure) {
                Ok(_) => return (before, after),
                Err(other) => now = other,
            }
        }
    }
}
