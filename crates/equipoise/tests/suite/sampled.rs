//! `stochastic`, `svrg` and `saga`: pairs moved along the gradient of a few samples.
//!
//! * `agreement`: every loss, coupling, shape of blocks and h; the optimum of the default method.
//! * `behaviour`: determinism, limits, starts, batches, what is reported and refused.
//! * `hand_over`: `auto` begins by samples and goes on by second-order steps.
//! * `rates`: linear with variance reduced, k^(-1/2) without.
//! * `streams`: samples that are read in order; one that cannot be used.

mod agreement;
mod behaviour;
mod hand_over;
mod rates;
mod streams;

use crate::adaptor::AnyProblem;
use crate::numbers::Numbers;
use equipoise::separable::{Nonsmooth, SeparableTerm};
use equipoise::smooth::loss::{HuberLoss, LogisticLoss, Squared, SquaredHingeLoss};
use equipoise::smooth::{LossOfProduct, SmoothTerm};
use equipoise::{BlockChoice, Coupling, Matrix, Method, Problem, Settings};

/// Samples and variables of the small problems.
const SAMPLES: usize = 80;
const N: usize = 12;

fn settings(method: Method) -> Settings {
    Settings { method, tolerance: 1e-8, time_limit: Some(20.0), ..Settings::default() }
}

/// The terms with a finite sum, on these rows, the mean over samples.
fn losses(matrix: &Matrix<'static>, seed: u64) -> Vec<(&'static str, Box<dyn SmoothTerm>)> {
    let (mut numbers, rows) = (Numbers::new(seed), matrix.rows());
    let (values, labels) = (numbers.vector(rows, 1.0), numbers.labels(rows));
    let weight = 1.0 / rows as f64;
    let huber = HuberLoss::new(0.5).expect("positive");
    let m = || matrix.clone();
    vec![
        (
            "least squares",
            Box::new(LossOfProduct::weighted(m(), values.clone(), Squared, weight).expect("valid")),
        ),
        (
            "logistic",
            Box::new(LossOfProduct::weighted(m(), labels.clone(), LogisticLoss, weight).expect("valid")),
        ),
        (
            "squared hinge",
            Box::new(LossOfProduct::weighted(m(), labels, SquaredHingeLoss, weight).expect("valid")),
        ),
        ("huber", Box::new(LossOfProduct::weighted(m(), values, huber, weight).expect("valid"))),
    ]
}

fn dense() -> Matrix<'static> {
    Numbers::new(21).dense(SAMPLES, N)
}

fn least_squares() -> Box<dyn SmoothTerm> {
    losses(&dense(), 22).swap_remove(0).1
}

fn problem(
    f: Box<dyn SmoothTerm>,
    h: Nonsmooth<Box<dyn SeparableTerm>>,
    coupling: Coupling,
    blocks: BlockChoice,
) -> AnyProblem {
    Problem::builder(f).nonsmooth(h).coupling(coupling).blocks(blocks).build().expect("valid")
}

/// Least squares with a sum, and nothing else.
fn plain_problem() -> AnyProblem {
    let h = crate::samples::term(equipoise::separable::Zero);
    problem(least_squares(), h, Coupling::sum(1.0).expect("finite"), BlockChoice::Automatic)
}
