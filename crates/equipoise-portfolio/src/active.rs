//! The quadratic on a few assets, exactly, by an active set:
//!
//! ```text
//! minimise  1/2 w'Gw + g'w + kappa sum_j |w_j - c_j| + sum_k phi_k(a_k'w)   subject to   l <= w <= u ,
//! phi_k(v) = M max(low_k - v, 0, v - high_k) ,   and the same for the turnover sum_j |w_j - c_j| where it has a limit
//! ```
//!
//! - Given: G by its Gram matrix, rows, kinks, a point between l and u with a guess of what is tight there.
//! - Returns: the minimiser, and the multipliers: `lambda_k` of row k is a slope of `phi_k`.
//! - Must not know: data, which assets these are.
//!
//! Rows are elastic, so every point between l and u is a start, and no search for a feasible one comes first: a row that is
//! missed pulls with M. All that is not smooth is piecewise linear, with pieces for weights ([`Side`]) and rows ([`Stand`]).
//! A step goes to the minimiser over the free weights with the tight rows kept, or to the first end of a piece on the way,
//! which becomes tight; at a minimiser the tight thing that gains most is let go. The objective never rises. From the
//! optimum for one target return, with the return row pulling, the first steps are those of the critical line.

use equipoise::matrix::{axpy, dot};
use equipoise::{Control, Pass};

use crate::degenerate;
use crate::factor::Factor;
use crate::system::{Curvature, System};

/// What counts as a slope, as a share of the slopes there are.
const SLOPE: f64 = 1e-12;
/// Assets that leave a factor before it is made anew.
const LEFT: usize = 200;
/// With more assets than this every step asks whether to go on.
const FEW: usize = 100;
/// Most steps that put tight rows right at the end.
const POLISHED: usize = 4;

/// Where a weight is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Lower,
    /// Free, below its kink.
    Below,
    Kink,
    /// Free, above its kink, or without one.
    Above,
    Upper,
}

impl Side {
    pub(crate) fn is_free(self) -> bool {
        matches!(self, Self::Below | Self::Above)
    }
}

/// Where a row is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stand {
    /// Missed: too small.
    Short,
    /// Tight at its low end.
    Low,
    Inside,
    /// Tight at its high end.
    High,
    /// Missed: too large.
    Over,
}

impl Stand {
    pub(crate) fn is_tight(self) -> bool {
        matches!(self, Self::Low | Self::High)
    }
}

/// A row on the assets at work.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub(crate) coefficients: Vec<f64>,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

/// Weights held now, and what leaving them costs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kinks<'a> {
    pub(crate) at: &'a [f64],
    /// kappa.
    pub(crate) price: f64,
    /// The most that `sum_j |w_j - c_j|` may be.
    pub(crate) limit: f64,
}

/// The quadratic and its pieces.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Program<'a> {
    /// G but for what is added to its diagonal.
    pub(crate) curvature: Curvature<'a>,
    /// That; above 0.
    pub(crate) ridge: f64,
    pub(crate) linear: &'a [f64],
    pub(crate) lower: &'a [f64],
    pub(crate) upper: &'a [f64],
    pub(crate) rows: &'a [Row],
    pub(crate) kinks: Option<Kinks<'a>>,
    /// M.
    pub(crate) elastic: f64,
}

/// A point, and what is tight there.
#[derive(Debug, Clone, Default)]
pub(crate) struct State {
    pub(crate) w: Vec<f64>,
    pub(crate) sides: Vec<Side>,
    /// One a row, and that of the turnover last where there are kinks.
    pub(crate) stands: Vec<Stand>,
    pub(crate) multipliers: Vec<f64>,
}

/// What becomes tight, or is let go.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Event {
    Weight(usize, Side),
    Row(usize, Stand),
}

/// A solve under way.
pub(crate) struct Work<'a, 'b> {
    pub(crate) program: &'b Program<'a>,
    pub(crate) state: &'b mut State,
    system: System<'a>,
    control: &'b Control,
    pub(crate) free: Vec<usize>,
    /// `G w + g`.
    pub(crate) slopes: Vec<f64>,
    /// `a_k'w`, and the turnover.
    pub(crate) values: Vec<f64>,
    /// Weights and rows that were let go in vain since the last step that led somewhere.
    in_vain: Vec<Event>,
    left: usize,
}

