//! Bounds in exact arithmetic: the objective of b from above, the optimum from below.
//!
//! ```text
//! objective   1/2 ||y - X b||^2 + lambda ||D b||_1 + mu ||b||_1
//! bound       theta'y - 1/2 ||theta||^2         for X'theta = D'z + s, |z_r| <= lambda, |s_c| <= mu
//! ```
//!
//! For any z and s in their boxes and any theta, `1/2 ||y - X b||^2 >= theta'(y - X b) - 1/2 ||theta||^2` and the penalties are at
//! least `z'D b + s'b`: the objective is at least `theta'y - 1/2 ||theta||^2 - (X'theta - D'z - s)'b` at every b.
//!
//! - **X = I**: theta is `D'z + s` itself, a real vector that is known up to rounding; s is what the box takes of `y - D'z`. An
//!   error e of `theta_c` changes the bound by at most `e (|y_c| + |theta_c| + e)`.
//! - **otherwise**: what `X'theta = D'z + s` is missed by is charged: `|miss_c|` times the largest `|b_c|` of any b that is as good
//!   as the one at hand ([`reach`](super::reach)). Where nothing bounds b, nothing is proven.
//!
//! Rounding is charged by counts: k roundings of a sum are at most `k u / (1 - k u)` of the sum of its terms' sizes; sums of
//! squares are taken as enclosures.

use equipoise::enclosure::{Enclosure, Sum, above};
use equipoise::{Control, Pass};

use super::design::{Design, Known, gamma};
use super::penalty::Differences;
use super::reach;

/// What is to be minimised.
#[derive(Debug, Clone, Copy)]
pub(super) struct Task<'a> {
    pub(super) y: &'a [f64],
    pub(super) design: Design<'a>,
    pub(super) d: &'a Differences,
    /// How often neighbours on a chain are subtracted, where D does that.
    pub(super) order: Option<usize>,
    /// Whether every row of D is a difference of two coefficients.
    pub(super) is_graph: bool,
    pub(super) lambda: f64,
    /// The weight of `||b||_1`.
    pub(super) sparse: f64,
}

/// An objective from above and the optimum from below.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Bounds {
    /// The objective; infinite where nothing is proven.
    pub(super) objective: f64,
    /// What no b gets below; minus infinity where nothing is proven.
    pub(super) bound: f64,
}

impl Bounds {
    /// `(objective - bound) / max(objective, 1e-12 ||y||^2 / 2)`, from above; 0 for an exact fit.
    pub(super) fn relative_gap(self, y: &[f64]) -> f64 {
        let gap = Enclosure::difference(self.objective, self.bound);
        if !gap.is_known() {
            return f64::INFINITY;
        }
        if gap.upper() <= 0.0 {
            return 0.0;
        }
        let floor = 0.5e-12 * y.iter().map(|y| y * y).sum::<f64>();
        above(gap.upper() / self.objective.max(floor))
    }
}

/// A point of the dual: theta is not needed where X = I.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Dual {
    pub(super) z: Vec<f64>,
    pub(super) theta: Vec<f64>,
}

