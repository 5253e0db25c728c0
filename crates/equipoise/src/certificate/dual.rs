//! A lower bound of the optimum, and with it the duality gap.
//!
//! For `f(x) = c'x + max_u u'Kx - f*(u)` and any (u, lambda), with `s = -(c + K'u + A'lambda)`,
//!
//! ```text
//! optimum >= D(u, lambda) = -f*(u) - h*(s) - b'lambda .
//! ```
//!
//! The bound is finite only where s lies in the domain of h*, which may be a single point a coordinate. Three
//! dual points are tried and the best bound is kept: u at x as it is; u and lambda scaled towards zero until s
//! fits; u and lambda moved by a Newton-like step `K'du = (Hessian) y` that carries s onto the subdifferential
//! of h at x (a linear system solved by conjugate gradients).
//!
//! In floating point s may miss a domain that is a single point by rounding. A miss of at most 8 eps of what is
//! added up in `s_c` counts as rounding and is charged `miss_c (|x_c| + reach_c)`, `reach_c` the length along which f
//! rises by the size of the objective: the bound then holds for all points no further from x than that.

use super::residual::{NUMBERS_OF_H, Residuals};
use crate::control::{Control, Pass};
use crate::matrix::{dot, max_abs};
use crate::separable::Nonsmooth;
use crate::smooth::DualSide;

/// Miss of s, relative to what is added up in it, that counts as rounding.
const ROUNDING: f64 = 8.0 * f64::EPSILON;
/// Relative gap up to which the dual point 0 counts.
const TELLING: f64 = 1e-6;
/// How often the set of coordinates to repair may grow.
const MOST_REPAIRS: usize = 6;
/// Fall of the preconditioned residual (squared) at which a linear system counts as solved: a later repair sees
/// what is left.
const SOLVED: f64 = 1e-26;
/// Conjugate gradient steps of one search, all repairs together.
const MOST_CONJUGATE_STEPS: usize = 400;
/// The same at a point that is far from optimal, where no repair makes the bound good.
const FEW_CONJUGATE_STEPS: usize = 40;
/// Relative gap under which no better bound is sought.
const CLOSE: f64 = 1e-11;

/// The primal point that a bound is sought for.
pub(super) struct Point<'a> {
    pub(super) residuals: &'a Residuals<'a>,
    pub(super) product: &'a [f64],
    pub(super) lambda: &'a [f64],
    pub(super) objective: f64,
    /// Whether x is near enough to optimal for a long search to be worth it.
    pub(super) near: bool,
    pub(super) control: &'a Control,
}

/// The smallest gap found, `None` when no dual point is finite or a term has no conjugate; and whether the search for it
/// came to its end.
pub(super) fn gap(point: &Point<'_>, s: Vec<f64>, thorough: bool) -> (Option<f64>, Pass) {
    let Some(side) = point.residuals.view.smooth().dual() else { return (None, Ok(())) };
    if let Nonsmooth::Coordinates(h) = point.residuals.view.separable()
        && h.conjugate(0, 0.0).is_none()
    {
        return (None, Ok(()));
    }
    let mut best = f64::NEG_INFINITY;
    let outcome = raise(point, side, s, thorough, &mut best);
    ((best > f64::NEG_INFINITY).then(|| (point.objective - best).max(0.0)), outcome)
}

/// Raises the best bound.
fn raise(point: &Point<'_>, side: &dyn DualSide, s: Vec<f64>, thorough: bool, best: &mut f64) -> Pass {
    let mut u = vec![0.0; side.dual_len()];
    side.dual_point(point.residuals.x, point.product, &mut u);
    let mut rounding = vec![0.0; s.len()];
    side.add_dual_magnitude(&u, &mut rounding, point.control)?;
    point.residuals.coupling().add_magnitudes(point.lambda, &mut rounding, point.control)?;
    rounding.iter_mut().for_each(|size| *size *= ROUNDING);
    let search = Search { point, side, rounding };
    *best = search.bound(&u, point.lambda, &s)?;
    *best = best.max(search.scaled_bound(&u, &s)?);
    let close_enough = point.objective - *best <= CLOSE * (1.0 + point.objective.abs());
    if thorough && !close_enough {
        // With lambda as it is first: enough wherever f bends along every coordinate.
        let fixed = vec![0.0; point.lambda.len()];
        drop((u, s));
        *best = best.max(search.repaired_bound(&fixed)?);
        if !point.lambda.is_empty() && point.objective - *best > CLOSE * (1.0 + point.objective.abs()) {
            *best = best.max(search.repaired_bound(&search.row_weights()?)?);
        }
    }
    Ok(())
}

