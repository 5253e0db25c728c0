//! The search: a working set of assets, the exact active set on it, passes over all assets that prove and choose.
//!
//! - Given: returns, covariance, constraints, settings, a start. Returns: [`Found`], a point with bounds, for one target return
//!   after the other: each begins where the one before ended.
//! - Must not know: files, how results are shown.
//!
//! Inside, the objective is halved and divided by `s = (1 - delta)/(T - 1)`: G is `C'C + (rho/s) I`, and the mean return is
//! scaled to at most 1. Where nothing bends enough, a little more is added to the diagonal and taken back from round to
//! round (proximal points), so every system has one solution.

use std::borrow::Cow;
use std::time::Instant;

use equipoise::enclosure::Sum;
use equipoise::matrix::axpy;
use equipoise::{Control, Pass, Team};

use crate::active::{Kinks, Program, Row, Side, Stand, State};
use crate::passes::{Gram, product, transposed};
use crate::proof::{Ground, Products};
use crate::rows::{FullRow, RETURN, places, rows};
use crate::system::Curvature;
use crate::units::Units;
use crate::{Constraints, Covariance, Multipliers, Returns, Round, Settings, Turnover};

/// Up to so many assets all are at work from the beginning.
const FEW: usize = 400;
/// Assets at work to begin with, and the least that join at a time.
const FIRST: usize = 96;
/// Rounds that sharpen a point after the last asset has joined.
const REFINED: usize = 8;
/// What is added where that was too little: every system then has more of its digits, and a point takes more rounds.
const MORE_PROXIMAL: f64 = 1e3;
const MOST_PROXIMAL: f64 = 1e-6;
/// A price of turnover beyond so many times the slopes of the variance is first taken to be that.
const DEAR: f64 = 1e5;
/// What is then added to the diagonal once it is what it is, relative to it.
const DEAR_PROXIMAL: f64 = 1e-6;
/// How rows pull that are missed, as a multiple of the slopes there are; one after the other.
const PULLS: [f64; 3] = [1e4, 1e7, 1e10];

/// A point with bounds.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    pub(crate) w: Vec<f64>,
    pub(crate) variance: f64,
    pub(crate) objective: f64,
    pub(crate) bound: f64,
    pub(crate) relative_gap: f64,
    pub(crate) infeasibility: f64,
    pub(crate) multipliers: Multipliers,
}

/// How a search for one point ended.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Ended {
    Met,
    Stalled,
    /// The row that is missed most, and by how much.
    Missed(String, f64),
}

pub(crate) struct Engine<'a, 'o> {
    returns: &'a Returns,
    pub(crate) constraints: Constraints,
    settings: &'a Settings,
    control: &'a Control,
    observer: Option<&'o mut dyn FnMut(&Round)>,
    begun: Instant,
    team: Team,
    pub(crate) ground: Ground<'a>,
    gram: Gram,
    range: Range,
    which: Vec<usize>,
    is_in: Vec<bool>,
    w: Vec<f64>,
    sides: Vec<Side>,
    stands: Vec<Stand>,
    lambda: Vec<f64>,
    rows: Vec<FullRow>,
    /// `G w` on all assets.
    slopes: Vec<f64>,
    units: Units,
    pull: usize,
    /// The price that turnover is taken to have, where that is not its own.
    priced: Option<f64>,
    /// What was added to the diagonal before a dear turnover needed more.
    before_dear: Option<f64>,
    pub(crate) rounds: usize,
    pub(crate) point: usize,
    pub(crate) best: Option<Found>,
}

/// Which assets are at work, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Range {
    /// All, by their Gram matrix.
    Whole,
    /// Those that matter, by their Gram matrix.
    Some,
    /// All, by C: more may be free than there are days.
    Wide,
}

impl Range {
    fn of(assets: usize, days: usize, sides: &[Side]) -> Self {
        let free = sides.iter().filter(|side| side.is_free()).count();
        match () {
            () if assets <= FEW || assets <= days / 2 && assets <= 4 * FEW => Self::Whole,
            () if free > days => Self::Wide,
            () => Self::Some,
        }
    }
}

