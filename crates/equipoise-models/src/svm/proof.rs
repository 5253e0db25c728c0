//! Bounds that hold in exact arithmetic: the primal of a model as it is written, a lower bound of the optimum.
//!
//! **Primal.** For the f64 `w` and `b` of the file, `1/2 |w|^2` and every `w'x_i` are taken with their errors, and so are
//! the charges `C_i` (real products of cost and weights). The upper end of
//!
//! ```text
//! svc, svr, one-class   1/2 |w|^2 + sum_i C_i loss_i
//! nu-svc                1/2 t^2 |w|^2 - t (nu N - sum_i c_i (1 - y_i (w'x_i + b))_+)      t >= 0, any f64
//! ```
//!
//! bounds the primal from above. A model of nu-svc is written divided by its margin; t puts the margin back, and the best t
//! is taken.
//!
//! **Dual.** Any multipliers beta~ within `C_i` and with the sums wanted give `sum_i gain_i(beta~_i) - 1/2 |X'beta~|^2`, and
//! no primal is below it (weak duality). Multipliers of a run are f64 within their bounds, whose sums miss what is wanted by
//! delta, which is known with its error. So the proof takes
//!
//! ```text
//! beta~ = beta but for one row:      beta~_j = beta_j - delta                     where row j has room for it
//! beta~ = beta but for its rooms:    beta~_i = beta_i -+ theta r_i                theta = |delta| / sum_i r_i in 0..=1
//! ```
//!
//! real numbers that nobody stores; `r_i` is how far row i can go in the direction wanted, and where the sums can be had at
//! all the rooms suffice. The lower end of the dual there is the bound. A model without a bias has no sum to meet.
//!
//! What overflows is not known, and then nothing is claimed: the bounds are infinite.
//!
//! Must not know: how model and multipliers were found.

use super::charge::times;
use super::dual::Task;
use super::{Kind, Loss};
use equipoise::enclosure::{self, Enclosure, Sum};
use equipoise::{Control, Pass};

/// The smallest size of a dual that a gap is relative to, where nothing better is known (see `spread`).
pub(super) const LEAST_SCALE: f64 = 1e-12;

/// The relative gap that is wanted, and the smallest size of a dual that it is relative to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Goal {
    pub(super) gap: f64,
    pub(super) least: f64,
}

impl Goal {
    /// The gap that is wanted at a dual.
    pub(super) fn absolute(self, dual: f64) -> f64 {
        self.gap * dual.abs().max(self.least)
    }

    /// Whether these bounds are near enough.
    pub(super) fn is_met(self, bounds: Bounds) -> bool {
        bounds.relative_gap(self.least) <= self.gap
    }
}

/// An upper bound of the primal of a model, a lower bound of the optimum; infinite where nothing is proven.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Bounds {
    pub(super) primal: f64,
    pub(super) dual: f64,
}

impl Bounds {
    pub(super) const NONE: Self = Self { primal: f64::INFINITY, dual: f64::NEG_INFINITY };

    /// The difference, from above.
    pub(super) fn gap(self) -> f64 {
        if !(self.primal.is_finite() && self.dual.is_finite()) {
            return f64::INFINITY;
        }
        Enclosure::difference(self.primal, self.dual).upper().max(0.0)
    }

    /// The same relative to the dual, or to the least size of one.
    pub(super) fn relative_gap(self, least: f64) -> f64 {
        let gap = self.gap();
        if gap == 0.0 || gap == f64::INFINITY {
            return gap;
        }
        (gap / self.dual.abs().max(least)).next_up()
    }
}

/// Where the multipliers of the proof are not those of the run.
#[derive(Debug, Clone, Copy)]
enum Shift {
    /// Nowhere in this class.
    None,
    /// One row has this multiplier.
    Row(usize, Enclosure),
    /// Every row goes this share of its room, up or down.
    Share(Direction, Enclosure),
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Direction {
    Up,
    Down,
}

impl Task<'_> {
    /// `w'x_i` of every row, with their errors.
    pub(super) fn enclosed_scores(&self, w: &[f64], control: &Control) -> Pass<Vec<Enclosure>> {
        self.of_rows(control, |i| self.rows.enclose_dot(i, w))
    }

