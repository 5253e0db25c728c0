//! Costs so large that multipliers of double precision cannot carry them.
//!
//! Multipliers reach `C_i`, and `w = X'beta` is a difference of such numbers: where `C_i |x_i|^2` is more
//! than about 1e11 times the size of a target, rounding is all that is left of a margin, and no number of
//! sweeps helps. So the fit is made with smaller charges (all of them in proportion, or only what is above a
//! ceiling cut off), where it is well behaved, and its model and multipliers are then taken as a guess for
//! the charges as they are:
//!
//! ```text
//! primal   1/2 |w|^2 + sum_i C_i loss_i      at the model found, and, where w separates the classes, at the
//! smallest multiple of it that
//!                                            leaves no miss at all
//! dual     sum_i gain_i(s beta_i) - s^2/2 |X'beta|^2     at the s that makes it largest within all C_i
//! ```
//!
//! The dual falls short by `s^2/2 |X'beta|^2`, which conjugate gradients make smaller (see `cancel`). Both
//! are bounds whoever found the guess, and `proof` shows them in exact arithmetic: the guess decides how near
//! they come to each other, never whether they hold.
//!
//! Must not know: how a fit is made.

use super::Kind;
use super::dual::Task;
use super::judge::Proven;
use super::proof::Bounds;
use equipoise::matrix::dot;
use equipoise::{Control, Pass};

/// The largest charge times the largest squared norm of a row, in sizes of a target, that a fit is made with.
const STEEPEST: f64 = 7e10;
/// The same of guesses: the first is easily found, the second is nearer to what large charges ask for.
const OF_GUESSES: [f64; 2] = [1e8, STEEPEST];
/// The same at which rounding leaves nothing to be gained by a fit with the charges as they are: `X'beta` is off by about
/// `C |x| 1e-16` a row, and the dual by the square of that, while the weights are those of a dual point that has no such sum.
const HOPELESS: f64 = 1e24;
/// Units of the last digit by which a model is made larger than what leaves no miss, each time 16 times as
/// many.
const ROUNDINGS: [f64; 4] = [4.0, 64.0, 1024.0, 16384.0];

/// What a fit with the charges as they are has to expect.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Steepness {
    /// The largest charges that guesses are made with, smallest first.
    pub(super) ceilings: [f64; 2],
    /// The largest charge.
    pub(super) largest: f64,
    /// Whether every charge is above it.
    pub(super) is_everywhere: bool,
    /// Whether all charges are one number.
    pub(super) is_uniform: bool,
    /// Whether charges are too large by so much that only cutting them off makes sense.
    pub(super) is_hopeless: bool,
}

