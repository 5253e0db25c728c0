//! Letters between two ranks: two-sided messages, nothing else.
//!
//! What is to be sent goes off as it is asked for, and while it is on its way whatever arrives is taken in: so two ranks that send each
//! other long letters at the same time both get on. Letters keep their order between two ranks, as MPI's messages of one tag do.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

use equipoise::collective::Post;
use mpi::Tag;
use mpi::request::Request as Pending;
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, Destination, MatchedReceiveVec, Source};

use crate::world::{Request, index};

const TAG: Tag = 78;

/// The post as the command sees it.
#[derive(Debug)]
pub(crate) struct MpiPost {
    requests: Sender<Request>,
    inbox: Receiver<(usize, Vec<f64>)>,
}

impl MpiPost {
    pub(crate) fn new(requests: Sender<Request>, inbox: Receiver<(usize, Vec<f64>)>) -> Self {
        Self { requests, inbox }
    }
}

impl Post for MpiPost {
    fn send(&mut self, rank: usize, numbers: Vec<f64>) {
        // Where MPI has ended nobody waits for letters.
        let _ = self.requests.send(Request::Letter { rank, numbers });
    }

    fn receive(&mut self, within: Duration) -> Option<(usize, Vec<f64>)> {
        if within.is_zero() {
            return self.inbox.try_recv().ok();
        }
        match self.inbox.recv_timeout(within) {
            Ok(letter) => Some(letter),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => {
                std::thread::sleep(within);
                None
            }
        }
    }
}

/// Where letters that arrive go.
pub(crate) struct Mail<'c> {
    comm: &'c SimpleCommunicator,
    inbox: Sender<(usize, Vec<f64>)>,
}

impl<'c> Mail<'c> {
    pub(crate) fn new(comm: &'c SimpleCommunicator, inbox: Sender<(usize, Vec<f64>)>) -> Self {
        Self { comm, inbox }
    }

    /// Takes in what has arrived; whether there was anything.
    pub(crate) fn take(&self) -> bool {
        let mut has_arrived = false;
        while let Some(message) = self.comm.any_process().immediate_matched_probe_with_tag(TAG) {
            let (numbers, status) = message.matched_receive_vec::<f64>();
            has_arrived = true;
            // The command has ended: nobody reads it.
            let _ = self.inbox.send((index(status.source_rank()), numbers));
        }
        has_arrived
    }

    /// Sends letters, and takes in what arrives until they are under way.
    pub(crate) fn send(&self, letters: &[(usize, Vec<f64>)], mut meanwhile: impl FnMut()) {
        mpi::request::scope(|scope| {
            let mut open: Vec<Pending<'_, [f64], _>> = letters
                .iter()
                .map(|(rank, numbers)| {
                    let rank = i32::try_from(*rank).unwrap_or(i32::MAX);
                    self.comm.process_at_rank(rank).immediate_send_with_tag(scope, &numbers[..], TAG)
                })
                .collect();
            while !open.is_empty() {
                open = open.into_iter().filter_map(|pending| pending.test().err()).collect();
                if !open.is_empty() {
                    self.take();
                    meanwhile();
                }
            }
        });
    }
}
