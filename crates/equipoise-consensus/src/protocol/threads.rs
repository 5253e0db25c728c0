//! One thread a node: each serves requests before it asks itself, and nobody waits for anybody but its own replies.
//!
//! A phase ends when every node has begun its share of exchanges (or work is being ended) and none is open: then nothing is in
//! flight. Until all have come so far, each goes on answering; and where one of them is away for long, the others go on asking beyond
//! their shares, up to a multiple of them. Where a thread panics, the others end, and the panic goes on to the caller.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use equipoise::Control;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::transport::{Channels, Faulty, Transport};
use super::{Message, Outbox, Peer, Share};

/// How long a node waits for a message before it looks round.
const LOOK: Duration = Duration::from_millis(1);
/// Ticks of 0.1 ms.
pub(super) const TICKS_PER_SECOND: f64 = 1e4;
/// Ticks beyond twice the delay after which a request is sent again; local solves may take a while.
pub(super) const PATIENCE: u64 = 300;
/// Ticks for which a node that has had its share waits for the others before it asks for more: those who are only late come meanwhile.
const GRACE: u64 = 200;

/// A phase; where nodes are away for long, each of the others may begin so many exchanges.
pub(crate) fn run_in_threads(nodes: &mut [impl Peer], share: Share, most: u64, control: &Control) {
    let Share { each, outstanding, is_greedy, faults, seed } = share;
    let ends = Channels::network(nodes.len());
    let (begun, finished, all) = (AtomicUsize::new(0), AtomicUsize::new(0), nodes.len());
    let has_failed = AtomicBool::new(false);
    thread::scope(|scope| {
        for (node, (own, end)) in nodes.iter_mut().zip(ends.into_iter().enumerate()) {
            let others = Others { begun: &begun, finished: &finished, has_failed: &has_failed, all };
            let seed = seed ^ (own as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            scope.spawn(move || {
                let _guard = Guard { has_failed: others.has_failed };
                let (each, most) = if node.shares() == 0 { (0, 0) } else { (each, most) };
                let stalled = faults.stall.filter(|stall| stall.node == own).map_or(0, |stall| stall.ticks);
                let patience = faults.delay.saturating_mul(2).saturating_add(PATIENCE);
                let outstanding = outstanding.min(node.shares()).max(1);
                let work = Work { each, most, outstanding, is_greedy, stalled, patience, seed };
                let transport = Faulty::new(end, faults, seed ^ 1);
                work.run(node, transport, &others, control);
            });
        }
    });
}

/// Says that a thread has failed, where it has.
struct Guard<'a> {
    has_failed: &'a AtomicBool,
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.has_failed.store(true, Ordering::SeqCst);
        }
    }
}

/// How far the others are.
struct Others<'a> {
    /// Those that have had their share.
    begun: &'a AtomicUsize,
    finished: &'a AtomicUsize,
    has_failed: &'a AtomicBool,
    all: usize,
}

struct Work {
    /// Exchanges to begin, and at most, where others are away.
    each: u64,
    most: u64,
    /// Requests without an answer, at most.
    outstanding: usize,
    is_greedy: bool,
    stalled: u64,
    patience: u64,
    seed: u64,
}

impl Work {
    fn run(
        &self,
        node: &mut impl Peer,
        mut transport: impl Transport,
        others: &Others<'_>,
        control: &Control,
    ) {
        let begun = Instant::now();
        let now = || (begun.elapsed().as_secs_f64() * TICKS_PER_SECOND) as u64;
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(self.seed);
        let (mut asked, mut is_finished) = (0, false);
        // When it had its share.
        let mut since = None;
        while now() < self.stalled && control.halted().is_none() {
            thread::sleep(LOOK);
        }
        loop {
            let mut waited = Duration::ZERO;
            while let Some((from, message)) = transport.receive(waited) {
                serve(node, from, message, &mut transport);
                waited = Duration::ZERO;
            }
            if asked >= self.each && since.is_none() {
                since = Some(now());
                others.begun.fetch_add(1, Ordering::SeqCst);
            }
            let are_away = others.begun.load(Ordering::SeqCst) < others.all;
            let is_halted = control.halted().is_some();
            let wants_more = !is_halted && (asked < self.each || (asked < self.most && are_away));
            let may_now = since.is_none_or(|since| now() > since + GRACE);
            if wants_more && may_now && node.open() < self.outstanding {
                // A node that cannot ask now has been ended in the middle of its own work.
                let mut out = Vec::new();
                node.begin(self.is_greedy, now(), &mut rng, &mut out);
                work(node, out, &mut transport);
                asked += 1;
                continue;
            }
            for (to, message) in node.repeat(now(), self.patience) {
                transport.send(to, message);
            }
            if !is_finished && !wants_more && node.open() == 0 {
                is_finished = true;
                others.finished.fetch_add(1, Ordering::SeqCst);
            }
            // Who has failed never answers.
            let has_failed = others.has_failed.load(Ordering::SeqCst);
            if has_failed || others.finished.load(Ordering::SeqCst) == others.all {
                return;
            }
            waited = LOOK;
            if let Some((from, message)) = transport.receive(waited) {
                serve(node, from, message, &mut transport);
            }
        }
    }
}

