//! 4.1: the dual of a linear support vector machine with bias on eight points of the plane.
//!
//! `minimise 1/2 ||sum beta_i x_i||^2 - y'beta`, `sum beta = 0`, `0 <= y_i beta_i <= C_i`: the value
//! is -D*, the multiplier of the sum is the bias b*. The squared hinge `C sum xi^2` adds
//! `sum beta_i^2 / (4C)` and drops the far bound.

use super::Known;
use crate::instance::{Blocks, Coupling, Dense, Instance, Separable, Smooth};

const LABELS: [f64; 8] = [1.0, 1.0, 1.0, 1.0, -1.0, -1.0, -1.0, -1.0];

/// The three hinge cases and the squared hinge.
pub(super) fn all() -> Vec<Known> {
    let quarter = [0.25, 0.0, 0.25, 0.25, -0.25, -0.23, -0.02, -0.25];
    let weighted = [0.0, 0.0, 0.75, 1.0, -0.5, -0.5, -0.25, -0.5];
    let unit = [17.0 / 81.0, 0.0, 1.0, 1.0, -59.0 / 81.0, -13.0 / 27.0, 0.0, -1.0];
    vec![
        hinge("known/svm/hinge/c1", (1.0, 1.0), unit, (-332.0 / 81.0, -1.0 / 3.0)),
        hinge("known/svm/hinge/c0.25", (0.25, 0.25), quarter, (-251.0 / 200.0, -0.3)),
        hinge("known/svm/hinge/weighted", (2.0, 0.5), weighted, (-23.0 / 8.0, 0.5)),
        squared_hinge(),
    ]
}

fn hinge(name: &str, cost: (f64, f64), beta: [f64; 8], (objective, bias): (f64, f64)) -> Known {
    let instance = dual(name, margin(), cost);
    Known { instance, objective, x: Some(beta.to_vec()), unique: false, multipliers: Some(vec![bias]) }
}

fn squared_hinge() -> Known {
    let ridge = Smooth::Distance { target: vec![0.0; 8], weights: vec![0.25; 8] };
    let beta = [844.0, 668.0, 3084.0, 3260.0, -1016.0, -1528.0, -328.0, -4984.0];
    Known {
        instance: dual(
            "known/svm/squared-hinge/c1",
            Smooth::Sum(vec![margin(), ridge]),
            (f64::INFINITY, f64::INFINITY),
        ),
        objective: -7856.0 / 1629.0,
        x: Some(beta.iter().map(|numerator| numerator / 1629.0).collect()),
        unique: true,
        multipliers: Some(vec![-115.0 / 543.0]),
    }
}

fn dual(name: &str, smooth: Smooth, (positive, negative): (f64, f64)) -> Instance {
    let lower = LABELS.iter().map(|y| if *y > 0.0 { 0.0 } else { -negative }).collect();
    let upper = LABELS.iter().map(|y| if *y > 0.0 { positive } else { 0.0 }).collect();
    Instance {
        name: name.into(),
        smooth,
        separable: Separable::Box { lower, upper },
        coupling: Coupling::Sum(0.0),
        blocks: Blocks::Size(1),
        dimension: 8,
    }
}

/// `1/2 ||sum beta_i x_i||^2 - y'beta`, the points as columns of the factor.
fn margin() -> Smooth {
    let points = Dense::from_rows(&[
        [2.0, 1.0, 0.0, 1.0, -1.0, 1.0, -2.0, 1.0],
        [0.0, 2.0, 1.0, -1.0, 0.0, -3.0, 1.0, 1.0],
    ]);
    Smooth::Factor { m: points, c: LABELS.iter().map(|y| -y).collect() }
}
