//! Letters between two ranks, for work that does not go in step: lists of numbers, without an answer to wait for.
//!
//! - Given: numbers, and for whom. Returns: those of others, with the rank that they come from.
//! - Must not know: what the numbers say.
//!
//! Letters from one rank to another arrive once each and in their order; nothing is promised about those of different ranks.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

/// One rank's end of a post.
pub trait Post: Send {
    /// Hands a letter over; it does not wait until that has arrived.
    fn send(&mut self, rank: usize, numbers: Vec<f64>);

    /// The next letter with its sender, waiting at most so long.
    fn receive(&mut self, within: Duration) -> Option<(usize, Vec<f64>)>;
}

/// A post between threads of one process.
///
/// ```
/// use std::time::Duration;
/// use equipoise::collective::{Letters, Post};
/// let mut ends = Letters::between(2);
/// ends[0].send(1, vec![2.5]);
/// assert_eq!(ends[1].receive(Duration::ZERO), Some((0, vec![2.5])));
/// assert_eq!(ends[1].receive(Duration::ZERO), None);
/// ```
#[derive(Debug)]
pub struct Letters {
    own: usize,
    inbox: Receiver<(usize, Vec<f64>)>,
    outboxes: Vec<Sender<(usize, Vec<f64>)>>,
}

impl Letters {
    /// The ends of so many ranks.
    pub fn between(ranks: usize) -> Vec<Self> {
        let (outboxes, inboxes): (Vec<_>, Vec<_>) = (0..ranks).map(|_| channel()).unzip();
        let end = |(own, inbox)| Self { own, inbox, outboxes: outboxes.clone() };
        inboxes.into_iter().enumerate().map(end).collect()
    }
}

impl Post for Letters {
    fn send(&mut self, rank: usize, numbers: Vec<f64>) {
        // A rank that has gone needs no letters.
        let _ = self.outboxes[rank].send((self.own, numbers));
    }

    fn receive(&mut self, within: Duration) -> Option<(usize, Vec<f64>)> {
        if within.is_zero() {
            return self.inbox.try_recv().ok();
        }
        self.inbox.recv_timeout(within).ok()
    }
}
