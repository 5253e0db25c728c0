//! Draws A; b is set when the draft is finished.

use super::draw::Draw;
use super::recipe::{CouplingKind, Recipe};
use super::shape::Shape;
use crate::instance::{Coupling, Dense};

pub(super) fn draw(recipe: &Recipe, shape: &Shape, draw: &mut Draw) -> Coupling {
    let (n, rows) = (shape.dimension, shape.rows);
    match recipe.coupling {
        CouplingKind::None => Coupling::None,
        CouplingKind::Sum => Coupling::Sum(0.0),
        CouplingKind::BlockSum => Coupling::BlockSum(vec![0.0; rows]),
        CouplingKind::Row => {
            Coupling::Row { weights: (0..n).map(|_| draw.away_from_zero()).collect(), rhs: 0.0 }
        }
        CouplingKind::Rows => Coupling::Rows { matrix: draw.matrix(rows, n, false), rhs: vec![0.0; rows] },
        CouplingKind::SparseRows => Coupling::Rows { matrix: sparse_rows(shape, draw), rhs: vec![0.0; rows] },
    }
}

/// A diagonal at the head of every block keeps the rows of each block independent.
fn sparse_rows(shape: &Shape, draw: &mut Draw) -> Dense {
    let mut matrix = Dense::zeros(shape.rows, shape.dimension);
    matrix.sparse = true;
    for block in shape.boundaries().windows(2) {
        for c in block[0]..block[1] {
            for r in 0..shape.rows {
                if c - block[0] == r {
                    matrix.row_mut(r)[c] = draw.away_from_zero();
                } else if draw.chance(0.3) {
                    matrix.row_mut(r)[c] = draw.normal();
                }
            }
        }
    }
    matrix
}
