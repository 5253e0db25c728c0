//! The coordinates that one proximal point looks at: those that answer to small changes of the dual point.
//!
//! Everything that the inner loop reads lies here, side by side, so that a Newton step touches the rows of the set
//! and nothing else. The set is kept in parts of consecutive coordinates (`part.rs`); a team works on them side by
//! side, and what they come to is added up in their order.
//!
//! What the coordinates left out answer is constant meanwhile; [`WorkingSet::missed`] counts those for which that
//! was wrong.

use super::ProximalNewton;
use super::newton_system::Free;
use super::part::Part;
use crate::control::Control;
use crate::coupling::Coupling;
use crate::matrix::axpy;
use crate::separable::SeparableTerm;
use crate::smooth::Factored;
use crate::team::{SHORT, Team};

/// Slope of the line that counts as zero, relative to the first.
const FLAT: f64 = 0.1;
/// Looks at the line in one search, and the length of a step beyond which nobody looks.
const MOST_LOOKS: usize = 30;
const FARTHEST: f64 = 1e6;
/// The share of a stretch at which a secant is no longer taken at its word.
const NARROW: f64 = 0.1;
/// Looks that ranks have at a time, and the first of them.
const AT_A_TIME: usize = 4;
const FIRST_LOOKS: [f64; AT_A_TIME] = [0.5, 0.8, 1.0, 1.5];

pub(super) struct WorkingSet {
    parts: Vec<Part>,
    /// Coordinates in every part but the last.
    size: usize,
    /// Coordinates of all ranks, and how many of them are looked at.
    dimension: usize,
    looked_at_by_all: usize,
    /// The multipliers when the set was made.
    first_lambda: Vec<f64>,
    /// `|z - x|^2` over all coordinates.
    pub(super) moved_squared: f64,
    /// `A z`.
    pub(super) rows_now: Vec<f64>,
    /// Coordinates that answer, of all ranks.
    pub(super) answering: usize,
    /// On ranks: by how much the rows give way to their multipliers, whether a rank wants to stop, how many coordinates answer
    /// otherwise than when the system was factored, and what those of the set lack of the optimum.
    gives: Option<Vec<f64>>,
    pub(super) is_halted: bool,
    pub(super) changed: usize,
    pub(super) lacking: f64,
}

impl WorkingSet {
    /// The set for the proximal point of x at the present dual point, in the memory of an earlier one; sets z and
    /// product of what is left out.
    pub(super) fn gather<H: SeparableTerm>(
        method: &ProximalNewton<'_, H>,
        memory: Vec<Part>,
        x: &[f64],
        z: &mut [f64],
        product: &mut [f64],
    ) -> Self {
        let (dimension, rows) = (x.len(), method.coupling.rows());
        let mut parts = memory;
        if parts.is_empty() {
            parts.extend(method.team.parts(dimension).map(|range| Part::new(range.start, rows)));
        }
        let mut set = Self {
            parts,
            size: method.team.part_size(dimension),
            dimension: method.dimension,
            looked_at_by_all: 0,
            first_lambda: method.lambda.clone(),
            moved_squared: 0.0,
            rows_now: vec![0.0; rows],
            answering: 0,
            gives: None,
            is_halted: false,
            changed: 0,
            lacking: f64::INFINITY,
        };
        let gather = |part: &mut Part, x: &[f64], z: &mut [f64], product: &mut [f64]| {
            part.gather(method, x, z, product);
        };
        if method.team.is_spread() {
            let numbers = |set: &mut Self| vec![set.looked_at() as f64];
            set.looked_at_by_all = set.across(method, dimension, x, z, product, gather, numbers)[0] as usize;
        } else {
            set.each(&method.team, dimension, x, z, product, gather);
            set.looked_at_by_all = set.looked_at();
        }
        set
    }

