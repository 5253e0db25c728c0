//! What an x and a dual point are worth: the product, the objective, and the bound of the optimum.
//!
//! ```text
//! 1/2 |Z x|_W^2 + 1/2 d'x^2 + l'x + h(x)   >=   -1/2 |u|^2_(1/W) - sum_c (h_c + d_c/2 .^2)*(-g_c) - b'lambda ,    g_c = l_c + Z_c.u + A_c.lambda
//! ```
//!
//! Must not know: how either was found.

use std::ops::Range;

use super::ProximalNewton;
use crate::matrix::dot;
use crate::separable::SeparableTerm;
use crate::smooth::Factored;

/// Coordinates that are brought into a product at a time.
const CHUNK: usize = 4096;

impl<H: SeparableTerm> ProximalNewton<'_, H> {
    /// `Z x`.
    pub(super) fn product_of(&self, x: &[f64], product: &mut [f64]) {
        product.fill(0.0);
        if product.is_empty() {
            return;
        }
        self.team.add(x.len(), product, |range, product| {
            let (mut columns, mut amounts) = (Vec::new(), Vec::new());
            for start in range.clone().step_by(CHUNK) {
                columns.clear();
                let chunk = start..(start + CHUNK).min(range.end);
                columns.extend(chunk.map(|c| c as u32).filter(|&c| x[c as usize] != 0.0));
                amounts.clear();
                amounts.extend(columns.iter().map(|&c| x[c as usize]));
                self.factored.add_columns(&columns, &amounts, product);
            }
        });
    }

    /// `|Z x|_W^2`.
    pub(super) fn squares(&self, product: &[f64]) -> f64 {
        product.iter().enumerate().map(|(k, p)| self.factored.weight(k) * p * p).sum()
    }

    pub(super) fn objective_at(&self, x: &[f64], product: &[f64]) -> f64 {
        let own = |c: usize, x: f64| {
            x * (0.5 * self.factored.own_curvature(c) * x + self.factored.own_slope(c))
                + self.h.term().value(c, x)
        };
        let of_part = |range: Range<usize>| range.map(|c| own(c, x[c])).sum();
        0.5 * self.squares(product) + self.team.sum(x.len(), of_part)
    }

    /// The bound `-1/2 |u|^2 - sum_c (h_c + d_c/2 .^2)*(-g_c) - b'lambda` of the optimum.
    pub(super) fn lower_bound(&self) -> f64 {
        let conjugate = |c: usize| {
            let g = self.slopes[c] + self.coupling.column_dot(c, &self.lambda);
            let mut piece = self.h.piece(c);
            piece.l2 += self.factored.own_curvature(c);
            piece.conjugate(-g)
        };
        let conjugates = self.team.sum(self.slopes.len(), |range| range.map(conjugate).sum());
        let squares: f64 = self.u.iter().enumerate().map(|(k, u)| u * u / self.factored.weight(k)).sum();
        -0.5 * squares - conjugates - dot(&self.rhs, &self.lambda)
    }
}
