//! One thread's view of an iterate that several threads move.
//!
//! A window copies what an update reads from shared memory into a [`State`] of its own, lets the same pair step work
//! on that, and carries the result back: as an exact value where nobody was faster, as the same increment otherwise.
//! On one thread nobody is, and the bits are those of memory of one's own.
//!
//! | what moves | how it is carried back | bounds | `A x = b` |
//! |---|---|---|---|
//! | two scalars on a row | slave, then master, each within its bounds; what does not fit goes back to the slave, and what does not fit there into a purse | at every moment | with the purses |
//! | blocks without bounds | increments | none | when no update is under way |
//! | blocks with bounds | escrow: one share of all increments | at every moment | when no update is under way |
//!
//! The product is kept in one of three ways ([`Upkeep`]). Must not know: which pair comes next, how it is solved.

use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::shared::{Escrow, Locks, Move, Quota, SharedNumbers, Side, balance};
use super::{Iterate, Locking, Role, State};
use crate::separable::{Nonsmooth, SeparableTerm};
use crate::smooth::{PairTerm, Reads};

/// A product this many times longer than what one coordinate touches is changed in place, a shorter one replicated.
const LONG: usize = 64;
/// Updates that move nothing count this many times less.
const MOST_IDLE: u32 = 16;
/// A replica meets the shared product once its updates have touched as many entries as it has, but not after fewer
/// updates than this.
const FEWEST: usize = 4;

/// How a window keeps the product of f.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Upkeep {
    /// There is none.
    None,
    /// Entries are read when needed and changed in place: many entries, few of them touched.
    InPlace,
    /// A replica that is brought together with the shared one every so many updates that move something.
    Replica(u32),
}

impl Upkeep {
    /// What suits f.
    pub(crate) fn suiting<F: PairTerm>(f: &F) -> Self {
        let (length, n) = (f.product_len(), f.dimension());
        if length == 0 {
            return Self::None;
        }
        let sample = (0..n).step_by((n / 256).max(1));
        let (mut touched, mut looked_at) = (0, 0);
        for c in sample {
            looked_at += 1;
            touched += match f.reads(c) {
                Reads::Entries(entries) => entries.len(),
                Reads::Product => length,
                Reads::Everything => return Self::Replica(1),
            };
        }
        let mean = touched.div_ceil(looked_at.max(1)).max(1);
        let in_place = length > LONG * mean && (0..n).all(|c| matches!(f.reads(c), Reads::Entries(_)));
        if in_place { Self::InPlace } else { Self::Replica(length.div_ceil(2 * mean).max(FEWEST) as u32) }
    }

    /// Updates of one thread that another may not have seen.
    pub(crate) fn unseen(self) -> f64 {
        if let Self::Replica(every) = self { f64::from(every) } else { 1.0 }
    }
}

/// What all threads share.
#[derive(Debug)]
pub(crate) struct Memory {
    x: SharedNumbers,
    product: SharedNumbers,
    escrow: Option<Escrow>,
    locks: Option<Locks>,
    /// With replicas that meet by appointment: what each thread brings.
    brought: Vec<SharedNumbers>,
    /// Stopped when delays are to end.
    hurry: Quota,
}

/// How windows look into a memory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WindowSettings {
    pub(crate) locking: Locking,
    pub(crate) delay: Duration,
    pub(crate) upkeep: Upkeep,
    /// Whether replicas meet only when told to.
    pub(crate) by_appointment: bool,
}

impl Memory {
    /// Memory for a problem of this many blocks; `escrow` where blocks with bounds move together.
    pub(crate) fn new<H: SeparableTerm>(
        state: &State,
        h: &Nonsmooth<H>,
        blocks: usize,
        settings: &WindowSettings,
        escrow: bool,
        threads: usize,
    ) -> Self {
        let brought = if settings.by_appointment { threads } else { 0 };
        Self {
            x: SharedNumbers::new(&state.x),
            product: SharedNumbers::new(&state.product),
            escrow: escrow.then(|| Escrow::new(&state.x, |c| domain(h, c))),
            locks: (settings.locking != Locking::None).then(|| Locks::new(blocks)),
            brought: (0..brought).map(|_| SharedNumbers::new(&state.product)).collect(),
            hurry: Quota::new(0),
        }
    }