    /// The same on every rank: what all parts of all ranks add comes into the product, and numbers of the set are added up along
    /// with it.
    #[expect(clippy::too_many_arguments, reason = "those of `each`, and the numbers")]
    fn across<H: SeparableTerm>(
        &mut self,
        method: &ProximalNewton<'_, H>,
        items: usize,
        x: &[f64],
        z: &mut [f64],
        product: &mut [f64],
        act: impl Fn(&mut Part, &[f64], &mut [f64], &mut [f64]) + Sync,
        numbers: impl FnOnce(&mut Self) -> Vec<f64>,
    ) -> Vec<f64> {
        let mut sums = vec![0.0; product.len()];
        self.each(&method.team, items, x, z, &mut sums, act);
        sums.extend(numbers(self));
        method.team.total(&mut sums);
        let numbers = sums.split_off(product.len());
        axpy(1.0, &sums, product);
        numbers
    }

    /// The memory, for the next set.
    pub(super) fn into_memory(self) -> Vec<Part> {
        self.parts
    }

    /// Every part, of so many items in all, with its stretch of x and z; what they add to the product comes in in their order.
    fn each(
        &mut self,
        team: &Team,
        items: usize,
        x: &[f64],
        z: &mut [f64],
        product: &mut [f64],
        act: impl Fn(&mut Part, &[f64], &mut [f64], &mut [f64]) + Sync,
    ) {
        let rank = product.len();
        if let [part] = &mut self.parts[..] {
            return act(part, x, z, product);
        }
        let shares = self.parts.iter_mut().zip(x.chunks(self.size)).zip(z.chunks_mut(self.size));
        team.map_if(items >= SHORT, shares, |((part, x), z)| {
            let mut share = std::mem::take(&mut part.to_product);
            share.clear();
            share.resize(rank, 0.0);
            act(part, x, z, &mut share);
            part.to_product = share;
        });
        self.parts.iter().for_each(|part| axpy(1.0, &part.to_product, product));
    }

    /// How many coordinates are looked at.
    fn looked_at(&self) -> usize {
        self.parts.iter().map(|part| part.columns.len()).sum()
    }

    /// The coordinates of all ranks that are looked at.
    pub(super) fn looked_at_by_all(&self) -> usize {
        self.looked_at_by_all
    }

    /// The share of all coordinates that is looked at.
    pub(super) fn share(&self) -> f64 {
        self.looked_at_by_all as f64 / self.dimension as f64
    }

    /// The coordinates that answer, which are forgotten here.
    pub(super) fn take_free(&mut self) -> Vec<u32> {
        match &mut self.parts[..] {
            [only] => std::mem::take(&mut only.free.columns),
            parts => parts.iter().flat_map(|part| part.free.columns.iter().copied()).collect(),
        }
    }

    /// The coordinates that answer, part by part.
    pub(super) fn free(&self) -> Vec<&Free> {
        self.parts.iter().map(|part| &part.free).collect()
    }

    /// The answers at the present g, into z and the product; who answers; what moved away from x. On ranks, also whether one of
    /// them wants to stop.
    pub(super) fn answer<H: SeparableTerm>(
        &mut self,
        method: &ProximalNewton<'_, H>,
        x: &[f64],
        z: &mut [f64],
        product: &mut [f64],
        control: &Control,
    ) {
        let looked_at = self.looked_at();
        let answer = |part: &mut Part, x: &[f64], z: &mut [f64], product: &mut [f64]| {
            part.answer(method, x, z, product);
        };
        if !method.team.is_spread() {
            self.each(&method.team, looked_at, x, z, product, answer);
            return self.add_up();
        }
        let is_halted = f64::from(u8::from(control.halted().is_some()));
        let size = self.size;
        let numbers = self.across(method, looked_at, x, z, product, answer, |set| {
            set.add_up();
            let give = |row: usize| set.parts.iter().map(|part| part.free.give(method.coupling, row)).sum();
            let gives: Vec<f64> = (0..set.rows_now.len()).map(give).collect();
            let worth_while = looked_at >= SHORT;
            let shares = set.parts.iter_mut().zip(x.chunks(size));
            let is_near = method.is_near();
            let counted = method.team.map_if(worth_while, shares, |(part, x)| {
                let lacking = if is_near { part.lacking(method, x) } else { f64::INFINITY };
                (part.changed_answers() as f64, lacking)
            });
            let changed = counted.iter().map(|(changed, _)| changed).sum();
            let lacking = counted.iter().map(|(_, lacking)| lacking).sum();
            let own = [set.moved_squared, set.answering as f64, is_halted, changed, lacking];
            [&own, &set.rows_now[..], &gives].concat()
        });
        let (rows_now, gives) = numbers[5..].split_at(self.rows_now.len());
        self.rows_now.copy_from_slice(rows_now);
        self.gives = Some(gives.to_vec());
        self.moved_squared = numbers[0];
        self.answering = numbers[1] as usize;
        self.is_halted = numbers[2] > 0.0;
        (self.changed, self.lacking) = (numbers[3] as usize, numbers[4]);
    }

