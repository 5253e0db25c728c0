//! The way along the path of points with `s_i z_i = mu`.
//!
//! With parts v of x, slacks `s_i = sign_i (v - bound_i)` and multipliers z, y, a Newton step solves
//!
//! ```text
//! sign_j (H dx + A'dy)_c + theta_j dv_j = r_j ,   A dx = b - A x ,      theta_j = sum z_i / s_i ,
//! r_j = -(dual residual)_j + sum sign_i (target_i - s_i z_i - z_i miss_i) / s_i ,   miss_i = sign_i (v - bound_i) - s_i ,
//! ```
//!
//! where the parts of a coordinate are eliminated down to one number D in the system. Each iteration factors once and solves
//! twice: towards mu = 0, which shows how far mu can fall, then towards that mu with the curvature that the first step saw.
//!
//! - Given: parts, the system, the gap that is wanted.
//! - Returns: the best iterate, `None` where there is none that is any good.
//! - Must not know: the user's units, points beyond the path.

use super::parts::Parts;
use super::scaling::Scaling;
use super::system::System;
use crate::control::{Control, Pass};
use crate::matrix::{dot, max_abs};

/// Iterations at most; those without a better iterate after which it is given up.
const MOST_ITERATIONS: usize = 150;
const PATIENCE: usize = 15;
/// The same once the gap is small enough: what is left is rounding.
const FEW: usize = 2;
/// The share of that gap with which it ends, where so much can be had: who is on a bound and who is not is seen by then, and
/// multipliers prove more.
const SHARPER: f64 = 1e-3;
/// Share of the way to the boundary that is gone.
const SHARE: f64 = 0.995;
/// Residuals of rows and multipliers that are good enough.
const ROWS: f64 = 1e-12;
const SLOPES: f64 = 1e-11;
/// The merit above which the best iterate is no use.
const USELESS: f64 = 1e-2;

/// The gaps, in those wanted, at which multipliers are kept: those of the end are nearer to optimal, but what rounding leaves of their
/// slopes is more than the multiplier of a variable that is far from its bound, and proves nothing where that has no other.
const KEPT: [f64; 2] = [10.0, 1.0];

/// An iterate.
#[derive(Debug, Clone)]
pub(super) struct Iterate {
    pub(super) v: Vec<f64>,
    pub(super) s: Vec<f64>,
    pub(super) z: Vec<f64>,
    pub(super) y: Vec<f64>,
}

/// Where a path led.
pub(super) struct End {
    pub(super) at: Iterate,
    /// Multipliers of the rows on the way there.
    pub(super) on_the_way: Vec<Vec<f64>>,
}

/// How far an iterate is from optimal.
struct Residuals {
    /// `b - A x`.
    rows: Vec<f64>,
    /// Of every part.
    slopes: Vec<f64>,
    miss: Vec<f64>,
    mu: f64,
    /// The largest of all, each relative to its own size.
    merit: f64,
    /// In those wanted.
    gap: f64,
    /// Whether the gap is small enough.
    is_narrow: bool,
    /// Whether everything is.
    is_done: bool,
}

struct Direction {
    v: Vec<f64>,
    s: Vec<f64>,
    z: Vec<f64>,
    y: Vec<f64>,
}

/// Follows the path until rows, slopes and gap are good enough.
pub(super) fn follow(
    parts: &Parts,
    system: &mut System,
    scaling: &Scaling,
    gap: f64,
    control: &Control,
) -> Pass<Option<End>> {
    let Some(mut at) = start(parts, system, control)? else { return Ok(None) };
    let mut path = Path { parts, system, cost: scaling.cost, gap, barrier: Vec::new() };
    let (mut best, mut least, mut idle) = (at.clone(), f64::INFINITY, 0);
    let mut on_the_way: Vec<Vec<f64>> = Vec::new();
    for _ in 0..MOST_ITERATIONS {
        let residuals = path.residuals(&at);
        if KEPT.get(on_the_way.len()).is_some_and(|kept| residuals.gap <= *kept) {
            on_the_way.push(at.y.clone());
        }
        if residuals.merit.is_nan() {
            break;
        }
        if residuals.merit < 0.9 * least {
            idle = 0;
        } else {
            idle += 1;
        }
        if residuals.merit < least {
            least = residuals.merit;
            best.clone_from(&at);
        }
        let patience = if residuals.is_narrow { FEW } else { PATIENCE };
        if residuals.is_done || idle >= patience || !path.factor(&at, control)? {
            break;
        }
        if !path.step(&mut at, &residuals) {
            break;
        }
    }
    Ok((least <= USELESS).then_some(End { at: best, on_the_way }))
}

