//! Nodes that act in turn, in one thread, with messages that may be delayed, overtake each other and be lost.
//!
//! Without faults every exchange ends before the next begins: the sequential method. With faults time is a count of turns, and
//! everything is drawn from a seed, so that a schedule can be repeated.

use std::collections::BTreeMap;

use equipoise::Control;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::transport::Faults;
use super::{Message, Peer};

/// What is under way, by the time it arrives.
#[derive(Debug)]
pub(crate) struct Network<'r> {
    faults: Faults,
    rng: &'r mut Xoshiro256PlusPlus,
    due: BTreeMap<(u64, u64), (usize, usize, Message)>,
    count: u64,
    pub(crate) now: u64,
}

impl<'r> Network<'r> {
    pub(crate) fn new(faults: Faults, rng: &'r mut Xoshiro256PlusPlus) -> Self {
        Self { faults, rng, due: BTreeMap::new(), count: 0, now: 0 }
    }

    fn send(&mut self, from: usize, to: usize, message: Message) {
        if self.faults.draw_loss(self.rng) {
            return;
        }
        let at = self.now.saturating_add(self.faults.draw_delay(self.rng));
        self.count += 1;
        self.due.insert((at, self.count), (from, to, message));
    }

    fn is_stalled(&self, node: usize) -> bool {
        self.faults.stall.is_some_and(|stall| stall.node == node && self.now < stall.ticks)
    }

    /// Everything that arrives by now.
    fn deliver(&mut self, nodes: &mut [impl Peer]) {
        while let Some(entry) = self.due.first_entry() {
            if entry.key().0 > self.now {
                return;
            }
            let (from, to, message) = entry.remove();
            if self.is_stalled(to) {
                let until = self.faults.stall.map_or(self.now, |stall| stall.ticks);
                self.count += 1;
                self.due.insert((until, self.count), (from, to, message));
            } else {
                let mut out = Vec::new();
                nodes[to].receive(from, message, &mut out);
                nodes[to].work(&mut out);
                out.into_iter().for_each(|(next, message)| self.send(to, next, message));
            }
        }
    }

    /// One turn: a node begins an exchange, what is due arrives, what was lost is sent again.
    pub(crate) fn turn(&mut self, nodes: &mut [impl Peer], asks: Option<usize>, is_greedy: bool) {
        if let Some(node) = asks.filter(|&node| !self.is_stalled(node)) {
            let mut out = Vec::new();
            nodes[node].begin(is_greedy, self.now, self.rng, &mut out);
            nodes[node].work(&mut out);
            out.into_iter().for_each(|(to, message)| self.send(node, to, message));
        }
        self.deliver(nodes);
        self.now = self.now.saturating_add(1);
        // A round trip takes twice the delay at most.
        let patience = self.faults.delay.saturating_mul(2).saturating_add(2);
        for node in 0..nodes.len() {
            if self.faults.loss > 0.0 && nodes[node].open() > 0 && !self.is_stalled(node) {
                for (to, message) in nodes[node].repeat(self.now, patience) {
                    self.send(node, to, message);
                }
            }
        }
    }

    /// Turns without new exchanges, until nothing is open; where work is to end, what is open is carried at once.
    pub(crate) fn drain(&mut self, nodes: &mut [impl Peer], control: &Control) {
        while nodes.iter().any(|node| node.open() > 0) {
            if control.halted().is_some() {
                return self.settle(nodes);
            }
            self.turn(nodes, None, false);
        }
    }

    /// Without faults from now on: all that is under way arrives, and what was lost is sent again.
    fn settle(&mut self, nodes: &mut [impl Peer]) {
        self.faults = Faults::default();
        self.now = self.due.last_key_value().map_or(self.now, |((at, _), _)| self.now.max(*at));
        self.deliver(nodes);
        // A message that is passed on from node to node is sent again once by each.
        for _ in 0..nodes.len() {
            if nodes.iter().all(|node| node.open() == 0) {
                return;
            }
            for node in 0..nodes.len() {
                for (to, message) in nodes[node].repeat(self.now, 0) {
                    self.send(node, to, message);
                }
            }
            self.deliver(nodes);
        }
    }
}

/// So many exchanges, one begun in every turn by a node drawn by its shares; afterwards nothing is in flight.
pub(crate) fn run_in_turn(
    nodes: &mut [impl Peer],
    exchanges: u64,
    is_greedy: bool,
    faults: Faults,
    rng: &mut Xoshiro256PlusPlus,
    control: &Control,
) {
    // A node stands here once a share: where these are neighbours, every edge is as likely as any other.
    let ends: Vec<usize> =
        nodes.iter().enumerate().flat_map(|(node, of)| std::iter::repeat_n(node, of.shares())).collect();
    if ends.is_empty() {
        return;
    }
    let mut draw = Xoshiro256PlusPlus::seed_from_u64(rng.random());
    let mut network = Network::new(faults, rng);
    for _ in 0..exchanges {
        if control.halted().is_some() {
            break;
        }
        let asks = ends[draw.random_range(0..ends.len())];
        network.turn(nodes, Some(asks), is_greedy);
    }
    network.drain(nodes, control);
}
