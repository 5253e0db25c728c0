//! How many passes a fit takes from nothing: counted, never timed.

use crate::Data;
use crate::numbers::Numbers;
use equipoise::Status;
use equipoise_models::svm::{Loss, TrainSettings};

/// Rows with eight of forty features each, all of them 1; labels of a random plane with much noise.
fn one_hot(n: usize) -> Data {
    const COLUMNS: usize = 40;
    let mut numbers = Numbers::new(91);
    let plane = numbers.vector(COLUMNS, 1.0);
    let mut row = || {
        let mut columns: Vec<u32> = (0..8).map(|_| numbers.below(COLUMNS) as u32).collect();
        columns.sort_unstable();
        columns.dedup();
        let score: f64 = columns.iter().map(|k| plane[*k as usize]).sum();
        let label = (score + 3.0 * numbers.next()).signum();
        (columns.into_iter().map(|k| (k, 1.0)).collect(), label)
    };
    let (plain, labels) = (0..n).map(|_| row()).unzip();
    Data::new(COLUMNS, plain, labels)
}

fn passes(data: &Data, settings: &TrainSettings) -> f64 {
    let report = data.train(settings).expect("valid data").report;
    assert_eq!(report.status(), Status::Converged, "{settings:?}: {report:?}");
    report.classes.iter().map(|class| class.epochs).sum()
}

/// Nearly all rows are at a bound soon, and leave. When they come back, the gap of all is larger than that of those who had stayed:
/// that is no reason to give sweeps up.
#[test]
fn small_costs_end_in_sweeps() {
    let data = one_hot(6000);
    for cost in [0.03, 0.1] {
        let found = passes(&data, &TrainSettings { cost, gap: 1e-6, ..TrainSettings::default() });
        println!("C {cost}: {found:.1}");
        assert!(found < 25.0, "C = {cost}: {found} passes");
    }
}

/// With the squared hinge every row within the margin is free: a matrix from a sample of them gives rough steps, which become exact.
#[test]
fn samples_that_are_too_coarse_become_finer() {
    let data = one_hot(12_000);
    let settings =
        TrainSettings { cost: 10.0, gap: 1e-9, loss: Loss::SquaredHinge, ..TrainSettings::default() };
    let found = passes(&data, &settings);
    println!("{found:.1}");
    assert!(found < 24.0, "{found} passes");
}