    /// Takes over a state; only while no window is in use.
    pub(crate) fn load<H: SeparableTerm>(&self, state: &State, h: &Nonsmooth<H>) {
        self.x.store_all(&state.x);
        self.product.store_all(&state.product);
        if let Some(escrow) = &self.escrow {
            escrow.refill(&state.x, |c| domain(h, c));
        }
    }

    /// Copies x and the product as they are, each number at its own moment.
    pub(crate) fn snapshot(&self, state: &mut State) {
        self.x.copy_to(0, &mut state.x);
        self.product.copy_to(0, &mut state.product);
    }

    /// Ends artificial delays.
    pub(crate) fn hurry(&self) {
        self.hurry.stop();
    }

    /// Lets whoever waits for a lock give up.
    pub(crate) fn close(&self) {
        if let Some(locks) = &self.locks {
            locks.close();
        }
    }
}

fn domain<H: SeparableTerm>(h: &Nonsmooth<H>, c: usize) -> (f64, f64) {
    match h {
        Nonsmooth::Coordinates(h) => h.domain(c),
        Nonsmooth::Groups(_) => (f64::NEG_INFINITY, f64::INFINITY),
    }
}

/// Which locks a window holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Held {
    Nothing,
    Master,
    Slave,
    Both,
}

/// A thread's view.
#[derive(Debug)]
pub(crate) struct Window<'a, H> {
    memory: Arc<Memory>,
    h: &'a Nonsmooth<H>,
    settings: WindowSettings,
    /// What was read last, and the replica of the product.
    local: State,
    /// The product when the replica last met it.
    met: Vec<f64>,
    /// Coordinates moved and updates made since then.
    moves_since: u32,
    updates_since: u32,
    /// What one coordinate adds to the product, while it is carried over.
    change: Vec<f64>,
    /// What every row has too much.
    purse: Vec<f64>,
    pair: [usize; 2],
    held: Held,
    moves: Vec<Move>,
    taken: Vec<f64>,
}

impl<'a, H: SeparableTerm> Window<'a, H> {
    /// A view of `memory`, which holds `state`.
    pub(crate) fn new(
        memory: Arc<Memory>,
        h: &'a Nonsmooth<H>,
        settings: WindowSettings,
        state: &State,
        rows: usize,
    ) -> Self {
        let in_place = settings.upkeep == Upkeep::InPlace;
        Self {
            memory,
            h,
            settings,
            local: state.clone(),
            met: state.product.clone(),
            moves_since: 0,
            updates_since: 0,
            change: vec![0.0; if in_place { state.product.len() } else { 0 }],
            purse: vec![0.0; rows],
            pair: [0; 2],
            held: Held::Nothing,
            moves: Vec::new(),
            taken: Vec::new(),
        }
    }

    /// Begins a round on memory that was changed meanwhile.
    pub(crate) fn open(&mut self, state: &State) {
        self.local.product.copy_from_slice(&state.product);
        self.met.copy_from_slice(&state.product);
        (self.moves_since, self.updates_since) = (0, 0);
    }

    /// Ends a round: returns what every row has too much, which is then forgotten.
    pub(crate) fn close(&mut self) -> Vec<f64> {
        let rows = self.purse.len();
        std::mem::replace(&mut self.purse, vec![0.0; rows])
    }

    /// Carries the replica's changes over and takes those of the others.
    pub(crate) fn meet(&mut self) {
        (self.moves_since, self.updates_since) = (0, 0);
        let shared = &self.memory.product;
        for (k, (local, met)) in self.local.product.iter_mut().zip(&mut self.met).enumerate() {
            if local.to_bits() != met.to_bits() {
                shared.shift(k, *met, *local);
            }
            *local = shared.load(k);
            *met = *local;
        }
    }

    /// Puts what this replica added where the others find it.
    pub(crate) fn bring(&self, thread: usize) {
        let shared = &self.memory.brought[thread];
        for (k, (local, met)) in self.local.product.iter().zip(&self.met).enumerate() {
            shared.store(k, local - met);
        }
    }

