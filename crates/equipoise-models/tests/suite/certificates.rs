//! Every kind of model is what its report says, by the judge and by the oracle.

use crate::judge::{certified, check_optimum, check_report, is_met};
use crate::numbers::Numbers;
use crate::{classes, shifted, targets};
use equipoise::{Method, Status};
use equipoise_models::svm::{Kind, Loss, TrainSettings};

const GAP: f64 = 1e-8;

fn settings(kind: Kind) -> TrainSettings {
    TrainSettings { kind, gap: GAP, time_limit: Some(20.0), ..TrainSettings::default() }
}

#[test]
fn classifiers_of_every_cost_and_loss_are_optimal() {
    let mut numbers = Numbers::new(101);
    for (n, columns, share) in [(60, 5, 0.9), (30, 60, 0.3), (90, 12, 0.4)] {
        let data = classes(&mut numbers, n, columns, share);
        for loss in [Loss::Hinge, Loss::SquaredHinge] {
            for cost in [1e-3, 0.1, 1.0, 30.0, 1e3] {
                let settings = TrainSettings { loss, cost, ..settings(Kind::Svc) };
                let trained = certified(&data, &settings);
                check_optimum(&data, &settings, &trained);
            }
        }
    }
}

#[test]
fn regressions_of_every_cost_and_tube_are_optimal() {
    let mut numbers = Numbers::new(102);
    for (n, columns, share) in [(60, 5, 0.9), (30, 60, 0.3), (90, 12, 0.4)] {
        let data = targets(&mut numbers, n, columns, share);
        for epsilon in [0.0, 0.1, 1.0] {
            for cost in [1e-3, 0.1, 1.0, 30.0] {
                let settings = TrainSettings { epsilon, cost, ..settings(Kind::Svr) };
                let trained = certified(&data, &settings);
                check_optimum(&data, &settings, &trained);
            }
        }
    }
}

#[test]
fn one_class_models_of_every_nu_are_optimal() {
    let mut numbers = Numbers::new(103);
    for (n, columns, share) in [(60, 5, 0.9), (30, 60, 0.3), (90, 12, 0.4)] {
        // A cloud away from the origin, so that the optimum is not w = 0.
        let data = targets(&mut numbers, n, columns, share).moved(|_| 2.5);
        for nu in [0.02, 0.1, 0.5, 0.9, 1.0] {
            let settings = TrainSettings { nu, ..settings(Kind::OneClass) };
            let trained = certified(&data, &settings);
            check_optimum(&data, &settings, &trained);
        }
    }
}

#[test]
fn nu_classifiers_are_optimal() {
    let mut numbers = Numbers::new(104);
    for (n, columns, share) in [(60, 4, 0.9), (30, 40, 0.3), (80, 5, 0.6)] {
        let data = shifted(&mut numbers, n, columns, share, 0.6);
        for nu in [0.7, 0.85, 1.0] {
            let settings = TrainSettings { nu, ..settings(Kind::NuSvc) };
            let trained = certified(&data, &settings);
            check_optimum(&data, &settings, &trained);
            assert!(trained.report.primal() < -1e-3, "w = 0 proves little");
        }
    }
}

#[test]
fn a_run_that_ends_early_reports_what_it_has() {
    let mut numbers = Numbers::new(105);
    let mut early = 0;
    for kind in [Kind::Svc, Kind::Svr, Kind::OneClass, Kind::NuSvc] {
        let data = shifted(&mut numbers, 90, 6, 0.9, 0.6);
        for method in [Method::Auto, Method::Pairs] {
            for max_epochs in [0.1, 1.0, 3.0] {
                let (gap, max_epochs) = (1e-12, Some(max_epochs));
                let settings = TrainSettings { gap, max_epochs, method, nu: 0.7, ..settings(kind) };
                let trained = data.train(&settings).expect("valid data");
                check_report(&data, &settings, &trained);
                check_optimum(&data, &settings, &trained);
                let status = trained.report.status();
                early += usize::from(status == Status::IterationLimit);
                let met = trained.report.classes.iter().all(|class| is_met(&data, &settings, class));
                assert!(status == Status::IterationLimit || met, "{status}");
            }
        }
    }
    assert!(early >= 8, "only {early} runs ended early");
}

#[test]
fn pairs_and_violating_pairs_find_the_same_model() {
    let mut numbers = Numbers::new(106);
    for kind in [Kind::Svc, Kind::Svr, Kind::OneClass, Kind::NuSvc] {
        for loss in [Loss::Hinge, Loss::SquaredHinge] {
            let mut data = classes(&mut numbers, 40, 6, 0.8);
            let mut nu = TrainSettings::default().nu;
            if kind == Kind::OneClass {
                data = data.moved(|_| 2.5);
            } else if kind == Kind::NuSvc {
                (data, nu) = (shifted(&mut numbers, 40, 6, 0.8, 0.6), 0.7);
            }
            let [fast, slow] = [Method::Violating, Method::Pairs].map(|method| {
                let settings = TrainSettings { method, loss, nu, gap: 1e-7, ..settings(kind) };
                certified(&data, &settings).report.primal()
            });
            assert!((fast - slow).abs() <= 2e-7 * fast.abs().max(1e-12), "{kind:?}: {fast} and {slow}");
        }
    }
}

/// `Converged` means that the gap asked for is met, for the nu kinds too.
#[test]
fn a_nu_classifier_that_is_converged_meets_its_gap() {
    let mut numbers = Numbers::new(999);
    for offset in [1.0, 1e2, 1e3, 1e4] {
        let data = shifted(&mut numbers, 200, 5, 1.0, 0.6);
        let with = |row: &Vec<(u32, f64)>| row.iter().copied().chain([(5, offset)]).collect();
        let data = super::Data::new(6, data.plain.iter().map(with).collect(), data.labels);
        for nu in [0.5, 0.7, 0.9] {
            let settings = TrainSettings { nu, gap: 1e-9, ..settings(Kind::NuSvc) };
            let trained = data.train(&settings).expect("valid data");
            let (status, gap) = (trained.report.status(), trained.report.relative_gap());
            assert!(status != Status::Converged || gap <= 1e-9, "{offset}, {nu}: {gap}");
        }
    }
}

/// Data whose optimum is far from degenerate can be certified nearly to rounding.
#[test]
fn small_gaps_are_reached() {
    let mut numbers = Numbers::new(998);
    let mut stalled = Vec::new();
    for seed in 0..12 {
        for kind in [Kind::Svc, Kind::Svr] {
            let data = classes(&mut numbers, 300, 10, 0.9);
            for cost in [1.0, 10.0, 100.0] {
                let report = data
                    .train(&TrainSettings { cost, gap: 1e-12, ..settings(kind) })
                    .expect("valid data")
                    .report;
                if report.status() != Status::Converged {
                    stalled.push(format!("{seed}, {kind:?}, {cost}: {:.1e}", report.relative_gap()));
                }
            }
        }
    }
    assert!(stalled.is_empty(), "{} of 72:\n{}", stalled.len(), stalled.join("\n"));
}
