//! Pairs of a graph that exchange what they have, each node at its own pace: the protocol of consensus, event by event.
//!
//! ```text
//! f_i(x) = 1/2 (x - a_i)^2,  x_i = a_i + lambda_i;   all x equal at the optimum, sum lambda = 0
//! 1  i -> j   Request { sequence, x_i }
//! 2  j        delta = (x_j - x_i) / 2W;  lambda_j -= delta at once;  Reply { sequence, delta } -> i
//! 3  i        lambda_i += delta
//! ```
//!
//! A node has W requests outstanding, on W of its edges, and works on what arrives in its order. A request without a reply is sent
//! again; who has answered it answers the same and applies nothing twice. Numbers are whole, so that sums are exact.
//!
//! - Given: a graph, a machine, W. Returns: how far nodes came in which time; whether `sum lambda + in flight = 0` held.
//! - Must not know: what the numbers mean; the numbers of a message are as many as asked for, and simulated by one of them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use equipoise::graph::Graph;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::Machine;

/// Bytes of a message beside its numbers, as letters between ranks have them.
const HEADER: f64 = 32.0;
/// One, in whole units.
const ONE: i64 = 1 << 32;
/// An error so many times that of the start has no way back.
const LOST: f64 = 1e6;

/// What is exchanged, on what.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Exchange<'g> {
    pub(crate) graph: &'g Graph,
    pub(crate) machine: Machine,
    /// Numbers of a message.
    pub(crate) columns: usize,
    /// W.
    pub(crate) outstanding: usize,
    /// Whether steps are divided by W.
    pub(crate) is_damped: bool,
    /// The share of the first error that is small enough, and exchanges after which it ends at the latest.
    pub(crate) share: f64,
    pub(crate) most: u64,
    pub(crate) seed: u64,
}

/// How it went.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Ran {
    /// Exchanges that were begun and done, and seconds until the last.
    pub(crate) updates: u64,
    pub(crate) seconds: f64,
    /// The share of the first error that is left, and whether that was small enough.
    pub(crate) left: f64,
    pub(crate) is_done: bool,
    pub(crate) is_lost: bool,
    pub(crate) messages: u64,
    pub(crate) bytes: f64,
    /// The share of the time that the busiest node worked, and the most messages that ever waited at one node.
    pub(crate) busiest: f64,
    pub(crate) queue: u64,
    /// `sum lambda + in flight`, the largest ever seen; and `sum lambda` when all was drained.
    pub(crate) off: i64,
    pub(crate) drained: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Word {
    Request(i64),
    Reply(i64),
}

/// What happens next: at a time, in the order of its making.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// A message of a link's owner has arrived at the other end, or (a reply) at the owner.
    Arrived { link: usize, sequence: u64, word: Word },
    /// It has been worked on.
    Served { link: usize, sequence: u64, word: Word },
    /// Time to ask again, if there was no reply.
    Late { link: usize, sequence: u64 },
}

/// One direction of an edge: requests of its owner, replies to it.
#[derive(Debug, Clone, Copy)]
struct Link {
    owner: usize,
    to: usize,
    sequence: u64,
    /// What was asked, until there is a reply.
    open: Option<i64>,
    /// The last request that the other end answered, and how.
    answered: (u64, i64),
}

#[derive(Debug)]
struct Node {
    lambda: i64,
    target: i64,
    links: std::ops::Range<usize>,
    open: usize,
    busy_until: f64,
    worked: f64,
    waiting: u64,
}

/// Everything between two events.
struct Network<'g> {
    exchange: Exchange<'g>,
    nodes: Vec<Node>,
    links: Vec<Link>,
    events: BinaryHeap<Reverse<(u64, u64, Event)>>,
    made: u64,
    now: f64,
    rng: Xoshiro256PlusPlus,
    is_draining: bool,
    ran: Ran,
}

