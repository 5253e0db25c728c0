//! The bounds of a certificate in exact arithmetic: an upper bound of the objective at x, a lower bound of the optimum.
//!
//! Both are computed with [`Enclosure`]s from raw data, x, u and lambda as they are: whatever rounding leaves open counts
//! against the claim. How u and lambda were found does not matter.
//!
//! Must not know: how the dual point was found.

use super::dual::Point;
use super::reach::Reach;
use super::residual::NUMBERS_OF_H;
use crate::control::{Control, Pass};
use crate::enclosure::{Enclosure, Sum, above};
use crate::problem::View;
use crate::separable::Nonsmooth;
use crate::smooth::DualSide;

/// Numbers that an enclosed operation counts for.
const WORK: usize = 8 * NUMBERS_OF_H;

/// f(x) and h(x) with their errors.
pub(super) fn objective(view: View<'_>, x: &[f64], control: &Control) -> Pass<(Enclosure, Enclosure)> {
    let smooth = view.smooth().enclose_value(x, control)?;
    let mut sum = Sum::default();
    match view.separable() {
        Nonsmooth::Coordinates(h) if h.is_zero() => {}
        Nonsmooth::Coordinates(h) => control.in_parts(x.len(), WORK, |part| {
            part.for_each(|c| sum.add_enclosure(h.enclose_value(c, x[c])));
        })?,
        Nonsmooth::Groups(h) => {
            let blocks = view.blocks();
            control.in_parts(blocks.len(), WORK * x.len().div_ceil(blocks.len().max(1)), |part| {
                for i in part {
                    let mut squares = Sum::default();
                    blocks.coordinates(i).for_each(|c| squares.add_product(x[c], x[c]));
                    sum.add_enclosure(squares.value().sqrt() * h.weight(i).into());
                }
            })?;
        }
    }
    Ok((smooth, sum.value()))
}

/// A lower bound, and for which points it holds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lower {
    pub(super) bound: f64,
    /// The largest size of a coordinate up to which it holds; `None` for everywhere.
    pub(super) holds_within: Option<f64>,
}

/// `D(u, lambda)` from below; minus infinity where nothing is proven. Moves u into the domain of f* first.
pub(super) fn lower_bound(
    point: &Point<'_>,
    side: &dyn DualSide,
    reach: &Reach<'_>,
    u: &mut [f64],
    lambda: &[f64],
) -> Pass<Lower> {
    let (view, control) = (point.residuals.view, point.control);
    let coupling = point.residuals.coupling();
    side.settle(u);
    let u = &*u;
    let n = point.residuals.x.len();
    // Entry by entry where that is cheap: a million enclosures are no small thing.
    let mut gradients = Vec::new();
    if side.enclose_dual_entry(0, u).is_none() {
        gradients.resize(n, Enclosure::from(0.0));
        side.enclose_dual_gradient(u, &mut gradients, control)?;
    }
    let gradient = |c: usize| match gradients.get(c) {
        Some(known) => *known,
        None => side.enclose_dual_entry(c, u).unwrap_or(Enclosure::UNKNOWN),
    };
    let each = WORK + coupling.numbers_per_column() + side.dual_len().div_ceil(n) * NUMBERS_OF_H;
    let mut total = Sum::default();
    total.add_enclosure(side.enclose_conjugate(u, control)?);
    coupling.rhs().iter().zip(lambda).for_each(|(&b, &lambda)| total.add_product(b, lambda));
    let mut nearest: Option<f64> = None;
    let mut relied_on = |end: f64| nearest = Some(nearest.map_or(end, |near| near.min(end)));
    let pull = |c: usize| -(gradient(c) + coupling.enclose_column_dot(c, lambda));
    match view.separable() {
        Nonsmooth::Coordinates(h) => control.in_parts(n, each, |part| {
            for c in part {
                let mut s = pull(c);
                let (lo, hi) = h.dual_domain(c);
                if s.lower() < lo || s.upper() > hi {
                    // What misses is taken up by f where coordinate c has an entry of u to itself, and charged otherwise.
                    let inside = s.centre().max(lo).min(hi);
                    let miss = s - inside.into();
                    match side.absorb(c, u, miss) {
                        Some(growth) => {
                            total.add_enclosure(growth);
                            s = inside.into();
                        }
                        None if reach.is_assumed(c) => relied_on(reach.of(c)),
                        None => {}
                    }
                }
                let most = h.conjugate_above(c, s, reach.within(c));
                total.add_enclosure(if most.is_finite() { most.into() } else { Enclosure::UNKNOWN });
            }
        })?,
        Nonsmooth::Groups(h) => {
            let blocks = view.blocks();
            let each = each * n.div_ceil(blocks.len().max(1));
            control.in_parts(blocks.len(), each, |part| {
                for i in part {
                    let (mut squares, mut far) = (Sum::default(), Sum::default());
                    for c in blocks.coordinates(i) {
                        squares.add_enclosure(pull(c).square());
                        far.add_product(reach.of(c), reach.of(c));
                    }
                    let miss = (squares.value().sqrt() - h.weight(i).into()).upper();
                    if miss > 0.0 {
                        blocks
                            .coordinates(i)
                            .filter(|&c| reach.is_assumed(c))
                            .for_each(|c| relied_on(reach.of(c)));
                        total.add_enclosure(Enclosure::from(above(miss * far.value().sqrt().upper())));
                    }
                }
            })?;
        }
    }
    if !side.is_convex() {
        let (boxes, least) = reach.nearby();
        total.add(side.concavity(u, &boxes));
        least.into_iter().for_each(&mut relied_on);
    }
    Ok(Lower { bound: -total.value().upper(), holds_within: nearest })
}