    /// Says that the system is factored for those who answer now.
    pub(super) fn remember_answers(&mut self) {
        self.parts.iter_mut().for_each(Part::remember_answers);
    }

    /// What the parts of this rank come to.
    fn add_up(&mut self) {
        self.moved_squared = self.parts.iter().map(|part| part.moved_squared).sum();
        self.rows_now.fill(0.0);
        self.parts.iter().for_each(|part| axpy(1.0, &part.rows_now, &mut self.rows_now));
        self.answering = self.parts.iter().map(|part| part.free.columns.len()).sum();
    }

    /// By how much a row of `A z` gives way to its multiplier.
    pub(super) fn give(&self, coupling: &Coupling, row: usize) -> f64 {
        match &self.gives {
            Some(gives) => gives[row],
            None => self.parts.iter().map(|part| part.free.give(coupling, row)).sum(),
        }
    }

    /// How g changes along the direction that the system holds.
    pub(super) fn look_along<H: SeparableTerm>(&mut self, method: &ProximalNewton<'_, H>) {
        // Every coordinate costs a column.
        let worth_while = self.looked_at() >= SHORT / 4;
        method.team.map_if(worth_while, self.parts.iter_mut(), |part| part.look_along(method));
    }

    /// The step along the direction at which the dual function is nearly flat.
    pub(super) fn line_search<H: SeparableTerm>(
        &self,
        method: &ProximalNewton<'_, H>,
        product: &[f64],
    ) -> f64 {
        let (du, dlambda) = method.system.solution();
        let (mut first, mut bend) = (0.0, 0.0);
        for (k, du) in du.iter().enumerate() {
            let weight = method.factored.weight(k);
            first += du * (method.u[k] / weight - product[k]);
            bend += du * du / weight;
        }
        for ((d, b), now) in dlambda.iter().zip(&method.rhs).zip(&self.rows_now) {
            first += d * (b - now);
        }
        if method.team.is_spread() {
            // Several looks at a time: of what a message costs its numbers are little.
            return flat_among(first, |at| self.slopes_at(method, first, bend, at));
        }
        nearly_flat(first, |t| self.slopes_at(method, first, bend, [t])[0])
    }

    /// The slopes of the line at each t.
    fn slopes_at<H: SeparableTerm, const N: usize>(
        &self,
        method: &ProximalNewton<'_, H>,
        first: f64,
        bend: f64,
        at: [f64; N],
    ) -> [f64; N] {
        let worth_while = self.looked_at() >= SHORT;
        let parts = method.team.map_if(worth_while, self.parts.iter(), |part| part.contributions(at));
        let mut answered: [f64; N] = std::array::from_fn(|k| parts.iter().map(|part| part[k]).sum());
        method.team.total(&mut answered);
        std::array::from_fn(|k| first + at[k] * bend - answered[k])
    }

    /// Goes t along the direction.
    pub(super) fn advance(&mut self, team: &Team, t: f64) {
        let worth_while = self.looked_at() >= 4 * SHORT;
        team.map_if(worth_while, self.parts.iter_mut(), |part| part.advance(t));
    }

    /// The largest change of any g since the set was made; the method's slopes must still be those of then.
    pub(super) fn travelled<H: SeparableTerm>(&self, method: &ProximalNewton<'_, H>, x: &[f64]) -> f64 {
        let shares = self.parts.iter().zip(x.chunks(self.size));
        let worth_while = self.looked_at() >= SHORT;
        let largest = method
            .team
            .map_if(worth_while, shares, |(part, x)| part.travelled(method, &self.first_lambda, x));
        method.team.largest(largest.into_iter().fold(0.0, |most, one| if one > most { one } else { most }))
    }

