//! Ratios of seconds, and their geometric mean.

use super::times::{OURS, Times};
use crate::table::figure;

/// A peer's seconds over ours.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Ratio {
    /// Both reached the accuracy.
    Known(f64),
    /// The peer did not, within its limit; ours did.
    NotReached,
    /// Ours did not, whatever the peer did.
    OursNotReached,
    /// There is no such cell in the record.
    NotRun,
}

impl Ratio {
    /// As it stands in a table.
    pub(super) fn text(self) -> String {
        match self {
            Self::Known(ratio) => figure(ratio),
            Self::NotReached => "not reached".into(),
            Self::OursNotReached => "**ours not reached**".into(),
            Self::NotRun => "not run".into(),
        }
    }
}

/// The ratio of one cell.
pub(super) fn ratio(times: &Times, set: &str, cost: f64, solver: &str, accuracy: f64) -> Ratio {
    let (Some(ours), Some(theirs)) =
        (times.find(set, cost, OURS, accuracy), times.find(set, cost, solver, accuracy))
    else {
        return Ratio::NotRun;
    };
    match (ours.seconds, theirs.seconds) {
        (None, _) => Ratio::OursNotReached,
        (_, None) => Ratio::NotReached,
        (Some(ours), Some(theirs)) => Ratio::Known(theirs / ours),
    }
}

/// Geometric mean over all sets and costs where both reached the accuracy, how many those are, and how many not.
#[derive(Debug)]
pub(super) struct Mean {
    pub(super) value: Option<f64>,
    pub(super) cells: usize,
    pub(super) not_reached: usize,
}

/// The mean of one solver at one accuracy.
pub(super) fn mean(times: &Times, solver: &str, accuracy: f64) -> Mean {
    let (mut logarithms, mut cells, mut not_reached) = (0.0, 0_usize, 0);
    for set in times.sets() {
        for cost in times.costs() {
            match ratio(times, set, cost, solver, accuracy) {
                Ratio::Known(ratio) => {
                    logarithms += ratio.ln();
                    cells += 1;
                }
                Ratio::NotReached | Ratio::OursNotReached => not_reached += 1,
                Ratio::NotRun => {}
            }
        }
    }
    Mean { value: (cells > 0).then(|| (logarithms / cells as f64).exp()), cells, not_reached }
}

impl Mean {
    /// As it stands in a table.
    pub(super) fn text(&self) -> String {
        let Some(value) = self.value else { return "-".into() };
        let left_out = match self.not_reached {
            0 => String::new(),
            count => format!(", {count} left out"),
        };
        format!("{} ({} cells{left_out})", figure(value), self.cells)
    }
}

#[cfg(test)]
mod tests {
    use super::super::times::times_of;
    use super::*;

    #[test]
    fn what_was_not_reached_stays_out_of_the_mean() {
        let times = times_of(
            "a,1,equipoise,free,0.001,,1,5,,,\na,1,sgd,free,0.001,,8,5,,,\n\
             b,1,equipoise,free,0.001,,1,5,,,\nb,1,sgd,free,0.001,,2,5,,,\n\
             c,1,equipoise,free,0.001,,1,5,,,\nc,1,sgd,free,0.001,,,0,,,\n",
        );
        let mean = mean(&times, "sgd", 1e-3);
        assert!((mean.value.expect("two cells") - 4.0).abs() < 1e-12);
        assert_eq!(mean.text(), "4.00 (2 cells, 1 left out)");
        assert_eq!(ratio(&times, "c", 1.0, "sgd", 1e-3), Ratio::NotReached);
        assert_eq!(ratio(&times, "d", 1.0, "sgd", 1e-3), Ratio::NotRun);
    }
}