    /// Adds what all threads brought, in their order, to the product that all replicas last had in common.
    pub(crate) fn gather(&mut self) {
        for (k, (local, met)) in self.local.product.iter_mut().zip(&mut self.met).enumerate() {
            *met = self.memory.brought.iter().fold(*met, |sum, part| sum + part.load(k));
            *local = *met;
        }
    }

    #[inline]
    fn pull<F: PairTerm>(&mut self, f: &F, c: usize) {
        self.local.x[c] = self.memory.x.load(c);
        match f.reads(c) {
            Reads::Entries(entries) if self.settings.upkeep == Upkeep::InPlace => {
                for &k in entries {
                    self.local.product[k as usize] = self.memory.product.load(k as usize);
                }
            }
            Reads::Entries(_) | Reads::Product => {}
            Reads::Everything => self.memory.x.copy_to(0, &mut self.local.x),
        }
    }

    /// Notes that coordinate c moved by delta.
    #[inline]
    fn moved<F: PairTerm>(&mut self, f: &F, c: usize, delta: f64) {
        if delta == 0.0 {
            return;
        }
        match self.settings.upkeep {
            Upkeep::None => {}
            Upkeep::Replica(_) => {
                self.moves_since += 1;
                f.add_to_product(c, delta, &mut self.local.product);
            }
            Upkeep::InPlace => {
                let Reads::Entries(entries) = f.reads(c) else { return };
                f.add_to_product(c, delta, &mut self.change);
                for &k in entries {
                    self.memory.product.add(k as usize, self.change[k as usize]);
                    self.local.product[k as usize] += self.change[k as usize];
                    self.change[k as usize] = 0.0;
                }
            }
        }
    }

    fn wait(&self) {
        if self.settings.delay > Duration::ZERO {
            let begun = Instant::now();
            while begun.elapsed() < self.settings.delay && !self.memory.hurry.is_stopped() {
                std::hint::spin_loop();
            }
        }
    }

    /// Takes the lock of one side, which is to be the only one held; locks that were closed count as taken.
    fn hold(&mut self, role: Role) {
        if self.settings.locking != Locking::Single {
            return;
        }
        self.release();
        if let Some(locks) = &self.memory.locks {
            let (block, held) =
                if role == Role::Master { (self.pair[0], Held::Master) } else { (self.pair[1], Held::Slave) };
            if locks.lock(block) {
                self.held = held;
            }
        }
    }

    fn release(&mut self) {
        if let Some(locks) = &self.memory.locks {
            match self.held {
                Held::Nothing => {}
                Held::Master => locks.unlock(self.pair[0]),
                Held::Slave => locks.unlock(self.pair[1]),
                Held::Both => locks.unlock_pair(self.pair[0], self.pair[1]),
            }
        }
        self.held = Held::Nothing;
    }
}

