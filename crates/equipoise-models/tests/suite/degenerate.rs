//! Data with something missing, doubled, contradictory or out of scale: certified, or refused with a reason.

use crate::judge::{certified, check_optimum, check_report};
use crate::numbers::Numbers;
use crate::{Data, classes, shifted};
use equipoise::Error as Refused;
use equipoise::Status;
use equipoise_models::svm::{Doubt, Error, Kind, Loss, TrainSettings};

const LOSSES: [Loss; 2] = [Loss::Hinge, Loss::SquaredHinge];

fn settings(kind: Kind, loss: Loss) -> TrainSettings {
    TrainSettings { kind, loss, gap: 1e-7, time_limit: Some(10.0), ..TrainSettings::default() }
}

/// Both losses of a classifier, at several costs, certified and compared with the oracle.
#[track_caller]
fn solved_at(data: &Data, costs: &[f64]) {
    for loss in LOSSES {
        for &cost in costs {
            let settings = TrainSettings { cost, ..settings(Kind::Svc, loss) };
            let trained = certified(data, &settings);
            check_optimum(data, &settings, &trained);
        }
    }
}

/// The same, and as a regression.
#[track_caller]
fn solved(data: &Data) {
    solved_at(data, &[0.01, 1.0, 100.0]);
    for cost in [0.01, 1.0, 100.0] {
        let settings = TrainSettings { cost, ..settings(Kind::Svr, Loss::Hinge) };
        let trained = certified(data, &settings);
        check_optimum(data, &settings, &trained);
    }
}

fn cloud(seed: u64) -> Data {
    classes(&mut Numbers::new(seed), 40, 5, 0.8)
}

#[test]
fn doubled_rows() {
    solved(&cloud(301).chosen(&(0..120).map(|i| i % 40).collect::<Vec<_>>()));
}

#[test]
fn contradictory_rows() {
    let data = cloud(302);
    let mut both = data.chosen(&(0..80).map(|i| i % 40).collect::<Vec<_>>());
    (40..80).for_each(|i| both.labels[i] = -data.labels[i - 40]);
    solved(&both);
    // Nothing can be learnt: w = 0 and half of the charge.
    let trained = certified(&both, &settings(Kind::Svc, Loss::Hinge));
    assert!(trained.model.weights[0].iter().all(|w| w.abs() < 1e-3), "{:?}", trained.model.weights);
    assert!((trained.report.primal() - 80.0).abs() < 1e-4);
}

#[test]
fn one_point_with_both_labels() {
    solved(&Data::dense(&[&[1.0, 2.0], &[1.0, 2.0]], &[1.0, -1.0]));
    solved(&Data::dense(&[&[1.0, 2.0], &[1.0, 2.0], &[1.0, 2.0]], &[1.0, -1.0, 1.0]));
}

#[test]
fn a_constant_feature() {
    let data = cloud(303);
    for value in [1.0, 1e3, -1e-3] {
        let with = |row: &Vec<(u32, f64)>| row.iter().copied().chain([(5, value)]).collect();
        solved(&Data::new(6, data.plain.iter().map(with).collect(), data.labels.clone()));
    }
}

#[test]
fn a_feature_that_never_occurs() {
    let data = cloud(304);
    solved(&Data::new(50, data.plain.clone(), data.labels.clone()));
}

#[test]
fn an_empty_row() {
    let mut data = cloud(305);
    for i in [0, 1, 7] {
        data.plain[i].clear();
        data = Data::new(5, data.plain, data.labels);
        solved(&data);
    }
}

#[test]
fn all_rows_empty() {
    for labels in [vec![1.0, -1.0], vec![1.0, 1.0, -1.0], vec![1.0, -1.0, -1.0, -1.0, 1.0]] {
        for columns in [1, 3] {
            solved(&Data::new(columns, vec![Vec::new(); labels.len()], labels.clone()));
        }
    }
    // Two of one, one of the other: b = 1 and the one pays for 2.
    let data = Data::new(1, vec![Vec::new(); 3], vec![1.0, 1.0, -1.0]);
    let trained = certified(&data, &settings(Kind::Svc, Loss::Hinge));
    assert_eq!(trained.model.weights, [[0.0]]);
    assert!((trained.report.primal() - 2.0).abs() < 1e-6 && (trained.model.bias[0] - 1.0).abs() < 1e-6);
}

