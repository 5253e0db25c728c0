//! Violating pairs: sweeps over an active set, with a pool of partners and a running multiplier.
//!
//! For one row and its coordinates, one at a time. Per unit of the row, the objective changes by `rise_i` when coordinate i gives
//! more to it and by `fall_i` when it gives less (`fall_i <= rise_i`, infinite at a bound). x is optimal where some
//! multiplier fits, `fall_i <= -lambda <= rise_i` for all i; a coordinate with `rise_i < -lambda` wants to rise, one
//! with `fall_i > -lambda` wants to fall. One of each makes a pair. Whoever finds no partner waits in a pool; pairs
//! and waiting coordinates pull lambda towards where the two sides balance; a lambda beyond all slopes is put between
//! them at the end of a sweep.
//!
//! Coordinates that sit still beyond the last sweep's extremes leave the active set until the next time all
//! come back. Knows the slopes it is told, not how they arise nor how a pair is solved.
//! Shrinking as in Joachims (1998) and Hsieh et al. (2008).

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use crate::archive::Archive;
use crate::coupling::Members;
use crate::error::{Error, Result};
use crate::selection::carry_members;

/// Coordinates that may wait for a partner on each side.
const POOL: usize = 16;
/// How fast the multiplier follows.
const PULL: f64 = 0.02;
/// Sweeps after which all coordinates come back.
const SWEEPS_PER_RETURN: u32 = 20;

/// How the objective changes per unit of the row when a coordinate gives more, or less, to it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Slopes {
    pub(crate) rise: f64,
    pub(crate) fall: f64,
}

/// Which way a coordinate wants to go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    Rise,
    Fall,
}

/// What to do with a coordinate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Choice {
    /// Nothing.
    Rest,
    /// Move it together with this one: it goes its way, the partner the other.
    Pair { way: Way, partner: usize },
}

/// A coordinate that waits, and its slope when last seen.
#[derive(Debug, Clone, Copy)]
struct Waiting {
    coordinate: u32,
    slope: f64,
}

#[derive(Debug)]
pub(crate) struct ViolatingPairs {
    members: Members,
    active: Vec<u32>,
    /// The coordinates before it were visited in this sweep.
    visited: usize,
    risers: Vec<Waiting>,
    fallers: Vec<Waiting>,
    pub(crate) multiplier: f64,
    /// Smallest rise and largest fall of the last sweep and of this one.
    last: Slopes,
    now: Slopes,
    sweeps: u32,
    rng: Xoshiro256PlusPlus,
}

impl ViolatingPairs {
    pub(crate) fn new(members: Members, seed: u64) -> Self {
        Self {
            active: members.iter().map(|c| c as u32).collect(),
            members,
            visited: 0,
            risers: Vec::with_capacity(POOL),
            fallers: Vec::with_capacity(POOL),
            multiplier: 0.0,
            last: Slopes { rise: f64::NEG_INFINITY, fall: f64::INFINITY },
            now: Slopes { rise: f64::INFINITY, fall: f64::NEG_INFINITY },
            sweeps: 0,
            rng: Xoshiro256PlusPlus::seed_from_u64(seed),
        }
    }

    /// Who may be visited at all.
    pub(crate) fn members(&self) -> &Members {
        &self.members
    }

    /// Leaves an evenly spaced sample of the coordinates, until all come back.
    pub(crate) fn thin_out(&mut self, most: usize) {
        let stride = self.active.len().div_ceil(most.max(1));
        if stride > 1 {
            self.active = self.active.iter().copied().step_by(stride).collect();
        }
    }

    /// Gives the memory of the active set back until the next [`restart`](Self::restart).
    pub(crate) fn rest(&mut self) {
        self.active = Vec::new();
    }

    /// Shows an archive who is active, who waits, and which draws come next.
    pub(crate) fn carry(&mut self, archive: &mut Archive<'_>) -> Result<()> {
        carry_members(&self.members, &mut self.active, archive)?;
        archive.count(&mut self.visited, self.active.len())?;
        for pool in [&mut self.risers, &mut self.fallers] {
            let length = archive.length(pool.len())?.min(POOL);
            pool.resize(length, Waiting { coordinate: 0, slope: 0.0 });
            for Waiting { coordinate, slope } in pool {
                archive.small(coordinate)?;
                archive.number(slope)?;
                if !self.members.contains(*coordinate) {
                    return Err(Error::BadSnapshot { what: "a coordinate that waits is in no such row" });
                }
            }
        }
        let (last, now) = (&mut self.last, &mut self.now);
        [&mut self.multiplier, &mut last.rise, &mut last.fall, &mut now.rise, &mut now.fall]
            .into_iter()
            .try_for_each(|number| archive.number(number))?;
        archive.small(&mut self.sweeps)?;
        archive.generator(&mut self.rng)
    }

    /// Everyone comes back, nobody waits: x was moved by someone else.
    pub(crate) fn restart(&mut self, multiplier: f64) {
        self.multiplier = multiplier;
        self.risers.clear();
        self.fallers.clear();
        self.bring_all_back();
    }

    fn bring_all_back(&mut self) {
        self.members.list(&mut self.active);
        self.last = Slopes { rise: f64::NEG_INFINITY, fall: f64::INFINITY };
    }

