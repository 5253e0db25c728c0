//! A run that is put aside between any two rounds, and goes on later, ends with the bits of a run that was not.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use equipoise::matrix::SparseMatrix;
use equipoise::separable::{Bounds, L1, Zero};
use equipoise::smooth::LossOfProduct;
use equipoise::smooth::loss::{HuberLoss, LogisticLoss, Squared};
use equipoise::{
    BlockChoice, Control, Coupling, Error, History, Keeper, Method, Named, Progress, Schedule, Settings,
    Snapshot, Solution, Solver, Status,
};

use crate::adaptor::{AnyProblem, composite};
use crate::numbers::Numbers;
use crate::samples::{N, kernels, least_squares, rows, sample, term};

/// Snapshots of one run that are tried, at most.
const MOST_TRIED: usize = 8;

/// Keeps every snapshot; may raise a flag after some.
#[derive(Default)]
struct All {
    snapshots: Vec<Snapshot>,
    ends_after: Option<(usize, Arc<AtomicBool>)>,
}

impl Keeper for All {
    fn is_due(&mut self) -> bool {
        true
    }

    fn keep(&mut self, snapshot: Snapshot) {
        self.snapshots.push(snapshot);
        if let Some((after, flag)) = &self.ends_after
            && self.snapshots.len() >= *after
        {
            flag.store(true, Ordering::Relaxed);
        }
    }
}

/// Everything of a solution but its times, in bits.
fn essence(solution: &Solution) -> String {
    let x: Vec<u64> = solution.x.iter().map(|x| x.to_bits()).collect();
    let Solution { status, updates, epochs, certificate, candidates, method, reason, threads, .. } = solution;
    format!("{status} {updates} {epochs:?} {certificate:?} {candidates:?} {method} {reason} {threads} {x:?}")
}

/// A history without times.
fn told(history: &[Progress]) -> Vec<Progress> {
    history
        .iter()
        .map(|progress| {
            let mut progress = progress.clone();
            progress.seconds = 0.0;
            progress
        })
        .collect()
}

/// Puts a run aside at several of its rounds, and lets each go on; returns how many did.
pub(crate) fn goes_on_alike(name: &str, problem: &AnyProblem, settings: &Settings) -> usize {
    let (mut all, mut history) = (All::default(), History::default());
    let whole = Solver::new(problem, settings).keeper(&mut all).observer(&mut history).run().expect(name);
    let unwatched = Solver::new(problem, settings).run().expect(name);
    assert_eq!(essence(&unwatched), essence(&whole), "{name}: a keeper changes the run");
    let whole_history = told(&history.checkpoints);
    let step = all.snapshots.len().div_ceil(MOST_TRIED).max(1);
    for snapshot in all.snapshots.iter().step_by(step) {
        assert!(snapshot.is_exact(), "{name}");
        let read = Snapshot::from_words(&snapshot.to_words()).expect("what was written");
        assert_eq!(&read, snapshot, "{name}");
        let mut history = History::default();
        let rest = Solver::new(problem, settings).resume(&read).observer(&mut history).run().expect(name);
        let at = snapshot.updates();
        assert_eq!(essence(&rest), essence(&whole), "{name}: put aside after {at} updates");
        let rest_history = told(&history.checkpoints);
        assert!(whole_history.ends_with(&rest_history), "{name}: put aside after {at} updates");
    }
    all.snapshots.len().div_ceil(step)
}

fn settings(method: Method) -> Settings {
    Settings { method, seed: 5, tolerance: 1e-9, max_epochs: Some(3000.0), ..Settings::default() }
}

#[test]
fn pairs_and_auto_go_on_with_the_same_bits_for_every_kernel() {
    use Method::{Accelerated, Saga, Stochastic, Svrg, Violating};
    // They have tests of their own.
    let others = [Violating, Accelerated, Stochastic, Svrg, Saga];
    for kernel in kernels() {
        let name = kernel.name;
        let problem = kernel.problem();
        for method in Method::ALL.iter().map(|(_, method)| *method).filter(|method| !others.contains(method))
        {
            let tried = goes_on_alike(&format!("{name} by {method}"), &problem, &settings(method));
            assert!(tried > 0 || method == Method::Auto, "{name} by {method}");
        }
    }
}

