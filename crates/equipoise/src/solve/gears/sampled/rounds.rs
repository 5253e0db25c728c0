//! How many draws a round of `svrg` or `saga` has before all slopes are taken anew.
//!
//! A round that is too long moves within the noise of its old slopes; one that is too short spends its time on taking
//! slopes. The fall of the objective of one round over that of the round before says which: rounds grow while it is
//! slow and shrink while it is fast.
//!
//! - Given: the draws that see every sample once, the draws that one step of the slowest kind takes, gains.
//! - Returns: the length of the next round, and whether it is the longest.
//! - Must not know: clocks, samples.

use crate::archive::Archive;
use crate::error::Result;

/// A round that gains more than this share of what the one before gained is slow.
const SLOW: f64 = 0.5;
/// A round that gains less than this share is fast.
const FAST: f64 = 0.2;

/// The length of rounds.
#[derive(Debug)]
pub(super) struct Rounds {
    draws: f64,
    fewest: f64,
    most: f64,
    gain: Option<f64>,
}

impl Rounds {
    /// From the draws of a pass and the curvature of the worst draw. Samples that are streamed are all seen in a
    /// round: what is not seen in one would never be.
    pub(super) fn new(pass: f64, curvature: f64, in_memory: bool) -> Self {
        let most = 2.0 * pass.max(2.0 * curvature);
        let share = |part: f64| (part * pass).max(2.0 * curvature).min(most).max(1.0);
        if in_memory {
            Self { draws: share(0.1), fewest: share(0.03), most: most.max(1.0), gain: None }
        } else {
            let pass = pass.max(1.0);
            Self { draws: pass, fewest: pass, most: pass, gain: None }
        }
    }

    /// Shows an archive how long the next round is.
    pub(super) fn carry(&mut self, archive: &mut Archive<'_>) -> Result<()> {
        archive.number(&mut self.draws)?;
        archive.maybe(&mut self.gain)
    }

    /// Draws of the next round.
    pub(super) fn draws(&self) -> u64 {
        self.draws.ceil() as u64
    }

    /// Whether rounds are as long as they get.
    pub(super) fn are_longest(&self) -> bool {
        self.draws >= self.most
    }

    /// Takes the gain of a round into account.
    pub(super) fn adapt(&mut self, gain: f64) {
        let Some(before) = self.gain.replace(gain).filter(|before| *before > 0.0) else { return };
        let ratio = gain / before;
        if ratio > SLOW {
            self.draws = (1.5 * self.draws).min(self.most);
        } else if ratio < FAST {
            self.draws = (0.7 * self.draws).max(self.fewest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_grow_while_slow_and_shrink_while_fast() {
        let mut rounds = Rounds::new(1000.0, 10.0, true);
        let after = |rounds: &mut Rounds, gain| {
            rounds.adapt(gain);
            rounds.draws()
        };
        assert_eq!(rounds.draws(), 100);
        assert_eq!([1.0, 0.9, 0.09].map(|gain| after(&mut rounds, gain)), [100, 150, 105]);
        (0..20).for_each(|_| rounds.adapt(0.09));
        assert!(rounds.are_longest() && rounds.draws() == 2000);
        (0..60).fold(1.0, |gain, _| {
            rounds.adapt(gain);
            0.1 * gain
        });
        assert_eq!(rounds.draws(), 30);
        let mut streamed = Rounds::new(1000.0, 10.0, false);
        assert_eq!([1.0, 0.9].map(|gain| after(&mut streamed, gain)), [1000, 1000]);
    }
}
