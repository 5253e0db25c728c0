//! Whoever takes part in an exchange, as those see it who carry messages.
//!
//! Given: messages, and when it is its turn to begin. Returns: messages to be sent. Must not know: who carries them.

use rand_xoshiro::Xoshiro256PlusPlus;

use super::Message;

/// Messages to be sent, with whom to.
pub(crate) type Outbox = Vec<(usize, Message)>;

/// A node of some protocol.
pub(crate) trait Peer: Send {
    /// How many parts of a phase's exchanges it begins; 0: it only answers.
    fn shares(&self) -> usize;

    /// Begins an exchange.
    fn begin(&mut self, is_greedy: bool, now: u64, rng: &mut Xoshiro256PlusPlus, out: &mut Outbox);

    /// Takes a message; what can be answered or passed on at once goes out.
    fn receive(&mut self, from: usize, message: Message, out: &mut Outbox);

    /// Does what a message asks for and takes a while, once what was to be passed on is on its way.
    fn work(&mut self, _out: &mut Outbox) {}

    /// Messages without an answer that have waited so long, to be sent again.
    fn repeat(&mut self, now: u64, after: u64) -> Outbox;

    /// How many of its messages wait for an answer.
    fn open(&self) -> usize;
}
