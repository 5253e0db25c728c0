//! One block, one variable, two variables: legal for every h and every A.

use super::{converged, same_optimum, settings};
use crate::adaptor::builder;
use crate::samples::{N, Sample, groups, kernels, l1, least_squares, rows, sample, term};
use equipoise::separable::{Bounds, Nonsmooth, SeparableTerm, Zero};
use equipoise::smooth::Distance;
use equipoise::{BlockChoice, Coupling, Method, Settings, Status, solve};

#[test]
fn one_block_of_everything_has_the_same_optimum() {
    for pair in kernels().into_iter().zip(kernels()) {
        let name = pair.0.name;
        if name.starts_with("groups") {
            continue; // a group is a block: another problem
        }
        let usual = converged(name, &pair.0.problem(), &settings());
        let single = Sample { blocks: BlockChoice::Size(N), ..pair.1 }.problem();
        assert_eq!(single.blocks().len(), 1);
        for method in [Method::Auto, Method::Pairs] {
            let solution = converged(name, &single, &Settings { method, ..settings() });
            same_optimum(name, usual.certificate.objective, solution.certificate.objective);
        }
    }
}

#[test]
fn one_group_of_everything() {
    for coupling in [Coupling::none(), Coupling::sum(3.0).expect("finite"), rows(3, N)] {
        for weight in [0.0, 0.75, 1e3] {
            let problem =
                sample("one group", groups(weight), coupling.clone(), BlockChoice::Size(N)).problem();
            let _ = converged("one group", &problem, &settings());
        }
    }
}

/// One term of every form; samples own their terms, so a fresh list for each.
fn penalties() -> [Nonsmooth<Box<dyn SeparableTerm>>; 4] {
    [term(Zero), term(l1()), term(Bounds::new(-1.0, 2.0).expect("valid")), groups(0.5)]
}

#[test]
fn one_variable() {
    let sum = Coupling::sum(0.25).expect("finite");
    for coupling in [Coupling::none(), sum, Coupling::row(0.0, 0.0).expect("finite")] {
        for h in penalties() {
            let one = sample("n = 1", h, coupling.clone(), BlockChoice::Automatic);
            let problem = Sample { smooth: least_squares(1), ..one }.problem();
            let solution = converged("n = 1", &problem, &settings());
            if problem.dropped_rows().is_empty() && coupling.rows() == 1 {
                assert!((solution.x[0] - 0.25).abs() < 1e-12, "the row leaves one point");
            }
        }
    }
}

#[test]
fn two_variables() {
    let row = Coupling::row(vec![2.0, -1.0], 0.5).expect("finite");
    for coupling in [Coupling::none(), Coupling::sum(0.25).expect("finite"), row, rows(2, 2)] {
        for blocks in [BlockChoice::Automatic, BlockChoice::Size(2)] {
            for h in penalties() {
                let two = sample("n = 2", h, coupling.clone(), blocks.clone());
                let problem = Sample { smooth: least_squares(2), ..two }.problem();
                let solution = converged("n = 2", &problem, &settings());
                if coupling.rows() == 2 {
                    assert!(solution.x.iter().all(|x| (x - 0.125).abs() < 1e-12), "two rows leave one point");
                }
            }
        }
    }
}

#[test]
fn the_optimum_of_two_variables_by_hand() {
    // (x - 3)^2 + (y - 1)^2 with x + y = 1: both give way by 3/2, multiplier 3.
    let f = Distance::new(vec![3.0, 1.0], 1.0).expect("valid");
    let problem = builder(f).coupling(Coupling::sum(1.0).expect("finite")).build().expect("valid");
    let solution = solve(&problem, &settings()).expect("valid");
    assert_eq!(solution.status, Status::Converged);
    assert!((solution.x[0] - 1.5).abs() < 1e-9 && (solution.x[1] + 0.5).abs() < 1e-9);
    assert!((solution.certificate.multipliers[0] - 3.0).abs() < 1e-8);
    assert!((solution.certificate.objective - 4.5).abs() < 1e-8);
}
