//! Cross-validation: how well models of several costs do on rows that they have not seen.
//!
//! The rows are dealt into K folds, label by label, so that every fold has its share of each label; a regression
//! and a one-class model deal all rows at once. For every fold a model is trained on the others, cost after cost as
//! in [`path`](super::path()), and scored on the fold. No data are copied: rows that are held out have weight 0.
//!
//! Score: the share of rows predicted right, or for a regression the mean squared error. Rows of weight k count k
//! times, rows of weight 0 not at all.
//!
//! On ranks, all of which have all rows, folds are dealt in turn; every rank has the scores of all. They are those of one process, bit for
//! bit.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use super::error::{Error, Result};
use super::folds::deal;
use super::path::check_costs;
use super::ranks::together;
use super::snapshot::STATUSES;
use super::{Kind, LinearModel, Samples, TrainSettings, Trained, Watch, path};
use equipoise::collective::{Alone, Collective};
use equipoise::solve::{Observer, Progress, Status};

/// One cost, over all folds.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct CostScores {
    /// C.
    pub cost: f64,
    /// The score of every fold; fewer than there are folds if the run ended early.
    pub scores: Vec<f64>,
    /// How the fit of every score ended.
    pub statuses: Vec<Status>,
    /// Their mean; NaN if there are none.
    pub mean: f64,
    /// The standard error of the mean: their standard deviation over the root of their number; NaN below two.
    pub standard_error: f64,
    /// The largest relative gap of any of the fits.
    pub relative_gap: f64,
    /// `Converged` when every fit is, else the first other status.
    pub status: Status,
}

/// What cross-validation found.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct CrossValidation {
    /// The number of folds.
    pub folds: usize,
    /// One a cost, in the order given.
    pub costs: Vec<CostScores>,
    /// The cost with the best mean among those whose fits converged on every fold; of equals the smallest.
    pub best_cost: Option<f64>,
    /// The smallest cost, among the same, whose mean is within a standard error of the best.
    pub simplest_cost: Option<f64>,
    /// Seconds taken.
    pub seconds: f64,
}

impl CrossValidation {
    /// `Converged` when every fit is, else the first other status.
    pub fn status(&self) -> Status {
        let mut statuses = self.costs.iter().map(|cost| cost.status);
        statuses.find(|status| *status != Status::Converged).unwrap_or(Status::Converged)
    }
}

/// Scores every cost on every fold; `settings.threads` folds at a time, `settings.time_limit` for all of them.
///
/// The observer is told the checkpoints of all fits, those of several threads in turns.
pub fn cross_validate(
    samples: Samples<'_>,
    settings: &TrainSettings,
    costs: &[f64],
    folds: usize,
    watch: Watch<'_>,
) -> Result<CrossValidation> {
    let alone: Arc<dyn Collective> = Arc::new(Alone::default());
    cross_validate_across(&alone, samples, settings, costs, folds, watch)
}