/// A point well inside, near the minimiser with a spring in place of the barriers.
fn start(parts: &Parts, system: &mut System, control: &Control) -> Pass<Option<Iterate>> {
    let n = parts.dimension();
    let centre = |c: usize| {
        let (lower, upper) = parts.domain[c];
        if lower.is_finite() && upper.is_finite() {
            0.5 * (lower + upper)
        } else {
            0.0_f64.max(lower).min(upper)
        }
    };
    let is_bounded = |c: usize| parts.of(c).any(|k| !parts.barriers_of(k).is_empty());
    let spring: Vec<f64> = (0..n).map(|c| f64::from(u8::from(is_bounded(c)))).collect();
    if !system.factor(&spring, &parts.held, control)? {
        return Ok(None);
    }
    let fixed: Vec<f64> = (0..n).map(|c| if parts.held[c] { parts.domain[c].0 } else { 0.0 }).collect();
    let (pull, image) = system.image(&fixed, &vec![0.0; parts.rhs.len()]);
    let top: Vec<f64> = (0..n)
        .map(|c| if parts.held[c] { 0.0 } else { spring[c] * centre(c) - parts.slope[c] - pull[c] })
        .collect();
    let bottom: Vec<f64> = parts.rhs.iter().zip(&image).map(|(b, a)| b - a).collect();
    let (x, y) = system.solve(&top, &bottom);
    let x: Vec<f64> = (0..n).map(|c| if parts.held[c] { fixed[c] } else { x[c] }).collect();
    let size = 1.0 + mean_size(&x);
    let mut v = vec![0.0; parts.all.len()];
    for (k, part) in parts.all.iter().enumerate() {
        let alone = parts.of(part.coordinate).len() == 1;
        let own = part.sign * x[part.coordinate];
        v[k] = if alone { own } else { own.max(0.0) + 0.5 * size };
        if part.lower.is_finite() && part.upper.is_finite() {
            let margin = 0.1 * (part.upper - part.lower);
            v[k] = v[k].max(part.lower + margin).min(part.upper - margin);
        }
    }
    let (slopes, _) = system.image(&x, &y);
    let mut s = Vec::with_capacity(parts.barriers.len());
    let mut mu = 0.0;
    for barrier in &parts.barriers {
        let part = &parts.all[barrier.part];
        let away = barrier.sign * (v[barrier.part] - barrier.bound);
        let is_wide = !(part.lower.is_finite() && part.upper.is_finite());
        let slack = if is_wide { away.max(size) } else { away };
        let slope = slopes[part.coordinate] + parts.slope[part.coordinate] + part.sign * part.cost;
        s.push(slack);
        mu += slack * slope.abs().max(1e-3);
    }
    let mu = (mu / s.len().max(1) as f64).max(1e-6);
    let z = s.iter().map(|s| mu / s).collect();
    Ok(Some(Iterate { v, s, z, y }))
}

fn mean_size(x: &[f64]) -> f64 {
    x.iter().map(|x| x.abs()).sum::<f64>() / x.len().max(1) as f64
}

struct Path<'p> {
    parts: &'p Parts,
    system: &'p mut System,
    cost: f64,
    gap: f64,
    /// theta of every part, at the last factor.
    barrier: Vec<f64>,
}

