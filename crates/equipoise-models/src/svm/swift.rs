//! Bounds that hold in exact arithmetic, from plain sums and the most that rounding can have done to them.
//!
//! With u the unit of rounding and `gamma_k = k u / (1 - k u)`, a sum or an inner product of k terms in any order is off by
//! at most `gamma_k` times the sum of the sizes of its terms. N being the largest norm of a row, m the most entries of one:
//!
//! ```text
//! scores      |w'x_i as computed - w'x_i|           <=  gamma_m |w| N
//! weights     |X'beta as computed - X'beta|         <=  gamma_n N sum_i |beta_i|                   =: delta
//! dual        1/2 |X'beta|^2                        <=  1/2 (|w| + delta)^2
//! sum         rows with room for what the sum of multipliers misses move by it, at a loss of that times max |y_j| + N |w|
//! ```
//!
//! No row is read again: this costs as much as adding up the multipliers. It is weaker than `proof`, which looks at every rounding,
//! by a factor of about n, and enough for any gap that is not down in the last digits. For the hinge and the tube.
//!
//! Must not know: how model and multipliers were found.

use super::Kind;
use super::dual::Task;
use super::evaluate::Evaluation;
use super::proof::Bounds;
use equipoise::enclosure;

/// Half the distance of 1 from the next number.
const UNIT: f64 = 0.5 * f64::EPSILON;
/// What products may lose where numbers are too small for f64.
const UNDERFLOW: f64 = 1e-290;
/// More than what rounding does to the bounds on rounding themselves.
const WIDER: f64 = 1.0 + 1e-6;
/// Terms of a sum beyond which nothing is claimed: `gamma` would no longer be small.
const MOST_TERMS: usize = 1 << 30;

/// `gamma_k`.
fn gamma(terms: usize) -> f64 {
    let share = (terms + 66) as f64 * UNIT;
    share / (1.0 - share)
}

/// What is added up over the rows.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    /// What the multipliers add to the dual, and its size.
    gain: f64,
    gain_size: f64,
    /// The multipliers and their sizes.
    total: f64,
    size: f64,
    charges: f64,
    longest: usize,
    /// How far the multipliers can go down and up, and the largest size of a target.
    rooms: [f64; 2],
    target: f64,
    is_within: bool,
}

impl Sums {
    fn merge(self, other: Self) -> Self {
        Self {
            gain: self.gain + other.gain,
            gain_size: self.gain_size + other.gain_size,
            total: self.total + other.total,
            size: self.size + other.size,
            charges: self.charges + other.charges,
            longest: self.longest.max(other.longest),
            rooms: [self.rooms[0] + other.rooms[0], self.rooms[1] + other.rooms[1]],
            target: self.target.max(other.target),
            is_within: self.is_within && other.is_within,
        }
    }

    /// In numbers, for another rank.
    fn words(&self) -> [f64; 10] {
        let [down, up] = self.rooms;
        let (longest, is_within) = (self.longest as f64, f64::from(u8::from(self.is_within)));
        [
            self.gain,
            self.gain_size,
            self.total,
            self.size,
            self.charges,
            longest,
            down,
            up,
            self.target,
            is_within,
        ]
    }

    fn of_words(words: &[f64]) -> Option<Self> {
        let &[gain, gain_size, total, size, charges, longest, down, up, target, is_within] = words else {
            return None;
        };
        let (longest, rooms, is_within) = (longest as usize, [down, up], is_within > 0.0);
        Some(Self { gain, gain_size, total, size, charges, longest, rooms, target, is_within })
    }
}

