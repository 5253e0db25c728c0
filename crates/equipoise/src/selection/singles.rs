//! Single coordinates: sweeps over those that may still move, in a random order of short stretches.
//!
//! A coordinate wants to move by its slopes: `rise < 0` up, `fall > 0` down (`fall <= rise`, infinite at a bound). One that
//! rests, and by more than anyone in the last sweep wanted to move, leaves until all come back.
//!
//! Neighbours in memory are visited one after the other, [`STRETCH`] at a time; which ones go together changes with every sweep.
//! A visit to a row far away would wait for memory more than it computes.
//!
//! Knows the slopes it is told, not how they arise. Shrinking as in Hsieh et al. (2008), stretches as in Ioannou et al. (2019).

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use crate::archive::Archive;
use crate::coupling::Members;
use crate::error::Result;
use crate::selection::{Slopes, carry_members};

/// Coordinates in a stretch.
const STRETCH: usize = 8;
/// In place of a coordinate that leaves.
const GONE: u32 = u32::MAX;

/// Who is visited next, and who is left out.
#[derive(Debug)]
pub(crate) struct Singles {
    members: Members,
    /// In ascending order.
    active: Vec<u32>,
    /// The stretches in the order of this sweep, how many are done, and the places of the one under way.
    order: Vec<u32>,
    done: usize,
    place: usize,
    end: usize,
    /// By how much stretches are shifted in this sweep.
    shift: usize,
    gone: usize,
    /// The strongest wish to rise and to fall in the last sweep and in this one.
    last: Slopes,
    now: Slopes,
    rng: Xoshiro256PlusPlus,
}

/// No wish at all.
const NONE: Slopes = Slopes { rise: 0.0, fall: 0.0 };
/// Nobody is beyond it.
const ALL: Slopes = Slopes { rise: f64::NEG_INFINITY, fall: f64::INFINITY };

impl Singles {
    pub(crate) fn new(members: Members, seed: u64) -> Self {
        Self {
            active: members.iter().map(|c| c as u32).collect(),
            members,
            order: Vec::new(),
            done: 0,
            place: 0,
            end: 0,
            shift: 0,
            gone: 0,
            last: ALL,
            now: NONE,
            rng: Xoshiro256PlusPlus::seed_from_u64(seed),
        }
    }

    /// Shows an archive, between sweeps, who is active and which draws come next.
    pub(crate) fn carry(&mut self, archive: &mut Archive<'_>) -> Result<()> {
        carry_members(&self.members, &mut self.active, archive)?;
        archive.number(&mut self.last.rise)?;
        archive.number(&mut self.last.fall)?;
        archive.generator(&mut self.rng)
    }

    /// Who may be visited at all.
    pub(crate) fn members(&self) -> &Members {
        &self.members
    }

    /// Coordinates that a sweep visits.
    pub(crate) fn active(&self) -> usize {
        self.active.len()
    }

    /// Everyone comes back.
    pub(crate) fn bring_all_back(&mut self) {
        self.members.list(&mut self.active);
        self.last = ALL;
    }

    /// Gives the memory of the active set back until all come back.
    pub(crate) fn rest(&mut self) {
        (self.active, self.order) = (Vec::new(), Vec::new());
    }

    /// Begins a sweep.
    pub(crate) fn begin(&mut self) {
        self.draw_order();
        (self.done, self.place, self.end, self.gone, self.now) = (0, 0, 0, 0, NONE);
    }

    fn draw_order(&mut self) {
        let draw = |rng: &mut Xoshiro256PlusPlus, below: usize| {
            (((rng.next_u64() >> 32) * below as u64) >> 32) as usize
        };
        self.shift = draw(&mut self.rng, STRETCH);
        let stretches = (self.active.len() + self.shift).div_ceil(STRETCH);
        self.order.clear();
        self.order.extend(0..stretches as u32);
        for k in (1..stretches).rev() {
            let other = draw(&mut self.rng, k + 1);
            self.order.swap(k, other);
        }
    }

    /// The next coordinate of this sweep; `None` at its end.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<usize> {
        while self.place == self.end {
            if self.done == self.order.len() {
                self.end_sweep();
                return None;
            }
            let start = self.order[self.done] as usize * STRETCH;
            self.done += 1;
            self.place = start.saturating_sub(self.shift);
            self.end = (start + STRETCH - self.shift).min(self.active.len());
        }
        self.place += 1;
        Some(self.active[self.place - 1] as usize)
    }

    fn end_sweep(&mut self) {
        self.last = self.now;
        self.sort_out();
    }

    /// Takes those who left out of the list; also where a sweep ended early.
    pub(crate) fn sort_out(&mut self) {
        if self.gone > 0 {
            self.active.retain(|c| *c != GONE);
            self.gone = 0;
        }
    }

    /// Whether the coordinate just visited is to move, by its slopes; takes it out where it rests firmly.
    #[inline]
    pub(crate) fn wants(&mut self, slopes: Slopes) -> bool {
        if slopes.rise < 0.0 {
            self.now.rise = if slopes.rise < self.now.rise { slopes.rise } else { self.now.rise };
            return true;
        }
        if slopes.fall > 0.0 {
            self.now.fall = if slopes.fall > self.now.fall { slopes.fall } else { self.now.fall };
            return true;
        }
        if slopes.rise > self.last.fall && slopes.fall < self.last.rise {
            self.active[self.place - 1] = GONE;
            self.gone += 1;
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sweep_visits_every_active_coordinate_once() {
        for dimension in [1, 2, 7, 8, 9, 50] {
            let mut singles = Singles::new(Members::All(dimension), 3);
            for _ in 0..20 {
                singles.begin();
                let mut seen: Vec<usize> = std::iter::from_fn(|| singles.next()).collect();
                seen.sort_unstable();
                assert_eq!(seen, (0..dimension).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn who_rests_beyond_all_wishes_leaves_until_all_come_back() {
        let mut singles = Singles::new(Members::All(20), 1);
        let sweep = |singles: &mut Singles| {
            singles.begin();
            let mut visits = 0;
            while let Some(c) = singles.next() {
                visits += 1;
                // At a lower bound: 5 wants to rise by 1, the others rest by their number.
                let rise = if c == 5 { -1.0 } else { c as f64 };
                singles.wants(Slopes { rise, fall: f64::NEG_INFINITY });
            }
            visits
        };
        // Nothing is known in the first sweep; in the second nobody wanted to fall, so that 0 is the bar.
        assert_eq!((sweep(&mut singles), singles.active()), (20, 20));
        assert_eq!((sweep(&mut singles), singles.active()), (20, 2));
        assert_eq!(sweep(&mut singles), 2);
        singles.bring_all_back();
        assert_eq!(sweep(&mut singles), 20);
    }
}
