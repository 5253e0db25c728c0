//! Sweeps of single coordinates against a purse: what they give to the row and take from it is owed, at a price.
//!
//! ```text
//! minimise over x_c in turn   f(x) + h(x) + lambda s + rho/2 s^2 ,   s = a'x - b ;   after each sweep  lambda += rho s
//! ```
//!
//! the method of multipliers. A visit costs one column, a move another one; nobody looks for a partner. Between rounds the
//! purse is empty: coordinates off their bounds give back what is owed, in proportion to their room, then others, cheapest
//! first.
//!
//! On the way the sweeps add up what the duality gap is at the running price `p = lambda + rho s`: with
//! `t_c = grad_c f + a_c p - d_c x_c` every coordinate adds `phi_c(x_c) + t_c x_c + phi_c*(-t_c) >= 0`, `phi_c` being `h_c` and the
//! square `d_c/2 z^2` that is its own. The sum is the gap, but for moves within the sweep.
//!
//! A coordinate that is free and costs nothing (the purse of a model without bias) fixes the price: then it is the purse, and rho
//! is 0.
//!
//! Several rows, none of which has a coordinate of another, have a purse and a price each; a sweep goes through one row after the
//! other, and the gap is that of all.
//!
//! Must not know: certificates, what comes after it. Reference: Hestenes (1969), Powell (1969); Hsieh et al. (2008).

use super::Fit;
use super::sweeps::{Row, Tally};
use crate::archive::Archive;
use crate::coupling::Members;
use crate::error::{Error, Result};
use crate::pair_step::scalar::{Unbounded, free_scalar};
use crate::problem::Problem;
use crate::selection::{Singles, Slopes};
use crate::separable::{ClosedForm, Piece, SeparableTerm, Values};
use crate::smooth::SmoothTerm;
use crate::solve::gears::Task;
use crate::solve::{Settings, Status};
use crate::state::{Iterate, State};

/// Coordinates between two looks at the clock.
const VISITS_PER_LOOK: u32 = 1024;
/// rho over the mean curvature: large enough for the price to follow within a few sweeps, small enough not to hold single
/// coordinates back. Those are held back the more the more of them are free: where all are, a third is enough. Sweeps to a gap
/// differ little between 0.03 and 0.3, on sparse and on dense data, but for those where all are free.
const SOFTNESS: f64 = 0.1;
const SOFTER: f64 = 0.3;
/// What may still be owed when the purse is emptied: a share of the rooms, or of what is added up; repairs take it out.
const LEFT: f64 = 1e-9;
const ROUNDING: f64 = 1e-14;
/// The share of what is added up that no repair makes smaller.
const NOTHING: f64 = 1e-15;
/// Coordinates whose slopes give the first price.
const SAMPLE: usize = 256;

/// Sweeps of single coordinates on one problem.
#[derive(Debug)]
pub(super) struct Purses<'r, F, H> {
    terms: Terms<'r, F, H>,
    purses: Vec<Purse>,
}

/// What all rows share.
#[derive(Debug)]
struct Terms<'r, F, H> {
    f: &'r F,
    row: Row<'r>,
    pieces: ClosedForm<'r, H>,
    step_size: f64,
    /// Whether the objective is known never to fall for ever.
    has_floor: bool,
}

/// That of one row.
#[derive(Debug)]
struct Purse {
    rhs: f64,
    selection: Singles,
    /// The coordinate that is the purse, where there is one.
    keeper: Option<usize>,
    /// Whether all other coordinates have curvature of their own.
    bends: bool,
    /// lambda.
    price: f64,
    /// Mean curvature over the mean of `a_c^2`; and rho, which goes by how many were free in the last sweep.
    curvature: f64,
    rho: f64,
    /// s.
    owed: f64,
    /// Coordinates that this sweep met off their bounds and kinks.
    free: usize,
}