impl Exchange<'_> {
    /// Bytes of a message.
    pub(crate) fn bytes(&self) -> f64 {
        HEADER + 8.0 * self.columns as f64
    }

    /// Until the error is small enough, grew beyond all bounds, or there were too many exchanges; then all is drained.
    pub(crate) fn run(self) -> Ran {
        let mut network = Network::new(self);
        let first = network.error();
        let every = self.graph.nodes() as u64 / 4 + 1;
        (0..network.nodes.len()).for_each(|node| network.ask(node));
        let mut next = every;
        while let Some(Reverse((time, _, event))) = network.events.pop() {
            network.now = f64::from_bits(time);
            network.happen(event);
            if network.is_draining || network.ran.updates < next {
                continue;
            }
            next += every;
            network.ran.off = network.ran.off.max(network.off().abs());
            let left = network.error() / first;
            network.ran = Ran {
                left,
                is_done: left <= self.share,
                is_lost: left.is_nan() || left > LOST,
                seconds: network.now,
                ..network.ran
            };
            let ran = network.ran;
            if ran.is_done || ran.is_lost || ran.updates >= self.most {
                network.is_draining = true;
                // What a node has still to do does not count.
                let worked = |node: &Node| node.worked - (node.busy_until - network.now).max(0.0);
                network.ran.busiest = network.nodes.iter().map(worked).fold(0.0, f64::max) / network.now;
            }
        }
        let drained = network.nodes.iter().fold(0_i64, |sum, node| sum.wrapping_add(node.lambda));
        Ran { drained, off: network.ran.off.max(network.off().abs()), ..network.ran }
    }
}

impl<'g> Network<'g> {
    fn new(exchange: Exchange<'g>) -> Self {
        let count = exchange.graph.nodes();
        let mut neighbours = vec![Vec::new(); count];
        for (first, second) in exchange.graph.edges() {
            neighbours[first].push(second);
            neighbours[second].push(first);
        }
        let (mut nodes, mut links) = (Vec::with_capacity(count), Vec::new());
        for (owner, others) in neighbours.iter().enumerate() {
            let from = links.len();
            let link = |&to: &usize| Link { owner, to, sequence: 0, open: None, answered: (0, 0) };
            links.extend(others.iter().map(link));
            nodes.push(Node {
                lambda: 0,
                target: i64::try_from(owner % 10).unwrap_or(0) * ONE,
                links: from..links.len(),
                open: 0,
                busy_until: 0.0,
                worked: 0.0,
                waiting: 0,
            });
        }
        let ran = Ran {
            updates: 0,
            seconds: 0.0,
            left: 1.0,
            is_done: false,
            is_lost: false,
            messages: 0,
            bytes: 0.0,
            busiest: 0.0,
            queue: 0,
            off: 0,
            drained: 0,
        };
        let rng = Xoshiro256PlusPlus::seed_from_u64(exchange.seed);
        let events = BinaryHeap::new();
        Self { exchange, nodes, links, events, made: 0, now: 0.0, rng, is_draining: false, ran }
    }

    /// The squared distance of all x from their mean.
    fn error(&self) -> f64 {
        let x = |node: &Node| (node.target as f64 + node.lambda as f64) / ONE as f64;
        let mean = self.nodes.iter().map(|node| node.target as f64 / ONE as f64).sum::<f64>()
            / self.nodes.len() as f64;
        self.nodes.iter().map(|node| (x(node) - mean).powi(2)).sum()
    }

    /// `sum lambda + in flight`, from what nodes have.
    fn off(&self) -> i64 {
        let lambda = self.nodes.iter().fold(0_i64, |sum, node| sum.wrapping_add(node.lambda));
        let is_in_flight = |link: &&Link| link.open.is_some() && link.answered.0 == link.sequence;
        self.links.iter().filter(is_in_flight).fold(lambda, |sum, link| sum.wrapping_add(link.answered.1))
    }

    fn at(&mut self, time: f64, event: Event) {
        self.made += 1;
        // Times are not negative: their bits are in their order.
        self.events.push(Reverse((time.to_bits(), self.made, event)));
    }