impl Task<'_> {
    /// How charges have to be made smaller, if some are too large.
    pub(super) fn steepness(&self) -> Option<Steepness> {
        let scale = match self.kind {
            Kind::Svc => 1.0,
            Kind::Svr => self.targets.iter().fold(self.epsilon, |most, y| most.max(y.abs())),
            Kind::NuSvc | Kind::OneClass => return None,
        };
        let [low, ceiling] = OF_GUESSES.map(|most| most * scale / self.largest_norm / self.largest_norm);
        let (mut largest, mut smallest) = (0.0_f64, f64::INFINITY);
        for &cap in self.caps.as_slice().iter().filter(|cap| **cap > 0.0) {
            (largest, smallest) = (largest.max(cap), smallest.min(cap));
        }
        let is_hopeless = largest / ceiling > HOPELESS / STEEPEST;
        let (is_everywhere, is_uniform) = (smallest >= ceiling, smallest == largest);
        let ceilings = [low, ceiling];
        let steepness = Steepness { ceilings, largest, is_everywhere, is_uniform, is_hopeless };
        (low.is_normal() && largest > ceiling).then_some(steepness)
    }

    /// What is proven for these charges of a model and of multipliers that were found with smaller ones, as far as the
    /// control allows; `None` where there was no time for anything.
    pub(super) fn lifted(
        &self,
        (w, bias): (&[f64], f64),
        beta: Option<&[f64]>,
        control: &Control,
    ) -> Option<Proven> {
        // No multipliers at all prove that nothing is below 0.
        let bounds = Bounds { dual: 0.0, ..Bounds::NONE };
        let mut best = Proven { weights: w.to_vec(), bias, bounds };
        self.lift_model(w.to_vec(), bias, &mut best, control).ok()?;
        let mut sharpen = || -> Pass {
            for (weights, bias) in self.without_misses(w) {
                self.lift_model(weights, bias, &mut best, control)?;
            }
            if let Some(beta) = beta {
                self.lift_multipliers(beta, &mut best, control)?;
                self.lift_multipliers(&self.cancelled(beta, control)?, &mut best, control)?;
            }
            Ok(())
        };
        // What was proven before time was up holds.
        let _ = sharpen();
        Some(best)
    }

    /// Takes a model where its primal is smaller.
    fn lift_model(&self, weights: Vec<f64>, bias: f64, best: &mut Proven, control: &Control) -> Pass {
        let scores = self.enclosed_scores(&weights, control)?;
        let primal = self.primal_above(&weights, &scores, bias, control)?;
        let mut proven = Proven { weights, bias, bounds: Bounds { primal, ..best.bounds } };
        let moved = self.move_bias(&mut proven, &scores, control);
        if proven.bounds.primal < best.bounds.primal {
            *best = proven;
        }
        moved
    }

    /// Takes the dual at multiples of multipliers where it is larger.
    fn lift_multipliers(&self, beta: &[f64], best: &mut Proven, control: &Control) -> Pass {
        let (gain, square) = self.parabola(beta, control)?;
        let vertex = if square > 0.0 { gain / square } else { f64::INFINITY };
        let stretch = vertex.min(self.most_stretch(beta));
        for stretch in [stretch, 1.0].into_iter().filter(|s| s.is_finite() && *s > 0.0) {
            let stretched: Vec<f64> = beta.iter().map(|beta| stretch * beta).collect();
            best.bounds.dual = best.bounds.dual.max(self.dual_below(&stretched, control)?);
        }
        Ok(())
    }

    /// Multiples of weights that separate the classes, each with a bias, without a miss but for rounding.
    fn without_misses(&self, w: &[f64]) -> Vec<(Vec<f64>, f64)> {
        if self.kind != Kind::Svc {
            return Vec::new();
        }
        let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
        for i in (0..self.rows.len()).filter(|&i| self.caps.at(i) > 0.0) {
            let score = self.rows.dot(i, w);
            if self.targets[i] > 0.0 {
                high = high.min(score);
            } else {
                low = low.max(score);
            }
        }
        let (middle, half) = if self.has_bias {
            (0.5 * low + 0.5 * high, 0.5 * high - 0.5 * low)
        } else {
            (0.0, high.min(-low))
        };
        if half.is_nan() || half <= 0.0 {
            return Vec::new();
        }
        let sized = |units: f64| {
            let size = (1.0 + units * f64::EPSILON) / half;
            (w.iter().map(|w| size * w).collect(), -size * middle)
        };
        ROUNDINGS.into_iter().map(sized).collect()
    }

    /// `(p, q)` of the dual along multiples of multipliers, `s p - s^2 q / 2`, about.
    fn parabola(&self, beta: &[f64], control: &Control) -> Pass<(f64, f64)> {
        let columns = self.rows.columns();
        let add = |i: usize, totals: &mut Vec<f64>| {
            let t = beta[i];
            if t != 0.0 {
                self.rows.add(i, t, &mut totals[..columns]);
                let tube = if self.kind == Kind::Svr { self.epsilon * t.abs() } else { 0.0 };
                totals[columns] += self.targets[i] * t - tube;
                if self.is_squared() {
                    totals[columns + 1] += 0.5 * t * (t / self.caps.at(i));
                }
            }
        };
        let totals = self.total_vector(columns + 2, control, add)?;
        let w = &totals[..columns];
        Ok((totals[columns], dot(w, w) + totals[columns + 1]))
    }

    /// The largest multiple of multipliers within their bounds.
    fn most_stretch(&self, beta: &[f64]) -> f64 {
        let of = |i: usize| {
            let (low, high) = self.bounds(i);
            if beta[i] == 0.0 { f64::INFINITY } else { high.max(-low) / beta[i].abs() }
        };
        (0..self.rows.len()).map(of).fold(f64::INFINITY, f64::min)
    }
}
