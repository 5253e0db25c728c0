//! Rows that are spread over ranks: the same certified gap on any number of them, one model on all of them, the same bits in every
//! run, and one rank that is like none.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::judge::{check_report, is_met};
use crate::numbers::Numbers;
use crate::{Data, classes, targets};
use equipoise::collective::{Collective, Threads};
use equipoise::{Control, Error, Method, Status};
use equipoise_models::svm::{self, Kind, Loss, TrainSettings, Trained, Watch, train_across};

const GAP: f64 = 1e-6;

/// The rows of rank `rank` of so many: consecutive ones, the last rank with what is left.
fn shard(data: &Data, rank: usize, ranks: usize) -> Data {
    let size = data.labels.len().div_ceil(ranks);
    let own: Vec<usize> = (rank * size..((rank + 1) * size).min(data.labels.len())).collect();
    let weights = data.weights.as_ref().map(|weights| own.iter().map(|&i| weights[i]).collect());
    Data { weights, ..data.chosen(&own) }
}

/// What every rank of a world finds.
fn on_ranks(data: &Data, settings: &TrainSettings, ranks: usize) -> Vec<svm::Result<Trained>> {
    Threads::run(ranks, |world| {
        let own = shard(data, world.rank(), ranks);
        train_across(&world, own.samples(), settings, Watch::default())
    })
}

fn bits(trained: &Trained) -> Vec<u64> {
    trained.model.weights.iter().flatten().chain(&trained.model.bias).map(|w| w.to_bits()).collect()
}

/// One model of all ranks, which is what its report says; the multipliers are those of all rows.
#[track_caller]
pub(crate) fn certified_on(data: &Data, settings: &TrainSettings, ranks: usize) -> Trained {
    let mut all: Vec<Trained> =
        on_ranks(data, settings, ranks).into_iter().map(|trained| trained.expect("valid data")).collect();
    for other in &all[1..] {
        assert_eq!(bits(other), bits(&all[0]), "{ranks} ranks");
        let (a, b) = (&other.report.classes, &all[0].report.classes);
        assert!(
            a.iter().zip(b).all(|(a, b)| (a.dual, a.support, a.updates) == (b.dual, b.support, b.updates))
        );
    }
    let others = all.split_off(1);
    let mut whole = all.remove(0);
    for (k, multipliers) in whole.multipliers.iter_mut().enumerate() {
        let multipliers = multipliers.as_mut().expect("a fit that was made");
        others.iter().for_each(|other| multipliers.extend(other.multipliers[k].iter().flatten()));
        assert_eq!(multipliers.len(), data.labels.len());
    }
    // It asks for the best bias, of models that have one.
    if settings.bias {
        check_report(data, settings, &whole);
    }
    assert_eq!(whole.report.status(), Status::Converged, "{ranks} ranks: {:?}", whole.report);
    assert!(whole.report.classes.iter().all(|class| is_met(data, settings, class)), "{:?}", whole.report);
    whole
}

/// Trains on one to four ranks, each twice, and compares.
#[track_caller]
fn check(data: &Data, settings: &TrainSettings) {
    let settings = TrainSettings { gap: GAP, ..settings.clone() };
    let alone = data.train(&settings).expect("valid data");
    let one = on_ranks(data, &settings, 1).remove(0).expect("valid data");
    assert_eq!(bits(&one), bits(&alone), "one rank is like none");
    let mut all = vec![alone];
    for ranks in 2..=4 {
        let trained = certified_on(data, &settings, ranks);
        let again = on_ranks(data, &settings, ranks).remove(0).expect("valid data");
        assert_eq!(bits(&trained), bits(&again), "{ranks} ranks, twice");
        all.push(trained);
    }
    // Every dual is below every primal, and all are within the gap.
    for k in 0..all[0].report.classes.len() {
        for (one, other) in all.iter().flat_map(|one| all.iter().map(move |other| (one, other))) {
            let (dual, primal) = (one.report.classes[k].dual, other.report.classes[k].primal);
            let (gap, scale) = (primal - dual, dual.abs().max(1e-12));
            assert!(gap >= 0.0 && gap <= 2.0 * GAP * scale, "{primal} and {dual}");
        }
    }
}

#[test]
fn every_kind_reaches_the_same_gap_on_any_number_of_ranks() {
    let mut numbers = Numbers::new(17);
    let data = classes(&mut numbers, 700, 12, 0.6);
    let with = |change: fn(&mut TrainSettings)| {
        let mut settings = TrainSettings { cost: 0.5, ..TrainSettings::default() };
        change(&mut settings);
        settings
    };
    check(&data, &with(|_| ()));
    check(&data, &with(|settings| settings.cost = 100.0));
    check(&data, &with(|settings| settings.loss = Loss::SquaredHinge));
    check(&data, &with(|settings| settings.bias = false));
    check(&data, &with(|settings| settings.class_weights = vec![(1.0, 3.0)]));
    check(&data, &with(|settings| (settings.kind, settings.nu) = (Kind::OneClass, 0.3)));
    let data = targets(&mut numbers, 500, 8, 1.0);
    check(&data, &with(|settings| settings.kind = Kind::Svr));
}