    /// An upper bound of the primal at weights with these scores and a bias.
    pub(super) fn primal_above(
        &self,
        w: &[f64],
        scores: &[Enclosure],
        bias: f64,
        control: &Control,
    ) -> Pass<f64> {
        let square = enclosure::dot(w, w);
        let loss = self.enclosed_sum(control, |i| self.enclosed_loss(i, scores[i], bias))?;
        let primal = match self.kind {
            Kind::Svc | Kind::Svr => square.half() + loss,
            // rho is -b.
            Kind::OneClass => square.half() + loss + times(times(self.exact_total(control)?, self.nu), bias),
            Kind::NuSvc => {
                let gain = times(self.exact_total(control)?, self.nu) - loss;
                if !(gain.is_known() && square.is_known()) {
                    return Ok(f64::INFINITY);
                }
                let best = gain.centre() / square.centre();
                let t = if best > 0.0 && best.is_finite() { Enclosure::from(best) } else { 0.0.into() };
                let at = t * t * square.half() - t * gain;
                return Ok(if t.centre() == 0.0 { 0.0 } else { at.upper() });
            }
        };
        Ok(primal.upper())
    }

    /// What row i adds to the primal; `None` for nothing.
    fn enclosed_loss(&self, i: usize, score: Enclosure, bias: f64) -> Option<Enclosure> {
        let value = score + bias.into();
        let margin = |rho: f64| {
            let signed = if self.targets[i] > 0.0 { value } else { -value };
            Enclosure::from(rho) - signed
        };
        let miss = match self.kind {
            Kind::Svc | Kind::NuSvc => margin(1.0),
            Kind::Svr => (Enclosure::from(self.targets[i]) - value).abs() - self.epsilon.into(),
            Kind::OneClass => -value,
        };
        if miss.upper() <= 0.0 {
            return None;
        }
        let miss = miss.positive_part();
        let miss = if self.is_squared() { miss.square() } else { miss };
        let charge = self.charges.exact(i);
        // A row that weighs nothing adds nothing, however large its miss.
        if charge.upper() == 0.0 { None } else { Some(charge * miss) }
    }

    /// N: the charges, added up.
    pub(super) fn exact_total(&self, control: &Control) -> Pass<Enclosure> {
        self.enclosed_sum(control, |i| Some(self.charges.exact(i)))
    }

    /// A lower bound of the optimum from multipliers, minus infinity where nothing is proven.
    pub(super) fn dual_below(&self, beta: &[f64], control: &Control) -> Pass<f64> {
        let signs: &[f64] = if self.kind == Kind::NuSvc { &[1.0, -1.0] } else { &[0.0] };
        let mut cases: Vec<Vec<Shift>> = vec![Vec::new()];
        for &sign in signs {
            let Some(shifts) = self.shifts(beta, sign, control)? else { return Ok(f64::NEG_INFINITY) };
            let with = |case: &Vec<Shift>, shift: Shift| case.iter().copied().chain([shift]).collect();
            cases =
                cases.iter().flat_map(|case| shifts.iter().map(move |&shift| with(case, shift))).collect();
        }
        // Which way a sum misses may be open: the worst of the cases counts.
        let mut least = f64::INFINITY;
        for case in &cases {
            least = least.min(self.dual_at(beta, case, control)?.lower());
        }
        Ok(least)
    }

    /// Whether row i is one of those whose multipliers are added up: sign 0 is for all of them.
    fn is_of(&self, i: usize, sign: f64) -> bool {
        sign == 0.0 || self.targets[i] == sign
    }

    /// The multiplier of row i, within its bounds.
    fn clipped(&self, beta: &[f64], i: usize) -> f64 {
        let (low, high) = self.bounds(i);
        beta[i].max(low).min(high)
    }

    /// How far row i can go.
    fn room(&self, t: f64, i: usize, direction: Direction) -> Enclosure {
        let charge = self.charges.exact(i);
        let zero = Enclosure::from(0.0);
        let (low, high) = match self.kind {
            Kind::Svr => (-charge, charge),
            Kind::Svc | Kind::NuSvc if self.targets[i] <= 0.0 => (-charge, zero),
            Kind::Svc | Kind::NuSvc | Kind::OneClass => (zero, charge),
        };
        match direction {
            Direction::Up => high - t.into(),
            Direction::Down => Enclosure::from(t) - low,
        }
    }

