//! equipoise solves convex problems whose variables are tied together by a few linear equations,
//!
//! ```text
//! minimise  f(x) + h(x)   subject to   A x = b        f smooth, h separable, x in blocks
//! ```
//!
//! by moving two blocks at a time, in balance: every move keeps `A x = b` and never raises the objective. Every
//! result carries a certificate, recomputed from raw data: objective, `max |A x - b|`, multipliers, KKT residual
//! and, where the terms have conjugates, a duality gap.
//!
//! ```
//! use equipoise::{Coupling, Matrix, Problem, Settings, Status, separable::L1, smooth::{LeastSquares, loss::Squared}, solve};
//!
//! // Zero-sum lasso: 1/2 ||X beta - y||^2 + 3 ||beta||_1 with sum(beta) = 0.
//! let x = Matrix::from_rows(&[[1., 0., 2., -1.], [0., 1., 1., 1.], [1., 1., 0., 2.], [2., -1., 1., 0.], [0., 1., -1., 1.]])?;
//! let f = LeastSquares::new(x, vec![3., -1., -2., 4., 1.], Squared)?;
//! let problem = Problem::builder(f).separable(L1::new(3.0)?).coupling(Coupling::sum(0.0)?).build()?;
//! let solution = solve(&problem, &Settings { tolerance: 1e-9, ..Settings::default() })?;
//! assert_eq!(solution.status, Status::Converged);
//! assert!((solution.certificate.objective - 241.0 / 22.0).abs() < 1e-7);
//! # Ok::<(), equipoise::Error>(())
//! ```
//!
//! | module | question it answers |
//! |---|---|
//! | [`smooth`] | f: value, gradient, curvature, products kept in step |
//! | [`separable`] | h: value, prox, subdifferential, conjugate |
//! | [`coupling`] | A x = b: columns, residual, independence of the rows |
//! | [`problem`] | the validated problem: blocks, graph, feasible start |
//! | [`graph`] | which pairs may move, how often, and their effective resistances |
//! | [`mod@solve`] | the loop, limits, observer |
//! | [`certificate`] | how far from optimal, trusting nobody |
//! | [`collective`] | ranks that share the coordinates of one problem: how numbers travel between them |
//!
//! Models that people bring (support vector machines, say) are guests in crates of their own, such as `equipoise-models`;
//! the constants and bounds of the theorems are in `equipoise-theory`. Both use what is public here and nothing else.

mod archive;
pub mod certificate;
pub mod collective;
mod control;
pub mod coupling;
pub mod enclosure;
mod error;
mod forward;
pub mod graph;
mod interior;
pub mod matrix;
mod names;
mod pair_step;
pub mod problem;
mod selection;
pub mod separable;
pub mod smooth;
pub mod solve;
mod state;
mod team;
mod watch;

pub use certificate::Certificate;
pub use control::{Control, Halt, Pass};
pub use coupling::Coupling;
pub use error::{Error, Result};
pub use matrix::{DenseMatrix, Matrix, SparseMatrix};
pub use names::{Named, UnknownName};
pub use problem::{BlockChoice, DrawLaw, ProbabilityChoice, Problem};
pub use solve::{
    Candidate, Experiment, History, Judge, Keeper, Locking, Method, Observer, PairStepper, Progress,
    Schedule, Settings, Snapshot, Solution, Solver, Staleness, Status, Steps, Verdict, solve,
};
pub use team::Team;
pub use watch::Watch;
