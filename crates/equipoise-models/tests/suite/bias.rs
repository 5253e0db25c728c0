//! Models without a bias, and the multipliers that come with every model.

use crate::numbers::Numbers;
use crate::{Data, classes, shifted, targets};
use equipoise::Status;
use equipoise_models::svm::{Kind, Loss, TrainSettings, Watch, train, verify};

/// Every row and its mirror image: there the best bias is 0.
fn mirrored(data: &Data) -> Data {
    let image = |row: &Vec<(u32, f64)>| row.iter().map(|(k, value)| (*k, -value)).collect();
    let plain = data.plain.iter().cloned().chain(data.plain.iter().map(image)).collect();
    let labels = data.labels.iter().copied().chain(data.labels.iter().map(|label| -label)).collect();
    Data::new(data.rows.columns(), plain, labels)
}

fn without(kind: Kind, loss: Loss) -> TrainSettings {
    TrainSettings { kind, loss, gap: 1e-9, bias: false, ..TrainSettings::default() }
}

/// Mirrored data at half the cost have the optimum of a model without a bias.
#[test]
fn a_model_without_a_bias_is_that_of_mirrored_data() {
    for seed in 0..12 {
        let numbers = &mut Numbers::new(700 + seed);
        let (kind, loss) =
            [(Kind::Svc, Loss::Hinge), (Kind::Svc, Loss::SquaredHinge), (Kind::Svr, Loss::Hinge)]
                [seed as usize % 3];
        let data = match kind {
            Kind::Svr => targets(numbers, 120, 9, 0.5),
            _ => classes(numbers, 120, 9, 0.5),
        };
        let settings = TrainSettings { cost: 0.7, ..without(kind, loss) };
        let trained = data.train(&settings).expect("a model");
        assert_eq!(trained.report.status(), Status::Converged, "{:?}", trained.report);
        assert_eq!(trained.model.bias, [0.0]);
        let twice = mirrored(&data)
            .train(&TrainSettings { cost: 0.35, bias: true, ..settings.clone() })
            .expect("a model");
        let (found, known) = (trained.report.primal(), twice.report.primal());
        assert!((found - known).abs() <= 1e-7 * known, "{kind:?} {loss:?}: {found} and {known}");
        assert!(trained.report.dual() <= known && twice.report.dual() <= found);
        let check = verify(data.samples(), &settings, &trained.model, Watch::default()).expect("checked");
        assert!(check.meets(1e-8), "{check:?}");
        // From its own model the optimum is there at once.
        let again =
            train(data.samples(), &settings, Some(&trained.model), Watch::default()).expect("a model");
        assert_eq!(again.report.status(), Status::Converged);
    }
}

#[test]
fn rows_without_features_and_weights_of_nothing_are_no_trouble_without_a_bias() {
    let mut data = classes(&mut Numbers::new(720), 40, 3, 0.6);
    data.plain[7].clear();
    let weights = (0..40).map(|i| if i % 5 == 0 { 0.0 } else { 1.0 }).collect();
    let data = Data::new(3, data.plain, data.labels).weighted(weights);
    for loss in [Loss::Hinge, Loss::SquaredHinge] {
        for cost in [1e-3, 1.0, 1e3] {
            let trained = data.train(&TrainSettings { cost, gap: 1e-6, ..without(Kind::Svc, loss) });
            assert_eq!(trained.expect("a model").report.status(), Status::Converged, "{loss:?} at {cost}");
        }
    }
}

#[test]
fn nu_kinds_have_a_bias() {
    let data = classes(&mut Numbers::new(721), 20, 3, 0.6);
    for kind in [Kind::NuSvc, Kind::OneClass] {
        let error = data.train(&without(kind, Loss::Hinge)).expect_err("refused").to_string();
        assert!(error.contains("bias") && error.contains("nu-svc or one-class"), "{error}");
    }
}

/// `w = X'beta`, also after the division of nu-svc.
#[test]
fn multipliers_make_the_weights() {
    let numbers = &mut Numbers::new(722);
    for kind in [Kind::Svc, Kind::NuSvc, Kind::Svr, Kind::OneClass] {
        let data = match kind {
            Kind::Svr => targets(numbers, 60, 5, 0.8),
            Kind::Svc => classes(numbers, 60, 5, 0.8),
            Kind::NuSvc | Kind::OneClass => shifted(numbers, 60, 5, 0.8, 1.0),
        };
        let settings = TrainSettings { kind, gap: 1e-6, ..TrainSettings::default() };
        let trained = data.train(&settings).expect("a model");
        let beta = trained.multipliers[0].as_ref().expect("trained now");
        let mut w = [0.0; 5];
        (0..60).for_each(|i| data.rows.add(i, beta[i], &mut w));
        for (w, known) in w.iter().zip(&trained.model.weights[0]) {
            assert!((w - known).abs() <= 1e-9 * known.abs().max(1.0), "{kind:?}: {w} and {known}");
        }
    }
}