/// The same by the ranks of a world, which all have the same rows and call this alike: folds are dealt to them in turn. The observer of a
/// rank is told of its own fits.
///
/// ```
/// use equipoise::{collective::Threads, matrix::Rows};
/// use equipoise_models::svm::{Samples, TrainSettings, Watch, cross_validate, cross_validate_across};
/// let points: Vec<f64> = (0..20).map(|i| f64::from(i) - 9.5).collect();
/// let labels: Vec<f64> = (0..20).map(|i| f64::from(i > 9)).collect();
/// let rows = Rows::new(1, (0..=20).collect(), vec![0; 20], Some(points))?;
/// let samples = Samples { rows: &rows, labels: &labels, weights: None };
/// let (settings, costs) = (TrainSettings::default(), [0.1, 1.0]);
/// let alone = cross_validate(samples, &settings, &costs, 3, Watch::default())?;
/// for found in Threads::run(2, |world| {
///     cross_validate_across(&world, samples, &settings, &costs, 3, Watch::default())
/// }) {
///     assert_eq!(found?.costs, alone.costs);
/// }
/// # Ok::<(), equipoise_models::svm::Error>(())
/// ```
pub fn cross_validate_across(
    world: &Arc<dyn Collective>,
    samples: Samples<'_>,
    settings: &TrainSettings,
    costs: &[f64],
    folds: usize,
    watch: Watch<'_>,
) -> Result<CrossValidation> {
    let started = Instant::now();
    let checked = || {
        check_costs(settings, costs)?;
        samples.check_lengths()?;
        deal(samples, settings, folds)
    };
    let fold_of = together(world, checked())?;
    let own: Vec<usize> = (0..folds).skip(world.rank()).step_by(world.ranks()).collect();
    let threads = settings.threads.min(own.len()).max(1);
    let inner = TrainSettings { threads: settings.threads / threads, ..settings.clone() };
    let run = Run { samples, settings: inner, costs, fold_of, started };
    let control = watch.control.clone();
    let walks = match run.all(&own, threads, watch) {
        // What there was no time for here may be there on other ranks.
        Err(early) if is_early(&early) && world.ranks() > 1 => Ok(own.iter().map(|_| Vec::new()).collect()),
        walks => walks,
    };
    let walks = of_all_ranks(world, &own, together(world, walks)?, folds)?;
    // A fold that there was no time to begin has no fits; what ended the others also kept it from beginning.
    let halted = world.halted(&control)?;
    if walks.iter().all(Vec::is_empty) {
        return Err(equipoise::Error::from(halted.unwrap_or(equipoise::Halt::TimeLimit)).into());
    }
    let unbegun = halted.as_ref().and_then(Status::after).unwrap_or(Status::TimeLimit);
    let summary = |(c, &cost)| summary(cost, c, &walks, unbegun);
    let costs = costs.iter().enumerate().map(summary).collect::<Vec<_>>();
    let best_cost = best(&costs, folds, settings.kind);
    let simplest_cost = simplest(&costs, folds, settings.kind);
    Ok(CrossValidation { folds, costs, best_cost, simplest_cost, seconds: started.elapsed().as_secs_f64() })
}

/// The walks of all folds, from those of each rank; every rank has the same rows and costs.
fn of_all_ranks(
    world: &Arc<dyn Collective>,
    own: &[usize],
    walks: Vec<Vec<Scored>>,
    folds: usize,
) -> Result<Vec<Vec<Scored>>> {
    if world.ranks() == 1 {
        return Ok(walks);
    }
    let mut words = Vec::new();
    for (fold, walk) in own.iter().zip(&walks) {
        words.extend([*fold as f64, walk.len() as f64]);
        for fit in walk {
            let status = STATUSES.iter().position(|status| *status == fit.status);
            words.extend([fit.score, fit.relative_gap, status.unwrap_or(STATUSES.len()) as f64]);
        }
    }
    let mut all: Vec<Vec<Scored>> = (0..folds).map(|_| Vec::new()).collect();
    for list in world.lists(&words)? {
        let mut rest = &list[..];
        while let [fold, length, after @ ..] = rest {
            let (fits, behind) = after.split_at(3 * *length as usize);
            let scored = |fit: &[f64]| Scored {
                score: fit[0],
                relative_gap: fit[1],
                status: STATUSES.get(fit[2] as usize).copied().unwrap_or(Status::Stalled),
            };
            all[*fold as usize] = fits.chunks_exact(3).map(scored).collect();
            rest = behind;
        }
    }
    Ok(all)
}

/// Whether there was no time for anything.
fn is_early(error: &Error) -> bool {
    matches!(error, Error::Equipoise(equipoise::Error::StoppedEarly { .. }))
}

/// A fit and its score on the fold held out.
struct Scored {
    score: f64,
    relative_gap: f64,
    status: Status,
}

struct Run<'a> {
    samples: Samples<'a>,
    settings: TrainSettings,
    costs: &'a [f64],
    fold_of: Vec<Option<usize>>,
    started: Instant,
}

/// An observer that several threads share.
struct Shared<'a, 'b>(&'a Mutex<&'b mut (dyn Observer + Send)>);

