//! One test for every defect that was found in the wild.

use equipoise::matrix::Rows;
use equipoise::{Error as Refused, Status};
use equipoise_models::svm::{Error, Kind, Loss, Samples, TrainSettings, Watch, path, train};

/// Rows of two features on a lattice, labels by a line with some noise.
fn lattice(n: usize) -> (Rows<'static>, Vec<f64>) {
    let point =
        |i: usize| [((i * 7919) % 1009) as f64 / 1009.0 - 0.5, ((i * 104_729) % 997) as f64 / 997.0 - 0.5];
    let values = (0..n).flat_map(point).collect();
    let label = |i: usize| {
        let [a, b] = point(i);
        let noise = ((i * 31) % 11) as f64 / 22.0 - 0.25;
        if a + b + noise > 0.0 { 1.0 } else { -1.0 }
    };
    let rows = Rows::new(2, (0..=n).map(|i| 2 * i).collect(), [0, 1].repeat(n), Some(values)).expect("valid");
    (rows, (0..n).map(label).collect())
}

#[test]
fn a_path_over_many_rows_is_not_called_infeasible() {
    let (rows, labels) = lattice(40_000);
    let samples = Samples { rows: &rows, labels: &labels, weights: None };
    let walked =
        path(samples, &TrainSettings::default(), &[0.1, 1.0, 3.0], Watch::default()).expect("feasible");
    assert_eq!(walked.len(), 3);
    assert!(walked.iter().all(|trained| trained.report.status() == Status::Converged));
}

#[test]
fn kinds_with_sums_other_than_zero_start_at_once() {
    let (rows, labels) = lattice(40_000);
    let samples = Samples { rows: &rows, labels: &labels, weights: None };
    for kind in [Kind::OneClass, Kind::NuSvc] {
        let settings = TrainSettings { kind, nu: 0.8, time_limit: Some(20.0), ..TrainSettings::default() };
        let trained = train(samples, &settings, None, Watch::default()).expect("feasible");
        assert_eq!(trained.report.status(), Status::Converged, "{kind:?}: {:?}", trained.report);
    }
}

#[test]
fn a_large_sum_may_miss_its_right_hand_side_by_its_own_rounding() {
    let (rows, labels) = lattice(300_000);
    let samples = Samples { rows: &rows, labels: &labels, weights: None };
    let settings =
        TrainSettings { kind: Kind::OneClass, nu: 0.3, time_limit: Some(20.0), ..TrainSettings::default() };
    let trained = train(samples, &settings, None, Watch::default()).expect("feasible");
    assert_eq!(trained.report.status(), Status::Converged, "{:?}", trained.report);
    assert!(trained.report.classes[0].infeasibility <= 1e-9 * (1.0 + 0.3 * 300_000.0));
}

#[test]
fn a_cost_that_overflows_is_refused() {
    let rows = Rows::new(1, vec![0, 1, 2], vec![0, 0], Some(vec![1.0, -1.0])).expect("valid");
    let samples = Samples { rows: &rows, labels: &[1.0, -1.0], weights: None };
    let settings =
        TrainSettings { cost: 1e308, class_weights: vec![(1.0, 1e10)], ..TrainSettings::default() };
    let refused = train(samples, &settings, None, Watch::default());
    assert!(matches!(refused, Err(Error::Equipoise(Refused::OutOfRange { .. }))), "{refused:?}");
}

#[test]
fn identical_large_rows_do_not_make_the_squared_hinge_unbounded() {
    let rows = Rows::new(1, vec![0, 1, 2], vec![0, 0], Some(vec![1e8, 1e8])).expect("valid");
    let samples = Samples { rows: &rows, labels: &[1.0, -1.0], weights: None };
    let settings =
        TrainSettings { loss: Loss::SquaredHinge, time_limit: Some(5.0), ..TrainSettings::default() };
    let trained = train(samples, &settings, None, Watch::default()).expect("bounded");
    // w = 0 and b = 0: both rows are charged 1.
    assert!((trained.report.primal() - 2.0).abs() < 1e-3, "{:?}", trained.report);
}

