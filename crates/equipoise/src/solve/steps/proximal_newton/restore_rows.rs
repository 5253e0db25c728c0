//! Brings a proximal point, which is inexact, back to `A z = b`.
//!
//! What the rows lack is spread over the coordinates that are free to take it, `z_F -= A_F'(A_F A_F')^+ (A z - b)`, cut at
//! the bounds, and again for what the bounds cut off. Must not know: how the point was found.

use super::ProximalNewton;
use crate::matrix::{PseudoInverse, axpy, max_abs};
use crate::separable::SeparableTerm;
use crate::smooth::Factored;
use crate::team::Team;

/// Times that what the rows lack is spread over the free coordinates; the share of it that is little; how many
/// coordinates then take part.
const MOST_RESTORATIONS: u32 = 6;
const LITTLE: f64 = 1e-3;
const ENOUGH_TO_RESTORE: usize = 8192;

impl<H: SeparableTerm> ProximalNewton<'_, H> {
    /// `A z - b`.
    pub(super) fn lacking(&self, z: &[f64]) -> Vec<f64> {
        let mut lacking = vec![0.0; self.coupling.rows()];
        if self.team.is_alone() {
            self.coupling.residual(z, &mut lacking);
            self.team.total(&mut lacking);
            return lacking;
        }
        let uniform = self.coupling.uniform_row();
        self.team.add(z.len(), &mut lacking, |range, lacking| match uniform {
            Some(a) => lacking[0] += a * z[range].iter().sum::<f64>(),
            None => range.for_each(|c| self.coupling.add_column(c, z[c], lacking)),
        });
        axpy(-1.0, &self.rhs, &mut lacking);
        lacking
    }

    /// Spreads what `A z = b` lacks over coordinates that are free to take it.
    pub(super) fn restore_rows(&self, free: &[u32], z: &mut [f64], product: &mut [f64]) {
        let m = self.coupling.rows();
        // By how much each moves; until then, where it began.
        let mut amounts: Vec<f64> = free.iter().map(|&c| z[c as usize]).collect();
        let (mut first, mut last) = (0.0, f64::INFINITY);
        for _ in 0..MOST_RESTORATIONS {
            let lacking = self.lacking(z);
            let worst = max_abs(&lacking);
            // What does not get smaller any more is rounding.
            if worst == 0.0 || worst >= last {
                break;
            }
            if first == 0.0 {
                first = worst;
            }
            last = worst;
            // Once little is left a few coordinates can take it.
            let stride = if worst <= LITTLE * first { (free.len() / ENOUGH_TO_RESTORE).max(1) } else { 1 };
            let able = |c: &u32| {
                let (lo, hi) = self.h.term().subdifferential(*c as usize, z[*c as usize]);
                lo == hi
            };
            let able: Vec<u32> = free.iter().step_by(stride).copied().filter(able).collect();
            let mut gram = vec![0.0; m * m];
            match self.coupling.uniform_row() {
                Some(a) => gram[0] = a * a * able.len() as f64,
                None => able.iter().for_each(|&c| self.coupling.add_outer(c as usize, 1.0, &mut gram)),
            }
            self.team.total(&mut gram);
            let mut y = vec![0.0; m];
            PseudoInverse::new(&gram, m).apply(&lacking, &mut y);
            for c in able {
                let c = c as usize;
                let (lower, upper) = self.h.term().domain(c);
                z[c] = (z[c] - self.coupling.column_dot(c, &y)).max(lower).min(upper);
            }
        }
        free.iter().zip(&mut amounts).for_each(|(&c, amount)| *amount = z[c as usize] - *amount);
        add_columns(&self.team, &self.factored, free, &amounts, product);
    }
}

/// `out += sum_k amounts_k Z_c`, c the k-th of the given columns, by a team.
fn add_columns(team: &Team, factored: &dyn Factored, columns: &[u32], amounts: &[f64], out: &mut [f64]) {
    team.add(columns.len(), out, |range, out| {
        factored.add_columns(&columns[range.clone()], &amounts[range], out);
    });
}
