//! The iterate x and the products that f keeps in step with it.
//!
//! A state knows how to move and how to rebuild itself; it does not know which pair comes next. [`State`] owns its
//! memory. [`Window`] is one thread's view of memory that several threads change at once (`shared/`). [`Momentum`] is
//! the point of an accelerated method at which gradients are taken. Each is an [`Iterate`], and the pair updates of
//! `solve/pairs.rs` are written once, for all.

mod momentum;
mod owned;
// Public for the crate that checks this module by itself, and for the lab, which measures it there.
#[allow(unreachable_pub, dead_code)]
pub(crate) mod shared;
mod window;

use std::hint::black_box;
use std::ops::Range;

pub(crate) use momentum::Momentum;
pub(crate) use owned::State;
pub(crate) use window::{Memory, Upkeep, Window, WindowSettings};

use crate::smooth::PairTerm;

/// What an update of a pair locks when several threads work on the graph's pairs (section 5.2 of the paper).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Locking {
    /// Both blocks, throughout.
    Double,
    /// The master while it is read and while it is moved, the slave while it is read and moved.
    Single,
    /// Nothing: atomic increments, and protocols that keep bounds without locks.
    #[default]
    None,
}

crate::named!(Locking, "locking":
    "double" => Self::Double,
    "single" => Self::Single,
    "none" => Self::None,
);

/// The two sides of an update (section 5.2 of the paper): the master is read first and moved last, the slave is read
/// and moved in between.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Master,
    Slave,
}

/// Numbers on a cache line.
const NUMBERS_PER_LINE: usize = 8;

/// An iterate that pairs of blocks are moved in.
///
/// An update calls `begin`, `fetch` for the master, `fetch` for the slave, one of the ways to move, and `end`. With
/// memory of one's own, `begin`, `fetch` and `end` do nothing.
pub(crate) trait Iterate {
    /// x; in shared memory only what was fetched in this update is fresh.
    fn x(&self) -> &[f64];
    /// The maintained product; the same holds.
    fn product(&self) -> &[f64];

    /// Reads consecutive coordinates where they are kept, to bring them near: it is not the read of an update.
    #[inline]
    fn touch(&self, range: Range<usize>) {
        for c in range.step_by(NUMBERS_PER_LINE) {
            black_box(self.x()[c]);
        }
    }

    /// An update of blocks i (master) and j (slave) begins; false when the run is being abandoned.
    #[inline]
    fn begin(&mut self, _i: usize, _j: usize) -> bool {
        true
    }

    /// Brings these coordinates, and what their partial derivatives read, up to date.
    #[inline]
    fn fetch<F: PairTerm>(&mut self, _f: &F, _role: Role, _coordinates: impl Iterator<Item = usize>) {}

    /// Moves one coordinate that no row binds.
    fn set<F: PairTerm>(&mut self, f: &F, c: usize, z: f64);

    /// Moves two coordinates, `[master, slave]`, along row `row` with coefficients a; returns by how much.
    fn exchange<F: PairTerm>(
        &mut self,
        f: &F,
        row: usize,
        c: [usize; 2],
        a: [f64; 2],
        z: [f64; 2],
    ) -> [f64; 2];

    /// Moves a block of consecutive coordinates without bounds.
    fn set_block<F: PairTerm>(&mut self, f: &F, role: Role, range: Range<usize>, z: &[f64]);

    /// Moves gathered coordinates, the first `masters` of them the master's, all or none or part of the way.
    fn set_gathered<F: PairTerm>(&mut self, f: &F, coordinates: &[usize], masters: usize, z: &mut [f64]);

    /// The update is over.
    #[inline]
    fn end(&mut self) {}
}
