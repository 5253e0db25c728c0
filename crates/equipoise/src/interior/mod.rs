//! Quadratic programs from the interior: many rows, bad units, degenerate polyhedra.
//!
//! ```text
//! minimise  1/2 x'Hx + q'x + sum_c h_c(x_c)   subject to   A x = b ,     h_c(z) = l1 |z| + l2/2 z^2 on an interval
//! ```
//!
//! Bounds and kinks are slacks s > 0 with multipliers z > 0. Newton's method follows the points with `s_i z_i = mu` as mu falls
//! to 0 (Mehrotra's predictor and corrector), on data whose rows, columns and cost were brought to one size.
//!
//! - Given: a [`Program`], when to stop.
//! - Returns: candidates, each a point with multipliers of the rows: one in the interior whose rows were made to hold again,
//!   one with every coordinate on the bound or kink that it was near to. Neither is trusted by anybody.
//! - Must not know: f beyond its matrices, pairs, certificates, who asks.
//!
//! | file | what it does |
//! |---|---|
//! | `scaling.rs` | one size for rows, columns and cost, by powers of two |
//! | `rows.rs` | rows that are nearly parallel, made orthogonal |
//! | `parts.rs` | coordinates with kinks as differences of two; bounds as slacks |
//! | `system.rs` | the linear system of a step: assembled once, solved often, refined |
//! | `factor.rs` | its factors, sparse and dense |
//! | `path.rs` | the way along the path |
//! | `finish.rs` | from its end to points that satisfy `A x = b` to the last digit |
//! | `close.rs` | the same where rows hold only because all of their coordinates are nearly 0 |
//!
//! References: Mehrotra 1992; Ruiz 2001 (scaling); Vanderbei 1995 (quasidefinite systems); Altman and Gondzio 1999
//! (regularisation).

mod close;
mod factor;
mod finish;
mod parts;
mod path;
mod rows;
mod scaling;
mod system;
#[cfg(test)]
mod tests;

use crate::control::{Control, Pass};
use crate::coupling::{ALLOWED_SHARE, Coupling};
use crate::separable::Piece;
use crate::smooth::Bend;

use parts::Parts;
use rows::Orthogonal;
use scaling::Scaling;
use system::System;

/// A quadratic model with a separable term and rows.
#[derive(Debug)]
pub(crate) struct Program<'a> {
    /// Independent rows.
    pub(crate) coupling: &'a Coupling,
    /// The parts of H.
    pub(crate) bends: Vec<Bend<'a>>,
    /// q.
    pub(crate) linear: Vec<f64>,
    /// `h_c`.
    pub(crate) pieces: Vec<Piece>,
}

/// A point and multipliers of the rows.
#[derive(Debug, Clone)]
pub(crate) struct Candidate {
    pub(crate) x: Vec<f64>,
    pub(crate) lambda: Vec<f64>,
}

/// What was found.
#[derive(Debug)]
pub(crate) struct Found {
    /// In the interior; in the domain, and near `A x = b`.
    pub(crate) inside: Candidate,
    /// On bounds and kinks, where such a point was found.
    pub(crate) snapped: Option<Candidate>,
    /// Near the end of the path with rows that hold, where neither of the others is any good.
    pub(crate) closed: Option<Candidate>,
    /// Multipliers of points before the end.
    pub(crate) on_the_way: Vec<Vec<f64>>,
}

/// What a path is followed for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sought {
    /// Points whose rows hold.
    Points,
    /// Multipliers, whatever becomes of x.
    Multipliers,
}

/// Products of two numbers that a factor may cost at most: a few seconds, in which nobody looks at a clock.
pub(crate) const MOST_PRODUCTS: f64 = 3e10;
/// The miss of a row, as a share of what is allowed, with which a point is good enough.
const SHARE_OF_MISS: f64 = 1e-2;
/// About how many factors a whole solve makes.
pub(crate) const FACTORS: f64 = 30.0;

impl Found {
    /// All of them; those before have more coordinates on bounds, or rows that hold better.
    pub(crate) fn into_candidates(self) -> Vec<Candidate> {
        self.snapped.into_iter().chain(self.closed).chain([self.inside]).collect()
    }

    /// Multipliers of those that have their own, and of points before the end.
    pub(crate) fn multipliers(&self) -> Vec<Vec<f64>> {
        let own = [Some(&self.inside), self.snapped.as_ref()].into_iter().flatten();
        own.map(|own| own.lambda.clone()).chain(self.on_the_way.iter().cloned()).collect()
    }
}

/// About how many numbers the data of a program are.
pub(crate) fn stored(program: &Program<'_>) -> usize {
    system::stored(program)
}

/// Follows the path until the gap is about `gap` of `1 + |objective|`; `None` where a factor would cost more products than
/// given, or the path leads nowhere.
pub(crate) fn solve(
    program: &Program<'_>,
    sought: Sought,
    gap: f64,
    products: f64,
    control: &Control,
) -> Pass<Option<Found>> {
    let mut scaling = Scaling::of(program);
    let orthogonal = Orthogonal::of(program.coupling, &scaling);
    let rows = orthogonal.as_ref().map_or(program.coupling, |orthogonal| &orthogonal.coupling);
    if orthogonal.is_some() {
        scaling.rows.fill(1.0);
    }
    let Some(mut system) = System::new(program, rows, &scaling, products.min(MOST_PRODUCTS), control)? else {
        return Ok(None);
    };
    let parts = Parts::new(program, rows, &scaling);
    let Some(path::End { at: end, on_the_way }) = path::follow(&parts, &mut system, &scaling, gap, control)?
    else {
        return Ok(None);
    };
    let inside = finish::inside(&parts, &mut system, &end, control)?;
    let snapped = finish::snapped(&parts, &mut system, &end, control)?;
    let cost = |x: &[f64]| finish::cost(&parts, &system, x);
    let at_end = cost(&parts.x(&end.v));
    let enough = at_end + gap * (scaling.cost + at_end.abs());
    let is_good =
        |x: &[f64]| cost(x) <= enough && rows.miss(&scaling.x(x)).relative <= SHARE_OF_MISS * ALLOWED_SHARE;
    let is_enough = || snapped.as_ref().is_some_and(|point| is_good(&point.x)) || is_good(&inside.x);
    let closed = if sought == Sought::Multipliers || is_enough() {
        None
    } else {
        let of_rows = (program, rows, &scaling);
        close::closed(of_rows, &parts, &end, (cost, enough), products.min(MOST_PRODUCTS), control)?
    };
    let lambda = |y: &[f64]| match &orthogonal {
        Some(orthogonal) => orthogonal.lambda(scaling.lambda(y)),
        None => scaling.lambda(y),
    };
    let unscaled = |point: finish::Point| Candidate { x: scaling.x(&point.x), lambda: lambda(&point.y) };
    Ok(Some(Found {
        inside: unscaled(inside),
        snapped: snapped.map(unscaled),
        closed: closed.map(unscaled),
        on_the_way: on_the_way.iter().map(|y| lambda(y)).collect(),
    }))
}
