//! Bad input: each test takes the valid problem below, breaks one thing, and matches the error with its evidence.
//!
//! * `data`: numbers that are not finite, negative, crossed, no labels; matrices that are not convex.
//! * `shapes`: lengths that disagree, blocks that do not partition, no variables at all.
//! * `coupling`: rows that contradict each other or the bounds, with the proof checked.
//! * `starts`: starts that are not feasible.
//! * `graph`: graphs that are none, or that cannot reach the optimum.
//! * `run`: settings out of range, problems without a minimum.
//! * `messages`: how every message is written.

mod coupling;
mod data;
mod graph;
mod messages;
mod run;
mod shapes;
mod starts;

use std::fmt::Debug;

use crate::adaptor::{AnyBuilder, composite};
use equipoise::separable::L1;
use equipoise::smooth::LeastSquares;
use equipoise::smooth::loss::Squared;
use equipoise::{Coupling, Error, Matrix};

/// The rows of the valid problem's matrix.
const ROWS: [[f64; 4]; 3] = [[1.0, 0.0, 2.0, -1.0], [0.0, 1.0, 1.0, 1.0], [1.0, 1.0, 0.0, 2.0]];

fn matrix() -> Matrix<'static> {
    Matrix::from_rows(&ROWS).expect("3 x 4")
}

fn least_squares() -> LeastSquares<'static> {
    LeastSquares::new(matrix(), vec![3.0, -1.0, -2.0], Squared).expect("valid")
}

/// A zero-sum lasso of four variables.
fn valid() -> AnyBuilder {
    let coupling = Coupling::sum(0.0).expect("valid");
    composite(least_squares(), L1::new(0.5).expect("valid")).coupling(coupling)
}

/// The error that a broken input gives; its message names every one of these.
#[track_caller]
fn refused<T: Debug>(result: Result<T, Error>, names: &[&str]) -> Error {
    let error = result.expect_err("a broken input must be refused");
    let message = error.to_string();
    for name in names {
        assert!(message.contains(name), "{message:?} does not name {name:?}");
    }
    messages::check_style(&message);
    error
}

#[test]
fn the_unbroken_problem_is_accepted() {
    let problem = valid().build().expect("nothing is broken");
    assert!(problem.dropped_rows().is_empty());
    assert_eq!(problem.blocks().len(), 4);
}
