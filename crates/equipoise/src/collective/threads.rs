//! A world of threads in one process, for tests and for those who want to see what ranks would do.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::{Collective, Ledger};
use crate::error::{Error, Result};

/// One rank of a world of threads. A rank that is dropped has left: whoever waits for it learns that.
#[derive(Debug)]
pub struct Threads {
    rank: usize,
    hub: Arc<Hub>,
    ledger: Ledger,
}

/// Where threads meet.
#[derive(Debug)]
struct Hub {
    ranks: usize,
    meeting: Mutex<Meeting>,
    met: Condvar,
}

#[derive(Debug)]
struct Meeting {
    /// How many meetings are over.
    number: u64,
    arrived: usize,
    /// What every rank brought, to meetings with even and with odd numbers: nobody is more than one ahead of another.
    brought: [Vec<Option<Arc<Vec<f64>>>>; 2],
    left: Option<usize>,
}

impl Hub {
    fn meeting(&self) -> MutexGuard<'_, Meeting> {
        self.meeting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Threads {
    /// The ranks of a world, one for each thread.
    pub fn world(ranks: usize) -> Vec<Self> {
        let brought = [vec![None; ranks], vec![None; ranks]];
        let meeting = Mutex::new(Meeting { number: 0, arrived: 0, brought, left: None });
        let hub = Arc::new(Hub { ranks, meeting, met: Condvar::new() });
        (0..ranks).map(|rank| Self { rank, hub: Arc::clone(&hub), ledger: Ledger::default() }).collect()
    }

    /// Does a job on every rank of a world, each on a thread of its own; what it returns in the order of the ranks. A rank
    /// leaves when its job is done.
    pub fn run<R: Send>(ranks: usize, job: impl Fn(Arc<dyn Collective>) -> R + Sync) -> Vec<R> {
        std::thread::scope(|scope| {
            let started: Vec<_> = Self::world(ranks)
                .into_iter()
                .map(|world| {
                    let job = &job;
                    scope.spawn(move || job(Arc::new(world)))
                })
                .collect();
            let joined = started.into_iter().map(std::thread::ScopedJoinHandle::join);
            joined.map(|done| done.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
        })
    }

    /// Waits until every rank has brought something, and looks at it.
    fn meet(&self, own: &[f64], mut look: impl FnMut(usize, &[f64])) -> Result<()> {
        let mut meeting = self.hub.meeting();
        let number = meeting.number;
        let side = (number % 2) as usize;
        // Nobody looks any more at what was brought two meetings ago: there is room for what is brought now.
        let place = &mut meeting.brought[side][self.rank];
        let mut list = place.take().and_then(Arc::into_inner).unwrap_or_default();
        list.clear();
        list.extend_from_slice(own);
        *place = Some(Arc::new(list));
        meeting.arrived += 1;
        if meeting.arrived == self.hub.ranks {
            meeting.arrived = 0;
            meeting.number += 1;
            self.hub.met.notify_all();
        }
        while meeting.number == number {
            if let Some(rank) = meeting.left {
                return Err(Error::Rank { rank, what: "it has left".into() });
            }
            meeting = self.hub.met.wait(meeting).unwrap_or_else(PoisonError::into_inner);
        }
        let brought = meeting.brought[side].clone();
        drop(meeting);
        for (rank, numbers) in brought.iter().enumerate() {
            look(rank, numbers.as_ref().map_or(&[], |numbers| numbers.as_slice()));
        }
        Ok(())
    }

    /// Refuses numbers of another length than wanted.
    fn copied(rank: usize, from: &[f64], to: &mut [f64], fault: &mut Option<Error>) {
        if from.len() == to.len() {
            to.copy_from_slice(from);
        } else {
            let what = format!("it brought {} numbers, expected {}", from.len(), to.len());
            fault.get_or_insert(Error::Rank { rank, what });
        }
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        self.hub.meeting().left.get_or_insert(self.rank);
        self.hub.met.notify_all();
    }
}

impl Collective for Threads {
    fn rank(&self) -> usize {
        self.rank
    }
    fn ranks(&self) -> usize {
        self.hub.ranks
    }
    fn gather(&self, own: &[f64], all: &mut [f64]) -> Result<()> {
        let (length, mut fault) = (own.len(), None);
        self.meet(own, |rank, numbers| {
            Self::copied(rank, numbers, &mut all[rank * length..(rank + 1) * length], &mut fault);
        })?;
        fault.map_or(Ok(()), Err)
    }
    fn deal(&self, blocks: &[f64], dealt: &mut [f64]) -> Result<()> {
        let (length, mut fault) = (blocks.len() / self.hub.ranks, None);
        self.meet(blocks, |rank, numbers| {
            let own = numbers.chunks(length.max(1)).nth(self.rank).unwrap_or_default();
            Self::copied(rank, own, &mut dealt[rank * length..(rank + 1) * length], &mut fault);
        })?;
        fault.map_or(Ok(()), Err)
    }
    fn broadcast(&self, numbers: &mut [f64]) -> Result<()> {
        let own = if self.rank == 0 { numbers.to_vec() } else { Vec::new() };
        let mut fault = None;
        self.meet(&own, |rank, brought| {
            if rank == 0 {
                Self::copied(rank, brought, numbers, &mut fault);
            }
        })?;
        fault.map_or(Ok(()), Err)
    }
    fn ledger(&self) -> &Ledger {
        &self.ledger
    }
}