#[test]
fn no_columns_at_all() {
    let data = Data::new(0, vec![Vec::new(); 3], vec![1.0, 1.0, -1.0]);
    for loss in LOSSES {
        match data.train(&settings(Kind::Svc, loss)) {
            Ok(trained) => {
                check_report(&data, &settings(Kind::Svc, loss), &trained);
                assert_eq!(trained.report.status(), Status::Converged);
            }
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
}

#[test]
fn one_sample_a_class() {
    let data = Data::dense(&[&[3.0, 0.0], &[0.0, 4.0]], &[1.0, -1.0]);
    solved_at(&data, &[1e-3, 1.0, 1e3]);
    // Separable with a wide margin: w = 2 (x1 - x2) / |x1 - x2|^2, and 1/2 w'w = 2 / 25.
    let trained = certified(&data, &TrainSettings { gap: 1e-12, ..settings(Kind::Svc, Loss::Hinge) });
    assert!((trained.report.primal() - 2.0 / 25.0).abs() < 1e-9);
    let w = &trained.model.weights[0];
    assert!((w[0] - 6.0 / 25.0).abs() < 1e-6 && (w[1] + 8.0 / 25.0).abs() < 1e-6, "{w:?}");
    assert!((trained.model.bias[0] - 7.0 / 25.0).abs() < 1e-6, "{:?}", trained.model.bias);
}

#[test]
fn two_identical_samples_of_one_class_and_another() {
    solved(&Data::dense(&[&[1.0, 1.0], &[1.0, 1.0], &[-1.0, 0.5]], &[1.0, 1.0, -1.0]));
}

#[test]
fn features_out_of_scale() {
    let data = cloud(306);
    for factor in [1e6, 1e-6] {
        let scaled = data.scaled(factor);
        // C times the square of the scale gives the same problem.
        for loss in LOSSES {
            let plain = certified(&data, &settings(Kind::Svc, loss)).report.primal();
            let same = TrainSettings { cost: factor.powi(-2), ..settings(Kind::Svc, loss) };
            let same = certified(&scaled, &same).report.primal();
            assert!((same * factor * factor / plain - 1.0).abs() < 1e-6, "{same} and {plain}");
        }
        // C = 1 is C = 1e12 of the data as they were: w is a difference of numbers 1e12 times as large.
        let gap = if factor > 1.0 { 1e-4 } else { 1e-7 };
        for loss in LOSSES {
            certified(&scaled, &TrainSettings { gap, ..settings(Kind::Svc, loss) });
        }
        certified(&scaled, &TrainSettings { gap, ..settings(Kind::Svr, Loss::Hinge) });
    }
}

#[test]
fn features_of_very_different_scale() {
    let data = cloud(307);
    let factors = [1e3, 1.0, 1e-3, 1.0, 1.0];
    let row = |row: &Vec<(u32, f64)>| row.iter().map(|(k, v)| (*k, v * factors[*k as usize])).collect();
    let data = Data::new(5, data.plain.iter().map(row).collect(), data.labels);
    for loss in LOSSES {
        for cost in [0.01, 1.0, 100.0] {
            certified(&data, &TrainSettings { cost, ..settings(Kind::Svc, loss) });
        }
    }
}

#[test]
fn separable_data_of_a_huge_cost() {
    let mut numbers = Numbers::new(308);
    let mut data = classes(&mut numbers, 40, 5, 0.9);
    let shift = |(i, row): (usize, &Vec<(u32, f64)>)| {
        row.iter().map(|(k, v)| (*k, v.abs() * data.labels[i] + 0.1 * data.labels[i])).collect()
    };
    data = Data::new(5, data.plain.iter().enumerate().map(shift).collect(), data.labels);
    data.plain.iter().for_each(|row| assert!(!row.is_empty()));
    for loss in LOSSES {
        let settings = TrainSettings { cost: 1e6, ..settings(Kind::Svc, loss) };
        let trained = certified(&data, &settings);
        assert_eq!(trained.model.score(&data.rows, &data.labels), 1.0);
        if loss == Loss::Hinge {
            check_optimum(&data, &settings, &trained);
            assert_eq!(trained.report.classes[0].bounded_support, 0);
        }
    }
}

#[test]
fn overlapping_data_of_a_huge_cost() {
    for loss in LOSSES {
        certified(&cloud(309), &TrainSettings { cost: 1e6, ..settings(Kind::Svc, loss) });
    }
}

#[test]
fn a_tiny_cost() {
    let data = cloud(310);
    for loss in LOSSES {
        for cost in [1e-8, 1e-12] {
            let trained = certified(&data, &TrainSettings { cost, ..settings(Kind::Svc, loss) });
            assert!(trained.model.weights[0].iter().all(|w| w.abs() < 1e-5));
        }
    }
    certified(&data, &TrainSettings { cost: 1e-8, ..settings(Kind::Svr, Loss::Hinge) });
}

#[test]
fn labels_are_names() {
    let data = cloud(311);
    let plain = certified(&data, &settings(Kind::Svc, Loss::Hinge));
    for [low, high] in [[0.0, 1.0], [1.0, 2.0], [-1.0, 3.5], [-7.0, -2.0], [1e-9, 1e9]] {
        let other = data.relabelled(|label| if label < 0.0 { low } else { high });
        let trained = certified(&other, &settings(Kind::Svc, Loss::Hinge));
        assert_eq!(trained.model.labels, [low, high]);
        assert_eq!((&trained.model.weights, &trained.model.bias), (&plain.model.weights, &plain.model.bias));
        let found = trained.model.predict(&other.rows);
        let expected: Vec<f64> =
            plain.model.predict(&data.rows).iter().map(|y| if *y < 0.0 { low } else { high }).collect();
        assert_eq!(found, expected);
        assert_eq!(trained.report.classes[0].label, high);
    }
}

#[test]
fn many_classes_with_a_row_each() {
    let mut numbers = Numbers::new(312);
    let mut data = classes(&mut numbers, 12, 8, 0.9);
    data.labels = (0..12).map(f64::from).collect();
    solved_at(&data, &[0.01, 1.0, 100.0]);
    let settings = TrainSettings { cost: 100.0, ..settings(Kind::Svc, Loss::Hinge) };
    let threads = TrainSettings { threads: 3, ..settings.clone() };
    assert_eq!(certified(&data, &settings).model, certified(&data, &threads).model);
}

#[test]
fn a_single_class_is_refused() {
    for kind in [Kind::Svc, Kind::NuSvc] {
        for n in [1, 2, 5] {
            let data = Data::new(1, vec![vec![(0, 1.0)]; n], vec![4.0; n]);
            let error = data.train(&settings(kind, Loss::Hinge)).expect_err("refused");
            assert_eq!(error, Error::OneClassOnly { rows: n, label: 4.0 });
        }
    }
    // Rows of weight 0 do not count.
    let data = Data::dense(&[&[1.0], &[2.0], &[3.0]], &[1.0, -1.0, 1.0]).weighted(vec![1.0, 0.0, 1.0]);
    let error = data.train(&settings(Kind::Svc, Loss::Hinge)).expect_err("refused");
    assert!(matches!(error, Error::OneClassOnly { .. }), "{error}");
}

/// The label of the message must be one that counts.
#[test]
fn the_label_of_a_single_class_is_named() {
    let data = Data::dense(&[&[1.0], &[2.0], &[3.0]], &[-1.0, 1.0, 1.0]).weighted(vec![0.0, 1.0, 1.0]);
    let error = data.train(&settings(Kind::Svc, Loss::Hinge)).expect_err("refused");
    let Error::OneClassOnly { label, .. } = error else { panic!("{error}") };
    assert_eq!(label, 1.0, "the only label of a row that counts");
}

#[test]
fn weights_that_are_all_0_are_refused() {
    let data = Data::dense(&[&[1.0], &[2.0]], &[1.0, -1.0]).weighted(vec![0.0, 0.0]);
    for kind in [Kind::Svc, Kind::NuSvc, Kind::Svr, Kind::OneClass] {
        match data.train(&settings(kind, Loss::Hinge)) {
            Err(error) => {
                assert!(!matches!(error, Error::Equipoise(Refused::NonFiniteIterate { .. })), "{error}");
            }
            Ok(trained) => {
                assert_eq!(trained.report.status(), Status::Converged, "{:?}", trained.report);
                assert!(trained.model.bias[0].is_finite(), "{:?}", trained.model);
            }
        }
    }
}

#[test]
fn no_rows_are_refused() {
    let data = Data::new(2, Vec::new(), Vec::new());
    for kind in [Kind::Svc, Kind::NuSvc, Kind::Svr, Kind::OneClass] {
        let error = data.train(&settings(kind, Loss::Hinge)).expect_err("refused");
        assert_eq!(error, Error::Equipoise(Refused::EmptyProblem));
    }
}

#[test]
fn a_single_row_without_classes() {
    for row in [vec![(0, 2.0)], Vec::new()] {
        certified(&Data::new(1, vec![row.clone()], vec![3.0]), &settings(Kind::OneClass, Loss::Hinge));
        // The tube holds it: any bias within it will do, and the primal is 0 up to rounding.
        let settings = TrainSettings { gap: 1e-3, ..settings(Kind::Svr, Loss::Hinge) };
        let trained = certified(&Data::new(1, vec![row], vec![3.0]), &settings);
        assert!((trained.model.bias[0] - 3.0).abs() <= 0.1 + 1e-12, "w = 0: {:?}", trained.model);
    }
}

#[test]
fn regressions_without_anything_to_learn() {
    // Equal targets: the tube holds them all.
    let flat = cloud(313).relabelled(|_| 2.0);
    let trained = certified(&flat, &settings(Kind::Svr, Loss::Hinge));
    assert!(trained.report.primal().abs() < 1e-12 && (trained.model.bias[0] - 2.0).abs() <= 0.1 + 1e-12);
    // A tube wider than the targets.
    let wide = TrainSettings { epsilon: 1.5, ..settings(Kind::Svr, Loss::Hinge) };
    let trained = certified(&cloud(314), &wide);
    assert!(trained.report.primal().abs() < 1e-12 && trained.model.weights[0].iter().all(|w| *w == 0.0));
}

#[test]
fn one_class_models_of_odd_data() {
    let settings = settings(Kind::OneClass, Loss::Hinge);
    // Identical rows: w is a multiple of them.
    let same = Data::dense(&[&[1.0, 2.0], &[1.0, 2.0], &[1.0, 2.0]], &[0.0; 3]);
    let trained = certified(&same, &settings);
    check_optimum(&same, &settings, &trained);
    // Rows to both sides of the origin, and none at all: w = 0.
    for data in [
        Data::dense(&[&[1.0, 2.0], &[-1.0, -2.0]], &[0.0; 2]),
        Data::new(2, vec![Vec::new(); 3], vec![0.0; 3]),
    ] {
        let trained = certified(&data, &TrainSettings { nu: 1.0, ..settings.clone() });
        assert!(trained.model.weights[0].iter().all(|w| w.abs() < 1e-9), "{:?}", trained.model);
    }
}

#[test]
fn a_nu_beyond_the_classes_is_refused() {
    let mut data = cloud(315);
    (0..40).for_each(|i| data.labels[i] = if i < 10 { 1.0 } else { -1.0 });
    for nu in [0.51, 0.9, 1.0] {
        let error =
            data.train(&TrainSettings { nu, ..settings(Kind::NuSvc, Loss::Hinge) }).expect_err("refused");
        assert_eq!(error, Error::NuTooLarge { found: nu, most: 0.5 });
    }
    // The largest that is possible is possible: every row of the smaller class at its cap.
    certified(
        &data.moved(|label| 2.0 * label),
        &TrainSettings { nu: 0.5, ..settings(Kind::NuSvc, Loss::Hinge) },
    );
    data.labels[39] = 2.0;
    let error = data.train(&settings(Kind::NuSvc, Loss::Hinge)).expect_err("refused");
    assert_eq!(error, Error::TooManyClasses { kind: "nu-svc", found: 3 });
}

/// Hulls that overlap have the optimum w = 0 and no margin to divide by.
#[test]
fn a_nu_classifier_of_overlapping_classes_has_no_margin() {
    let rows: [&[f64]; 4] = [&[1.0, 0.0], &[0.0, 1.0], &[1.0, 0.0], &[0.0, 1.0]];
    let same = Data::dense(&rows, &[1.0, 1.0, -1.0, -1.0]);
    let mut clouds = classes(&mut Numbers::new(316), 40, 5, 0.9);
    (0..40).for_each(|i| clouds.labels[i] = if i % 2 == 0 { 1.0 } else { -1.0 });
    let empty = Data::new(2, vec![Vec::new(); 4], vec![1.0, 1.0, -1.0, -1.0]);
    for (data, nu) in [(&same, 0.5), (&same, 1.0), (&clouds, 0.1), (&clouds, 0.3), (&empty, 0.5)] {
        let trained =
            data.train(&TrainSettings { nu, ..settings(Kind::NuSvc, Loss::Hinge) }).expect("a model");
        assert_eq!(trained.report.doubt(), Some(Doubt::NoMargin), "{:?}", trained.report);
        assert!(trained.model.weights[0].iter().all(|w| *w == 0.0));
    }
}

/// A margin is one in any unit: the gap is relative to the dual or to the spread of the rows, never to a number of its own.
#[test]
fn a_nu_classifier_has_its_margin_whatever_the_unit() {
    let data = shifted(&mut Numbers::new(317), 60, 4, 1.0, 0.6);
    let settings = TrainSettings { nu: 0.7, gap: 1e-6, ..settings(Kind::NuSvc, Loss::Hinge) };
    let known = certified(&data, &settings).model;
    for unit in [1e-12, 1e-6, 1e6, 1e12] {
        let found = certified(&data.scaled(unit), &settings).model;
        let size = known.weights[0].iter().fold(0.0_f64, |most, w| most.max(w.abs()));
        for (w, known) in found.weights[0].iter().zip(&known.weights[0]) {
            assert!((unit * w - known).abs() <= 1e-2 * size, "{unit:e}: {} and {known}", unit * w);
        }
    }
}

/// A feature that is the same everywhere changes nothing about the margin.
#[test]
fn a_nu_classifier_has_its_margin_whatever_the_constant_feature() {
    for constant in [1.0, 1e3, 1e6] {
        let rows = [[-2.0, constant], [-1.0, constant], [1.0, constant], [2.0, constant]];
        let rows: Vec<&[f64]> = rows.iter().map(|row| &row[..]).collect();
        let data = Data::dense(&rows, &[-1.0, -1.0, 1.0, 1.0]);
        let settings = TrainSettings { nu: 0.5, gap: 1e-4, ..settings(Kind::NuSvc, Loss::Hinge) };
        let trained = data.train(&settings).expect("a margin of 1 to either side");
        assert_eq!(trained.report.status(), Status::Converged);
        // w = 1 and b = 0 after the division; 1/2 |x+ - x-|^2 at the nearest points.
        assert!((trained.report.primal() + 2.0).abs() < 1e-3, "{constant}: {:?}", trained.report);
        assert!((trained.model.weights[0][0] - 1.0).abs() < 1e-2, "{constant}: {:?}", trained.model);
    }
}

#[test]
fn a_class_weight_of_an_unknown_label_is_refused() {
    let settings = TrainSettings { class_weights: vec![(5.0, 2.0)], ..settings(Kind::Svc, Loss::Hinge) };
    let error = cloud(317).train(&settings).expect_err("refused");
    assert_eq!(error, Error::UnknownLabel { label: 5.0, known: vec![-1.0, 1.0] });
}

#[test]
fn malformed_samples_are_refused() {
    let settings = settings(Kind::Svc, Loss::Hinge);
    let data = cloud(318);
    let with = |labels: Vec<f64>, weights: Option<Vec<f64>>| {
        let error = Data { labels, weights, ..data.clone() }.train(&settings).expect_err("refused");
        let Error::Equipoise(error) = error else { panic!("{error}") };
        error
    };
    assert!(matches!(with(vec![1.0, -1.0], None), Refused::ShapeMismatch { found: 2, expected: 40, .. }));
    let mut labels = data.labels.clone();
    labels[3] = f64::NAN;
    assert!(matches!(with(labels, None), Refused::NonFinite { row: 3, .. }));
    let good = || data.labels.clone();
    assert!(matches!(with(good(), Some(vec![1.0])), Refused::ShapeMismatch { .. }));
    let mut weights = vec![1.0; 40];
    weights[5] = -1.0;
    assert!(matches!(with(good(), Some(weights.clone())), Refused::NegativeWeight { index: 5, .. }));
    weights[5] = f64::INFINITY;
    let error = with(good(), Some(weights));
    assert!(matches!(error, Refused::NonFinite { .. } | Refused::OutOfRange { .. }), "{error}");
}