impl Observer for Shared<'_, '_> {
    fn of_fit(&mut self, label: f64) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).of_fit(label);
    }

    fn checkpoint(&mut self, progress: &Progress) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).checkpoint(progress);
    }

    fn heartbeat(&mut self, update: u64, epoch: f64) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).heartbeat(update, epoch);
    }
}

impl Run<'_> {
    /// The walk of each of some folds, `threads` of them at a time.
    fn all(&self, folds: &[usize], threads: usize, watch: Watch<'_>) -> Result<Vec<Vec<Scored>>> {
        let Watch { observer, control, experiment, .. } = watch;
        let observer = observer.map(Mutex::new);
        let next = AtomicUsize::new(0);
        let done: Mutex<Vec<(usize, Result<Vec<Scored>>)>> = Mutex::new(Vec::new());
        let work = || {
            while let Some(&fold) = folds.get(next.fetch_add(1, Ordering::Relaxed)) {
                let mut shared = observer.as_ref().map(Shared);
                let observer = shared.as_mut().map(|shared| shared as &mut (dyn Observer + Send));
                let walk = self
                    .fold(fold, Watch { observer, control: control.clone(), experiment, ..Watch::default() });
                done.lock().unwrap_or_else(PoisonError::into_inner).push((fold, walk));
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..threads {
                scope.spawn(work);
            }
            work();
        });
        let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
        done.sort_by_key(|(fold, _)| *fold);
        let early = |walk: &Result<Vec<Scored>>| walk.as_ref().is_err_and(is_early);
        let nothing = done.iter().all(|(_, walk)| early(walk));
        let walks = done.into_iter().map(|(_, walk)| walk);
        walks.map(|walk| if early(&walk) && !nothing { Ok(Vec::new()) } else { walk }).collect()
    }

    /// The costs, trained without a fold and scored on it.
    fn fold(&self, fold: usize, watch: Watch<'_>) -> Result<Vec<Scored>> {
        let weight = |i: usize| self.samples.weights.map_or(1.0, |weights| weights[i]);
        let fitted = |(i, of): (usize, &Option<usize>)| if *of == Some(fold) { 0.0 } else { weight(i) };
        let weights: Vec<f64> = self.fold_of.iter().enumerate().map(fitted).collect();
        let samples = Samples { weights: Some(&weights), ..self.samples };
        let elapsed = self.started.elapsed().as_secs_f64();
        let left = self.settings.time_limit.map(|most| (most - elapsed).max(1e-9));
        let settings = TrainSettings { time_limit: left, ..self.settings.clone() };
        let walk = path(samples, &settings, self.costs, watch)?;
        let scored = |trained: Trained| Scored {
            score: self.score(&trained.model, fold),
            relative_gap: trained.report.relative_gap(),
            status: trained.report.status(),
        };
        Ok(walk.into_iter().map(scored).collect())
    }

    fn score(&self, model: &LinearModel, fold: usize) -> f64 {
        let (mut total, mut rows) = (0.0, 0.0);
        for (i, _) in self.fold_of.iter().enumerate().filter(|(_, of)| **of == Some(fold)) {
            let (found, label) = (model.predict_row(self.samples.rows, i), self.samples.labels[i]);
            let weight = self.samples.weights.map_or(1.0, |weights| weights[i]);
            rows += weight;
            total += match model.kind {
                Kind::Svr => weight * (found - label).powi(2),
                _ => weight * f64::from(found == label),
            };
        }
        total / rows
    }
}

/// The c-th cost over all folds.
fn summary(cost: f64, c: usize, walks: &[Vec<Scored>], unbegun: Status) -> CostScores {
    let fits: Vec<&Scored> = walks.iter().filter_map(|walk| walk.get(c)).collect();
    let scores: Vec<f64> = fits.iter().map(|fit| fit.score).collect();
    // A fold that did not come as far as this cost ended as its last fit did.
    let statuses = walks.iter().map(|walk| walk.get(c).or(walk.last()).map_or(unbegun, |fit| fit.status));
    let mean = scores.iter().sum::<f64>() / scores.len() as f64;
    CostScores {
        cost,
        mean,
        standard_error: standard_error(&scores, mean),
        statuses: fits.iter().map(|fit| fit.status).collect(),
        scores,
        relative_gap: fits.iter().map(|fit| fit.relative_gap).fold(0.0, f64::max),
        status: statuses.into_iter().find(|status| *status != Status::Converged).unwrap_or(Status::Converged),
    }
}

