//! Multipliers of a vertex where more is tight than there are free weights: the active set knows those of some rows only.
//!
//! ```text
//! minimise  1/2 sum_j r_j(lambda)^2   over the slopes that rows at an end of theirs may have ,
//! ```
//!
//! `r_j` is what the slope along weight j lacks of being one of a minimiser: all of it for a free weight, the part of the wrong
//! sign at a limit, the part beyond the price at a kink. Newton steps on the pieces of this, each followed by halving.
//!
//! - Given: a program, a point with multipliers, its slopes and values. Returns: better multipliers, in place. Never moves w.
//! - Must not know: how the point was found.

use crate::active::{Program, Side, State};
use crate::factor::Factor;

/// Most Newton steps.
const STEPS: usize = 60;
/// Multipliers are taken where they lack at most this part of what the old ones did.
const BETTER: f64 = 0.1;

/// How near a value is to the end of its row that counts as there: steps that lead nowhere leave some rounding.
const AT_END: f64 = 1e-9;
/// The same of a weight.
const NEAR: f64 = 1e-12;

struct Vertex<'a, 'p> {
    program: &'a Program<'p>,
    state: &'a State,
    slopes: &'a [f64],
    /// Rows at an end, with the slopes that they may have.
    rows: Vec<(usize, f64, f64)>,
}

/// Puts multipliers right where others lack less.
pub(crate) fn mend(program: &Program<'_>, state: &mut State, slopes: &[f64], values: &[f64]) {
    let is_at = |value: f64, end: f64| end.is_finite() && (value - end).abs() <= AT_END * (1.0 + end.abs());
    let ends = |k: usize| {
        let ((low, high), value) = (program.ends(k), values[k]);
        let (is_low, is_high) = (is_at(value, low), is_at(value, high));
        let least = if is_low { -program.elastic } else { 0.0 };
        let most = if is_high { program.elastic } else { 0.0 };
        (is_low || is_high).then_some((k, least, most))
    };
    let rows: Vec<_> = (0..values.len()).filter_map(ends).collect();
    let vertex = Vertex { program, state, slopes, rows };
    if let Some(lambda) = vertex.better() {
        state.multipliers = lambda;
    }
}

impl Vertex<'_, '_> {
    fn better(&self) -> Option<Vec<f64>> {
        let mut lambda = self.state.multipliers.clone();
        let before = largest(&self.residuals(&lambda));
        for &(k, least, most) in &self.rows {
            lambda[k] = lambda[k].clamp(least, most);
        }
        let mut residuals = self.residuals(&lambda);
        for _ in 0..STEPS {
            let Some(next) = self.step(&lambda, &residuals) else { break };
            (lambda, residuals) = next;
        }
        (largest(&residuals) <= BETTER * before).then_some(lambda)
    }

    /// Where a weight is; a free one next to its kink or a limit counts as there, as little as it holds beyond.
    fn side(&self, j: usize) -> Side {
        let (side, w) = (self.state.sides[j], self.state.w[j]);
        let is_near = |end: f64| (w - end).abs() <= NEAR;
        match self.program.kinks {
            _ if !side.is_free() => side,
            _ if is_near(self.program.lower[j]) => Side::Lower,
            _ if is_near(self.program.upper[j]) => Side::Upper,
            Some(kinks) if is_near(kinks.at[j]) => Side::Kink,
            _ => side,
        }
    }

    /// The coefficient of row k along a weight.
    fn entry(&self, k: usize, j: usize, residual: f64) -> f64 {
        match self.program.rows.get(k) {
            Some(row) => row.coefficients[j],
            None => match self.side(j) {
                Side::Below => -1.0,
                // Beyond the price upwards or downwards.
                Side::Kink => -residual.signum(),
                Side::Lower | Side::Upper => self.side_of_limit(j),
                Side::Above => 1.0,
            },
        }
    }

    /// The sign of the turnover next to a limit.
    fn side_of_limit(&self, j: usize) -> f64 {
        let Some(kinks) = self.program.kinks else { return 0.0 };
        match self.side(j) {
            Side::Lower if self.program.lower[j] < kinks.at[j] => -1.0,
            Side::Upper if self.program.upper[j] <= kinks.at[j] => -1.0,
            _ => 1.0,
        }
    }

    fn residuals(&self, lambda: &[f64]) -> Vec<f64> {
        let program = self.program;
        let of_limit = lambda.get(program.rows.len()).copied().unwrap_or(0.0);
        let price = program.kinks.map_or(0.0, |kinks| kinks.price + of_limit);
        let residual = |j: usize| {
            let rows = program.rows.iter().zip(lambda);
            let slope = self.slopes[j] + rows.map(|(row, lambda)| lambda * row.coefficients[j]).sum::<f64>();
            match self.side(j) {
                _ if program.lower[j] >= program.upper[j] => 0.0,
                Side::Below => slope - price,
                Side::Above => slope + price,
                Side::Lower => (slope + price * self.side_of_limit(j)).min(0.0),
                Side::Upper => (slope + price * self.side_of_limit(j)).max(0.0),
                Side::Kink => (slope - price).max(0.0) + (slope + price).min(0.0),
            }
        };
        (0..self.slopes.len()).map(residual).collect()
    }

    /// A Newton step that makes the sum of squares smaller; none where there is none.
    fn step(&self, lambda: &[f64], residuals: &[f64]) -> Option<(Vec<f64>, Vec<f64>)> {
        let size = squares(residuals);
        if size == 0.0 {
            return None;
        }
        let lacking: Vec<usize> = (0..residuals.len()).filter(|&j| residuals[j] != 0.0).collect();
        let column = |k: usize| lacking.iter().map(|&j| self.entry(k, j, residuals[j])).collect::<Vec<f64>>();
        let product =
            |column: &[f64]| column.iter().zip(&lacking).map(|(a, &j)| a * residuals[j]).sum::<f64>();
        let (mut chosen, mut columns, mut change) = (Vec::new(), Vec::<Vec<f64>>::new(), Vec::new());
        let mut factor = Factor::default();
        for &(k, least, most) in &self.rows {
            let column = column(k);
            let slope = product(&column);
            let is_held = lambda[k] <= least && slope > 0.0 || lambda[k] >= most && slope < 0.0;
            let own = squares(&column);
            if is_held || own == 0.0 {
                continue;
            }
            let dot = |other: &Vec<f64>| other.iter().zip(&column).map(|(a, b)| a * b).sum::<f64>();
            factor.push(columns.iter().map(dot).collect(), own * (1.0 + 1e-12));
            change.push(-slope);
            chosen.push((k, least, most));
            columns.push(column);
        }
        factor.forward(&mut change);
        factor.backward(&mut change);
        let mut length = 1.0;
        for _ in 0..30 {
            let mut next = lambda.to_vec();
            for (&(k, least, most), change) in chosen.iter().zip(&change) {
                next[k] = (lambda[k] + length * change).clamp(least, most);
            }
            let found = self.residuals(&next);
            if squares(&found) < (1.0 - 1e-3 * length) * size {
                return Some((next, found));
            }
            length *= 0.5;
        }
        None
    }
}

fn squares(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum()
}

fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |most: f64, value| most.max(value.abs()))
}
