//! Properties of models of random sparse data, random kinds and random settings.

use crate::judge::{certified, check_optimum, check_report, is_met};
use crate::numbers::Numbers;
use crate::{Data, classes, targets};
use equipoise::Status;
use equipoise_models::svm::{Kind, Loss, TrainSettings, Watch, path, train};

const CASES: u64 = 120;

/// Random data and settings; what is drawn can be solved by construction.
fn case(seed: u64) -> (Data, TrainSettings) {
    let mut numbers = Numbers::new(5_000 + seed);
    let (n, columns) = (3 + numbers.below(60), 1 + numbers.below(30));
    let share = 0.1 + 0.45 * (1.0 + numbers.next());
    let kind = [Kind::Svc, Kind::Svc, Kind::Svr, Kind::OneClass][numbers.below(4)];
    let loss = [Loss::Hinge, Loss::SquaredHinge][numbers.below(2)];
    let mut data = match kind {
        Kind::Svr => targets(&mut numbers, n, columns, share),
        _ => classes(&mut numbers, n, columns, share),
    };
    if numbers.below(3) == 0 {
        let weight = |i: usize, k: usize| if i < 2 { 1.0 } else { k as f64 / 2.0 };
        let weights = (0..n).map(|i| weight(i, numbers.below(6))).collect();
        data = data.weighted(weights);
    }
    let cost = 10.0_f64.powf(3.0 * numbers.next());
    let nu = 0.02 + 0.49 * (1.0 + numbers.next()).min(1.9);
    let epsilon = 0.25 * (1.0 + numbers.next());
    let gap = 10.0_f64.powf(-3.0 - numbers.below(7) as f64);
    let class_weights =
        if kind == Kind::Svc && numbers.below(3) == 0 { vec![(1.0, 3.0)] } else { Vec::new() };
    let settings = TrainSettings {
        kind,
        loss,
        cost,
        nu,
        epsilon,
        gap,
        class_weights,
        seed,
        time_limit: Some(10.0),
        ..TrainSettings::default()
    };
    (data, settings)
}

/// Whether the optimum is away from w = 0, where a relative gap can be met.
fn is_solved(kind: Kind, primal: f64) -> bool {
    kind != Kind::OneClass || primal.abs() > 1e-9
}