#[test]
fn zero_has_one_label() {
    let rows = Rows::new(1, vec![0, 1, 2], vec![0, 0], Some(vec![1.0, 2.0])).expect("valid");
    let samples = Samples { rows: &rows, labels: &[-0.0, 0.0], weights: None };
    let refused = train(samples, &TrainSettings::default(), None, Watch::default());
    assert!(matches!(refused, Err(Error::OneClassOnly { .. })), "{refused:?}");
}

#[test]
fn absurd_numbers_of_threads_and_repeated_class_weights_are_refused() {
    for settings in [
        TrainSettings { threads: 100_000, ..TrainSettings::default() },
        TrainSettings { threads: 0, ..TrainSettings::default() },
        TrainSettings { class_weights: vec![(1.0, 2.0), (1.0, 3.0)], ..TrainSettings::default() },
    ] {
        assert!(
            matches!(settings.validate(), Err(Error::Equipoise(Refused::InvalidSetting { .. }))),
            "{settings:?}"
        );
    }
}

/// A tube wider than the targets: every bias from -2 to 6 is optimal, and the middle is taken.
#[test]
fn a_bias_that_may_be_anything_in_an_interval_is_its_middle() {
    let rows = Rows::new(1, vec![0, 1, 2, 3], vec![0; 3], Some(vec![1.0, -1.0, 0.5])).expect("valid");
    let samples = Samples { rows: &rows, labels: &[1.0, 2.0, 3.0], weights: None };
    let settings = TrainSettings { kind: Kind::Svr, epsilon: 5.0, ..TrainSettings::default() };
    let trained = train(samples, &settings, None, Watch::default()).expect("valid");
    assert!(trained.model.bias[0] == 2.0 && trained.report.primal() < 1e-300, "{trained:?}");
    // Two rows of one point, one of either label: every bias from -1 to 1 costs the same.
    let rows = Rows::new(1, vec![0, 0, 0], vec![], Some(vec![])).expect("valid");
    let samples = Samples { rows: &rows, labels: &[1.0, -1.0], weights: None };
    for cost in [1.0, 0.1, 1e-3] {
        let settings = TrainSettings { cost, ..TrainSettings::default() };
        let trained = train(samples, &settings, None, Watch::default()).expect("valid");
        assert_eq!(trained.model.bias[0], 0.0, "{cost}");
    }
}

#[test]
fn the_objective_of_a_large_cost_is_sharp_at_a_loose_gap() {
    // Two classes apart: the cost multiplies what rounding may do to scores, and hardly anything else.
    let (n, cost) = (2000, 1e6);
    let side = |i: usize| if i.is_multiple_of(2) { 1.0 } else { -1.0 };
    let point = |i: usize| {
        [side(i) * (0.1 + ((i * 7919) % 1009) as f64 / 1009.0), ((i * 104_729) % 997) as f64 / 997.0]
    };
    let values: Vec<f64> = (0..n).flat_map(point).collect();
    let rows = Rows::new(2, (0..=n).map(|i| 2 * i).collect(), [0, 1].repeat(n), Some(values)).expect("valid");
    let labels: Vec<f64> = (0..n).map(side).collect();
    let samples = Samples { rows: &rows, labels: &labels, weights: None };
    let settings = TrainSettings { cost, gap: 1e-3, ..TrainSettings::default() };
    let trained = train(samples, &settings, None, Watch::default()).expect("feasible");
    assert_eq!(trained.report.status(), Status::Converged, "{:?}", trained.report);
    let positive = trained.report.classes[0].label;
    let sign = |i: usize| if labels[i] == positive { 1.0 } else { -1.0 };
    let miss = |i: usize| (1.0 - sign(i) * trained.model.decision(0, &rows, i)).max(0.0);
    let norm: f64 = trained.model.weights[0].iter().map(|w| w * w).sum();
    let primal = 0.5 * norm + cost * (0..n).map(miss).sum::<f64>();
    let reported = trained.report.primal();
    assert!((reported - primal).abs() <= 1e-8 * primal, "{reported} {primal}");
}
