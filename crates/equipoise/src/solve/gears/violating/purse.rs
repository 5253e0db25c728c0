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
//! Must not know: certificates, what comes after it. Reference: Hestenes (1969), Powell (1969); Hsieh et al. (2008).

use super::sweeps::{Row, Tally};
use crate::error::{Error, Result};
use crate::pair_step::scalar::free_scalar;
use crate::problem::Problem;
use crate::selection::{Singles, Slopes};
use crate::separable::{ClosedForm, Piece, SeparableTerm};
use crate::smooth::SmoothTerm;
use crate::solve::gears::Task;
use crate::solve::{Archive, Settings, Status};
use crate::state::{Iterate, State};

/// Coordinates between two looks at the clock.
const VISITS_PER_LOOK: u32 = 1024;
/// rho over the mean curvature: large enough for the price to follow within a few sweeps, small enough not to hold single
/// coordinates back. Sweeps to a gap differ little between 0.03 and 0.3, on sparse and on dense data.
const SOFTNESS: f64 = 0.1;
/// What may still be owed when the purse is emptied: a share of the rooms, or of what is added up; repairs take it out.
const LEFT: f64 = 1e-9;
const ROUNDING: f64 = 1e-14;
/// Coordinates whose slopes give the first price.
const SAMPLE: usize = 256;

/// Sweeps of single coordinates on one problem.
#[derive(Debug)]
pub(super) struct Purse<'r, F, H> {
    f: &'r F,
    row: Row<'r>,
    pieces: ClosedForm<'r, H>,
    rhs: f64,
    step_size: f64,
    pub(super) selection: Singles,
    /// The coordinate that is the purse, where there is one.
    keeper: Option<usize>,
    /// lambda.
    pub(super) price: f64,
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

impl<'r, F: SmoothTerm, H: SeparableTerm> Purse<'r, F, H> {
    /// `None` where a coordinate may run away, so that no gap can be told, and where f is a sum over coordinates: then the row is
    /// all there is to solve.
    pub(super) fn new(
        problem: &'r Problem<F, H>,
        row: Row<'r>,
        pieces: ClosedForm<'r, H>,
        settings: &Settings,
    ) -> Option<Self> {
        let (f, n) = (problem.smooth(), problem.dimension());
        if f.is_decomposable() {
            return None;
        }
        let mut keeper = None;
        let mut sums = [0.0; 2];
        for c in 0..n {
            let (piece, a, curvature) = (pieces.piece(c), row.at(c), f.curvature(c));
            let is_bounded = piece.upper - piece.lower < f64::INFINITY;
            if !is_bounded && piece.l2 + f.own_curvature(c) <= 0.0 {
                if keeper.is_some() || curvature > 0.0 || a == 0.0 || piece != Piece::FREE {
                    return None;
                }
                keeper = Some(c);
            }
            sums[0] += curvature;
            sums[1] += a * a;
        }
        let rho = if keeper.is_none() && sums[0] > 0.0 { SOFTNESS * sums[0] / sums[1] } else { 0.0 };
        if keeper.is_none() && !(rho > 0.0 && rho.is_finite()) {
            return None;
        }
        let rhs = problem.independent_coupling().rhs()[0];
        let selection = Singles::new(n, settings.seed);
        let step_size = settings.step_size;
        Some(Self { f, row, pieces, rhs, step_size, selection, keeper, price: 0.0, rho, owed: 0.0, free: 0 })
    }

    /// Shows an archive what sweeps to come depend on.
    pub(super) fn carry(&mut self, archive: &mut Archive<'_>) -> Result<()> {
        self.selection.carry(archive)?;
        archive.number(&mut self.price)?;
        archive.number(&mut self.owed)
    }

    /// Everyone comes back, at this price.
    pub(super) fn restart(&mut self, price: f64) {
        if self.keeper.is_none() {
            self.price = price;
        }
        self.selection.bring_all_back();
    }

    /// What giving back may cost.
    pub(super) fn debt(&self) -> f64 {
        0.5 * self.rho * self.owed * self.owed
    }

    /// What the objective would be if the purse were empty.
    pub(super) fn with_debt(&self, objective: f64) -> f64 {
        objective + self.price * self.owed
    }