/// What a sweep found.
#[derive(Debug, Clone, Copy)]
pub(super) struct Swept {
    /// Why it was ended early, if it was.
    pub(super) status: Option<Status>,
    /// The duality gap, as far as it was seen.
    pub(super) gap: f64,
    /// Coordinates that were met off their bounds and kinks.
    pub(super) free: usize,
}

impl<'r, F: SmoothTerm, H: SeparableTerm> Purses<'r, F, H> {
    /// `None` where a coordinate may run away, so that no gap can be told, and where f is a sum over coordinates: then the rows are
    /// all there is to solve.
    pub(super) fn new(problem: &'r Problem<F, H>, fit: &Fit<'r, H>, settings: &Settings) -> Option<Self> {
        let (f, row, pieces) = (problem.smooth(), fit.row, fit.pieces);
        if f.is_decomposable() {
            return None;
        }
        let has_floor = problem.view().has_floor();
        let terms = Terms { f, row, pieces, step_size: settings.step_size, has_floor };
        let rhs = problem.independent_coupling().rhs();
        let rows = fit.rows.iter().zip(rhs).enumerate();
        let purse = |(k, (members, rhs)): (usize, (&Members, &f64))| {
            Purse::new(&terms, members, *rhs, settings.seed.wrapping_add(k as u64))
        };
        let purses = rows.map(purse).collect::<Option<Vec<_>>>()?;
        Some(Self { terms, purses })
    }

    /// Shows an archive what sweeps to come depend on.
    pub(super) fn carry(&mut self, archive: &mut Archive<'_>) -> Result<()> {
        self.purses.iter_mut().try_for_each(|purse| {
            purse.selection.carry(archive)?;
            archive.number(&mut purse.price)?;
            archive.number(&mut purse.rho)?;
            archive.number(&mut purse.owed)
        })
    }

    /// Everyone comes back.
    pub(super) fn restart(&mut self) {
        self.purses.iter_mut().for_each(|purse| purse.selection.bring_all_back());
    }

    /// Gives the memory of the active sets back until all come back.
    pub(super) fn rest(&mut self) {
        self.purses.iter_mut().for_each(|purse| purse.selection.rest());
    }

    /// Coordinates that a sweep visits.
    pub(super) fn active(&self) -> usize {
        self.purses.iter().map(|purse| purse.selection.active()).sum()
    }

    /// The prices of the rows.
    pub(super) fn prices(&self) -> Vec<f64> {
        self.purses.iter().map(|purse| purse.price).collect()
    }

    /// Whether every coordinate has curvature of its own; a purse that is a coordinate needs none.
    pub(super) fn bend(&self) -> bool {
        self.purses.iter().all(|purse| purse.bends)
    }

    /// What giving back may cost.
    pub(super) fn debt(&self) -> f64 {
        self.purses.iter().map(|purse| 0.5 * purse.rho * purse.owed * purse.owed).sum()
    }

    /// What the objective would be if the purses were empty.
    pub(super) fn with_debt(&self, objective: f64) -> f64 {
        self.purses.iter().fold(objective, |sum, purse| sum + purse.price * purse.owed)
    }

    /// The prices to begin with.
    pub(super) fn first_prices(&mut self, state: &State) {
        self.purses.iter_mut().for_each(|purse| purse.first_price(&self.terms, state));
    }

    /// Takes what is owed from x as it is.
    pub(super) fn count(&mut self, x: &[f64]) {
        self.purses.iter_mut().for_each(|purse| purse.count(&self.terms, x));
    }

    /// One sweep over the active coordinates, after which the prices follow.
    pub(super) fn sweep(&mut self, state: &mut State, tally: &mut Tally, task: &Task<'_>) -> Result<Swept> {
        let mut all = Swept { status: None, gap: 0.0, free: 0 };
        for purse in &mut self.purses {
            let swept = purse.sweep(&self.terms, state, tally, task)?;
            all = Swept { status: swept.status, gap: all.gap + swept.gap, free: all.free + swept.free };
            if all.status.is_some() {
                break;
            }
        }
        Ok(all)
    }

