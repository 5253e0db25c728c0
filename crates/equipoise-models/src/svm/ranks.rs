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
/// What some ranks may not have and others not.
const COMPANY: &str = "a keeper or a snapshot: all ranks have one, or none";

/// Trains one model on the rows of all ranks of a world, each of which calls this with rows of its own. A world of one rank does
/// what [`train()`] does. A [`keeper`](Watch::keeper) is given the snapshots of its own rank, all of them after the same step; to go
/// on, every rank brings its own.
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
    refuse(settings)?;
    let own = f64::from(u8::from(watch.keeper.is_some()) + 2 * u8::from(watch.resumed.is_some()));
    let (most, least) = (world.largest(own)?, -world.largest(-own)?);
    world.agree((least != most && own < most).then_some(COMPANY))?;
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
fn refuse(settings: &TrainSettings) -> Result<()> {
    let refused = if settings.kind == Kind::NuSvc {
        Some(OTHER_KIND)
    } else if !matches!(settings.method, Method::Auto | Method::Violating) {
        Some(OTHER_METHOD)
    } else {
        None
    };
    refused.map_or(Ok(()), |(what, advice)| {
        Err(equipoise::Error::Unsupported { what, with: "several ranks", advice }.into())
    })
}

/// A result, where every rank has one.
pub(super) fn together<T>(world: &Arc<dyn Collective>, own: Result<T>) -> Result<T> {
    if world.ranks() == 1 {
        return own;
    }
    let complaint = own.as_ref().err().map(ToString::to_string);
    world.agree(complaint.as_deref())?;
    own
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::svm::proof::{Goal, LEAST_SCALE};
    use crate::svm::snapshot::Progressed;
    use crate::svm::{TrainKeeper, TrainSnapshot};
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
            let proven =
                task.prove(&beta, &plain, Goal { gap, least: LEAST_SCALE }, &control).expect("no limit");
            let class = &trained[0].report.classes[0];
            // Where the optimum is 0 the bounds are what is left of sums of size 1.
            let close = |a: f64, b: f64| (a - b).abs() <= 1e-12 * b.abs() + 1e-30;
            assert!(close(class.dual, proven.bounds.dual), "{class:?}, {:?}", proven.bounds);
            assert!(close(class.primal, proven.bounds.primal), "{class:?}, {:?}", proven.bounds);
        }
    }

    /// Keeps every snapshot.
    struct All(Vec<TrainSnapshot>);

    impl TrainKeeper for All {
        fn is_due(&mut self) -> bool {
            true
        }
        fn keep(&mut self, snapshot: &TrainSnapshot) {
            self.0.push(snapshot.clone());
        }
    }

    /// What three ranks come to, and what they kept; each goes on with its own, where there is something.
    fn kept(settings: &TrainSettings, resumed: Option<&[TrainSnapshot]>) -> Vec<(Result<Trained>, All)> {
        Threads::run(3, |world| {
            let (rows, labels) = rows(400 * world.rank(), 400 * world.rank() + 400);
            let samples = Samples { rows: &rows, labels: &labels, weights: None };
            let mut all = All(Vec::new());
            let resumed = resumed.map(|all| &all[world.rank()]);
            let watch = Watch { keeper: Some(&mut all), resumed, ..Watch::default() };
            (train_across(&world, samples, settings, watch), all)
        })
    }

    /// Epochs of the first decision function until a snapshot was taken.
    fn epochs(snapshot: &TrainSnapshot) -> f64 {
        match &snapshot.fits[0] {
            Progressed::UnderWay { epochs, snapshot, .. } => epochs + snapshot.epochs(),
            _ => 0.0,
        }
    }

    #[test]
    fn ranks_that_were_ended_go_on_with_the_same_bits() {
        let settings = TrainSettings { gap: 1e-9, ..TrainSettings::default() };
        let whole = kept(&settings, None);
        let cold = whole[0].0.as_ref().expect("trained");
        let all = cold.report.classes[0].epochs;
        let half = whole[0].1.0.len() / 2;
        // Words, as files have them.
        let snapshots: Vec<TrainSnapshot> = whole
            .iter()
            .map(|(_, kept)| TrainSnapshot::from_words(&kept.0[half].to_words()).expect("our own"))
            .collect();
        let left = all - epochs(&snapshots[0]);
        assert!(half > 0 && left < all, "{left} of {all} epochs are left");
        for ((first, _), (again, kept)) in whole.iter().zip(kept(&settings, Some(&snapshots))) {
            let (first, again) = (first.as_ref().expect("trained"), again.expect("trained"));
            assert_eq!((&again.model, &again.multipliers), (&first.model, &first.multipliers));
            let counts = |trained: &Trained| {
                let class = &trained.report.classes[0];
                (class.updates, class.epochs, class.relative_gap)
            };
            assert_eq!(counts(&again), counts(first));
            assert!(kept.0.len() + half < whole[0].1.0.len() + 1 && !kept.0.is_empty());
        }
    }

    #[test]
    fn snapshots_of_other_steps_or_other_data_are_refused_by_all() {
        let settings = TrainSettings { gap: 1e-9, ..TrainSettings::default() };
        let whole = kept(&settings, None);
        let of = |steps: [usize; 3]| -> Vec<TrainSnapshot> {
            whole.iter().zip(steps).map(|((_, kept), step)| kept.0[step].clone()).collect()
        };
        let refused = |snapshots: &[TrainSnapshot]| -> Vec<String> {
            let outcomes = kept(&settings, Some(snapshots));
            outcomes.into_iter().map(|(outcome, _)| outcome.expect_err("refused").to_string()).collect()
        };
        for found in refused(&of([2, 1, 2])) {
            assert!(found.starts_with("rank 1: its snapshot is of an earlier step"), "{found}");
        }
        let mut of_less = of([1, 1, 1]);
        of_less[2] = {
            let less = Threads::run(3, |world| {
                let (rows, labels) = rows(100 * world.rank(), 100 * world.rank() + 100);
                let samples = Samples { rows: &rows, labels: &labels, weights: None };
                let mut all = All(Vec::new());
                let watch = Watch { keeper: Some(&mut all), ..Watch::default() };
                train_across(&world, samples, &settings, watch).map(|_| all.0)
            });
            let updates = of_less[0].updates();
            let mut found = less[2].as_ref().expect("trained")[0].clone();
            // Of the same step, so that only its length tells.
            if let Progressed::UnderWay { updates: before, snapshot, .. } = &mut found.fits[0] {
                *before = updates.saturating_sub(snapshot.updates());
            }
            found
        };
        for found in refused(&of_less) {
            assert!(
                found.contains("another number of variables") || found.contains("another rank"),
                "{found}"
            );
        }
        let outcomes = Threads::run(2, |world| {
            let (rows, labels) = rows(100 * world.rank(), 100 * world.rank() + 100);
            let samples = Samples { rows: &rows, labels: &labels, weights: None };
            let mut all = All(Vec::new());
            let keeper: Option<&mut (dyn TrainKeeper + Send)> =
                if world.rank() == 0 { Some(&mut all) } else { None };
            train_across(&world, samples, &settings, Watch { keeper, ..Watch::default() })
        });
        for outcome in outcomes {
            let found = outcome.expect_err("refused").to_string();
            assert!(found.starts_with("rank 1: a keeper or a snapshot"), "{found}");
        }
    }
}
