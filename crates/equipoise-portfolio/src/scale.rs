//! Weights in the unit of the budget.
//!
//! ```text
//! w = beta v,  beta a power of two next to |B|:   minimise  v'Sv + (kappa/beta) sum_j |v_j - c_j/beta|   under limits divided by beta
//! ```
//!
//! The objective is `beta^2` times that inside, its derivatives by right-hand sides `beta` times. Powers of two round nothing, so that what is
//! proven inside is proven outside, whether somebody counts in shares of one or in cents.
//!
//! - Given: constraints, portfolios, errors. Returns: the same in the other unit. Must not know: how anything is found.

use crate::{Constraints, Error, Group, Multipliers, Portfolio, Round, Turnover};

/// Budgets beyond this, or below one over it, are refused: their squares would soon be no numbers.
pub(crate) const LARGEST: f64 = 1e100;

/// beta.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scale(f64);

impl Scale {
    pub(crate) fn of(constraints: &Constraints) -> Self {
        let size = constraints.budget.abs();
        let near = (1.0 / 64.0..=64.0).contains(&size) || size == 0.0;
        Self(if near { 1.0 } else { size.log2().round().exp2() })
    }

    pub(crate) fn inside(self, own: &Constraints) -> Constraints {
        let list = |list: &[f64]| list.iter().map(|value| value / self.0).collect::<Vec<f64>>();
        let group = |group: &Group| Group {
            lower: group.lower / self.0,
            upper: group.upper / self.0,
            ..group.clone()
        };
        let turnover = |own: &Turnover| Turnover {
            current: list(&own.current),
            price: own.price / self.0,
            limit: own.limit / self.0,
        };
        Constraints {
            budget: own.budget / self.0,
            target_return: own.target_return.map(|target| target / self.0),
            lower: list(&own.lower),
            upper: list(&own.upper),
            groups: own.groups.iter().map(group).collect(),
            turnover: own.turnover.as_ref().map(turnover),
        }
    }

    pub(crate) fn start(self, start: Option<&[f64]>) -> Option<Vec<f64>> {
        start.map(|start| start.iter().map(|w| w / self.0).collect())
    }

    pub(crate) fn outside(self, own: Portfolio) -> Portfolio {
        let (once, twice) = (self.0, self.0 * self.0);
        let Multipliers { budget, target_return, groups, turnover } = own.multipliers;
        Portfolio {
            weights: own.weights.iter().map(|v| once * v).collect(),
            objective: twice * own.objective,
            bound: twice * own.bound,
            variance: twice * own.variance,
            holds_within: own.holds_within.map(|reach| once * reach),
            expected_return: once * own.expected_return,
            turnover: once * own.turnover,
            target_return: own.target_return.map(|target| once * target),
            multipliers: Multipliers {
                budget: once * budget,
                target_return: once * target_return,
                groups: groups.iter().map(|group| once * group).collect(),
                turnover: once * turnover,
            },
            ..own
        }
    }

    pub(crate) fn round(self, own: &Round) -> Round {
        let twice = self.0 * self.0;
        Round { objective: twice * own.objective, bound: twice * own.bound, ..*own }
    }

    pub(crate) fn number(self, inside: f64) -> f64 {
        self.0 * inside
    }

    pub(crate) fn error(self, error: Error) -> Error {
        match error {
            Error::Contradiction { row, by } => Error::Contradiction { row, by: self.0 * by },
            Error::ReturnOutOfReach { target, largest, best } => {
                Error::ReturnOutOfReach { target: self.0 * target, largest: self.0 * largest, best }
            }
            other => other,
        }
    }
}