impl Program<'_> {
    /// Goes to the minimiser from the point given; false where it gave up on the way.
    pub(crate) fn solve(&self, state: &mut State, control: &Control) -> Pass<bool> {
        let mut work = Work {
            program: self,
            state,
            system: System::new(Curvature::None, self.ridge, &[], control),
            control,
            free: Vec::new(),
            slopes: Vec::new(),
            values: Vec::new(),
            in_vain: Vec::new(),
            left: 0,
        };
        work.begin();
        if matches!(self.curvature, Curvature::Factored(_)) {
            work.guess(control)?;
        }
        let (mut polished, mut is_settled) = (0, false);
        let most = 50 * (self.linear.len() + self.rows.len()) + 1000;
        for turn in 0..most {
            if turn % 16 == 0 || self.linear.len() > FEW {
                control.check()?;
            }
            let direction = work.direction(is_settled);
            is_settled = false;
            if work.step(&direction) {
                continue;
            }
            if work.let_go() {
                continue;
            }
            // Rounding in the steps may have left rows a little off their ends, more than a little where H is nearly singular: once
            // more, for what is left alone.
            if polished == POLISHED || !work.is_off() {
                work.restore();
                work.mend();
                return Ok(true);
            }
            (polished, is_settled) = (polished + 1, true);
        }
        work.restore();
        work.mend();
        Ok(false)
    }

    /// The ends of the piece that a free weight is on.
    pub(crate) fn piece(&self, j: usize, side: Side) -> (f64, f64) {
        let (lower, upper) = (self.lower[j], self.upper[j]);
        match (self.kinks, side) {
            (Some(kinks), Side::Below) => (lower, kinks.at[j].min(upper)),
            (Some(kinks), _) => (kinks.at[j].max(lower), upper),
            (None, _) => (lower, upper),
        }
    }

    /// What the end of a piece is.
    pub(crate) fn end_of(&self, j: usize, side: Side, up: bool) -> Side {
        let (low, high) = self.piece(j, side);
        match (up, side) {
            (true, Side::Below) if high < self.upper[j] => Side::Kink,
            (false, Side::Above) if low > self.lower[j] => Side::Kink,
            (true, _) => Side::Upper,
            (false, _) => Side::Lower,
        }
    }

    /// The side that a weight is on once it goes up from where it is, or down.
    fn piece_beyond(&self, j: usize, from: Side, up: bool) -> Side {
        let Some(kinks) = self.kinks else { return Side::Above };
        match from {
            Side::Lower if self.lower[j] < kinks.at[j] => Side::Below,
            Side::Upper if self.upper[j] <= kinks.at[j] => Side::Below,
            Side::Kink if !up => Side::Below,
            _ => Side::Above,
        }
    }

    /// How many rows there are with the turnover.
    fn count(&self) -> usize {
        self.rows.len() + usize::from(self.kinks.is_some())
    }

    pub(crate) fn ends(&self, k: usize) -> (f64, f64) {
        match (self.rows.get(k), self.kinks) {
            (Some(row), _) => (row.low, row.high),
            (None, Some(kinks)) => (f64::NEG_INFINITY, kinks.limit),
            (None, None) => (f64::NEG_INFINITY, f64::INFINITY),
        }
    }
}

/// The sign of the turnover of a free weight.
fn sign(side: Side) -> f64 {
    if side == Side::Below { -1.0 } else { 1.0 }
}