    /// A node begins as many exchanges as it may.
    fn ask(&mut self, node: usize) {
        while !self.is_draining && self.nodes[node].open < self.exchange.outstanding {
            let range = self.nodes[node].links.clone();
            let free = range.clone().filter(|&link| self.links[link].open.is_none()).count();
            if free == 0 {
                return;
            }
            let chosen = self.rng.random_range(0..free);
            let place = range.filter(|&link| self.links[link].open.is_none()).nth(chosen);
            let Some(place) = place else { return };
            let x = self.nodes[node].target.wrapping_add(self.nodes[node].lambda);
            self.links[place].sequence += 1;
            self.links[place].open = Some(x);
            self.nodes[node].open += 1;
            self.send(node, place, self.links[place].sequence, Word::Request(x));
        }
    }

    /// A node sends, after what else it has to do.
    fn send(&mut self, node: usize, link: usize, sequence: u64, word: Word) {
        let machine = self.exchange.machine;
        let taken = machine.overhead + self.exchange.bytes() / machine.bandwidth;
        let sent = self.work(node, taken);
        self.ran.messages += 1;
        self.ran.bytes += self.exchange.bytes();
        if machine.loss > 0.0 && matches!(word, Word::Request(_)) {
            let round_trip = 2.0 * machine.message(self.exchange.bytes());
            self.at(sent + machine.retry.max(2.0 * round_trip), Event::Late { link, sequence });
        }
        // Here a lost message is lost: who waits for it asks again.
        if machine.loss > 0.0 && self.rng.random::<f64>() < machine.loss {
            return;
        }
        let late = Machine { loss: 0.0, ..machine }.late(&mut self.rng);
        self.at(sent + machine.latency + late, Event::Arrived { link, sequence, word });
    }