fn standard_error(scores: &[f64], mean: f64) -> f64 {
    let count = scores.len() as f64;
    if count < 2.0 {
        return f64::NAN;
    }
    let squares: f64 = scores.iter().map(|score| (score - mean).powi(2)).sum();
    (squares / (count - 1.0) / count).sqrt()
}

/// Costs that may be chosen: a fit that did not converge says nothing about its cost.
fn finished(costs: &[CostScores], folds: usize) -> impl Iterator<Item = &CostScores> {
    let is_whole = move |cost: &&CostScores| {
        cost.scores.len() == folds && !cost.mean.is_nan() && cost.status == Status::Converged
    };
    costs.iter().filter(is_whole)
}

/// What a cost is worth: the larger the worse.
fn loss(cost: &CostScores, kind: Kind) -> f64 {
    if kind == Kind::Svr { cost.mean } else { -cost.mean }
}

fn best_of(costs: &[CostScores], folds: usize, kind: Kind) -> Option<&CostScores> {
    let order = |a: &&CostScores, b: &&CostScores| {
        loss(a, kind).total_cmp(&loss(b, kind)).then(a.cost.total_cmp(&b.cost))
    };
    finished(costs, folds).min_by(order)
}

/// The best cost: the largest share of right predictions, or the smallest error.
fn best(costs: &[CostScores], folds: usize, kind: Kind) -> Option<f64> {
    best_of(costs, folds, kind).map(|cost| cost.cost)
}

