//! Nodes on several ranks: each rank serves the requests to its nodes before one of them asks, and nobody waits for anybody but its
//! own replies.
//!
//! ```text
//! rank r has nodes first_r .. first_(r+1)      a message between two of them goes at once, to others as a letter
//! ```
//!
//! A phase ends when every node of every rank has begun its share of exchanges (or work is being ended) and none is open. A rank that has
//! come so far says so to every other, once, and goes on answering until it has heard the same from all. Letters between two
//! ranks arrive in their order, so nothing that counts is under way then.
//!
//! - Given: nodes, a [`Post`], who has which nodes. Returns: when the phase has ended; bytes sent. Must not know: what nodes say.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::{Duration, Instant};

use equipoise::Control;
use equipoise::collective::Post;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::threads::{PATIENCE, TICKS_PER_SECOND};
use super::transport::{Faults, Faulty, Transport};
use super::wire::Letter;
use super::{Message, Peer};

/// How long a rank waits for a letter before it looks round.
const LOOK: Duration = Duration::from_millis(1);

/// What is to be done in a phase.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Share {
    /// Exchanges that each node begins.
    pub(crate) each: u64,
    /// How many of them it waits for at a time.
    pub(crate) outstanding: usize,
    pub(crate) is_greedy: bool,
    pub(crate) faults: Faults,
    pub(crate) seed: u64,
}

/// Carries what the nodes of this rank say.
pub(crate) struct Carrier<'p> {
    post: &'p mut dyn Post,
    rank: usize,
    /// The first node of every rank, and the number of all.
    firsts: Vec<usize>,
    /// Entries of x.
    columns: usize,
    phase: u64,
    /// Ranks that are done with this phase, and with the next one already.
    done: usize,
    bytes_sent: u64,
}

impl<'p> Carrier<'p> {
    pub(crate) fn new(post: &'p mut dyn Post, rank: usize, firsts: Vec<usize>, columns: usize) -> Self {
        Self { post, rank, firsts, columns, phase: 0, done: 0, bytes_sent: 0 }
    }

    /// Bytes that this rank has sent.
    pub(crate) fn bytes_sent(&self) -> u64 {
        self.bytes_sent
    }

    fn send(&mut self, rank: usize, letter: Letter) {
        let numbers = letter.numbers();
        self.bytes_sent += 8 * numbers.len() as u64;
        self.post.send(rank, numbers);
    }

    /// The rank of a node.
    fn rank_of(&self, node: usize) -> usize {
        self.firsts.partition_point(|first| *first <= node).saturating_sub(1)
    }

    /// A phase, with the nodes of this rank.
    pub(crate) fn run(&mut self, nodes: &mut [impl Peer], share: &Share, control: &Control) {
        self.phase += 1;
        self.done = 0;
        let first = self.firsts[self.rank];
        let sink = Sink::default();
        let seed = |node: usize| share.seed ^ (node as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let end = |place: usize| Faulty::new(sink.of(first + place), share.faults, seed(first + place) ^ 1);
        let mut phase = Phase {
            left: nodes.iter().map(|node| if node.shares() == 0 { 0 } else { share.each }).collect(),
            ends: (0..nodes.len()).map(end).collect(),
            rngs: (0..nodes.len())
                .map(|place| Xoshiro256PlusPlus::seed_from_u64(seed(first + place)))
                .collect(),
            first,
            sink,
            share,
            begun: Instant::now(),
            is_ended: false,
            unread: Vec::new(),
        };
        let others = self.firsts.len() - 2;
        let mut is_told = false;
        loop {
            phase.is_ended |= control.halted().is_some();
            self.take_letters(nodes, &mut phase, Duration::ZERO);
            let has_begun = phase.begin(nodes);
            phase.repeat(nodes);
            let has_moved = self.hand_over(nodes, &mut phase);
            if has_begun || has_moved {
                continue;
            }
            if !is_told && phase.is_done(nodes) {
                is_told = true;
                for rank in (0..=others).filter(|rank| *rank != self.rank).collect::<Vec<_>>() {
                    self.send(rank, Letter::Done { phase: self.phase, is_ended: phase.is_ended });
                }
            }
            if is_told && self.done == others {
                return;
            }
            // Held messages come out of their delay meanwhile.
            self.take_letters(nodes, &mut phase, LOOK);
        }
    }

    /// Takes what has arrived, waiting at most so long for the first.
    fn take_letters(&mut self, nodes: &mut [impl Peer], phase: &mut Phase<'_>, within: Duration) {
        let mut waits = within;
        while let Some((_, numbers)) = self.post.receive(waits) {
            waits = Duration::ZERO;
            match Letter::of(&numbers, self.columns) {
                Some(Letter::Between { from, to, message }) => phase.serve(nodes, from, to, message),
                Some(Letter::Done { phase: of, is_ended }) if of == self.phase => {
                    self.done += 1;
                    phase.is_ended |= is_ended;
                }
                _ => {}
            }
        }
    }

    /// Lets what nodes have said go to whom it is for; whether there was anything.
    fn hand_over(&mut self, nodes: &mut [impl Peer], phase: &mut Phase<'_>) -> bool {
        phase.release(nodes);
        let mut has_moved = false;
        while let Some((from, to, message)) = phase.sink.next() {
            has_moved = true;
            let rank = self.rank_of(to);
            if rank == self.rank {
                phase.serve(nodes, from, to, message);
            } else {
                self.send(rank, Letter::Between { from, to, message });
            }
        }
        has_moved
    }
}

/// What nodes of this rank have said and nobody has carried yet.
#[derive(Debug, Clone, Default)]
struct Sink(Rc<RefCell<VecDeque<(usize, usize, Message)>>>);

impl Sink {
    fn of(&self, own: usize) -> Mouth {
        Mouth { own, sink: self.clone() }
    }