#[test]
fn weights_labels_and_threads_may_lie_anywhere() {
    let mut numbers = Numbers::new(18);
    let data = classes(&mut numbers, 300, 9, 0.5);
    let weights = (0..300).map(|i| f64::from(i % 4)).collect();
    check(&data.clone().weighted(weights), &TrainSettings::default());
    // Three labels, in stretches: no rank has them all.
    let mut sorted = data.clone();
    (0..300).for_each(|i| sorted.labels[i] = (i / 100) as f64);
    check(&sorted, &TrainSettings { cost: 0.1, ..TrainSettings::default() });
    let wide = classes(&mut numbers, 9000, 100, 1.0);
    let settings = TrainSettings { cost: 0.1, gap: GAP, threads: 2, ..TrainSettings::default() };
    let (once, again) = (certified_on(&wide, &settings, 2), certified_on(&wide, &settings, 2));
    assert_eq!(bits(&once), bits(&again));
}

/// More products than a factored system has room for: Newton directions by conjugate gradients.
#[test]
fn wide_rows_need_no_factor() {
    let mut numbers = Numbers::new(23);
    let data = classes(&mut numbers, 900, 3300, 0.01);
    let settings = TrainSettings { gap: GAP, ..TrainSettings::default() };
    let alone = data.train(&settings).expect("valid data");
    for ranks in [2, 3] {
        let trained = certified_on(&data, &settings, ranks);
        let (a, b) = (&trained.report.classes[0], &alone.report.classes[0]);
        assert!((a.primal - b.primal).abs() <= 2.0 * GAP * b.primal, "{ranks} ranks: {a:?}, {b:?}");
    }
    check(&targets(&mut numbers, 60, 3100, 0.01), &TrainSettings { kind: Kind::Svr, ..settings });
}

#[test]
fn what_one_rank_has_wrong_all_are_told() {
    let data = classes(&mut Numbers::new(20), 40, 5, 0.8);
    let refused = |settings: &TrainSettings, spoil: &(dyn Fn(usize, &mut Data) + Sync)| -> Vec<String> {
        let outcomes = Threads::run(3, |world| {
            let mut own = shard(&data, world.rank(), 3);
            spoil(world.rank(), &mut own);
            train_across(&world, own.samples(), settings, Watch::default())
        });
        outcomes.into_iter().map(|outcome| outcome.expect_err("one rank cannot").to_string()).collect()
    };
    let default = TrainSettings::default();
    let of_rank_one = refused(&default, &|rank, own| {
        if rank == 1 {
            own.labels[3] = f64::NAN;
        }
    });
    assert!(of_rank_one.iter().all(|words| words.starts_with("rank 1: labels: row 3")), "{of_rank_one:?}");
    let columns = refused(&default, &|rank, own| {
        if rank == 2 {
            *own = Data::new(4, vec![vec![(0, 1.0)]; 2], vec![1.0, -1.0]);
        }
    });
    assert!(columns.iter().all(|words| words.starts_with("rank 2: rows: found 4 columns")), "{columns:?}");
    let one_label = refused(&default, &|_, own| own.labels.fill(1.0));
    assert!(one_label.iter().all(|words| words.starts_with("all 40 labels are 1")), "{one_label:?}");
    for settings in [
        TrainSettings { kind: Kind::NuSvc, ..default.clone() },
        TrainSettings { method: Method::Pairs, ..default.clone() },
    ] {
        let words = refused(&settings, &|_, _| ());
        assert!(words.iter().all(|words| words.contains("several ranks")), "{words:?}");
    }
}

#[test]
fn one_wish_to_stop_ends_all() {
    let data = classes(&mut Numbers::new(21), 400, 10, 0.7);
    let outcomes = Threads::run(3, |world| {
        let own = shard(&data, world.rank(), 3);
        let control = Control::on(Arc::new(AtomicBool::new(world.rank() == 1)));
        let watch = Watch { control, ..Watch::default() };
        train_across(&world, own.samples(), &TrainSettings::default(), watch)
    });
    let stopped: svm::Error = Error::StoppedEarly { by: "interrupted" }.into();
    assert!(outcomes.into_iter().all(|outcome| outcome.as_ref().err() == Some(&stopped)));
    // A limit on epochs is the same for all, and leaves something.
    let settings = TrainSettings { gap: 1e-12, max_epochs: Some(3.0), ..TrainSettings::default() };
    let limited: Vec<Trained> =
        on_ranks(&data, &settings, 3).into_iter().map(|trained| trained.expect("valid data")).collect();
    assert!(limited.iter().all(|trained| bits(trained) == bits(&limited[0])));
    assert_eq!(limited[0].report.status(), Status::IterationLimit, "{:?}", limited[0].report);
    check_report(&data, &settings, &limited[0]);
}

/// A rank that forgets where it was is named, and nobody waits for it.
#[test]
fn a_rank_that_leaves_is_named() {
    let data = classes(&mut Numbers::new(22), 200, 6, 0.7);
    let outcomes = Threads::run(2, |world: Arc<dyn Collective>| {
        let own = shard(&data, world.rank(), 2);
        if world.rank() == 1 {
            return None;
        }
        Some(train_across(&world, own.samples(), &TrainSettings::default(), Watch::default()))
    });
    let words = outcomes[0].as_ref().and_then(|outcome| outcome.as_ref().err()).map(ToString::to_string);
    assert_eq!(words.as_deref(), Some("rank 1: it has left"));
}
