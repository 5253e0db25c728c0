//! How long things take on a cluster.
//!
//! Must not know: what is computed or sent.

use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;

/// A cluster of equal machines, one rank or node on each.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Machine {
    /// alpha: seconds until a message arrives, its bytes aside.
    pub(crate) latency: f64,
    /// Seconds that a sender spends on a message before it can send the next.
    pub(crate) overhead: f64,
    /// 1 / beta: bytes a second that leave a machine.
    pub(crate) bandwidth: f64,
    /// 1 / gamma: bytes a second that a machine reads from its memory.
    pub(crate) memory: f64,
    /// Multiplications and additions a second of a machine.
    pub(crate) flops: f64,
    /// The probability that a piece of work is held up, and how many times as long it then takes.
    pub(crate) straggling: f64,
    pub(crate) slowdown: f64,
    /// The probability that a message is lost, and seconds after which it is sent again.
    pub(crate) loss: f64,
    pub(crate) retry: f64,
    /// Mean of what a message is late by, exponential.
    pub(crate) delay: f64,
}

impl Machine {
    /// 16 cores that read 80 GB/s, a network of so many Gb/s, nothing that goes wrong.
    pub(crate) const fn with_network(gigabits: f64) -> Self {
        Self {
            latency: 2e-6,
            overhead: 5e-7,
            bandwidth: gigabits * 1.25e8,
            memory: 8e10,
            flops: 3e11,
            straggling: 0.0,
            slowdown: 1.0,
            loss: 0.0,
            retry: 0.0,
            delay: 0.0,
        }
    }

    /// The same where one piece of work in a hundred takes twice as long, one message in a million is sent again after 10 ms, and
    /// messages are late by as much as their latency.
    pub(crate) const fn troubled(self) -> Self {
        Self { straggling: 0.01, slowdown: 2.0, loss: 1e-6, retry: 0.01, delay: self.latency, ..self }
    }

    /// Seconds that a message of so many bytes takes, if all goes well.
    pub(crate) fn message(&self, bytes: f64) -> f64 {
        self.latency + bytes / self.bandwidth
    }

    /// What a message is late by.
    pub(crate) fn late(&self, rng: &mut Xoshiro256PlusPlus) -> f64 {
        let mut late = 0.0;
        if self.delay > 0.0 {
            late -= self.delay * (1.0 - rng.random::<f64>()).ln();
        }
        while self.loss > 0.0 && rng.random::<f64>() < self.loss {
            late += self.retry;
        }
        late
    }

    /// How many times as long a piece of work takes.
    pub(crate) fn held_up(&self, rng: &mut Xoshiro256PlusPlus) -> f64 {
        if self.straggling > 0.0 && rng.random::<f64>() < self.straggling { self.slowdown } else { 1.0 }
    }
}