impl Work<'_, '_> {
    /// Slopes, values and the factor at the point given; pieces that do not fit it are put right.
    pub(crate) fn begin(&mut self) {
        let program = self.program;
        let (n, State { w, sides, stands, multipliers }) = (program.linear.len(), &mut *self.state);
        for j in 0..n {
            let (lower, upper) = (program.lower[j], program.upper[j]);
            w[j] = w[j].clamp(lower, upper);
            let kink = program.kinks.map(|kinks| kinks.at[j]).filter(|c| lower < *c && *c < upper);
            sides[j] = match sides[j] {
                Side::Lower if lower.is_finite() => Side::Lower,
                Side::Upper if upper.is_finite() => Side::Upper,
                Side::Kink if kink.is_some() => Side::Kink,
                _ if program.kinks.is_some_and(|kinks| w[j] < kinks.at[j]) => Side::Below,
                _ => Side::Above,
            };
            match sides[j] {
                Side::Lower => w[j] = lower,
                Side::Upper => w[j] = upper,
                Side::Kink => w[j] = kink.unwrap_or(w[j]),
                Side::Below | Side::Above => {}
            }
        }
        stands.resize(program.count(), Stand::Inside);
        multipliers.resize(program.count(), 0.0);
        self.renew();
        let State { stands, .. } = &mut *self.state;
        for (k, stand) in stands.iter_mut().enumerate() {
            let ((low, high), value) = (program.ends(k), self.values[k]);
            let slack = |end: f64| 1e-12 * (1.0 + end.abs());
            *stand = match *stand {
                Stand::Low if (value - low).abs() <= slack(low) => Stand::Low,
                Stand::High if (value - high).abs() <= slack(high) => Stand::High,
                _ if value < low || value == low && low == high => Stand::Short,
                _ if value > high => Stand::Over,
                _ => Stand::Inside,
            };
        }
        self.keep_independent();
    }

    /// Everything that is kept along the way, anew.
    pub(crate) fn renew(&mut self) {
        let program = self.program;
        let w = &self.state.w;
        self.slopes = program.linear.to_vec();
        axpy(program.ridge, w, &mut self.slopes);
        let n = w.len();
        let all: Vec<usize> = (0..n).collect();
        program.curvature.add_product(&all, w, &mut self.slopes);
        self.renew_values();
        self.free = (0..n).filter(|&j| self.state.sides[j].is_free()).collect();
        self.system = System::new(program.curvature, program.ridge, &self.free, self.control);
        self.left = 0;
    }

    fn renew_values(&mut self) {
        let w = &self.state.w;
        self.values.clear();
        self.values.extend(self.program.rows.iter().map(|row| dot(&row.coefficients, w)));
        if let Some(kinks) = self.program.kinks {
            self.values.push(w.iter().zip(kinks.at).map(|(w, c)| (w - c).abs()).sum());
        }
    }

    /// Other multipliers where those of the tight rows leave something to gain, in vain as nothing moves.
    fn mend(&mut self) {
        let (slopes, price, largest) = self.prices();
        let gains = |j: usize| self.gain(j, slopes[j], price).is_some_and(|(gain, _)| gain > SLOPE * largest);
        if (0..slopes.len()).any(gains) {
            degenerate::mend(self.program, self.state, &self.slopes, &self.values);
        }
    }

    /// A row on the free weights.
    pub(crate) fn on_free(&self, k: usize) -> Vec<f64> {
        match self.program.rows.get(k) {
            Some(row) => self.free.iter().map(|&j| row.coefficients[j]).collect(),
            None => self.free.iter().map(|&j| sign(self.state.sides[j])).collect(),
        }
    }

    /// The slope of `phi_k` where the row is not tight.
    fn pull(&self, k: usize) -> f64 {
        match self.state.stands[k] {
            Stand::Short => -self.program.elastic,
            Stand::Over => self.program.elastic,
            _ => 0.0,
        }
    }

