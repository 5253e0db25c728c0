//! Many bounded numbers moved together, all by the same share of what was wanted, without locks.
//!
//! Beside every number x in `[lower, upper]` lie two stores: `up`, how much it may still rise, and `down`, how much it
//! may still fall. To rise by d: take d out of `up`, add d to x, give d to `down`; to fall, the reverse. What is taken
//! belongs to the taker, so nobody else can use the same room. For several numbers:
//!
//! ```text
//! reserve   t = 1; for every number: take t |d|; if less was left, t shrinks to what it allows
//! return    for every number: give back what was taken beyond t |d|
//! move      for every number: x += t d
//! deposit   for every number: give t |d| to the opposite store
//! ```
//!
//! Invariant: `x - lower = down + taken from down and not yet subtracted + added and not yet given to down >= 0`, and
//! the mirror image for `upper`: x is within its bounds at every moment, and a move with `A d = 0` keeps `A x` once it
//! is complete, for `A (t d) = 0`. Stores are kept to rounding; x itself is cut at its bounds exactly.

use super::SharedNumbers;

/// What a store may lack beside the size of its number.
const ROUNDING: f64 = 8.0 * f64::EPSILON;

/// The room of every number.
#[derive(Debug)]
pub struct Escrow {
    up: SharedNumbers,
    down: SharedNumbers,
}

/// One number of a move: from the value it was seen at to a new one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Move {
    /// Which number.
    pub index: usize,
    /// Its value when it was read.
    pub seen: f64,
    /// The value it should get; within its bounds.
    pub new: f64,
    /// Its bounds.
    pub bounds: (f64, f64),
}

impl Escrow {
    /// For numbers x with these bounds.
    pub fn new(x: &[f64], bounds: impl Fn(usize) -> (f64, f64)) -> Self {
        let escrow = Self { up: SharedNumbers::new(x), down: SharedNumbers::new(x) };
        escrow.refill(x, bounds);
        escrow
    }

    /// Sets every store afresh from x: only while nobody moves anything.
    pub fn refill(&self, x: &[f64], bounds: impl Fn(usize) -> (f64, f64)) {
        for (k, &x) in x.iter().enumerate() {
            let (lower, upper) = bounds(k);
            self.up.store(k, upper - x);
            self.down.store(k, x - lower);
        }
    }

    /// Makes the moves, all by the same share t in [0, 1] of their differences; returns t. `taken` is memory that is
    /// used again and again.
    pub fn make(&self, x: &SharedNumbers, moves: &[Move], taken: &mut Vec<f64>) -> f64 {
        taken.clear();
        let mut t: f64 = 1.0;
        for m in moves {
            let size = (m.new - m.seen).abs();
            let got = self.source(m).take(m.index, t * size);
            // A store that lacks no more than rounding has enough; else a number one digit off its bound would hold
            // all the others back.
            if t * size - got > ROUNDING * (m.seen.abs() + m.new.abs()) {
                t = got / size;
            }
            taken.push(got);
        }
        for (m, got) in moves.iter().zip(taken) {
            let d = m.new - m.seen;
            let used = t * d.abs();
            if used < *got {
                self.source(m).give(m.index, *got - used);
            }
            if used == 0.0 {
                continue;
            }
            if t == 1.0 {
                x.shift_within(m.index, m.seen, m.new, m.bounds);
            } else {
                x.add_within(m.index, used.copysign(d), m.bounds);
            }
            self.sink(m).give(m.index, used);
        }
        t
    }

    fn source(&self, m: &Move) -> &SharedNumbers {
        if m.new > m.seen { &self.up } else { &self.down }
    }

    fn sink(&self, m: &Move) -> &SharedNumbers {
        if m.new > m.seen { &self.down } else { &self.up }
    }
}
