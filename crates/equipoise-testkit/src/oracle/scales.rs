//! The natural size of each coordinate, and violations measured in it.
//!
//! A coordinate's natural size is `1 / sqrt(curvature of f along it)`; where f is flat, the width
//! of its box, else 1. In these units a step of 1 changes f by about 1/2.

use crate::instance::{Dense, Instance, Separable, Smooth};

/// One size per coordinate.
pub(super) fn natural(instance: &Instance) -> Vec<f64> {
    let mut curvature: Vec<f64> = (0..instance.dimension).map(|c| instance.separable.l2_weight(c)).collect();
    add_curvature(&instance.smooth, &mut curvature);
    let mut sizes: Vec<f64> = curvature.iter().enumerate().map(|(c, h)| size(instance, c, *h)).collect();
    if matches!(instance.separable, Separable::GroupL2 { .. }) {
        even_out_groups(instance, &mut sizes);
    }
    sizes
}

/// How large x must be, in units of `sizes`, for A x to reach b; at least 1.
pub(super) fn magnitude(instance: &Instance, sizes: &[f64]) -> f64 {
    let (matrix, rhs) = instance.coupling.equations(instance.dimension);
    let reach = (0..matrix.rows).filter(|r| rhs[*r] != 0.0).map(|r| {
        let largest = matrix.row(r).iter().zip(sizes).map(|(a, size)| (a * size).abs()).fold(0.0, f64::max);
        rhs[r].abs() / largest
    });
    reach.filter(|ratio| ratio.is_finite()).fold(1.0, f64::max)
}

/// The largest violation of an equation or a bound, each divided by its own scale.
pub(super) fn violation(instance: &Instance, x: &[f64], sizes: &[f64]) -> f64 {
    let (matrix, rhs) = instance.coupling.equations(instance.dimension);
    let equations = (0..matrix.rows).map(|r| {
        let row = matrix.row(r);
        let residual: f64 = row.iter().zip(x).map(|(a, v)| a * v).sum::<f64>() - rhs[r];
        let terms = row.iter().zip(x).zip(sizes).map(|((a, v), size)| (a * v).abs().max((a * size).abs()));
        relative(residual.abs(), rhs[r].abs() + terms.fold(0.0, f64::max))
    });
    let bounds = x.iter().enumerate().map(|(c, value)| {
        let (lower, upper) = instance.separable.bounds(c);
        let size = sizes[c].max(value.abs());
        relative((lower - value).max(value - upper).max(0.0), size)
    });
    equations.chain(bounds).fold(0.0, |top, v| if v <= top { top } else { v })
}

fn relative(violation: f64, scale: f64) -> f64 {
    if violation == 0.0 { 0.0 } else { violation / scale }
}

fn size(instance: &Instance, c: usize, curvature: f64) -> f64 {
    if curvature > 0.0 {
        return curvature.sqrt().recip();
    }
    let (lower, upper) = instance.separable.bounds(c);
    let width = upper - lower;
    if width.is_finite() && width > 0.0 { width } else { 1.0 }
}

/// One size per group, so that a cone's rows keep comparable entries: the geometric mean.
fn even_out_groups(instance: &Instance, sizes: &mut [f64]) {
    let boundaries = instance.blocks.boundaries(instance.dimension).expect("groups need explicit blocks");
    for block in boundaries.windows(2) {
        let group = &mut sizes[block[0]..block[1]];
        let mean = group.iter().map(|size| size.ln()).sum::<f64>() / group.len() as f64;
        group.fill(mean.exp());
    }
}

fn add_curvature(term: &Smooth, curvature: &mut [f64]) {
    match term {
        Smooth::Quadratic { q, .. } => {
            curvature.iter_mut().enumerate().for_each(|(c, total)| *total += q.get(c, c));
        }
        Smooth::Factor { m, .. } => add_squares(m, None, 1.0, curvature),
        Smooth::Loss { loss, m, weights, .. } => {
            add_squares(m, weights.as_deref(), loss.curvature(), curvature);
        }
        Smooth::Distance { weights, .. } => {
            curvature.iter_mut().zip(weights).for_each(|(total, weight)| *total += 2.0 * weight);
        }
        Smooth::Linear { .. } => {}
        Smooth::Sum(terms) => terms.iter().for_each(|term| add_curvature(term, curvature)),
    }
}

fn add_squares(m: &Dense, weights: Option<&[f64]>, factor: f64, curvature: &mut [f64]) {
    for r in 0..m.rows {
        let weight = factor * weights.map_or(1.0, |list| list[r]);
        m.row(r).iter().zip(&mut *curvature).for_each(|(entry, total)| *total += weight * entry * entry);
    }
}