#[test]
fn random_models_meet_their_gap_and_agree_with_the_oracle() {
    let mut failures = Vec::new();
    for seed in 0..CASES {
        let (data, settings) = case(seed);
        let trained = data.train(&settings).expect("valid data");
        check_report(&data, &settings, &trained);
        check_optimum(&data, &settings, &trained);
        let report = &trained.report;
        if report.status() != Status::Converged
            || !report.classes.iter().all(|class| is_met(&data, &settings, class))
        {
            failures.push(format!("case {seed}: {settings:?}: {report:?}"));
        }
    }
    assert!(failures.is_empty(), "{} of {CASES}:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn the_same_seed_gives_the_same_bits() {
    for seed in 0..40 {
        let (data, settings) = case(seed);
        let [first, second] = [0, 1].map(|_| data.train(&settings).expect("valid data"));
        assert_eq!(first.model, second.model, "case {seed}");
        let [first, second] = [first, second].map(|trained| format!("{:?}", trained.report.classes));
        assert_eq!(first, second, "case {seed}");
    }
}

#[test]
fn a_model_is_a_good_start_for_itself() {
    for seed in 0..60 {
        let (data, settings) = case(seed);
        let cold = data.train(&settings).expect("valid data");
        let warm = train(data.samples(), &settings, Some(&cold.model), Watch::default()).expect("valid data");
        check_report(&data, &settings, &warm);
        assert_eq!(warm.report.status(), Status::Converged, "case {seed}: {:?}", warm.report);
        let (first, second) = (cold.report.primal(), warm.report.primal());
        if is_solved(settings.kind, first) {
            assert!(
                (first - second).abs() <= 2.0 * settings.gap * first.abs().max(1e-12),
                "case {seed}: {first}, {second}"
            );
        }
    }
}

#[test]
fn a_start_that_fits_nothing_does_no_harm() {
    for seed in 0..30 {
        let (data, settings) = case(seed);
        let mut model = data.train(&settings).expect("valid data").model;
        model.weights[0].iter_mut().for_each(|w| *w = 1e3 - 1e4 * *w);
        model.bias[0] = -1e5;
        let trained = train(data.samples(), &settings, Some(&model), Watch::default()).expect("valid data");
        check_report(&data, &settings, &trained);
        assert_eq!(trained.report.status(), Status::Converged, "case {seed}: {:?}", trained.report);
        // One of another shape is not used.
        model.weights[0].push(1.0);
        let other = train(data.samples(), &settings, Some(&model), Watch::default()).expect("valid data");
        assert_eq!(other.model, data.train(&settings).expect("valid data").model);
    }
}

#[test]
fn a_path_is_as_good_as_separate_fits() {
    for seed in 0..30 {
        let (data, settings) = case(seed);
        if settings.kind == Kind::OneClass {
            continue;
        }
        let settings = TrainSettings { gap: 1e-9, ..settings };
        let costs = [0.01, 0.1, 1.0, 30.0, 0.5];
        let walk = path(data.samples(), &settings, &costs, Watch::default()).expect("valid data");
        assert_eq!(walk.len(), costs.len());
        for (trained, cost) in walk.iter().zip(costs) {
            let alone = TrainSettings { cost, ..settings.clone() };
            check_report(&data, &alone, trained);
            assert_eq!(
                trained.report.status(),
                Status::Converged,
                "case {seed}, {cost}: {:?}",
                trained.report
            );
            assert_eq!(trained.model.cost, cost);
            let (walked, fitted) = (trained.report.primal(), certified(&data, &alone).report.primal());
            assert!(
                (walked - fitted).abs() <= 2e-9 * fitted.max(1e-12),
                "case {seed}, {cost}: {walked}, {fitted}"
            );
        }
    }
}

#[test]
fn predictions_are_signs_of_decisions() {
    for seed in 0..60 {
        let (data, settings) = case(seed);
        let model = data.train(&settings).expect("valid data").model;
        let predicted = model.predict(&data.rows);
        for (i, row) in data.plain.iter().enumerate() {
            let value =
                model.bias[0] + row.iter().map(|(k, v)| model.weights[0][*k as usize] * v).sum::<f64>();
            let size = 1.0 + model.bias[0].abs();
            assert!((model.decision(0, &data.rows, i) - value).abs() <= 1e-10 * (size + value.abs()));
            match settings.kind {
                Kind::Svr => assert_eq!(predicted[i], model.decision(0, &data.rows, i)),
                _ if value.abs() > 1e-9 * size => assert_eq!(predicted[i], value.signum()),
                _ => assert_eq!(predicted[i].abs(), 1.0),
            }
        }
        let right = (0..data.labels.len()).filter(|&i| predicted[i] == data.labels[i]).count();
        if settings.kind == Kind::Svc {
            assert!(
                (model.score(&data.rows, &data.labels) - right as f64 / data.labels.len() as f64).abs()
                    < 1e-12
            );
        }
    }
}

#[test]
fn one_against_the_rest_is_as_many_fits_of_two_classes() {
    for seed in 0..15 {
        let mut numbers = Numbers::new(6_000 + seed);
        let k = 3 + numbers.below(4);
        let mut data = classes(&mut numbers, 40, 6, 0.7);
        (0..40).for_each(|i| data.labels[i] = 2.0 * (i % k) as f64 - 3.0);
        let loss = [Loss::Hinge, Loss::SquaredHinge][numbers.below(2)];
        let settings =
            TrainSettings { loss, gap: 1e-8, seed, time_limit: Some(10.0), ..TrainSettings::default() };
        let all = certified(&data, &settings);
        check_optimum(&data, &settings, &all);
        assert_eq!(all.model.labels.len(), k);
        let threads = TrainSettings { threads: 2, ..settings.clone() };
        assert_eq!(all.model, certified(&data, &threads).model);
        let mut decisions = Vec::new();
        for (c, label) in all.model.labels.iter().enumerate() {
            let alone = certified(&data.relabelled(|l| if l == *label { 1.0 } else { -1.0 }), &settings);
            assert_eq!(
                (&alone.model.weights[0], alone.model.bias[0]),
                (&all.model.weights[c], all.model.bias[c])
            );
            assert_eq!(all.report.classes[c].label, *label);
            decisions.push((0..40).map(|i| alone.model.decision(0, &data.rows, i)).collect::<Vec<_>>());
        }
        let sums = (all.report.primal(), all.report.classes.iter().map(|class| class.primal).sum::<f64>());
        assert!(sums.0 >= sums.1 && sums.0 - sums.1 <= 1e-14 * sums.1, "{sums:?}");
        for (i, label) in all.model.predict(&data.rows).iter().enumerate() {
            let best = (0..k).max_by(|a, b| decisions[*a][i].total_cmp(&decisions[*b][i])).expect("classes");
            assert_eq!(
                decisions[all.model.labels.iter().position(|l| l == label).expect("known")][i],
                decisions[best][i]
            );
        }
    }
}