    /// A node works for so long, after what it is at; when it is done.
    fn work(&mut self, node: usize, seconds: f64) -> f64 {
        let node = &mut self.nodes[node];
        node.busy_until = node.busy_until.max(self.now) + seconds;
        node.worked += seconds;
        node.busy_until
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Arrived { link, sequence, word } => {
                let at = self.end(link, word);
                self.nodes[at].waiting += 1;
                self.ran.queue = self.ran.queue.max(self.nodes[at].waiting);
                let machine = self.exchange.machine;
                // x and lambda are read and written.
                let read = 4.0 * 8.0 * self.exchange.columns as f64 / machine.memory;
                let held_up = machine.held_up(&mut self.rng);
                let done = self.work(at, held_up * (machine.overhead + read));
                self.at(done, Event::Served { link, sequence, word });
            }
            Event::Served { link, sequence, word } => {
                let at = self.end(link, word);
                self.nodes[at].waiting -= 1;
                match word {
                    Word::Request(x) => self.answer(at, link, sequence, x),
                    Word::Reply(delta) => self.conclude(at, link, sequence, delta),
                }
            }
            Event::Late { link, sequence } => {
                let Link { owner, sequence: last, open, .. } = self.links[link];
                if let Some(x) = open.filter(|_| last == sequence) {
                    self.send(owner, link, sequence, Word::Request(x));
                }
            }
        }
    }

    /// Where a message goes.
    fn end(&self, link: usize, word: Word) -> usize {
        match word {
            Word::Request(_) => self.links[link].to,
            Word::Reply(_) => self.links[link].owner,
        }
    }

    /// Step 2; the same answer where there was one, none to what is older than that.
    fn answer(&mut self, at: usize, link: usize, sequence: u64, x: i64) {
        let (last, mut delta) = self.links[link].answered;
        if sequence < last {
            return;
        }
        if sequence > last {
            let w = if self.exchange.is_damped { self.exchange.outstanding } else { 1 };
            let parts = i64::try_from(2 * w).unwrap_or(i64::MAX);
            let own = self.nodes[at].target.wrapping_add(self.nodes[at].lambda);
            delta = own.wrapping_sub(x) / parts;
            self.links[link].answered = (sequence, delta);
            self.nodes[at].lambda = self.nodes[at].lambda.wrapping_sub(delta);
        }
        self.send(at, link, sequence, Word::Reply(delta));
    }

    /// Step 3, once; then the next exchange.
    fn conclude(&mut self, at: usize, link: usize, sequence: u64, delta: i64) {
        let Link { sequence: last, open, .. } = self.links[link];
        if open.is_none() || last != sequence {
            return;
        }
        self.links[link].open = None;
        self.nodes[at].open -= 1;
        self.nodes[at].lambda = self.nodes[at].lambda.wrapping_add(delta);
        self.ran.updates += 1;
        self.ask(at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use equipoise::graph::Topology;

    const MACHINE: Machine = Machine::with_network(10.0);

    fn graph(name: &str, nodes: usize) -> Graph {
        Graph::new(&Topology::parse(name, nodes, 1).expect("a name"), nodes).expect("a graph")
    }

    fn exchange(graph: &Graph) -> Exchange<'_> {
        Exchange {
            graph,
            machine: MACHINE,
            columns: 10,
            outstanding: 1,
            is_damped: true,
            share: 1e-6,
            most: 20_000,
            seed: 1,
        }
    }

    #[test]
    fn messages_are_as_long_as_letters_between_ranks() {
        use equipoise_consensus::protocol::Message;
        let pair = graph("ring", 2);
        for columns in [1, 10, 100] {
            let numbers = vec![0.5; columns];
            let request = Message::Request { sequence: 1, x: numbers.clone(), curvature: None };
            let reply = Message::Reply { sequence: 1, delta: numbers };
            for message in [request, reply] {
                let modelled = Exchange { columns, ..exchange(&pair) }.bytes();
                assert_eq!(modelled, message.bytes_of_letter() as f64);
            }
        }
    }

    #[test]
    fn two_nodes_meet_in_the_middle() {
        let pair = graph("ring", 2);
        // Both ask at once, so that each step is made twice: half of it is enough.
        let ran = Exchange { outstanding: 2, share: 1e-9, most: 2000, ..exchange(&pair) }.run();
        assert!(ran.is_done && ran.off == 0 && ran.drained == 0, "{ran:?}");
    }

    #[test]
    fn the_sum_holds_in_every_one_of_a_thousand_schedules() {
        for seed in 0..1000 {
            let name = ["ring", "star+ring", "tree+ring", "random-regular:4"][seed as usize % 4];
            let graph = graph(name, 12);
            let machine = Machine {
                loss: 0.1 * (seed % 3) as f64,
                retry: 1e-5,
                delay: 1e-6 * (seed % 7) as f64,
                straggling: 0.1,
                slowdown: 20.0,
                ..MACHINE
            };
            let outstanding = 1 + seed as usize % 3;
            let given = Exchange { machine, outstanding, seed, share: 0.0, most: 300, ..exchange(&graph) };
            let mut network = Network::new(given);
            (0..12).for_each(|node| network.ask(node));
            let mut was_in_flight = false;
            while let Some(Reverse((time, _, event))) = network.events.pop() {
                network.now = f64::from_bits(time);
                network.happen(event);
                network.is_draining |= network.ran.updates >= given.most;
                assert_eq!(network.off(), 0, "seed {seed}");
                was_in_flight |= network.nodes.iter().map(|node| node.lambda).sum::<i64>() != 0;
            }
            assert!(was_in_flight && network.ran.updates >= given.most, "seed {seed}");
            assert!(network.links.iter().all(|link| link.open.is_none()));
            assert_eq!(network.nodes.iter().map(|node| node.lambda).sum::<i64>(), 0, "seed {seed}");
        }
    }

    #[test]
    fn several_outstanding_requests_need_damping() {
        let graph = graph("random-regular:6", 200);
        let damped = Exchange { outstanding: 4, most: 60_000, ..exchange(&graph) };
        let full = Exchange { is_damped: false, ..damped };
        let (damped, full) = (damped.run(), full.run());
        assert!(damped.is_done && !damped.is_lost, "{damped:?}");
        assert!(!full.is_done, "{full:?}");
    }

    #[test]
    fn the_hub_of_a_star_queues() {
        let (star, regular) = (graph("star+ring", 300), graph("random-regular:6", 300));
        let short = |graph| Exchange { most: 3000, share: 0.0, ..exchange(graph) }.run();
        let (star, regular) = (short(&star), short(&regular));
        let speed = |ran: &Ran| ran.updates as f64 / ran.seconds;
        assert!(speed(&regular) > 5.0 * speed(&star), "{star:?} {regular:?}");
        assert!(star.queue > 100 && star.busiest > 0.9 && regular.queue < 30, "{star:?} {regular:?}");
    }
}