#[test]
fn violating_pairs_go_on_with_the_same_bits() {
    let mut numbers = Numbers::new(31);
    let sum = || Coupling::sum(1.5).expect("finite");
    // Newton steps, steps on faces, steps on the free variables.
    let few = LossOfProduct::new(numbers.dense(10, 80), numbers.vector(10, 1.0), Squared).expect("valid");
    let many =
        LossOfProduct::new(numbers.sparse(620, 640), numbers.vector(620, 1.0), Squared).expect("valid");
    let curved = LossOfProduct::new(numbers.dense(90, 40), numbers.labels(90), LogisticLoss).expect("valid");
    let l1 = || L1::new(0.05).expect("valid");
    let apart = LossOfProduct::new(numbers.dense(10, 80), numbers.vector(10, 1.0), Squared).expect("valid");
    let entries: Vec<_> = (0..80).map(|c| (c % 2, c, 1.0)).collect();
    let two = SparseMatrix::from_triplets(2, 80, &entries).expect("inside");
    let two = Coupling::rows_of(two, vec![1.5, -0.5]).expect("finite");
    let problems = [
        ("newton", composite(few, l1()).coupling(sum()).build().expect("valid")),
        (
            "faces",
            composite(many, Bounds::new(0.0, 0.02).expect("valid")).coupling(sum()).build().expect("valid"),
        ),
        ("free", composite(curved, l1()).coupling(sum()).build().expect("valid")),
        ("apart", composite(apart, l1()).coupling(two).build().expect("valid")),
    ];
    for (name, problem) in &problems {
        assert!(goes_on_alike(name, problem, &settings(Method::Violating)) > 0, "{name}");
    }
}

/// Found by the fuzzer: two counts of Newton steps that disagreed were subtracted from each other.
#[test]
fn whatever_word_of_a_snapshot_is_wrong_the_run_ends_or_refuses_it() {
    let problem = || {
        let f = equipoise::smooth::Distance::new(vec![0.0, 1.0, 2.0], 0.5).expect("finite");
        let sum = Coupling::sum(1.0).expect("finite");
        composite(f, L1::new(0.1).expect("valid")).coupling(sum).build().expect("valid")
    };
    let problem = problem();
    for method in [Method::Violating, Method::Pairs] {
        let settings = Settings {
            max_updates: Some(200),
            max_epochs: Some(50.0),
            time_limit: Some(2.0),
            ..settings(method)
        };
        let mut all = All::default();
        let endless = Settings { tolerance: 1e-300, ..settings.clone() };
        let whole = Solver::new(&problem, &endless).keeper(&mut all).run().expect("valid");
        assert!(whole.updates > 0, "{method}");
        let words = all.snapshots.last().expect("some rounds").to_words();
        let mut went_on = 0;
        for place in 0..words.len() {
            for wrong in [0, 1, 3, 1 << 40, u64::MAX, 1.0f64.to_bits(), f64::INFINITY.to_bits()] {
                let mut words = words.clone();
                words[place] = wrong;
                let Ok(snapshot) = Snapshot::from_words(&words) else { continue };
                let resumed = Solver::new(&problem, &settings).resume(&snapshot).run();
                went_on += usize::from(resumed.is_ok());
            }
        }
        assert!(went_on > 0, "{method}");
    }
}

#[test]
fn momentum_goes_on_with_the_same_bits() {
    let problems = [
        ("row", sample("", term(Zero), Coupling::sum(3.0).expect("finite"), BlockChoice::Automatic)),
        ("rows", sample("", term(Zero), rows(3, N), BlockChoice::Size(4))),
    ];
    for (name, sample) in problems {
        for tolerance in [1e-6, 1e-11] {
            let settings = Settings { tolerance, ..settings(Method::Accelerated) };
            assert!(goes_on_alike(name, &sample_again(&sample), &settings) > 1, "{name}");
        }
    }
}

/// The same problem, built anew.
fn sample_again(sample: &crate::samples::Sample) -> AnyProblem {
    equipoise::Problem::builder(least_squares(N))
        .nonsmooth(term(Zero))
        .coupling(sample.coupling.clone())
        .blocks(sample.blocks.clone())
        .build()
        .expect("valid")
}

#[test]
fn sampled_methods_go_on_with_the_same_bits() {
    let mut numbers = Numbers::new(37);
    let (matrix, sparse) = (numbers.dense(120, 16), numbers.sparse(120, 16));
    let target = numbers.vector(120, 1.0);
    let weight = 1.0 / 120.0;
    let huber = HuberLoss::new(0.5).expect("positive");
    let problems = [
        (
            "dense",
            composite(
                LossOfProduct::weighted(matrix, target.clone(), Squared, weight).expect("valid"),
                L1::new(0.01).expect("valid"),
            )
            .coupling(Coupling::sum(1.0).expect("finite"))
            .build()
            .expect("valid"),
        ),
        (
            "sparse, rows",
            composite(LossOfProduct::weighted(sparse, target, huber, weight).expect("valid"), Zero)
                .coupling(rows(2, 16))
                .build()
                .expect("valid"),
        ),
    ];
    for (name, problem) in &problems {
        for method in [Method::Svrg, Method::Saga, Method::Stochastic] {
            for (batch, schedule) in [(1, Schedule::Horizon), (5, Schedule::Paper)] {
                let settings = Settings { batch, schedule, max_epochs: Some(400.0), ..settings(method) };
                let name = format!("{name} by {method}, {batch} samples");
                assert!(goes_on_alike(&name, problem, &settings) > 0, "{name}");
            }
        }
    }
}