    fn next(&self) -> Option<(usize, usize, Message)> {
        self.0.borrow_mut().pop_front()
    }
}

/// Where one node speaks.
#[derive(Debug)]
struct Mouth {
    own: usize,
    sink: Sink,
}

impl Transport for Mouth {
    fn send(&mut self, to: usize, message: Message) {
        self.sink.0.borrow_mut().push_back((self.own, to, message));
    }

    fn receive(&mut self, _within: Duration) -> Option<(usize, Message)> {
        None
    }
}

/// The nodes of this rank in a phase.
struct Phase<'s> {
    first: usize,
    /// Exchanges that each has still to begin.
    left: Vec<u64>,
    ends: Vec<Faulty<Mouth>>,
    rngs: Vec<Xoshiro256PlusPlus>,
    sink: Sink,
    share: &'s Share,
    begun: Instant,
    is_ended: bool,
    /// What nodes that are away have not read yet.
    unread: Vec<(usize, usize, Message)>,
}

impl Phase<'_> {
    fn now(&self) -> u64 {
        (self.begun.elapsed().as_secs_f64() * TICKS_PER_SECOND) as u64
    }

    fn is_stalled(&self, place: usize) -> bool {
        let stall = self.share.faults.stall.filter(|stall| stall.node == self.first + place);
        !self.is_ended && stall.is_some_and(|stall| self.now() < stall.ticks)
    }

    /// Every node that may begins one exchange; whether any did.
    fn begin(&mut self, nodes: &mut [impl Peer]) -> bool {
        let mut has_begun = false;
        for (place, node) in nodes.iter_mut().enumerate() {
            let most = self.share.outstanding.min(node.shares());
            if self.is_ended || self.left[place] == 0 || node.open() >= most || self.is_stalled(place) {
                continue;
            }
            let mut out = Vec::new();
            node.begin(self.share.is_greedy, self.now(), &mut self.rngs[place], &mut out);
            node.work(&mut out);
            out.into_iter().for_each(|(to, message)| self.ends[place].send(to, message));
            self.left[place] -= 1;
            has_begun = true;
        }
        has_begun
    }

    /// Where messages are lost on purpose, those without an answer again. Letters are not lost.
    fn repeat(&mut self, nodes: &mut [impl Peer]) {
        if self.share.faults.loss == 0.0 {
            return;
        }
        let (now, patience) =
            (self.now(), self.share.faults.delay.saturating_mul(2).saturating_add(PATIENCE));
        for (place, node) in nodes.iter_mut().enumerate() {
            for (to, message) in node.repeat(now, patience) {
                self.ends[place].send(to, message);
            }
        }
    }

    /// A message for a node of this rank.
    fn serve(&mut self, nodes: &mut [impl Peer], from: usize, to: usize, message: Message) {
        let Some(place) = to.checked_sub(self.first).filter(|place| *place < nodes.len()) else { return };
        if self.is_stalled(place) {
            return self.unread.push((from, to, message));
        }
        let mut out = Vec::new();
        nodes[place].receive(from, message, &mut out);
        nodes[place].work(&mut out);
        out.into_iter().for_each(|(to, message)| self.ends[place].send(to, message));
    }

    /// Lets go what was held long enough.
    fn release(&mut self, nodes: &mut [impl Peer]) {
        for (from, to, message) in std::mem::take(&mut self.unread) {
            self.serve(nodes, from, to, message);
        }
        for end in &mut self.ends {
            end.receive(Duration::ZERO);
        }
    }

    fn is_done(&self, nodes: &[impl Peer]) -> bool {
        let all_begun = self.is_ended || self.left.iter().all(|left| *left == 0);
        all_begun && nodes.iter().all(|node| node.open() == 0)
    }
}
