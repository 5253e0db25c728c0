//! From the end of the path to points whose rows hold to the last digit.
//!
//! - **Inside**: `x += W A'(A W A')^-1 (b - A x)`, W the inverse of `H + D` at the end of the path, so that what is near a bound
//!   hardly moves; several times over.
//! - **Closed**: the same with W the squared distances to the bounds (`close.rs`), where neither of the others is any good.
//! - **Snapped**: a coordinate whose slack is smaller than its multiplier is put on that bound or kink; what is free then
//!   solves `H x + q + A'y = 0, A x = b` by the same system without barriers. Whoever leaves its interval on the way is put on
//!   the end that it passes.
//!
//! Given: the end of a path. Returns: points in the domain. Must not know: the user's units, whether the points are any good.

use super::parts::Parts;
use super::path::{Iterate, eliminated};
use super::system::System;
use crate::control::{Control, Pass};
use crate::matrix::max_abs;

/// Times that rows are made to hold.
const REPAIRS: usize = 4;
/// Times that coordinates may be put on bounds.
const ROUNDS: usize = 8;

/// A point and multipliers, in scaled units.
#[derive(Debug)]
pub(super) struct Point {
    pub(super) x: Vec<f64>,
    pub(super) y: Vec<f64>,
}

/// The point of the path itself, rows repaired.
pub(super) fn inside(parts: &Parts, system: &mut System, end: &Iterate, control: &Control) -> Pass<Point> {
    let n = parts.dimension();
    let mut x = parts.x(&end.v);
    let clamp = |c: usize, x: f64| x.max(parts.domain[c].0).min(parts.domain[c].1);
    x.iter_mut().enumerate().for_each(|(c, x)| *x = clamp(c, *x));
    let theta = |k: usize| parts.barriers_of(k).map(|i| end.z[i] / end.s[i]).sum::<f64>();
    let theta: Vec<f64> = (0..parts.all.len()).map(theta).collect();
    if system.factor(&eliminated(parts, &theta), &parts.held, control)? {
        let none = vec![0.0; n];
        let mut off = f64::INFINITY;
        for _ in 0..REPAIRS {
            let missing = missing(parts, system, &x);
            let size = max_abs(&missing);
            if size == 0.0 || size.is_nan() || size > off {
                break;
            }
            off = size;
            let (step, _) = system.solve(&none, &missing);
            x.iter_mut().zip(&step).enumerate().for_each(|(c, (x, step))| *x = clamp(c, *x + step));
        }
    }
    Ok(Point { x, y: end.y.clone() })
}

/// What a point costs.
pub(super) fn cost(parts: &Parts, system: &System, x: &[f64]) -> f64 {
    let (image, _) = system.image(x, &vec![0.0; parts.rhs.len()]);
    let own = |c: usize| match parts.of(c) {
        of if of.len() == 1 => parts.all[of.start].cost * x[c],
        of => parts.all[of.start].cost * x[c].abs(),
    };
    (0..x.len()).map(|c| (0.5 * image[c] + parts.slope[c]) * x[c] + own(c)).sum()
}

fn missing(parts: &Parts, system: &System, x: &[f64]) -> Vec<f64> {
    let (_, rows) = system.image(x, &vec![0.0; parts.rhs.len()]);
    parts.rhs.iter().zip(&rows).map(|(b, a)| b - a).collect()
}

/// Where coordinates are between their bounds and kinks.
pub(super) struct Sides {
    pub(super) x: Vec<f64>,
    /// Who is on one of them.
    pub(super) held: Vec<bool>,
    /// The own slope of whoever is free, by the side of the kink that it is on.
    own: Vec<f64>,
    /// The interval on which that slope holds.
    pub(super) side: Vec<(f64, f64)>,
}

/// Puts whoever is near enough on its bound or kink.
pub(super) fn sides(parts: &Parts, end: &Iterate, near: impl Fn(usize) -> bool) -> Sides {
    let n = parts.dimension();
    let mut x = parts.x(&end.v);
    let mut held = parts.held.clone();
    let mut own = vec![0.0; n];
    let mut side = parts.domain.clone();
    for c in 0..n {
        if held[c] {
            x[c] = parts.domain[c].0;
            continue;
        }
        let of = parts.of(c);
        if of.len() == 1 {
            own[c] = parts.all[of.start].cost;
            if let Some(i) = parts.barriers_of(of.start).find(|&i| near(i)) {
                (x[c], held[c]) = (parts.barriers[i].bound, true);
            }
            continue;
        }
        // The part that is away from 0, if either is.
        let away = of.clone().filter(|&k| !near(parts.barriers_of(k).start));
        let Some(k) = away.max_by(|&a, &b| end.v[a].total_cmp(&end.v[b])) else {
            (x[c], held[c]) = (0.0, true);
            continue;
        };
        let part = parts.all[k];
        own[c] = part.sign * part.cost;
        side[c] = if part.sign > 0.0 { (0.0, part.upper) } else { (-part.upper, 0.0) };
        if let Some(i) = parts.barriers_of(k).skip(1).find(|&i| near(i)) {
            (x[c], held[c]) = (part.sign * parts.barriers[i].bound, true);
        }
    }
    Sides { x, held, own, side }
}

/// The point on bounds and kinks; `None` where no such point was found.
pub(super) fn snapped(
    parts: &Parts,
    system: &mut System,
    end: &Iterate,
    control: &Control,
) -> Pass<Option<Point>> {
    let n = parts.dimension();
    let Sides { mut x, mut held, own, side } = sides(parts, end, |i| end.s[i] < end.z[i]);
    let mut y = end.y.clone();
    let none = vec![0.0; n];
    for _ in 0..ROUNDS {
        if !system.factor(&none, &held, control)? {
            return Ok(None);
        }
        let before = x.clone();
        for _ in 0..REPAIRS {
            let (image, rows) = system.image(&x, &y);
            let top: Vec<f64> =
                (0..n).map(|c| if held[c] { 0.0 } else { -(image[c] + parts.slope[c] + own[c]) }).collect();
            let bottom: Vec<f64> = parts.rhs.iter().zip(&rows).map(|(b, a)| b - a).collect();
            let (step, turn) = system.solve(&top, &bottom);
            x.iter_mut().zip(&step).for_each(|(x, step)| *x += step);
            y.iter_mut().zip(&turn).for_each(|(y, step)| *y += step);
        }
        if x.iter().chain(&y).any(|value| !value.is_finite()) {
            return Ok(None);
        }
        let mut inside = true;
        for c in (0..n).filter(|&c| !parts.held[c]) {
            let (lower, upper) = side[c];
            if x[c] < lower || x[c] > upper {
                (x[c], held[c], inside) = (x[c].max(lower).min(upper), true, false);
            }
        }
        if inside {
            return Ok(Some(Point { x, y }));
        }
        // The others begin again where they were.
        (0..n).filter(|&c| !held[c]).for_each(|c| x[c] = before[c]);
    }
    Ok(None)
}
