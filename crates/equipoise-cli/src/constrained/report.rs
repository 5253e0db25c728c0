//! Fits in words, and as the object that is printed and written.
//!
//! Given: fits and what they are of. Returns: text and objects. Must not know: files.

use std::fmt::Write as _;

use equipoise::Status;
use equipoise_models::constrained::Fit;
use serde::{Deserialize, Serialize};

use super::data::Input;
use crate::report::{line, number};
use crate::rounding::{self, above, below};

/// The weights that are named one by one.
const SHORT: usize = 12;

/// The object of `--json` and `--out`; what is not known is null.
#[derive(Debug, Serialize)]
pub(super) struct FitJson<'a> {
    pub(super) status: &'static str,
    objective: f64,
    bound: f64,
    pub(super) relative_gap: f64,
    gap: f64,
    infeasibility: f64,
    /// Null where the bound holds everywhere.
    holds_within: Option<f64>,
    ridge: f64,
    rows: usize,
    columns: usize,
    seconds_load: f64,
    seconds_solve: f64,
    method: &'static str,
    rounds: usize,
    names: &'a [String],
    x: Weights<'a>,
    multipliers: Weights<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    points: Option<Vec<Point<'a>>>,
}

/// One target of several.
#[derive(Debug, Serialize)]
struct Point<'a> {
    target: &'a str,
    status: &'static str,
    objective: f64,
    bound: f64,
    relative_gap: f64,
    infeasibility: f64,
    x: &'a [f64],
    multipliers: &'a [f64],
}

/// A list, or one a target.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Weights<'a> {
    One(&'a [f64]),
    Many(Vec<&'a [f64]>),
}

/// What is read back of such an object.
#[derive(Debug, Deserialize)]
pub(super) struct Stored {
    pub(super) x: StoredWeights,
    pub(super) names: Option<Vec<String>>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum StoredWeights {
    One(Vec<f64>),
    Many(Vec<Vec<f64>>),
}

impl StoredWeights {
    pub(super) fn into_lists(self) -> Vec<Vec<f64>> {
        match self {
            Self::One(list) => vec![list],
            Self::Many(lists) => lists,
        }
    }
}

/// The status of all fits: converged if all are, else that of the first which is not.
pub(super) fn status(fits: &[Fit]) -> Status {
    fits.iter().map(|fit| fit.status).find(|status| *status != Status::Converged).unwrap_or(Status::Converged)
}

/// The largest of all fits; NaN, where one of them is: what is not known is not 0.
pub(super) fn worst(fits: &[Fit], of: impl Fn(&Fit) -> f64) -> f64 {
    fits.iter().map(of).fold(0.0, |worst, own| if worst > own || worst.is_nan() { worst } else { own })
}

/// A gap in words.
pub(super) fn gap_words(gap: f64) -> String {
    if gap.is_nan() { "not known".into() } else { rounding::above(gap, 3) }
}

/// Whether squares of these numbers are more than double precision holds.
pub(super) fn overflows(fits: &[Fit]) -> bool {
    fits.iter().any(|fit| !fit.objective.is_finite())
}

impl<'a> FitJson<'a> {
    pub(super) fn new(fits: &'a [Fit], input: &'a Input, seconds_solve: f64) -> Self {
        let points = input.is_many.then(|| {
            let point = |(fit, target): (&'a Fit, &'a String)| Point {
                target,
                status: fit.status.name(),
                objective: fit.objective,
                bound: fit.bound,
                relative_gap: fit.relative_gap,
                infeasibility: fit.infeasibility,
                x: &fit.x,
                multipliers: &fit.multipliers,
            };
            fits.iter().zip(&input.target_names).map(point).collect()
        });
        let lists = |of: fn(&Fit) -> &[f64]| {
            if input.is_many {
                Weights::Many(fits.iter().map(of).collect())
            } else {
                Weights::One(of(&fits[0]))
            }
        };
        Self {
            status: status(fits).name(),
            objective: fits.iter().map(|fit| fit.objective).sum(),
            bound: fits.iter().map(|fit| fit.bound).sum(),
            relative_gap: worst(fits, |fit| fit.relative_gap),
            gap: input.settings.gap,
            infeasibility: worst(fits, |fit| fit.infeasibility),
            holds_within: fits.iter().filter_map(|fit| fit.holds_within).reduce(f64::min),
            ridge: input.settings.ridge,
            rows: input.matrix.rows(),
            columns: input.matrix.columns(),
            seconds_load: input.seconds,
            seconds_solve,
            method: fits[0].method,
            rounds: fits.iter().map(|fit| fit.rounds).max().unwrap_or(0),
            names: &input.names,
            x: lists(|fit| &fit.x),
            multipliers: lists(|fit| &fit.multipliers),
            points,
        }
    }
}

/// Fits for people.
pub(super) fn words(fits: &[Fit], input: &Input, seconds: f64) -> String {
    let mut text = format!("{}\n", status(fits));
    let allowed = input.settings.gap;
    if input.is_many {
        line(&mut text, "targets", &fits.len().to_string());
        let (low, high) = fits.iter().fold((f64::INFINITY, 0.0_f64), |(low, high), fit| {
            (low.min(fit.objective), high.max(fit.objective))
        });
        line(&mut text, "objectives", &format!("{} to {}", number(low), number(high)));
    } else {
        let fit = &fits[0];
        let holds = fit
            .holds_within
            .map_or_else(String::new, |most| format!(", among weights up to {}", below(most, 1)));
        line(
            &mut text,
            "objective",
            &format!("{} (at least {}{holds})", number(fit.objective), number(fit.bound)),
        );
    }
    let gap = worst(fits, |fit| fit.relative_gap);
    line(&mut text, "relative gap", &format!("{} (allowed {})", gap_words(gap), rounding::above(allowed, 3)));
    line(
        &mut text,
        "infeasibility",
        &format!("{} of a row's own terms", above(worst(fits, |fit| fit.infeasibility), 1)),
    );
    if let [fit] = fits {
        weights(&mut text, fit, &input.names);
    }
    let (rounds, method) = (fits.iter().map(|fit| fit.rounds).max().unwrap_or(0), fits[0].method);
    if !method.is_empty() {
        line(&mut text, "work", &format!("{method}, {rounds} rounds, {seconds:.3} s"));
    }
    text
}

/// The largest weights by name.
fn weights(text: &mut String, fit: &Fit, names: &[String]) {
    let mut order: Vec<usize> = (0..fit.x.len()).filter(|&j| fit.x[j] != 0.0).collect();
    line(text, "weights", &format!("{} of {} are not 0", order.len(), fit.x.len()));
    order.sort_by(|&a, &b| fit.x[b].abs().total_cmp(&fit.x[a].abs()));
    let width = order.iter().take(SHORT).map(|&j| names[j].chars().count()).max().unwrap_or(0).max(12);
    for &j in order.iter().take(SHORT) {
        let _ = writeln!(text, "    {:<width$} {}", names[j], fit.x[j]);
    }
    if order.len() > SHORT {
        line(text, "  ...", &format!("{} more; --out FILE writes them", order.len() - SHORT));
    }
    if (1..=SHORT).contains(&fit.multipliers.len()) {
        let list: Vec<String> = fit.multipliers.iter().map(f64::to_string).collect();
        line(text, "multipliers", &list.join(", "));
    }
}
