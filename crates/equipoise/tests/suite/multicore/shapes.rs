//! More threads than there is work for, and counts of threads outside their range.

use super::{converged, levels, pairs, same_optimum};
use crate::adaptor::{builder, composite};
use crate::samples::{N, Sample, kernels, l1, sample, term};
use equipoise::graph::Topology;
use equipoise::separable::NonNegative;
use equipoise::smooth::Distance;
use equipoise::{BlockChoice, Coupling, Error, Locking, Method, Settings, solve};

/// Settings that lead to the optimum of small problems.
fn on(threads: usize, locking: Locking, method: Method) -> Settings {
    Settings { method, ..pairs(threads, locking) }
}

#[test]
fn more_threads_than_blocks() {
    // (x - 3)^2 + (y - 1)^2 + (z - 5)^2 with x + y + z = 3: all give way by 2.
    let f = Distance::new(vec![3.0, 1.0, 5.0], 1.0).expect("finite");
    let problem = builder(f).coupling(Coupling::sum(3.0).expect("finite")).build().expect("valid");
    for locking in levels() {
        for method in [Method::Pairs, Method::Auto] {
            for threads in [2, 4, 64] {
                let name = format!("three blocks, {threads} threads, {locking:?}, {method:?}");
                let solution = converged(&name, &problem, &on(threads, locking, method));
                same_optimum(&name, 1e-6, 12.0, solution.certificate.objective);
            }
        }
    }
}

#[test]
fn one_block_and_one_variable() {
    for locking in levels() {
        for method in [Method::Pairs, Method::Auto] {
            let settings = on(8, locking, method);
            for pair in kernels().into_iter().zip(kernels()) {
                let name = pair.0.name;
                if name.starts_with("groups") {
                    continue; // a group is a block: another problem
                }
                let known = converged(name, &pair.0.problem(), &Settings::default()).certificate.objective;
                let single = Sample { blocks: BlockChoice::Size(N), ..pair.1 }.problem();
                assert_eq!(single.blocks().len(), 1);
                let found = converged(name, &single, &settings);
                same_optimum(name, 1e-6, known, found.certificate.objective);
            }
            let f = Distance::new(vec![3.0], 1.0).expect("finite");
            let problem = builder(f).build().expect("valid");
            let solution = converged("one variable", &problem, &settings);
            assert!((solution.x[0] - 3.0).abs() < 1e-3);
        }
    }
}

#[test]
fn a_graph_with_one_edge() {
    let problem = || {
        let f = Distance::new(vec![3.0, 1.0, -2.0, 0.5], 1.0).expect("finite");
        let builder = composite(f, NonNegative).coupling(Coupling::sum(1.0).expect("finite"));
        builder.blocks(BlockChoice::Size(2)).graph(Topology::Edges(vec![(0, 1)])).build().expect("connected")
    };
    let known = converged("one thread", &problem(), &Settings::default()).certificate.objective;
    for locking in levels() {
        for threads in [2, 3, 8] {
            let name = format!("one edge, {threads} threads, {locking:?}");
            let solution = converged(&name, &problem(), &on(threads, locking, Method::Pairs));
            same_optimum(&name, 1e-6, known, solution.certificate.objective);
        }
    }
}

#[test]
fn counts_of_threads_outside_their_range_are_refused() {
    let problem =
        sample("l1", term(l1()), Coupling::sum(1.0).expect("finite"), BlockChoice::Automatic).problem();
    for threads in [0, 1025, usize::MAX] {
        for method in [Method::Pairs, Method::Auto, Method::Violating] {
            let settings = on(threads, Locking::None, method);
            let error = solve(&problem, &settings).expect_err("out of range");
            assert!(
                matches!(&error, Error::InvalidSetting { name: "threads", found, .. } if *found == threads as f64),
                "{error:?}"
            );
            let words = error.to_string();
            assert!(words.contains("threads") && words.contains("from 1 to 1024"), "{words}");
        }
    }
}

#[test]
fn a_thousand_threads_on_a_small_problem() {
    for sample in [kernels().swap_remove(2), kernels().swap_remove(8)] {
        let (name, problem) = (sample.name, sample.problem());
        let known = converged(name, &problem, &Settings::default()).certificate.objective;
        for threads in [1000, 1024] {
            for locking in levels() {
                let solution = converged(name, &problem, &on(threads, locking, Method::Pairs));
                assert!((1..=threads).contains(&solution.threads), "{name}: {}", solution.threads);
                same_optimum(name, 1e-6, known, solution.certificate.objective);
            }
        }
    }
}