    /// The price of the keeper; else the middle one of those at which coordinates off their bounds and kinks rest, or where there
    /// are none the mean of those that coordinates would take; from a sample.
    pub(super) fn first_price(&mut self, state: &State) {
        if let Some(c) = self.keeper {
            self.price = -self.f.partial(c, &state.x, &state.product) / self.row.at(c);
            return;
        }
        let ends = |c: usize| self.pieces.piece(c).subdifferential(state.x[c]);
        let is_free = |c: usize| {
            let (lo, hi) = ends(c);
            lo == hi
        };
        let n = state.x.len();
        let free = (0..n).filter(|&c| is_free(c)).count();
        let stride = if free > 0 { free } else { n }.div_ceil(SAMPLE);
        let mut prices: Vec<f64> = Vec::new();
        for c in (0..n).filter(|&c| free == 0 || is_free(c)).step_by(stride) {
            let (a, (lo, hi)) = (self.row.at(c), ends(c));
            if a != 0.0 {
                let g = self.f.partial(c, &state.x, &state.product);
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
    pub(super) fn count(&mut self, x: &[f64]) {
        if self.keeper.is_some() {
            self.owed = 0.0;
            return;
        }
        let sum: f64 = match self.row.0 {
            crate::separable::Values::Uniform(a) => a * x.iter().sum::<f64>(),
            crate::separable::Values::Each(a) => a.iter().zip(x).map(|(a, x)| a * x).sum(),
        };
        self.owed = sum - self.rhs;
    }

    /// One sweep over the active coordinates, after which the price follows.
    pub(super) fn sweep(&mut self, state: &mut State, tally: &mut Tally, task: &Task<'_>) -> Result<Swept> {
        let mut gap = 0.0;
        self.free = 0;
        let mut look = VISITS_PER_LOOK;
        self.selection.begin();
        while let Some(c) = self.selection.next() {
            gap += self.visit(state, tally, c)?;
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
        Ok(Swept { status: tally.over(task.limits), gap, free: self.free })
    }

    /// Looks at coordinate c and moves it where it wants to move; its share of the gap before that.
    #[inline]
    fn visit(&mut self, state: &mut State, tally: &mut Tally, c: usize) -> Result<f64> {
        tally.visits += 1;
        if self.keeper == Some(c) {
            return Ok(0.0);
        }
        let (a, x, piece) = (self.row.at(c), state.x[c], self.pieces.piece(c));
        let price = self.price + self.rho * self.owed;
        let slope = self.f.partial(c, &state.x, &state.product) + a * price;
        let (lo, hi) = piece.subdifferential(x);
        self.free += usize::from(lo == hi);
        if !self.selection.wants(Slopes { rise: slope + hi, fall: slope + lo }) {
            return Ok(0.0);
        }
        let gap = share_of_gap(x, slope, self.f.own_curvature(c), piece);
        let d = self.f.curvature(c) / self.step_size + self.rho * a * a;
        let z = free_scalar(x, slope, d, piece).map_err(|_| Error::Unbounded { coordinates: vec![c] })?;
        if z != x {
            state.set(self.f, c, z);
            self.owed += a * (z - x);
            tally.updates += 1;
        }
        Ok(gap)
    }

    /// Empties the purse.
    pub(super) fn give_back(&mut self, state: &mut State) {
        if let Some(keeper) = self.keeper {
            let a = self.row.at(keeper);
            let others: f64 =
                (0..state.x.len()).filter(|&c| c != keeper).map(|c| self.row.at(c) * state.x[c]).sum();
            state.x[keeper] = (self.rhs - others) / a;
            return;
        }
        self.count(&state.x);
        // First those off their bounds and kinks, each the same share of its room.
        let rooms: f64 = (0..state.x.len()).map(|c| self.free_room(c, state.x[c])).sum();
        if rooms > 0.0 && self.owed != 0.0 {
            let share = (self.owed.abs() / rooms).min(1.0);
            for c in 0..state.x.len() {
                let room = self.free_room(c, state.x[c]);
                if room > 0.0 {
                    self.give(state, c, share * room);
                }
            }
            self.count(&state.x);
        }
        let size: f64 = state.x.iter().enumerate().map(|(c, x)| (self.row.at(c) * x).abs()).sum();
        if self.owed.abs() > LEFT * rooms && self.owed.abs() > ROUNDING * (size + self.rhs.abs()) {
            self.give_by_price(state);
        }
    }

    /// How much of the row coordinate c can give back without meeting a bound or a kink; 0 where it sits at one.
    fn free_room(&self, c: usize, x: f64) -> f64 {
        let (a, piece) = (self.row.at(c), self.pieces.piece(c));
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
    fn give(&mut self, state: &mut State, c: usize, amount: f64) {
        let (a, x, piece) = (self.row.at(c), state.x[c], self.pieces.piece(c));
        let end = self.end(a, x, piece);
        let step = amount / a.abs();
        let z = if step >= (x - end).abs() { end } else { x + step.copysign(end - x) };
        state.set(self.f, c, z);
    }

    /// Everyone who has room gives, cheapest first.
    fn give_by_price(&mut self, state: &mut State) {
        let sign = self.owed.signum();
        let mut offers: Vec<(f64, u32)> = Vec::new();
        for c in 0..state.x.len() {
            let (a, x, piece) = (self.row.at(c), state.x[c], self.pieces.piece(c));
            if a == 0.0 || x == self.end(a, x, piece) {
                continue;
            }
            let g = self.f.partial(c, &state.x, &state.product);
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
            self.give(state, c, left);
            self.owed += self.row.at(c) * (state.x[c] - before);
        }
        self.count(&state.x);
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
