//! Problems whose optimum is known exactly: fractions that were checked by hand.
//!
//! Multipliers are those of `L = f + h + lambda'(Ax - b)`. Optima are fractions written as such.

mod fused_lasso;
mod support_vectors;

use crate::instance::{Blocks, Coupling, Dense, Instance, Loss, Separable, Smooth};

/// A problem and its optimum.
#[derive(Clone, Debug, PartialEq)]
pub struct Known {
    /// The problem.
    pub instance: Instance,
    /// The optimal value.
    pub objective: f64,
    /// An optimal point, where written down.
    pub x: Option<Vec<f64>>,
    /// Whether [`Known::x`] is the only optimal point.
    pub unique: bool,
    /// Optimal multipliers, where written down.
    pub multipliers: Option<Vec<f64>>,
}

/// All of them.
pub fn all() -> Vec<Known> {
    let mut list = zero_sum_lasso();
    list.push(block_pairs_stall());
    list.extend(fused_lasso::all());
    list.push(consensus());
    list.extend(support_vectors::all());
    list
}

/// 4.2: `1/2 ||X beta - y||^2 + gamma ||beta||_1`, `sum beta = 0`; two gammas, two kinds of blocks.
pub fn zero_sum_lasso() -> Vec<Known> {
    let optima = [
        (3.0, 241.0 / 22.0, [10.0 / 11.0, 0.0, 0.0, -10.0 / 11.0], 16.0 / 11.0),
        (1.0, 421.0 / 64.0, [41.0 / 32.0, -3.0 / 32.0, 0.0, -19.0 / 16.0], 45.0 / 32.0),
    ];
    let m = Dense::from_rows(&[
        [1.0, 0.0, 2.0, -1.0],
        [0.0, 1.0, 1.0, 1.0],
        [1.0, 1.0, 0.0, 2.0],
        [2.0, -1.0, 1.0, 0.0],
        [0.0, 1.0, -1.0, 1.0],
    ]);
    let y = vec![3.0, -1.0, -2.0, 4.0, 1.0];
    let cases = optima.into_iter().flat_map(|case| [(case, Blocks::Auto), (case, Blocks::Size(1))]);
    let known = cases.map(|((gamma, objective, x, multiplier), blocks)| Known {
        instance: Instance {
            name: format!("known/zero-sum-lasso/gamma{gamma}/{}", blocks.kind()),
            smooth: Smooth::Loss { loss: Loss::LeastSquares, m: m.clone(), y: y.clone(), weights: None },
            separable: Separable::L1 { weights: vec![gamma; 4] },
            coupling: Coupling::Sum(0.0),
            blocks,
            dimension: 4,
        },
        objective,
        x: Some(x.to_vec()),
        unique: true,
        multipliers: Some(vec![multiplier]),
    });
    known.collect()
}

/// 4.3: `1/2 ||x - c||^2 + 2 ||x||_1`, two rows, three blocks of two: every pair of blocks stalls at 0.
pub fn block_pairs_stall() -> Known {
    let rows = Dense::from_rows(&[[-1.0, -2.0, 1.0, 0.0, 2.0, 2.0], [-2.0, 1.0, -2.0, -1.0, 0.0, 1.0]]);
    Known {
        instance: Instance {
            name: "known/block-pairs-stall".into(),
            smooth: Smooth::Distance {
                target: vec![-1.0, -3.0, -2.0, 0.0, 0.0, -2.0],
                weights: vec![0.5; 6],
            },
            separable: Separable::L1 { weights: vec![2.0; 6] },
            coupling: Coupling::Rows { matrix: rows, rhs: vec![0.0; 2] },
            blocks: Blocks::Size(2),
            dimension: 6,
        },
        objective: 35.0 / 4.0,
        x: Some(vec![0.0, -0.5, -0.4, 0.0, 0.0, -0.3]),
        unique: true,
        multipliers: Some(vec![0.2, -0.1]),
    }
}

/// 4.5 (a): the dual of a consensus of three, `sum lambda_i^2 / (2 mu_i) + c_i lambda_i`, `sum lambda = 0`.
pub fn consensus() -> Known {
    let mut q = Dense::zeros(3, 3);
    for (i, mu) in [1.0_f64, 2.0, 4.0].into_iter().enumerate() {
        q.row_mut(i)[i] = mu.recip();
    }
    Known {
        instance: Instance {
            name: "known/consensus-dual".into(),
            smooth: Smooth::Quadratic { q, c: vec![1.0, -1.0, 2.0] },
            separable: Separable::Zero,
            coupling: Coupling::Sum(0.0),
            blocks: Blocks::Size(1),
            dimension: 3,
        },
        objective: -6.0,
        x: Some(vec![0.0, 4.0, -4.0]),
        unique: true,
        multipliers: Some(vec![-1.0]),
    }
}
