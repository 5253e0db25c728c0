//! Cross-validation: folds, scores and the best cost.

use crate::numbers::Numbers;
use crate::{Data, classes, targets};
use equipoise::Error::InvalidSetting;
use equipoise::Status;
use equipoise_models::svm::{CrossValidation, Error, Kind, TrainSettings, Watch, cross_validate};

fn settings() -> TrainSettings {
    TrainSettings { gap: 1e-5, time_limit: Some(30.0), ..TrainSettings::default() }
}

/// Two clouds with a wide gap between them.
fn apart(n: usize) -> Data {
    let mut numbers = Numbers::new(401);
    let data = classes(&mut numbers, n, 3, 1.0);
    let row = |i: usize| (0..3).map(|k| (k, (3.0 + numbers.next()) * data.labels[i])).collect();
    Data::new(3, (0..n).map(row).collect(), data.labels)
}

#[test]
fn separable_classes_are_told_apart() {
    let data = apart(40);
    let costs = [0.1, 1.0, 10.0];
    for folds in [2, 5, 10, 40] {
        let found =
            cross_validate(data.samples(), &settings(), &costs, folds, Watch::default()).expect("scored");
        assert_eq!((found.folds, found.status()), (folds, Status::Converged));
        assert_eq!(found.costs.len(), 3);
        for (scores, cost) in found.costs.iter().zip(costs) {
            assert_eq!((scores.cost, scores.mean), (cost, 1.0));
            assert_eq!(scores.scores, vec![1.0; folds]);
            assert!(scores.relative_gap <= 1e-5);
        }
        assert_eq!(found.best_cost, Some(0.1), "of equals the smallest");
    }
}

#[test]
fn every_fold_has_its_share_of_a_rare_label() {
    // As many rows of the rare label as folds. Were two in one fold, another fold would have none.
    let mut data = apart(40);
    for folds in [2, 4] {
        for seed in 0..20 {
            (0..40).for_each(|i| data.labels[i] = f64::from(i8::from(i < folds)));
            // Far from the others: each is predicted right if and only if another was learnt from.
            let row = |i: usize| vec![(0, if i < folds { 5.0 } else { -5.0 })];
            let data = Data::new(1, (0..40).map(row).collect(), data.labels.clone());
            let settings = TrainSettings { seed, ..settings() };
            let found = cross_validate(data.samples(), &settings, &[1.0], folds, Watch::default());
            assert_eq!(found.expect("two labels in every fit").costs[0].scores, vec![1.0; folds]);
        }
    }
}

#[test]
fn scores_are_those_of_equal_and_stratified_folds() {
    // Half of either label: a fold of 8 has 4 and 4, and a model that names one label only scores 1/2.
    let mut data = apart(40);
    (0..40).for_each(|i| data.labels[i] = f64::from(i8::from(i % 2 == 0)));
    let data = Data::new(1, vec![Vec::new(); 40], data.labels);
    let found = cross_validate(data.samples(), &settings(), &[1.0], 5, Watch::default()).expect("scored");
    assert_eq!(found.costs[0].scores, vec![0.5; 5]);
}

#[test]
fn the_best_cost_has_the_best_mean() {
    let mut numbers = Numbers::new(402);
    let data = classes(&mut numbers, 90, 30, 0.4);
    let costs = [1e-5, 1e-2, 1.0, 100.0];
    let found = cross_validate(data.samples(), &settings(), &costs, 6, Watch::default()).expect("scored");
    for scores in &found.costs {
        let mean = scores.scores.iter().sum::<f64>() / 6.0;
        assert!((scores.mean - mean).abs() < 1e-12 && (0.0..=1.0).contains(&mean));
    }
    let top = found.costs.iter().map(|cost| cost.mean).fold(0.0, f64::max);
    let best = found.costs.iter().find(|cost| cost.mean == top).expect("one of them");
    assert_eq!(found.best_cost, Some(best.cost));
    assert!(found.costs.iter().any(|cost| cost.mean < top), "nothing to choose between");
    // A regression: the smallest error.
    let data = targets(&mut numbers, 60, 8, 0.8);
    let settings = TrainSettings { kind: Kind::Svr, ..settings() };
    let found = cross_validate(data.samples(), &settings, &costs, 6, Watch::default()).expect("scored");
    let least = found.costs.iter().map(|cost| cost.mean).fold(f64::INFINITY, f64::min);
    let best = found.costs.iter().find(|cost| cost.mean == least).expect("one of them");
    assert_eq!(found.best_cost, Some(best.cost));
}

#[test]
fn the_same_seed_gives_the_same_scores_on_any_number_of_threads() {
    let mut numbers = Numbers::new(403);
    let data = classes(&mut numbers, 60, 10, 0.5);
    let run = |threads: usize, seed: u64| {
        let settings = TrainSettings { threads, seed, ..settings() };
        cross_validate(data.samples(), &settings, &[0.1, 10.0], 5, Watch::default()).expect("scored").costs
    };
    assert_eq!(run(1, 3), run(1, 3));
    assert_eq!(run(1, 3), run(4, 3));
}

#[test]
fn rows_of_weight_k_count_k_times() {
    // Without a feature the more numerous label wins: 30 rows of weight 1 against 10 of weight 4.
    let labels: Vec<f64> = (0..40).map(|i| f64::from(i8::from(i < 10))).collect();
    let weights = labels.iter().map(|label| if *label == 1.0 { 4.0 } else { 1.0 }).collect();
    let data = Data::new(1, vec![Vec::new(); 40], labels).weighted(weights);
    let found = cross_validate(data.samples(), &settings(), &[1.0], 5, Watch::default()).expect("scored");
    for score in &found.costs[0].scores {
        assert!((score - 8.0 / 14.0).abs() < 1e-12, "{score}");
    }
}

#[test]
fn folds_beyond_the_rows_are_refused() {
    let data = apart(20);
    for folds in [0, 1, 21, 1000] {
        let error = cross_validate(data.samples(), &settings(), &[1.0], folds, Watch::default())
            .expect_err("refused");
        let Error::Equipoise(InvalidSetting { name, found, .. }) = error else { panic!("{error}") };
        assert_eq!((name, found), ("folds", folds as f64));
    }
    for costs in [&[][..], &[1.0, -1.0]] {
        let error =
            cross_validate(data.samples(), &settings(), costs, 4, Watch::default()).expect_err("refused");
        assert!(matches!(error, Error::Equipoise(InvalidSetting { .. })), "{error}");
    }
}

/// A label with a single row is unknown to the fit that does not see it.
#[test]
fn labels_of_a_single_row_are_scored_or_refused() {
    let mut data = apart(20);
    data.labels[0] = 9.0;
    let found =
        cross_validate(data.samples(), &settings(), &[1.0], 5, Watch::default()).expect("three labels");
    assert!(found.costs[0].mean > 0.5 && found.costs[0].mean < 1.0, "{found:?}");
    let error = only_one_remains().expect_err("refused");
    assert!(matches!(error, Error::OneClassOnly { .. }), "{error}");
}

/// Of two labels one has a single row, the first.
fn only_one_remains() -> Result<CrossValidation, Error> {
    let rows = (0..6).map(|i| vec![(0, f64::from(i))]).collect();
    let alone = Data::new(1, rows, vec![0.0, 1.0, 1.0, 1.0, 1.0, 1.0]);
    cross_validate(alone.samples(), &settings(), &[1.0], 3, Watch::default())
}

#[test]
fn the_label_that_remains_is_named() {
    let error = only_one_remains().expect_err("refused");
    assert!(matches!(error, Error::OneClassOnly { label: 1.0, .. }), "{error}");
}