#[test]
fn a_run_that_was_interrupted_goes_on_from_its_last_snapshot() {
    let problem = sample("", term(Zero), rows(3, N), BlockChoice::Size(4)).problem();
    let settings = settings(Method::Pairs);
    let whole = Solver::new(&problem, &settings).run().expect("valid");
    for after in [1, 2, 5] {
        let flag = Arc::new(AtomicBool::new(false));
        let mut all = All { ends_after: Some((after, Arc::clone(&flag))), ..All::default() };
        let control = Control::on(flag);
        let ended = Solver::new(&problem, &settings).keeper(&mut all).control(control).run().expect("valid");
        assert_eq!((ended.status, all.snapshots.len()), (Status::Interrupted, after));
        let last = &all.snapshots[after - 1];
        let rest = Solver::new(&problem, &settings).resume(last).run().expect("valid");
        assert_eq!(essence(&rest), essence(&whole), "after {after} rounds");
    }
}

#[test]
fn several_threads_go_on_from_x_and_say_so() {
    let problem = sample("", term(Zero), rows(3, N), BlockChoice::Size(4)).problem();
    // Never good enough, so that there are rounds to be put aside between.
    let settings =
        Settings { threads: 2, tolerance: 1e-300, max_updates: Some(5000), ..settings(Method::Pairs) };
    let mut all = All::default();
    let whole = Solver::new(&problem, &settings).keeper(&mut all).run().expect("valid");
    let snapshot = all.snapshots.first().expect("rounds were made");
    assert!(!snapshot.is_exact());
    let rest = Solver::new(&problem, &settings).resume(snapshot).run().expect("valid");
    let (rest, whole) = (rest.certificate.objective, whole.certificate.objective);
    assert!((rest - whole).abs() <= 1e-6 * (1.0 + whole.abs()), "{rest} and {whole}");
    // What is not exact was no run on one thread; the other way round it does not fit.
    let one = Settings { threads: 1, ..settings.clone() };
    assert!(Solver::new(&problem, &one).resume(snapshot).run().is_ok());
    let mut exact = All::default();
    let _ = Solver::new(&problem, &one).keeper(&mut exact).run().expect("valid");
    let refused = Solver::new(&problem, &settings).resume(&exact.snapshots[0]).run();
    assert!(matches!(refused, Err(Error::BadSnapshot { .. })), "{refused:?}");
}

#[test]
fn a_snapshot_of_another_problem_or_a_damaged_one_is_refused() {
    let problem = sample("", term(Zero), rows(3, N), BlockChoice::Size(4)).problem();
    let other = sample("", term(Zero), rows(2, N), BlockChoice::Automatic).problem();
    let settings = settings(Method::Pairs);
    let mut all = All::default();
    let _ = Solver::new(&problem, &settings).keeper(&mut all).run().expect("valid");
    let snapshot = all.snapshots.swap_remove(0);
    let refused = |problem: &AnyProblem, snapshot: &Snapshot, method: Method| {
        let settings = Settings { method, ..settings.clone() };
        let outcome = Solver::new(problem, &settings).resume(snapshot).run();
        matches!(outcome, Err(Error::BadSnapshot { .. }))
    };
    assert!(!refused(&problem, &snapshot, Method::Pairs));
    assert!(refused(&other, &snapshot, Method::Pairs));
    assert!(refused(&problem, &snapshot, Method::Accelerated));
    let words = snapshot.to_words();
    for cut in 0..words.len() {
        assert!(matches!(Snapshot::from_words(&words[..cut]), Err(Error::BadSnapshot { .. })), "{cut}");
    }
    // Whatever the words are, a run ends or they are refused.
    let mut numbers = Numbers::new(3);
    let short = Settings { max_updates: Some(2000), ..settings.clone() };
    for _ in 0..300 {
        let mut damaged = words.clone();
        let place = numbers.below(damaged.len());
        damaged[place] =
            [0, u64::MAX, 7, f64::NAN.to_bits(), damaged[place] ^ (1 << numbers.below(64))][numbers.below(5)];
        if let Ok(read) = Snapshot::from_words(&damaged) {
            let _ = Solver::new(&problem, &short).resume(&read).run();
        }
    }
}
