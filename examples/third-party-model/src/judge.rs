//! Who says that a portfolio is good enough: its volatility is known to the accuracy asked for.
//!
//! With `g = S w` and F the variance over 2, convexity gives `F(v) >= F(w) + g'(v - w)` for every portfolio v, so that
//!
//! ```text
//! gap = g'w - min { g'v : sum(v) = 1, 0 <= v <= cap }         no portfolio has F below F(w) - gap
//! ```
//!
//! The minimum is greedy: the assets of least g first, each up to the cap. From raw data alone; what the solver kept is
//! not looked at.

use equipoise::matrix::{axpy, dot};
use equipoise::{Control, Judge, Team, Verdict};

use crate::Returns;

/// A volatility below this share of the largest of any asset counts as none.
const NEGLIGIBLE: f64 = 1e-8;
/// How far from 1 the sum of the weights may be.
const ROUNDING: f64 = 1e-9;

/// Judges portfolios by their volatility.
pub(crate) struct VolatilityJudge<'a> {
    pub(crate) returns: &'a Returns,
    pub(crate) cap: f64,
    pub(crate) accuracy: f64,
    pub(crate) team: &'a Team,
}

/// What is known of a portfolio.
pub(crate) struct Evaluation {
    pub(crate) volatility: f64,
    /// No portfolio has less.
    pub(crate) lowest: f64,
    gap: f64,
}

impl VolatilityJudge<'_> {
    /// Volatility and its lower bound at these weights.
    pub(crate) fn evaluate(&self, weights: &[f64]) -> Evaluation {
        let factor = self.returns.factor();
        let mut periods = vec![0.0; factor.rows()];
        self.team.add(weights.len(), &mut periods, |assets, periods| {
            assets.for_each(|i| axpy(weights[i], factor.column(i), periods));
        });
        let mut slopes = vec![0.0; weights.len()];
        self.team.fill(&mut slopes, |first, slopes| {
            slopes.iter_mut().enumerate().for_each(|(k, slope)| *slope = dot(factor.column(first + k), &periods));
        });
        let variance = dot(&periods, &periods);
        let gap = (dot(&slopes, weights) - self.least(slopes)).max(0.0);
        Evaluation { volatility: variance.sqrt(), lowest: (variance - 2.0 * gap).max(0.0).sqrt(), gap }
    }

    /// `min { g'v : sum(v) = 1, 0 <= v <= cap }`.
    fn least(&self, mut slopes: Vec<f64>) -> f64 {
        slopes.sort_unstable_by(f64::total_cmp);
        let mut left = 1.0;
        let mut value = 0.0;
        for slope in slopes {
            let weight = self.cap.min(left);
            value += weight * slope;
            left -= weight;
        }
        value
    }

    /// The uncertainty of a volatility that is good enough.
    fn allowed(&self, volatility: f64) -> f64 {
        let largest = (0..self.returns.assets()).map(|i| self.returns.volatility(i)).fold(0.0, f64::max);
        self.accuracy * volatility.max(NEGLIGIBLE * largest)
    }
}

impl Judge for VolatilityJudge<'_> {
    fn judge(&self, x: &[f64], _control: &Control) -> equipoise::Result<Verdict> {
        let found = self.evaluate(x);
        let (uncertain, allowed) = (found.volatility - found.lowest, self.allowed(found.volatility));
        let infeasibility = (x.iter().sum::<f64>() - 1.0).abs();
        let accepted = uncertain <= allowed && infeasibility <= ROUNDING;
        let objective = 0.5 * found.volatility * found.volatility;
        let verdict = Verdict::new(objective, uncertain / found.volatility.max(f64::MIN_POSITIVE), accepted);
        Ok(verdict.with_gap(found.gap).with_infeasibility(infeasibility))
    }

    fn wanted_gap(&self, objective: f64) -> f64 {
        let volatility = (2.0 * objective).max(0.0).sqrt();
        let lowest = (volatility - self.allowed(volatility)).max(0.0);
        objective - 0.5 * lowest * lowest
    }
}
