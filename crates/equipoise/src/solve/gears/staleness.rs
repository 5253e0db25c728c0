//! How steps allow for what several threads do not see of each other.
//!
//! | rule | steps | where from |
//! |---|---|---|
//! | `blocks` | `D_i = L_i (1 + tau (p_i + PHI q_i))` for every block (without `PHI q_i` where the slave is locked, and `L_i` where both are) | updates that meet at a block move it together; with k of them `\|sum d\|^2 <= k sum \|d\|^2`, and k - 1 is `tau` times the chance to touch the block |
//! | `sharp` | `alpha = 1 / (1 + 2 theta tau)`, `theta = sqrt(p_max)` where f is a sum over coordinates, else 1 | a Lyapunov function of the last tau moves |
//! | `paper` | the largest alpha of Theorem 2 over all rho | Reddi et al. (2015), Theorem 2 |
//!
//! tau: updates under way that a read may miss. `p_i`, `q_i`: chance that an update has block i as master, as slave.
//! PHI: the slave is read late, so that only this share of the other updates are missed.
//! Must not know: threads, memory, how a pair is solved.

use crate::solve::{Locking, StepRule};

/// Share of the updates under way that the read of a slave may miss.
const PHI: f64 = 0.2;
/// Damping below this is left out: steps that all blocks share are faster.
const NEGLIGIBLE: f64 = 1.05;

/// What the rule asks for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Steps {
    /// Step of all blocks.
    pub(crate) alpha: f64,
    /// Factor on the metric of every block; empty for none.
    pub(crate) damping: Vec<f64>,
}

/// The steps for `tau` updates under way, with the chances of every block to be master and slave.
pub(crate) fn steps(
    rule: StepRule,
    locking: Locking,
    tau: f64,
    chances: &[[f64; 2]],
    decomposable: bool,
) -> Steps {
    let alpha = match rule {
        StepRule::Blocks => 1.0,
        StepRule::Sharp => {
            let most = chances.iter().map(|[p, q]| p + q).fold(0.0, f64::max);
            sharp_step(tau, decomposable.then_some(most))
        }
        StepRule::Paper => theorem_2_step(tau),
    };
    let mut damping = Vec::new();
    if rule == StepRule::Blocks {
        let [of_master, of_slave] = missed(locking);
        damping.extend(chances.iter().map(|[p, q]| 1.0 + tau * (of_master * p + of_slave * q)));
        if damping.iter().all(|factor| *factor < NEGLIGIBLE) {
            damping.clear();
        }
    }
    Steps { alpha, damping }
}

/// `1 / (1 + 2 theta tau)`, `theta = sqrt(p_max)`, at most 1; 1 where f is no sum over blocks.
fn sharp_step(tau: f64, p_max: Option<f64>) -> f64 {
    let theta = p_max.map_or(1.0, |p| p.sqrt().min(1.0));
    1.0 / (1.0 + 2.0 * theta * tau)
}

/// The supremum over rho of the smaller condition of Theorem 2.
fn theorem_2_step(tau: f64) -> f64 {
    let allowed = |rho: f64| {
        let descent = 2.0 / (1.0 + tau + tau * rho.powf(tau));
        let ratio = (rho - 1.0) / (2f64.sqrt() * (tau + 2.0) * (rho.powf(tau + 1.0) + rho));
        descent.min(ratio)
    };
    // Unimodal in rho: a golden section on log(rho - 1).
    let golden = 0.5 * (5f64.sqrt() - 1.0);
    let at = |t: f64| allowed(1.0 + t.exp());
    let (mut low, mut high) = (-20.0, 20.0);
    for _ in 0..200 {
        let (left, right) = (high - golden * (high - low), low + golden * (high - low));
        if at(left) < at(right) {
            low = left;
        } else {
            high = right;
        }
    }
    at(0.5 * (low + high))
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
        for rule in [StepRule::Blocks, StepRule::Sharp] {
            assert_eq!(
                steps(rule, Locking::None, 0.0, &chances, true),
                Steps { alpha: 1.0, damping: Vec::new() }
            );
        }
        let damped = steps(StepRule::Blocks, Locking::None, 14.0, &chances, true).damping;
        assert!((damped[0] - 2.4).abs() < 1e-12 && (damped[1] - 4.5).abs() < 1e-12);
        assert!(steps(StepRule::Blocks, Locking::Double, 14.0, &chances, true).damping.is_empty());
        let sharp = steps(StepRule::Sharp, Locking::None, 15.0, &[[1e-4, 1e-4]; 10], true).alpha;
        assert!((sharp - 1.0 / (1.0 + 30.0 * 2e-4f64.sqrt())).abs() < 1e-12);
    }
}