    /// Whether row i can go as far as it likes.
    fn is_unlimited(&self, i: usize, direction: Direction) -> bool {
        self.is_squared() && self.caps.at(i) > 0.0 && (direction == Direction::Up) == (self.targets[i] > 0.0)
    }

    /// The ways in which multipliers of one sign may have to move to have the sum wanted; `None` where the sum cannot be
    /// had, or that is not known.
    fn shifts(&self, beta: &[f64], sign: f64, control: &Control) -> Pass<Option<Vec<Shift>>> {
        if !self.has_bias {
            return Ok(Some(vec![Shift::None]));
        }
        let of = |i: usize| self.is_of(i, sign);
        let sum = self.enclosed_sum(control, |i| of(i).then(|| self.clipped(beta, i).into()))?;
        let wanted = match self.kind {
            Kind::Svc | Kind::Svr => Enclosure::from(0.0),
            Kind::OneClass => times(self.exact_total(control)?, self.nu),
            Kind::NuSvc => times(times(self.exact_total(control)?, self.nu), 0.5 * sign),
        };
        let miss = sum - wanted;
        if !miss.is_known() {
            return Ok(None);
        }
        if miss.lower() == 0.0 && miss.upper() == 0.0 {
            return Ok(Some(vec![Shift::None]));
        }
        let roomiest = self.roomiest(beta, sign, control)?;
        let holds_it = roomiest.is_some_and(|j| {
            let t = self.clipped(beta, j);
            let has = |direction, most: f64| {
                let is_held = || self.room(t, j, direction).lower() >= most;
                most <= 0.0 || self.is_unlimited(j, direction) || is_held()
            };
            has(Direction::Down, miss.upper()) && has(Direction::Up, -miss.lower())
        });
        if self.team.any(holds_it) {
            let moved = |j: usize| Shift::Row(j, Enclosure::from(self.clipped(beta, j)) - miss);
            return Ok(Some(vec![roomiest.map_or(Shift::None, moved)]));
        }
        let mut shifts = Vec::new();
        for (direction, amount) in [(Direction::Down, miss), (Direction::Up, -miss)] {
            if amount.upper() > 0.0 {
                let found = (0..self.rows.len()).find(|&i| self.is_unlimited(i, direction));
                if self.team.any(found.is_some()) {
                    let moved = |j: usize| {
                        let (t, by) = (Enclosure::from(self.clipped(beta, j)), amount.positive_part());
                        Shift::Row(j, if direction == Direction::Up { t + by } else { t - by })
                    };
                    shifts.push(self.first_with(found).map_or(Shift::None, moved));
                    continue;
                }
                let term = |i: usize| of(i).then(|| self.room(self.clipped(beta, i), i, direction));
                let rooms = self.enclosed_sum(control, term)?;
                if !self.suffices(amount, rooms, sign, control)? {
                    return Ok(None);
                }
                let share = amount.positive_part().over(rooms);
                let share = Enclosure::between(share.lower().max(0.0), share.upper().min(1.0));
                shifts.push(if rooms.upper() == 0.0 { Shift::None } else { Shift::Share(direction, share) });
            }
        }
        Ok(Some(shifts))
    }

    /// Whether the rooms hold what is to be moved: shown by the numbers, or by the bounds of the kind.
    fn suffices(&self, amount: Enclosure, rooms: Enclosure, sign: f64, control: &Control) -> Pass<bool> {
        if !rooms.is_known() {
            return Ok(false);
        }
        match self.kind {
            // Bounds hold 0; nu is at most 1.
            Kind::Svc | Kind::Svr | Kind::OneClass => Ok(true),
            Kind::NuSvc if amount.upper() <= rooms.lower() => Ok(true),
            Kind::NuSvc => {
                let of_class =
                    self.enclosed_sum(control, |i| self.is_of(i, sign).then(|| self.charges.exact(i)))?;
                let wanted = times(times(self.exact_total(control)?, self.nu), 0.5);
                Ok((of_class - wanted).lower() >= 0.0)
            }
        }
    }

