//! The end of the path made to satisfy its rows to the last digit, each relative to its own terms.
//!
//! ```text
//! minimise  sum w_c^2   subject to   A (x + S w) = b ,      S_c the distance of x_c to its nearer bound or kink
//! ```
//!
//! A row may hold at the optimum because all of its coordinates are nearly 0, and then what is small beside the others is not small
//! beside it: only in units of those distances, with every row brought to size 1, is it closed as well as the others. Nobody moves
//! by more than a share of its distance then; who goes nine tenths of the way is put on the bound, and what is left is closed
//! again.
//!
//! It begins with coordinates on the bounds that their multipliers put them on, and without where that leaves rows which nobody
//! can close.
//!
//! - Given: rows, their scaling, parts, the end of a path, what a point costs.
//! - Returns: a point in the domain, `None` where rows do not hold.
//! - Must not know: H, multipliers of rows, the user's units.

use super::Program;
use super::finish::{Point, Sides, sides};
use super::parts::Parts;
use super::path::Iterate;
use super::scaling::{Scaling, power_of_two};
use super::system::System;
use crate::control::{Control, Pass};
use crate::coupling::{ALLOWED_SHARE, Coupling};
use crate::separable::Piece;

/// Times that rows are closed.
const ROUNDS: usize = 8;
/// The relative miss of a row that is good enough to end, and the largest that counts as none.
const CLOSED: f64 = 1e-4 * ALLOWED_SHARE;
const HOLDS: f64 = 1e-2 * ALLOWED_SHARE;
/// The share of its distance that is left to whoever is put on its bound.
const NEAR: f64 = 0.1;
/// The unit of whoever is far from all bounds, at least; and what is 0 up to rounding.
const LEAST_UNIT: f64 = 1e-3;
const ROUNDING: f64 = 1e-13;
/// Distances below this are none.
const NO_DISTANCE: f64 = 1e-60;

/// A point whose rows hold and which costs at most this; or where there is none, the cheapest whose rows hold.
pub(super) fn closed(
    (program, rows, scaling): (&Program<'_>, &Coupling, &Scaling),
    parts: &Parts,
    end: &Iterate,
    (cost, enough): (impl Fn(&[f64]) -> f64, f64),
    products: f64,
    control: &Control,
) -> Pass<Option<Point>> {
    let n = parts.dimension();
    let of_rows = Program {
        coupling: program.coupling,
        bends: Vec::new(),
        linear: vec![0.0; n],
        pieces: vec![Piece::FREE; n],
    };
    let Some(system) = System::new(&of_rows, rows, scaling, products, control)? else { return Ok(None) };
    let units = vec![1.0; n + rows.rows()];
    let mut closing = Closing { parts, rows, scaling, system, units };
    let mut best: Option<(f64, Vec<f64>)> = None;
    for is_snapped in [true, false] {
        let sides = sides(parts, end, |i| is_snapped && end.s[i] < end.z[i]);
        let Some(x) = closing.close(sides, control)? else { continue };
        let its_cost = cost(&x);
        if best.as_ref().is_none_or(|(least, _)| its_cost < *least) {
            best = Some((its_cost, x));
        }
        if its_cost <= enough {
            break;
        }
    }
    Ok(best.map(|(_, x)| Point { x, y: end.y.clone() }))
}

/// Rows and the system of their distances.
struct Closing<'a> {
    parts: &'a Parts,
    rows: &'a Coupling,
    scaling: &'a Scaling,
    system: System,
    /// What columns and rows of the system are multiplied by.
    units: Vec<f64>,
}

impl Closing<'_> {
    /// The point whose rows hold, if this leads to one.
    fn close(&mut self, sides: Sides, control: &Control) -> Pass<Option<Vec<f64>>> {
        let Sides { mut x, mut held, side, .. } = sides;
        let n = x.len();
        x.iter_mut().zip(&side).for_each(|(x, (lower, upper))| *x = x.max(*lower).min(*upper));
        let (ones, none) = (vec![1.0; n], vec![0.0; n]);
        let (mut missing, mut missed) = self.missing(&x);
        for _ in 0..ROUNDS {
            control.check()?;
            if missed <= CLOSED {
                break;
            }
            let distance = |c: usize, x: f64| (x - side[c].0).min(side[c].1 - x);
            for c in 0..n {
                held[c] |= distance(c, x[c]) <= NO_DISTANCE;
            }
            self.take_units(
                |c| if held[c] { 0.0 } else { distance(c, x[c]).min(x[c].abs().max(LEAST_UNIT)) },
            );
            if !self.system.factor(&ones, &held, control)? {
                return Ok(None);
            }
            missing.iter_mut().zip(&self.units[n..]).for_each(|(missing, unit)| *missing *= unit);
            let (step, _) = self.system.solve(&none, &missing);
            let mut anybody_stopped = false;
            for c in 0..n {
                if held[c] {
                    continue;
                }
                let ((lower, upper), before) = (side[c], distance(c, x[c]));
                x[c] += self.units[c] * step[c];
                if distance(c, x[c]) <= NEAR * before {
                    x[c] = if x[c] - lower < upper - x[c] { lower } else { upper };
                    (held[c], anybody_stopped) = (true, true);
                } else if x[c].abs() <= ROUNDING && lower <= 0.0 && upper >= 0.0 {
                    x[c] = 0.0;
                }
            }
            let before = missed;
            (missing, missed) = self.missing(&x);
            if missed.is_nan() || (missed > 0.5 * before && !anybody_stopped) {
                break;
            }
        }
        Ok((missed <= HOLDS).then_some(x))
    }

    /// `b - A x`, and its largest share of a row's own terms.
    fn missing(&self, x: &[f64]) -> (Vec<f64>, f64) {
        let mut missing = self.parts.rhs.clone();
        let mut terms: Vec<f64> = missing.iter().map(|b| b.abs()).collect();
        for (c, x) in x.iter().enumerate() {
            let x = self.scaling.columns[c] * x;
            self.rows.for_each_in_column(c, |r, a| {
                let term = self.scaling.rows[r] * a * x;
                missing[r] -= term;
                terms[r] += term.abs();
            });
        }
        let shares = missing.iter().zip(&terms).filter(|(_, terms)| **terms > 0.0);
        let missed = shares.map(|(missing, terms)| missing.abs() / terms);
        let missed = missed.fold(0.0, |most: f64, share| if share <= most { most } else { share });
        (missing, missed)
    }

    /// Brings columns to these units, and rows to size 1 in them.
    fn take_units(&mut self, unit: impl Fn(usize) -> f64) {
        let n = self.parts.dimension();
        let mut units: Vec<f64> = (0..n).map(&unit).collect();
        let mut sizes = vec![0.0_f64; self.rows.rows()];
        for (c, unit) in units.iter_mut().enumerate() {
            if *unit > 0.0 {
                *unit = power_of_two(*unit);
                let factor = self.scaling.columns[c] * *unit;
                self.rows.for_each_in_column(c, |r, a| {
                    sizes[r] = sizes[r].max((self.scaling.rows[r] * a * factor).abs());
                });
            } else {
                *unit = 1.0;
            }
        }
        units.extend(sizes.iter().map(|size| if *size > 0.0 { power_of_two(size.recip()) } else { 1.0 }));
        let by: Vec<f64> = units.iter().zip(&self.units).map(|(new, old)| new / old).collect();
        self.system.multiply_by(&by);
        self.units = units;
    }
}
