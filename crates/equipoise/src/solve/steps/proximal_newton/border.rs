//! Rows that share no coordinate, taken out of a Newton system before it is factored:
//!
//! ```text
//! ( M  B' ) (du     )   (r_u)          (M - B'G^-1 B) du = r_u - B'G^-1 r_l ,     dlambda = G^-1 (r_l - B du)
//! ( B  G  ) (dlambda) = (r_l)
//! ```
//!
//! with G diagonal. `M - B'G^-1 B` is what M would be had the columns of every row their mean taken away: columns that are large
//! beside what they vary by leave a factor of the whole matrix, rows last, no digits for dlambda.
//!
//! Given: a system that is assembled. Returns: one in its place without the rows, and the way back. Must not know: what the
//! columns mean.

use super::newton_system::{NewtonSystem, Right};
use crate::matrix::{axpy, dot};

/// What was taken out.
#[derive(Debug)]
pub(super) struct Border {
    /// The rows of B, and the diagonal of G.
    rows: Vec<Vec<f64>>,
    diagonal: Vec<f64>,
    of_rows: Vec<f64>,
    right: Right,
}

impl NewtonSystem {
    /// Takes the rows out where they share no free coordinate; in the matrix 1 is left on their diagonal.
    pub(super) fn take_border_out(&mut self, right: &Right) -> Option<Border> {
        let (rank, dimension) = (self.rank, self.dimension);
        let at = |row: usize, column: usize| column * dimension + row;
        let border = rank..dimension;
        let is_apart = border.clone().all(|k| {
            (k + 1..dimension).all(|row| self.matrix[at(row, k)] == 0.0) && self.matrix[at(k, k)] > 0.0
        });
        if !is_apart || rank == 0 || border.is_empty() {
            return None;
        }
        let (mut rows, mut diagonal) = (Vec::new(), Vec::new());
        for k in border {
            let own = self.matrix[at(k, k)];
            let row: Vec<f64> = (0..rank).map(|column| self.matrix[at(k, column)]).collect();
            for (column, b) in row.iter().enumerate().filter(|(_, b)| **b != 0.0) {
                axpy(-b / own, &row[column..], &mut self.matrix[at(column, column)..at(rank, column)]);
                self.matrix[at(k, column)] = 0.0;
            }
            self.matrix[at(k, k)] = 1.0;
            rows.push(row);
            diagonal.push(own);
        }
        let none = Right { of_product: Vec::new(), of_rows: Vec::new() };
        let mut border = Border { rows, diagonal, of_rows: Vec::new(), right: none };
        border.put(right);
        Some(border)
    }
}

impl Border {
    /// Takes the rows out of a right-hand side.
    pub(super) fn put(&mut self, right: &Right) {
        let mut of_product = right.of_product.clone();
        for ((row, own), of_row) in self.rows.iter().zip(&self.diagonal).zip(&right.of_rows) {
            axpy(-of_row / own, row, &mut of_product);
        }
        self.of_rows.clone_from(&right.of_rows);
        self.right = Right { of_product, of_rows: vec![0.0; self.rows.len()] };
    }

    /// The right-hand side of what is left.
    pub(super) fn right(&self) -> &Right {
        &self.right
    }

    /// `dlambda`, behind `du`.
    pub(super) fn put_back(&self, rank: usize, solution: &mut [f64]) {
        let (du, dlambda) = solution.split_at_mut(rank);
        for (k, out) in dlambda.iter_mut().enumerate() {
            *out = (self.of_rows[k] - dot(&self.rows[k], du)) / self.diagonal[k];
        }
    }
}
