//! One seed and thread count, one sequence of bits, where it is asked for; one thread is the sequential run.

use super::{bits, checked, levels};
use crate::adaptor::AnyProblem;
use crate::samples::{N, Sample, kernels, rows, sample, term};
use equipoise::separable::Zero;
use equipoise::smooth::Distance;
use equipoise::{BlockChoice, Locking, Method, Settings, Solution};

/// Without a product, with one (least squares), with bounds; scalars and blocks, one row and several.
fn problems() -> Vec<(&'static str, AnyProblem)> {
    let target = (0..N).map(|c| (c % 5) as f64).collect();
    let smooth = Box::new(Distance::new(target, 0.5).expect("finite"));
    let plain = sample("no product", term(Zero), rows(3, N), BlockChoice::Size(4));
    let chosen = ["scalar row, zero", "scalar row, box", "newton, box", "smooth rows, ranges"];
    let samples = kernels().into_iter().filter(|sample| chosen.contains(&sample.name));
    let samples = samples.chain([Sample { smooth, ..plain }]);
    let list: Vec<_> = samples.map(|sample| (sample.name, sample.problem())).collect();
    assert_eq!(list.len(), chosen.len() + 1, "every sample is there");
    list
}

fn deterministic(threads: usize, locking: Locking, seed: u64) -> Settings {
    Settings {
        tolerance: 1e-12,
        max_updates: Some(1500),
        method: Method::Pairs,
        threads,
        locking,
        seed,
        deterministic: true,
        ..Settings::default()
    }
}

/// Everything of a run but its time.
#[track_caller]
fn assert_same(name: &str, first: &Solution, second: &Solution) {
    assert_eq!(bits(first), bits(second), "{name}");
    assert_eq!((first.updates, first.status), (second.updates, second.status), "{name}");
    assert_eq!(first.certificate, second.certificate, "{name}");
    assert_eq!(first.epochs.to_bits(), second.epochs.to_bits(), "{name}");
}

#[test]
fn the_same_seed_and_threads_give_the_same_bits() {
    for (name, problem) in problems() {
        for (k, threads) in [1, 2, 3, 8].into_iter().enumerate() {
            let settings = deterministic(threads, levels()[k % 3], 42);
            let name = format!("{name} on {threads} threads");
            let first = checked(&name, &problem, &settings);
            let second = checked(&name, &problem, &settings);
            assert_same(&name, &first, &second);
            assert_eq!(first.threads, second.threads, "{name}");
        }
    }
}

#[test]
fn so_does_the_method_that_is_chosen() {
    for (name, problem) in problems() {
        for threads in [2, 8] {
            let settings = Settings { method: Method::Auto, ..deterministic(threads, Locking::None, 7) };
            let [first, second] = [(); 2].map(|()| checked(name, &problem, &settings));
            assert_same(name, &first, &second);
        }
    }
}

#[test]
fn another_seed_takes_another_path() {
    for (name, problem) in problems() {
        for threads in [1, 2, 3, 8] {
            let short =
                |seed| Settings { max_updates: Some(5), ..deterministic(threads, Locking::None, seed) };
            let [first, second] = [1, 2].map(|seed| checked(name, &problem, &short(seed)));
            assert_ne!(bits(&first), bits(&second), "{name} on {threads} threads: the seed changes nothing");
            assert_eq!((first.seed, second.seed), (1, 2));
        }
    }
}

#[test]
fn one_thread_is_the_sequential_run_whatever_else_is_said() {
    for sample in kernels() {
        let name = sample.name;
        let problem = sample.problem();
        for method in [Method::Auto, Method::Pairs] {
            let plain = Settings { method, max_updates: Some(500), ..Settings::default() };
            let expected = checked(name, &problem, &plain);
            assert_eq!(expected.threads, 1, "{name}");
            for (k, locking) in levels().into_iter().enumerate() {
                let settings = Settings { threads: 1, locking, deterministic: k == 1, ..plain.clone() };
                assert_same(name, &checked(name, &problem, &settings), &expected);
            }
        }
    }
}