/// A message is taken, and what follows from it goes out: first what is passed on, then what took work.
fn serve(node: &mut impl Peer, from: usize, message: Message, transport: &mut impl Transport) {
    let mut out = Vec::new();
    node.receive(from, message, &mut out);
    work(node, out, transport);
}

fn work(node: &mut impl Peer, mut out: Outbox, transport: &mut impl Transport) {
    out.drain(..).for_each(|(to, message)| transport.send(to, message));
    node.work(&mut out);
    out.into_iter().for_each(|(to, message)| transport.send(to, message));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::Unit;
    use crate::local::Local;
    use crate::problem::Loss;
    use crate::protocol::{Faults, Node};
    use crate::tests::random;

    #[test]
    fn a_thread_that_panics_ends_the_others() {
        let problem = random(Loss::Ridge, 2, false, 3);
        let control = Control::unlimited();
        let mut node = Node::new(0, Local::new(&problem, 0), Unit::for_size(64.0), &[1], &control);
        node.renew_curvature().expect("no limit");
        let (begun, finished) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let has_failed = AtomicBool::new(false);
        thread::scope(|scope| {
            let failing = scope.spawn(|| {
                let _guard = Guard { has_failed: &has_failed };
                panic!("as the test wants");
            });
            assert!(failing.join().is_err());
        });
        // The node asks its neighbour, which is gone.
        let work = Work {
            each: 3,
            most: 3,
            outstanding: 1,
            is_greedy: false,
            stalled: 0,
            patience: PATIENCE,
            seed: 1,
        };
        let end = Channels::network(2).swap_remove(0);
        let others = Others { begun: &begun, finished: &finished, has_failed: &has_failed, all: 2 };
        work.run(&mut node, end, &others, &control);
        assert_eq!((node.open(), finished.load(Ordering::SeqCst)), (1, 0));
    }

    const EACH: u64 = 20;

    /// One of a ring, which counts what it begins; node 0 is away until all but its neighbours have begun more than their share.
    struct Counter<'a> {
        own: usize,
        asked: &'a [AtomicUsize],
        open: usize,
        has_been_away: bool,
    }

    impl Peer for Counter<'_> {
        fn shares(&self) -> usize {
            1
        }

        fn begin(&mut self, _: bool, _: u64, rng: &mut Xoshiro256PlusPlus, out: &mut Outbox) {
            let all = self.asked.len();
            let is_away = || (2..all - 1).any(|k| self.asked[k].load(Ordering::SeqCst) <= EACH as usize);
            while self.own == 0 && !self.has_been_away && is_away() {
                thread::sleep(LOOK);
            }
            self.has_been_away = true;
            self.asked[self.own].fetch_add(1, Ordering::SeqCst);
            self.open += 1;
            let to = (self.own + if rand::RngExt::random(rng) { 1 } else { all - 1 }) % all;
            out.push((to, Message::Request { sequence: 1, x: Vec::new(), curvature: None }));
        }

        fn receive(&mut self, from: usize, message: Message, out: &mut Outbox) {
            match message {
                Message::Request { sequence, .. } => {
                    out.push((from, Message::Reply { sequence, delta: Vec::new() }));
                }
                _ => self.open -= 1,
            }
        }

        fn repeat(&mut self, _: u64, _: u64) -> Outbox {
            Vec::new()
        }

        fn open(&self) -> usize {
            self.open
        }
    }

    #[test]
    fn a_node_that_is_away_keeps_nobody_but_its_neighbours_from_going_on() {
        let asked: Vec<AtomicUsize> = (0..8).map(|_| AtomicUsize::new(0)).collect();
        let node = |own| Counter { own, asked: &asked, open: 0, has_been_away: false };
        let mut nodes: Vec<Counter<'_>> = (0..8).map(node).collect();
        let share =
            Share { each: EACH, outstanding: 1, is_greedy: false, faults: Faults::default(), seed: 3 };
        run_in_threads(&mut nodes, share, 16 * EACH, &Control::unlimited());
        // All that was begun is done, and nobody asked for ever.
        assert!(nodes.iter().all(|node| node.open == 0));
        let counts: Vec<usize> = asked.iter().map(|asked| asked.load(Ordering::SeqCst)).collect();
        assert!(
            counts.iter().all(|count| (EACH as usize..=16 * EACH as usize).contains(count)),
            "{counts:?}"
        );
        assert!(counts[2..7].iter().all(|count| *count > EACH as usize), "{counts:?}");
    }
}
