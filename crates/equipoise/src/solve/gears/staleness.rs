//! How steps allow for what several threads do not see of each other.
//!
//! ```text
//! D_i = L_i (1 + tau (p_i + PHI q_i))
//! ```
//!
//! for every block (without `PHI q_i` where the slave is locked, and `L_i` where both are): updates that meet at a block
//! move it together; with k of them `|sum d|^2 <= k sum |d|^2`, and k - 1 is `tau` times the chance to touch the block.
//!
//! tau: updates under way that a read may miss. `p_i`, `q_i`: chance that an update has block i as master, as slave.
//! PHI: the slave is read late, so that only this share of the other updates are missed.
//! Must not know: threads, memory, how a pair is solved.

use crate::solve::{Locking, Steps};

/// Share of the updates under way that the read of a slave may miss.
const PHI: f64 = 0.2;
/// Damping below this is left out: steps that all blocks share are faster.
const NEGLIGIBLE: f64 = 1.05;

/// The steps for `tau` updates under way, with the chances of every block to be master and slave.
pub(crate) fn steps(locking: Locking, tau: f64, chances: &[[f64; 2]]) -> Steps {
    let [of_master, of_slave] = missed(locking);
    let damping: Vec<f64> = chances.iter().map(|[p, q]| 1.0 + tau * (of_master * p + of_slave * q)).collect();
    if damping.iter().all(|factor| *factor < NEGLIGIBLE) {
        Steps::of_all(1.0)
    } else {
        Steps::damped(damping)
    }
}

/// Shares of the updates under way that the reads of a master and of a slave may miss.
fn missed(locking: Locking) -> [f64; 2] {
    match locking {
        // Nobody else moves a block that is locked.
        Locking::Double => [0.0, 0.0],
        Locking::Single => [1.0, 0.0],
        Locking::None => [1.0, PHI],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thread_steps_in_full_and_a_hub_is_damped_alone() {
        let chances = vec![[0.0, 0.5], [0.25, 0.0], [0.25, 0.0]];
        assert_eq!(steps(Locking::None, 0.0, &chances), Steps::of_all(1.0));
        let damped = steps(Locking::None, 14.0, &chances).damping;
        assert!((damped[0] - 2.4).abs() < 1e-12 && (damped[1] - 4.5).abs() < 1e-12);
        assert!(steps(Locking::Double, 14.0, &chances).damping.is_empty());
    }
}