    /// Empties the purses; whether what is left is nothing but the rounding of a sum.
    pub(super) fn give_back(&mut self, state: &mut State) -> bool {
        let mut are_empty = true;
        for purse in &mut self.purses {
            are_empty &= purse.give_back(&self.terms, state);
        }
        are_empty
    }
}

impl Purse {
    /// `None` where a coordinate may run away, so that no gap can be told.
    fn new<F: SmoothTerm, H: SeparableTerm>(
        terms: &Terms<'_, F, H>,
        members: &Members,
        rhs: f64,
        seed: u64,
    ) -> Option<Self> {
        let (mut keeper, mut bends) = (None, true);
        let mut sums = [0.0; 2];
        for c in members.iter() {
            let (piece, a, curvature) = (terms.pieces.piece(c), terms.row.at(c), terms.f.curvature(c));
            let is_bounded = piece.upper - piece.lower < f64::INFINITY;
            if !is_bounded && piece.l2 + terms.f.own_curvature(c) <= 0.0 {
                if keeper.is_some() || curvature > 0.0 || a == 0.0 || piece != Piece::FREE {
                    return None;
                }
                keeper = Some(c);
            }
            bends &= keeper == Some(c) || piece.l2 + terms.f.own_curvature(c) > 0.0;
            sums[0] += curvature;
            sums[1] += a * a;
        }
        let curvature = if sums[0] > 0.0 { sums[0] / sums[1] } else { 0.0 };
        let rho = if keeper.is_none() { SOFTNESS * curvature } else { 0.0 };
        if keeper.is_none() && !(rho > 0.0 && rho.is_finite()) {
            return None;
        }
        let selection = Singles::new(members.clone(), seed);
        Some(Self { rhs, selection, keeper, bends, price: 0.0, curvature, rho, owed: 0.0, free: 0 })
    }

    /// The price of the keeper; else the middle one of those at which coordinates off their bounds and kinks rest, or where there
    /// are none the mean of those that coordinates would take; from a sample.
    fn first_price<F: SmoothTerm, H: SeparableTerm>(&mut self, terms: &Terms<'_, F, H>, state: &State) {
        if let Some(c) = self.keeper {
            self.price = -terms.f.partial(c, &state.x, &state.product) / terms.row.at(c);
            return;
        }
        let members = self.selection.members();
        let ends = |c: usize| terms.pieces.piece(c).subdifferential(state.x[c]);
        let is_free = |c: usize| {
            let (lo, hi) = ends(c);
            lo == hi
        };
        let free = members.iter().filter(|&c| is_free(c)).count();
        let stride = if free > 0 { free } else { members.len() }.div_ceil(SAMPLE).max(1);
        let mut prices: Vec<f64> = Vec::new();
        for c in members.iter().filter(|&c| free == 0 || is_free(c)).step_by(stride) {
            let (a, (lo, hi)) = (terms.row.at(c), ends(c));
            if a != 0.0 {
                let g = terms.f.partial(c, &state.x, &state.product);
                prices.extend([-(g + lo) / a, -(g + hi) / a].into_iter().filter(|price| price.is_finite()));
            }
        }
        if prices.is_empty() {
            return;
        }
        self.price = if free > 0 {
            let middle = prices.len() / 2;
            *prices.select_nth_unstable_by(middle, f64::total_cmp).1
        } else {
            prices.iter().sum::<f64>() / prices.len() as f64
        };
    }

    /// Takes what is owed from x as it is.
    fn count<F: SmoothTerm, H: SeparableTerm>(&mut self, terms: &Terms<'_, F, H>, x: &[f64]) {
        if self.keeper.is_some() {
            self.owed = 0.0;
            return;
        }
        let sum: f64 = match (terms.row.0, self.selection.members()) {
            (Values::Uniform(a), Members::All(_)) => a * x.iter().sum::<f64>(),
            (Values::Each(a), Members::All(_)) => a.iter().zip(x).map(|(a, x)| a * x).sum(),
            (a, members) => members.iter().map(|c| a.at(c) * x[c]).sum(),
        };
        self.owed = sum - self.rhs;
    }

