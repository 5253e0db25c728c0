//! A world of ranks that writes down what is asked of it and lets another do it.

use std::sync::{Arc, Mutex, PoisonError};

use equipoise::Result;
use equipoise::collective::{Collective, Ledger};

use super::clock;

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
    /// Seconds of a processor that this rank took since the call before, and in the call, waiting left out.
    pub(crate) worked: f64,
    pub(crate) inside: f64,
}

/// One rank of a world, with everything that was asked of it.
#[derive(Debug)]
pub(crate) struct Noted {
    inner: Arc<dyn Collective>,
    calls: Mutex<(Vec<Call>, f64)>,
}

impl Noted {
    /// On the thread that will make the calls.
    pub(crate) fn of(inner: Arc<dyn Collective>) -> Self {
        Self { inner, calls: Mutex::new((Vec::new(), clock::of_thread())) }
    }

    /// The calls so far.
    pub(crate) fn calls(&self) -> Vec<Call> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).0.clone()
    }

    fn note<T>(&self, kind: Kind, travel: impl FnOnce() -> Result<(usize, T)>) -> Result<T> {
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        let began = clock::of_thread();
        let worked = began - calls.1;
        let (length, found) = travel()?;
        let ended = clock::of_thread();
        calls.0.push(Call { kind, length, worked, inside: ended - began });
        calls.1 = ended;
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