impl Task<'_> {
    /// How many coefficients there are.
    pub(super) fn coefficients(&self) -> usize {
        self.d.columns()
    }

    /// The objective at b, from above.
    pub(super) fn objective_above(&self, b: &[f64], control: &Control) -> Pass<f64> {
        let rows = self.y.len();
        let Known { values: fitted, errors } = self.design.apply_within(b, rows, control)?;
        control.check()?;
        let (mut squares, mut charge, mut counted) = (Sum::default(), 0.0, 0);
        control.in_parts(rows, 4, |part| {
            for k in part {
                let v = self.y[k] - fitted[k];
                let error = errors[k] + f64::EPSILON * v.abs();
                // What is fitted to the bit costs nothing, not even a charge.
                if error > 0.0 || v != 0.0 {
                    squares.add_product(v, v);
                    charge += error * (2.0 * v.abs() + error);
                    counted += 1;
                }
            }
        })?;
        let mut total = Enclosure::from(0.0);
        if counted > 0 {
            total = squares.value().widened(rounded_up(charge, counted)).half();
        }
        control.check()?;
        let variation = self.total_variation(b, control)?;
        if variation != Enclosure::from(0.0) {
            total += variation * self.lambda.into();
        }
        if self.sparse > 0.0 && b.iter().any(|b| *b != 0.0) {
            let mut sum = Sum::default();
            b.iter().for_each(|b| sum.add(b.abs()));
            total += sum.value() * self.sparse.into();
        }
        Ok(if total.is_known() { total.upper() } else { f64::INFINITY })
    }

    /// `||D b||_1`.
    pub(super) fn total_variation(&self, b: &[f64], control: &Control) -> Pass<Enclosure> {
        let factor = 2.0 * gamma(self.d.most_entries().0 + 2);
        let (mut sum, mut charge, mut counted) = (Sum::default(), 0.0, 0);
        self.d.for_each_within(control, |_, columns, values| {
            if columns.iter().all(|c| b[*c] == 0.0) {
                return;
            }
            let size = if let (&[u, v], &[minus, plus]) = (columns, values)
                && minus == -plus
            {
                // Equal coefficients have no difference, whatever lambda multiplies it with.
                if b[u] == b[v] {
                    return;
                }
                // One subtraction and one product.
                let difference = plus * (b[v] - b[u]);
                charge += 2.0 * f64::EPSILON * difference.abs();
                difference.abs()
            } else {
                let terms = || columns.iter().zip(values).map(|(c, value)| value * b[*c]);
                charge += factor * terms().map(f64::abs).sum::<f64>();
                terms().sum::<f64>().abs()
            };
            counted += 1;
            sum.add(size);
        })?;
        if counted == 0 {
            return Ok(Enclosure::from(0.0));
        }
        Ok(sum.value().widened(rounded_up(charge, counted) + counted as f64 * f64::MIN_POSITIVE))
    }

    /// `D'z` and what each entry may be off by.
    fn pulled_back(&self, z: &[f64], control: &Control) -> Pass<Known> {
        let n = self.coefficients();
        let (mut sums, mut sizes) = (vec![0.0; n], vec![0.0; n]);
        self.d.for_each_within(control, |r, columns, values| {
            for (c, value) in columns.iter().zip(values) {
                let term = value * z[r];
                sums[*c] += term;
                sizes[*c] += term.abs();
            }
        })?;
        let most = self.d.most_entries().1;
        let (factor, lost) = (2.0 * gamma(most + 2), most as f64 * f64::MIN_POSITIVE);
        if z.iter().any(|z| *z != 0.0) {
            sizes.iter_mut().for_each(|size| *size = *size * factor + lost);
        }
        Ok(Known { values: sums, errors: sizes })
    }

    /// What no b gets below, by a dual point; z is first put into its box. `level` is an objective from above. Without a point it is
    /// 0, since every term is at least that.
    pub(super) fn bound_below(&self, dual: &mut Dual, level: f64, control: &Control) -> Pass<f64> {
        if dual.z.len() < self.d.rows() {
            return Ok(0.0);
        }
        let lambda = self.lambda;
        dual.z.iter_mut().for_each(|z| *z = if z.is_finite() { z.max(-lambda).min(lambda) } else { 0.0 });
        let pulled = self.pulled_back(&dual.z, control)?;
        control.check()?;
        match self.design {
            Design::Identity => self.bound_of_identity(&pulled, control),
            _ => self.bound_of_design(&dual.theta, &pulled, level, control),
        }
    }

    /// X = I.
    fn bound_of_identity(&self, pulled: &Known, control: &Control) -> Pass<f64> {
        let (mut value, mut charge) = (Sum::default(), 0.0);
        control.in_parts(self.y.len(), 4, |part| {
            for k in part {
                let (y, pulled_back) = (self.y[k], pulled.values[k]);
                let taken = (y - pulled_back).max(-self.sparse).min(self.sparse);
                let theta = pulled_back + taken;
                let error = pulled.errors[k] + if taken == 0.0 { 0.0 } else { f64::EPSILON * theta.abs() };
                value.add_product(theta, y);
                value.add_product(-0.5 * theta, theta);
                charge += error * (y.abs() + theta.abs() + error);
            }
        })?;
        let lost = self.y.len() as f64 * f64::MIN_POSITIVE;
        let value = value.value().widened(rounded_up(charge, self.y.len()) + lost);
        Ok(if value.is_known() { value.lower() } else { f64::NEG_INFINITY })
    }

    /// Any X.
    fn bound_of_design(&self, theta: &[f64], pulled: &Known, level: f64, control: &Control) -> Pass<f64> {
        let seen = self.design.transposed_within(theta, control)?;
        control.check()?;
        let (mut value, mut charge) = (Sum::default(), 0.0);
        for (theta, y) in theta.iter().zip(self.y) {
            value.add_product(*theta, *y);
            value.add_product(-0.5 * theta, *theta);
        }
        let misses: Vec<f64> = (0..seen.values.len())
            .map(|c| {
                let left = seen.values[c] - pulled.values[c];
                let miss = (left.abs() - self.sparse).max(0.0);
                miss + seen.errors[c] + pulled.errors[c] + f64::EPSILON * (left.abs() + self.sparse)
            })
            .collect();
        // Where nothing is missed it does not matter how large coefficients can be.
        if misses.iter().any(|miss| *miss != 0.0) {
            let Some(reach) = reach::largest(self, level, control)? else { return Ok(f64::NEG_INFINITY) };
            misses.iter().zip(&reach).for_each(|(miss, reach)| charge += miss * reach);
        }
        let lost = self.y.len() as f64 * f64::MIN_POSITIVE;
        let value = value.value().widened(lost) - Enclosure::from(rounded_up(charge, misses.len()));
        Ok(if value.is_known() { value.lower() } else { f64::NEG_INFINITY })
    }
}

/// A sum of so many non-negative numbers, each a few roundings away from its exact value, from above.
pub(super) fn rounded_up(sum: f64, terms: usize) -> f64 {
    above(sum * (1.0 + 2.0 * gamma(terms + 8))) + terms as f64 * f64::MIN_POSITIVE
}