    /// One sweep over the active coordinates of this row, after which the price follows.
    fn sweep<F: SmoothTerm, H: SeparableTerm>(
        &mut self,
        terms: &Terms<'_, F, H>,
        state: &mut State,
        tally: &mut Tally,
        task: &Task<'_>,
    ) -> Result<Swept> {
        let mut gap = 0.0;
        self.free = 0;
        let mut look = VISITS_PER_LOOK;
        self.selection.begin();
        while let Some(c) = self.selection.next() {
            gap += self.visit(terms, state, tally, c)?;
            look -= 1;
            if look == 0 || tally.is_used_up() {
                look = VISITS_PER_LOOK;
                if let Some(status) = tally.over(task.limits) {
                    self.selection.sort_out();
                    return Ok(Swept { status: Some(status), gap, free: self.free });
                }
            }
        }
        self.price += self.rho * self.owed;
        if self.keeper.is_none() {
            let share = self.free as f64 / self.selection.members().len() as f64;
            self.rho = SOFTNESS * self.curvature / (1.0 + (1.0 / SOFTER - 1.0) * share);
        }
        Ok(Swept { status: tally.over(task.limits), gap, free: self.free })
    }

    /// Looks at coordinate c and moves it where it wants to move; its share of the gap before that.
    #[inline]
    fn visit<F: SmoothTerm, H: SeparableTerm>(
        &mut self,
        terms: &Terms<'_, F, H>,
        state: &mut State,
        tally: &mut Tally,
        c: usize,
    ) -> Result<f64> {
        tally.visits += 1;
        if self.keeper == Some(c) {
            return Ok(0.0);
        }
        let (a, x, piece) = (terms.row.at(c), state.x[c], terms.pieces.piece(c));
        let price = self.price + self.rho * self.owed;
        let slope = terms.f.partial(c, &state.x, &state.product) + a * price;
        let (lo, hi) = piece.subdifferential(x);
        self.free += usize::from(lo == hi);
        if !self.selection.wants(Slopes { rise: slope + hi, fall: slope + lo }) {
            return Ok(0.0);
        }
        let gap = share_of_gap(x, slope, terms.f.own_curvature(c), piece);
        let d = terms.f.curvature(c) / terms.step_size + self.rho * a * a;
        let z = match free_scalar(x, slope, d, piece) {
            Ok(z) => z,
            // Curvature that underflowed: nothing moves.
            Err(Unbounded) if terms.has_floor => x,
            Err(Unbounded) => return Err(Error::Unbounded { coordinates: vec![c] }),
        };
        if z != x {
            state.set(terms.f, c, z);
            self.owed += a * (z - x);
            tally.updates += 1;
        }
        Ok(gap)
    }

    /// Empties the purse; whether what is left is nothing but the rounding of a sum.
    fn give_back<F: SmoothTerm, H: SeparableTerm>(
        &mut self,
        terms: &Terms<'_, F, H>,
        state: &mut State,
    ) -> bool {
        if let Some(keeper) = self.keeper {
            let a = terms.row.at(keeper);
            let others = self.selection.members().iter().filter(|&c| c != keeper);
            let others: f64 = others.map(|c| terms.row.at(c) * state.x[c]).sum();
            state.x[keeper] = (self.rhs - others) / a;
            return false;
        }
        self.count(terms, &state.x);
        // First those off their bounds and kinks, each the same share of its room.
        let members = self.selection.members().clone();
        let (mut able, mut rooms, mut size) = (Vec::new(), 0.0, self.rhs.abs());
        for c in members.iter() {
            size += (terms.row.at(c) * state.x[c]).abs();
            let room = self.free_room(terms, c, state.x[c]);
            if room > 0.0 {
                rooms += room;
                able.push((c, room));
            }
        }
        if rooms > 0.0 && self.owed != 0.0 {
            let share = (self.owed.abs() / rooms).min(1.0);
            able.iter().for_each(|&(c, room)| self.give(terms, state, c, share * room));
            self.count(terms, &state.x);
        }
        if self.owed.abs() > LEFT * rooms && self.owed.abs() > ROUNDING * size {
            self.give_by_price(terms, state, &members);
        }
        self.owed.abs() <= NOTHING * size
    }

