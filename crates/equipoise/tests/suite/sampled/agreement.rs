//! The optimum of the default method, certified, whatever the loss, the coupling, the blocks and h.

use super::{N, SAMPLES, dense, losses, problem, settings};
use crate::adaptor::{AnyProblem, solve_checked};
use crate::numbers::Numbers;
use crate::samples::{groups, rows, term};
use equipoise::separable::{Bounds, ElasticNet, L1, Values, Zero};
use equipoise::smooth::loss::{LogisticLoss, Squared};
use equipoise::smooth::{Distance, LossOfProduct, SmoothTerm, Sum};
use equipoise::{BlockChoice, Coupling, Method, Settings, Status};

#[track_caller]
fn agrees(name: &str, problem: &AnyProblem, tolerance: f64, batch: usize) {
    let expected = solve_checked(problem, &Settings { tolerance: 1e-10, ..Settings::default() });
    assert_eq!(expected.status, Status::Converged, "{name}: {:?}", expected.certificate);
    for method in [Method::Svrg, Method::Saga] {
        let solution = solve_checked(problem, &Settings { tolerance, batch, ..settings(method) });
        let name = format!("{name}, {}", method.name());
        assert_eq!(solution.status, Status::Converged, "{name}: {:?}", solution.certificate);
        let (found, best) = (solution.certificate.objective, expected.certificate.objective);
        assert!((found - best).abs() <= 2.0 * tolerance * (1.0 + best.abs()), "{name}: {found} and {best}");
        assert!((solution.method, solution.reason.as_str(), solution.threads) == (method, "as asked", 1));
        assert!(solution.candidates.is_empty());
    }
}

fn weighted_row() -> Coupling {
    let mut numbers = Numbers::new(31);
    let row: Vec<f64> = (0..N).map(|_| 1.0 + 0.5 * numbers.next()).collect();
    Coupling::row(row, 0.5).expect("finite")
}

/// A name, a coupling and the blocks to go with it.
type Coupled = (&'static str, fn() -> Coupling, BlockChoice);

#[test]
fn every_loss_with_every_coupling_and_h() {
    let couplings: [Coupled; 5] = [
        ("sum", || Coupling::sum(0.5).expect("finite"), BlockChoice::Automatic),
        ("weighted row", weighted_row, BlockChoice::Automatic),
        (
            "sum of blocks",
            || Coupling::block_sum(vec![0.2, 0.1, 0.3]).expect("finite"),
            BlockChoice::Automatic,
        ),
        ("two rows", || rows(2, N), BlockChoice::Size(3)),
        ("none", Coupling::none, BlockChoice::Automatic),
    ];
    for (coupled, coupling, blocks) in couplings {
        for k in 0..4 {
            let (loss, _) = losses(&dense(), 22).swap_remove(k);
            let f = || losses(&dense(), 22).swap_remove(k).1;
            let l1 = || L1::new(0.01).expect("valid");
            let terms = [
                ("zero", term(Zero)),
                ("box", term(Bounds::new(-0.25, 0.3).expect("valid"))),
                ("l1", term(l1())),
                ("elastic net", term(ElasticNet::new(0.01, 0.1).expect("valid"))),
            ];
            for (penalty, h) in terms {
                let problem = problem(f(), h, coupling(), blocks.clone());
                agrees(&format!("{loss}, {coupled}, {penalty}"), &problem, 1e-7, 1);
            }
        }
    }
}

#[test]
fn sparse_rows_of_uneven_size_with_uneven_weights() {
    let mut numbers = Numbers::new(41);
    let matrix = numbers.sparse(SAMPLES, N);
    let weights: Vec<f64> =
        (0..SAMPLES).map(|l| if l % 9 == 0 { 3.0 } else { 0.01 * (l % 3) as f64 }).collect();
    let target = numbers.vector(SAMPLES, 1.0);
    let f = LossOfProduct::weighted(matrix, target, Squared, Values::Each(weights)).expect("valid");
    let problem =
        problem(Box::new(f), term(L1::new(0.02).expect("valid")), weighted_row(), BlockChoice::Automatic);
    agrees("uneven", &problem, 1e-8, 1);
    agrees("uneven, batches", &problem, 1e-8, 8);
}

#[test]
fn terms_of_single_coordinates_beside_the_samples() {
    let (loss, ridge): (Box<dyn SmoothTerm>, Box<dyn SmoothTerm>) =
        (losses(&dense(), 22).swap_remove(1).1, Box::new(Distance::new(vec![0.1; N], 0.25).expect("valid")));
    let f = Box::new(Sum::new(vec![loss, ridge]).expect("one length"));
    let problem = problem(f, term(Zero), Coupling::sum(1.0).expect("finite"), BlockChoice::Automatic);
    agrees("logistic and a ridge", &problem, 1e-9, 1);
}

#[test]
fn a_column_of_zeros_and_columns_of_different_scale() {
    let mut numbers = Numbers::new(51);
    let scale = |c: usize| if c == 3 { 0.0 } else { [0.01, 0.1, 1.0, 10.0][c % 4] };
    let rows: Vec<Vec<f64>> =
        (0..SAMPLES).map(|_| (0..N).map(|c| scale(c) * numbers.next()).collect()).collect();
    let matrix = equipoise::Matrix::from_rows(&rows).expect("rectangular");
    let f =
        LossOfProduct::weighted(matrix, numbers.labels(SAMPLES), LogisticLoss, 1.0 / 80.0).expect("valid");
    let h = term(ElasticNet::new(0.0, 0.01).expect("valid"));
    let problem = problem(Box::new(f), h, Coupling::sum(1.0).expect("finite"), BlockChoice::Automatic);
    agrees("scales", &problem, 1e-7, 1);
}

#[test]
fn group_norms_and_one_block() {
    let f = || losses(&dense(), 22).swap_remove(0).1;
    let sum = || Coupling::sum(0.5).expect("finite");
    agrees("groups", &problem(f(), groups(0.02), sum(), BlockChoice::Size(3)), 1e-7, 1);
    agrees("one block", &problem(f(), term(Zero), sum(), BlockChoice::Size(N)), 1e-8, 1);
}

#[test]
fn batches_of_any_size() {
    for batch in [1, 8, SAMPLES] {
        let h = term(L1::new(0.01).expect("valid"));
        let problem = problem(
            losses(&dense(), 22).swap_remove(1).1,
            h,
            Coupling::sum(0.5).expect("finite"),
            BlockChoice::Automatic,
        );
        agrees(&format!("batch {batch}"), &problem, 1e-8, batch);
    }
}
