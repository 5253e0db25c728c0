//! What is tight at the optimum, guessed for all weights at once (primal-dual active set; Hintermueller, Ito and Kunisch 2002).
//!
//! - Given: an active set at its start. Returns: nothing but a better start. Must not know: whether the guess is right; the active
//!   set goes on from it one by one.
//!
//! A round solves for the free weights with the rows kept, then lets every weight change sides that wants to. It takes a
//! handful of rounds, or does not end: the best round counts. Worth it where a step costs passes over all data.

use equipoise::{Control, Pass};

use crate::active::{Side, Stand, Work};

/// Most rounds.
const ROUNDS: usize = 30;
/// Rounds without progress before the end.
const PATIENCE: usize = 4;

impl Work<'_, '_> {
    /// Moves to a point where fewer weights are on the wrong side.
    pub(crate) fn guess(&mut self, control: &Control) -> Pass {
        let (mut fewest, mut patience) = (usize::MAX, PATIENCE);
        let mut best = (self.state.w.clone(), self.state.sides.clone());
        for _ in 0..ROUNDS {
            control.check()?;
            self.tighten_rows();
            let direction = self.direction(false);
            let before = self.state.w.clone();
            for (&j, d) in self.free.iter().zip(&direction) {
                self.state.w[j] += d;
                self.slopes[j] += self.program.ridge * d;
            }
            self.program.curvature.add_product(&self.free, &direction, &mut self.slopes);
            let wrong = self.change_sides();
            if wrong == 0 {
                best = (self.state.w.clone(), self.state.sides.clone());
                break;
            }
            if wrong < fewest {
                best = (before, self.state.sides.clone());
                (fewest, patience) = (wrong, PATIENCE);
            } else {
                patience -= 1;
            }
            if patience == 0 {
                break;
            }
            self.settle();
            self.renew();
        }
        (self.state.w, self.state.sides) = best;
        self.settle();
        self.begin();
        Ok(())
    }

    /// Rows that ask for something are kept: equalities, and what is missed or was tight.
    fn tighten_rows(&mut self) {
        for k in 0..self.state.stands.len() {
            let ((low, high), value) = (self.program.ends(k), self.values[k]);
            let stand = &mut self.state.stands[k];
            *stand = match *stand {
                _ if low == high || value < low => Stand::Low,
                _ if value > high => Stand::High,
                own => own,
            };
        }
        self.keep_independent();
    }

    /// Every weight goes where it wants to; how many.
    fn change_sides(&mut self) -> usize {
        let mut wrong = 0;
        for at in 0..self.free.len() {
            let j = self.free[at];
            let (side, w) = (self.state.sides[j], self.state.w[j]);
            let (low, high) = self.program.piece(j, side);
            let slack = 1e-14 * (1.0 + w.abs());
            if w > high + slack || w < low - slack {
                self.state.sides[j] = self.program.end_of(j, side, w > high);
                wrong += 1;
            }
        }
        let mut was_free = vec![false; self.state.w.len()];
        self.free.iter().for_each(|&j| was_free[j] = true);
        let (slopes, price, largest) = self.prices();
        for j in 0..slopes.len() {
            if was_free[j] {
                continue;
            }
            if let Some((gain, side)) = self.gain(j, slopes[j], price)
                && gain > 1e-10 * largest
            {
                self.state.sides[j] = side;
                wrong += 1;
            }
        }
        wrong
    }

    /// Puts every weight on its piece.
    fn settle(&mut self) {
        for j in 0..self.state.w.len() {
            let side = self.state.sides[j];
            let (low, high) = self.program.piece(j, side);
            self.state.w[j] = match side {
                Side::Lower => self.program.lower[j],
                Side::Upper => self.program.upper[j],
                Side::Kink => self.program.kinks.map_or(self.state.w[j], |kinks| kinks.at[j]),
                Side::Below | Side::Above => self.state.w[j].clamp(low, high.max(low)),
            };
        }
    }
}
