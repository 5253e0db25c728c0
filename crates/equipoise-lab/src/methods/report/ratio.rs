//! Numbers of which only a bound may be known: a run that was given up took at least so long.

use std::fmt;

use crate::table::{figure, median};

/// Seconds or updates to the target.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Cost {
    pub(super) value: f64,
    /// Whether the target was reached; if not, the value is a lower bound.
    pub(super) reached: bool,
}

impl Cost {
    /// The median; a lower bound of it where a target was missed.
    pub(super) fn median(costs: &[Self]) -> Option<Self> {
        let value = median(costs.iter().map(|cost| cost.value).collect())?;
        Some(Self { value, reached: costs.iter().all(|cost| cost.reached) })
    }

    /// The lowest.
    pub(super) fn least(costs: impl Iterator<Item = Self>) -> Option<Self> {
        // Of equals the one that is a bound comes last.
        costs.min_by(|a, b| a.value.total_cmp(&b.value).then(b.reached.cmp(&a.reached)))
    }

    pub(super) fn over(self, other: Self) -> Ratio {
        let known = match (self.reached, other.reached) {
            (true, true) => Known::Exactly,
            (false, true) => Known::AtLeast,
            (true, false) => Known::AtMost,
            (false, false) => Known::Nothing,
        };
        Ratio { value: self.value / other.value, known }
    }
}

/// What a ratio says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Known {
    Exactly,
    AtLeast,
    AtMost,
    Nothing,
}

/// One cost over another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Ratio {
    pub(super) value: f64,
    pub(super) known: Known,
}

impl Ratio {
    /// Whether it is shown to be so large.
    pub(super) fn is_at_least(self, least: f64) -> bool {
        matches!(self.known, Known::Exactly | Known::AtLeast) && self.value >= least
    }

    /// Whether it is shown to be so small.
    pub(super) fn is_at_most(self, most: f64) -> bool {
        matches!(self.known, Known::Exactly | Known::AtMost) && self.value <= most
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.known {
            Known::Exactly => write!(formatter, "{}x", figure(self.value)),
            Known::AtLeast => write!(formatter, ">{}x", figure(self.value)),
            Known::AtMost => write!(formatter, "<{}x", figure(self.value)),
            Known::Nothing => formatter.write_str("neither reached"),
        }
    }
}

/// Ratios of several seeds.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Ratios(pub(super) Vec<Ratio>);

impl Ratios {
    pub(super) fn least(&self) -> Option<Ratio> {
        self.0.iter().copied().min_by(|a, b| order(*a).total_cmp(&order(*b)))
    }

    pub(super) fn most(&self) -> Option<Ratio> {
        self.0.iter().copied().max_by(|a, b| order(*a).total_cmp(&order(*b)))
    }

    /// The middle one, the lower of two.
    pub(super) fn middle(&self) -> Option<Ratio> {
        let mut sorted = self.0.clone();
        sorted.sort_by(|a, b| order(*a).total_cmp(&order(*b)));
        sorted.get(sorted.len().checked_sub(1)? / 2).copied()
    }
}

/// Where both sides missed, nothing is known, and nothing is better.
fn order(ratio: Ratio) -> f64 {
    if ratio.known == Known::Nothing { f64::NEG_INFINITY } else { ratio.value }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_was_given_up_bounds_a_ratio() {
        let cost = |value, reached| Cost { value, reached };
        let slow = cost(60.0, false).over(cost(2.0, true));
        assert_eq!(slow.to_string(), ">30.0x");
        assert!(slow.is_at_least(10.0) && !slow.is_at_least(40.0) && !slow.is_at_most(100.0));
        let fast = cost(2.0, true).over(cost(60.0, false));
        assert!(fast.is_at_most(1.0) && !fast.is_at_least(0.01));
        assert!(!cost(1.0, false).over(cost(1.0, false)).is_at_most(2.0));
    }

    #[test]
    fn medians_and_the_lowest_know_what_they_are() {
        let cost = |value, reached| Cost { value, reached };
        let all = [cost(1.0, true), cost(9.0, false), cost(2.0, true)];
        assert_eq!(Cost::median(&all), Some(cost(2.0, false)));
        assert_eq!(Cost::least(all.into_iter()), Some(cost(1.0, true)));
        let ratios = Ratios(vec![cost(6.0, true).over(all[0]), cost(4.0, true).over(all[2])]);
        assert_eq!(ratios.least().map(|ratio| ratio.value), Some(2.0));
        assert_eq!(ratios.middle().map(|ratio| ratio.value), Some(2.0));
        assert_eq!(ratios.most().map(|ratio| ratio.value), Some(6.0));
    }
}
