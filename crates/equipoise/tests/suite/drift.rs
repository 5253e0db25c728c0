//! Feasibility does not drift: after ten million pair moves A x = b still holds to rounding.
//!
//! A run ends once nothing moves, so these runs are slowed down: a tiny step size keeps every move real, and a term
//! that hides its dual side leaves only the KKT residual to stop on, which never is exactly 0.

use crate::adaptor::composite;
use crate::numbers::Numbers;
use crate::samples::rows;
use equipoise::separable::{Bounds, L1, SeparableTerm, Zero};
use equipoise::smooth::{Distance, PairTerm, SmoothTerm};
use equipoise::{BlockChoice, History, Method, Settings, Solver, Status};

const N: usize = 24;

/// Squared distance, without conjugate and Hessian: what a user's own term looks like.
#[derive(Debug)]
struct Plain(Distance);

impl PairTerm for Plain {
    fn dimension(&self) -> usize {
        self.0.dimension()
    }
    fn partial(&self, c: usize, x: &[f64], product: &[f64]) -> f64 {
        self.0.partial(c, x, product)
    }
    fn curvature(&self, c: usize) -> f64 {
        self.0.curvature(c)
    }
}

impl SmoothTerm for Plain {
    fn value(&self, x: &[f64], product: &[f64]) -> f64 {
        self.0.value(x, product)
    }
}

/// Moves pairs so often on a problem with three dense rows; A x - b stays at rounding level at every checkpoint.
fn does_not_drift(h: impl SeparableTerm + 'static, step_size: f64, moves: u64) {
    let target = Numbers::new(23).vector(N, 10.0);
    let f = Plain(Distance::new(target, 0.5).expect("valid"));
    let builder = composite(f, h).coupling(rows(3, N)).blocks(BlockChoice::Size(4));
    let problem = builder.build().expect("valid");
    let settings = Settings {
        method: Method::Pairs,
        tolerance: 1e-300,
        step_size,
        max_updates: Some(moves),
        ..Settings::default()
    };
    let mut history = History::default();
    let solution = Solver::new(&problem, &settings).observer(&mut history).run().expect("valid");
    assert_eq!((solution.status, solution.updates), (Status::IterationLimit, moves));
    let scale = 1.0 + problem.coupling().rhs().iter().fold(0.0, |most: f64, b| most.max(b.abs()));
    for progress in &history.checkpoints {
        let infeasibility = progress.verdict.infeasibility;
        assert!(infeasibility <= 1e-12 * scale, "{infeasibility:.1e} after {} moves", progress.update);
    }
    let (first, last) = (&history.checkpoints[0].verdict, &solution.certificate);
    assert!(last.objective < 0.9 * first.objective, "the moves were real: {first:?} {last:?}");
    println!("{moves} moves: infeasibility {:.1e}, {:.2} s", last.infeasibility, solution.seconds);
}

#[test]
fn ten_million_moves_on_three_rows() {
    does_not_drift(Zero, 1e-6, 10_000_000);
}

#[test]
fn a_million_moves_with_bounds() {
    does_not_drift(Bounds::new(-2.0, 3.0).expect("valid"), 1e-5, 1_000_000);
}

#[test]
fn a_million_moves_with_a_penalty() {
    does_not_drift(L1::new(0.5).expect("valid"), 1e-5, 1_000_000);
}
