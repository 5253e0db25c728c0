//! Rows that are tight: kept apart from one another, and held to the last digit.
//!
//! ```text
//! w <- w + D A'(A D A')^-1 r ,     r what tight rows lack of their ends,  D the room that free weights have
//! ```
//!
//! - Given: a solve under way. Returns: the same with fewer tight rows, or with weights moved by what rounding left.
//! - Must not know: which rows are to be tight.

use equipoise::matrix::{axpy, dot};

use crate::active::{Stand, Work};
use crate::factor::Factor;

impl Work<'_, '_> {
    /// Rows that were tight must be so independently of one another on the free weights.
    pub(crate) fn keep_independent(&mut self) {
        let mut kept: Vec<Vec<f64>> = Vec::new();
        for k in 0..self.state.stands.len() {
            if !self.state.stands[k].is_tight() {
                continue;
            }
            let mut row = self.on_free(k);
            let whole = dot(&row, &row);
            for _ in 0..2 {
                for other in &kept {
                    let share = dot(other, &row);
                    axpy(-share, other, &mut row);
                }
            }
            let rest = dot(&row, &row);
            if rest > 1e-16 * whole && rest > 0.0 {
                let length = rest.sqrt();
                row.iter_mut().for_each(|entry| *entry /= length);
                kept.push(row);
            } else {
                let (low, high) = self.program.ends(k);
                self.state.stands[k] = if low == high { Stand::Short } else { Stand::Inside };
            }
        }
    }

    /// Whether a tight row is off its end by more than a rounding error.
    pub(crate) fn is_off(&self) -> bool {
        self.state.stands.iter().enumerate().any(|(k, stand)| {
            let (low, high) = self.program.ends(k);
            let end = if *stand == Stand::Low { low } else { high };
            stand.is_tight() && (self.values[k] - end).abs() > 1e-15 * (1.0 + end.abs())
        })
    }

    /// Puts tight rows right by the shortest move in proportion to the room that weights have: where next to nothing bends,
    /// steps to the minimiser leave more than rounding.
    pub(crate) fn restore(&mut self) {
        for _ in 0..3 {
            if !self.is_off() {
                return;
            }
            let room = |&j: &usize| {
                let (low, high) = self.program.piece(j, self.state.sides[j]);
                (self.state.w[j] - low).min(high - self.state.w[j]).clamp(0.0, 1.0)
            };
            let rooms: Vec<f64> = self.free.iter().map(room).collect();
            let (mut factor, mut rows, mut off) = (Factor::default(), Vec::<Vec<f64>>::new(), Vec::new());
            for k in (0..self.state.stands.len()).filter(|&k| self.state.stands[k].is_tight()) {
                let row = self.on_free(k);
                let scaled: Vec<f64> = row.iter().zip(&rooms).map(|(entry, room)| entry * room).collect();
                let own = dot(&scaled, &row);
                if own <= 0.0 {
                    continue;
                }
                factor.push(rows.iter().map(|other| dot(other, &scaled)).collect(), own);
                let (low, high) = self.program.ends(k);
                let end = if self.state.stands[k] == Stand::Low { low } else { high };
                off.push(end - self.values[k]);
                rows.push(row);
            }
            factor.forward(&mut off);
            factor.backward(&mut off);
            let mut by = vec![0.0; self.free.len()];
            rows.iter().zip(&off).for_each(|(row, share)| axpy(*share, row, &mut by));
            by.iter_mut().zip(&rooms).for_each(|(by, room)| *by *= room);
            if by.iter().zip(&rooms).any(|(by, room)| by.is_nan() || by.abs() > *room) {
                return;
            }
            self.advance(&by, 1.0);
        }
    }
}
