//! What every term must satisfy. A new term is one line in one of these lists; no new test code.
//!
//! * `smooth`: derivatives, products kept in step, the majorant, the dual description.
//! * `separable`: prox, subdifferential, conjugate, domains; `groups` likewise for group norms.
//! * `solved`: solved to tolerance, with and without the optional methods.

mod groups;
mod separable;
mod smooth;
mod solved;

use crate::numbers::{Numbers, gram};
use equipoise::Control;
use equipoise::separable::{Bounds, ElasticNet, L1, L1Bounds, NonNegative, Nonsmooth, SeparableTerm, Zero};
use equipoise::smooth::{Distance, Linear, Quadratic, SmoothTerm, Sum};
use equipoise_formats::problem_file::Term;
use equipoise_testkit as kit;

/// The number of variables of every term here.
const N: usize = 6;

type Smooth = Box<dyn SmoothTerm>;

/// Every smooth term, dense and sparse.
fn smooth_terms() -> Vec<(&'static str, Smooth)> {
    let numbers = &mut Numbers::new(31);
    let mut terms = vec![
        ("quadratic, dense", quadratic(numbers, false)),
        ("quadratic, sparse", quadratic(numbers, true)),
        ("quadratic by its factor, dense", factor(numbers, false)),
        ("quadratic by its factor, sparse", factor(numbers, true)),
    ];
    for kind in kit::Loss::samples() {
        terms.extend([false, true].map(|sparse| (kind.kind(), loss(numbers, kind, sparse))));
    }
    let huber = kit::Loss::Huber { delta: 0.75 };
    let more = [
        ("distance", distance(numbers)),
        ("distance, one weight", Box::new(Distance::new(numbers.vector(N, 2.0), 0.5).expect("valid"))),
        ("linear", linear(numbers)),
        (
            "sum of a loss and its ridge",
            sum(vec![loss(numbers, kit::Loss::Logistic, true), distance(numbers)]),
        ),
        (
            "sum of everything",
            sum(vec![quadratic(numbers, false), linear(numbers), loss(numbers, huber, false)]),
        ),
        ("sum of separable terms", sum(vec![distance(numbers), linear(numbers)])),
        ("sum within a sum", sum(vec![factor(numbers, true), distance(numbers)])),
    ];
    terms.extend(more);
    terms
}

/// Every term that is a sum over coordinates; all have N coordinates or any number.
fn separable_terms() -> Vec<(&'static str, Box<dyn SeparableTerm>)> {
    let (free, list) =
        (f64::INFINITY, |from: f64, step: f64| (0..N).map(|c| from + step * c as f64).collect::<Vec<_>>());
    let mut terms: Vec<(&'static str, Box<dyn SeparableTerm>)> = vec![
        ("zero", Box::new(Zero)),
        ("box", Box::new(Bounds::new(-1.0, list(0.5, 0.25)).expect("valid"))),
        ("box, open above", Box::new(Bounds::new(list(-1.0, 0.5), free).expect("valid"))),
        ("box, open below", Box::new(Bounds::new(-free, 0.75).expect("valid"))),
        ("box of one point", Box::new(Bounds::new(0.5, 0.5).expect("valid"))),
        ("box, open", Box::new(Bounds::new(-free, free).expect("valid"))),
        ("non-negative", Box::new(NonNegative)),
        ("l1", Box::new(L1::new(0.75).expect("valid"))),
        ("l1, weighted", Box::new(L1::new(list(0.0, 0.25)).expect("valid"))),
        ("elastic net", Box::new(ElasticNet::new(0.75, list(0.0, 0.5)).expect("valid"))),
        ("ridge", Box::new(ElasticNet::new(0.0, 1.5).expect("valid"))),
        ("l1 + box", Box::new(L1Bounds::new(list(0.0, 0.25), -0.5, 1.0).expect("valid"))),
        ("l1 + box off zero", Box::new(L1Bounds::new(0.75, 0.25, list(0.5, 0.5)).expect("valid"))),
        ("l1 + box below zero", Box::new(L1Bounds::new(0.75, -free, -0.25).expect("valid"))),
        ("l1, non-negative", Box::new(L1Bounds::new(0.75, 0.0, free).expect("valid"))),
    ];
    for h in kit::Separable::samples(N) {
        let Ok(Nonsmooth::Coordinates(term)) = crate::adaptor::separable(&h) else { panic!("{h:?}") };
        terms.push((h.kind(), term));
    }
    terms
}

fn quadratic(numbers: &mut Numbers, sparse: bool) -> Smooth {
    // Fewer rows than variables: Q is singular.
    let factor = if sparse { numbers.sparse(N - 2, N) } else { numbers.dense(N - 2, N) };
    Box::new(Quadratic::new(gram(&factor, sparse), numbers.vector(N, 1.0)).expect("convex"))
}

fn factor(numbers: &mut Numbers, sparse: bool) -> Smooth {
    let factor = if sparse { numbers.sparse(N + 2, N) } else { numbers.dense(N + 2, N) };
    Box::new(Quadratic::from_factor(factor, numbers.vector(N, 1.0)).expect("valid"))
}

/// Weighted, with one row of weight 0.
fn loss(numbers: &mut Numbers, loss: kit::Loss, sparse: bool) -> Smooth {
    let rows = N + 3;
    let matrix = if sparse { numbers.sparse(rows, N) } else { numbers.dense(rows, N) };
    let weights: Vec<f64> = (0..rows).map(|k| 0.5 * k as f64).collect();
    let target: Vec<f64> = numbers.labels(rows).into_iter().map(|label| loss.target(label)).collect();
    let words = Term::new(loss.kind()).with("matrix", matrix).with("target", target).with("weights", weights);
    let words = loss.parameters().into_iter().fold(words, |words, (key, number)| words.with(key, number));
    words.into_smooth(&Control::unlimited()).expect("valid")
}

/// With one coordinate of weight 0.
fn distance(numbers: &mut Numbers) -> Smooth {
    let weights: Vec<f64> = (0..N).map(|c| 0.5 * c as f64).collect();
    Box::new(Distance::new(numbers.vector(N, 2.0), weights).expect("valid"))
}

fn linear(numbers: &mut Numbers) -> Smooth {
    Box::new(Linear::new(numbers.vector(N, 1.0)).expect("finite"))
}

fn sum(terms: Vec<Smooth>) -> Smooth {
    Box::new(Sum::new(terms).expect("one dimension"))
}
