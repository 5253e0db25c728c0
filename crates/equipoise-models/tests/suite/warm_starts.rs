//! An earlier model is a good place to begin: counted in epochs, never in time.

use crate::numbers::Numbers;
use crate::{Data, classes, shifted, targets};
use equipoise::Status;
use equipoise_models::svm::{Kind, LinearModel, Loss, TrainSettings, Watch, train};

/// Epochs of a converged fit, from a model if there is one.
fn epochs(data: &Data, settings: &TrainSettings, model: Option<&LinearModel>) -> (f64, LinearModel) {
    let trained = train(data.samples(), settings, model, Watch::default()).expect("valid data");
    assert_eq!(trained.report.status(), Status::Converged, "{settings:?}: {:?}", trained.report);
    (trained.report.classes.iter().map(|class| class.epochs).sum(), trained.model)
}

fn cases() -> Vec<(Data, TrainSettings)> {
    let mut numbers = Numbers::new(55);
    let sparse = classes(&mut numbers, 3000, 40, 0.3);
    let dense = classes(&mut numbers, 1500, 12, 1.0);
    let plane = targets(&mut numbers, 2000, 20, 0.5);
    let cloud = targets(&mut numbers, 2000, 20, 0.5).moved(|_| 2.5);
    let plain = TrainSettings::default();
    let spread = shifted(&mut numbers, 3000, 20, 0.8, 0.6);
    vec![
        (spread, TrainSettings { kind: Kind::NuSvc, nu: 0.8, ..plain.clone() }),
        (sparse.clone(), plain.clone()),
        (sparse.clone(), TrainSettings { cost: 0.05, ..plain.clone() }),
        (dense.clone(), TrainSettings { cost: 10.0, ..plain.clone() }),
        (sparse, TrainSettings { loss: Loss::SquaredHinge, ..plain.clone() }),
        (plane, TrainSettings { kind: Kind::Svr, ..plain.clone() }),
        (cloud, TrainSettings { kind: Kind::OneClass, nu: 0.2, ..plain }),
    ]
}

