//! The history of a run: it begins before the first update, never rises, never leaves A x = b.

use super::settings;
use crate::samples::kernels;
use equipoise::{History, Method, Observer, Progress, Settings, Solver};

#[test]
fn the_history_begins_at_update_0_and_never_rises() {
    for sample in kernels() {
        let name = sample.name;
        let problem = sample.problem();
        for method in [Method::Auto, Method::Pairs] {
            let settings = Settings { method, max_updates: Some(20_000), ..settings() };
            let mut history = History::default();
            let solution = Solver::new(&problem, &settings).observer(&mut history).run().expect("valid");
            let (first, last) =
                (&history.checkpoints[0], &history.checkpoints[history.checkpoints.len() - 1]);
            assert_eq!((first.update, first.epoch), (0, 0.0), "{name}");
            assert_eq!(
                first.verdict.objective,
                problem.objective(problem.start()).expect("in memory"),
                "{name}"
            );
            let found = last.certificate.as_ref();
            assert_eq!((last.update, found), (solution.updates, Some(&solution.certificate)), "{name}");
            for pair in history.checkpoints.windows(2) {
                check_pair(name, &pair[0], &pair[1]);
            }
        }
    }
}

fn check_pair(name: &str, before: &Progress, after: &Progress) {
    assert!(before.update <= after.update && before.epoch < after.epoch, "{name}: epochs go up");
    assert!(before.seconds <= after.seconds, "{name}: time goes on");
    let (Some(old), Some(new)) = (&before.certificate, &after.certificate) else { panic!("{name}: a judge") };
    assert!(
        new.objective <= old.objective + 1e-12 * (1.0 + old.objective.abs()),
        "{name}: the objective rose from {} to {} at update {}",
        old.objective,
        new.objective,
        after.update
    );
    assert!(
        new.infeasibility <= 1e-12,
        "{name}: A x - b is {:.1e} at update {}",
        new.infeasibility,
        after.update
    );
    assert!(new.separable.is_finite(), "{name}: in the domain");
}

/// Counts what it is told.
#[derive(Default)]
struct Counter {
    heartbeats: u64,
    last: u64,
}

impl Observer for Counter {
    fn checkpoint(&mut self, _progress: &Progress) {}
    fn heartbeat(&mut self, update: u64, _epoch: f64) {
        self.heartbeats += 1;
        assert!(update > self.last);
        self.last = update;
    }
}

/// Keeps the last iterate that it was shown, and how many checkpoints followed one.
#[derive(Default)]
struct Last {
    x: Vec<f64>,
    shown: u64,
    told: u64,
}

impl Observer for Last {
    fn iterate(&mut self, x: &[f64]) {
        self.x = x.to_vec();
        self.shown += 1;
    }
    fn checkpoint(&mut self, _progress: &Progress) {
        self.told += 1;
        assert_eq!(self.shown, self.told, "every checkpoint has its iterate");
    }
}

#[test]
fn every_checkpoint_comes_with_its_iterate() {
    for sample in kernels() {
        let name = sample.name;
        let problem = sample.problem();
        let mut last = Last::default();
        let solution = Solver::new(&problem, &settings()).observer(&mut last).run().expect("valid");
        assert!(last.told > 0 && last.x == solution.x, "{name}");
    }
}

#[test]
fn hearts_beat_between_checkpoints_and_change_nothing() {
    let problem = kernels().swap_remove(1).problem();
    let settings = Settings {
        method: Method::Pairs,
        tolerance: 1e-15,
        max_updates: Some(50_000),
        step_size: 0.01,
        ..settings()
    };
    let mut counter = Counter::default();
    let watched = Solver::new(&problem, &settings).observer(&mut counter).run().expect("valid");
    let alone = equipoise::solve(&problem, &settings).expect("valid");
    assert!(counter.heartbeats > 0 && counter.last <= watched.updates);
    assert_eq!((watched.x, watched.updates), (alone.x, alone.updates));
}