    /// How many of the coordinates left out would answer otherwise by now.
    pub(super) fn missed<H: SeparableTerm>(
        &self,
        method: &ProximalNewton<'_, H>,
        x: &[f64],
        z: &[f64],
    ) -> usize {
        let shares = self.parts.iter().zip(x.chunks(self.size)).zip(z.chunks(self.size));
        method
            .team
            .count(method.team.map(shares, |((part, x), z)| part.missed(method, x, z)).into_iter().sum())
    }
}

/// The same by a function that is looked at in several places at a time.
fn flat_among(first: f64, slopes: impl Fn([f64; AT_A_TIME]) -> [f64; AT_A_TIME]) -> f64 {
    let enough = FLAT * first.abs();
    let (mut low, mut at_low) = (0.0, first);
    let mut at = FIRST_LOOKS;
    let mut best = (1.0, f64::INFINITY);
    for _ in 0..MOST_LOOKS {
        let found = slopes(at);
        let mut high = None;
        for (t, slope) in at.into_iter().zip(found) {
            if slope.abs() < best.1 {
                best = (t, slope.abs());
            }
            if slope < 0.0 {
                (low, at_low) = (t, slope);
            } else if high.is_none() {
                high = Some((t, slope));
            }
        }
        if best.1 <= enough {
            break;
        }
        at = match high {
            None if low >= FARTHEST => break,
            None => [2.0, 4.0, 8.0, 16.0].map(|times| times * low),
            Some((high, at_high)) => {
                let share = (-at_low / (at_high - at_low)).clamp(NARROW, 0.9);
                let rest = 1.0 - share;
                // Where the line is long the place may be anywhere on it.
                let shares = if share > NARROW {
                    [0.5 * share, share, share + 0.25 * rest, share + 0.5 * rest]
                } else {
                    [1e-3, 1e-2, NARROW, 0.5]
                };
                shares.map(|share| low + (high - low) * share)
            }
        };
    }
    best.0
}

/// A t > 0 at which a rising function that is `first < 0` at 0 is small against that; 1 where it is small already.
fn nearly_flat(first: f64, slope: impl Fn(f64) -> f64) -> f64 {
    let enough = FLAT * first.abs();
    let (mut low, mut at_low, mut high) = (0.0, first, 1.0);
    let mut at_high = slope(high);
    let mut looks = 1;
    while at_high < -enough && high < FARTHEST && looks < MOST_LOOKS {
        (low, at_low) = (high, at_high);
        high *= 2.0;
        at_high = slope(high);
        looks += 1;
    }
    let (mut t, mut at_t) = (high, at_high);
    while at_t.abs() > enough && looks < MOST_LOOKS {
        let share = (-at_low / (at_high - at_low)).clamp(0.1, 0.9);
        t = low + (high - low) * share;
        at_t = slope(t);
        looks += 1;
        if at_t < 0.0 {
            (low, at_low) = (t, at_t);
        } else {
            (high, at_high) = (t, at_t);
        }
    }
    t
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rising lines with kinks, flat near a place that may be anywhere.
    #[test]
    fn a_flat_place_is_found_in_few_looks() {
        for place in [1e-7, 3e-3, 0.2, 0.7, 1.0, 1.3, 40.0, 3e4] {
            for steep in [1.0, 30.0] {
                let looks = std::cell::Cell::new(0);
                let slope = |t: f64| if t < place { t / place - 1.0 } else { steep * (t / place - 1.0) };
                let found = flat_among(slope(0.0), |at| {
                    looks.set(looks.get() + 1);
                    at.map(slope)
                });
                assert!(slope(found).abs() <= FLAT, "{place}: {found}");
                let is_usual = (0.2..1.5).contains(&place) && steep == 1.0;
                let most = if is_usual { 2 } else { 7 };
                assert!(looks.get() <= most, "{place}, {steep}: {} looks", looks.get());
            }
        }
        assert_eq!(flat_among(f64::NAN, |at| at.map(|_| f64::NAN)), 1.0);
    }
}
