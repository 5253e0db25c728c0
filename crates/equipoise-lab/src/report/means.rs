//! Geometric means of ratios, and the worst cell.

use super::times::{Cell, Rival, Times};
use crate::table::figure;

/// Over some cells: the geometric mean where both reached the accuracy, and the cell with the smallest ratio.
#[derive(Debug)]
pub(super) struct Mean<'a> {
    pub(super) value: Option<f64>,
    pub(super) cells: usize,
    /// Cells that enter with a bound.
    pub(super) bounds: usize,
    pub(super) worst: Option<(Cell<'a>, f64)>,
}

/// The mean over these cells against a rival. A cell that we did not reach is the worst there can be.
pub(super) fn mean<'a>(times: &Times, cells: &[Cell<'a>], rival: Rival<'_>) -> Mean<'a> {
    let (mut logarithms, mut mean) = (0.0, Mean { value: None, cells: 0, bounds: 0, worst: None });
    for &cell in cells {
        let ratio = times.ratio(cell, rival);
        let value = match ratio {
            super::times::Ratio::OursNotReached => 0.0,
            _ => match ratio.value() {
                Some(value) => value,
                None => continue,
            },
        };
        if mean.worst.is_none_or(|(_, worst)| value < worst) {
            mean.worst = Some((cell, value));
        }
        if value > 0.0 {
            logarithms += value.ln();
            mean.cells += 1;
            mean.bounds += usize::from(matches!(ratio, super::times::Ratio::Above(_)));
        }
    }
    mean.value = (mean.cells > 0).then(|| (logarithms / mean.cells as f64).exp());
    mean
}

impl Mean<'_> {
    /// The mean as it stands in a table.
    pub(super) fn text(&self) -> String {
        let Some(value) = self.value else { return "-".into() };
        format!("{}{}", if self.bounds > 0 { "> " } else { "" }, figure(value))
    }

    /// The worst cell with its ratio.
    pub(super) fn worst_text(&self) -> String {
        self.worst.map_or("-".into(), |(cell, ratio)| format!("{} ({cell})", figure(ratio)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::times::times_of;
    use super::*;

    #[test]
    fn bounds_count_and_the_worst_is_named() {
        let times = times_of(
            "grid,a,1,equipoise,1,0.001,,1,5,,\ngrid,a,1,linearsvc,1,0.001,,8,5,,\n\
             grid,b,1,equipoise,1,0.001,,1,5,,\ngrid,b,1,linearsvc,1,0.001,,,0,2,\n\
             grid,c,1,equipoise,1,0.001,,1,5,,\ngrid,c,1,linearsvc,1,0.001,,,0,,\n",
        );
        let mean = mean(&times, &times.cells("grid", 1e-3), Rival::Best);
        assert_eq!((mean.text().as_str(), mean.cells, mean.bounds), ("> 4.00", 2, 1));
        assert_eq!(mean.worst_text(), "2.00 (b, C = 1, 1e-3)");
    }
}
