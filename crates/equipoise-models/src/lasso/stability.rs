//! Stability selection: which columns are chosen in most halves of the samples.
//!
//! ```text
//! frequency_j = share of 2 B half-samples in which b_j is not 0        (complementary pairs: each draw gives a half and its rest)
//! ```
//!
//! (Meinshausen and Bühlmann 2010; Shah and Samworth 2013.) The lambda of a half is lambda times its share of the weights,
//! because the objective sums.
//!
//! - Given: data, settings, lambda, how many halves, a seed. Returns: frequencies by column.
//! - Must not know: files, plots.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use equipoise::{Control, Halt, Status, Team};

use super::data::Data;
use super::error::{Error, Result};
use super::fitter::Fitter;
use super::samples::{Part, check_labels, shuffled};
use super::settings::{Loss, Settings};

/// How often each column was chosen.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Stability {
    /// By column of X, between 0 and 1.
    pub frequencies: Vec<f64>,
    /// How many half-samples were fitted.
    pub samples: usize,
    /// Whether every one of them converged.
    pub converged: bool,
}

/// Fits to `pairs` random halves and their rests.
pub fn stability(
    data: Data<'_>,
    settings: &Settings,
    lambda: f64,
    pairs: usize,
    seed: u64,
    control: &Control,
    tell: impl Fn(usize) + Sync,
) -> Result<Stability> {
    data.check(settings, control)?;
    if pairs == 0 || data.y.len() < 4 {
        let (name, found) = if pairs == 0 {
            ("the number of pairs", 0.0)
        } else {
            ("the number of rows", data.y.len() as f64)
        };
        return Err(Error::Setting {
            name,
            found,
            allowed: "at least one pair of halves of two rows each is needed",
        });
    }
    let by_label = settings.loss == Loss::Logistic;
    let alone = Settings { threads: 1, ..settings.clone() };
    let total: f64 = data.weights.map_or(data.y.len() as f64, |weights| weights.iter().sum());
    // Nobody sees the bounds of a half.
    let control = &control.clone().forsaken_by(Arc::new(AtomicBool::new(true)));
    let of_half = |k: usize| -> Result<(Vec<bool>, bool)> {
        control.check()?;
        let order = shuffled(data, by_label, seed.wrapping_add((k / 2) as u64));
        // Every second row, so that each label is halved, too.
        let rows: Vec<usize> = order.into_iter().skip(k % 2).step_by(2).collect();
        let part = Part::of(data, &rows, control)?;
        if by_label {
            check_labels(part.data(), || format!("half {}", k + 1))?;
        }
        let weight = part.data().weights.map_or(rows.len() as f64, |weights| weights.iter().sum());
        let mut fitter = Fitter::of_checked(part.data(), &alone, control)?;
        let point = fitter.fit(lambda * weight / total, control)?;
        match point.status {
            Status::Interrupted => return Err(Halt::Interrupted.into()),
            Status::TimeLimit => return Err(Halt::TimeLimit.into()),
            _ => {}
        }
        tell(k);
        let chosen = point.coefficients.iter().map(|value| *value != 0.0).collect();
        Ok((chosen, point.status == Status::Converged))
    };
    let halves: Result<Vec<_>> = Team::of(settings.threads).map(0..2 * pairs, of_half).into_iter().collect();
    let halves = halves?;
    let mut counts = vec![0_usize; data.x.columns()];
    for (chosen, _) in &halves {
        counts.iter_mut().zip(chosen).for_each(|(count, chosen)| *count += usize::from(*chosen));
    }
    let frequencies = counts.into_iter().map(|count| count as f64 / halves.len() as f64).collect();
    Ok(Stability { frequencies, samples: halves.len(), converged: halves.iter().all(|half| half.1) })
}
