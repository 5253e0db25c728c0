//! Draws f so that f + h is bounded below on its domain and attains its minimum.
//!
//! A quadratic that is flat somewhere gets a linear part in its range. Losses that fall for ever (logistic) get, for
//! h = 0 and h = indicator of x >= 0 or of an open box, rows spanning everything with both labels,
//! so that no direction separates. Linear f is dominated by h.

use super::draw::Draw;
use super::recipe::{Recipe, SeparableKind, SmoothKind};
use super::shape::Shape;
use crate::instance::{Dense, Separable, Smooth};
use crate::loss::LossKind;

pub(super) fn draw(recipe: &Recipe, shape: &Shape, h: &Separable, draw: &mut Draw) -> Smooth {
    let n = shape.dimension;
    let deficient = recipe.deficient.unwrap_or_else(|| draw.chance(0.3)) && n > 1;
    match recipe.smooth {
        SmoothKind::Quadratic => quadratic(n, deficient, draw),
        SmoothKind::Factor => factor(n, deficient, draw),
        SmoothKind::Loss(kind) if kind.falls_for_ever() => {
            let outweighed = deficient && recipe.separable.coercive() && closed(h, n);
            if outweighed { loss(kind, n, true, draw) } else { both_ways(kind, n, draw) }
        }
        SmoothKind::Loss(kind) => loss(kind, n, deficient, draw),
        SmoothKind::Distance => distance(n, draw),
        SmoothKind::Linear => Smooth::Linear { c: dominated(recipe.separable, shape, h, draw) },
        SmoothKind::Sum => sum(n, draw),
    }
}

/// Whether each coordinate is bounded by its box on both sides, or h has no box.
fn closed(h: &Separable, n: usize) -> bool {
    let open = |c| {
        let (lower, upper) = h.bounds(c);
        lower.is_finite() != upper.is_finite() || (lower.is_infinite() && h.slopes(c) == (0.0, 0.0))
    };
    matches!(h, Separable::GroupL2 { .. }) || !(0..n).any(open)
}

/// More than twice as many rows as columns, or half as many.
fn row_count(n: usize, deficient: bool) -> usize {
    if deficient { n.div_ceil(2) } else { 2 * n + 2 }
}

fn design(n: usize, deficient: bool, draw: &mut Draw) -> Dense {
    let sparse = draw.chance(0.3);
    draw.matrix(row_count(n, deficient), n, sparse)
}

/// Sometimes none; otherwise one per row, now and then 0.
fn row_weights(rows: usize, draw: &mut Draw) -> Option<Vec<f64>> {
    let weight = |draw: &mut Draw| if draw.chance(0.05) { 0.0 } else { draw.uniform(0.3, 2.0) };
    draw.chance(0.5).then(|| (0..rows).map(|_| weight(draw)).collect())
}

fn quadratic(n: usize, deficient: bool, draw: &mut Draw) -> Smooth {
    let m = design(n, deficient, draw);
    let mut q = m.gram();
    if deficient {
        let u = draw.normals(m.rows, 1.0);
        return Smooth::Quadratic { c: m.transpose_times(&u), q };
    }
    q.data.iter_mut().for_each(|entry| *entry /= n as f64);
    Smooth::Quadratic { q, c: draw.normals(n, 2.0) }
}

fn factor(n: usize, deficient: bool, draw: &mut Draw) -> Smooth {
    let m = design(n, deficient, draw);
    let c = if deficient { m.transpose_times(&draw.normals(m.rows, 1.0)) } else { draw.normals(n, 3.0) };
    Smooth::Factor { m, c }
}

fn loss(kind: LossKind, n: usize, deficient: bool, draw: &mut Draw) -> Smooth {
    let m = design(n, deficient, draw);
    let (loss, y) = kind.draw(&m, draw);
    Smooth::Loss { loss, y, weights: row_weights(m.rows, draw), m }
}

/// Rows that span everything, each once more with the other label: no direction separates them.
fn both_ways(kind: LossKind, n: usize, draw: &mut Draw) -> Smooth {
    let mut m = design(n, false, draw);
    let (loss, mut y) = kind.draw(&m, draw);
    // The first n rows are independent.
    for r in 0..n {
        let row = m.row(r).to_vec();
        m.data.extend(row);
        y.push(-y[r]);
    }
    m.rows += n;
    let weights = draw.chance(0.5).then(|| draw.uniforms(m.rows, 0.3, 2.0));
    Smooth::Loss { loss, m, y, weights }
}

fn distance(n: usize, draw: &mut Draw) -> Smooth {
    Smooth::Distance { target: draw.normals(n, 2.0), weights: draw.weights(n, 0.1, 2.0) }
}

/// Two to four terms, strongly convex together where one of them is linear.
fn sum(n: usize, draw: &mut Draw) -> Smooth {
    let linear = Smooth::Linear { c: draw.normals(n, 1.0) };
    let deficient = draw.chance(0.5) && n > 1;
    let terms = match draw.index(0, 4) {
        0 => vec![loss(LossKind::LeastSquares, n, deficient, draw), distance(n, draw)],
        1 => vec![loss(LossKind::Logistic, n, true, draw), quadratic(n, false, draw)],
        2 => vec![loss(LossKind::Huber, n, deficient, draw), linear, distance(n, draw)],
        3 => vec![loss(LossKind::SquaredHinge, n, deficient, draw), factor(n, false, draw), linear],
        _ => vec![
            loss(LossKind::Huber, n, true, draw),
            loss(LossKind::Logistic, n, true, draw),
            distance(n, draw),
            linear,
        ],
    };
    Smooth::Sum(terms)
}

/// A linear part that h outweighs in every direction.
fn dominated(kind: SeparableKind, shape: &Shape, h: &Separable, draw: &mut Draw) -> Vec<f64> {
    let n = shape.dimension;
    match (kind, h) {
        (SeparableKind::NonNegative, _) => draw.uniforms(n, 0.1, 2.0),
        (SeparableKind::GroupL2, Separable::GroupL2 { weights }) => {
            let mut c = draw.normals(n, 1.0);
            for (block, weight) in shape.boundaries().windows(2).zip(weights) {
                let group = &mut c[block[0]..block[1]];
                let norm = group.iter().map(|v| v * v).sum::<f64>().sqrt();
                let factor = weight * draw.uniform(0.1, 0.8) / norm;
                for v in group {
                    *v *= factor;
                }
            }
            c
        }
        (SeparableKind::Box | SeparableKind::L1Box | SeparableKind::ElasticNet, _) => draw.normals(n, 1.0),
        _ => {
            let within = |c: usize, share: f64| {
                let (fall, rise) = h.slopes(c);
                share * if share < 0.0 { rise } else { fall }
            };
            (0..n).map(|c| within(c, draw.uniform(-0.8, 0.8))).collect()
        }
    }
}