#[test]
fn a_model_of_the_same_data_costs_hardly_more_than_a_certificate() {
    let mut failures = Vec::new();
    for (data, settings) in cases() {
        for gap in [1e-4, 1e-6] {
            let settings = TrainSettings { gap, ..settings.clone() };
            let (cold, model) = epochs(&data, &settings, None);
            let (warm, _) = epochs(&data, &settings, Some(&model));
            println!(
                "{:?} {:?} C {} gap {gap:e}: {cold:.2} cold, {warm:.2} warm",
                settings.kind, settings.loss, settings.cost
            );
            // Where nothing is known a run may take as little as nine passes; two are a certificate. Squared misses take a
            // look, Newton steps of a pass each, and a last look.
            let certificate = if settings.loss == Loss::SquaredHinge { 5.0 } else { 2.0 };
            if warm > (0.15 * cold).max(certificate) {
                failures.push(format!("{settings:?}: {warm} epochs, {cold} without"));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn a_model_of_half_or_twice_the_cost_saves_half_of_the_epochs() {
    let mut failures = Vec::new();
    for (data, settings) in cases() {
        if matches!(settings.kind, Kind::OneClass | Kind::NuSvc) {
            continue;
        }
        let (cold, _) = epochs(&data, &settings, None);
        for factor in [0.5, 2.0] {
            let other = TrainSettings { cost: factor * settings.cost, ..settings.clone() };
            let (_, model) = epochs(&data, &other, None);
            let (warm, _) = epochs(&data, &settings, Some(&model));
            println!(
                "{:?} {:?} C {} from {factor}: {cold:.2} cold, {warm:.2} warm",
                settings.kind, settings.loss, settings.cost
            );
            // One pass looks at where it begins.
            if warm > 0.5 * cold + 1.0 {
                failures.push(format!("{settings:?} from {factor} C: {warm} epochs, {cold} without"));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn multipliers_of_the_same_rows_are_the_optimum_itself() {
    for (data, settings) in cases() {
        for bias in [true, false] {
            if !bias && matches!(settings.kind, Kind::OneClass | Kind::NuSvc) {
                continue;
            }
            let settings = TrainSettings { gap: 1e-6, bias, ..settings.clone() };
            let cold = train(data.samples(), &settings, None, Watch::default()).expect("valid data");
            let watch = Watch { multipliers: Some(&cold.multipliers), ..Watch::default() };
            let again = train(data.samples(), &settings, None, watch).expect("valid data");
            assert_eq!(again.report.status(), Status::Converged);
            let (before, after) = (&cold.report.classes[0], &again.report.classes[0]);
            assert!(after.epochs <= 2.0 && after.epochs < before.epochs, "{settings:?}: {}", after.epochs);
            assert!(after.primal <= before.primal + 1e-6 * before.primal.abs(), "{settings:?}");
        }
    }
}

#[test]
fn multipliers_of_another_cost_or_of_other_rows_are_made_feasible_or_left_out() {
    for (data, settings) in cases() {
        let settings = TrainSettings { gap: 1e-6, ..settings };
        let dearer = TrainSettings { cost: 3.0 * settings.cost, ..settings.clone() };
        let known = train(data.samples(), &settings, None, Watch::default()).expect("valid data");
        let dear = train(data.samples(), &dearer, None, Watch::default()).expect("valid data");
        let unfit = [Some(vec![1.0; 7])];
        let endless = [Some(vec![f64::NAN; data.rows.len()])];
        for given in [&dear.multipliers[..], &unfit, &endless, &[None], &[]] {
            let watch = Watch { multipliers: Some(given), ..Watch::default() };
            let found = train(data.samples(), &settings, None, watch).expect("valid data");
            assert_eq!(found.report.status(), Status::Converged, "{settings:?}");
            let difference = (found.report.primal() - known.report.primal()).abs();
            assert!(difference <= 2e-6 * known.report.primal().abs(), "{settings:?}: {difference}");
        }
    }
}

/// Classes whose hulls overlap at a nu have w = 0: that is found about as soon as the model of a C, to any gap, and in any units.
#[test]
fn hulls_that_overlap_take_about_as_long_as_a_cost() {
    let mut numbers = Numbers::new(58);
    let mut failures = Vec::new();
    for (n, columns, share) in [(3000, 30, 0.5), (2000, 100, 0.1), (1500, 8, 1.0)] {
        let mut data = classes(&mut numbers, n, columns, share);
        (0..n).for_each(|i| data.labels[i] = if i % 3 == 0 { 1.0 } else { -1.0 });
        let (one, _) = epochs(&data, &TrainSettings::default(), None);
        for (nu, gap, unit) in [(0.1, 1e-4, 1.0), (0.3, 1e-6, 1.0), (0.2, 1e-4, 1e-9), (0.2, 1e-4, 1e9)] {
            let settings = TrainSettings { kind: Kind::NuSvc, nu, gap, ..TrainSettings::default() };
            let (two, model) = epochs(&data.scaled(unit), &settings, None);
            assert!(model.weights[0].iter().all(|w| *w == 0.0), "{nu} {unit:e}");
            println!("{n} x {columns}, nu {nu}, gap {gap:e}, unit {unit:e}: {one:.1} and {two:.1} epochs");
            if two > 2.0 * one + 5.0 {
                failures.push(format!("{n} x {columns}, nu {nu}, unit {unit:e}: {one} and {two} epochs"));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Two sums are one row each: a nu that gives the model of a C takes about as many passes as that C.
#[test]
fn two_sums_take_about_as_long_as_one() {
    let mut numbers = Numbers::new(57);
    let mut failures = Vec::new();
    let cases = [
        (classes(&mut numbers, 4000, 30, 0.5), 1.0),
        (classes(&mut numbers, 2000, 300, 0.1), 0.1),
        (shifted(&mut numbers, 3000, 8, 1.0, 0.6), 10.0),
    ];
    for (data, cost) in cases {
        let svc = TrainSettings { cost, ..TrainSettings::default() };
        let one = train(data.samples(), &svc, None, Watch::default()).expect("valid data");
        let sum: f64 = one.multipliers[0].iter().flatten().map(|beta| beta.abs()).sum();
        let nu = sum / (cost * data.labels.len() as f64);
        let settings = TrainSettings { kind: Kind::NuSvc, nu, ..svc };
        let two = train(data.samples(), &settings, None, Watch::default()).expect("valid data");
        assert_eq!(two.report.status(), Status::Converged);
        let [first, second] = [&one, &two].map(|trained| trained.report.classes[0].epochs);
        println!("C {cost}, nu {nu:.4}: {first:.1} epochs for one sum, {second:.1} for two");
        if second > 2.0 * first + 5.0 {
            failures.push(format!("C {cost}, nu {nu}: {first} and {second} epochs"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
