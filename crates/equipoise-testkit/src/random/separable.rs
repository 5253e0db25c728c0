//! Draws h, and a point in its domain (well inside any bounds).

use super::draw::Draw;
use super::recipe::{Recipe, SmoothKind};
use super::shape::Shape;
use crate::instance::Separable;

pub(super) fn draw(recipe: &Recipe, shape: &Shape, draw: &mut Draw) -> (Separable, Vec<f64>) {
    let n = shape.dimension;
    // Linear f needs every side; so does a flat f whose linear part is not in its range.
    let open_allowed = recipe.smooth != SmoothKind::Linear;
    let h = recipe.separable.draw(n, shape.boundaries().len() - 1, open_allowed, draw);
    let start = start(recipe, &h, n, draw);
    (h, start)
}

/// A point inside; 0 now and then where the domain allows it, so that b = 0 occurs too.
fn start(recipe: &Recipe, h: &Separable, n: usize, draw: &mut Draw) -> Vec<f64> {
    let unbounded = !matches!(h, Separable::Box { .. } | Separable::L1Box { .. } | Separable::NonNegative);
    if unbounded && recipe.smooth != SmoothKind::Linear && draw.chance(0.3) {
        return vec![0.0; n];
    }
    let coordinate = |c| match h.bounds(c) {
        (lower, upper) if lower.is_finite() && upper.is_finite() => {
            lower + (upper - lower) * draw.uniform(0.2, 0.8)
        }
        (lower, _) if lower.is_finite() => lower + draw.uniform(0.1, 1.5),
        (_, upper) if upper.is_finite() => upper - draw.uniform(0.1, 1.5),
        _ => draw.normal(),
    };
    (0..n).map(coordinate).collect()
}
