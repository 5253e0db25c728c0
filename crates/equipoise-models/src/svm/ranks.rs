//! Training on rows that are spread over ranks: each holds some, and all together find one model with one certificate.
//!
//! - Given: the rows of this rank, with the columns that all ranks agree on; a world of ranks.
//! - Returns: on every rank the same model and report, and the multipliers of its own rows.
//! - Must not know: where rows come from, how numbers travel.
//!
//! What is wrong on one rank is told on all of them, before the first step and with the number of that rank.

use std::sync::Arc;
use std::time::Instant;

use super::error::Result;
use super::train::{Plan, Samples};
use super::{Kind, TrainSettings, Trained, Watch, train};
use equipoise::Method;
use equipoise::collective::Collective;

/// What ranks do not train.
const OTHER_KIND: (&str, &str) = ("kind nu-svc", "its two sums need one process; train svc with a cost");
const OTHER_METHOD: (&str, &str) = ("this method", "rows on ranks are trained by `auto` or `violating`");
const ASIDE: (&str, &str) = ("a checkpoint", "train without one");

/// Trains one model on the rows of all ranks of a world, each of which calls this with rows of its own. A world of one rank does
/// what [`train()`] does.
///
/// ```
/// use equipoise::{collective::Threads, matrix::Rows};
/// use equipoise_models::svm::{Samples, TrainSettings, Watch, train_across};
/// // Four points on a line, two on each rank: -2, 1 | -1, 2.
/// let settings = TrainSettings { gap: 1e-9, ..Default::default() };
/// let trained = Threads::run(2, |world| {
///     let points = if world.rank() == 0 { vec![-2.0, 1.0] } else { vec![-1.0, 2.0] };
///     let rows = Rows::new(1, vec![0, 1, 2], vec![0; 2], Some(points)).expect("valid");
///     let samples = Samples { rows: &rows, labels: &[0.0, 1.0], weights: None };
///     train_across(&world, samples, &settings, Watch::default())
/// });
/// for trained in trained {
///     let model = trained?.model;
///     assert!((model.weights[0][0] - 1.0).abs() < 1e-6 && model.bias[0].abs() < 1e-6);
/// }
/// # Ok::<(), equipoise_models::svm::Error>(())
/// ```
pub fn train_across(
    world: &Arc<dyn Collective>,
    samples: Samples<'_>,
    settings: &TrainSettings,
    watch: Watch<'_>,
) -> Result<Trained> {
    if world.ranks() == 1 {
        return train(samples, settings, None, watch);
    }
    let started = Instant::now();
    settings.validate()?;
    refuse(settings, &watch)?;
    together(world, samples.check())?;
    let most = world.largest(samples.rows.columns() as f64)? as usize;
    together(world, same_columns(samples, most))?;
    // What this refuses all ranks refuse: it looks at what they have in common.
    Plan::across(samples, settings, Arc::clone(world))?.train(watch, started)
}

fn same_columns(samples: Samples<'_>, expected: usize) -> Result<()> {
    let (input, unit, found) = ("rows".into(), "columns", samples.rows.columns());
    if found == expected {
        return Ok(());
    }
    Err(equipoise::Error::ShapeMismatch { input, unit, found, expected }.into())
}

/// What every rank refuses alike.
fn refuse(settings: &TrainSettings, watch: &Watch<'_>) -> Result<()> {
    let is_put_aside = watch.keeper.is_some() || watch.resumed.is_some();
    let refused = if settings.kind == Kind::NuSvc {
        Some(OTHER_KIND)
    } else if !matches!(settings.method, Method::Auto | Method::Violating) {
        Some(OTHER_METHOD)
    } else {
        is_put_aside.then_some(ASIDE)
    };
    refused.map_or(Ok(()), |(what, advice)| {
        Err(equipoise::Error::Unsupported { what, with: "several ranks", advice }.into())
    })
}

/// A result, where every rank has one.
pub(super) fn together<T>(world: &Arc<dyn Collective>, own: Result<T>) -> Result<T> {
    let complaint = own.as_ref().err().map(ToString::to_string);
    world.agree(complaint.as_deref())?;
    own
}

#[cfg(test)]
mod tests {
    use super::*;
    use equipoise::Control;
    use equipoise::collective::Threads;
    use equipoise::matrix::Rows;

    /// Dense rows from..to of a table of numbers that look random, with labels.
    fn rows(from: usize, to: usize) -> (Rows<'static>, Vec<f64>) {
        const COLUMNS: usize = 6;
        let number = |k: usize| ((k * 7919 + 13) % 1009) as f64 / 504.5 - 1.0;
        let values: Vec<f64> = (from * COLUMNS..to * COLUMNS).map(number).collect();
        let label = |row: &[f64]| if row[0] + 0.5 * row[1] + 0.4 * row[5] > 0.1 { 1.0 } else { -1.0 };
        let labels = values.chunks(COLUMNS).map(label).collect();
        let (starts, indices) = ((0..=to - from).map(|i| COLUMNS * i), (from..to).flat_map(|_| 0..6));
        let rows = Rows::new(COLUMNS, starts.collect(), indices.collect(), Some(values)).expect("valid");
        (rows, labels)
    }

    /// One process that has all rows and all multipliers proves the same bounds.
    #[test]
    fn the_judge_of_one_process_agrees() {
        for (kind, gap) in [(Kind::Svc, 1e-6), (Kind::Svr, 1e-6), (Kind::OneClass, 1e-9), (Kind::Svc, 1e-13)]
        {
            let settings = TrainSettings { kind, gap, nu: 0.4, ..TrainSettings::default() };
            let trained = Threads::run(3, |world| {
                let (rows, labels) = rows(100 * world.rank(), 100 * world.rank() + 100);
                let samples = Samples { rows: &rows, labels: &labels, weights: None };
                train_across(&world, samples, &settings, Watch::default()).expect("valid")
            });
            let beta: Vec<f64> =
                trained.iter().flat_map(|trained| trained.multipliers[0].clone().expect("trained")).collect();
            let (rows, labels) = rows(0, 300);
            let samples = Samples { rows: &rows, labels: &labels, weights: None };
            let plan = Plan::new(samples, &settings, None).expect("valid");
            let task = plan.single_task(0).expect("valid");
            let control = Control::unlimited();
            let plain = task.evaluate(&beta, &control).expect("no limit");
            let proven = task.prove(&beta, &plain, gap, &control).expect("no limit");
            let class = &trained[0].report.classes[0];
            let close = |a: f64, b: f64| (a - b).abs() <= 1e-12 * b.abs();
            assert!(close(class.dual, proven.bounds.dual), "{class:?}, {:?}", proven.bounds);
            assert!(close(class.primal, proven.bounds.primal), "{class:?}, {:?}", proven.bounds);
        }
    }
}
