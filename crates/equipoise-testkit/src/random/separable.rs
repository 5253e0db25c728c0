//! Draws h, and a point in its domain (well inside any bounds).

use super::draw::Draw;
use super::recipe::{Recipe, SeparableKind, SmoothKind};
use super::shape::Shape;
use crate::instance::Separable;

pub(super) fn draw(recipe: &Recipe, shape: &Shape, draw: &mut Draw) -> (Separable, Vec<f64>) {
    let n = shape.dimension;
    let h = match recipe.separable {
        SeparableKind::Zero => Separable::Zero,
        SeparableKind::Box => {
            // Linear f needs every side; so does a flat f whose linear part is not in its range.
            let (lower, upper) = bounds(n, recipe.smooth != SmoothKind::Linear, draw);
            Separable::Box { lower, upper }
        }
        SeparableKind::NonNegative => Separable::NonNegative,
        SeparableKind::L1 => Separable::L1 { weights: draw.weights(n, 0.1, 1.5) },
        SeparableKind::ElasticNet => {
            Separable::ElasticNet { l1: draw.weights(n, 0.1, 1.0), l2: draw.weights(n, 0.2, 1.5) }
        }
        SeparableKind::L1Box => {
            let (lower, upper) = bounds(n, recipe.smooth != SmoothKind::Linear, draw);
            Separable::L1Box { weights: draw.weights(n, 0.1, 1.0), lower, upper }
        }
        SeparableKind::GroupL2 => {
            Separable::GroupL2 { weights: draw.weights(shape.boundaries().len() - 1, 0.2, 2.0) }
        }
    };
    let start = start(recipe, &h, n, draw);
    (h, start)
}

/// Bounds on both sides of 0, or (one in five) of one sign; open sides where allowed.
fn bounds(n: usize, open_allowed: bool, draw: &mut Draw) -> (Vec<f64>, Vec<f64>) {
    let open = open_allowed && draw.chance(0.3);
    let pairs = (0..n).map(|_| {
        let shift = if draw.chance(0.2) { draw.away_from_zero() } else { 0.0 };
        let (lower, upper) = (shift - draw.uniform(0.2, 1.5), shift + draw.uniform(0.2, 1.5));
        match draw.index(0, 3) {
            0 if open => (f64::NEG_INFINITY, upper),
            1 if open => (lower, f64::INFINITY),
            _ => (lower, upper),
        }
    });
    pairs.unzip()
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