impl<H: SeparableTerm> Iterate for Window<'_, H> {
    #[inline]
    fn x(&self) -> &[f64] {
        &self.local.x
    }

    #[inline]
    fn product(&self) -> &[f64] {
        &self.local.product
    }

    #[inline]
    fn begin(&mut self, i: usize, j: usize) -> bool {
        self.pair = [i, j];
        match (&self.memory.locks, self.settings.locking) {
            (Some(locks), Locking::Double) => {
                let taken = locks.lock_pair(i, j);
                if taken {
                    self.held = Held::Both;
                }
                taken
            }
            _ => true,
        }
    }

    #[inline]
    fn touch(&self, range: Range<usize>) {
        for c in range.step_by(super::NUMBERS_PER_LINE) {
            std::hint::black_box((self.memory.x.load(c), self.local.x[c]));
        }
    }

    #[inline]
    fn fetch<F: PairTerm>(&mut self, f: &F, role: Role, coordinates: impl Iterator<Item = usize>) {
        self.hold(role);
        if role == Role::Slave {
            self.wait();
        }
        coordinates.for_each(|c| self.pull(f, c));
        if role == Role::Master {
            self.wait();
            if self.settings.locking == Locking::Single {
                self.release();
            }
        }
    }

    #[inline]
    fn set<F: PairTerm>(&mut self, f: &F, c: usize, z: f64) {
        let seen = self.local.x[c];
        if z != seen {
            let moved = self.memory.x.shift_within(c, seen, z, domain(self.h, c));
            self.local.x[c] = z;
            self.moved(f, c, moved);
        }
    }

    #[inline]
    fn exchange<F: PairTerm>(
        &mut self,
        f: &F,
        row: usize,
        c: [usize; 2],
        a: [f64; 2],
        z: [f64; 2],
    ) -> [f64; 2] {
        let seen = [self.local.x[c[0]], self.local.x[c[1]]];
        if z == seen && self.purse[row] == 0.0 {
            return [0.0; 2];
        }
        let shift =
            |side: usize| self.memory.x.shift_within(c[side], seen[side], z[side], domain(self.h, c[side]));
        let planned = [z[0] - seen[0], z[1] - seen[1]];
        let slave = shift(1);
        if self.settings.locking == Locking::Single && self.held == Held::Slave {
            self.hold(Role::Master);
        }
        let shift =
            |side: usize| self.memory.x.shift_within(c[side], seen[side], z[side], domain(self.h, c[side]));
        let mut moved = [shift(0), slave];
        if (moved != planned || self.purse[row] != 0.0) && a[0] != 0.0 && a[1] != 0.0 {
            let side = |k: usize| Side { index: c[k], a: a[k], bounds: domain(self.h, c[k]) };
            balance(&self.memory.x, [side(0), side(1)], &mut moved, &mut self.purse[row]);
        }
        // As in memory of one's own: the master's part of the product first.
        self.moved(f, c[0], moved[0]);
        self.moved(f, c[1], moved[1]);
        moved
    }

    #[inline]
    fn set_block<F: PairTerm>(&mut self, f: &F, role: Role, range: Range<usize>, z: &[f64]) {
        if role == Role::Master || self.held != Held::Slave {
            self.hold(role);
        }
        for (c, &z) in range.zip(z) {
            let seen = self.local.x[c];
            if z != seen {
                self.memory.x.shift(c, seen, z);
                self.moved(f, c, z - seen);
            }
        }
        if self.settings.locking == Locking::Single {
            self.release();
        }
    }

    fn set_gathered<F: PairTerm>(&mut self, f: &F, coordinates: &[usize], masters: usize, z: &mut [f64]) {
        let memory = Arc::clone(&self.memory);
        if let Some(escrow) = &memory.escrow {
            self.moves.clear();
            let one = |(&c, z): (&usize, &f64)| Move {
                index: c,
                seen: self.local.x[c],
                new: *z,
                bounds: domain(self.h, c),
            };
            self.moves.extend(coordinates.iter().zip(z.iter()).map(one).filter(|m| m.new != m.seen));
            let share = escrow.make(&memory.x, &self.moves, &mut self.taken);
            for (&c, z) in coordinates.iter().zip(z.iter_mut()) {
                *z = share * (*z - self.local.x[c]);
            }
        } else {
            let (masters, slaves) = (0..masters, masters..coordinates.len());
            for part in [slaves, masters] {
                if part.start == 0 {
                    self.hold(Role::Master);
                }
                for k in part {
                    let (c, seen) = (coordinates[k], self.local.x[coordinates[k]]);
                    memory.x.shift(c, seen, z[k]);
                    z[k] -= seen;
                }
            }
        }
        match self.settings.upkeep {
            Upkeep::Replica(_) => {
                self.moves_since += 2;
                f.add_all_to_product(coordinates, z, &mut self.local.product);
            }
            _ => coordinates.iter().zip(z.iter()).for_each(|(&c, &delta)| self.moved(f, c, delta)),
        }
    }

    #[inline]
    fn end(&mut self) {
        self.release();
        if let Upkeep::Replica(every) = self.settings.upkeep
            && !self.settings.by_appointment
        {
            self.updates_since += 1;
            // Two coordinates an update; updates that move nothing hide nothing from the others.
            if self.moves_since >= 2 * every || self.updates_since >= MOST_IDLE * every {
                self.meet();
            }
        }
    }
}