impl Task<'_> {
    /// Bounds of the model of plain numbers and of the optimum; `None` where this proves nothing.
    pub(super) fn swift_bounds(&self, beta: &[f64], plain: &Evaluation) -> Option<Bounds> {
        let n = self.samples;
        let fits = matches!(self.kind, Kind::Svc | Kind::Svr) && !self.is_squared() && n < MOST_TERMS;
        // What is claimed of w here is that it is X'beta.
        if !fits || !plain.is_product {
            return None;
        }
        let parts = self.team.map(self.team.parts(self.rows.len()), |rows| self.swift_sums(rows, beta));
        let own = parts.into_iter().reduce(Sums::merge)?;
        let all = self.team.lists(&own.words());
        let sums = all.iter().filter_map(|words| Sums::of_words(words)).reduce(Sums::merge)?;
        if !sums.is_within || sums.longest > MOST_TERMS {
            return None;
        }
        let largest = self.largest_norm * WIDER + 1e-140;
        let square = enclosure::dot(&plain.w, &plain.w).upper();
        let norm = square.sqrt() * WIDER;
        let of_score = gamma(sums.longest) * norm * largest + UNDERFLOW;
        let of_loss = gamma(n) * plain.loss + plain.rounding + 4.0 * UNIT * self.epsilon * sums.charges;
        let primal =
            (0.5 * square + plain.loss) * (1.0 + 8.0 * UNIT) + WIDER * (of_score * sums.charges + of_loss);
        let delta = gamma(n) * largest * sums.size + UNDERFLOW;
        let missed = if self.has_bias { sums.total.abs() + gamma(n) * sums.size + UNDERFLOW } else { 0.0 };
        // The sum may miss in either way.
        if missed > 0.9 * sums.rooms[0].min(sums.rooms[1]) {
            return None;
        }
        let steepness = sums.target + self.epsilon + largest * (norm + delta) + missed * largest * largest;
        let lost = delta * (norm + delta) + missed * steepness + gamma(n) * sums.gain_size + UNDERFLOW;
        let dual = sums.gain - 0.5 * square - 8.0 * UNIT * (sums.gain.abs() + square) - WIDER * lost;
        let bounds = Bounds { primal, dual };
        bounds.gap().is_finite().then_some(bounds)
    }

    fn swift_sums(&self, rows: std::ops::Range<usize>, beta: &[f64]) -> Sums {
        let mut sums = Sums { is_within: true, ..Sums::default() };
        let is_svr = self.kind == Kind::Svr;
        for i in rows {
            let (t, y, (low, high)) = (beta[i], self.targets[i], self.bounds(i));
            sums.charges += self.caps.at(i);
            sums.longest = sums.longest.max(self.rows.row_entries(i));
            sums.is_within &= low <= t && t <= high;
            if t != 0.0 {
                let tube = if is_svr { self.epsilon * t.abs() } else { 0.0 };
                sums.gain += y * t - tube;
                sums.gain_size += (y * t).abs() + tube;
                sums.total += t;
                sums.size += t.abs();
            }
            sums.rooms[0] += t - low;
            sums.rooms[1] += high - t;
            sums.target = sums.target.max(y.abs());
        }
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::svm::train::Plan;
    use crate::svm::{Samples, TrainSettings};
    use equipoise::Control;
    use equipoise::matrix::Rows;

    /// What `proof` shows lies within what is claimed here, and not far within.
    #[test]
    fn bounds_hold_and_are_close() {
        let (n, d) = (300, 7);
        let mut seed = 11_u64;
        let mut draw = || {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 40) as f64 / (1_u64 << 24) as f64
        };
        let values: Vec<f64> = (0..n * d).map(|_| 4.0 * draw() - 2.0).collect();
        let indices = (0..n).flat_map(|_| 0..d as u32).collect();
        let rows = Rows::new(d, (0..=n).map(|i| i * d).collect(), indices, Some(values)).expect("valid");
        let labels: Vec<f64> = (0..n).map(|_| if draw() < 0.4 { 1.0 } else { 0.0 }).collect();
        let samples = Samples { rows: &rows, labels: &labels, weights: None };
        for (kind, bias) in [(Kind::Svc, true), (Kind::Svc, false), (Kind::Svr, true), (Kind::Svr, false)] {
            let settings = TrainSettings { kind, bias, cost: 0.3, ..Default::default() };
            let plan = Plan::new(samples, &settings, None).expect("valid");
            let task = plan.single_task(0).expect("valid");
            let mut beta: Vec<f64> = (0..n)
                .map(|i| {
                    let (low, high) = task.bounds(i);
                    low + (high - low) * draw().clamp(0.2, 0.8)
                })
                .collect();
            if bias {
                // Off by a little, as sums of a run are.
                for _ in 0..1000 {
                    let off = beta.iter().sum::<f64>() / n as f64;
                    for (i, beta) in beta.iter_mut().enumerate() {
                        let (low, high) = task.bounds(i);
                        *beta = (*beta - off).clamp(low, high);
                    }
                }
            }
            let control = Control::unlimited();
            let plain = task.evaluate(&beta, &control).expect("not ended");
            let swift = task.swift_bounds(&beta, &plain).expect("bounds");
            let dual = task.dual_below(&beta, &control).expect("not ended");
            let scores = task.enclosed_scores(&plain.w, &control).expect("not ended");
            let primal = task.primal_above(&plain.w, &scores, plain.bias, &control).expect("not ended");
            let name = format!("{kind:?} {bias}: {swift:?} {primal} {dual}");
            assert!(swift.primal >= primal && swift.dual <= dual, "{name}");
            assert!(swift.primal - primal <= 1e-9 * primal && dual - swift.dual <= 1e-9 * primal, "{name}");
        }
    }
}