impl std::fmt::Debug for Engine<'_, '_> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Engine").field("which", &self.which.len()).finish_non_exhaustive()
    }
}

impl<'a, 'o> Engine<'a, 'o> {
    /// With room for a return row, which has no effect until it has a target.
    pub(crate) fn new(
        returns: &'a Returns,
        covariance: &'a Covariance,
        constraints: &Constraints,
        settings: &'a Settings,
        start: Option<&[f64]>,
        control: &'a Control,
        observer: Option<&'o mut dyn FnMut(&Round)>,
    ) -> Self {
        let (assets, days) = (returns.assets(), returns.days());
        let units = Units::of(covariance, returns);
        let rows = rows(constraints, returns, units.mean);
        let (w, sides) = places(constraints, start);
        let mut engine = Self {
            returns,
            constraints: constraints.clone(),
            settings,
            control,
            observer,
            begun: Instant::now(),
            team: Team::for_work(settings.threads, assets * days),
            ground: Ground::new(returns, covariance, constraints),
            gram: Gram::new(days),
            range: Range::of(assets, days, &sides),
            which: Vec::new(),
            is_in: vec![false; assets],
            stands: vec![Stand::Inside; rows.len() + usize::from(constraints.turnover.is_some())],
            lambda: Vec::new(),
            w,
            sides,
            rows,
            slopes: Vec::new(),
            units,
            pull: 0,
            priced: None,
            before_dear: None,
            rounds: 0,
            point: 0,
            best: None,
        };
        engine.set_target(constraints.target_return);
        engine
    }

    /// Asks for another return; the point stays where it is.
    pub(crate) fn set_target(&mut self, target: Option<f64>) {
        self.constraints.target_return = target;
        self.rows[1].low = target.map_or(f64::NEG_INFINITY, |target| target / self.units.mean);
        if target.is_none() {
            self.stands[1] = Stand::Inside;
        }
        self.best = None;
        self.pull = 0;
        self.units.proximal = self.before_dear.take().unwrap_or(self.units.proximal);
        let dear = DEAR * 2.0 * self.units.half * self.variance_slope();
        self.priced = self.constraints.turnover.as_ref().filter(|own| own.price > dear).map(|_| dear);
    }

    /// Searches until the gap is met, or no longer falls.
    pub(crate) fn search(&mut self) -> Pass<Ended> {
        if self.slopes.is_empty() {
            self.begin()?;
        }
        let mut refined = 0;
        loop {
            self.solve()?;
            let before = self.best.as_ref().map_or(f64::INFINITY, |best| best.relative_gap);
            self.judge()?;
            let missed = self.missed_most();
            let best = self.best.as_ref().expect("just judged");
            if best.relative_gap <= self.settings.gap && missed.is_none() {
                return Ok(Ended::Met);
            }
            let wanted = self.wanted();
            if !wanted.is_empty() {
                self.take(&wanted)?;
                continue;
            }
            let is_slow = best.relative_gap > 0.5 * before;
            if self.pays_less() {
                continue;
            }
            if let Some((row, by)) = missed {
                self.pull += 1;
                if self.pull < PULLS.len() || self.more_proximal() {
                    continue;
                }
                return Ok(Ended::Missed(row, by));
            }
            refined += 1;
            if refined >= REFINED || refined > 2 && is_slow {
                if !self.more_proximal() {
                    return Ok(Ended::Stalled);
                }
                refined = 0;
            }
        }
    }

    /// Adds more to the diagonal, where that may help.
    fn more_proximal(&mut self) -> bool {
        let more = MORE_PROXIMAL * self.units.proximal;
        let is_more = more > 0.0 && more <= MOST_PROXIMAL * self.units.diagonal;
        if is_more {
            self.units.proximal = more;
            self.pull = 0;
        }
        is_more
    }