    /// The row whose multiplier is farthest from its bounds and from 0.
    fn roomiest(&self, beta: &[f64], sign: f64, control: &Control) -> Pass<Option<usize>> {
        let room = |i: usize| {
            let t = self.clipped(beta, i);
            let (low, high) = self.bounds(i);
            (t - low).min(high - t).min(if self.kind == Kind::Svr { t.abs() } else { f64::INFINITY })
        };
        let most = |i: usize, best: &mut Option<(f64, usize)>| {
            if self.is_of(i, sign) {
                let found = room(i);
                if best.is_none_or(|(most, _)| found > most) {
                    *best = Some((found, i));
                }
            }
        };
        let parts = self.totals(8, control, || None, most)?;
        let best = parts.into_iter().flatten().fold(None, |best: Option<(f64, usize)>, found| match best {
            Some(best) if best.0 >= found.0 => Some(best),
            _ => Some(found),
        });
        if !self.team.is_spread() {
            return Ok(best.map(|(_, i)| i));
        }
        // On ranks it is the row of one of them, the first of the best.
        let most = self.team.largest(best.map_or(f64::NEG_INFINITY, |(room, _)| room));
        Ok(self.first_with(best.filter(|(room, _)| *room >= most).map(|(_, i)| i)))
    }

    /// What the first rank has that has something; nothing on the others.
    fn first_with(&self, found: Option<usize>) -> Option<usize> {
        let (rank, ranks) = self.team.place();
        let own = if found.is_some() { (ranks - rank) as f64 } else { 0.0 };
        let first = self.team.largest(own);
        found.filter(|_| first == own)
    }

    /// The dual at the multipliers of the run, moved so.
    fn dual_at(&self, beta: &[f64], shifts: &[Shift], control: &Control) -> Pass<Enclosure> {
        let columns = self.rows.columns();
        let begin = || (vec![Sum::default(); columns], Sum::default());
        let add = |i: usize, (product, gains): &mut (Vec<Sum>, Sum)| {
            let t = self.clipped(beta, i);
            let class = usize::from(shifts.len() > 1 && self.targets[i] < 0.0);
            let moved = match shifts[class] {
                Shift::Row(j, moved) if j == i => Some(moved),
                Shift::Share(direction, share) => {
                    let by = share * self.room(t, i, direction);
                    let to = Enclosure::from(t);
                    Some(if direction == Direction::Up { to + by } else { to - by })
                }
                _ => None,
            };
            if let Some(moved) = moved {
                gains.add_enclosure(self.enclosed_gain(i, moved));
                self.rows.for_each(i, |c, value| product[c].add_enclosure(moved * value.into()));
            } else if t != 0.0 {
                gains.add_enclosure(self.enclosed_gain(i, t.into()));
                self.rows.enclose_add(i, t, product);
            }
        };
        let mut parts = self.totals(self.numbers_a_row(), control, begin, add)?.into_iter();
        let Some((mut product, mut gains)) = parts.next() else { return Ok(Enclosure::UNKNOWN) };
        for (share, more) in parts {
            product.iter_mut().zip(&share).for_each(|(total, share)| total.merge(share));
            gains.merge(&more);
        }
        self.across_ranks(&mut product);
        self.across_ranks(std::slice::from_mut(&mut gains));
        let mut square = Sum::default();
        control.in_parts(columns, 8, |part| {
            part.for_each(|c| square.add_enclosure(product[c].value().square()));
        })?;
        Ok(gains.value() - square.value().half())
    }

    /// What multiplier t of row i adds to the dual.
    fn enclosed_gain(&self, i: usize, t: Enclosure) -> Enclosure {
        match (self.kind, self.loss) {
            (Kind::Svc, Loss::Hinge) => {
                if self.targets[i] > 0.0 {
                    t
                } else {
                    -t
                }
            }
            (Kind::Svc, Loss::SquaredHinge) => {
                let size = if self.targets[i] > 0.0 { t } else { -t };
                let charge = self.charges.exact(i);
                if charge.upper() == 0.0 { 0.0.into() } else { size - t.half().square().over(charge) }
            }
            (Kind::Svr, _) => t * self.targets[i].into() - t.abs() * self.epsilon.into(),
            (Kind::NuSvc | Kind::OneClass, _) => 0.0.into(),
        }
    }
}