/// The smallest cost that is as good as the best, as far as the folds can tell.
fn simplest(costs: &[CostScores], folds: usize, kind: Kind) -> Option<f64> {
    let best = best_of(costs, folds, kind)?;
    let most = loss(best, kind) + if best.standard_error.is_nan() { 0.0 } else { best.standard_error };
    finished(costs, folds)
        .filter(|cost| loss(cost, kind) <= most)
        .map(|cost| cost.cost)
        .min_by(f64::total_cmp)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::svm::folds::tests::line;
    use equipoise::collective::Threads;
    use equipoise::matrix::Rows;

    #[test]
    fn folds_outside_their_range_are_refused() {
        let (rows, labels) = line();
        let samples = Samples { rows: &rows, labels: &labels, weights: None };
        for folds in [0, 1, 91] {
            let run = cross_validate(samples, &TrainSettings::default(), &[1.0], folds, Watch::default());
            let error = run.expect_err("refused");
            assert!(
                matches!(error, Error::Equipoise(equipoise::Error::InvalidSetting { name: "folds", .. })),
                "{error}"
            );
        }
    }

    #[test]
    fn scores_agree_with_fits_on_copied_rows_and_do_not_depend_on_threads() {
        let (rows, labels) = line();
        let samples = Samples { rows: &rows, labels: &labels, weights: None };
        let settings = TrainSettings { gap: 1e-10, ..TrainSettings::default() };
        let costs = [0.01, 1.0];
        let one = cross_validate(samples, &settings, &costs, 3, Watch::default()).expect("scored");
        let two = TrainSettings { threads: 2, ..settings.clone() };
        let two = cross_validate(samples, &two, &costs, 3, Watch::default()).expect("scored");
        assert_eq!(one.costs, two.costs);
        assert_eq!(one.status(), Status::Converged);
        let fold_of = deal(samples, &settings, 3).expect("dealt");
        for (fold, &score) in one.costs[1].scores.iter().enumerate() {
            let kept: Vec<usize> = (0..90).filter(|&i| fold_of[i] != Some(fold)).collect();
            let values = kept.iter().map(|&i| rows.row(i).1.at(0)).collect();
            let copied = Rows::new(1, (0..=kept.len()).collect(), vec![0; kept.len()], Some(values));
            let (copied, kept_labels) =
                (copied.expect("valid"), kept.iter().map(|&i| labels[i]).collect::<Vec<_>>());
            let part = Samples { rows: &copied, labels: &kept_labels, weights: None };
            let trained = super::super::train(part, &settings, None, Watch::default()).expect("trained");
            let held: Vec<usize> = (0..90).filter(|&i| fold_of[i] == Some(fold)).collect();
            let right = |i: &&usize| trained.model.predict_row(&rows, **i) == labels[**i];
            // A row on the boundary may be on either side of it.
            let is_tie = |i: &&usize| trained.model.decision(0, &rows, **i).abs() < 1e-6;
            let sure = held.iter().filter(|i| right(i) && !is_tie(i)).count() as f64 / held.len() as f64;
            let ties = held.iter().filter(is_tie).count() as f64 / held.len() as f64;
            assert!(
                score > sure - 1e-12 && score < sure + ties + 1e-12,
                "fold {fold}: {score}, {sure}, {ties}"
            );
        }
    }

    #[test]
    fn ranks_find_what_one_process_finds_and_refuse_together() {
        let (rows, labels) = line();
        let samples = Samples { rows: &rows, labels: &labels, weights: None };
        let settings = TrainSettings { gap: 1e-6, ..TrainSettings::default() };
        let costs = [0.01, 1.0];
        let one = cross_validate(samples, &settings, &costs, 5, Watch::default()).expect("scored");
        for ranks in [2, 3, 7] {
            for found in Threads::run(ranks, |world| {
                cross_validate_across(&world, samples, &settings, &costs, 5, Watch::default())
            }) {
                let found = found.expect("scored");
                assert_eq!((&found.costs, found.best_cost), (&one.costs, one.best_cost), "{ranks} ranks");
            }
        }
        let refused = Threads::run(2, |world| {
            let folds = if world.rank() == 1 { 1 } else { 5 };
            cross_validate_across(&world, samples, &settings, &costs, folds, Watch::default())
        });
        for error in refused {
            let error = error.expect_err("refused").to_string();
            assert!(error.starts_with("rank 1: ") && error.contains("folds"), "{error}");
        }
    }

    #[test]
    fn of_equal_means_the_smaller_cost_is_best() {
        let scored = |cost: f64, mean: f64| CostScores {
            cost,
            scores: vec![mean; 2],
            statuses: vec![Status::Converged; 2],
            mean,
            standard_error: 0.05,
            relative_gap: 0.0,
            status: Status::Converged,
        };
        let costs = [scored(10.0, 0.9), scored(1.0, 0.9), scored(0.1, 0.8)];
        assert_eq!(best(&costs, 2, Kind::Svc), Some(1.0));
        assert_eq!(best(&costs, 2, Kind::Svr), Some(0.1));
        assert_eq!(best(&costs, 3, Kind::Svc), None);
        assert_eq!(simplest(&costs, 2, Kind::Svc), Some(1.0));
        let close = [scored(10.0, 0.9), scored(0.1, 0.86), scored(0.01, 0.8)];
        assert_eq!(simplest(&close, 2, Kind::Svc), Some(0.1));
    }

    #[test]
    fn fits_that_did_not_converge_are_never_chosen() {
        let scored = |cost: f64, mean: f64, status: Status| CostScores {
            cost,
            scores: vec![mean; 2],
            statuses: vec![Status::Converged, status],
            mean,
            standard_error: 0.0,
            relative_gap: 0.0,
            status,
        };
        let costs = [scored(1.0, 0.9, Status::IterationLimit), scored(0.1, 0.8, Status::Converged)];
        assert_eq!((best(&costs, 2, Kind::Svc), simplest(&costs, 2, Kind::Svc)), (Some(0.1), Some(0.1)));
        assert_eq!(best(&costs[..1], 2, Kind::Svc), None);
    }

    #[test]
    fn standard_errors_by_hand() {
        assert!((standard_error(&[0.8, 0.9, 1.0], 0.9) - (0.01_f64 / 3.0).sqrt()).abs() < 1e-15);
        assert!(standard_error(&[0.8], 0.8).is_nan());
    }
}