    /// Whether turnover is dearer than it was taken to be, and not 0: then it is from now on as dear as it is.
    fn pays_less(&mut self) -> bool {
        let is_less = self.priced.is_some() && self.constraints.turnover_of(&self.w) > 0.0;
        if is_less {
            self.priced = None;
            // Beside such a price the variance does not bend at all: what is added to it bends enough.
            let least = DEAR_PROXIMAL * self.typical_slope() / self.size();
            if self.units.proximal < least {
                self.before_dear = Some(self.units.proximal);
                self.units.proximal = least;
            }
        }
        is_less
    }

    /// The constraints, with the price that turnover is taken to have. A bound at a lower price holds at the true one.
    fn taken(&self) -> Cow<'_, Constraints> {
        match (self.priced, &self.constraints.turnover) {
            (Some(price), Some(own)) => Cow::Owned(Constraints {
                turnover: Some(Turnover { price, ..own.clone() }),
                ..self.constraints.clone()
            }),
            _ => Cow::Borrowed(&self.constraints),
        }
    }

    /// The slopes at the start, and the first assets at work.
    fn begin(&mut self) -> Pass {
        let assets = self.returns.assets();
        if self.range != Range::Some {
            let all: Vec<usize> = (0..assets).collect();
            self.take(&all)?;
            return self.renew_slopes();
        }
        self.renew_slopes()?;
        // Who goes least with the market, and where a return is asked for, who earns most.
        let even = vec![1.0 / assets as f64; assets];
        let market = product(self.returns.centred(), &even, self.control)?;
        let with_market = transposed(self.returns.centred(), &market, &self.team, self.control)?;
        let mut order: Vec<usize> = (0..assets).collect();
        order.sort_by(|&a, &b| with_market[a].total_cmp(&with_market[b]));
        let mut first: Vec<bool> = self.sides.iter().map(|side| side.is_free()).collect();
        order[..FIRST].iter().for_each(|&j| first[j] = true);
        if self.constraints.target_return.is_some() {
            order.sort_by(|&a, &b| self.returns.mean()[b].total_cmp(&self.returns.mean()[a]));
            order[..FIRST / 3].iter().for_each(|&j| first[j] = true);
        }
        let first: Vec<usize> = (0..assets).filter(|&j| first[j]).collect();
        self.take(&first)
    }

    /// More assets at work.
    fn take(&mut self, assets: &[usize]) -> Pass {
        self.which.extend(assets);
        assets.iter().for_each(|&j| self.is_in[j] = true);
        if self.range == Range::Wide {
            return Ok(());
        }
        self.gram.append(self.returns.centred(), assets, &self.team, self.control)
    }

    /// `G w` from scratch.
    fn renew_slopes(&mut self) -> Pass {
        let products = self.products()?;
        self.set_slopes(&products);
        Ok(())
    }

    fn set_slopes(&mut self, products: &Products) {
        let (scale, ridge) = (f64::from(u8::from(self.units.has_gram)), self.units.ridge);
        self.slopes.clear();
        self.slopes.extend(products.values.iter().zip(&self.w).map(|(q, w)| scale * q + ridge * w));
    }

    fn products(&self) -> Pass<Products> {
        if self.range == Range::Whole && self.ground.holds_within.is_none() {
            let products = self.ground.products_by_gram(&self.w, &self.gram);
            // Where next to nothing is left of the variance, the rounding of the Gram matrix is too much of it.
            if products.is_sharp(0.1 * self.settings.gap) {
                return Ok(products);
            }
        }
        let theta = product(self.returns.centred(), &self.w, self.control)?;
        if self.ground.holds_within.is_some() {
            return self.ground.products_enclosed(&self.w, &theta, self.control);
        }
        let values = transposed(self.returns.centred(), &theta, &self.team, self.control)?;
        Ok(self.ground.products_by_pass(&self.w, &theta, values))
    }

    /// G of the assets at work.
    fn curvature(&self) -> Curvature<'_> {
        match self.range {
            _ if !self.units.has_gram => Curvature::None,
            Range::Wide => Curvature::Factored(self.returns.centred()),
            _ => Curvature::Gram { entries: &self.gram.entries, stride: self.gram.stride },
        }
    }

    /// The active set on the assets at work, around the point as it is.
    fn solve(&mut self) -> Pass {
        let (ridge, size) = (self.units.ridge + self.units.proximal, self.which.len());
        let mut state = State {
            w: self.which.iter().map(|&j| self.w[j]).collect(),
            sides: self.which.iter().map(|&j| self.sides[j]).collect(),
            stands: std::mem::take(&mut self.stands),
            multipliers: Vec::new(),
        };
        let mut within = vec![0.0; size];
        axpy(ridge, &state.w, &mut within);
        let all: Vec<usize> = (0..size).collect();
        self.curvature().add_product(&all, &state.w, &mut within);
        let linear: Vec<f64> =
            self.which.iter().zip(&within).map(|(&j, within)| self.slopes[j] - within).collect();
        let of = |list: &[f64]| -> Vec<f64> { self.which.iter().map(|&j| list[j]).collect() };
        let outside = |coefficients: &[f64]| {
            let mut sum = 0.0;
            if self.range == Range::Some {
                let all = coefficients.iter().zip(&self.w).zip(&self.is_in);
                all.filter(|(_, is_in)| !**is_in).for_each(|((a, w), _)| sum += a * w);
            }
            sum
        };
        let rows: Vec<Row> = self
            .rows
            .iter()
            .map(|row| {
                let out = outside(&row.coefficients);
                Row { coefficients: of(&row.coefficients), low: row.low - out, high: row.high - out }
            })
            .collect();
        let (lower, upper) = (of(&self.constraints.lower), of(&self.constraints.upper));
        let turnover = self.constraints.turnover.as_ref();
        let current = turnover.map(|turnover| of(&turnover.current));
        let kinks = turnover.zip(current.as_ref()).map(|(turnover, current)| {
            let moved = |j: usize| (self.w[j] - turnover.current[j]).abs();
            let out: f64 = (0..self.w.len()).filter(|&j| !self.is_in[j]).map(moved).sum();
            Kinks {
                at: current,
                price: self.priced.unwrap_or(turnover.price) / (2.0 * self.units.half),
                limit: turnover.limit - out,
            }
        });
        let program = Program {
            curvature: self.curvature(),
            ridge,
            linear: &linear,
            lower: &lower,
            upper: &upper,
            rows: &rows,
            kinks,
            elastic: PULLS[self.pull] * self.typical_slope(),
        };
        let solved = program.solve(&mut state, self.control);
        for (k, &j) in self.which.iter().enumerate() {
            (self.w[j], self.sides[j]) = (state.w[k], state.sides[k]);
        }
        (self.stands, self.lambda) = (state.stands, state.multipliers);
        self.stay_where_trades_are_rounding();
        self.settle_budget();
        solved.map(|_| ())
    }

    /// What a slope of the variance inside is like, at weights of the size that rows ask for.
    fn variance_slope(&self) -> f64 {
        self.units.diagonal * self.size()
    }

    /// The size of weights that rows ask for.
    fn size(&self) -> f64 {
        let own = &self.constraints;
        let asked = own.target_return.map_or(0.0, |target| target.abs() / self.units.mean);
        let held =
            own.turnover.iter().flat_map(|own| &own.current).fold(0.0, |most: f64, c| most.max(c.abs()));
        let size = own.budget.abs().max(asked).max(held);
        if size > 0.0 { size } else { 1.0 }
    }

    /// The same of the objective, turnover included.
    fn typical_slope(&self) -> f64 {
        let price = self.constraints.turnover.as_ref().map_or(0.0, |own| self.priced.unwrap_or(own.price));
        self.variance_slope() + price / (2.0 * self.units.half)
    }

    /// A dear trade that is no larger than the rounding of the budget is none: rows may be missed by so much, and what it
    /// costs may be more than all of the variance.
    fn stay_where_trades_are_rounding(&mut self) {
        let size = 8.0 * f64::EPSILON * self.size();
        let dear = DEAR * 2.0 * self.units.half * self.variance_slope();
        let Some(own) = self.constraints.turnover.as_ref().filter(|own| own.price > dear) else { return };
        for (w, c) in self.w.iter_mut().zip(&own.current) {
            if (*w - c).abs() <= size {
                *w = *c;
            }
        }
    }

    /// Puts what rounding left of the budget where there is room for it.
    fn settle_budget(&mut self) {
        if !self.stands[0].is_tight() {
            return;
        }
        for _ in 0..3 {
            let mut left = Sum::default();
            left.add(self.constraints.budget);
            self.w.iter().for_each(|w| left.add(-w));
            let lack = left.value().centre();
            let room = |j: usize| {
                let (lower, upper) = (self.constraints.lower[j], self.constraints.upper[j]);
                let near = (upper - self.w[j]).min(self.w[j] - lower);
                self.constraints
                    .turnover
                    .as_ref()
                    .map_or(near, |own| near.min((self.w[j] - own.current[j]).abs()))
            };
            let free = self.which.iter().copied().filter(|&j| self.sides[j].is_free());
            let Some(j) = free.max_by(|&a, &b| room(a).total_cmp(&room(b))) else { return };
            if lack == 0.0 || room(j) < lack.abs() {
                return;
            }
            self.w[j] += lack;
        }
    }

    /// A pass over all assets: objective and bound; the best point is kept.
    fn judge(&mut self) -> Pass {
        let products = self.products()?;
        self.set_slopes(&products);
        let multipliers = self.multipliers();
        let (variance, objective) = self.ground.objective(&self.w, &products, &self.constraints);
        let bound = self.ground.bound(&products, &multipliers, &self.taken());
        let infeasibility = self.constraints.missed(self.returns, &self.w);
        let known = self.best.as_ref().map_or(0.0, |best| best.bound);
        let bound = bound.max(known);
        let is_better = |best: &Found| {
            infeasibility < best.infeasibility && best.infeasibility > ALLOWED
                || objective <= best.objective && infeasibility <= ALLOWED.max(best.infeasibility)
        };
        if self.best.as_ref().is_none_or(is_better) {
            let (w, relative_gap) = (self.w.clone(), 0.0);
            self.best =
                Some(Found { w, variance, objective, bound, relative_gap, infeasibility, multipliers });
        }
        if let Some(best) = &mut self.best {
            best.bound = bound;
            best.relative_gap = self.ground.relative_gap(best.objective, bound);
        }
        self.rounds += 1;
        let (round, point, seconds) = (self.rounds, self.point, self.begun.elapsed().as_secs_f64());
        let assets = self.which.len();
        if let Some(observer) = &mut self.observer {
            observer(&Round { round, point, assets, seconds, objective, bound });
        }
        Ok(())
    }

    /// Derivatives of the optimum, in the unit of the objective.
    fn multipliers(&self) -> Multipliers {
        let unit = -2.0 * self.units.half;
        let tidy = |value: f64| if value == 0.0 { 0.0 } else { value };
        Multipliers {
            budget: tidy(unit * self.lambda[0]),
            target_return: tidy(unit * self.lambda[1] / self.units.mean),
            groups: (0..self.constraints.groups.len()).map(|k| tidy(unit * self.lambda[2 + k])).collect(),
            turnover: self.lambda.get(self.rows.len()).map_or(0.0, |lambda| tidy(unit * lambda)),
        }
    }

    /// The row that is missed most, where one is.
    fn missed_most(&self) -> Option<(String, f64)> {
        let infeasibility = self.best.as_ref().map_or(0.0, |best| best.infeasibility);
        if infeasibility <= ALLOWED {
            return None;
        }
        let miss = |row: &FullRow| {
            let value = equipoise::matrix::dot(&row.coefficients, &self.w);
            let scale = if row.name == RETURN { self.units.mean } else { 1.0 };
            (row.low - value).max(value - row.high).max(0.0) * scale
        };
        let mut all: Vec<(String, f64)> = self.rows.iter().map(|row| (row.name.clone(), miss(row))).collect();
        if let Some(turnover) = &self.constraints.turnover {
            let over = self.constraints.turnover_of(&self.w) - turnover.limit;
            all.push(("the limit of the turnover".into(), over.max(0.0)));
        }
        all.into_iter().max_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// Assets outside that would gain, those that would most.
    fn wanted(&self) -> Vec<usize> {
        if self.range != Range::Some {
            return Vec::new();
        }
        let mut slopes = self.slopes.clone();
        for (row, lambda) in self.rows.iter().zip(&self.lambda).filter(|(_, lambda)| **lambda != 0.0) {
            axpy(*lambda, &row.coefficients, &mut slopes);
        }
        let turnover = self.constraints.turnover.as_ref();
        let of_limit = self.lambda.get(self.rows.len()).copied().unwrap_or(0.0);
        let own_price = |own: &Turnover| self.priced.unwrap_or(own.price) / (2.0 * self.units.half);
        let price = turnover.map_or(0.0, |own| own_price(own) + of_limit);
        let gain = |j: usize| {
            let (w, lower, upper) = (self.w[j], self.constraints.lower[j], self.constraints.upper[j]);
            let current = turnover.map(|own| own.current[j]);
            let up = if current.is_some_and(|c| w < c) { -price } else { price };
            let down = if current.is_some_and(|c| w > c) { price } else { -price };
            let rise = if w < upper { -(slopes[j] + up) } else { 0.0 };
            let fall = if w > lower { slopes[j] + down } else { 0.0 };
            rise.max(fall)
        };
        let least = 1e-11 * slopes.iter().fold(price, |most, slope| most.max(slope.abs()));
        let mut asking: Vec<(f64, usize)> = (0..slopes.len())
            .filter(|&j| !self.is_in[j])
            .map(|j| (gain(j), j))
            .filter(|ask| ask.0 > least)
            .collect();
        asking.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        asking.truncate(FIRST.max(self.which.len() / 2));
        asking.into_iter().map(|(_, j)| j).collect()
    }

    /// The largest expected return within the limits, with a portfolio that has it; none where there is no end to it.
    pub(crate) fn largest_return(&self) -> Pass<Option<(f64, Vec<f64>)>> {
        let (lower, upper) = self.constraints.implied();
        if lower.iter().chain(&upper).any(|bound| bound.is_infinite()) {
            return Ok(None);
        }
        let assets = self.w.len();
        let without_target = |(k, row): (usize, &FullRow)| {
            let (low, high) = if k == 1 { (f64::NEG_INFINITY, f64::INFINITY) } else { (row.low, row.high) };
            Row { coefficients: row.coefficients.clone(), low, high }
        };
        let rows: Vec<Row> = self.rows.iter().enumerate().map(without_target).collect();
        let (w, sides) = places(&self.constraints, None);
        let mut state = State { w, sides, stands: Vec::new(), multipliers: Vec::new() };
        // Proximal points with less and less curvature: the last ones are corners.
        for power in [3, 4, 5, 6, 6] {
            let (before, ridge) = (state.w.clone(), 0.1_f64.powi(power));
            let linear: Vec<f64> =
                (0..assets).map(|j| -self.rows[1].coefficients[j] - ridge * before[j]).collect();
            let turnover = self.constraints.turnover.as_ref();
            let kinks = turnover.map(|own| Kinks { at: &own.current, price: 0.0, limit: own.limit });
            let (lower, upper) = (&self.constraints.lower, &self.constraints.upper);
            let (curvature, rows, elastic) = (Curvature::None, &rows, PULLS[0]);
            let program = Program { curvature, ridge, linear: &linear, lower, upper, rows, kinks, elastic };
            program.solve(&mut state, self.control)?;
        }
        Ok(Some((equipoise::enclosure::dot(&state.w, self.returns.mean()).centre(), state.w)))
    }
}

/// The largest miss of a row, relative to its own terms.
pub(crate) const ALLOWED: f64 = equipoise::coupling::ALLOWED_SHARE;
