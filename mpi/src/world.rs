//! The world of MPI ranks, as the command sees it: every call is a request to the thread that calls MPI.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::mpsc::{Receiver, Sender, channel};

use equipoise::collective::{Collective, Ledger};
use equipoise::{Error, Result};

/// A rank or a number of ranks; MPI counts from 0.
pub(crate) fn index(count: i32) -> usize {
    usize::try_from(count).unwrap_or(0)
}

/// What is to travel.
#[derive(Debug)]
pub(crate) enum Travel {
    /// To every rank.
    Gather,
    /// A block to each.
    Deal,
    /// From rank 0, in place.
    Broadcast,
}

/// What is sent, and room for what arrives: memory that goes back and forth, since to have long lists anew from the system takes
/// longer than to send them.
#[derive(Debug, Default)]
pub(crate) struct Load {
    pub(crate) sent: Vec<f64>,
    pub(crate) arrived: Vec<f64>,
}

/// What the thread that calls MPI is asked for.
#[derive(Debug)]
pub(crate) enum Request {
    /// Something that all ranks do, and where its answer goes.
    Together { travel: Travel, load: Load, answer: Sender<Load> },
    /// A letter for a rank; nobody waits for it.
    Letter { rank: usize, numbers: Vec<f64> },
}

/// This rank of a world of several.
#[derive(Debug)]
pub(crate) struct Mpi {
    rank: usize,
    ranks: usize,
    /// One request at a time.
    requests: Mutex<Line>,
    ledger: Ledger,
}

#[derive(Debug)]
struct Line {
    requests: Sender<Request>,
    answer: (Sender<Load>, Receiver<Load>),
    spare: Load,
}

impl Mpi {
    pub(crate) fn new(rank: usize, ranks: usize, requests: Sender<Request>) -> Self {
        let line = Line { requests, answer: channel(), spare: Load::default() };
        Self { rank, ranks, requests: Mutex::new(line), ledger: Ledger::default() }
    }

    fn ask(&self, travel: Travel, own: &[f64], into: &mut [f64]) -> Result<()> {
        let mut line = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        let mut load = std::mem::take(&mut line.spare);
        load.sent.clear();
        load.sent.extend_from_slice(own);
        load.arrived.resize(into.len(), 0.0);
        let request = Request::Together { travel, load, answer: line.answer.0.clone() };
        let gone = || Error::Rank { rank: self.rank, what: "MPI has ended".into() };
        line.requests.send(request).map_err(|_| gone())?;
        let load = line.answer.1.recv().map_err(|_| gone())?;
        into.copy_from_slice(&load.arrived);
        line.spare = load;
        Ok(())
    }
}

impl Collective for Mpi {
    fn rank(&self) -> usize {
        self.rank
    }
    fn ranks(&self) -> usize {
        self.ranks
    }
    fn gather(&self, own: &[f64], all: &mut [f64]) -> Result<()> {
        self.ask(Travel::Gather, own, all)
    }
    fn deal(&self, blocks: &[f64], dealt: &mut [f64]) -> Result<()> {
        self.ask(Travel::Deal, blocks, dealt)
    }
    fn broadcast(&self, numbers: &mut [f64]) -> Result<()> {
        let own = numbers.to_vec();
        self.ask(Travel::Broadcast, &own, numbers)
    }
    fn ledger(&self) -> &Ledger {
        &self.ledger
    }
}
