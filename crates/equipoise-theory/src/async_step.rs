//! The largest step alpha under a delay of tau updates.
//!
//! | rule | alpha | where from |
//! |---|---|---|
//! | printed | `sup_{rho > 1} min(2 / (1 + tau + tau rho^tau), (rho - 1) / (sqrt2 (tau + 2)(rho^(tau+1) + rho)))` | the paper, Theorem 2 |
//! | repaired | the same with `tau + 1` for `tau + 2` | its induction made sound: `rho^tau ||w^{k-1}||^2` for `rho^{tau+1} ||w^k||^2` |
//! | sharp | `1 / (1 + 2 theta tau)` | a Lyapunov function of the last tau moves |
//!
//! `theta = sqrt(p_max)`, at most 1, where f is a sum over blocks (`p_max`: the largest probability that an update takes
//! part in a block), else 1. For large tau the first two are about `0.19 / tau^2`.
//!
//! - Given: tau, `p_max`. Returns: alpha. At tau = 0 the sharp rule gives 1, the others `1 / (4 sqrt2)`, `1 / (2 sqrt2)`.
//! - Must not know: threads, problems.
//!
//! Reference: the paper (UAI 2015), Theorem 2; docs/theory.md.

/// The largest step that Theorem 2 allows as printed.
pub fn theorem_2_step(tau: f64) -> f64 {
    best_over_rho(tau, tau + 2.0).0
}

/// The largest step once the induction of Theorem 2 is repaired.
pub fn repaired_step(tau: f64) -> f64 {
    best_over_rho(tau, tau + 1.0).0
}

/// The step of the sharp rule; `p_max` is that of a decomposable f, `None` for any other.
pub fn sharp_step(tau: f64, p_max: Option<f64>) -> f64 {
    let theta = p_max.map_or(1.0, |p| p.sqrt().min(1.0));
    1.0 / (1.0 + 2.0 * theta * tau)
}

/// The rho at which Theorem 2 as printed allows its largest step.
pub fn theorem_2_rho(tau: f64) -> f64 {
    best_over_rho(tau, tau + 2.0).1
}

/// The supremum over rho of the smaller condition, `moves` being the factor of the second; and where it is.
fn best_over_rho(tau: f64, moves: f64) -> (f64, f64) {
    let allowed = |rho: f64| {
        let descent = 2.0 / (1.0 + tau + tau * rho.powf(tau));
        let ratio = (rho - 1.0) / (2f64.sqrt() * moves * (rho.powf(tau + 1.0) + rho));
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
    let best = 0.5 * (low + high);
    (at(best), 1.0 + best.exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn theorem_2_gives_the_known_steps() {
        let known = [
            (1.0, 0.040),
            (2.0, 0.019),
            (4.0, 0.0071),
            (8.0, 0.0023),
            (15.0, 7.4e-4),
            (31.0, 1.9e-4),
            (63.0, 4.8e-5),
        ];
        for (tau, alpha) in known {
            assert!((theorem_2_step(tau) / alpha - 1.0).abs() < 0.03, "tau {tau}: {}", theorem_2_step(tau));
        }
        // Without delay the second condition still binds, at 1 / (4 sqrt2) as rho grows.
        assert!((theorem_2_step(0.0) - 1.0 / (4.0 * 2f64.sqrt())).abs() < 1e-3);
        let large = theorem_2_step(1000.0) * 1e6;
        assert!((large - 0.19).abs() < 0.01, "{large}");
    }

    #[test]
    fn repair_helps_and_the_sharp_rule_helps_more() {
        assert!((repaired_step(0.0) - 1.0 / (2.0 * 2f64.sqrt())).abs() < 1e-3);
        for tau in [1.0, 4.0, 15.0, 63.0] {
            let ratio = repaired_step(tau) / theorem_2_step(tau);
            // Where the second condition binds, the ratio is that of the factors.
            assert!(ratio > 1.0 && ratio <= (tau + 2.0) / (tau + 1.0) + 1e-9, "{ratio}");
            assert!(sharp_step(tau, None) > repaired_step(tau));
        }
        // A clique of 10^4 blocks: p_max = 2e-4.
        assert!((sharp_step(15.0, Some(2e-4)) - 0.70).abs() < 0.005);
        assert!((sharp_step(15.0, Some(4.0)) - 1.0 / 31.0).abs() < 1e-15);
        assert!((sharp_step(0.0, None) - 1.0).abs() < 1e-15);
    }
}