    /// To the minimiser over the free weights with the tight rows kept; sets the multipliers. Where they are those of the same tight
    /// rows already, only their changes are computed, which have more digits.
    pub(crate) fn direction(&mut self, is_settled: bool) -> Vec<f64> {
        let program = self.program;
        let mut right: Vec<f64> = self.free.iter().map(|&j| -self.slopes[j]).collect();
        let price = program.kinks.map_or(0.0, |kinks| kinks.price);
        if price > 0.0 {
            right.iter_mut().zip(&self.free).for_each(|(r, &j)| *r -= price * sign(self.state.sides[j]));
        }
        let (mut tight, mut columns) = (Vec::new(), Vec::new());
        for k in 0..self.state.stands.len() {
            if self.state.stands[k].is_tight() {
                let mut column = self.on_free(k);
                if is_settled {
                    axpy(-self.state.multipliers[k], &column, &mut right);
                } else {
                    self.state.multipliers[k] = 0.0;
                }
                self.system.half(&mut column);
                tight.push(k);
                columns.push(column);
            } else {
                let pull = self.pull(k);
                self.state.multipliers[k] = pull;
                if pull != 0.0 {
                    axpy(-pull, &self.on_free(k), &mut right);
                }
            }
        }
        self.system.half(&mut right);
        if !tight.is_empty() {
            let mut small = Factor::default();
            let mut lambda = Vec::with_capacity(tight.len());
            for (a, column) in columns.iter().enumerate() {
                let others = columns[..a].iter().map(|other| self.system.inner(other, column)).collect();
                small.push(others, self.system.inner(column, column));
                let (low, high) = program.ends(tight[a]);
                let end = if self.state.stands[tight[a]] == Stand::Low { low } else { high };
                lambda.push(self.system.inner(column, &right) - (end - self.values[tight[a]]));
            }
            small.forward(&mut lambda);
            small.backward(&mut lambda);
            for ((k, column), lambda) in tight.iter().zip(&columns).zip(lambda) {
                self.state.multipliers[*k] += lambda;
                axpy(-lambda, column, &mut right);
            }
        }
        self.system.whole(&mut right);
        right
    }

    /// Goes along a direction; true where something got in the way.
    fn step(&mut self, direction: &[f64]) -> bool {
        let program = self.program;
        let size = direction.iter().fold(0.0_f64, |most, d| most.max(d.abs()));
        let (mut length, mut blocked) = (1.0, None);
        for (&j, &d) in self.free.iter().zip(direction) {
            if d.abs() <= 1e-15 * size {
                continue;
            }
            let side = self.state.sides[j];
            let (low, high) = program.piece(j, side);
            let end = if d > 0.0 { high } else { low };
            let way = ((end - self.state.w[j]) / d).max(0.0);
            if way < length {
                (length, blocked) = (way, Some(Event::Weight(j, program.end_of(j, side, d > 0.0))));
            }
        }
        let rates: Vec<f64> = (0..self.values.len()).map(|k| self.rate(k, direction)).collect();
        for (k, &rate) in rates.iter().enumerate() {
            let (low, high) = program.ends(k);
            let towards = match (self.state.stands[k], rate > 0.0) {
                _ if rate.abs() <= 1e-14 * size => continue,
                (Stand::Short, true) | (Stand::Inside, false) => (low, Stand::Low),
                (Stand::Over, false) | (Stand::Inside, true) => (high, Stand::High),
                _ => continue,
            };
            let way = ((towards.0 - self.values[k]) / rate).max(0.0);
            if way < length {
                let stand = if low == high { Stand::Low } else { towards.1 };
                (length, blocked) = (way, Some(Event::Row(k, stand)));
            }
        }
        self.advance(direction, length);
        let Some(event) = blocked else { return false };
        if length > 1e-14 {
            self.in_vain.clear();
        }
        self.tighten(event, length <= 1e-14);
        true
    }

    fn rate(&self, k: usize, direction: &[f64]) -> f64 {
        let pairs = self.free.iter().zip(direction);
        match self.program.rows.get(k) {
            Some(row) => pairs.map(|(&j, d)| row.coefficients[j] * d).sum(),
            None => pairs.map(|(&j, d)| sign(self.state.sides[j]) * d).sum(),
        }
    }

    pub(crate) fn advance(&mut self, direction: &[f64], length: f64) {
        if length == 0.0 {
            return;
        }
        let program = self.program;
        let by: Vec<f64> = direction.iter().map(|d| length * d).collect();
        for (&j, by) in self.free.iter().zip(&by) {
            let (low, high) = program.piece(j, self.state.sides[j]);
            self.state.w[j] = (self.state.w[j] + by).clamp(low, high.max(low));
            self.slopes[j] += program.ridge * by;
        }
        program.curvature.add_product(&self.free, &by, &mut self.slopes);
        self.renew_values();
    }

