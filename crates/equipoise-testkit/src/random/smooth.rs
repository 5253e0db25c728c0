//! Draws f so that f + h is bounded below on its domain and attains its minimum.
//!
//! A quadratic that is flat somewhere gets a linear part in its range. Logistic losses get, for
//! h = 0 and h = indicator of x >= 0 or of an open box, rows spanning everything with both labels,
//! so that no direction separates. Linear f is dominated by h.

use super::draw::Draw;
use super::recipe::{Recipe, SeparableKind, SmoothKind};
use super::shape::Shape;
use crate::instance::{Dense, Separable, Smooth};

pub(super) fn draw(recipe: &Recipe, shape: &Shape, h: &Separable, draw: &mut Draw) -> Smooth {
    let n = shape.dimension;
    let deficient = recipe.deficient.unwrap_or_else(|| draw.chance(0.3)) && n > 1;
    match recipe.smooth {
        SmoothKind::Quadratic => quadratic(n, deficient, draw),
        SmoothKind::Factor => factor(n, deficient, draw),
        SmoothKind::LeastSquares => least_squares(n, deficient, draw),
        SmoothKind::Logistic => logistic(n, deficient && recipe.separable.coercive() && closed(h, n), draw),
        SmoothKind::SquaredHinge => squared_hinge(n, deficient, draw),
        SmoothKind::Huber => huber(n, deficient, draw),
        SmoothKind::Distance => distance(n, draw),
        SmoothKind::Linear => Smooth::Linear { c: dominated(recipe.separable, shape, h, draw) },
        SmoothKind::Sum => sum(n, draw),
    }
}

/// Whether each coordinate is bounded by its box on both sides, or h has no box.
fn closed(h: &Separable, n: usize) -> bool {
    let open = |c| {
        let (lower, upper) = h.bounds(c);
        lower.is_finite() != upper.is_finite() || (lower.is_infinite() && h.l1_weight(c) == 0.0)
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

/// `M` times a hidden point, plus noise.
fn targets(m: &Dense, noise: f64, draw: &mut Draw) -> Vec<f64> {
    let hidden = draw.normals(m.cols, 1.0);
    m.times(&hidden).into_iter().map(|product| product + noise * draw.normal()).collect()
}

/// The sign of `M` times a hidden point plus noise.
fn labels(m: &Dense, draw: &mut Draw) -> Vec<f64> {
    targets(m, 1.0, draw).into_iter().map(|value| if value < 0.0 { -1.0 } else { 1.0 }).collect()
}

fn least_squares(n: usize, deficient: bool, draw: &mut Draw) -> Smooth {
    let m = design(n, deficient, draw);
    Smooth::LeastSquares { y: targets(&m, 0.5, draw), weights: row_weights(m.rows, draw), m }
}

fn logistic(n: usize, separable_data: bool, draw: &mut Draw) -> Smooth {
    if separable_data {
        let m = design(n, true, draw);
        return Smooth::Logistic { y: labels(&m, draw), weights: row_weights(m.rows, draw), m };
    }
    let mut m = design(n, false, draw);
    let mut y = labels(&m, draw);
    // The first n rows are independent: each once more with the other label.
    for r in 0..n {
        let row = m.row(r).to_vec();
        m.data.extend(row);
        y.push(-y[r]);
    }
    m.rows += n;
    let weights = draw.chance(0.5).then(|| draw.uniforms(m.rows, 0.3, 2.0));
    Smooth::Logistic { m, y, weights }
}

fn squared_hinge(n: usize, deficient: bool, draw: &mut Draw) -> Smooth {
    let m = design(n, deficient, draw);
    Smooth::SquaredHinge { y: labels(&m, draw), weights: row_weights(m.rows, draw), m }
}

/// One target in five lies far off.
fn huber(n: usize, deficient: bool, draw: &mut Draw) -> Smooth {
    let m = design(n, deficient, draw);
    let mut y = targets(&m, 0.3, draw);
    for target in &mut y {
        if draw.chance(0.2) {
            *target += 4.0 * draw.away_from_zero();
        }
    }
    Smooth::Huber { y, delta: draw.uniform(0.3, 1.5), weights: row_weights(m.rows, draw), m }
}

fn distance(n: usize, draw: &mut Draw) -> Smooth {
    Smooth::Distance { target: draw.normals(n, 2.0), weights: draw.weights(n, 0.1, 2.0) }
}

/// Two to four terms, strongly convex together where one of them is linear.
fn sum(n: usize, draw: &mut Draw) -> Smooth {
    let linear = Smooth::Linear { c: draw.normals(n, 1.0) };
    let deficient = draw.chance(0.5) && n > 1;
    let terms = match draw.index(0, 4) {
        0 => vec![least_squares(n, deficient, draw), distance(n, draw)],
        1 => vec![logistic(n, true, draw), quadratic(n, false, draw)],
        2 => vec![huber(n, deficient, draw), linear, distance(n, draw)],
        3 => vec![squared_hinge(n, deficient, draw), factor(n, false, draw), linear],
        _ => vec![huber(n, true, draw), logistic(n, true, draw), distance(n, draw), linear],
    };
    Smooth::Sum(terms)
}

/// A linear part that h outweighs in every direction.
fn dominated(kind: SeparableKind, shape: &Shape, h: &Separable, draw: &mut Draw) -> Vec<f64> {
    let n = shape.dimension;
    match (kind, h) {
        (SeparableKind::NonNegative, _) => draw.uniforms(n, 0.1, 2.0),
        (SeparableKind::L1, Separable::L1 { weights }) => {
            weights.iter().map(|weight| weight * draw.uniform(-0.8, 0.8)).collect()
        }
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
        _ => draw.normals(n, 1.0),
    }
}