    /// The next coordinate of this sweep in random order; `None` at its end.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<usize> {
        let left = self.active.len() - self.visited;
        if left == 0 {
            self.end_sweep();
            return None;
        }
        let draw = (((self.rng.next_u64() >> 32) * left as u64) >> 32) as usize;
        self.active.swap(self.visited, self.visited + draw);
        self.visited += 1;
        Some(self.active[self.visited - 1] as usize)
    }

    fn end_sweep(&mut self) {
        self.visited = 0;
        self.sweeps += 1;
        self.straddle();
        self.last = self.now;
        self.now = Slopes { rise: f64::INFINITY, fall: f64::NEG_INFINITY };
        if self.sweeps.is_multiple_of(SWEEPS_PER_RETURN) || self.active.len() < 2 {
            self.bring_all_back();
        }
    }

    /// Puts the multiplier between the extremes of this sweep where they violate optimality and it lies beyond both: seen
    /// from there everyone wants to go the same way, and where few coordinates are left to pull it comes back too slowly.
    fn straddle(&mut self) {
        let Slopes { rise, fall } = self.now;
        let between = rise < -self.multiplier && -self.multiplier < fall;
        if rise < fall && !between && (rise + fall).is_finite() {
            self.multiplier = -0.5 * (rise + fall);
        }
    }

    /// What the coordinate just visited should do, given its slopes.
    #[inline]
    pub(crate) fn consider(&mut self, i: usize, slopes: Slopes) -> Choice {
        self.now.rise = if slopes.rise < self.now.rise { slopes.rise } else { self.now.rise };
        self.now.fall = if slopes.fall > self.now.fall { slopes.fall } else { self.now.fall };
        let (low, high) = if self.last.rise < self.last.fall {
            (self.last.rise, self.last.fall)
        } else {
            (self.last.fall, self.last.rise)
        };
        if slopes.rise > high && slopes.fall < low {
            self.drop_visited();
            return Choice::Rest;
        }
        if slopes.rise < -self.multiplier {
            self.look_for_partner(i, Way::Rise, slopes.rise)
        } else if slopes.fall > -self.multiplier {
            self.look_for_partner(i, Way::Fall, slopes.fall)
        } else {
            Choice::Rest
        }
    }

    /// Takes the coordinate just visited out of the active set.
    #[inline]
    fn drop_visited(&mut self) {
        self.visited -= 1;
        self.active.swap_remove(self.visited);
    }

    #[inline]
    fn look_for_partner(&mut self, i: usize, way: Way, slope: f64) -> Choice {
        let (sign, others) = match way {
            Way::Rise => (1.0, &self.fallers),
            Way::Fall => (-1.0, &self.risers),
        };
        if let Some(k) = most_urgent(others, sign) {
            let partner = others[k].coordinate as usize;
            if partner != i {
                return Choice::Pair { way, partner };
            }
        }
        let own = match way {
            Way::Rise => &mut self.risers,
            Way::Fall => &mut self.fallers,
        };
        let waiting = Waiting { coordinate: i as u32, slope };
        if let Some(known) = own.iter_mut().find(|known| known.coordinate == waiting.coordinate) {
            *known = waiting;
        } else if own.len() < POOL {
            own.push(waiting);
        } else if let Some(k) = most_urgent(own, sign)
            && sign * slope < sign * own[k].slope
        {
            own[k] = waiting;
        }
        self.multiplier += PULL * (-slope - self.multiplier);
        Choice::Rest
    }

    /// Tells how a pair went: the slopes that were paired and whether it moved; the partner's slope afterwards, if it
    /// can still go its way.
    #[inline]
    pub(crate) fn settle(
        &mut self,
        way: Way,
        partner: usize,
        paired: [f64; 2],
        moved: bool,
        after: Option<f64>,
    ) {
        if moved {
            self.multiplier += PULL * (-0.5 * (paired[0] + paired[1]) - self.multiplier);
        }
        let (sign, others) = match way {
            Way::Rise => (1.0, &mut self.fallers),
            Way::Fall => (-1.0, &mut self.risers),
        };
        let Some(k) = others.iter().position(|waiting| waiting.coordinate as usize == partner) else {
            return;
        };
        match after {
            Some(slope) if moved && sign * (slope + self.multiplier) > 0.0 => others[k].slope = slope,
            _ => {
                others.swap_remove(k);
            }
        }
    }
}

/// The waiting coordinate with the largest `sign * slope`: for fallers, who most wants to fall.
#[inline]
fn most_urgent(waiting: &[Waiting], sign: f64) -> Option<usize> {
    let mut best: Option<(usize, f64)> = None;
    for (k, entry) in waiting.iter().enumerate() {
        let urgency = sign * entry.slope;
        if best.is_none_or(|(_, most)| urgency > most) {
            best = Some((k, urgency));
        }
    }
    best.map(|(k, _)| k)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_multiplier_beyond_all_slopes_is_brought_between_them() {
        for off in [1e3, -1e3] {
            let mut selection = ViolatingPairs::new(Members::All(2), 1);
            selection.multiplier = off;
            // The first wants to rise, the second to fall; from afar both want the same.
            let slopes = [-1.0, 1.0].map(|slope| Slopes { rise: slope, fall: slope });
            let mut pairs = 0;
            for _ in 0..2 {
                while let Some(i) = selection.next() {
                    pairs += u32::from(selection.consider(i, slopes[i]) != Choice::Rest);
                }
            }
            assert!(pairs > 0 && selection.multiplier.abs() < 1.0, "{off}: {}", selection.multiplier);
        }
    }
}
