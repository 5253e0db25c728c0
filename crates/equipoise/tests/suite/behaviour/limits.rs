//! Limits bind inside the inner loop, and what comes back is feasible whichever one it was.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use super::{is_feasible, settings};
use crate::adaptor::solve_checked;
use crate::samples::kernels;
use equipoise::{Control, Error, Judge, Method, Observer, Progress, Settings, Solver, Status, Verdict};

#[test]
fn a_limit_on_updates_is_exact() {
    for sample in kernels() {
        let name = sample.name;
        let problem = sample.problem();
        for most in [1, 7, 1000] {
            let limited = Settings { max_updates: Some(most), method: Method::Pairs, ..settings() };
            let solution = solve_checked(&problem, &limited);
            match solution.status {
                Status::IterationLimit => assert_eq!(solution.updates, most, "{name}"),
                Status::Converged => {
                    assert!(solution.updates <= most, "{name}: {} of {most}", solution.updates);
                }
                other => panic!("{name}: {other} after {} of {most}", solution.updates),
            }
            is_feasible(name, &solution);
        }
    }
}

#[test]
fn a_limit_on_epochs_is_as_many_updates_as_move_every_block_once() {
    for sample in kernels() {
        let name = sample.name;
        let problem = sample.problem();
        let limited = Settings { max_epochs: Some(1.0), tolerance: 1e-14, ..settings() };
        let solution = solve_checked(&problem, &limited);
        let expected = problem.blocks().len().div_ceil(2) as u64;
        assert!(solution.updates <= expected, "{name}: {} updates", solution.updates);
        assert!(solution.epochs <= 1.0 + 1.0 / expected as f64, "{name}: {} epochs", solution.epochs);
        is_feasible(name, &solution);
    }
}

#[test]
fn the_smaller_of_two_limits_binds() {
    let problem = kernels().swap_remove(2).problem();
    let pairs = || Settings { method: Method::Pairs, tolerance: 1e-14, ..settings() };
    let limited = Settings { max_epochs: Some(1.0), max_updates: Some(3), ..pairs() };
    assert_eq!(solve_checked(&problem, &limited).updates, 3);
    let limited = Settings { max_epochs: Some(0.5), max_updates: Some(1000), ..pairs() };
    assert_eq!(solve_checked(&problem, &limited).updates, 6);
}

#[test]
fn a_tiny_time_limit_returns_a_feasible_iterate_at_once() {
    for sample in kernels() {
        let name = sample.name;
        let problem = sample.problem();
        let limited = Settings { time_limit: Some(1e-9), tolerance: 1e-14, ..settings() };
        let solution = solve_checked(&problem, &limited);
        assert_eq!(solution.status, Status::TimeLimit, "{name}");
        assert!(solution.updates <= 64, "{name}: {} updates before the first look", solution.updates);
        is_feasible(name, &solution);
    }
}

#[test]
fn a_flag_that_is_already_set_interrupts_at_once() {
    for sample in kernels() {
        let name = sample.name;
        let problem = sample.problem();
        let (stop, settings) = (Arc::new(AtomicBool::new(true)), Settings { tolerance: 1e-14, ..settings() });
        let solution =
            Solver::new(&problem, &settings).control(Control::on(Arc::clone(&stop))).run().expect("valid");
        assert_eq!(solution.status, Status::Interrupted, "{name}");
        assert!(solution.updates <= 64, "{name}: {} updates before the first look", solution.updates);
        is_feasible(name, &solution);
    }
}

/// Sets a flag at the third checkpoint.
struct StopAtThird<'a> {
    seen: u32,
    flag: &'a AtomicBool,
}

impl Observer for StopAtThird<'_> {
    fn checkpoint(&mut self, _progress: &Progress) {
        self.seen += 1;
        self.flag.store(self.seen >= 3, std::sync::atomic::Ordering::Relaxed);
    }
}

#[test]
fn a_flag_set_on_the_way_interrupts_before_the_next_checkpoint() {
    let problem = kernels().swap_remove(9).problem();
    let flag = Arc::new(AtomicBool::new(false));
    let settings = Settings { method: Method::Pairs, tolerance: 1e-14, ..settings() };
    let mut observer = StopAtThird { seen: 0, flag: &flag };
    let solution = Solver::new(&problem, &settings)
        .control(Control::on(Arc::clone(&flag)))
        .observer(&mut observer)
        .run()
        .expect("valid");
    assert_eq!((solution.status, observer.seen), (Status::Interrupted, 4));
    is_feasible("newton", &solution);
}

/// Is told to stop as soon as it looks at anything, and counts looks that nobody could have ended.
#[derive(Default)]
struct Hurried {
    stop: Arc<AtomicBool>,
    endless: AtomicU32,
}

impl Judge for Hurried {
    fn judge(&self, _x: &[f64], control: &Control) -> Result<Verdict, Error> {
        self.stop.store(true, Ordering::Relaxed);
        if control.is_unlimited() {
            self.endless.fetch_add(1, Ordering::Relaxed);
        }
        control.check()?;
        Ok(Verdict::new(0.0, 1.0, false))
    }

    fn wanted_gap(&self, _objective: f64) -> f64 {
        1e-12
    }
}

/// Whoever interrupts before the first verdict does not wait for one: nothing is claimed of the iterate but its objective.
#[test]
fn a_judge_who_has_no_time_is_not_asked_again_without_a_limit() {
    let mut runs = 0;
    // Sweeps come before the first look.
    let settings = Settings { method: Method::Violating, ..settings() };
    for sample in kernels() {
        let (name, problem, judge) = (sample.name, sample.problem(), Hurried::default());
        let control = Control::on(Arc::clone(&judge.stop)).forsaken_by(Arc::clone(&judge.stop));
        let solution = match Solver::new(&problem, &settings).control(control).run_judged(&judge) {
            Err(Error::MethodNotApplicable { .. }) => continue,
            run => run.expect("an iterate"),
        };
        assert_eq!(solution.status, Status::Interrupted, "{name}");
        assert_eq!(judge.endless.load(Ordering::Relaxed), 0, "{name}: looks under no control");
        let Verdict { objective, gap, accepted, .. } = solution.certificate;
        assert!(objective.is_finite() && gap.is_none() && !accepted, "{name}: {objective} {gap:?}");
        assert!(solution.updates > 0, "{name}");
        runs += 1;
    }
    assert!(runs >= 3, "{runs} of the samples have one row and scalar blocks");
}
