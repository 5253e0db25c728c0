//! 4.4: the fused lasso in the paper's variables x = (beta, t, u, v).
//!
//! ```text
//! minimise 1/2 ||Y - beta||^2 + lambda sum t
//! subject to t - D beta - u = 0,  t + D beta - v = 0,  u, v >= 0,  (D beta)_r = beta_r - beta_{r+1}
//! ```
//! With scalars or the paper's hyperedges, coordinate moves from 0 cannot reach the optimum.

use super::Known;
use crate::instance::{Blocks, Coupling, Dense, Instance, Loss, Separable, Smooth};

/// Cases (a) and (b).
pub(super) fn all() -> Vec<Known> {
    let first = Known {
        instance: chain("known/fused-lasso/a", &[1.0, 1.0, 1.0], 1.5),
        objective: 0.0,
        x: Some([vec![1.0; 3], vec![0.0; 6]].concat()),
        unique: true,
        multipliers: None,
    };
    let beta = vec![1.0, 1.5, 1.5, 4.0];
    let (t, u, v) = (vec![0.5, 0.0, 2.5], vec![1.0, 0.0, 5.0], vec![0.0; 3]);
    // From the dual z* = (-1, -1/2, -1): the rows of u carry -(1 + z)/2, those of v (z - 1)/2.
    let second = Known {
        instance: chain("known/fused-lasso/b", &[0.0, 2.0, 1.0, 5.0], 1.0),
        objective: 17.0 / 4.0,
        x: Some([beta, t, u, v].concat()),
        unique: true,
        multipliers: Some(vec![0.0, -0.25, 0.0, -1.0, -0.75, -1.0]),
    };
    vec![first, second]
}

/// The chain over the entries of `target`; rows: first those of u, then those of v.
fn chain(name: &str, target: &[f64], lambda: f64) -> Instance {
    let nodes = target.len();
    let edges = nodes - 1;
    let dimension = nodes + 3 * edges;
    let mut design = Dense::zeros(nodes, dimension);
    (0..nodes).for_each(|i| design.row_mut(i)[i] = 1.0);
    let mut matrix = Dense::zeros(2 * edges, dimension);
    for edge in 0..edges {
        for (row, sign, slack) in [(edge, -1.0, nodes + edges), (edges + edge, 1.0, nodes + 2 * edges)] {
            let row = matrix.row_mut(row);
            row[nodes + edge] = 1.0;
            row[edge] = sign;
            row[edge + 1] = -sign;
            row[slack + edge] = -1.0;
        }
    }
    let mut c = vec![0.0; dimension];
    c[nodes..nodes + edges].fill(lambda);
    let mut lower = vec![f64::NEG_INFINITY; dimension];
    lower[nodes + edges..].fill(0.0);
    let losses = Smooth::Loss { loss: Loss::LeastSquares, m: design, y: target.to_vec(), weights: None };
    Instance {
        name: name.into(),
        smooth: Smooth::Sum(vec![losses, Smooth::Linear { c }]),
        separable: Separable::Box { lower, upper: vec![f64::INFINITY; dimension] },
        coupling: Coupling::Rows { matrix, rhs: vec![0.0; 2 * edges] },
        blocks: Blocks::Auto,
        dimension,
    }
}
