//! Who carries messages: send to a node, receive within some time. Nothing is promised about order or arrival.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::Message;

/// One node's end of a network.
pub trait Transport {
    /// Hands a message over for a node; it may arrive late, after others, or never.
    fn send(&mut self, to: usize, message: Message);

    /// The next message with its sender, waiting at most so long.
    fn receive(&mut self, within: Duration) -> Option<(usize, Message)>;
}

/// What happens to messages on their way.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Faults {
    /// Most ticks that a message takes, each delay drawn from 0 to this; so they overtake each other. A tick is an exchange
    /// that begins somewhere, and with threads 0.1 ms.
    pub delay: u64,
    /// The probability that a message is lost, below 1.
    pub loss: f64,
    /// A node that does nothing for some time.
    pub stall: Option<Stall>,
}

/// A node that neither reads nor asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stall {
    /// The node.
    pub node: usize,
    /// For how many ticks from the start of a phase.
    pub ticks: u64,
}

/// A tick of threads.
const TICK: Duration = Duration::from_micros(100);

impl Faults {
    /// Whether messages arrive at once, all of them.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    pub(super) fn draw_delay(&self, rng: &mut Xoshiro256PlusPlus) -> u64 {
        if self.delay == 0 { 0 } else { rng.random_range(0..=self.delay) }
    }

    pub(super) fn draw_loss(&self, rng: &mut Xoshiro256PlusPlus) -> bool {
        self.loss > 0.0 && rng.random::<f64>() < self.loss
    }
}

/// Channels between the threads of one process.
#[derive(Debug)]
pub struct Channels {
    own: usize,
    inbox: Receiver<(usize, Message)>,
    outboxes: Vec<Sender<(usize, Message)>>,
}

impl Channels {
    /// The ends of a network of so many nodes.
    pub fn network(nodes: usize) -> Vec<Self> {
        let (outboxes, inboxes): (Vec<_>, Vec<_>) = (0..nodes).map(|_| channel()).unzip();
        let end = |(own, inbox)| Self { own, inbox, outboxes: outboxes.clone() };
        inboxes.into_iter().enumerate().map(end).collect()
    }
}

impl Transport for Channels {
    fn send(&mut self, to: usize, message: Message) {
        // A node that has gone needs no messages.
        let _ = self.outboxes[to].send((self.own, message));
    }

    fn receive(&mut self, within: Duration) -> Option<(usize, Message)> {
        if within.is_zero() {
            return self.inbox.try_recv().ok();
        }
        self.inbox.recv_timeout(within).ok()
    }
}

/// A transport that delays and loses what it is given.
#[derive(Debug)]
pub struct Faulty<T> {
    inner: T,
    faults: Faults,
    rng: Xoshiro256PlusPlus,
    held: VecDeque<(Instant, usize, Message)>,
}

impl<T: Transport> Faulty<T> {
    /// With these faults, drawn from a seed.
    pub fn new(inner: T, faults: Faults, seed: u64) -> Self {
        Self { inner, faults, rng: Xoshiro256PlusPlus::seed_from_u64(seed), held: VecDeque::new() }
    }

    /// Hands over what has been held long enough.
    fn release(&mut self) {
        let now = Instant::now();
        for _ in 0..self.held.len() {
            let Some((due, to, message)) = self.held.pop_front() else { return };
            if due <= now {
                self.inner.send(to, message);
            } else {
                self.held.push_back((due, to, message));
            }
        }
    }
}

impl<T: Transport> Transport for Faulty<T> {
    fn send(&mut self, to: usize, message: Message) {
        if self.faults.draw_loss(&mut self.rng) {
            return;
        }
        match self.faults.draw_delay(&mut self.rng) {
            0 => self.inner.send(to, message),
            ticks => {
                let ticks = u32::try_from(ticks).unwrap_or(u32::MAX);
                self.held.push_back((Instant::now() + TICK * ticks, to, message));
            }
        }
        self.release();
    }

    fn receive(&mut self, within: Duration) -> Option<(usize, Message)> {
        self.release();
        let within = if self.held.is_empty() { within } else { within.min(TICK) };
        self.inner.receive(within)
    }
}
