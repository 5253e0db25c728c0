//! A world of ranks that writes down what is asked of it and lets another do it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use equipoise::Result;
use equipoise::collective::{Collective, Ledger};

/// What ranks ask of each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// Sums of as many numbers on every rank.
    Sum,
    /// The largest of one number a rank.
    Largest,
    /// What every rank has; as many numbers as the longest of the lists.
    Lists,
    /// The numbers of rank 0.
    Lead,
}

/// One call, the same on every rank.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Call {
    pub(crate) kind: Kind,
    /// How many numbers.
    pub(crate) length: usize,
    /// Seconds that this rank worked since the call before.
    pub(crate) worked: f64,
}

/// One rank of a world, with everything that was asked of it.
#[derive(Debug)]
pub(crate) struct Noted {
    inner: Arc<dyn Collective>,
    calls: Mutex<(Vec<Call>, Instant)>,
}

impl Noted {
    pub(crate) fn of(inner: Arc<dyn Collective>) -> Self {
        Self { inner, calls: Mutex::new((Vec::new(), Instant::now())) }
    }

    /// The calls so far.
    pub(crate) fn calls(&self) -> Vec<Call> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).0.clone()
    }

    fn note<T>(&self, kind: Kind, travel: impl FnOnce() -> Result<(usize, T)>) -> Result<T> {
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        let worked = calls.1.elapsed().as_secs_f64();
        let (length, found) = travel()?;
        calls.0.push(Call { kind, length, worked });
        calls.1 = Instant::now();
        Ok(found)
    }
}

impl Collective for Noted {
    fn rank(&self) -> usize {
        self.inner.rank()
    }
    fn ranks(&self) -> usize {
        self.inner.ranks()
    }
    fn gather(&self, own: &[f64], all: &mut [f64]) -> Result<()> {
        self.inner.gather(own, all)
    }
    fn deal(&self, blocks: &[f64], dealt: &mut [f64]) -> Result<()> {
        self.inner.deal(blocks, dealt)
    }
    fn broadcast(&self, numbers: &mut [f64]) -> Result<()> {
        self.inner.broadcast(numbers)
    }
    fn ledger(&self) -> &Ledger {
        self.inner.ledger()
    }
    fn sum(&self, numbers: &mut [f64]) -> Result<()> {
        self.note(Kind::Sum, || self.inner.sum(numbers).map(|()| (numbers.len(), ())))
    }
    fn largest(&self, number: f64) -> Result<f64> {
        self.note(Kind::Largest, || self.inner.largest(number).map(|largest| (1, largest)))
    }
    fn lists(&self, own: &[f64]) -> Result<Vec<Vec<f64>>> {
        self.note(Kind::Lists, || {
            let lists = self.inner.lists(own)?;
            Ok((lists.iter().map(Vec::len).max().unwrap_or(0), lists))
        })
    }
    fn lead(&self, numbers: &mut [f64]) -> Result<()> {
        self.note(Kind::Lead, || self.inner.lead(numbers).map(|()| (numbers.len(), ())))
    }
}