    fn tighten(&mut self, event: Event, in_place: bool) {
        match event {
            Event::Weight(j, side) => {
                let place = self.free.iter().position(|&free| free == j).expect("only free weights move");
                let before = self.state.sides[j];
                self.free.remove(place);
                let is_kept = self.system.remove(place);
                self.left += 1;
                self.state.sides[j] = side;
                let end = match side {
                    Side::Lower => self.program.lower[j],
                    Side::Upper => self.program.upper[j],
                    _ => self.program.kinks.map_or(self.state.w[j], |kinks| kinks.at[j]),
                };
                let moved = end - self.state.w[j];
                if moved != 0.0 {
                    self.move_one(j, moved);
                }
                if in_place {
                    self.in_vain.push(Event::Weight(j, before));
                }
                if self.left >= LEFT || !is_kept {
                    self.renew();
                }
            }
            Event::Row(k, stand) => {
                let before = self.state.stands[k];
                self.state.stands[k] = stand;
                if in_place {
                    self.in_vain.push(Event::Row(k, before));
                }
            }
        }
    }

    /// Moves one weight by a rounding error.
    fn move_one(&mut self, j: usize, by: f64) {
        let program = self.program;
        self.state.w[j] += by;
        self.slopes[j] += program.ridge * by;
        program.curvature.add_product(&[j], &[by], &mut self.slopes);
        self.renew_values();
    }

    /// `p = G w + g + A'lambda` without the turnover, the price of that, and the largest slope there is.
    pub(crate) fn prices(&self) -> (Vec<f64>, f64, f64) {
        let program = self.program;
        let mut slopes = self.slopes.clone();
        for (row, lambda) in program.rows.iter().zip(&self.state.multipliers) {
            if *lambda != 0.0 {
                axpy(*lambda, &row.coefficients, &mut slopes);
            }
        }
        let of_limit = self.state.multipliers.get(program.rows.len()).copied().unwrap_or(0.0);
        let price = program.kinks.map_or(0.0, |kinks| kinks.price + of_limit);
        let largest =
            self.slopes.iter().chain(&slopes).fold(price.abs(), |most, slope| most.max(slope.abs()));
        (slopes, price, largest)
    }

    /// What a weight that is tight gains by being free, and on which side; none where it cannot move.
    pub(crate) fn gain(&self, j: usize, slope: f64, price: f64) -> Option<(f64, Side)> {
        let (program, side) = (self.program, self.state.sides[j]);
        if side.is_free() || program.lower[j] >= program.upper[j] {
            return None;
        }
        let up = program.piece_beyond(j, side, true);
        let down = program.piece_beyond(j, side, false);
        let rise = if side == Side::Upper { 0.0 } else { -(slope + price * sign(up)) };
        let fall = if side == Side::Lower { 0.0 } else { slope + price * sign(down) };
        Some(if rise > fall { (rise, up) } else { (fall, down) })
    }

    /// At a minimiser: lets go what gains most; false where nothing does.
    fn let_go(&mut self) -> bool {
        let program = self.program;
        let (slopes, price, largest) = self.prices();
        let (mut most, mut best) = (SLOPE * largest, None);
        for (j, slope) in slopes.iter().enumerate() {
            if let Some((gain, side)) = self.gain(j, *slope, price) {
                let event = Event::Weight(j, side);
                if gain > most && !self.in_vain.contains(&event) {
                    (most, best) = (gain, Some(event));
                }
            }
        }
        for k in 0..self.state.stands.len() {
            if !self.state.stands[k].is_tight() {
                continue;
            }
            let (low, high) = program.ends(k);
            let (lambda, elastic) = (self.state.multipliers[k], program.elastic);
            // The slopes that phi has there.
            let (least, largest) = match self.state.stands[k] {
                _ if low == high => (-elastic, elastic),
                Stand::Low => (-elastic, 0.0),
                _ => (0.0, elastic),
            };
            let (gain, stand) = if lambda > largest {
                (lambda - largest, if largest > 0.0 { Stand::Over } else { Stand::Inside })
            } else {
                (least - lambda, if least < 0.0 { Stand::Short } else { Stand::Inside })
            };
            let event = Event::Row(k, stand);
            if gain > most && !self.in_vain.contains(&event) {
                (most, best) = (gain, Some(event));
            }
        }
        match best {
            None => return false,
            Some(Event::Row(k, stand)) => self.state.stands[k] = stand,
            Some(Event::Weight(j, side)) => {
                self.state.sides[j] = side;
                self.system.push(&self.free, j);
                self.free.push(j);
            }
        }
        true
    }
}