impl Path<'_> {
    fn residuals(&self, at: &Iterate) -> Residuals {
        let parts = self.parts;
        let x = parts.x(&at.v);
        let (image, rows) = self.system.image(&x, &at.y);
        let largest_row = max_abs(&rows).max(max_abs(&parts.rhs));
        let rows: Vec<f64> = parts.rhs.iter().zip(&rows).map(|(b, a)| b - a).collect();
        let mut slopes = vec![0.0; parts.all.len()];
        let mut largest_slope = max_abs(&parts.slope);
        for (k, part) in parts.all.iter().enumerate() {
            let c = part.coordinate;
            if parts.held[c] {
                continue;
            }
            let pull: f64 = parts.barriers_of(k).map(|i| parts.barriers[i].sign * at.z[i]).sum();
            slopes[k] = part.sign * (image[c] + parts.slope[c]) + part.cost - pull;
            largest_slope = largest_slope.max(image[c].abs()).max(pull.abs());
        }
        let miss: Vec<f64> = parts
            .barriers
            .iter()
            .zip(&at.s)
            .map(|(barrier, s)| barrier.sign * (at.v[barrier.part] - barrier.bound) - s)
            .collect();
        let product = dot(&at.s, &at.z);
        let costs: f64 = parts.all.iter().zip(&at.v).map(|(part, v)| part.cost * v).sum();
        // 1/2 x'Hx + q'x, with x'A'y out of the image.
        let bent = 0.5 * (dot(&x, &image) - dot(&at.y, &parts.rhs) + dot(&at.y, &rows));
        let objective = bent + dot(&x, &parts.slope) + costs;
        let gap = product.abs() / (self.cost + objective.abs());
        let rows_off = max_abs(&rows) / (1.0 + largest_row);
        let slopes_off = max_abs(&slopes) / (1.0 + largest_slope);
        let miss_off = max_abs(&miss) / (1.0 + max_abs(&at.v));
        let is_narrow = gap <= self.gap;
        let sharp = if self.system.is_model() { 1.0 } else { SHARPER };
        let is_done = gap <= sharp * self.gap && rows_off <= ROWS && slopes_off <= SLOPES && miss_off <= ROWS;
        let merit = rows_off.max(slopes_off).max(miss_off).max(gap);
        let mu = product / at.s.len().max(1) as f64;
        Residuals { rows, slopes, miss, mu, merit, gap: gap / self.gap, is_narrow, is_done }
    }

    /// The factor at an iterate.
    fn factor(&mut self, at: &Iterate, control: &Control) -> Pass<bool> {
        let parts = self.parts;
        let theta = |k: usize| parts.barriers_of(k).map(|i| at.z[i] / at.s[i]).sum::<f64>();
        self.barrier = (0..parts.all.len()).map(theta).collect();
        let barrier = eliminated(parts, &self.barrier);
        self.system.factor(&barrier, &parts.held, control)
    }

    /// Moves; false where nothing moves any more.
    fn step(&mut self, at: &mut Iterate, residuals: &Residuals) -> bool {
        let none = vec![0.0; at.s.len()];
        let first = self.direction(at, residuals, 0.0, &none);
        let (primal, dual) = (longest(&at.s, &first.s), longest(&at.z, &first.z));
        let product: f64 =
            (0..at.s.len()).map(|i| (at.s[i] + primal * first.s[i]) * (at.z[i] + dual * first.z[i])).sum();
        let ahead = product / at.s.len().max(1) as f64;
        let share = if residuals.mu > 0.0 { (ahead / residuals.mu).clamp(0.0, 1.0).powi(3) } else { 0.0 };
        let curved: Vec<f64> = first.s.iter().zip(&first.z).map(|(s, z)| s * z).collect();
        let mut direction = self.direction(at, residuals, share * residuals.mu, &curved);
        let mut length = reach(at, &direction);
        if length < 0.1 {
            // The corrector may overdo it where products are far apart: towards the middle instead.
            let other = self.direction(at, residuals, 0.5 * residuals.mu, &none);
            let its_length = reach(at, &other);
            if its_length > length {
                (direction, length) = (other, its_length);
            }
        }
        if length.is_nan() || length <= 1e-12 {
            return false;
        }
        let add = |to: &mut [f64], step: &[f64]| {
            to.iter_mut().zip(step).for_each(|(to, step)| *to += length * step);
        };
        add(&mut at.v, &direction.v);
        add(&mut at.s, &direction.s);
        add(&mut at.z, &direction.z);
        add(&mut at.y, &direction.y);
        at.v.iter().chain(&at.s).chain(&at.z).chain(&at.y).all(|value| value.is_finite())
    }

    /// The step towards `s z = target`, with what an earlier step saw of `ds dz`.
    fn direction(&mut self, at: &Iterate, residuals: &Residuals, target: f64, curved: &[f64]) -> Direction {
        let parts = self.parts;
        let wanted: Vec<f64> = (0..at.s.len()).map(|i| target - at.s[i] * at.z[i] - curved[i]).collect();
        let right = |k: usize| {
            let of_barriers = parts
                .barriers_of(k)
                .map(|i| parts.barriers[i].sign * (wanted[i] - at.z[i] * residuals.miss[i]) / at.s[i]);
            of_barriers.sum::<f64>() - residuals.slopes[k]
        };
        let right: Vec<f64> = (0..parts.all.len()).map(right).collect();
        let barrier = eliminated(parts, &self.barrier);
        let top: Vec<f64> = (0..parts.dimension())
            .map(|c| match parts.of(c) {
                _ if parts.held[c] => 0.0,
                of if of.len() == 1 => right[of.start],
                of => barrier[c] * of.map(|k| parts.all[k].sign * right[k] / self.barrier[k]).sum::<f64>(),
            })
            .collect();
        let (x, y) = self.system.solve(&top, &residuals.rows);
        let mut v = vec![0.0; parts.all.len()];
        for c in 0..parts.dimension() {
            let of = parts.of(c);
            if of.len() == 1 {
                v[of.start] = x[c];
            } else {
                let pull = top[c] - barrier[c] * x[c];
                of.for_each(|k| v[k] = (right[k] - parts.all[k].sign * pull) / self.barrier[k]);
            }
        }
        let s: Vec<f64> = (0..at.s.len())
            .map(|i| parts.barriers[i].sign * v[parts.barriers[i].part] + residuals.miss[i])
            .collect();
        let z = (0..at.s.len()).map(|i| (wanted[i] - at.z[i] * s[i]) / at.s[i]).collect();
        Direction { v, s, z, y }
    }
}

/// What the barriers of a coordinate's parts come to in the system.
pub(super) fn eliminated(parts: &Parts, theta: &[f64]) -> Vec<f64> {
    let of = |c: usize| match parts.of(c) {
        of if of.len() == 1 => theta[of.start],
        of => of.map(|k| 1.0 / theta[k]).sum::<f64>().recip(),
    };
    (0..parts.dimension()).map(of).collect()
}

/// The longest step up to 1 that keeps everything at least 0.
fn longest(from: &[f64], step: &[f64]) -> f64 {
    let ratios = from.iter().zip(step).filter(|(_, step)| **step < 0.0).map(|(from, step)| -from / step);
    ratios.fold(1.0, f64::min)
}

/// The length of a step that stays inside.
fn reach(at: &Iterate, direction: &Direction) -> f64 {
    let most = longest(&at.s, &direction.s).min(longest(&at.z, &direction.z));
    if most < 1.0 { SHARE * most } else { 1.0 }
}
