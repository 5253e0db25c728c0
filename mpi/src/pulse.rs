//! Whether the others are still there: every rank tells the next one, in a ring, that it is, and listens to the one before.
//!
//! A rank that is silent for the deadline has stopped, whatever it was at: its pulse does not depend on what it computes. Whoever
//! notices says which rank it is and ends all of them.

use std::time::{Duration, Instant};

use mpi::Tag;
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, Destination, MatchedReceiveVec, Source};

/// Between two words to the next rank.
pub(crate) const BEAT: Duration = Duration::from_millis(250);
/// Silence after which a rank counts as lost: the last sign of life, a beat, and what it takes to end the others are within 5 s together.
const DEADLINE: Duration = Duration::from_millis(3500);
const TAG: Tag = 77;

/// What a rank says of itself.
const AT_WORK: u8 = 0;
const AT_ITS_END: u8 = 1;

/// The pulse of this rank, and that of the one before it.
pub(crate) struct Pulse<'c> {
    comm: &'c SimpleCommunicator,
    told: Instant,
    heard: Instant,
    /// Since when the one before has nothing more to do.
    ended: Option<Instant>,
}

impl<'c> Pulse<'c> {
    pub(crate) fn new(comm: &'c SimpleCommunicator) -> Self {
        let now = Instant::now();
        Self { comm, told: now, heard: now, ended: None }
    }

    /// Tells and listens, where it is time to.
    pub(crate) fn beat(&mut self, is_at_work: bool) {
        let (rank, ranks) = (self.comm.rank(), self.comm.size());
        let before = (rank + ranks - 1) % ranks;
        let now = Instant::now();
        if now - self.told < BEAT {
            return;
        }
        // Whoever was not let on the processor for long hears first what waits for it.
        let was_held_up = now - self.told > DEADLINE / 2;
        self.told = now;
        let word = if is_at_work { AT_WORK } else { AT_ITS_END };
        self.comm.process_at_rank((rank + 1) % ranks).send_with_tag(&word, TAG);
        while let Some(message) = self.comm.process_at_rank(before).immediate_matched_probe_with_tag(TAG) {
            let (words, _) = message.matched_receive_vec::<u8>();
            self.heard = now;
            if words.contains(&AT_ITS_END) {
                self.ended.get_or_insert(now);
            }
        }
        if was_held_up {
            self.heard = now;
        }
        let silence = now - self.heard;
        if silence > DEADLINE {
            eprintln!(
                "error: rank {before} has not answered for {:.1} s; all ranks end",
                silence.as_secs_f64()
            );
            self.comm.abort(2);
        }
    }

    /// Waits for others in vain where one has left for good.
    pub(crate) fn waits_since(&self, since: Instant) {
        let Some(ended) = self.ended else { return };
        if since.elapsed() > DEADLINE && ended.elapsed() > DEADLINE {
            let (rank, ranks) = (self.comm.rank(), self.comm.size());
            eprintln!("error: rank {} has left, and rank {rank} waits for it", (rank + ranks - 1) % ranks);
            self.comm.abort(2);
        }
    }
}
