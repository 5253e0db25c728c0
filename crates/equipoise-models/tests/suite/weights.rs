//! A weight of k is k rows, a weight of 0 none, and the weight of a class that of its rows.

use crate::judge::certified;
use crate::numbers::Numbers;
use crate::{Data, classes, shifted, targets};
use equipoise_models::svm::{Kind, Loss, TrainSettings, Trained};

/// Weights move as the square root of the gap.
const GAP: f64 = 1e-10;

fn settings(kind: Kind, loss: Loss) -> TrainSettings {
    TrainSettings {
        kind,
        loss,
        cost: 0.7,
        nu: 0.6,
        gap: GAP,
        time_limit: Some(20.0),
        ..TrainSettings::default()
    }
}

const KINDS: [(Kind, Loss); 5] = [
    (Kind::Svc, Loss::Hinge),
    (Kind::Svc, Loss::SquaredHinge),
    (Kind::Svr, Loss::Hinge),
    (Kind::OneClass, Loss::Hinge),
    (Kind::NuSvc, Loss::Hinge),
];

fn data_for(kind: Kind, numbers: &mut Numbers) -> Data {
    match kind {
        Kind::Svr => targets(numbers, 40, 6, 0.8),
        Kind::Svc => classes(numbers, 40, 6, 0.8),
        Kind::OneClass => classes(numbers, 40, 6, 0.8).moved(|_| 2.5),
        Kind::NuSvc => shifted(numbers, 40, 6, 0.8, 0.6),
    }
}

#[track_caller]
fn same(first: &Trained, second: &Trained) {
    for (k, (a, b)) in first.report.classes.iter().zip(&second.report.classes).enumerate() {
        assert!((a.primal - b.primal).abs() <= 1e-9 * a.primal.abs(), "{a:?} and {b:?}");
        let size = first.model.weights[k].iter().fold(1.0_f64, |most, w| most.max(w.abs()));
        // The primal grows by half the squared distance from the optimum, at least, and both are within their gaps of it.
        let far = (2.0 * (a.primal - a.dual).max(0.0)).sqrt() + (2.0 * (b.primal - b.dual).max(0.0)).sqrt();
        for (v, w) in first.model.weights[k].iter().zip(&second.model.weights[k]) {
            assert!((v - w).abs() <= 1e-6 * size + far, "weights {v} and {w}: {a:?} and {b:?}");
        }
        assert!((a.bias - b.bias).abs() <= 1e-6 * size + 10.0 * far, "{a:?} and {b:?}");
    }
}

#[test]
fn a_weight_of_k_is_k_rows_and_a_weight_of_0_is_none() {
    let mut numbers = Numbers::new(201);
    for (kind, loss) in KINDS {
        for _ in 0..3 {
            let data = data_for(kind, &mut numbers);
            let counts: Vec<usize> =
                (0..data.labels.len()).map(|i| if i < 2 { 1 } else { numbers.below(4) }).collect();
            let repeated: Vec<usize> = (0..counts.len()).flat_map(|i| vec![i; counts[i]]).collect();
            let repeated = data.chosen(&repeated);
            let weighted = data.weighted(counts.iter().map(|k| *k as f64).collect());
            let settings = settings(kind, loss);
            same(&certified(&weighted, &settings), &certified(&repeated, &settings));
        }
    }
}

#[test]
fn weights_of_1_change_nothing() {
    let mut numbers = Numbers::new(202);
    for (kind, loss) in KINDS {
        let data = data_for(kind, &mut numbers);
        let settings = settings(kind, loss);
        let plain = certified(&data, &settings);
        let n = data.labels.len();
        same(&plain, &certified(&data.weighted(vec![1.0; n]), &settings));
    }
}

#[test]
fn a_row_of_weight_0_may_have_a_label_of_its_own() {
    let mut numbers = Numbers::new(203);
    let data = data_for(Kind::Svc, &mut numbers);
    let settings = settings(Kind::Svc, Loss::Hinge);
    let without = certified(&data.chosen(&(1..40).collect::<Vec<_>>()), &settings);
    let mut weights = vec![1.0; 40];
    weights[0] = 0.0;
    let mut data = data.weighted(weights);
    data.labels[0] = 7.0;
    let with = certified(&data, &settings);
    assert_eq!(with.model.labels, [-1.0, 1.0]);
    same(&without, &with);
}

#[test]
fn class_weights_are_sample_weights() {
    let mut numbers = Numbers::new(204);
    for loss in [Loss::Hinge, Loss::SquaredHinge] {
        let data = data_for(Kind::Svc, &mut numbers);
        let plain = settings(Kind::Svc, loss);
        let by_class = TrainSettings { class_weights: vec![(-1.0, 2.5), (1.0, 0.25)], ..plain.clone() };
        let of_label = |label: &f64| if *label < 0.0 { 2.5 } else { 0.25 };
        let by_sample = data.clone().weighted(data.labels.iter().map(of_label).collect());
        same(&certified(&data, &by_class), &certified(&by_sample, &plain));
        // Both at once: the product.
        let both = data.clone().weighted((0..40).map(|i| f64::from(i % 3)).collect());
        let product = data.labels.iter().enumerate().map(|(i, label)| (i % 3) as f64 * of_label(label));
        let product = data.clone().weighted(product.collect());
        same(&certified(&both, &by_class), &certified(&product, &plain));
    }
}

#[test]
fn class_weights_of_several_classes_are_sample_weights() {
    let mut numbers = Numbers::new(205);
    let mut data = data_for(Kind::Svc, &mut numbers);
    (0..40).for_each(|i| data.labels[i] = (i % 3) as f64);
    let plain = settings(Kind::Svc, Loss::Hinge);
    let by_class = TrainSettings { class_weights: vec![(2.0, 3.0)], ..plain.clone() };
    let of_label = |label: &f64| if *label == 2.0 { 3.0 } else { 1.0 };
    let by_sample = data.clone().weighted(data.labels.iter().map(of_label).collect());
    same(&certified(&data, &by_class), &certified(&by_sample, &plain));
}

#[test]
fn weights_scale_as_the_cost() {
    let mut numbers = Numbers::new(206);
    for loss in [Loss::Hinge, Loss::SquaredHinge] {
        let data = data_for(Kind::Svc, &mut numbers);
        let plain = settings(Kind::Svc, loss);
        let costly = certified(&data, &TrainSettings { cost: 8.0 * plain.cost, ..plain.clone() });
        same(&certified(&data.weighted(vec![8.0; 40]), &plain), &costly);
    }
}