struct Search<'a> {
    point: &'a Point<'a>,
    side: &'a dyn DualSide,
    /// The miss of every coordinate that counts as rounding.
    rounding: Vec<f64>,
}

impl Search<'_> {
    /// D(u, lambda), minus infinity where it is not finite.
    fn bound(&self, u: &[f64], lambda: &[f64], s: &[f64]) -> Pass<f64> {
        let coupling = self.point.residuals.coupling();
        let (of_f, of_h) = (self.side.conjugate(u, self.point.control)?, self.separable_conjugate(s));
        let of_rows = dot(coupling.rhs(), lambda);
        let size: f64 = coupling.rhs().iter().zip(lambda).map(|(b, lambda)| (b * lambda).abs()).sum();
        // Sums of large numbers are known to rounding only, and the bound must not profit from it.
        let charge = 8.0 * f64::EPSILON * (of_f.abs() + of_h.abs() + size);
        let bound = -of_f - of_h - of_rows - charge;
        // No dual point lies above a feasible one: what does is not a bound.
        let possible = bound <= self.point.objective + 1e-9 * (1.0 + self.point.objective.abs());
        Ok(if possible { bound } else { f64::NEG_INFINITY })
    }

    /// h*(s), with the charge for misses by rounding.
    fn separable_conjugate(&self, s: &[f64]) -> f64 {
        let x = self.point.residuals.x;
        match self.point.residuals.view.separable() {
            Nonsmooth::Coordinates(h) => {
                let one = |c: usize| {
                    let (lo, hi) = h.dual_domain(c);
                    let inside = s[c].max(lo).min(hi);
                    let miss = (s[c] - inside).abs();
                    // What is no number proves nothing.
                    let within = miss <= self.rounding[c];
                    if !within {
                        return f64::INFINITY;
                    }
                    let charge = if miss > 0.0 { miss * (x[c].abs() + self.reach(c)) } else { 0.0 };
                    h.conjugate(c, inside).unwrap_or(f64::INFINITY) + charge
                };
                let mut sum = 0.0;
                for c in 0..s.len() {
                    sum += one(c);
                    if sum == f64::INFINITY {
                        break;
                    }
                }
                sum
            }
            Nonsmooth::Groups(h) => {
                let blocks = self.point.residuals.view.blocks();
                let mut sum = 0.0;
                for i in 0..blocks.len() {
                    let size = blocks.coordinates(i).map(|c| s[c] * s[c]).sum::<f64>().sqrt();
                    let miss = if size > h.weight(i) { size - h.weight(i) } else { 0.0 };
                    let rounding = blocks.coordinates(i).map(|c| self.rounding[c]);
                    let most = rounding.fold(0.0, |most: f64, one| if one > most { one } else { most });
                    if miss > most || size.is_nan() {
                        return f64::INFINITY;
                    }
                    if miss > 0.0 {
                        let squares = blocks.coordinates(i).map(|c| (x[c].abs() + self.reach(c)).powi(2));
                        sum += miss * squares.sum::<f64>().sqrt();
                    }
                }
                sum
            }
        }
    }

    /// How far along coordinate c the charge for rounding looks.
    fn reach(&self, c: usize) -> f64 {
        let curvature = self.point.residuals.view.smooth().curvature(c);
        if curvature > 0.0 {
            ((1.0 + self.point.objective.abs()) / curvature).sqrt()
        } else {
            max_abs(self.point.residuals.x)
        }
    }

    /// The bound at `(t u, t lambda)` for the largest t <= 1 at which s fits, if t = 0 fits at all.
    fn scaled_bound(&self, u: &[f64], s: &[f64]) -> Pass<f64> {
        // s(t) = t s + (1 - t) s(0), s(0) = -c.
        let mut scaled = vec![0.0; u.len()];
        let mut origin = vec![0.0; s.len()];
        self.side.add_dual_gradient(&scaled, &mut origin, self.point.control)?;
        origin.iter_mut().for_each(|v| *v = -*v);
        let mut t: f64 = 1.0;
        match self.point.residuals.view.separable() {
            Nonsmooth::Coordinates(h) => {
                for c in 0..s.len() {
                    let (lo, hi) = h.dual_domain(c);
                    if origin[c] < lo || origin[c] > hi {
                        return Ok(f64::NEG_INFINITY);
                    }
                    if s[c] > hi {
                        t = t.min((hi - origin[c]) / (s[c] - origin[c]));
                    } else if s[c] < lo {
                        t = t.min((lo - origin[c]) / (s[c] - origin[c]));
                    }
                }
            }
            Nonsmooth::Groups(h) => {
                let blocks = self.point.residuals.view.blocks();
                for i in 0..blocks.len() {
                    let length = |v: &[f64]| blocks.coordinates(i).map(|c| v[c] * v[c]).sum::<f64>().sqrt();
                    let (from, to, weight) = (length(&origin), length(s), h.weight(i));
                    if from > weight {
                        return Ok(f64::NEG_INFINITY);
                    }
                    if to > weight {
                        t = t.min((weight - from) / (to - from));
                    }
                }
            }
        }
        if t.is_nan() || t >= 1.0 {
            return Ok(f64::NEG_INFINITY);
        }
        t = (t * (1.0 - 1e-15)).max(0.0);
        scaled.iter_mut().zip(u).for_each(|(scaled, u)| *scaled = t * u);
        origin.iter_mut().zip(s).for_each(|(origin, s)| *origin = t * s + (1.0 - t) * *origin);
        let lambda: Vec<f64> = self.point.lambda.iter().map(|lambda| t * lambda).collect();
        let bound = self.bound(&scaled, &lambda, &origin)?;
        // The origin is always a dual point of a loss, but says something only where the loss can vanish.
        let telling = t > 0.0 || self.point.objective - bound <= TELLING * (1.0 + self.point.objective.abs());
        Ok(if telling { bound } else { f64::NEG_INFINITY })
    }

    /// The bound at a dual point moved so that s lies on the subdifferential of h at x.
    fn repaired_bound(&self, row_weights: &[f64]) -> Pass<f64> {
        let (residuals, control) = (self.point.residuals, self.point.control);
        let n = residuals.x.len();
        let mut lambda = self.point.lambda.to_vec();
        let mut u = vec![0.0; self.side.dual_len()];
        self.side.dual_point(residuals.x, self.point.product, &mut u);
        let mut s = vec![0.0; n];
        self.fill_s(&u, &lambda, &mut s)?;
        let mut chosen = vec![false; n];
        let mut steps = if self.point.near { MOST_CONJUGATE_STEPS } else { FEW_CONJUGATE_STEPS };
        for _ in 0..MOST_REPAIRS {
            let mut miss = vec![0.0; n];
            residuals.for_each(
                NUMBERS_OF_H,
                control,
                |c| s[c],
                |c, r| {
                    chosen[c] = true;
                    miss[c] = r;
                },
            )?;
            if self.is_rounding(&miss, 0.01) || !max_abs(&miss).is_finite() {
                break;
            }
            let Some(y) = self.conjugate_gradients(miss, &chosen, row_weights, &mut steps)? else { break };
            self.side.add_dual_step(residuals.x, self.point.product, &y, &mut u, control)?;
            let mut pull = vec![0.0; lambda.len()];
            self.add_image(&y, &mut pull)?;
            for ((lambda, pull), weight) in lambda.iter_mut().zip(&pull).zip(row_weights) {
                *lambda += weight * pull;
            }
            self.fill_s(&u, &lambda, &mut s)?;
        }
        self.bound(&u, &lambda, &s)
    }

    /// `s = -(c + K'u + A'lambda)`.
    fn fill_s(&self, u: &[f64], lambda: &[f64], s: &mut [f64]) -> Pass {
        let (coupling, control) = (self.point.residuals.coupling(), self.point.control);
        s.fill(0.0);
        self.side.add_dual_gradient(u, s, control)?;
        control.in_parts(s.len(), coupling.numbers_per_column(), |part| {
            for c in part {
                s[c] = -(s[c] + coupling.column_dot(c, lambda));
            }
        })
    }

    /// `out += A y`.
    fn add_image(&self, y: &[f64], out: &mut [f64]) -> Pass {
        let coupling = self.point.residuals.coupling();
        self.point.control.in_parts(y.len(), coupling.numbers_per_column(), |part| {
            part.filter(|&c| y[c] != 0.0).for_each(|c| coupling.add_column(c, y[c], out));
        })
    }

    /// Whether every miss is within a share of what counts as rounding.
    fn is_rounding(&self, miss: &[f64], share: f64) -> bool {
        miss.iter().zip(&self.rounding).all(|(miss, rounding)| miss.abs() <= share * rounding)
    }

    /// Weights W of the rows in `H + A'WA`: comparable to the curvature of f.
    fn row_weights(&self) -> Pass<Vec<f64>> {
        let residuals = self.point.residuals;
        let (coupling, f, n) = (residuals.coupling(), residuals.view.smooth(), residuals.x.len());
        let mean = (0..n).map(|c| f.curvature(c)).sum::<f64>() / n as f64;
        let mean = if mean > 0.0 { mean } else { 1.0 };
        let weight = |norm: &f64| mean * n as f64 / (norm * norm).max(f64::MIN_POSITIVE);
        Ok(coupling.row_norms_within(n, self.point.control)?.iter().map(weight).collect())
    }

    /// y, zero off the chosen coordinates, with `(H + A'WA) y = miss` on them.
    fn conjugate_gradients(
        &self,
        miss: Vec<f64>,
        chosen: &[bool],
        row_weights: &[f64],
        steps: &mut usize,
    ) -> Pass<Option<Vec<f64>>> {
        let residuals = self.point.residuals;
        let (f, coupling, n) = (residuals.view.smooth(), residuals.coupling(), miss.len());
        let mut weighted = vec![0.0; row_weights.len()];
        let mut column = vec![0.0; row_weights.len()];
        let mut preconditioner = |c: usize| {
            coupling.copy_column(c, &mut column);
            let rows: f64 = column.iter().zip(row_weights).map(|(a, w)| w * a * a).sum();
            let d = f.curvature(c) + rows;
            if d > 0.0 { 1.0 / d } else { 1.0 }
        };
        let inverse: Vec<f64> = (0..n).map(|c| if chosen[c] { preconditioner(c) } else { 0.0 }).collect();
        let (mut y, mut r) = (vec![0.0; n], miss);
        let mut p: Vec<f64> = r.iter().zip(&inverse).map(|(r, d)| r * d).collect();
        let mut image = vec![0.0; n];
        let mut fit = dot(&r, &p);
        let enough = SOLVED * fit;
        while *steps > 0 {
            *steps -= 1;
            self.point.control.check()?;
            if fit <= enough || self.is_rounding(&r, 1e-3) {
                break;
            }
            if !f.hessian_product(residuals.x, self.point.product, &p, &mut image, self.point.control)? {
                return Ok(None);
            }
            weighted.fill(0.0);
            self.add_image(&p, &mut weighted)?;
            weighted.iter_mut().zip(row_weights).for_each(|(v, w)| *v *= w);
            self.point.control.in_parts(n, coupling.numbers_per_column(), |part| {
                for c in part {
                    image[c] = if chosen[c] { image[c] + coupling.column_dot(c, &weighted) } else { 0.0 };
                }
            })?;
            let bend = dot(&p, &image);
            if bend.is_nan() || bend <= 0.0 {
                break;
            }
            let t = fit / bend;
            for c in 0..n {
                y[c] += t * p[c];
                r[c] -= t * image[c];
            }
            let next: f64 = (0..n).map(|c| r[c] * r[c] * inverse[c]).sum();
            let ratio = next / fit;
            fit = next;
            for c in 0..n {
                p[c] = r[c] * inverse[c] + ratio * p[c];
            }
        }
        Ok(Some(y))
    }
}
