//! Rows on all assets, and where the weights begin.
//!
//! - Given: constraints and returns. Returns: rows, weights and their sides. Must not know: variances.

use crate::active::Side;
use crate::{Constraints, Returns};

/// A row on all assets.
#[derive(Debug)]
pub(crate) struct FullRow {
    pub(crate) name: String,
    pub(crate) coefficients: Vec<f64>,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

/// What the row of the expected return is called.
pub(crate) const RETURN: &str = "the target return";

/// The budget, the return, the groups.
pub(crate) fn rows(constraints: &Constraints, returns: &Returns, mean: f64) -> Vec<FullRow> {
    let assets = returns.assets();
    let budget = constraints.budget;
    let mut rows = vec![
        FullRow { name: "the budget".into(), coefficients: vec![1.0; assets], low: budget, high: budget },
        FullRow {
            name: RETURN.into(),
            coefficients: returns.mean().iter().map(|m| m / mean).collect(),
            low: f64::NEG_INFINITY,
            high: f64::INFINITY,
        },
    ];
    for group in &constraints.groups {
        let mut coefficients = vec![0.0; assets];
        group.members.iter().for_each(|&j| coefficients[j] = 1.0);
        rows.push(FullRow { name: group.name.clone(), coefficients, low: group.lower, high: group.upper });
    }
    rows
}

/// Where the weights begin: at a start, where they are held now, or at a limit.
pub(crate) fn places(constraints: &Constraints, start: Option<&[f64]>) -> (Vec<f64>, Vec<Side>) {
    let current = constraints.turnover.as_ref().map(|turnover| &turnover.current);
    let place = |j: usize| {
        let (lower, upper) = (constraints.lower[j], constraints.upper[j]);
        let wish = match (start, current) {
            (Some(start), _) => start[j],
            (None, Some(current)) => current[j],
            (None, None) => 0.0,
        };
        let w = wish.clamp(lower, upper);
        let side = match current.map(|current| current[j]) {
            _ if w == lower => Side::Lower,
            _ if w == upper => Side::Upper,
            Some(c) if w == c => Side::Kink,
            Some(c) if w < c => Side::Below,
            _ => Side::Above,
        };
        (w, side)
    };
    (0..constraints.lower.len()).map(place).unzip()
}
