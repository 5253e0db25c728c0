//! Experiments with several threads: steps by the theorems, artificial delays.
//!
//! | rule | steps | where from |
//! |---|---|---|
//! | `blocks` | the solver's own, every block by its share of updates | `solve/gears/staleness.rs` of `equipoise` |
//! | `sharp` | one for all, `1 / (1 + 2 theta tau)` | [`sharp_step`] |
//! | `paper` | one for all, the largest that Theorem 2 allows | [`theorem_2_step`] |
//!
//! - Given: a rule, a delay. Returns: an [`Experiment`] for [`Solver::experiment`](equipoise::Solver::experiment).
//! - Must not know: threads, how a pair is solved.

use std::time::Duration;

use equipoise::{Error, Experiment, Result, Staleness, Steps};

use crate::{sharp_step, theorem_2_step};

/// Most microseconds of artificial delay.
const MOST_DELAY: u64 = 1_000_000;

/// How the steps of several threads allow for what they do not see of each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum StepRule {
    /// The solver's own: every block by its share of updates, `D_i = L_i (1 + tau p_i)`.
    #[default]
    Blocks,
    /// One step for all, `1 / (1 + 2 theta tau)`.
    Sharp,
    /// One step for all, the largest that Theorem 2 of the paper allows.
    Paper,
}

equipoise::named!(StepRule, "step-rule":
    "blocks" => Self::Blocks,
    "sharp" => Self::Sharp,
    "paper" => Self::Paper,
);

/// Steps by a rule, and a delay in each of the first two steps of an update.
///
/// ```
/// use equipoise::{Coupling, Method, Problem, Settings, Solver, Status, smooth::Distance};
/// use equipoise_theory::{Delayed, StepRule};
/// let problem = Problem::builder(Distance::new(vec![1.0; 8], 0.5)?).coupling(Coupling::sum(2.0)?).build()?;
/// let settings = Settings { method: Method::Pairs, threads: 2, ..Settings::default() };
/// let delayed = Delayed::new(StepRule::Sharp, 5)?;
/// let solution = Solver::new(&problem, &settings).experiment(&delayed).run()?;
/// assert_eq!(solution.status, Status::Converged);
/// # Ok::<(), equipoise::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Delayed {
    rule: StepRule,
    delay_us: u64,
}

impl Delayed {
    /// A rule and a delay in microseconds, at most a million.
    pub fn new(rule: StepRule, delay_us: u64) -> Result<Self> {
        if delay_us > MOST_DELAY {
            let allowed = "at most 1000000 microseconds";
            return Err(Error::InvalidSetting { name: "delay-us", found: delay_us as f64, allowed });
        }
        Ok(Self { rule, delay_us })
    }

    /// Its rule.
    pub fn rule(self) -> StepRule {
        self.rule
    }

    /// Its delay in microseconds.
    pub fn delay_us(self) -> u64 {
        self.delay_us
    }
}

impl Experiment for Delayed {
    fn delay(&self) -> Duration {
        Duration::from_micros(self.delay_us)
    }

    fn steps(&self, staleness: &Staleness<'_>) -> Option<Steps> {
        match self.rule {
            StepRule::Blocks => None,
            StepRule::Sharp => {
                let most = staleness.chances.iter().map(|[p, q]| p + q).fold(0.0, f64::max);
                Some(Steps::of_all(sharp_step(staleness.tau, staleness.is_decomposable.then_some(most))))
            }
            StepRule::Paper => Some(Steps::of_all(theorem_2_step(staleness.tau))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use equipoise::separable::NonNegative;
    use equipoise::smooth::Distance;
    use equipoise::{Coupling, Locking, Method, Problem, Settings, Solver, Status};

    #[test]
    fn steps_are_those_of_the_rule() {
        let chances = [[1e-4, 1e-4]; 10];
        let stale = Staleness::new(15.0, &chances, true);
        let alpha = |rule| Delayed { rule, delay_us: 0 }.steps(&stale).map(|steps| steps.alpha);
        assert_eq!(alpha(StepRule::Blocks), None);
        let sharp = alpha(StepRule::Sharp).expect("a step");
        assert!((sharp - 1.0 / (1.0 + 30.0 * 2e-4f64.sqrt())).abs() < 1e-12);
        assert_eq!(alpha(StepRule::Paper), Some(theorem_2_step(15.0)));
        let full = Staleness::new(0.0, &chances, true);
        let sharp = Delayed { rule: StepRule::Sharp, delay_us: 0 }.steps(&full);
        assert_eq!(sharp, Some(Steps::of_all(1.0)));
        let late = Delayed::new(StepRule::Blocks, 1_000_001);
        assert!(matches!(late, Err(Error::InvalidSetting { name: "delay-us", .. })));
    }

    /// Six variables on one row, where all give way by 1/2; the point of the simplex nearest to a target.
    #[test]
    fn every_rule_reaches_the_optimum() {
        let f = Distance::new(vec![1.0, 2.0, 3.0, 1.0, 2.0, 3.0], 0.5).expect("finite");
        let six = Problem::builder(f).coupling(Coupling::sum(9.0).expect("finite")).build().expect("valid");
        let f = Distance::new(vec![0.6, 0.8, -0.3, 0.1], 0.5).expect("finite");
        let simplex =
            Problem::builder(f).separable(NonNegative).coupling(Coupling::sum(1.0).expect("finite"));
        let simplex = simplex.build().expect("valid");
        for rule in [StepRule::Blocks, StepRule::Sharp, StepRule::Paper] {
            for locking in [Locking::None, Locking::Single, Locking::Double] {
                for (threads, delay) in [(2, 0), (3, 50)] {
                    // The paper's step is tiny.
                    let tolerance = if rule == StepRule::Paper { 1e-4 } else { 1e-6 };
                    let pairs = Settings { method: Method::Pairs, threads, locking, ..Settings::default() };
                    let settings = Settings { tolerance, ..pairs };
                    let delayed = Delayed::new(rule, delay).expect("short");
                    let name = format!("{rule:?}, {threads} threads, {locking:?}");
                    let found = Solver::new(&six, &settings).experiment(&delayed).run().expect("valid");
                    assert_eq!(found.status, Status::Converged, "{name}");
                    assert!((found.certificate.objective - 0.75).abs() < 2.0 * tolerance, "{name}");
                    let found = Solver::new(&simplex, &settings).experiment(&delayed).run().expect("valid");
                    assert_eq!(found.status, Status::Converged, "{name}");
                    assert!((found.certificate.objective - 0.09).abs() < 2.0 * tolerance, "{name}");
                }
            }
        }
    }
}