    /// How much of the row coordinate c can give back without meeting a bound or a kink; 0 where it sits at one.
    fn free_room<F: SmoothTerm, H: SeparableTerm>(&self, terms: &Terms<'_, F, H>, c: usize, x: f64) -> f64 {
        let (a, piece) = (terms.row.at(c), terms.pieces.piece(c));
        let (lo, hi) = piece.subdifferential(x);
        if lo != hi || a == 0.0 {
            return 0.0;
        }
        let end = self.end(a, x, piece);
        let room = (x - end).abs();
        // What has no end gives as much as it has.
        (if room < f64::INFINITY { room } else { x.abs().max(1.0) }) * a.abs()
    }

    /// Where coordinate c stops giving back: its bound, or 0 where h has a kink there.
    fn end(&self, a: f64, x: f64, piece: Piece) -> f64 {
        let falls = (self.owed > 0.0) == (a > 0.0);
        let bound = if falls { piece.lower } else { piece.upper };
        if piece.l1 > 0.0 && falls && x > 0.0 {
            bound.max(0.0)
        } else if piece.l1 > 0.0 && !falls && x < 0.0 {
            bound.min(0.0)
        } else {
            bound
        }
    }

    /// Coordinate c gives back so much of the row.
    fn give<F: SmoothTerm, H: SeparableTerm>(
        &self,
        terms: &Terms<'_, F, H>,
        state: &mut State,
        c: usize,
        amount: f64,
    ) {
        let (a, x, piece) = (terms.row.at(c), state.x[c], terms.pieces.piece(c));
        let end = self.end(a, x, piece);
        let step = amount / a.abs();
        let z = if step >= (x - end).abs() { end } else { x + step.copysign(end - x) };
        state.set(terms.f, c, z);
    }

    /// Everyone who has room gives, cheapest first.
    fn give_by_price<F: SmoothTerm, H: SeparableTerm>(
        &mut self,
        terms: &Terms<'_, F, H>,
        state: &mut State,
        members: &Members,
    ) {
        let sign = self.owed.signum();
        let mut offers: Vec<(f64, u32)> = Vec::new();
        for c in members.iter() {
            let (a, x, piece) = (terms.row.at(c), state.x[c], terms.pieces.piece(c));
            if a == 0.0 || x == self.end(a, x, piece) {
                continue;
            }
            let g = terms.f.partial(c, &state.x, &state.product);
            let (lo, hi) = piece.subdifferential(x);
            let falls = (sign > 0.0) == (a > 0.0);
            // What a unit less of the row costs.
            let cost = -sign * (g + if falls { lo } else { hi }) / a;
            offers.push((cost, c as u32));
        }
        offers.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        for (_, c) in offers {
            let c = c as usize;
            let left = self.owed * sign;
            if left <= 0.0 {
                break;
            }
            let before = state.x[c];
            self.give(terms, state, c, left);
            self.owed += terms.row.at(c) * (state.x[c] - before);
        }
        self.count(terms, &state.x);
    }
}

/// `phi(x) + t x + phi*(-t)` with `t = slope - d x` and `phi(z) = h(z) + d/2 z^2`.
#[inline]
fn share_of_gap(x: f64, slope: f64, own: f64, piece: Piece) -> f64 {
    if own == 0.0 && piece.l1 == 0.0 && piece.l2 == 0.0 {
        return if slope > 0.0 { slope * (x - piece.lower) } else { slope * (x - piece.upper) };
    }
    let phi = Piece { l2: piece.l2 + own, ..piece };
    let t = slope - own * x;
    (phi.value(x) + t * x + phi.conjugate(-t)).max(0.0)
}
