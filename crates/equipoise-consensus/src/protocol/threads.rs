//! One thread a node: each serves requests before it asks itself, and nobody waits for anybody but its own replies.
//!
//! A phase ends when every node has begun its share of exchanges (or work is being ended) and none is open: then nothing is in
//! flight. Until all have come so far, each goes on answering. Where a thread panics, the others end, and the panic goes on to the caller.

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

pub(crate) fn run_in_threads(nodes: &mut [impl Peer], share: Share, control: &Control) {
    let Share { each, outstanding, is_greedy, faults, seed } = share;
    let ends = Channels::network(nodes.len());
    let (finished, all) = (AtomicUsize::new(0), nodes.len());
    let has_failed = AtomicBool::new(false);
    thread::scope(|scope| {
        for (node, (own, end)) in nodes.iter_mut().zip(ends.into_iter().enumerate()) {
            let (finished, has_failed) = (&finished, &has_failed);
            let seed = seed ^ (own as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            scope.spawn(move || {
                let _guard = Guard { has_failed };
                let share = if node.shares() == 0 { 0 } else { each };
                let stalled = faults.stall.filter(|stall| stall.node == own).map_or(0, |stall| stall.ticks);
                let patience = faults.delay.saturating_mul(2).saturating_add(PATIENCE);
                let outstanding = outstanding.min(node.shares()).max(1);
                let work = Work { each: share, outstanding, is_greedy, stalled, patience, seed };
                let transport = Faulty::new(end, faults, seed ^ 1);
                work.run(node, transport, &Others { finished, has_failed, all }, control);
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
    finished: &'a AtomicUsize,
    has_failed: &'a AtomicBool,
    all: usize,
}

struct Work {
    each: u64,
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
        while now() < self.stalled && control.halted().is_none() {
            thread::sleep(LOOK);
        }
        loop {
            let mut waited = Duration::ZERO;
            while let Some((from, message)) = transport.receive(waited) {
                serve(node, from, message, &mut transport);
                waited = Duration::ZERO;
            }
            let wants_more = asked < self.each && control.halted().is_none();
            if wants_more && node.open() < self.outstanding {
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
    use crate::protocol::Node;
    use crate::tests::random;

    #[test]
    fn a_thread_that_panics_ends_the_others() {
        let problem = random(Loss::Ridge, 2, false, 3);
        let control = Control::unlimited();
        let mut node = Node::new(0, Local::new(&problem, 0), Unit::for_size(64.0), &[1], &control);
        node.renew_curvature().expect("no limit");
        let (finished, has_failed) = (AtomicUsize::new(0), AtomicBool::new(false));
        thread::scope(|scope| {
            let failing = scope.spawn(|| {
                let _guard = Guard { has_failed: &has_failed };
                panic!("as the test wants");
            });
            assert!(failing.join().is_err());
        });
        // The node asks its neighbour, which is gone.
        let work =
            Work { each: 3, outstanding: 1, is_greedy: false, stalled: 0, patience: PATIENCE, seed: 1 };
        let end = Channels::network(2).swap_remove(0);
        work.run(&mut node, end, &Others { finished: &finished, has_failed: &has_failed, all: 2 }, &control);
        assert_eq!((node.open(), finished.load(Ordering::SeqCst)), (1, 0));
    }
}
